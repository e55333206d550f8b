#!/usr/bin/env bash
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#
# Writes ONNX's backend test cases into OUT (set-up; needs `scripts/setup.sh models`).
set -euo pipefail
cache=${ADZE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/adze}
wheel=$cache/download/onnx-1.22.0-cp312-abi3-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl
if ! [ -f "$wheel" ]; then
  echo "prepare: the node cases of onnx 1.22.0 into $cache/download"
  mkdir -p "$cache/download"
  echo "onnx==1.22.0 --hash=sha256:955e02e1f6d385b53d52f9cd7b9cdf5caf417c300bcfe3c64c6d542be763845b" >"$cache/download/node-cases.txt"
  "$cache/models-venv/bin/pip" download -q --disable-pip-version-check -d "$cache/download" --no-deps --only-binary :all: \
    --python-version 3.12 --platform manylinux_2_28_x86_64 --require-hashes -r "$cache/download/node-cases.txt"
fi
exec "$cache/models-venv/bin/python" "$(dirname "$0")/prepare.py" "$1" --node-wheel "$wheel" \
  --op-support "$(dirname "$0")/../../docs/OpSupport.md" --onnx-data "$cache/src/onnx-1.23.2/onnx/backend/test/data"
