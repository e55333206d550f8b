#!/usr/bin/env bash
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#
# `make gpu-bundle`: packs build/gpu-bundle/adze-gpu.tar.xz, with which `make
# test-gpu` and `make bench-gpu` run on a machine that has only an NVIDIA driver:
# compiler, runner, their libraries, the tests of python-free-tests/GPU, the models
# without weights, and the benchmark (docs/guides/gpu.md).
set -euo pipefail
cd "$(dirname "$0")/.."
most=60000000 # bytes of the archive
out=build/gpu-bundle
tree=$out/adze-gpu
programs="atranslate arun onnx-as"
tests="gpu-compare gpu-product"

scripts/setup.sh package
# shellcheck disable=SC2086
scripts/build.sh $programs $tests adze_rt_shared
rm -rf $out
mkdir -p $tree/build/{bin,lib,unittests} $tree/benchmarks/{models,zoo} $tree/examples $tree/python
for name in $programs; do cp build/bin/"$name" $tree/build/bin/; done
for name in $tests; do cp build/unittests/"$name" $tree/build/unittests/; done
cp -L build/lib/libadze_rt.so $tree/build/lib/

# Sources keep their relative paths, so that scripts find each other as in a checkout.
cp scripts/gpu/Makefile scripts/gpu/run.sh $tree/
cp -r python-free-tests/GPU $tree/gpu-tests
cp -r python/adze $tree/python/
cp benchmarks/gpu.py benchmarks/gpu_operators.py benchmarks/operator_models.py benchmarks/gpu_decoding.py benchmarks/language_models.py benchmarks/language_peers.py $tree/benchmarks/
cp benchmarks/zoo/zoo.py benchmarks/zoo/device.py $tree/benchmarks/zoo/
cp benchmarks/models/*.light.onnx benchmarks/models/fill.py $tree/benchmarks/models/
cp -r examples/models $tree/examples/
# The version is in the package, which otherwise requests it from the compiler.
version=$(sed -n 's/^project(.*VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
mkdir $tree/python/adze-"$version".dist-info
printf 'Metadata-Version: 2.1\nName: adze\nVersion: %s\n' "$version" >$tree/python/adze-"$version".dist-info/METADATA
find $tree -name __pycache__ -prune -exec rm -rf {} +
git describe --always --dirty >$tree/COMMIT

# --- Libraries -------------------------------------------------------------
# The C library is that of the machine.
libraries=$(ldd $tree/build/bin/* $tree/build/unittests/* | awk '$3 ~ /^\// { print $3 }' |
  grep -vE '/(libc|libm|libdl|librt|libpthread|ld-linux[^/]*)\.so' | sort -u)
# Two libraries are large and never called: LLVM links Z3 for its static analyser of
# C++, and libxml2, which links the Unicode tables of ICU, for manifests of Windows.
# Stubs with the required symbols replace them.
stand_in() { # LIBRARY USER
  local library=$1 user=$2 name symbols=$out/stand-in.c
  name=$(basename "$library")
  {
    nm -D --undefined-only "$user" | awk '{ sub(/@.*/, "", $NF); print $NF }' | sort -u >$out/asked
    nm -D --defined-only "$library" | awk '{ sub(/@.*/, "", $3); print $3, $2 }' | sort -u >$out/offered
    join $out/asked $out/offered | while read -r symbol kind; do
      case $kind in
      T | W | i) echo "void $symbol(void) { __builtin_trap(); }" ;;
      *) echo "const char ${symbol}[64];" ;;
      esac
    done
  } >$symbols
  [ -s $symbols ] || { echo "gpu-bundle: $user asks for nothing of $library" >&2; exit 1; }
  clang-22 -shared -fPIC -w -Wl,-soname,"$name" $symbols -o $tree/build/lib/"$name"
}
for library in $libraries; do
  case $library in
  */libz3.so*) stand_in "$library" "$(grep -m1 /libLLVM <<<"$libraries")" ;;
  */libicudata.so*) stand_in "$library" "$(grep -m1 /libicuuc <<<"$libraries")" ;;
  *) cp -L "$library" $tree/build/lib/ ;;
  esac
done
find $tree/build -type f -exec llvm-strip-22 --strip-unneeded {} +
# Programs find the libraries by their RPATH, as Python has its own version of some.
for file in $tree/build/bin/* $tree/build/unittests/*; do
  patchelf --set-rpath '$ORIGIN/../lib' "$file"
done
for file in $tree/build/lib/*; do patchelf --set-rpath '$ORIGIN' "$file"; done

# --- Tests -----------------------------------------------------------------
# One line each: name, seconds, environment and command, separated by tabs.
ctest --test-dir build -R '^gpu\.' --show-only=json-v1 >$out/tests.json
python3 - $out/tests.json "$PWD" >$tree/gpu-tests/list.tsv <<'PYTHON'
import json, shlex, sys

source = sys.argv[2]
for test in json.load(open(sys.argv[1]))["tests"]:
    properties = {p["name"]: p["value"] for p in test.get("properties", [])}
    command = shlex.join(test["command"])
    command = command.replace(f"{source}/python-free-tests/GPU", "gpu-tests").replace(f"{source}/build", "build")
    pairs = (variable.split("=", 1) for variable in properties.get("ENVIRONMENT", []))
    environment = " ".join(f"{name}={shlex.quote(value)}" for name, value in pairs)
    print(test["name"], int(properties.get("TIMEOUT", 300)), environment, command, sep="\t")
PYTHON

# One dictionary for the whole archive: the programs share much code.
tar -C $out --sort=name --owner=0 --group=0 -cf - adze-gpu |
  xz -T1 --lzma2=preset=6,dict=512MiB >$out/adze-gpu.tar.xz
size=$(stat -c %s $out/adze-gpu.tar.xz)
echo "gpu-bundle: $out/adze-gpu.tar.xz, $((size / 1000000)) MB"
[ "$size" -le $most ] || { echo "gpu-bundle: expected at most $((most / 1000000)) MB" >&2; exit 1; }
