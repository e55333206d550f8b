#!/usr/bin/env bash
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#
# Fuzzes the importer and the checks before dlopen, from seeds that are models and the
# module of other tests: run-fuzzers.sh [SECONDS]. Findings and logs stay in build-fuzz/.
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=${1:-60}
build=build-fuzz
# LLVM's libraries are not instrumented, so its allocators must not poison.
export ASAN_OPTIONS=allow_user_poisoning=0
[ -f $build/build.ninja ] || cmake --preset fuzz >/dev/null
ninja -C $build --quiet fuzz-import fuzz-module-file onnx-as fake-module
mkdir -p $build/corpus/import $build/corpus/module-file $build/seeds/import $build/seeds/module-file
for text in test/Import/ONNX/*.onnxtxt; do
  $build/bin/onnx-as "$text" -o $build/seeds/import/"$(basename "$text" .onnxtxt)".onnx || true
done
# Models of the conformance tests, if they are present.
find build/conformance -name model.onnx -size -8k 2>/dev/null | while read -r model; do
  cp "$model" $build/seeds/import/"$(md5sum "$model" | cut -c1-16)".onnx
done
cp "$(find $build -name 'libfake-module.so' | head -1)" $build/seeds/module-file/
status=0
for target in import module-file; do
  $build/bin/fuzz-$target $build/corpus/$target $build/seeds/$target -max_total_time="$seconds" -timeout=10 \
    -rss_limit_mb=2048 -artifact_prefix=$build/fuzz-$target- >$build/fuzz-$target.log 2>&1 || status=1
  echo "fuzz-$target: $(tail -1 $build/fuzz-$target.log)"
done
exit $status
