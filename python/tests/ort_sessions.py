# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Sessions of ONNX Runtime with the execution provider, for its tests."""

from __future__ import annotations

import functools
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import adze
from conftest import ROOT

ort = pytest.importorskip("onnxruntime")
try:
    LIBRARY = adze.get_library_path()
except ImportError as error:
    pytest.skip(str(error), allow_module_level=True)

NAME = adze.get_ep_name()
VERSION = tuple(int(part) for part in ort.__version__.split(".")[:2])
if VERSION < (1, 23):
    pytest.skip("plug-in providers need ONNX Runtime 1.23", allow_module_level=True)

X = np.array([[1, -1], [0.5, -0.25]], np.float32)
Y = np.array([[3, 0], [2, 0.5]], np.float32)  # of AFFINE

CHAIN = """
<ir_version: 8, opset_import: ["" : 18]>
chain (float[N] x) => (float[N] y) {
  [first] a = Exp(x)
  [second] b = Neg(a)
  [third] c = Abs(b)
  [fourth] d = Sqrt(c)
  [fifth] y = Add(d, a)
}
"""


@functools.cache
def register() -> None:
    """Registers the library, once in the process."""
    ort.register_execution_provider_library(NAME, LIBRARY)


def get_devices():
    register()
    return [device for device in ort.get_ep_devices() if device.ep_name == NAME]


def make_options(options=None, config=None, fallback=False):
    """Session options with the provider. Without `fallback`, nodes that the
    provider leaves to the CPU's are an error."""
    result = ort.SessionOptions()
    result.log_severity_level = 3
    result.add_session_config_entry("session.disable_cpu_ep_fallback", "0" if fallback else "1")
    if VERSION >= (1, 24):
        result.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    for key, value in (config or {}).items():
        result.add_session_config_entry(key, value)
    result.add_provider_for_devices(get_devices(), options or {})
    return result


def make_session(model, options=None, config=None, fallback=False):
    source = str(model) if isinstance(model, pathlib.Path) else model
    # By default, the package retries failures with the CPU's provider.
    return ort.InferenceSession(source, make_options(options, config, fallback), enable_fallback=0)


def make_reference(model):
    source = str(model) if isinstance(model, pathlib.Path) else model
    options = ort.SessionOptions()
    options.log_severity_level = 3
    return ort.InferenceSession(source, options, providers=["CPUExecutionProvider"])


def get_assignment(session):
    """Returns (provider, names of nodes) of each partition and of each other node; None if ONNX
    Runtime does not report it (before 1.24)."""
    if VERSION < (1, 24):
        return None
    return [
        (part.ep_name, sorted(node.name for node in part.get_nodes()))
        for part in session.get_provider_graph_assignment_info()
    ]


def assert_close(got, expected, tolerance=1e-4):
    """Compares results with a tolerance for the range of each."""
    assert len(got) == len(expected)
    for a, b in zip(got, expected):
        assert a.dtype == b.dtype and a.shape == b.shape
        if a.size and a.dtype.kind == "f":
            scale = max(float(np.abs(b).max()), 1e-3)
            assert float(np.abs(a - b).max()) <= tolerance * scale
        else:
            np.testing.assert_array_equal(a, b)


def fill(name, folder):
    """A model of benchmarks/models with weights."""
    path = folder / f"{name}.onnx"
    models = ROOT / "benchmarks" / "models"
    if not path.exists():
        subprocess.run(
            [sys.executable, models / "fill.py", models / f"{name}.light.onnx", "-o", path],
            check=True,
        )
    return path
