#!/usr/bin/env bash
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#
# check-product.sh BUILD NAME MODEL ARG...: compares a product, in ONNX's text form, on
# cuda:0 with its sums in f64 (gpu-product ARG...). UNIT=wgmma in the environment requires
# that this unit multiplies, FLAGS are those of the compiler. Exit status 77 without a
# GPU, after the checks of the compiled code.
set -uo pipefail
build=$1 name=$2 model=$3
shift 3
work=$build/gpu-products
mkdir -p "$work"
printf '<ir_version: 10, opset_import: ["" : 23]>\n%s\n' "$model" >"$work/$name.onnxtxt"
"$build/bin/onnx-as" "$work/$name.onnxtxt" -o "$work/$name.onnx" || exit 1
"$build/bin/atranslate" "$work/$name.onnx" --target="${TARGET:-cuda:sm_90a}" ${FLAGS:-} -q -o "$work/$name.so" || exit 1
if [ -n "${UNIT:-}" ]; then
  "$build/bin/atranslate" "$work/$name.onnx" --target="${TARGET:-cuda:sm_90a}" ${FLAGS:-} -q --emit=ptx -o "$work/$name.ptx" &&
    grep -q "$UNIT" "$work/$name.ptx" || { echo "no $UNIT in $name.ptx"; exit 1; }
fi
[ -e /dev/nvidiactl ] || { echo "no GPU here"; exit 77; }
"$build/unittests/gpu-product" "$work/$name.so" "$@"
