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


def run(*arguments, **environment):
    """Runs Python with the fake driver, and returns what it prints."""
    made = subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, "LD_LIBRARY_PATH": str(FAKE.parent), **environment},
        capture_output=True,
        text=True,
    )
    assert made.returncode == 0, made.stderr
    return made.stdout


@pytest.mark.skipif(not (FAKE.exists() and MODULE.exists()), reason="the build has no fake-cuda")
def test_example():
    printed = run(EXAMPLES / "cuda-tensors" / "tensors.py", MODULE)
    assert printed == "adze (2, 4) on (2, 0)\nafter 10 steps: sum 21, total 84\n"


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
    printed = run("-c", GENERATE, EXAMPLES / "models" / "decoder.onnx")
    assert printed == "[[6, 13, 14, 2, 6], [1, 8, 8, 8, 8]] 8\n"


INPUTS = """
import ctypes
import sys
import adze
import numpy as np
from test_generate_batches import RECURRENT, write

text = RECURRENT.replace("float[B, 32] state_in)", "float[B, 32] state_in, float[1, 32] memory)")
text = text.replace("both = Add(sum, old)", "some = Add(sum, old)\\n  both = Add(some, memory)")
path = write(text, sys.argv[1])
memories = [np.full((1, 32), value, np.float32) for value in (0.0, 1.5)]
driver = ctypes.CDLL("libcuda.so.1")
driver.fake_cuda_held_bytes.restype = ctypes.c_int64

def generate(device):
    options = {"allow_host_fallback": True}
    module = adze.compile(path, target=["cuda:sm_90a", "cpu"], optimize=0, device=device, options=options)
    generator = adze.Generator(module)
    sequences = [generator.add([3, 4], max_tokens=8, inputs={"memory": memory}) for memory in memories]
    next(sequences[1])
    sequences.append(sequences[1].fork())
    sequences[1].close()
    held = driver.fake_cuda_held_bytes()
    tokens = [sequences[0].wait(), sequences[2].wait()]
    sequences[2].close()
    return tokens, held - driver.fake_cuda_held_bytes()

made, freed = generate("cuda:0")
wanted, _ = generate("cpu")
print(made == wanted, wanted[0] != wanted[1], freed >= 128)
"""


@pytest.mark.skipif(not FAKE.exists(), reason="the build has no fake-cuda")
def test_inputs_of_a_sequence(tmp_path):
    """Tensors that are constant for a sequence are copied to the device once, and belong to its forks, too."""
    path = os.pathsep.join([*sys.path, os.path.dirname(os.path.abspath(__file__))])
    assert run("-c", INPUTS, tmp_path / "m.onnx", PYTHONPATH=path) == "True True True\n"
