#!/usr/bin/env bash
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#
# check-no-driver.sh BUILD DIGITS: without a CUDA driver, a module for CPU and GPU runs on
# the CPU, and operations that need the GPU are errors that report it.
set -euo pipefail
build=$1 digits=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  echo "check-no-driver: $*" >&2
  exit 1
}
"$build/bin/atranslate" "$digits/digits.onnx" --target=cpu --target=cuda:sm_90a -o "$work/both.so"
"$build/bin/atranslate" "$digits/digits.onnx" --target=cuda:sm_90a -o "$work/gpu.so"

cat >"$work/product.mlir" <<'END'
func.func @main(%x: tensor<512x512xf16> {graph.name = "x"}, %w: tensor<512x512xf16> {graph.name = "w"}) -> (tensor<512x512xf16> {graph.name = "y"}) {
  %0 = graph.matmul %x, %w : (tensor<512x512xf16>, tensor<512x512xf16>) -> tensor<512x512xf16>
  return %0 : tensor<512x512xf16>
}
END

# A file that is not a library hides an installed driver.
mkdir "$work/lib"
: >"$work/lib/libcuda.so.1"

# expect STATUS TEXT COMMAND...
expect() {
  local status=$1 text=$2 got=0
  shift 2
  LD_LIBRARY_PATH=$libraries "$@" >"$work/out" 2>&1 || got=$?
  [ "$got" = "$status" ] || fail "expected status $status, but got $got of $*: $(cat "$work/out")"
  grep -qF "$text" "$work/out" || fail "expected '$text', but got $(cat "$work/out")"
}

check() {
  expect 1 "error: module has device code for cuda:sm_90a, but no CUDA driver was found (" \
    "$build/bin/arun" "$work/both.so" --random --device cuda:0
  expect 1 "error: module has device code for cuda:sm_90a, but no CUDA driver was found (" \
    "$build/bin/arun" "$work/gpu.so" --random --device cuda:0
  expect 1 "error: module has no code for cpu that runs here; it has cuda:sm_90a" \
    "$build/bin/arun" "$work/gpu.so" --random
  expect 3 "error: unsupported: --tune=measure for cuda:sm_90a: module has device code for cuda:sm_90a, but no CUDA" \
    "$build/bin/atranslate" "$work/product.mlir" --target=cuda:sm_90a --tune=measure -o "$work/tuned.so"
  [ ! -e "$work/tuned.so" ] || fail "a module without measurements was written"
  expect 0 "cuda:sm_90a" "$build/bin/arun" "$work/both.so" --info
  expect 0 "logits" "$build/bin/arun" "$work/both.so" --input image="$digits/samples.npy" \
    --expect logits="$digits/reference.npy"
}
libraries=$work/lib
check
if [ -e /dev/nvidiactl ] || ldconfig -p 2>/dev/null | grep -q 'libcuda\.so\.1'; then
  echo "check-no-driver: the machine's driver was hidden"
else
  libraries=
  check
  echo "check-no-driver: the machine has no driver"
fi
