#!/usr/bin/env bash
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#
# `make package`: writes a .deb, a .tar.zst and the Python wheel of the build in build/
# (a release build if none is configured yet) to build/packages.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh package
PRESET=${PRESET:-release} scripts/build.sh adze-install-targets
rm -rf build/packages
# --config of the build folder: the current folder is not a source folder of CPack.
cpack --config build/CPackConfig.cmake >build/package.log 2>&1 || { tail -30 build/package.log; exit 1; }
rm -rf build/packages/_CPack_Packages
scripts/make-wheel.sh
cp build/wheel/adze-*.whl build/packages
ls -s --block-size=MB build/packages/*.deb build/packages/*.tar.zst build/packages/*.whl
