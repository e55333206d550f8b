#!/usr/bin/env bash
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#
# `make demo`: sets up, builds, compiles a trained model and prints its predictions. If
# build/ is not configured, the compiler is built in build-demo/ without optimization,
# which takes about half the time; it writes the same modules.
set -euo pipefail
cd "$(dirname "$0")/.."
start=$SECONDS
scripts/setup.sh
echo "setup: done after $((SECONDS - start)) s"
build=build
[ -f build/build.ninja ] || build=build-demo
BUILD=$build PRESET=demo scripts/build.sh atranslate digits
echo "build: done after $((SECONDS - start)) s"
mkdir -p $build/demo
$build/bin/atranslate examples/digits/digits.onnx -o $build/demo/digits.so
$build/bin/digits $build/demo/digits.so examples/digits
echo "demo: total $((SECONDS - start)) s since start"
