#!/usr/bin/env bash
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#
# `make bench`: builds, prepares models and peers, and runs bench.py with the
# given flags. Figures are printed, written to build/bench.json and drawn in
# build/bench.svg.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh models
scripts/setup.sh bench
[ -f build/build.ninja ] || cmake --preset "${PRESET:-dev}" >/dev/null
ninja -C build -j"${JOBS:-$(nproc)}" --quiet atranslate arun machine-limits module-limits
benchmarks/models/prepare.sh build/models
cache=${ADZE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/adze}
exec "$cache/bench-venv/bin/python" benchmarks/bench.py build "$@"
