#!/usr/bin/env bash
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#
# Runs a command once for each of its allocations, which fails then:
#
#   check-allocations.sh SHIM NUMBER SEED OUTPUT COMMAND...
#
# At most NUMBER allocations fail (0: all), spread over all by SEED. The command
# has to end with status 0, or with 1 or 70 and a message, within two minutes.
# OUTPUT (- for none) is the file that it makes: whole or not there. The command
# writes the name OUTPUT itself.
set -uo pipefail
shim=$1 number=$2 seed=$3 output=$4
shift 4
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# What it does when nothing fails.
rm -f "$output"
if ! ADZE_COUNT_ALLOCATIONS=$folder/count LD_PRELOAD=$shim "$@" >"$folder/out" 2>&1; then
  cat "$folder/out"
  echo "check-allocations: the command fails by itself" >&2
  exit 1
fi
all=$(cat "$folder/count")
[ "$output" = - ] || cp "$output" "$folder/whole"
[ "$number" != 0 ] && [ "$number" -lt "$all" ] || number=$all

failures=0 ended=0
complain() {
  echo "check-allocations: allocation $at of $all: $*" >&2
  head -c 500 "$folder/out" >&2
  echo "again: ADZE_FAIL_ALLOCATION=$at LD_PRELOAD=$shim $command" >&2
  failures=$((failures + 1))
}
command=$*
for ((i = 0; i < number; ++i)); do
  # One in each of NUMBER equal parts.
  first=$((all * i / number + 1)) part=$((all * (i + 1) / number - all * i / number))
  at=$((first + (seed * 2654435761 + i * 40503) % 65521 % part))
  rm -f "$output"
  ADZE_FAIL_ALLOCATION=$at LD_PRELOAD=$shim timeout -k 5 120 "$@" >"$folder/out" 2>&1
  status=$?
  case $status in
  0) [ "$output" = - ] || cmp -s "$output" "$folder/whole" || complain "another output" ;;
  1 | 70)
    ended=$((ended + 1))
    [ -s "$folder/out" ] || complain "status $status without a message"
    [ "$output" = - ] || [ ! -e "$output" ] || complain "status $status with an output"
    ;;
  *) complain "status $status" ;;
  esac
done
rm -f "$output"
echo "$number of $all allocations failed: $ended ends with a message, $((number - ended - failures)) complete, $failures failures"
[ "$failures" = 0 ]
