# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Operators that are functions in Python."""

from __future__ import annotations

import gc
import threading

import numpy as np
import onnx
import onnx.parser
import pytest

import adze
from conftest import EXAMPLES

MODEL = """
<ir_version: 10, opset_import: ["" : 21, "com.example" : 1]>
custom (float[N, 3] x, string[M] t, float[3] high) => (float[N, 3] y, string[M] u, int64[K] at)
{
  [own] s = com.example.Scale<factor = 1.5, modes = ["a", "bc"], axes = [1, -1],
    shift = 2>(x, , high)
  y = Neg(s)
  u = com.example.Upper(t)
  at = com.example.Where<above = 2.0>(x)
}
"""
DECLARATIONS = """
func.func private @com.example.Scale(
    tensor<?x3xf32, affine_map<()[n] -> (n, 3)>>, none {adze.optional}, none)
    -> (none {adze.like = 0 : i64})
func.func private @com.example.Upper(tensor<?xsi64, affine_map<()[m] -> (m)>>)
    -> tensor<?xsi64, affine_map<()[m] -> (m)>>
func.func private @Where(none) -> tensor<?xi64, affine_map<()[k] -> (k)>>
"""


@pytest.fixture
def custom(tmp_path):
    (tmp_path / "operators.mlir").write_text(DECLARATIONS)
    onnx.save(onnx.parser.parse_model(MODEL), tmp_path / "m.onnx")
    return adze.compile(tmp_path / "m.onnx", options={"kernels": str(tmp_path / "operators.mlir")})


def where(x, above):
    return np.flatnonzero(x > above)


def upper(texts):
    return np.array([text.upper() for text in texts], object)


X = np.array([[1, 2, 3], [4, 5, 6]], np.float32)
HIGH = np.full(3, 7, np.float32)
TEXTS = np.array(["one", "zwei", ""], object)


def test_attributes_inputs_outputs(custom):
    seen = []

    def scale(x, low, high, **attributes):
        seen.append((x.shape, x.flags.writeable, low, high.tolist(), attributes))
        return x * np.float32(attributes["factor"])

    custom.register_operator("com.example.Scale", scale)
    custom.register_operator("com.example.Upper", upper)
    custom.register_operator("com.example.Where", where)
    y, u, at = custom(X, TEXTS, HIGH)
    np.testing.assert_array_equal(y, -1.5 * X)
    assert u.tolist() == ["ONE", "ZWEI", ""]
    np.testing.assert_array_equal(at, [2, 3, 4, 5])
    attributes = {"factor": 1.5, "modes": ["a", "bc"], "axes": [1, -1], "shift": 2}
    assert seen == [((2, 3), False, None, [7, 7, 7], attributes)]
    names = [(o["name"], o["node"]) for o in custom.info["operators"]]
    assert names[0] == ("com.example.Scale", "own")
    # No rows, and so no elements anywhere.
    y, _, at = custom(X[:0], TEXTS, HIGH)
    assert (y.shape, at.shape) == ((0, 3), (0,))


def test_errors(custom):
    with pytest.raises(adze.AdzeError, match=r"node 'own' \(com.example.Scale\)") as caught:
        custom(X, TEXTS, HIGH)
    assert caught.value.kind == "unsupported"
    custom.register_operator("com.example.Upper", upper)
    custom.register_operator("com.example.Where", where)

    def fail(results, message):
        custom.register_operator("com.example.Scale", lambda *args, **kwargs: results())
        with pytest.raises(adze.AdzeError, match=message) as caught:
            custom(X, TEXTS, HIGH)
        assert caught.value.kind == "run"

    fail(lambda: 1 / 0, "node 'own': com.example.Scale: ZeroDivisionError: division by zero")
    fail(lambda: X.astype(np.float64), "output 0: expected an array of float32 and 2 dims")
    fail(lambda: X[0], "expected an array of float32 and 2 dims, but got float32 and 1 dims")
    fail(lambda: X[:1], "expected dim 0 of result 0 to be 2, but got 1")
    fail(lambda: (X, X), "expected 1 outputs, but got 2")
    fail(lambda: TEXTS, "own")
    with pytest.raises(adze.ArgumentError, match="expected a function"):
        custom.register_operator("com.example.Scale", 3)


