#!/usr/bin/env bash
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#
# Builds build/wheel/adze-*.whl: links the self-contained compiler, packs it, and
# tags the wheel for the oldest glibc that its symbols allow (auditwheel, which
# also puts libprotobuf into it).   make-wheel.sh
set -euo pipefail
cd "$(dirname "$0")/.."
most=$((80 << 20)) # bytes of the wheel
venv=build/wheel/venv
source=build/wheel/source

export PATH=$PWD/$venv/bin:${ADZE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/adze}/tools/bin:$PATH
[ -x $venv/bin/auditwheel ] || { python3 -m venv $venv && $venv/bin/pip install -q -r python/build-requirements.txt; }
ninja -C build -t query adze-wheel-native >/dev/null 2>&1 ||
  { echo "wheel: expected static libraries of LLVM, MLIR, zlib and zstd, and llvm-objcopy" >&2; exit 1; }
echo "wheel: linking the compiler with LLVM and MLIR"
ninja -C build -j"${JOBS:-$(nproc)}" --quiet adze-wheel-native

rm -rf $source build/wheel/raw build/wheel/*.whl
mkdir -p $source
cp -r python/adze python/pyproject.toml python/CMakeLists.txt python/README.md LICENSE $source
find $source -name __pycache__ -prune -exec rm -rf {} +
grep '^project(' CMakeLists.txt >$source/version.txt
echo "wheel: packing"
$venv/bin/python -m build --wheel --no-isolation --outdir build/wheel/raw \
  -Ccmake.define.ADZE_NATIVE="$PWD/build/python/native/adze" $source >build/wheel/build.log 2>&1 ||
  { tail -40 build/wheel/build.log; exit 1; }
$venv/bin/auditwheel repair --wheel-dir build/wheel build/wheel/raw/*.whl >build/wheel/auditwheel.log 2>&1 ||
  { cat build/wheel/auditwheel.log; exit 1; }

wheel=$(ls build/wheel/*.whl)
size=$(stat -c %s "$wheel")
echo "wheel: $wheel, $((size >> 20)) MiB"
[ "$size" -le $most ] || { echo "wheel: expected at most $((most >> 20)) MiB" >&2; exit 1; }
