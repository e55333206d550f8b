#!/usr/bin/env bash
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#
# Sets up a fresh Debian 12 machine: installs missing packages, and fills a cache
# folder outside of the build folder with dependencies that Debian lacks. Takes less
# than a second if everything is present.
#
#   scripts/setup.sh [models|bench|site]   also the Python venv that writes the test
#                                          models, that of the peers, or that which
#                                          builds the pages
#   scripts/setup.sh package               also the tools that build packages
#
# ADZE_NO_INSTALL=1   no system packages are installed
# ADZE_CACHE=DIR      the cache folder, ${XDG_CACHE_HOME:-$HOME/.cache}/adze if unset
set -euo pipefail

cache=${ADZE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/adze}
here=$(cd "$(dirname "$0")" && pwd)
say() { printf 'setup: %s\n' "$*"; }

# --- System packages -------------------------------------------------------
packages="libmlir-22-dev mlir-22-tools llvm-22-dev llvm-22-tools clang-22 lld-22
  liblld-22-dev libclang-rt-22-dev clang-format-22 clang-tidy-22 libllvmlibc-22-dev
  libprotobuf-dev protobuf-compiler libgtest-dev libgmock-dev libbenchmark-dev
  libturbojpeg0 libpng16-16 libwebp7 libtiff6 libopenjp2-7
  pkgconf zlib1g-dev libzstd-dev libxxhash-dev ninja-build ccache cmake python3-venv"

[ "${1:-}" != package ] || packages="$packages binutils dpkg-dev patchelf zstd"

missing=
for package in $packages; do
  status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing="$missing $package"
done
if [ -n "$missing" ] && [ "${ADZE_NO_INSTALL:-0}" = 1 ]; then
  say "not installed (ADZE_NO_INSTALL=1):$missing"
elif [ -n "$missing" ]; then
  sudo=
  [ "$(id -u)" = 0 ] || sudo=sudo
  say "installing$missing"
  $sudo apt-get update -qq
  # shellcheck disable=SC2086
  DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends $missing >/dev/null
fi

# The browser that opens the page of reports: without it, its tests are skipped.
if [ "${1:-}" = models ] && [ "${ADZE_NO_INSTALL:-0}" != 1 ] && ! command -v chromium chromium-browser google-chrome >/dev/null; then
  sudo=
  [ "$(id -u)" = 0 ] || sudo=sudo
  say "installing chromium"
  browser() { DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends chromium >/dev/null 2>&1; }
  browser || { $sudo apt-get update -qq && browser; } ||
    say "chromium could not be installed: the tests of the report's page are skipped"
fi

# --- The cache folder ------------------------------------------------------
mkdir -p "$cache"
exec 9>"$cache/.lock"
flock 9 # two checkouts may share the cache

python=/usr/bin/python3
[ -x "$python" ] || python=$(command -v python3)

# One venv downloads packages; all packages are pinned by hash.
venv() { # venv DIR: makes it if it is not there
  [ -x "$1/bin/pip" ] || "$python" -m venv "$1"
}
pinned() { # pinned REQUIREMENT HASH: a requirements file that accepts that file only
  printf '%s --hash=sha256:%s\n' "$1" "$2" >"$cache/requirements.txt"
}

# CMake >= 3.26, which the ONNX library requires (Debian 12 has 3.25).
cmake=$(command -v cmake || true)
if [ -z "$cmake" ] || ! "$cmake" --version | awk 'NR==1 {split($3,v,"."); exit !(v[1]>3 || (v[1]==3 && v[2]>=26))}'; then
  cmake=$cache/tools/bin/cmake
  if ! [ -x "$cmake" ]; then
    say "CMake 3.31 into $cache/tools"
    venv "$cache/tools"
    pinned cmake==3.31.10 2f766bb46367e5e0559fa33184653754bce044583a06014dcaebf8e6dff8a1f1
    "$cache/tools/bin/pip" install -q --disable-pip-version-check --only-binary :all: --require-hashes -r "$cache/requirements.txt"
  fi
fi

