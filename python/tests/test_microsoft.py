# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Operators of com.microsoft that are equivalent to others, against NumPy."""

from __future__ import annotations

import math

import numpy as np
import pytest

import adze

onnx = pytest.importorskip("onnx")
DOMAIN = "com.microsoft"


def run(kind, inputs, outputs, constants=None, **attributes):
    """Returns the results of one node; outputs are types, of any shape."""
    constants = constants or {}
    names = list(inputs) + list(constants)
    node = onnx.helper.make_node(kind, names, [f"y{i}" for i in range(len(outputs))], domain=DOMAIN, **attributes)
    graph = onnx.helper.make_graph(
        [node],
        "node",
        [
            onnx.helper.make_tensor_value_info(name, onnx.helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
            for name, value in inputs.items()
        ],
        [
            onnx.helper.make_tensor_value_info(f"y{i}", onnx.helper.np_dtype_to_tensor_dtype(np.dtype(kind)), None)
            for i, kind in enumerate(outputs)
        ],
        [onnx.numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    sets = [onnx.helper.make_opsetid("", 21), onnx.helper.make_opsetid(DOMAIN, 1)]
    return adze.compile(onnx.helper.make_model(graph, opset_imports=sets, ir_version=10))(**inputs)


@pytest.fixture
def rng():
    return np.random.default_rng(1)


def gelu(x):
    return x * 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


def test_bias_add(rng):
    x, bias, skip = (rng.standard_normal(shape).astype(np.float32) for shape in ((2, 5, 8), 8, (2, 5, 8)))
    np.testing.assert_allclose(run("BiasAdd", {"x": x, "bias": bias, "skip": skip}, "f"), x + bias + skip, rtol=1e-6)


def test_bias_split_gelu(rng):
    x, bias = rng.standard_normal((2, 5, 8)).astype(np.float32), rng.standard_normal(8).astype(np.float32)
    left, right = np.split((x + bias).astype(np.float64), 2, axis=-1)
    np.testing.assert_allclose(run("BiasSplitGelu", {"x": x, "bias": bias}, "f"), left * gelu(right), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_expand_dims(rng, axis):
    x = rng.standard_normal((2, 3)).astype(np.float32)
    result = run("ExpandDims", {"x": x}, "f", {"axis": np.array(axis, np.int32)})
    np.testing.assert_array_equal(result, np.expand_dims(x, axis))


@pytest.mark.parametrize("has_bias", [False, True])
def test_gemm_fast_gelu(rng, has_bias):
    inputs = {name: rng.standard_normal(shape).astype(np.float32) for name, shape in (("x", (3, 4)), ("w", (4, 5)), ("bias", 5))}
    if not has_bias:
        del inputs["bias"]
    x = inputs["x"].astype(np.float64) @ inputs["w"] + inputs.get("bias", 0)
    expected = x * 0.5 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    np.testing.assert_allclose(run("GemmFastGelu", inputs, "f"), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
def test_nhwc_max_pool(rng, dtype):
    x = rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, (1, 6, 8, 3)).astype(dtype)
    expected = x.reshape(1, 3, 2, 4, 2, 3).max(axis=(2, 4))
    np.testing.assert_array_equal(run("NhwcMaxPool", {"x": x}, [dtype], kernel_shape=[2, 2], strides=[2, 2]), expected)


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect"])
def test_pad(rng, mode):
    x = rng.standard_normal((3, 4)).astype(np.float32)
    constants = {"pads": np.array([1, 2, 0, 1], np.int64)}
    if mode == "constant":
        constants["value"] = np.array([2.5], np.float32)
    numbers = {"constant_values": 2.5} if mode == "constant" else {}
    np.testing.assert_array_equal(run("Pad", {"x": x}, "f", constants, mode=mode), np.pad(x, ((1, 0), (2, 1)), mode, **numbers))


@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_range(dtype):
    start, limit, delta = (np.array(value, dtype) for value in (2, 11, 3))
    np.testing.assert_array_equal(run("Range", {"start": start, "limit": limit, "delta": delta}, [dtype]), np.arange(2, 11, 3))
    np.testing.assert_array_equal(run("Range", {"start": start, "limit": limit}, [dtype]), np.arange(2, 11))


@pytest.mark.parametrize("left, right", [(0, 0), (1, 0), (0, 1), (1, 1)])
def test_transpose_matmul(rng, left, right):
    a, b = rng.standard_normal((2, 3, 4)).astype(np.float32), rng.standard_normal((2, 4, 5)).astype(np.float32)
    inputs = {"a": a.swapaxes(1, 2).copy() if left else a, "b": b.swapaxes(1, 2).copy() if right else b}
    result = run("TransposeMatMul", inputs, "f", alpha=0.5, transA=left, transB=right)
    np.testing.assert_allclose(result, 0.5 * (a.astype(np.float64) @ b), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("upper, k", [(0, -1), (1, 2)])
def test_trilu(rng, upper, k):
    x = rng.standard_normal((2, 4, 5)).astype(np.float32)
    result = run("Trilu", {"x": x}, "f", {"k": np.array(k, np.int64)}, upper=upper)
    np.testing.assert_array_equal(result, np.triu(x, k) if upper else np.tril(x, k))


def test_unique():
    """Elements in order of first occurrence."""
    x = np.array([3, 1, 3, 2, 1, 3], np.float32)
    y, index, counts = run("Unique", {"x": x}, "fll")
    np.testing.assert_array_equal(y, [3, 1, 2])
    np.testing.assert_array_equal(index, [0, 1, 0, 2, 1, 0])
    np.testing.assert_array_equal(counts, [3, 2, 1])


@pytest.mark.parametrize("shape", [(7, 7), (3, 4, 4), (2, 3, 5, 5), (1, 1), (0, 3, 3)])
@pytest.mark.parametrize("dtype", ["f", "d"])
def test_inverse(rng, shape, dtype):
    x = rng.standard_normal(shape).astype(dtype)
    if shape == (7, 7):
        x[0, 0] = 0  # the first pivot is in another row
    got = run("Inverse", {"x": x}, [dtype])
    np.testing.assert_allclose(got, np.linalg.inv(x.astype(np.float64)), rtol=1e-3 if dtype == "f" else 1e-9, atol=1e-3 if dtype == "f" else 1e-9)


NORMAL = [-1.0, -0.6961928, -0.52507305, -0.39491749, -0.28444138, -0.18477343, -0.09105004, 0.0]
NORMAL += [0.0795803, 0.1609302, 0.2461123, 0.33791524, 0.44070983, 0.562617, 0.72295684, 1.0]
SMALL = [0.0, 1 / 192, 2 / 3, 1.0, 1 / 3, 0.5, 1 / 6, 0.25]


@pytest.mark.parametrize("kind", [0, 1])
@pytest.mark.parametrize("n, k", [(8, 32), (3, 11)])
def test_mat_mul_bnb4(rng, kind, n, k):
    codes = rng.integers(0, 16, n * k)
    scales = rng.random(-(-n * k // 16)).astype(np.float32)
    table = np.array(NORMAL if kind else SMALL + [-x for x in SMALL])
    weights = (table[codes] * np.repeat(scales, 16)[: n * k]).reshape(n, k)
    padded = np.append(codes, 0) if n * k % 2 else codes
    packed = (padded[::2] << 4 | padded[1::2]).astype(np.uint8)
    x = rng.standard_normal((2, k)).astype(np.float32)
    got = run("MatMulBnb4", {"x": x}, "f", {"packed": packed, "scales": scales}, N=n, K=k, block_size=16, quant_type=kind)
    np.testing.assert_allclose(got, x @ weights.T, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean"])
def test_cdist(rng, metric):
    x, y = rng.standard_normal((5, 9)).astype(np.float32), rng.standard_normal((7, 9)).astype(np.float32)
    squares = ((x[:, None].astype(np.float64) - y[None]) ** 2).sum(2)
    expected = np.sqrt(squares) if metric == "euclidean" else squares
    np.testing.assert_allclose(run("CDist", {"x": x, "y": y}, "f", metric=metric), expected, rtol=1e-5)


def test_cdist_of_another_metric(rng):
    x = rng.standard_normal((5, 9)).astype(np.float32)
    with pytest.raises(adze.CompileError, match="CDist"):
        run("CDist", {"x": x, "y": x}, "f", metric="cosine")
