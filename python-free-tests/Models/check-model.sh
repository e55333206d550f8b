#!/usr/bin/env bash
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#
# Compiles one prepared model and checks the guarantees of the module:
#   check-model.sh BUILD NAME LEVEL
# results within 1e-4 of the reference's range with 1 and 2 threads, the same bits for any
# number of threads and in every run, no undefined symbol, no dependency, (at -O2) the
# same bytes from a second build in another folder with another -j, and no launch that
# stores more or fewer bytes than the profile states (written-bytes.c).
set -uo pipefail
build=$1 name=$2 level=$3
model=$build/models/$name/model.onnx
data=$build/models/$name/data
work=$build/model-tests/$name.$level
rm -rf "$work"
mkdir -p "$work/elsewhere"
trap 'rm -rf "$work"' EXIT
export PATH=$build/bin:/usr/lib/llvm-22/bin:$PATH
die() {
  echo "FAIL: $name $level: $*"
  exit 1
}
[ -f "$model" ] || die "expected $model: run benchmarks/models/prepare.sh $build/models"

start=$(date +%s%N)
atranslate "$model" "-$level" -j2 -o "$work/a.so" --stats >"$work/stats" 2>&1 || die "atranslate ended with $?: $(cat "$work/stats")"
echo "compiled in $((($(date +%s%N) - start) / 1000000)) ms, $(stat -c %s "$work/a.so") bytes"

undefined=$(llvm-nm -D --undefined-only "$work/a.so") || die "llvm-nm failed"
[ -z "$undefined" ] || die "expected no undefined symbol, but got: $undefined"
needed=$(llvm-readelf -d "$work/a.so" | grep NEEDED)
[ -z "$needed" ] || die "expected nothing needed, but got: $needed"
exported=$(llvm-nm -D --defined-only "$work/a.so" | awk '{print $3}')
[ "$exported" = adze_module_query ] || die "expected one exported symbol, but got: $exported"

# stat_of NAME: prints a figure of --stats, or nothing if there is none.
stat_of() {
  sed -nE "s/^$1 = ([0-9]+).*/\\1/p" "$work/stats"
}

# Every cluster is a tile kernel, and their number is at most that of limits.txt.
if [ "$level" != O0 ]; then
  for refused in "convert-graph-to-linalg: kernels" "convert-graph-to-tile: refused"; do
    [ "$(stat_of "$refused")" = 0 ] || die "expected tile kernels only, but '$refused' is $(stat_of "$refused")"
  done
  read -r _ launches percent < <(grep "^$name " "${BASH_SOURCE%/*}/limits.txt" || echo "$name - -")
  if [ "$launches" != - ]; then
    got=$(stat_of "convert-host-to-llvm: launches")
    [ "$got" -le "$launches" ] || die "expected at most $launches launches, but got $got"
  fi
  if [ "$percent" != - ]; then
    arena=$(stat_of "plan-memory: arena-bytes") bound=$(stat_of "plan-memory: arena-lower-bound-bytes")
    [ $((arena * 100)) -le $((bound * percent)) ] || die "expected an arena of at most $percent % of $bound bytes, but got $arena"
  fi
fi

# run THREADS FOLDER
run() {
  arun "$work/a.so" --test-dir "$data" --range-tol 1e-4 --threads "$1" --output-dir "$work/$2" ||
    die "arun with $1 threads ended with $?"
  [ -n "$(ls "$work/$2")" ] || die "arun wrote no output"
}
run 1 one
run 2 two
diff -rq "$work/one" "$work/two" || die "1 and 2 threads differ"
"$build/unittests/written-bytes" "$work/a.so" || die "kernels store other bytes than the profile says"
if [ "$level" != O0 ]; then
  run 2 again
  diff -rq "$work/two" "$work/again" || die "two runs differ"
  "$build/unittests/same-bits" "$work/a.so" || die "not the same bits"
  (cd "$work/elsewhere" && ln -s "$model" model.onnx && atranslate model.onnx "-$level" -j1 -o b.so) || die "the second build failed"
  cmp "$work/a.so" "$work/elsewhere/b.so" || die "two builds differ"
  # The tile-level text, parsed again, compiles to the same module.
  (cd "$work/elsewhere" && atranslate model.onnx "-$level" --emit=tile -o model.mlir && atranslate model.mlir "-$level" -o t.so) || die "the tile text does not compile"
  cmp "$work/a.so" "$work/elsewhere/t.so" || die "the module made of the tile text differs"
fi
echo "PASS: $name $level"
