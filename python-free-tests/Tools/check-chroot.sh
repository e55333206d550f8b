#!/usr/bin/env bash
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#
# Compiles in a root folder that contains only atranslate, its shared libraries, and the
# model: no compiler, linker, Python or /tmp.
# check-chroot.sh BUILD MODEL.onnx        skipped (77) if chroot is not permitted
set -euo pipefail
build=$1 model=$2
root=$build/chroot-test
rm -rf "$root"
mkdir -p "$root/in"
trap 'rm -rf "$root"' EXIT
enter() { chroot "$root" "$@"; }
if [ "$(id -u)" != 0 ]; then
  unshare -r true 2>/dev/null || exit 77
  enter() { unshare -r chroot "$root" "$@"; }
fi
cp "$build/bin/atranslate" "$model" "$root/in/"
ldd "$build/bin/atranslate" | awk '$2 == "=>" {print $3} $1 ~ /^\// {print $1}' | while read -r library; do
  mkdir -p "$root$(dirname "$library")"
  cp -L "$library" "$root$library"
done
enter /in/atranslate "/in/$(basename "$model")" -o /in/model.so
"$build/bin/atranslate" "$model" -o "$root/outside.so"
cmp "$root/in/model.so" "$root/outside.so"
