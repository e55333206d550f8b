#!/usr/bin/env bash
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#
# check-decoder.sh BUILD PRECISION: a small decoder model with weights in int4 or
# f32, or all tensors in f16 (int4-f16: all but its weights), whose caches are
# states: prompts, a part of one and steps have the logits and caches of the CPU.
# kv-TYPE: in f32, with caches in another type. Exit status 77 without onnx for
# Python, or without a GPU; what can be compiled without a GPU is, before that.
set -uo pipefail
build=$1 precision=$2
python3 -c "import onnx, numpy" 2>/dev/null || { echo "no Python with onnx and numpy here"; exit 77; }
work=$build/gpu-decoders
mkdir -p "$work"
model=$work/tiny-$precision
weights=$precision type=f32 shape=tiny flags=
case $precision in
f16) weights=f32 type=f16 shape=small ;; # attention by wgmma
int4-f16) weights=int4 type=f16 shape=small ;;
kv-*) weights=f32 flags=--kv-precision=${precision#kv-} ;;
esac
python3 benchmarks/language_models.py write "$model.onnx" --shape $shape --precision $weights --type $type || exit 1
"$build/bin/atranslate" "$model.onnx" $flags --target=cpu --target=cuda:sm_90a -q -o "$model.so" || exit 1
"$build/bin/arun" "$model.so" --info | grep -q '"kind": "rows"' || { echo "its caches are no states"; exit 1; }
[ -e /dev/nvidiactl ] || { echo "no GPU here"; exit 77; }
tolerance=1e-4 steps=
[ "$weights" = int4 ] && tolerance=3e-2 # their products round activations
[ "$precision" = f16 ] && tolerance=2e-2
[ "$precision" = kv-bf16 ] && tolerance=1e-2 # rows may be rounded differently
[ "$precision" = kv-f16 ] && tolerance=2e-3
[ "$precision" = kv-int8 ] && tolerance=2e-2 steps="--steps 1"
for dims in batch=1,sequence=1,all=9,past=8 batch=2,sequence=7,all=7,past=0 batch=2,sequence=150,all=150,past=0 \
  batch=8,sequence=150,all=150,past=0 batch=1,sequence=70,all=210,past=140 batch=10,sequence=1,all=9,past=8 batch=1,sequence=6,all=14,past=8; do
  "$build/unittests/gpu-compare" "$model.so" --dims $dims --ones attention_mask --tolerance $tolerance $steps || exit 1
done
