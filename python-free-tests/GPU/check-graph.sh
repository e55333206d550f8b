#!/usr/bin/env bash
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#
# check-graph.sh BUILD NAME MODEL: compares a graph, in ONNX's text form, on cuda:0 with
# its program for CPUs. UNIT=wgmma in the environment requires that this unit multiplies,
# FLAGS are those of the compiler, TOLERANCE is the greatest error of floats, STEPS that
# of integers, and DIMS has the sizes of dynamic dims. With RUNS, arun measures that many
# runs of random inputs. Exit status 77 without a GPU, after the checks of the compiled
# code.
set -uo pipefail
build=$1 name=$2 model=$3
work=$build/gpu-graphs
mkdir -p "$work"
printf '<ir_version: 10, opset_import: ["" : 20]>\n%s\n' "$model" >"$work/$name.onnxtxt"
"$build/bin/onnx-as" "$work/$name.onnxtxt" -o "$work/$name.onnx" || exit 1
"$build/bin/atranslate" "$work/$name.onnx" --target=cpu --target="${TARGET:-cuda:sm_90a}" ${FLAGS:-} -q -o "$work/$name.so" || exit 1
if [ -n "${UNIT:-}" ]; then
  "$build/bin/atranslate" "$work/$name.onnx" --target="${TARGET:-cuda:sm_90a}" ${FLAGS:-} -q --emit=ptx -o "$work/$name.ptx" &&
    grep -q "$UNIT" "$work/$name.ptx" || { echo "no $UNIT in $name.ptx"; exit 1; }
fi
[ -e /dev/nvidiactl ] || { echo "no GPU here"; exit 77; }
"$build/unittests/gpu-compare" "$work/$name.so" ${TOLERANCE:+--tolerance "$TOLERANCE"} ${STEPS:+--steps "$STEPS"} ${DIMS:+--dims "$DIMS"} || exit 1
[ -z "${RUNS:-}" ] || "$build/bin/arun" "$work/$name.so" --random --device cuda:0 --bench --iterations "$RUNS"
