#!/usr/bin/env bash
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#
# Runs the tests of the Python package: of the source tree with the build's
# libraries, or, with --wheel, of the wheel in a separate environment without the
# build.
#
#   test-python.sh [--wheel] [pytest arguments]
#
# PYTHON_EXTRAS="torch onnxscript jax ray[serve]" installs these, too (3 GB): their tests are
# skipped otherwise. ADZE_ONNX_TESTS=all runs all of ONNX's node tests.
set -euo pipefail
cd "$(dirname "$0")/.."
wheel=
if [ "${1:-}" = --wheel ]; then
  shift
  wheel=$(ls build/wheel/*.whl)
fi
venv=$PWD/build/python-venv
[ -z "$wheel" ] || venv=$PWD/build/wheel/test-venv
[ -z "$wheel" ] || rm -rf "$venv"
# Created again if other packages are requested.
made=$venv/.made-$(cksum <python/test-requirements.txt | tr ' ' -)
[ -f "$made" ] || {
  rm -rf "$venv"
  python3 -m venv "$venv"
  "$venv/bin/pip" install -q --disable-pip-version-check -r python/test-requirements.txt
  touch "$made"
}
[ -z "${PYTHON_EXTRAS:-}" ] || "$venv/bin/pip" install -q --disable-pip-version-check $PYTHON_EXTRAS
# A process for each core; the tests of a file run in one process, as they share
# compiled models.
workers="-n ${JOBS:-$(nproc)} --dist=loadfile"
if [ -n "$wheel" ]; then
  "$venv/bin/pip" install -q --disable-pip-version-check "$wheel"
  # Outside of the source tree, so that the installed package is imported.
  cd build/wheel
  exec env -u ADZE_LIBRARY_DIR -u PYTHONPATH "$venv/bin/python" -m pytest -q -p no:cacheprovider $workers \
    --rootdir=../../python/tests ../../python/tests "$@"
fi
exec env ADZE_LIBRARY_DIR="$PWD/build/lib" PYTHONPATH="$PWD/python" PYTHONDONTWRITEBYTECODE=1 \
  "$venv/bin/python" -m pytest -q -p no:cacheprovider $workers -c python/pyproject.toml python/tests "$@"
