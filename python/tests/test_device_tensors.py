# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Tensors that stay on a device, with a fake driver for machines without one."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import pytest

from conftest import EXAMPLES

BUILD = pathlib.Path(os.environ.get("ADZE_LIBRARY_DIR", "")).parent
FAKE = BUILD / "fake-cuda" / "libcuda.so.1"
MODULE = BUILD / "lib" / "libfake-module.so"


@pytest.mark.skipif(not (FAKE.exists() and MODULE.exists()), reason="the build has no fake-cuda")
def test_example():
    made = subprocess.run(
        [sys.executable, EXAMPLES / "cuda-tensors" / "tensors.py", MODULE],
        env={**os.environ, "LD_LIBRARY_PATH": str(FAKE.parent)},
        capture_output=True,
        text=True,
    )
    assert made.returncode == 0, made.stderr
    assert made.stdout == "adze (2, 4) on (2, 0)\nafter 10 steps: sum 21, total 84\n"
