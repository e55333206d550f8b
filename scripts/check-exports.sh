#!/usr/bin/env bash
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#
# Holds exported models to ONNX Runtime (benchmarks/check_exports.py): no test,
# since tests run no Python.   check-exports.sh [BUILD [NAME ...]]
# ADZE_PYTHON=... takes another Python than the peers' venv.
set -euo pipefail
cd "$(dirname "$0")/.."
cache=${ADZE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/adze}
[ -n "${ADZE_PYTHON:-}" ] || scripts/setup.sh bench
exec "${ADZE_PYTHON:-$cache/bench-venv/bin/python}" benchmarks/check_exports.py "${1:-build}" "${@:2}"
