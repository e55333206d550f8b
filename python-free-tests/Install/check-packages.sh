#!/usr/bin/env bash
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#
# Builds the packages. Each compiles a model and runs it in a separate root folder without
# LLVM: the archive with glibc only, the .deb with the packages that it depends on, and
# the wheel (if `make wheel` built one) with Python, in a new environment.
#   check-packages.sh SOURCE BUILD [--debian]
# With --debian, the .deb is also installed, with its dependencies, into a minimal Debian
# 12 created by debootstrap (needs the network).
# Status 77: skipped; requires root and patchelf.
set -euo pipefail
source=$1 build=$2
[ "$(id -u)" = 0 ] && command -v patchelf >/dev/null && command -v dpkg-shlibdeps >/dev/null &&
  unshare --mount true 2>/dev/null || exit 77
work=$build/package-test
rm -rf "$work"
mkdir -p "$work/image/proc" "$work/image/tmp"
trap 'rm -rf "$work"' EXIT

# inside ROOT COMMAND..: runs with /proc, which the loader needs for $ORIGIN. The mount
# ends with the command.
inside() {
  # shellcheck disable=SC2016
  unshare --mount sh -c 'mount --bind /proc "$1/proc" && exec chroot "$@"' sh "$@"
}

# compile_and_run ROOT BIN: compiles and runs a model in that root folder
compile_and_run() {
  cp "$source/examples/digits/digits.onnx" "$source"/examples/digits/*.npy "$1/tmp"
  inside "$1" "$2/atranslate" /tmp/digits.onnx -o /tmp/digits.so
  inside "$1" "$2/arun" /tmp/digits.so --input image=/tmp/samples.npy --expect logits=/tmp/reference.npy
  inside "$1" "$2/aopt" --version >/dev/null
  inside "$1" "$2/adze-reduce" --version >/dev/null
}

# populate ROOT PACKAGE..: copies the files of these installed Debian packages and of all
# their dependencies.
populate() {
  local root=$1
  shift
  mkdir -p "$root"/proc "$root"/tmp "$root"/usr/bin "$root"/usr/sbin "$root"/usr/lib "$root"/usr/lib64
  ln -sfn usr/bin "$root/bin" && ln -sfn usr/sbin "$root/sbin" && ln -sfn usr/lib "$root/lib" && ln -sfn usr/lib64 "$root/lib64"
  apt-cache depends --recurse --installed --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces \
    --no-enhances "$@" | grep '^[a-z0-9]' | grep -vE '^(perl|debconf)' | sort -u | xargs dpkg -L 2>/dev/null |
    grep -v '^/\.$' | grep -vE '^/usr/share/(doc|man|locale)/' | sort -u | while IFS= read -r file; do
      if [ -f "$file" ] || [ -L "$file" ]; then echo "${file#/}"; fi
    done >"$root/tmp/files"
  tar -C / --no-recursion -cf - -T "$root/tmp/files" | tar -C "$root" -xf - --keep-directory-symlink
}

# fetch REQUIREMENT: downloads its wheel for the environment in the root folder
fetch() { /usr/bin/python3 -m pip download -q --disable-pip-version-check --only-binary :all: -d "$work/wheels" "$1" 2>/dev/null; }

cpack --config "$build/CPackConfig.cmake" -B "$work/packages" >"$work/cpack.log" 2>&1 || { tail -20 "$work/cpack.log"; exit 1; }
archive=$(echo "$work"/packages/adze-*.tar.zst) deb=$(echo "$work"/packages/adze_*.deb)
tar -xf "$archive" -C "$work/image"
folder=/$(basename "$archive" .tar.zst)
# The loader and the libraries of glibc, at the places where programs look for them.
loader=$(patchelf --print-interpreter "$work/image$folder/bin/atranslate")
{ ldd "$work/image$folder"/bin/* "$work/image$folder"/lib/*.so* 2>/dev/null || true; } |
  grep -oE "/[^ ]*/lib(c|m|dl|pthread|rt)\.so\.[0-9]+" | sort -u | xargs cp -L --parents -t "$work/image" "$loader"
compile_and_run "$work/image" "$folder/bin"
# Libraries loaded by programs find their dependencies in the same folder.
for library in libadze_compiler.so libonnxruntime_ep_adze.so; do
  needs=$(inside "$work/image" "$loader" --list "$folder/lib/$library")
  ! grep 'not found' <<<"$needs" || { echo "expected $library to find its libraries"; exit 1; }
done
needs=$(for file in "$work/image$folder"/bin/* "$work/image$folder"/lib/*.so*; do
  llvm-readelf-22 --version-info "$file" | grep -o 'GLIBC_2\.[0-9.]*'
done | sort -Vu | tail -1)
echo "archive: $(stat -c %s "$archive") bytes, needs $needs"

# (Strings, as the writer of a pipe fails if grep -q ends at a match.)
control=$(dpkg-deb --field "$deb" Depends) contents=$(dpkg-deb --contents "$deb")
grep -q libmlir-22 <<<"$control" || { echo "expected the .deb to depend on libmlir-22"; exit 1; }
for file in bin/atranslate lib/libadze_rt.so.0 lib/libonnxruntime_ep_adze.so include/adze.hpp lib/pkgconfig/adze.pc share/man/man1/arun.1; do
  grep -q " ./usr/$file" <<<"$contents" || { echo "expected $file in the .deb"; exit 1; }
done
mapfile -t depends < <(tr , '\n' <<<"$control" | awk '{print $1}')
populate "$work/deb" "${depends[@]}" 2>"$work/populate.log" || { cat "$work/populate.log"; exit 1; }
dpkg-deb --extract "$deb" "$work/deb"
compile_and_run "$work/deb" /usr/bin
echo ".deb: compiled with only the packages that it depends on"
rm -rf "$work/deb"

wheel=$(ls "$build"/wheel/adze-*.whl 2>/dev/null | tail -1 || true)
if [ -z "$wheel" ]; then
  echo "wheel: not tested: make wheel did not build it"
elif ! fetch 'numpy>=1.22'; then
  echo "wheel: not tested: NumPy cannot be fetched"
else
  populate "$work/python" python3 python3-venv libstdc++6
  [ -z "$(find "$work/python" -name 'libLLVM*' -o -name 'libMLIR*')" ] || { echo "expected Python without LLVM"; exit 1; }
  cp "$wheel" "$work/wheels" && cp -r "$work/wheels" "$work/python/tmp"
  cp "$source/examples/digits/digits.onnx" "$source"/examples/digits/*.npy "$work/python/tmp"
  inside "$work/python" /usr/bin/python3 -m venv /tmp/venv
  start=$SECONDS
  inside "$work/python" /tmp/venv/bin/pip install -q --disable-pip-version-check --no-index --find-links /tmp/wheels adze
  inside "$work/python" /tmp/venv/bin/python -c '
import adze, numpy as np
module = adze.compile("/tmp/digits.onnx")
error = abs(module(np.load("/tmp/samples.npy")) - np.load("/tmp/reference.npy")).max()
assert error < 1e-3, error'
  echo "wheel: $(stat -c %s "$wheel") bytes, from pip install to the first result $((SECONDS - start)) s, without LLVM"
fi
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
