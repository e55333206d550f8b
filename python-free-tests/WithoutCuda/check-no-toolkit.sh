#!/usr/bin/env bash
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#
# check-no-toolkit.sh BUILD MODEL: the model compiles for a GPU without a CUDA
# toolkit. Where the machine has one, its ptxas accepts the PTX.
set -euo pipefail
build=$1 model=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  echo "check-no-toolkit: $*" >&2
  exit 1
}
ptxas=$(PATH=$PATH:/usr/local/cuda/bin command -v ptxas || true)

# An empty toolkit folder that is set explicitly hides those in the usual locations; a
# ptxas in PATH must not be used instead.
mkdir "$work/toolkit" "$work/decoy"
printf '#!/bin/sh\ntouch "%s/called"\nexit 1\n' "$work" >"$work/decoy/ptxas"
chmod +x "$work/decoy/ptxas"
hidden() {
  env -u CUDA_PATH CUDA_HOME="$work/toolkit" PATH="$work/decoy:/usr/bin:/bin" "$@"
}

case $model in
*.onnxtxt)
  "$build/bin/onnx-as" "$model" -o "$work/m.onnx"
  model=$work/m.onnx
  ;;
esac
hidden "$build/bin/atranslate" "$model" --target=cuda:sm_90a -v -o "$work/m.so" 2>"$work/log" ||
  fail "no module: $(cat "$work/log")"
grep -q '^remark: .*no ptxas was found: the module has PTX' "$work/log" || fail "no remark that the module has PTX"
[ ! -e "$work/called" ] || fail "the ptxas on the path was called"
"$build/bin/arun" "$work/m.so" --info --json >"$work/info"
grep -q '"device_images": \[{"target": "cuda:sm_90a", "form": "ptx"' "$work/info" || fail "the module has no PTX"

hidden "$build/bin/atranslate" "$model" --target=cuda:sm_90a --emit=ptx -o "$work/m.ptx"
[ "$(grep -c '^\.version' "$work/m.ptx")" = 1 ] || fail "expected one .version"
[ "$(grep -c '^\.target sm_90a$' "$work/m.ptx")" = 1 ] || fail "expected one .target sm_90a"
entries=$(grep -c '\.visible \.entry' "$work/m.ptx") || fail "no kernel"
# A function that the text does not define would need libdevice.
! grep -n '\.extern \.func\|__nv_' "$work/m.ptx" || fail "the PTX calls functions that it does not have"
grep -qaF "$(grep -m1 '\.visible \.entry' "$work/m.ptx")" "$work/m.so" || fail "the module has other PTX"
if [ -z "$ptxas" ]; then
  echo "check-no-toolkit: $entries kernels; no ptxas here to assemble them"
  exit 0
fi
"$ptxas" -arch=sm_90a -O0 "$work/m.ptx" -o "$work/m.cubin" || fail "ptxas refuses the PTX"
echo "check-no-toolkit: $entries kernels, which ptxas assembles"
