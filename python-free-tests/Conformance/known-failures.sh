#!/usr/bin/env bash
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#
# known-failures.sh LIST COLUMN LOG [PART]: prints the number of failed cases in the LOG
# of a column that LIST contains, and the number of lines of LIST for this column without
# a failure (0 if PART states that not all cases were run). Prints the other failures and
# these lines to stderr.
set -uo pipefail
list=$1 column=$2 log=$3 part=${4:-}
declare -A hits=()
count=0 stale=0

each_line() { # of LIST for this column
  grep -v '^#' "$list" | while read -r of rest; do
    if [ "$of" = any ] || [ "$of" = "$column" ]; then echo "$rest"; fi
  done
}

while read -r _ name rest; do
  known=
  while read -r pattern _; do
    # shellcheck disable=SC2053 # a pattern
    [[ $name == $pattern ]] && known=1 hits[$pattern]=1
  done < <(each_line)
  if [ "$known" ]; then count=$((count + 1)); else echo "FAILED $name $rest" | cut -c1-400 >&2; fi
done < <(grep '^FAILED' "$log")
[ "$part" ] || while read -r pattern reason; do
  [ "${hits[$pattern]:-}" ] && continue
  stale=$((stale + 1))
  echo "known-failures: no case '$pattern' fails in column $column ($reason)" >&2
done < <(each_line)
echo "$count $stale"
