#!/usr/bin/env bash
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#
# Makes the packages. The archive, unpacked into a root folder that holds glibc
# and nothing else, compiles a model and runs it.
#   check-packages.sh SOURCE BUILD [--debian]
# With --debian the .deb is also installed, with its dependencies, into a minimal
# Debian 12 that debootstrap makes (needs the network).
# Status 77: skipped; root and patchelf are needed.
set -euo pipefail
source=$1 build=$2
[ "$(id -u)" = 0 ] && command -v patchelf >/dev/null && command -v dpkg-shlibdeps >/dev/null &&
  unshare --mount true 2>/dev/null || exit 77
work=$build/package-test
rm -rf "$work"
mkdir -p "$work/root/proc" "$work/root/tmp" "$work/root/lib64" "$work/root/lib/x86_64-linux-gnu"
trap 'rm -rf "$work"' EXIT

# inside ROOT COMMAND..: with /proc, by which the loader finds $ORIGIN. The mount
# ends with the command.
inside() {
  # shellcheck disable=SC2016
  unshare --mount sh -c 'mount --bind /proc "$1/proc" && exec chroot "$@"' sh "$@"
}

# compile_and_run ROOT BIN: in that root folder
compile_and_run() {
  cp "$source/examples/digits/digits.onnx" "$source"/examples/digits/*.npy "$1/tmp"
  inside "$1" "$2/atranslate" /tmp/digits.onnx -o /tmp/digits.so
  inside "$1" "$2/arun" /tmp/digits.so --input image=/tmp/samples.npy --expect logits=/tmp/reference.npy
  inside "$1" "$2/aopt" --version >/dev/null
  inside "$1" "$2/adze-reduce" --version >/dev/null
}

cpack --config "$build/CPackConfig.cmake" -B "$work/packages" >"$work/cpack.log" 2>&1 || { tail -20 "$work/cpack.log"; exit 1; }
archive=$(echo "$work"/packages/adze-*.tar.zst) deb=$(echo "$work"/packages/adze_*.deb)
tar -xf "$archive" -C "$work/root"
cp -L /lib64/ld-linux-x86-64.so.2 "$work/root/lib64"
cp -L /lib/x86_64-linux-gnu/lib{c,m,dl,pthread,rt}.so.* "$work/root/lib/x86_64-linux-gnu"
folder=/$(basename "$archive" .tar.zst)
compile_and_run "$work/root" "$folder/bin"
# The libraries that programs load find what they need beside them.
for library in libadze_compiler.so libonnxruntime_ep_adze.so; do
  needs=$(inside "$work/root" /lib64/ld-linux-x86-64.so.2 --list "$folder/lib/$library")
  ! grep 'not found' <<<"$needs" || { echo "expected $library to find its libraries"; exit 1; }
done
needs=$(for file in "$work/root$folder"/bin/* "$work/root$folder"/lib/*.so*; do
  llvm-readelf-22 --version-info "$file" | grep -o 'GLIBC_2\.[0-9.]*'
done | sort -Vu | tail -1)
echo "archive: $(stat -c %s "$archive") bytes, needs $needs"

# (Strings, as the writer of a pipe fails where grep -q ends at a match.)
control=$(dpkg-deb --field "$deb" Depends) contents=$(dpkg-deb --contents "$deb")
grep -q libmlir-22 <<<"$control" || { echo "expected the .deb to depend on libmlir-22"; exit 1; }
for file in bin/atranslate lib/libadze_rt.so.0 lib/libonnxruntime_ep_adze.so include/adze.hpp lib/pkgconfig/adze.pc share/man/man1/arun.1; do
  grep -q " ./usr/$file" <<<"$contents" || { echo "expected $file in the .deb"; exit 1; }
done
if [ "${3:-}" = --debian ]; then
  debootstrap --variant=minbase bookworm "$work/debian" >"$work/debootstrap.log" 2>&1 || { tail "$work/debootstrap.log"; exit 1; }
  rm -f "$work/debian/etc/apt/sources.list"
  cp /etc/apt/sources.list.d/*.sources "$work/debian/etc/apt/sources.list.d/"
  cp "$deb" "$work/debian/tmp/adze.deb"
  inside "$work/debian" apt-get update -qq
  inside "$work/debian" apt-get install -y -qq --no-install-recommends /tmp/adze.deb >"$work/apt.log" 2>&1 || { tail "$work/apt.log"; exit 1; }
  compile_and_run "$work/debian" /usr/bin
  echo ".deb: installed in a minimal Debian 12"
fi
