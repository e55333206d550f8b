#!/usr/bin/env bash
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#
# One backend test case in one column:   check-case.sh BUILD CASE COLUMN
# COLUMN: O0, O2 (CPU) or cuda. Exit status 77 (skipped): atranslate says that
# the model holds something unsupported.
set -uo pipefail
build=$1 case=$2 column=$3
folder=$build/conformance/$case
work=$build/conformance-runs/$case.$column
mkdir -p "$work"
trap 'rm -rf "$work"' EXIT
case $column in
cuda) flags="-O2 --target=cpu --target=cuda:sm_90a" device=cuda:0 ;;
*) flags="-$column" device=cpu ;;
esac
# shellcheck disable=SC2086
timeout 60 "$build/bin/atranslate" "$folder/model.onnx" $flags -j1 -q -o "$work/m.so" >"$work/log" 2>&1
status=$?
if [ $status = 3 ]; then
  echo "SKIPPED: $(head -1 "$work/log" | cut -c1-200)"
  exit 77
elif [ $status != 0 ]; then
  echo "FAIL: atranslate ended with $status"
  head -20 "$work/log" | cut -c1-400
  exit 1
fi
read -r rtol atol <"$folder/tolerance.txt"
for data in "$folder"/test_data_set_*; do
  timeout 60 "$build/bin/arun" "$work/m.so" --device "$device" --test-dir "$data" --rtol "$rtol" --atol "$atol" >"$work/log" 2>&1
  status=$?
  if [ $status != 0 ]; then
    echo "FAIL: arun ended with $status on $(basename "$data")"
    tail -20 "$work/log" | cut -c1-400
    exit 1
  fi
done
