#!/usr/bin/env bash
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#
# Writes ONNX's backend test cases into OUT (set-up; needs `scripts/setup.sh models`).
set -euo pipefail
cache=${ADZE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/adze}
exec "$cache/models-venv/bin/python" "$(dirname "$0")/prepare.py" "$1" \
  --onnx-data "$cache/src/onnx-1.23.2/onnx/backend/test/data"
