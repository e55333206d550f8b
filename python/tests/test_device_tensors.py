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


GENERATE = """
import sys
import adze

def generate(device):
    options = {"allow_host_fallback": True}
    module = adze.compile(sys.argv[1], target=["cuda:sm_90a", "cpu"], optimize=0, device=device, options=options)
    generator = adze.Generator(module, rows=16)
    answers = generator.generate([[1, 5, 2], [4, 4]], max_tokens=5)
    sequence = generator.add([1, 5, 2], max_tokens=4)
    next(sequence)
    fork = sequence.fork()
    sequence.wait()
    sequence.extend([7])
    return answers, sequence.wait(), fork.wait(), generator.info.batch

made = generate("cuda:0")
print(made[0], made[3])
assert made == generate("cpu"), made
"""


@pytest.mark.skipif(not FAKE.exists(), reason="the build has no fake-cuda")
def test_generator():
    """States on a device: a batch, an extended sequence and its fork have the tokens of the CPU."""
    made = subprocess.run(
        [sys.executable, "-c", GENERATE, EXAMPLES / "models" / "decoder.onnx"],
        env={**os.environ, "LD_LIBRARY_PATH": str(FAKE.parent)},
        capture_output=True,
        text=True,
    )
    assert made.returncode == 0, made.stderr
    assert made.stdout == "[[6, 13, 14, 2, 6], [1, 8, 8, 8, 8]] 8\n"
