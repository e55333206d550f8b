#!/usr/bin/env bash
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#
# Compiles one prepared model for CPUs, and for CPUs and GPUs:
#   check-programs.sh BUILD NAME
# The program for CPUs is the same text after each stage up to the one before code
# generation of kernels.
set -uo pipefail
build=$1 name=$2
model=$build/models/$name/model.onnx
work=$build/model-tests/programs.$name
rm -rf "$work"
mkdir -p "$work/one" "$work/two"
trap 'rm -rf "$work"' EXIT
export PATH=$build/bin:$PATH
die() {
  echo "FAIL: $name: $*"
  exit 1
}
[ -f "$model" ] || die "expected $model: run benchmarks/models/prepare.sh $build/models"

# compile FOLDER FLAG...
compile() {
  local folder=$1
  shift
  (cd "$work/$folder" && atranslate "$model" -j2 --mcpu=x86-64-v4 --target=cpu "$@" --emit=linalg --dump-phases=. -o m.mlir) ||
    die "the compilation ended with $?: $*"
}
compile one
compile two --target=cuda:sm_90a
stages=0
for text in "$work"/one/[0-9]*.mlir; do
  cmp "$text" "$work/two/${text##*/}" || die "the CPU's program is another one beside a GPU's"
  stages=$((stages + 1))
done
[ "$stages" -eq 4 ] || die "expected the texts of 4 stages, but got $stages"
[ -f "$work/two/3-devices.linalg.mlir" ] || die "expected a program for GPUs"
echo "PASS: $name"
