#!/usr/bin/env bash
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#
#   run.sh test         runs the tests of gpu-tests; exit status 1 if one fails
#   run.sh bench FLAG.. runs benchmarks/gpu.py if Python has PyTorch; else measures
#                       the models of the examples by arun
#
# Runs in an unpacked bundle of `make gpu-bundle`. JOBS tests run at a time.
set -uo pipefail
shopt -s nullglob
cd "$(dirname "$0")" || exit 1
export ADZE_LIBRARY_DIR=$PWD/build/lib PYTHONPATH=$PWD/python${PYTHONPATH:+:$PYTHONPATH}
build/bin/arun --version | head -1

has_modules() { python3 -c "import $1" 2>/dev/null; }

# Restores the weights of models if Python has onnx; else their tests are skipped.
fill_models() {
  local light name
  has_modules onnx,numpy || { echo "no Python with onnx and numpy here: the models have no weights"; return; }
  for light in benchmarks/models/*.light.onnx; do
    name=$(basename "$light" .light.onnx)
    [ -f "build/models/$name/model.onnx" ] && continue
    mkdir -p "build/models/$name"
    python3 benchmarks/models/fill.py "$light" -o "build/models/$name/model.onnx" || exit 1
  done
}

run_test() { # LINE: prints the name and what came of it
  local name seconds environment command log status
  IFS=$'\t' read -r name seconds environment command <<<"$(sed 's/\t\t/\t \t/' <<<"$1")"
  log=build/test-logs/$name.log
  timeout "$seconds" env bash -c "$environment exec $command" >"$log" 2>&1
  status=$?
  case $status in
  0) echo "passed  $name" ;;
  77) echo "skipped $name: $(tail -1 "$log")" ;;
  *) echo "FAILED  $name (exit status $status)" && tail -5 "$log" ;;
  esac
}
export -f run_test

case ${1:-} in
test)
  fill_models
  mkdir -p build/test-logs
  tr '\n' '\0' <gpu-tests/list.tsv | xargs -0 -P "${JOBS:-4}" -I{} bash -c 'run_test "$1"' - {} | tee build/test-logs/summary
  passed=$(grep -c '^passed' build/test-logs/summary) failed=$(grep -c '^FAILED' build/test-logs/summary)
  echo "$passed passed, $failed failed, $(grep -c '^skipped' build/test-logs/summary) skipped"
  [ "$failed" = 0 ]
  ;;
bench)
  shift
  if has_modules torch; then
    fill_models
    exec python3 benchmarks/gpu.py build "$@"
  fi
  echo "no Python with torch here: times of the examples' models alone"
  for model in tour layernorm; do
    build/bin/atranslate examples/models/$model.onnx --target=cuda:sm_90a -q -o build/$model.so &&
      build/bin/arun build/$model.so --random --device cuda:0 --bench || exit 1
  done
  ;;
*)
  echo "usage: run.sh test|bench [FLAG..]" >&2
  exit 2
  ;;
esac
