#!/usr/bin/env bash
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#
# `make site`: builds docs/, the changelog and the reference that `make docs` wrote
# as a site with search in build/site. A broken link is an error.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh site
cache=${ADZE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/adze}
# Without --quiet: it hides warnings from --strict.
NO_MKDOCS_2_WARNING=1 "$cache/site-venv/bin/mkdocs" build --strict >build/site.log 2>&1 || { grep -v '^INFO' build/site.log; exit 1; }
echo "site: build/site/index.html"
