#!/usr/bin/env bash
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#
# `make zoo`: writes the files of the zoo to the cache folder (about 3 GB, and 6 GB
# for the exporters), compiles, compares and times each, and prints the table.
# Rows stay in build/zoo.jsonl, so an interrupted run continues where it stopped.
# Flags are those of `zoo.py run`; an argument is a regular expression of names.
set -euo pipefail
cd "$(dirname "$0")/../.."
cache=${ADZE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/adze}
venv=$cache/zoo-venv
made=$venv/.done-$(cksum <benchmarks/zoo/requirements.txt | tr ' ' -)
[ -f "$made" ] || {
  python3 -m venv "$venv"
  "$venv/bin/pip" install -q --disable-pip-version-check -r benchmarks/zoo/requirements.txt
  touch "$made"
}
[ -f build/build.ninja ] || cmake --preset "${PRESET:-dev}" >/dev/null
ninja -C build -j"${JOBS:-$(nproc)}" --quiet atranslate arun
"$venv/bin/python" benchmarks/zoo/zoo.py get "$cache/zoo"
"$venv/bin/python" benchmarks/zoo/zoo.py run build "$cache/zoo" --rows build/zoo.jsonl "$@"
"$venv/bin/python" benchmarks/zoo/zoo.py table build/zoo.jsonl
