#!/usr/bin/env bash
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#
# Peak anonymous memory of atranslate: check-memory.sh BUILD MODEL MIB compiles MODEL at
# -O2 and fails above MIB mebibytes. MODEL "external": y = MatMul(x, w), with w of 3 GiB
# next to the model (a sparse file, which packing makes dense).
set -euo pipefail
build=$1 model=$2 most=$3
work=$(mktemp -d "$build/memory-XXXXXX")
trap 'rm -rf "$work"' EXIT
if [ "$model" = external ]; then
  model=$work/model.onnx
  {
    printf '\x08\x08\x3a\x93\x01\x0a\x11\x0a\x01\x78\x0a\x01\x77\x12\x01\x79\x22\x06\x4d\x61\x74\x4d\x75\x6c\x12\x01\x67\x2a'
    printf '\x4b\x08\x80\xc0\x01\x08\x80\x80\x02\x10\x01\x42\x01\x77\x6a\x17\x0a\x08\x6c\x6f\x63\x61\x74\x69\x6f\x6e\x12\x0b'
    printf '\x77\x65\x69\x67\x68\x74\x73\x2e\x62\x69\x6e\x6a\x0b\x0a\x06\x6f\x66\x66\x73\x65\x74\x12\x01\x30\x6a\x14\x0a\x06'
    printf '\x6c\x65\x6e\x67\x74\x68\x12\x0a\x33\x32\x32\x31\x32\x32\x35\x34\x37\x32\x70\x01\x5a\x16\x0a\x01\x78\x12\x11\x0a'
    printf '\x0f\x08\x01\x12\x0b\x0a\x03\x12\x01\x6e\x0a\x04\x08\x80\xc0\x01\x62\x16\x0a\x01\x79\x12\x11\x0a\x0f\x08\x01\x12'
    printf '\x0b\x0a\x03\x12\x01\x6e\x0a\x04\x08\x80\x80\x02\x42\x04\x0a\x00\x10\x11'
  } >"$model"
  truncate -s 3221225472 "$work/weights.bin"
  # Not all elements are equal, as a splat would need no memory.
  printf '\x00\x00\x80\x3f' | dd of="$work/weights.bin" bs=1 seek=4096 conv=notrunc status=none
fi
"$build/bin/atranslate" "$model" -q -O2 --weights=file -o "$work/m.so" &
pid=$!
peak=0
while kill -0 $pid 2>/dev/null; do
  now=$(awk '/RssAnon|RssShmem/ { sum += $2 } END { print sum + 0 }' /proc/$pid/status 2>/dev/null || true)
  [ "${now:-0}" -le "$peak" ] || peak=$now
  sleep 0.02
done
wait $pid
echo "peak anonymous memory of atranslate -O2: $((peak / 1024)) MiB"
[ "$peak" -gt 0 ] && [ $((peak / 1024)) -le "$most" ]
