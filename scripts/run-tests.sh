#!/usr/bin/env bash
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#
# Builds and runs tests, then closes with `N passed, N failed, N skipped`.
#
#   scripts/run-tests.sh quick|site|no-toolkit|no-driver|conformance|gpu|all
#
# lit drives the tools; ctest runs GoogleTest units, C programs and models;
# adze-conformance runs ONNX's cases; `all` also runs the run time's tests under
# the sanitizers, and a slice of the soak. `no-toolkit` and `no-driver` run with
# the CUDA toolkit and the driver hidden; `quick` and `all` include both. `site`
# builds the pages with strict links, which `all` includes.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
suite=${1:-all}
jobs=${JOBS:-$(nproc)}
passed=0 failed=0 skipped=0

fatal() { # a step that no test can do without
  echo "run-tests: $*" >&2
  echo "$passed passed, $((failed + 1)) failed, $skipped skipped"
  exit 1
}

# lit_sum LOG NAME...: the sum of these rows of lit's closing table.
lit_sum() {
  local log=$1 sum=0 name
  shift
  for name; do
    sum=$((sum + $(sed -nE "s/^ +$name *: *([0-9]+).*/\\1/p" "$log" | grep . || echo 0)))
  done
  echo $sum
}

# run_ctest FOLDER LOG ARG...: runs and counts.
run_ctest() {
  local folder=$1 log=$PWD/$2
  shift 2
  rm -f "$log.xml"
  ctest --test-dir "$folder" --output-junit "$log.xml" --output-on-failure --no-tests=ignore -j"$jobs" "$@" >"$log" 2>&1
  local status=$?
  local all bad skip
  all=$(grep -om1 'tests="[0-9]*"' "$log.xml" 2>/dev/null | tr -dc 0-9)
  bad=$(grep -om1 'failures="[0-9]*"' "$log.xml" 2>/dev/null | tr -dc 0-9)
  skip=$(($(grep -om1 'skipped="[0-9]*"' "$log.xml" 2>/dev/null | tr -dc 0-9 || echo 0) + \
    $(grep -om1 'disabled="[0-9]*"' "$log.xml" 2>/dev/null | tr -dc 0-9 || echo 0)))
  if [ -z "$all" ] && [ "$status" = 0 ]; then
    return # no test of this label
  elif [ -z "$all" ]; then
    tail -40 "$log"
    failed=$((failed + 1))
    return
  fi
  # ctest lists tests without an executable ("Not Run") elsewhere: they are failures.
  [ "$status" = 0 ] || [ "$bad" != 0 ] || bad=1
  passed=$((passed + all - bad - skip)) failed=$((failed + bad)) skipped=$((skipped + skip))
  [ "$bad" = 0 ] || { grep -vE '^ *[0-9]+/[0-9]+ Test .* Passed|^ *Start ' "$log" | tail -150; }
  echo "run-tests: $folder: $((all - bad - skip)) passed, $bad failed, $skip skipped (log: ${log#$PWD/})"
}

run_lit() { # run_lit FOLDER ARG...
  local log=build/test-logs/lit.log
  local lit=/usr/lib/llvm-22/bin/lit
  "$lit" -sv -j"$jobs" "$@" >"$log" 2>&1 || true
  grep -q '^Total Discovered Tests' "$log" || { tail -30 "$log"; failed=$((failed + 1)); return; }
  sed -e '/^Testing Time/,$d' -e '/^Testing: /d' -e '/^-- Testing/d' -e '/^$/d' "$log"
  local good bad skip
  good=$(lit_sum "$log" Passed "Passed With Retry" "Expectedly Failed")
  bad=$(lit_sum "$log" Failed Unresolved "Timed Out" "Unexpectedly Passed")
  skip=$(lit_sum "$log" Unsupported Skipped Excluded)
  passed=$((passed + good)) failed=$((failed + bad)) skipped=$((skipped + skip))
  echo "run-tests: lit: $good passed, $bad failed, $skip skipped (log: ${log#$PWD/})"
}

run_conformance() { # run_conformance LOG ARG...: one column, counted case by case
  local log=$1
  shift
  build/bin/adze-conformance build/conformance -j"$jobs" "$@" >"$log" 2>&1
  local status=$? good bad skip
  if ! read -r good bad skip < <(sed -nE '$s/^([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped$/\1 \2 \3/p' "$log"); then
    tail -20 "$log"
    failed=$((failed + 1))
    return
  fi
  local column=${log##*conformance-} known=0 stale=0
  read -r known stale < <(python-free-tests/Conformance/known-failures.sh python-free-tests/Conformance/known-failures.txt \
    "${column%.log}" "$log" "$(printf '%s\n' "$@" | grep -e '^--part=')")
  passed=$((passed + good)) failed=$((failed + bad - known + stale)) skipped=$((skipped + skip + known))
  # An entry of OpSupport.md that no case executes is a separate failure.
  if grep -q '^claimed in .* without an executed case: [1-9]' "$log"; then
    failed=$((failed + 1))
    sed -n '/^claimed in/,/^[^ c]/p' "$log" | grep '^claimed\|^  '
  elif [ "$status" != 0 ] && [ "$bad" = 0 ]; then
    failed=$((failed + 1))
  fi
  echo "run-tests: conformance $*: $(tail -1 "$log"), $known of these failures known (log: ${log#$PWD/})"
}

needs_models=1
case $suite in quick | site | no-toolkit | no-driver) needs_models= ;; esac
if [ -z "$needs_models" ]; then scripts/setup.sh || fatal "set-up failed"; else scripts/setup.sh models || fatal "set-up failed"; fi
if ! [ -f build/build.ninja ]; then
  cmake --preset "${PRESET:-dev}" >/tmp/adze-configure.$$ 2>&1 || { cat /tmp/adze-configure.$$; fatal "CMake failed"; }
  rm -f /tmp/adze-configure.$$
