#!/usr/bin/env bash
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#
# Checks the completions and man pages generated from `--help`: bash completes words; zsh,
# fish and man read them if they are installed. check-completions.sh FOLDER
set -uo pipefail
folder=$1
bad=0
complain() {
  echo "$*"
  bad=1
}

# completions FUNCTION WORD...: prints bash's completions of the last word.
completions() {
  local function=$1
  shift
  COMP_WORDS=("$@")
  COMP_CWORD=$(($# - 1))
  COMPREPLY=()
  compopt() { :; }
  "$function"
  echo "${COMPREPLY[*]-}"
}
# expect WANTED FUNCTION WORD...
expect() {
  local wanted=$1 got
  shift
  got=$(completions "$@")
  [ "$got" = "$wanted" ] || complain "expected '$wanted' for '${*:2}', but got '$got'"
}

for tool in atranslate arun aopt adze-reduce; do
  # shellcheck source=/dev/null
  source "$folder/$tool.bash" || complain "$tool.bash cannot be read"
  grep -q '^\.SH OPTIONS' "$folder/$tool.1" || complain "$tool.1 has no options"
  [ "$(grep -c '^\.TP' "$folder/$tool.1")" -ge 5 ] || complain "$tool.1 has hardly any options"
done
expect "--tune= --tune-db=" _atranslate atranslate --tu
expect "graph" _atranslate atranslate --emit = gr
expect "npy" _arun arun m.so --format n
expect "--expect-fail=" _adze_reduce adze-reduce --ex
expect "--tile-specialize" _aopt aopt --tile-sp
expect "" _atranslate atranslate model

if command -v zsh >/dev/null; then
  for tool in atranslate arun aopt adze-reduce; do
    zsh -n "$folder/_$tool" || complain "_$tool is no zsh"
  done
fi
if command -v fish >/dev/null; then
  got=$(fish --no-config -c "source $folder/atranslate.fish; complete -C 'atranslate --emit=pt'" | cut -f1)
  [ "$got" = "--emit=ptx" ] || complain "expected '--emit=ptx' of fish, but got '$got'"
fi
if command -v man >/dev/null && man --version 2>/dev/null | grep -q man-db; then
  for tool in atranslate arun adze-reduce; do
    warnings=$(MANROFFOPT='' LC_ALL=C man --warnings -l "$folder/$tool.1" 2>&1 >/dev/null)
    [ -z "$warnings" ] || complain "$tool.1: $warnings"
  done
fi
exit $bad
