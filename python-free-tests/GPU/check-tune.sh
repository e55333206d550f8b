#!/usr/bin/env bash
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#
# check-tune.sh BUILD: --tune=measure finds schedules on cuda:0, the results are those of
# the CPU, and the database gives the same module without a GPU. Exit status 77 without
# one.
set -uo pipefail
build=$1
[ -e /dev/nvidiactl ] || { echo "no GPU here"; exit 77; }
work=$build/gpu-tune
rm -rf "$work"
mkdir -p "$work"
fail() {
  echo "check-tune: $*" >&2
  exit 1
}
cat >"$work/m.onnxtxt" <<'END'
<ir_version: 10, opset_import: ["" : 23]>
mm (float16[N,520] x, float16[520,1032] w, float16[1032,264] v, float16[1032] c) => (float16[N,264] y) {
  p = MatMul(x, w) q = Add(p, c) r = Relu(q) y = MatMul(r, v)
}
END
"$build/bin/onnx-as" "$work/m.onnxtxt" -o "$work/m.onnx" || exit 1
compile() { "$build/bin/atranslate" "$work/m.onnx" --dim N=1..2000:1000 --target=cpu --target=cuda:sm_90a "$@"; }
compile --tune=measure --tune-db="$work/db.json" -v -o "$work/m.so" 2>"$work/log" || fail "$(cat "$work/log")"
grep -q '^tune: matmul.*: [1-9][0-9.]* us' "$work/log" || fail "no kernel was measured: $(cat "$work/log")"
grep -q '"schedule": "#tile.schedule<' "$work/db.json" || fail "no schedule in the database"
"$build/unittests/gpu-compare" "$work/m.so" --dim 1000 --tolerance 2e-3 || fail "wrong results"
CUDA_VISIBLE_DEVICES='' compile --tune=measure --tune-db="$work/db.json" -q -o "$work/again.so" || fail "no replay"
cmp "$work/m.so" "$work/again.so"
