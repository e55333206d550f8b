#!/usr/bin/env bash
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#
# `make package`: a .deb, a .tar.zst and the Python wheel of what is built in build/
# (a release build, where nothing is configured yet), into build/packages.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh package
PRESET=${PRESET:-release} scripts/build.sh adze-install-targets
rm -rf build/packages
# --config of the build folder: this is no source folder of CPack's.
cpack --config build/CPackConfig.cmake >build/package.log 2>&1 || { tail -30 build/package.log; exit 1; }
rm -rf build/packages/_CPack_Packages
scripts/make-wheel.sh
cp build/wheel/adze-*.whl build/packages
ls -s --block-size=MB build/packages/*.deb build/packages/*.tar.zst build/packages/*.whl
