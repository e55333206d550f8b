# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Overridable weights: several LoRA sets over one base."""

from __future__ import annotations

import runpy
import threading

import numpy as np
import onnx
import onnx.parser
import pytest

import adze
from conftest import EXAMPLES

# x W + (x A) B; A and B may have other ranks, by the inputs of their names.
MODEL = """
<ir_version: 10, opset_import: ["" : 21]>
lora (float[N, 64] x, float[64, r] A, float[r, 48] B) => (float[N, 48] y)
{
  base = MatMul(x, W)
  low = MatMul(x, A)
  delta = MatMul(low, B)
  sum = Add(base, delta)
  y = Relu(sum)
}
"""


def draw(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


W, A, B = draw(0, 64, 48), draw(1, 64, 4), draw(2, 4, 48)
X = draw(3, 5, 64)


def write_model(path, weights=None):
    model = onnx.parser.parse_model(MODEL)
    for name, array in {"W": W, "A": A, "B": B, **(weights or {})}.items():
        model.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    onnx.save(model, path)


def compute(a, b, w=W):
    return np.maximum(X.astype(np.float64) @ (w.astype(np.float64) + a @ b.astype(np.float64)), 0)


def check(actual, a, b, w=W):
    expected = compute(a, b, w)
    np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-4 * abs(expected).max())


@pytest.fixture
def lora(tmp_path):
    write_model(tmp_path / "m.onnx")
    return adze.compile(tmp_path / "m.onnx", options={"overridable": "[AB]"})


def test_signature(lora):
    assert [info.name for info in lora.inputs] == ["x"]
    assert [(info.name, info.shape) for info in lora.overridable] == [
        ("A", (64, "r")),
        ("B", ("r", 48)),
    ]
    assert [v["name"] for v in lora.info["overridable"]] == ["A", "B"]
    check(lora(X), A, B)
    assert lora.infer_shapes((7, 64)) == ((7, 48),)


def test_sets_side_by_side(lora, tmp_path):
    sets = {k: (draw(k, 64, k), draw(k + 50, k, 48)) for k in (1, 3, 8, 16)}
    np.savez(tmp_path / "8.npz", A=sets[8][0], B=sets[8][1])
    failures = []

    def serve(rank):
        try:
            context = lora.context()
            a, b = sets[rank]
            context.override(np.load(tmp_path / "8.npz") if rank == 8 else {"A": a, "B": b})
            for _ in range(20):
                check(context(X), a, b)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=serve, args=(rank,)) for rank in sets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    check(lora(X), A, B)


def test_as_onnxruntime(lora, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    session = onnxruntime.InferenceSession(
        str(tmp_path / "m.onnx"), providers=["CPUExecutionProvider"]
    )
    assert {i.name for i in session.get_overridable_initializers()} >= {"A", "B"}
    a, b = draw(8, 64, 4), draw(9, 4, 48)
    context = lora.context()
    for feed in ({}, {"A": a}, {"A": a, "B": b}):
        context.override({"A": feed.get("A"), "B": feed.get("B")})
        expected = session.run(None, {"x": X, **feed})[0]
        np.testing.assert_allclose(context(X), expected, rtol=1e-4, atol=1e-3)


def test_back_and_forth(lora):
    context = lora.context()
    a, b = draw(8, 64, 2), draw(9, 2, 48)
    context.override({"A": a, "B": b})
    check(context(X), a, b)
    context.override({"A": None, "B": None})
    check(context(X), A, B)
    context.override({"A": a})
    with pytest.raises(adze.ArgumentError, match="'r', given by input 'A'"):
        context(X)


def test_wrong_weights(lora):
    context = lora.context()
    with pytest.raises(adze.ArgumentError, match=r"overridable weight \('A', 'B'\), but got 'W'"):
        context.override({"W": W})
    with pytest.raises(adze.ArgumentError, match="input 'A': expected dim 0 = 64, but got 63"):
        context.override({"A": A[1:]})
    with pytest.raises(adze.ArgumentError, match="input 'A'"):
        context.override({"A": A.astype(np.float64)})
    check(context(X), A, B)


def test_swapped_weights(tmp_path):
    """Weights that no context overrides are those of the new version."""
    w, a = draw(20, 64, 48), draw(21, 64, 4)
    write_model(tmp_path / "1.onnx")
    write_model(tmp_path / "2.onnx", {"W": w, "A": a})
    for i in (1, 2):
        module = adze.compile(tmp_path / f"{i}.onnx", options={"overridable": "[AB]"})
        module.save(tmp_path / f"{i}.so")
    module = adze.load(tmp_path / "1.so")
    plain, own = module.context(), module.context()
    b = draw(22, 4, 48)
    own.override({"B": b})
    check(own(X), A, b)
    module.swap_weights(tmp_path / "2.so")
    check(plain(X), a, B, w)
    check(own(X), a, b, w)


def test_beside_a_program_for_devices(tmp_path):
    """Both programs share weights, and each has places of its own for the defaults."""
    write_model(tmp_path / "m.onnx")
    module = adze.compile(
        tmp_path / "m.onnx",
        target=["cpu", "cuda:sm_90a"],
        options={"overridable": "[AB]"},
    )
    check(module(X), A, B)
    context = module.context()
    context.override({"A": 2 * A})
    check(context(X), 2 * A, B)


def test_options(tmp_path):
    write_model(tmp_path / "m.onnx")
    with pytest.raises(adze.CompileError, match="expected the name of an initializer, but got"):
        adze.compile(tmp_path / "m.onnx", options={"overridable": "lora_*"})
    # Without the option they are constants.
    assert adze.compile(tmp_path / "m.onnx").overridable == ()


def test_example(tmp_path, monkeypatch, capsys):
    folder = EXAMPLES / "lora"
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(folder / "model.py"))
    adze.compile("base.onnx", options={"overridable": "*.lora_[AB]"}).save("base.so")
    monkeypatch.setattr("sys.argv", ["lora.py", "base.so"])
    runpy.run_path(str(folder / "lora.py"))
    assert capsys.readouterr().out.splitlines() == [
        "1 input, 8 overridable weights",
        "none: as with merged weights: True",
        "french: as with merged weights: True",
        "legal: as with merged weights: True",
        "one mapping of the base: True",
    ]
