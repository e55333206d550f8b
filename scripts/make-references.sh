#!/usr/bin/env bash
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#
# Writes benchmarks/models/references again with the pinned ONNX Runtime.
set -euo pipefail
cd "$(dirname "$0")/.."
cache=${ADZE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/adze}
scripts/setup.sh bench
ADZE_PYTHON=$cache/bench-venv/bin/python benchmarks/models/prepare.sh "${1:-build/models}" --references "${@:2}"