fi
mkdir -p build/test-logs
[ "$suite" = site ] || ninja -C build -j"$jobs" --quiet all || fatal "the build failed"
if [ -n "$needs_models" ]; then
  # Each is one thread: they run side by side.
  models=
  [ "$suite" = conformance ] || { benchmarks/models/prepare.sh build/models & models=$!; }
  python-free-tests/Conformance/prepare.sh build/conformance
  cases=$?
  [ -z "$models" ] || wait "$models" || fatal "the test models could not be made"
  [ "$cases" = 0 ] || fatal "the conformance cases could not be made"
fi

run_without_cuda() {
  run_ctest build build/test-logs/no-toolkit.log -L no-toolkit
  run_ctest build build/test-logs/no-driver.log -L no-driver
}

# The Python package: skipped if the packages of its tests cannot be installed.
run_python() {
  local log=$PWD/build/test-logs/python.log good bad skip
  if ! [ -f "build/python-venv/.made-$(cksum <python/test-requirements.txt | tr ' ' -)" ] && ! python3 -m pip download -q --no-deps -d build/test-logs/probe pytest >/dev/null 2>&1; then
    skipped=$((skipped + 1))
    echo "run-tests: python: skipped: no package index"
    return
  fi
  scripts/test-python.sh --junit-xml="$log.xml" >"$log" 2>&1
  local status=$?
  # The form of pytest's closing line: "2 failed, 190 passed, 9 skipped in 30s".
  good=$(tail -1 "$log" | grep -oE '[0-9]+ passed' | tr -dc 0-9)
  bad=$(tail -1 "$log" | grep -oE '[0-9]+ (failed|errors?)' | awk '{sum += $1} END {print sum + 0}')
  skip=$(tail -1 "$log" | grep -oE '[0-9]+ skipped' | tr -dc 0-9)
  [ "$status" = 0 ] || [ "$bad" != 0 ] || bad=1
  [ "$bad" = 0 ] || tail -100 "$log"
  passed=$((passed + ${good:-0})) failed=$((failed + bad)) skipped=$((skipped + ${skip:-0}))
  echo "run-tests: python: ${good:-0} passed, $bad failed, ${skip:-0} skipped (log: ${log#$PWD/})"
}

# The pages as a site with strict links: skipped if MkDocs cannot be installed.
run_site() {
  local log=build/test-logs/site.log
  if ! scripts/setup.sh site >"$log" 2>&1; then
    skipped=$((skipped + 1))
    echo "run-tests: site: skipped: no package index (log: $log)"
  elif ninja -C build --quiet adze-docs >"$log" 2>&1 && scripts/site.sh >>"$log" 2>&1; then
    passed=$((passed + 1))
    echo "run-tests: site: 1 passed, 0 failed"
  else
    failed=$((failed + 1))
    cat "$log"
    echo "run-tests: site: 0 passed, 1 failed (log: $log)"
  fi
}

case $suite in
site) run_site ;;
quick)
  run_lit build/test
  run_ctest build build/test-logs/ctest.log -LE 'slow|gpu|no-toolkit|no-driver'
  run_without_cuda
  ;;
no-toolkit | no-driver)
  run_ctest build "build/test-logs/$suite.log" -L "$suite"
  ;;
conformance)
  run_conformance build/conformance-O0.log -O0
  run_conformance build/conformance-O2.log -O2 --coverage=docs/OpSupport.md
  run_conformance build/conformance-dyn.log --dyn
  ;;
gpu)
  run_ctest build build/test-logs/gpu.log -L gpu
  run_conformance build/conformance-cuda.log -O2 --target=cuda:sm_90a
  ;;
all)
  run_lit build/test
  run_ctest build build/test-logs/ctest.log -LE 'gpu|no-toolkit|no-driver'
  run_without_cuda
  run_python
  run_site
  # All cases of one column, and a fixed tenth of the others; `make conformance` runs all.
  run_conformance build/test-logs/conformance-O2.log -O2 --coverage=docs/OpSupport.md
  run_conformance build/test-logs/conformance-O0.log -O0 --part=0/10
  run_conformance build/test-logs/conformance-dyn.log --dyn --part=1/10
  for preset in asan-ubsan tsan; do
    folder=build-${preset%-ubsan}
    [ -f $folder/build.ninja ] || cmake --preset $preset >build/test-logs/$preset.log 2>&1 ||
      { cat build/test-logs/$preset.log; failed=$((failed + 1)); continue; }
    ninja -C $folder -j"$jobs" --quiet || { failed=$((failed + 1)); continue; }
    run_ctest $folder build/test-logs/$preset.log -LE gpu
  done
  if scripts/soak.sh --slice; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
  ;;
*)
  echo "usage: scripts/run-tests.sh quick|site|no-toolkit|no-driver|conformance|gpu|all" >&2
  exit 2
  ;;
esac

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
