#!/usr/bin/env bash
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#
# Exports one prepared model with --emit=onnx at each level:
#   check-export.sh BUILD NAME
# Each file passes ONNX's checker with shape inference, has no two nodes with the same
# name, and, imported again, computes the model's reference outputs within 1e-4 of their
# range. python/tests/test_exports.py compares the same files with ONNX Runtime.
set -uo pipefail
build=$1 name=$2
model=$build/models/$name/model.onnx
work=$build/model-tests/export.$name
rm -rf "$work"
mkdir -p "$work"
trap 'rm -rf "$work"' EXIT
export PATH=$build/bin:$PATH
die() {
  echo "FAIL: $name: $*"
  exit 1
}
[ -f "$model" ] || die "expected $model: run benchmarks/models/prepare.sh $build/models"

last=
for level in O0 O1 O2; do
  atranslate "$model" "-$level" --emit=onnx -o "$work/$level.onnx" || die "the export at -$level ended with $?"
  # An equal file of a lower level was checked already.
  if [ -n "$last" ] && cmp -s "$work/$last.onnx" "$work/$level.onnx"; then
    continue
  fi
  last=$level
  onnx-check "$work/$level.onnx" || die "the export at -$level is not valid"
  atranslate "$work/$level.onnx" -j2 -o "$work/$level.so" || die "the export at -$level cannot be compiled: $?"
  arun "$work/$level.so" --test-dir "$build/models/$name/data" --range-tol 1e-4 --threads 2 ||
    die "the export at -$level gives other results"
done
echo "PASS: $name"
