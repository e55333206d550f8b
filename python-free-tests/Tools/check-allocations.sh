#!/usr/bin/env bash
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#
# Makes each allocation of a command fail, in a separate copy of the process
# (FailAllocation.c):
#
#   check-allocations.sh SHIM NUMBER SEED OUTPUT COMMAND...
#
# About NUMBER allocations fail (0: all), at equal distances from one that SEED selects;
# with FIRST=1 in the environment, the first NUMBER. The command must end with status 0,
# or with 1 or 70 and a message, within two minutes. OUTPUT (- for none) is the file that
# it writes: it must be complete or absent. The command must contain the name OUTPUT. JOBS
# commands run in parallel. If a copy of the process would lack threads or share the
# output, the command runs from the beginning instead.
set -uo pipefail
shim=$1 number=$2 seed=$3 output=$4
shift 4
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# The result without failures.
rm -f "$output"
if ! ADZE_COUNT_ALLOCATIONS=$folder/count LD_PRELOAD=$shim "$@" >"$folder/out" 2>&1; then
  cat "$folder/out"
  echo "check-allocations: the command fails by itself" >&2
  exit 1
fi
all=$(cat "$folder/count")
[ "$output" = - ] || cp "$output" "$folder/whole"
[ "$number" != 0 ] && [ "$number" -lt "$all" ] || number=$all

step=$((all / number)) jobs=${JOBS:-$(nproc)}
if [ -n "${FIRST:-}" ]; then
  step=1 seed=0
  [ "$jobs" -le "$number" ] || jobs=$number
fi
pids=
for ((job = 0; job < jobs; ++job)); do
  part=$folder/$job made=$output
  mkdir "$part"
  if [ "$output" != - ]; then
    cp "$folder/whole" "$part/whole"
    made=$part/$(basename "$output") # a file of its own
    export ADZE_FAIL_OUTPUT=$made
  fi
  [ -z "${FIRST:-}" ] || export ADZE_FAIL_MOST=$(((number + jobs - 1 - job) / jobs))
  ADZE_FAIL_EACH=$((seed % step + 1 + job * step)):$((step * jobs)):$part LD_PRELOAD=$shim \
    "${@/#$output/$made}" >"$part/log" 2>&1 &
  pids="$pids $!"
done
failures=0 job=0
for pid in $pids; do
  wait "$pid" && status=0 || status=$?
  [ $status = 0 ] || { cat "$folder/$job/log"; echo "check-allocations: the command ends with status $status" >&2; failures=1; }
  job=$((job + 1))
done
# alone NUMBER COMMAND...: prints how the command ends if that allocation fails.
alone() {
  local at=$1 end
  shift
  rm -f "$output" "$output".tmp-*
  timeout 120 env ADZE_FAIL_ALLOCATION="$at" LD_PRELOAD="$shim" "$@" >"$folder/out" 2>&1
  case $? in
  0) end=complete; [ "$output" = - ] || cmp -s "$output" "$folder/whole" || end="another output" ;;
  1 | 70)
    end=message
    [ -s "$folder/out" ] || end="no message"
    # The output is complete if a later step fails.
    [ ! -e "$output" ] || cmp -s "$output" "$folder/whole" || end="a part of the output"
    ! compgen -G "$output.tmp-*" >/dev/null || end="a temporary file"
    ;;
  *) end="a signal or another status" ;;
  esac
  echo "$at $end -"
}
cat "$folder"/*/ends | while read -r at why; do
  case $why in
  "not forked"*) alone "$at" "$@" ;;
  *) echo "$at $why" ;;
  esac
done >"$folder/ends"
while read -r at why; do
  echo "check-allocations: allocation $at of $all: $why" >&2
  echo "again: ADZE_FAIL_ALLOCATION=$at LD_PRELOAD=$shim $*" >&2
  failures=$((failures + 1))
done < <(grep -Ev "^[0-9]+ (complete|message) " "$folder/ends") # not "no message"
rm -f "$output"
echo "$(wc -l <"$folder/ends") of $all allocations failed: $(grep -Ec "^[0-9]+ message " "$folder/ends") ends with a message," \
  "$(grep -Ec "^[0-9]+ complete " "$folder/ends") complete, $failures failures"
[ "$failures" = 0 ]
