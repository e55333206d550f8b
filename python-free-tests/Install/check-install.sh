#!/usr/bin/env bash
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#
# Installs to a scratch prefix, builds examples/digits and a program that uses
# find_package(Adze), and runs them on a module of the installed atranslate and on a
# model. check-install.sh SOURCE BUILD
set -euo pipefail
source=$1 build=$2
work=$build/install-test
rm -rf "$work"
mkdir -p "$work/use"
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/prefix" >/dev/null
for file in bin/atranslate bin/arun bin/aopt lib/libadze_rt.a lib/libadze_rt.so lib/libadze_compiler.so lib/libonnxruntime_ep_adze.so include/adze.h include/adze.hpp include/adze_compiler.h lib/cmake/Adze/AdzeConfig.cmake lib/pkgconfig/adze.pc; do
  [ -f "$work/prefix/$file" ] || { echo "expected $file to be installed"; exit 1; }
done
size=$(stat -Lc %s "$work/prefix/lib/libadze_rt.so")
[ "$size" -lt 300000 ] || { echo "expected libadze_rt.so under 300 KB, but got $size bytes"; exit 1; }

exported=$(llvm-nm-22 -D --defined-only "$work/prefix/lib/libonnxruntime_ep_adze.so" | awk '{print $3}' | sort | tr '\n' ' ')
[ "$exported" = "CreateEpFactories ReleaseEpFactory " ] || { echo "expected two functions of libonnxruntime_ep_adze.so, but got $exported"; exit 1; }

for library in libadze_rt libadze_generate libadze_compiler; do
  dynamic=$(llvm-readelf-22 -d "$work/prefix/lib/$library.so")
  grep -q "SONAME.*\[$library.so.0\]" <<<"$dynamic" || { echo "expected SONAME $library.so.0"; exit 1; }
done

cat >"$work/use/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.25)
project(use C)
find_package(Adze REQUIRED)
add_executable(shared $source/examples/digits/digits.c)
target_link_libraries(shared Adze::rt m)
add_executable(static $source/examples/digits/digits.c)
target_link_libraries(static Adze::rt_static)
add_executable(compiles $source/python-free-tests/CAPI/CallFromC.c)
target_link_libraries(compiles Adze::compiler Adze::rt)
adze_compile(module $source/examples/digits/digits.onnx \${CMAKE_BINARY_DIR}/digits.so)
END
cmake -S "$work/use" -B "$work/use/build" -DCMAKE_PREFIX_PATH="$work/prefix" >/dev/null
cmake --build "$work/use/build" >/dev/null
"$work/use/build/shared" "$work/use/build/digits.so" "$source/examples/digits"
"$work/use/build/compiles" "$build/python-free-tests/CAPI/affine.onnx"
"$work/use/build/static" "$work/use/build/digits.so" "$source/examples/digits" >/dev/null
