#!/usr/bin/env bash
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#
# The cost of importing: check-import.sh BUILD MODEL SECONDS MIB runs `atranslate --check`
# on MODEL several times. It fails if the fastest run takes more than SECONDS of CPU time
# (so neither other work on the machine nor waiting for the file counts), or if a run has
# more than MIB mebibytes of anonymous memory at any sample.
set -euo pipefail
build=$1 model=$2 seconds=$3 most=$4
TIMEFORMAT='%U %S %R'
peak=0 best=

watch() { # watch PID: its peak so far
  local now
  while kill -0 "$1" 2>/dev/null; do
    now=$(awk '/RssAnon|RssShmem/ { sum += $2 } END { print sum + 0 }' "/proc/$1/status" 2>/dev/null || true)
    [ "${now:-0}" -le "$peak" ] || peak=$now
    sleep 0.002
  done
}

for _ in 1 2 3 4 5; do
  "$build/bin/atranslate" --check "$model" >/dev/null &
  watch $!
  wait $!
  { time "$build/bin/atranslate" --check "$model" >/dev/null; } 2>"$build/import-time.$$"
  read -r user system elapsed <"$build/import-time.$$"
  rm -f "$build/import-time.$$"
  taken=$(awk -v u="$user" -v s="$system" 'BEGIN { print u + s }')
  echo "processor time $taken s, elapsed $elapsed s"
  best=$(printf '%s\n' $best "$taken" | sort -g | sed -n 1p)
done
echo "importing $(($(stat -Lc %s "$model") / 1000000)) MB: $best s of processor time, $((peak / 1024)) MiB of anonymous memory at most"
[ "$peak" -gt 0 ] && [ $((peak / 1024)) -le "$most" ] && awk -v b="$best" -v s="$seconds" 'BEGIN { exit !(b <= s) }'
