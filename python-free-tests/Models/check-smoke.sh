#!/usr/bin/env bash
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#
# Compiles and runs a light model of the ONNX package (its weights are one constant, so
# its output is not compared). check-smoke.sh BUILD MODEL.onnx
set -euo pipefail
build=$1 model=$2
work=$build/model-tests/smoke.$(basename "$model" .onnx)
mkdir -p "$work"
trap 'rm -rf "$work"' EXIT
"$build/bin/atranslate" "$model" -j2 -o "$work/m.so"
"$build/bin/arun" "$work/m.so" --random --seed 1 --threads 2