def test_threads_and_lifetime(custom):
    custom.register_operator("com.example.Scale", lambda x, *rest, **attributes: x)
    custom.register_operator("com.example.Upper", upper)
    custom.register_operator("com.example.Where", where)
    context = custom.context()
    del custom
    gc.collect()
    np.testing.assert_array_equal(context(X, TEXTS, HIGH)[0], -X)


def test_runs_at_once(custom):
    both = threading.Barrier(2, timeout=60)

    def scale(x, *rest, **attributes):
        both.wait()  # a call for each of two contexts is under way
        return x * x

    custom.register_operator("com.example.Scale", scale)
    custom.register_operator("com.example.Upper", upper)
    custom.register_operator("com.example.Where", where)
    futures = [custom.run_async(X * k, TEXTS, HIGH) for k in (1, 2)]
    for k, future in zip((1, 2), futures):
        np.testing.assert_array_equal(future.result()[0], -((X * k) ** 2))


def test_declarations_that_do_not_fit(tmp_path):
    onnx.save(onnx.parser.parse_model(MODEL), tmp_path / "m.onnx")

    def fail(old, new, message):
        assert old in DECLARATIONS
        (tmp_path / "operators.mlir").write_text(DECLARATIONS.replace(old, new))
        with pytest.raises(adze.CompileError, match=message):
            adze.compile(tmp_path / "m.onnx", options={"kernels": str(tmp_path / "operators.mlir")})

    scale = r"node 'own' \(com.example.Scale-1\): "
    fail(
        "none {adze.optional}", "none", scale + "expected operand 1 to be present, or 'adze.optional'"
    )
    fail("adze.like = 0", "adze.like = 1", scale + "expected 'adze.like' on result 0")
    fail("tensor<?x3xf32", "tensor<?x3xf64", scale + "expected operand 0 to fit tensor")
    fail("tensor<?x3xf32", "tensor<?x4xf32", scale + "expected dim 1 of operand 0 to be 4")
    fail("@Where(none)", "@Where()", "expected at most 0 inputs and 1 outputs")
    fail(
        "[k] -> (k)", "[k] -> (k + 1)", "expected a data-dependent size of result 0 to be a symbol"
    )


def test_example_in_python():
    module = adze.compile(
        EXAMPLES / "host-operator" / "model.onnx",
        options={"kernels": str(EXAMPLES / "host-operator" / "operators.mlir")},
    )

    def standardize(x, mean, scale, mode, epsilon=0.0):
        return x - mean if mode == "subtract" else (x - mean) / (scale + np.float32(epsilon))

    def peaks(x, threshold, columns):
        mask = np.zeros(x.shape, bool)
        mask[:, columns] = np.abs(x[:, columns]) > threshold
        return np.argwhere(mask), x[mask]

    module.register_operator("com.example.Standardize", standardize)
    module.register_operator("com.example.Peaks", peaks)
    x = np.array([[0.5, 0.25, 0, 4], [3, 9, -1, -0.5]], np.float32)
    mean = np.array([0.5, 0.25, 0, -0.5], np.float32)
    scale = np.array([2, 1, 0.5, 4], np.float32)
    centred, positions, values = module(x)
    np.testing.assert_array_equal(centred, x - mean)
    expected = 2 * (x - mean) / (scale + np.float32(0.5))
    where = [(i, j) for i in range(2) for j in (0, 2, 3) if abs(expected[i, j]) > 1]
    assert [tuple(row) for row in positions] == where
    np.testing.assert_allclose(values, [expected[at] for at in where], rtol=1e-6)


def test_outputs_of_one_size_agree():
    module = adze.compile(
        EXAMPLES / "host-operator" / "model.onnx",
        options={"kernels": str(EXAMPLES / "host-operator" / "operators.mlir")},
    )
    module.register_operator("com.example.Standardize", lambda x, *rest, **attributes: x)

    def peaks(x, **attributes):
        return np.zeros((3, 2), np.int64), np.zeros(4, np.float32)

    module.register_operator("com.example.Peaks", peaks)
    with pytest.raises(adze.AdzeError, match="node 'peaks': expected results whose sizes agree"):
        module(np.ones((1, 4), np.float32))
