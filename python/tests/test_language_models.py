# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Decoder models in the form of exporters, compared with ONNX Runtime."""

from __future__ import annotations

import pathlib
import sys

import numpy as np
import pytest

import adze

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))


@pytest.mark.parametrize("precision", ["int4", "f32"])
def test_steps_agree(precision, tmp_path):
    """Prompts and single tokens with one module: the next tokens are those of ONNX Runtime, and so
    are the logits except for rounding."""
    onnxruntime = pytest.importorskip("onnxruntime")
    language_models = pytest.importorskip("language_models")
    path = str(tmp_path / "tiny.onnx")
    language_models.write_model(path, "tiny", precision)
    module = adze.compile(path)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    for past, rows in (0, 7), (20, 1), (33, 4):
        feeds = language_models.make_step("tiny", past, rows)
        got = module.run(feeds)
        want = dict(zip((o.name for o in session.get_outputs()), session.run(None, feeds)))
        assert set(got) == set(want)
        for name, expected in want.items():
            assert np.abs(got[name] - expected).max() <= 1e-3 * np.abs(expected).max(), (name, past, rows)
        assert (got["logits"].argmax(-1) == want["logits"].argmax(-1)).all()
