# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Common parts of the tests: shipped models, and models in text form."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
DIGITS = EXAMPLES / "digits"


def parse(text: str) -> bytes:
    """A model in ONNX's text format, serialized."""
    onnx_parser = pytest.importorskip("onnx.parser")
    return onnx_parser.parse_model(text).SerializeToString()


AFFINE = """
<ir_version: 8, opset_import: ["" : 18]>
affine (float[N, 2] x) => (float[N, 2] y)
<float[2] two = {2, 2}, float[2] one = {1, 1}> {
  [scaled] s = Mul(x, two)
  [shifted] a = Add(s, one)
  [clipped] y = Relu(a)
}
"""

TWO = """
<ir_version: 8, opset_import: ["" : 18]>
two (float[N] a, int64[N] b) => (float[N] sum, int64[N] twice) {
  c = Cast<to = 1>(b)
  sum = Add(a, c)
  twice = Add(b, b)
}
"""

REFUSED = """
<ir_version: 8, opset_import: ["" : 18, "com.example" : 1]>
refused (float[2] x) => (float[2] y) {
  [first] a = Relu(x)
  [second] y = com.example.Blur(a)
}
"""


@pytest.fixture(scope="session")
def digits():
    """The shipped model, its inputs and the outputs of its training framework."""
    import adze

    module = adze.compile(DIGITS / "digits.onnx")
    return module, np.load(DIGITS / "samples.npy"), np.load(DIGITS / "reference.npy")


@pytest.fixture(scope="session")
def affine():
    import adze

    return adze.compile(parse(AFFINE))


@pytest.fixture(scope="session")
def two():
    import adze

    return adze.compile(parse(TWO))
