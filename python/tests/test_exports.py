# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Models written by `atranslate --emit=onnx`, in ONNX's checker and in ONNX Runtime.

The models are those that `scripts/run-tests.sh all` prepares, which have
ONNX Runtime's results for the model as it was before the export.
"""

from __future__ import annotations

import filecmp
import subprocess

import numpy as np
import pytest

from conftest import ROOT

onnx = pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")
from onnx import numpy_helper  # noqa: E402

ATRANSLATE = ROOT / "build" / "bin" / "atranslate"
MODELS = ROOT / "build" / "models"


def shared_models():
    """Returns the names of the models in the repository, from list.txt."""
    rows = (ROOT / "benchmarks" / "models" / "list.txt").read_text().splitlines()
    columns = [row.split() for row in rows if row and not row.startswith("#")]
    return [name for name, source, *_ in columns if source == "shared"]


def load_tensor(path):
    return numpy_helper.to_array(onnx.load_tensor(path))


def check(exported, data):
    """The model loads, and its outputs are within 1e-4 of the expected ones' range."""
    onnx.checker.check_model(exported, full_check=True)
    session = ort.InferenceSession(exported, providers=["CPUExecutionProvider"])
    feeds = {info.name: load_tensor(data / f"input_{k}.pb") for k, info in enumerate(session.get_inputs())}
    outputs = session.run(None, feeds)
    assert len(outputs) == len(list(data.glob("output_*.pb")))
    for k, output in enumerate(outputs):
        expected = load_tensor(data / f"output_{k}.pb")
        assert (output.shape, output.dtype) == (expected.shape, expected.dtype)
        assert np.abs(output - expected).max() <= 1e-4 * (expected.max() - expected.min())


@pytest.mark.parametrize("name", shared_models())
def test_export_runs_in_onnxruntime(name, tmp_path):
    model = MODELS / name / "model.onnx"
    if not ATRANSLATE.exists() or not model.exists():
        pytest.skip("no atranslate, or no models: scripts/run-tests.sh all makes both")
    checked = None
    for level in ("-O0", "-O1", "-O2"):
        exported = tmp_path / f"exported{level}.onnx"
        subprocess.run([ATRANSLATE, model, level, "--emit=onnx", "-o", exported], check=True)
        # An equal file of a lower level was checked already.
        if checked is None or not filecmp.cmp(checked, exported, shallow=False):
            check(exported, MODELS / name / "data")
        if checked is not None:
            checked.unlink()
        checked = exported
    checked.unlink()
