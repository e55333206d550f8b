#!/usr/bin/env bash
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#
# check-model.sh BUILD MODEL: compares the results of one module on the CPU and on
# cuda:sm_90a. Exit status 77 without a GPU.
set -uo pipefail
build=$1 name=$2
[ -e /dev/nvidiactl ] || { echo "no GPU here"; exit 77; }
model=$build/models/$name/model.onnx
[ -f "$model" ] || { echo "no model $model"; exit 77; }
out=$build/models/$name/gpu.so
"$build/bin/atranslate" "$model" --target=cpu --target=cuda:sm_90a --allow-host-fallback -o "$out" -q || exit 1
"$build/unittests/gpu-compare" "$out"
