# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""weights_precision: products by rounded weights, against f64."""

from __future__ import annotations

import json

import numpy as np
import pytest
from conftest import DIGITS

import adze

onnx = pytest.importorskip("onnx")
MODEL = """
<ir_version: 8, opset_import: ["" : 17]>
products (float[N, {depth}] x) => (float[N, 48] a, float[N, 33] b) {{
  [a] a = MatMul(x, w)
  [b] b = Gemm<transB = 1>(x, v, c)
}}
"""


@pytest.fixture(autouse=True)
def unit():
    """Packed products require an instruction, without which the option is an error."""
    try:
        adze.compile(make(np.random.default_rng(0), 32)[0], weights_precision="int8")
    except adze.CompileError as error:
        assert error.status == "unsupported" and "has no instruction" in str(error)
        pytest.skip("the CPU has no products of bytes")


def make(rng, depth):
    model = onnx.parser.parse_model(MODEL.format(depth=depth))
    arrays = {
        "w": rng.standard_normal((depth, 48)),
        "v": rng.standard_normal((33, depth)) * 10 ** rng.uniform(-2, 2, (33, 1)),
        "c": rng.standard_normal(33),
    }
    arrays = {name: array.astype(np.float32) for name, array in arrays.items()}
    model.graph.initializer.extend(
        onnx.numpy_helper.from_array(array, name) for name, array in arrays.items()
    )
    return model, arrays


def round_rows(rows, bits, block):
    """Returns rows rounded by blocks, in f64: an independent implementation of the rule."""
    count, depth = rows.shape
    padded = np.pad(rows, [(0, 0), (0, -depth % block)]).reshape(count, -1, block)
    padded = padded.astype(np.float64)
    most, least = padded.max(axis=2, keepdims=True), padded.min(axis=2, keepdims=True)
    high = 2 ** (bits - 1) - 1
    low = -high if bits == 8 else -high - 1
    full = np.maximum(most / high, least / low).astype(np.float32)

    def attempt(scale):
        rounded = np.clip(np.rint(padded / scale), low, high) * scale
        return rounded, np.square(rounded - padded).sum(axis=2, keepdims=True)

    best, noise = attempt(full.astype(np.float64))
    for i in range(1, 11 if bits == 4 else 1):
        scale = full * (np.float32(1) - np.float32(0.04) * np.float32(i))
        other, its_noise = attempt(scale.astype(np.float64))
        best = np.where(its_noise < noise, other, best)
        noise = np.minimum(noise, its_noise)
    return best.reshape(count, -1)[:, :depth]


@pytest.mark.parametrize("depth", [64, 100])
@pytest.mark.parametrize("precision, bits, block", [("int8", 8, 32), ("int4:16", 4, 16)])
def test_against_f64(precision, bits, block, depth, tmp_path):
    rng = np.random.default_rng(depth + bits)
    model, arrays = make(rng, depth)
    report = tmp_path / "report.json"
    module = adze.compile(
        model,
        weights_precision=precision,
        options={"report": report},
        output=tmp_path / "m.so",
    )
    w = round_rows(arrays["w"].T, bits, block).T
    v = round_rows(arrays["v"], bits, block)
    for rows in (1, 7):
        x = rng.standard_normal((rows, depth)).astype(np.float32)
        a, b = module(x)
        for got, weight, bias in ((a, w, 0), (b, v.T, arrays["c"])):
            expected = x.astype(np.float64) @ weight + bias
            size = np.abs(x) @ np.abs(weight)
            assert (np.abs(got - expected) <= 2e-6 * (size + 1)).all()
    roundings = {r["node"]: r for r in json.loads(report.read_text())["rounded_weights"]}
    for name, exact, rounded in (("a", arrays["w"], w), ("b", arrays["v"], v)):
        error = np.sqrt(np.square(exact - rounded).sum() / np.square(exact).sum())
        assert (roundings[name]["bits"], roundings[name]["block"]) == (bits, block)
        assert roundings[name]["relative_error"] == pytest.approx(error, rel=1e-4)


def test_module_shrinks(tmp_path):
    model, _ = make(np.random.default_rng(1), 4096)
    sizes = {}
    for precision in ("f32", "int8", "int4"):
        path = tmp_path / f"{precision}.so"
        adze.compile(model, weights_precision=precision, output=path)
        sizes[precision] = path.stat().st_size
    # Each block of 32 elements also has a scale of f32.
    assert sizes["int8"] < 0.35 * sizes["f32"]
    assert sizes["int4"] < 0.22 * sizes["f32"]


def test_reference_path_has_the_same_weights():
    samples = np.load(DIGITS / "samples.npy")[:20]
    fast = adze.compile(DIGITS / "digits.onnx", weights_precision="int4")(samples)
    reference = adze.compile(DIGITS / "digits.onnx", weights_precision="int4", optimize=0)(samples)
    plain = adze.compile(DIGITS / "digits.onnx")(samples)
    np.testing.assert_allclose(fast, reference, rtol=1e-4, atol=1e-4)
    assert np.abs(fast - plain).max() > 1e-2


def test_cache_tells_precisions_apart(tmp_path):
    model, _ = make(np.random.default_rng(1), 64)
    x = np.ones((2, 64), np.float32)
    results = [
        adze.compile(model, weights_precision=precision, cache=tmp_path)(x)[0]
        for precision in ("f32", "int8", "int4", "int4:64", "f32")
    ]
    np.testing.assert_array_equal(results[0], results[-1])
    assert len({result.tobytes() for result in results}) == 4


@pytest.mark.parametrize("value", ["int3", "int4:", "int8:24", "f32:32", "int4:8"])
def test_values_that_are_none(value):
    with pytest.raises(adze.CompileError, match="expected --weights-precision=f32, int8 or int4"):
        adze.compile(DIGITS / "digits.onnx", weights_precision=value)


def test_targets_without_the_instruction():
    with pytest.raises(adze.CompileError, match="sandybridge has no instruction") as error:
        adze.compile(
            DIGITS / "digits.onnx", weights_precision="int4", options={"mcpu": "sandybridge"}
        )
    assert error.value.status == "unsupported"
