#!/usr/bin/env bash
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#
# check-no-driver-api.sh RUNTIME-TESTS: the test of the C API for machines without a CUDA
# driver passes, and is not skipped, if the driver is hidden.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
: >"$work/libcuda.so.1" # no library
LD_LIBRARY_PATH=$work "$1" --gtest_filter='WrongDevice.Cuda*' | tee "$work/log"
grep -qF '[  PASSED  ] 1 test.' "$work/log"
