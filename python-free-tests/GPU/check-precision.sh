#!/usr/bin/env bash
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#
# check-precision.sh BUILD MODEL PRECISION [TARGET]: compares an f32 model with
# --precision on cuda:0, compiled for TARGET (cuda:sm_90a), with f32 on the CPU; the
# greatest error is a hundredth of the range. Exit status 77 without a GPU.
set -uo pipefail
build=$1 name=$2 precision=$3 target=${4:-cuda:sm_90a}
[ -e /dev/nvidiactl ] || { echo "no GPU here"; exit 77; }
model=$build/models/$name/model.onnx
[ -f "$model" ] || { echo "no model $model"; exit 77; }
out=$build/models/$name/gpu-$precision-${target#cuda:}
"$build/bin/atranslate" "$model" -o "$out-cpu.so" -q || exit 1
"$build/bin/atranslate" "$model" --target="$target" --precision="$precision" -o "$out.so" -q || exit 1
"$build/unittests/gpu-compare" "$out-cpu.so" "$out.so" --tolerance 1e-2
