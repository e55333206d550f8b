#!/usr/bin/env bash
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#
# Runs the compiler and the run time on many generated inputs, prints a line for
# each kind, and appends it to the table in docs/soak.md:
#
#   scripts/soak.sh            everything; SEED, SECONDS_EACH and the variables
#                              below change how much
#   scripts/soak.sh --slice    a small part with fixed seeds, for CI; no table
#
# Failing inputs stay in build/soak. docs/soak.md describes each line and how to
# run a failing input again.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
slice=
[ "${1:-}" = --slice ] && slice=1
jobs=${JOBS:-$(nproc)}
# New inputs, unless SEED is set.
seed=${SEED:-$(($(date +%s) % 1000000000 * 1000))}
seconds=${SECONDS_EACH:-3600}
models=${MODELS:-1000000} modules=${MODULES:-1000000} graphs=${GRAPHS:-100000} allocations=${ALLOCATIONS:-0}
if [ -n "$slice" ]; then
  seed=1 seconds=0 models=20000 modules=20000 graphs=32 allocations=8
fi
out=$PWD/build/soak
mkdir -p "$out/models"
failed=0

# record WHAT COUNT RESULT: prints a line, also to the table.
record() {
  printf 'soak: %s: %s, seed %s: %s\n' "$1" "$2" "$seed" "$3"
  [ "$3" = passed ] || failed=$((failed + 1))
  [ -n "$slice" ] || printf '| %s | %s | %s | %s | %s | %s | %s |\n' "$(date +%F)" "$(git rev-parse --short HEAD)" \
    "$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1)" "$1" "$2" "$seed" "$3" >>docs/soak.md
}

# run NAME LOG COMMAND...: the last line of its output is the count.
run() {
  local what=$1 log=$out/$2
  shift 2
  if "$@" >"$log" 2>&1; then
    record "$what" "$(tail -1 "$log" | sed 's/^context-soak: //; s/^seed [0-9]*[:,] //')" passed
  else
    tail -5 "$log"
    record "$what" "$(tail -1 "$log" | tr '|' '/' | cut -c1-120)" "FAILED, see ${log#$PWD/}"
  fi
}

build() { # build PRESET FOLDER TARGET...
  local preset=$1 folder=$2
  shift 2
  [ -f "$folder/build.ninja" ] || cmake --preset "$preset" >"$out/$preset.log" 2>&1 || { cat "$out/$preset.log"; exit 1; }
  ninja -C "$folder" -j"$jobs" --quiet "$@" || exit 1
}

build "${PRESET:-dev}" build atranslate onnx-as soak-import soak-module-file adze-property runtime-c-test fake-module \
  fail-allocation
build asan-ubsan build-asan soak-module-file runtime-allocation-tests fake-module fake-cuda
[ -n "$slice" ] || build tsan build-tsan context-soak
# The slice omits this build, which takes as long as that of the importer.
[ -n "$slice" ] || build fuzz build-fuzz soak-import
for text in test/Import/ONNX/*.onnxtxt; do
  build/bin/onnx-as "$text" -o "$out/models/$(basename "$text" .onnxtxt).onnx" >/dev/null 2>&1 || true
done
# LLVM's libraries are not instrumented, so containers shared with them are not annotated.
export ASAN_OPTIONS=abort_on_error=1:allow_user_poisoning=0:detect_container_overflow=0:detect_odr_violation=0

# contexts SECONDS: context-soak in processes of two minutes, since ThreadSanitizer
# keeps up to 3 GB a minute of the many threads that end. Prints the sums of their
# last lines.
contexts() {
  local left=$1 part=0 each=120 log=$out/contexts-part.log
  local lasts=$out/contexts-lasts.log
  : >"$lasts"
  while [ "$left" -gt 0 ]; do
    LD_LIBRARY_PATH=build-tsan/fake-cuda build-tsan/bin/context-soak build-tsan/lib/libfake-module.so \
      --seconds=$((left < each ? left : each)) --seed=$((seed + part)) --cuda >"$log" 2>&1 || { cat "$log"; return 1; }
    tail -1 "$log" >>"$lasts"
    left=$((left - each)) part=$((part + 1))
  done
  sed 's/.* seconds: //; s/, /\n/g' "$lasts" | awk -v parts="$part" '
    { count = $1; sub(/^[0-9]+ /, ""); if (!($0 in sums)) names[++n] = $0; sums[$0] += count }
    END { line = parts " processes"; for (i = 1; i <= n; ++i) line = line ", " sums[names[i]] " " names[i]; print line }'
}
# The slice omits this one: the ctest of the sanitizers runs it.
[ -n "$slice" ] || run "16 threads, contexts of modules that come and go (TSan)" contexts.log contexts "$seconds"
run "mutated modules, checks before dlopen (ASan, UBSan)" modules.log build-asan/bin/soak-module-file --seed="$seed" \
  --count="$modules" --seconds="$seconds" --keep="$out/failed-module-" build-asan/lib/libfake-module.so
if [ -n "$slice" ]; then
  run "mutated models, importer (assertions)" models.log build/bin/soak-import --seed="$seed" --count="$models" \
    --keep="$out/failed-model-" "$out/models"
else
  run "mutated models, importer (ASan, UBSan, assertions)" models.log build-fuzz/bin/soak-import --seed="$seed" \
    --count="$models" --seconds="$seconds" --keep="$out/failed-model-" "$out/models"
fi
run "random graphs: reference, -O2, one pass" graphs.log build/bin/adze-property --seed="$seed" --count="$graphs" \
  --seconds="$seconds" -j"$jobs"
LD_LIBRARY_PATH=build-asan/fake-cuda run "failed allocations, run time (ASan)" allocations-runtime.log \
  build-asan/bin/runtime-allocation-tests
run "failed allocations, program with a module" allocations-program.log python-free-tests/Tools/check-allocations.sh \
  build/lib/libfail-allocation.so 0 "$seed" - build/bin/runtime-c-test build/lib/libfake-module.so
run "failed allocations, atranslate --emit=graph" allocations-import.log python-free-tests/Tools/check-allocations.sh \
  build/lib/libfail-allocation.so "$allocations" "$seed" "$out/graph.mlir" build/bin/atranslate \
  "$out/models/output-rank.onnx" -j1 --emit=graph -o "$out/graph.mlir"
# Failures before the crash handlers are installed, which few other inputs reach.
FIRST=1 run "first failed allocations, atranslate" allocations-first.log python-free-tests/Tools/check-allocations.sh \
  build/lib/libfail-allocation.so 40 "$seed" "$out/graph.mlir" build/bin/atranslate \
  "$out/models/output-rank.onnx" -j1 --emit=graph -o "$out/graph.mlir"
exit $((failed > 0))