# DLPack 1.3's header (Debian has 0.6).
if ! [ -f "$cache/include/dlpack/dlpack.h" ]; then
  say "DLPack 1.3 into $cache/include"
  venv "$cache/tools"
  mkdir -p "$cache/download"
  pinned apache-tvm-ffi==0.1.15.post2 8ecebe749834f6ac0f2693d5964acf9ac75d0bc26e6ba64c46eb7ab00ea50fac
  "$cache/tools/bin/pip" download -q --disable-pip-version-check -d "$cache/download" --no-deps --only-binary :all: \
    --python-version 3.11 --implementation cp --platform manylinux_2_28_x86_64 --require-hashes -r "$cache/requirements.txt"
  mkdir -p "$cache/include/dlpack"
  "$python" - "$cache"/download/apache_tvm_ffi-*.whl "$cache/include/dlpack/dlpack.h" <<'PY'
import sys, zipfile
header = zipfile.ZipFile(sys.argv[1]).read("tvm_ffi/include/dlpack/dlpack.h")
open(sys.argv[2], "wb").write(header)
PY
fi

# The ONNX C++ library, static, with Debian's shared protobuf.
onnx=onnx-1.23.2
if ! [ -f "$cache/src/$onnx/CMakeLists.txt" ]; then
  say "sources of $onnx into $cache/src"
  venv "$cache/tools"
  mkdir -p "$cache/download" "$cache/src"
  pinned onnx==1.23.2 008cb0467b2bbee41448acc7da8b6f4e704624cb0d327a2d5adafc7ce19bc5b8
  "$cache/tools/bin/pip" download -q --disable-pip-version-check -d "$cache/download" --no-deps --no-binary onnx \
    --require-hashes -r "$cache/requirements.txt"
  tar -xf "$cache/download/$onnx.tar.gz" -C "$cache/src"
  # The version converter is linked and never called: 5 s to compile instead of 20.
  echo 'set_source_files_properties(convert.cc TARGET_DIRECTORY onnx PROPERTIES COMPILE_OPTIONS -O0 SKIP_UNITY_BUILD_INCLUSION TRUE)' \
    >>"$cache/src/$onnx/onnx/version_converter/CMakeLists.txt"
fi
if ! [ -f "$cache/$onnx/lib/cmake/ONNX/ONNXConfig.cmake" ]; then
  say "building $onnx (about a minute on two cores) into $cache/$onnx"
  build=$cache/build-$onnx
  log=$cache/$onnx.log
  rm -rf "$build"
  # -O1 and unity builds: this library only reads a model once. Without the
  # documentation of operators, which is unused.
  { "$cmake" -G Ninja -S "$cache/src/$onnx" -B "$build" -DCMAKE_BUILD_TYPE=Release \
      -DCMAKE_C_COMPILER=clang-22 -DCMAKE_CXX_COMPILER=clang++-22 -DCMAKE_CXX_FLAGS_RELEASE='-O1 -DNDEBUG -D__ONNX_NO_DOC_STRINGS' \
      -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DONNX_USE_PROTOBUF_SHARED_LIBS=ON -DONNX_USE_UNITY_BUILD=ON \
      -DPython_EXECUTABLE="$python" -DPython3_EXECUTABLE="$python" \
      -DCMAKE_INSTALL_PREFIX="$cache/$onnx.tmp" &&
    "$cmake" --build "$build" --target onnx onnx_proto && "$cmake" --install "$build"; } >"$log" 2>&1 ||
    { tail -30 "$log"; say "the ONNX library failed to build; the whole log: $log"; exit 1; }
  rm -rf "$build" "${cache:?}/$onnx"
  mv "$cache/$onnx.tmp" "$cache/$onnx" # CMake packages are relocatable; now it is whole
fi

# --- Python, for set-up and peers only -------------------------------------
# python_venv NAME FILE: creates $cache/NAME-venv with the packages of FILE
python_venv() {
  local done
  done=$cache/$1-venv/.done-$(cksum <"$2" | tr ' ' -)
  [ -f "$done" ] && return
  say "Python venv for $1 into $cache/$1-venv"
  venv "$cache/$1-venv"
  "$cache/$1-venv/bin/pip" install -q --disable-pip-version-check --only-binary :all: -r "$2"
  touch "$done"
}
case ${1:-} in
models | bench) python_venv "$1" "$here/$1-requirements.txt" ;; # models: fills the test models. bench: the peers
site) python_venv site "$here/../docs/requirements.txt" ;;
esac
