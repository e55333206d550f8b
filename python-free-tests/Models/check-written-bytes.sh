#!/usr/bin/env bash
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#
# Checks that written-bytes detects stores of a kernel: fewer than its result, a part of
# an operand, and correct ones. check-written-bytes.sh BUILD
set -uo pipefail
build=$1
work=$build/model-tests/written-bytes
mkdir -p "$work"
trap 'rm -rf "$work"' EXIT
die() {
  echo "FAIL: $*"
  exit 1
}

# A kernel that stores `count` elements of the result, and `more` at %o.
model() {
  cat <<MODEL
func.func private @k(%x: memref<64xf32>, %s: memref<64xf32>, %y: memref<64xf32>) attributes {adze.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %count = arith.constant $1 : index
  scf.for %i = %c0 to %count step %c1 {
    %v = memref.load %x[%i] : memref<64xf32>
    memref.store %v, %y[%i] : memref<64xf32>
  }
  %more = arith.constant $2 : index
  scf.for %i = %c0 to %more step %c1 {
    %v = memref.load %x[%i] : memref<64xf32>
    %w = arith.addf %v, %v : f32
    memref.store %w, %s[%i] : memref<64xf32>
  }
  return
}
func.func @main(%x: memref<64xf32> {graph.name = "x"}, %y: memref<64xf32> {graph.name = "y"}) attributes {adze.num_inputs = 1 : i64, graph.symbols = []} {
  %s = host.slot {size = affine_map<() -> (256)>, offset = 0 : i64} : memref<64xf32>
  host.launch @k(%x, %s, %y) : (memref<64xf32>, memref<64xf32>, memref<64xf32>) -> ()
  return
}
MODEL
}

# expect CODE TEXT COUNT MORE
expect() {
  model "$3" "$4" >"$work/m.mlir"
  "$build/bin/atranslate" "$work/m.mlir" -o "$work/m.so" || die "atranslate ended with $?"
  "$build/unittests/written-bytes" "$work/m.so" >"$work/out" 2>&1
  code=$?
  [ $code = "$1" ] || die "expected $1, but got $code: $(cat "$work/out")"
  grep -q "$2" "$work/out" || die "expected '$2', but got: $(cat "$work/out")"
}
expect 0 "1 launches store 256 bytes of results" 64 0
expect 1 "expected 256 bytes of results, but got 252" 63 0
expect 1 "expected 0 bytes outside of results, but got [1-4]" 64 1
echo PASS
