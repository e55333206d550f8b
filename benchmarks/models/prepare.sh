#!/usr/bin/env bash
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#
# Writes the test models with weights, inputs and references: prepare.sh OUT [NAME ...]
# Set-up, not a test: needs the venv of `scripts/setup.sh models`.
set -euo pipefail
cache=${ADZE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/adze}
out=$1
shift
mkdir -p "$out"
exec "${ADZE_PYTHON:-$cache/models-venv/bin/python}" "$(dirname "$0")/prepare.py" \
  --onnx-light "$cache/src/onnx-1.23.2/onnx/backend/test/data/light" "$out" "$@"
