#!/usr/bin/env bash
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#
# `make demo`: from nothing to the predictions of a trained model.
set -euo pipefail
cd "$(dirname "$0")/.."
start=$SECONDS
scripts/setup.sh
echo "setup: done after $((SECONDS - start)) s"
scripts/build.sh atranslate digits
echo "build: done after $((SECONDS - start)) s"
mkdir -p build/demo
build/bin/atranslate examples/digits/digits.onnx -o build/demo/digits.so
build/bin/digits build/demo/digits.so examples/digits
echo "demo: total $((SECONDS - start)) s since start"
