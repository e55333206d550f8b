# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Products in bf16 and in bytes on the units of this CPU, against f64 products of the same rounded
operands.

A CPU with AMX multiplies matrices in registers of 16 rows; the sizes have remainders of rows, columns and depth.
"""

from __future__ import annotations

import numpy as np
import pytest

import adze

onnx = pytest.importorskip("onnx")


def has_unit(flag):
    with open("/proc/cpuinfo") as file:
        return flag in next((line.split() for line in file if line.startswith("flags")), [])


needs_bf16 = pytest.mark.skipif(not has_unit("avx512_bf16"), reason="this CPU has no products of bf16")


def to_bf16(x):
    """Rounds to the nearest bf16, ties to even."""
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)


def make_model(nodes, inputs, outputs, initializers):
    graph = onnx.helper.make_graph(
        nodes,
        "products",
        [onnx.helper.make_tensor_value_info(name, type_, shape) for name, type_, shape in inputs],
        [onnx.helper.make_tensor_value_info(name, type_, None) for name, type_ in outputs],
        [onnx.numpy_helper.from_array(value, name) for name, value in initializers.items()],
    )
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 21)], ir_version=10)


def assert_close(got, want):
    """f32 sums of a few thousand exact products."""
    assert np.abs(got - want).max() <= 2e-6 * np.abs(want).max() * max(1, np.log2(want.size))


@needs_bf16
@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("m", [1, 5, 16, 17, 33, 65, 100, 197])
@pytest.mark.parametrize("k, n", [(64, 64), (100, 70), (40, 16), (24, 200), (768, 96), (2200, 33)])
def test_matmul(m, k, n, dynamic):
    rng = np.random.default_rng(m * k + n)
    x, w = rng.standard_normal((m, k), np.float32), rng.standard_normal((k, n), np.float32)
    bias = rng.standard_normal(n, np.float32)
    model = make_model(
        [
            onnx.helper.make_node("MatMul", ["x", "w"], ["p"]),
            onnx.helper.make_node("Add", ["p", "b"], ["s"]),
            onnx.helper.make_node("Relu", ["s"], ["y"]),
        ],
        [("x", onnx.TensorProto.FLOAT, ["m" if dynamic else m, k])],
        [("y", onnx.TensorProto.FLOAT)],
        {"w": w, "b": bias},
    )
    module = adze.compile(model, precision="bf16", threads=1)
    want = np.maximum(to_bf16(x).astype(np.float64) @ to_bf16(w) + bias, 0)
    assert_close(module(x), want)


def convolve(x, w, stride, pad, dilation):
    """A convolution in f64, tap by tap."""
    taps = w.shape[2]
    x = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    size = (x.shape[2] - dilation * (taps - 1) - 1) // stride + 1
    result = np.zeros((x.shape[0], w.shape[0], size, size))
    for i in range(taps):
        for j in range(taps):
            window = x[:, :, i * dilation :, j * dilation :][:, :, : (size - 1) * stride + 1 : stride]
            window = window[:, :, :, : (size - 1) * stride + 1 : stride]
            result += np.einsum("bchw,oc->bohw", window, w[:, :, i, j].astype(np.float64), optimize=True)
    return result


@needs_bf16
@pytest.mark.parametrize(
    "batch, inputs, size, outputs, taps, stride, pad, dilation",
    [
        (1, 64, 14, 64, 3, 1, 1, 1),
        (2, 40, 19, 24, 3, 2, 1, 1),
        (1, 96, 31, 48, 5, 2, 2, 1),
        (3, 256, 7, 128, 3, 1, 1, 1),
        (1, 128, 28, 40, 1, 2, 0, 1),
        (1, 32, 40, 33, 3, 1, 2, 2),
        (1, 16, 60, 32, 3, 1, 1, 1),
        (2, 64, 15, 48, 3, 2, 1, 1),
        (1, 40, 13, 24, 5, 2, 2, 1),
        (1, 64, 17, 40, 3, 3, 1, 2),
        (3, 64, 13, 33, 2, 2, 0, 1),
    ],
)
def test_convolutions(batch, inputs, size, outputs, taps, stride, pad, dilation):
    rng = np.random.default_rng(inputs * size)
    first = rng.standard_normal((inputs, inputs, 1, 1), np.float32) / np.float32(inputs**0.5)
    w = rng.standard_normal((outputs, inputs, taps, taps), np.float32)
    x = rng.standard_normal((batch, inputs, size, size), np.float32)
    model = make_model(
        [
            onnx.helper.make_node("Conv", ["x", "f"], ["h"], name="first"),
            onnx.helper.make_node(
                "Conv", ["h", "w"], ["y"], strides=[stride] * 2, pads=[pad] * 4, dilations=[dilation] * 2
            ),
        ],
        [("x", onnx.TensorProto.FLOAT, [batch, inputs, size, size])],
        [("y", onnx.TensorProto.FLOAT)],
        {"f": first, "w": w},
    )
    # Winograd's algorithm rounds transformed patches instead of pixels.
    got = adze.compile(model, precision="bf16", threads=1, options={"winograd": "off"})(x)
    hidden = convolve(to_bf16(x), to_bf16(first), 1, 0, 1)
    want = convolve(to_bf16(hidden), to_bf16(w), stride, pad, dilation)
    # A sum next to a tie of bf16 may be rounded differently than in f64.
    assert np.abs(got - want).max() <= 4e-3 * np.abs(want).max()
    assert np.abs(got - want).mean() <= 2e-5 * np.abs(want).max()


@needs_bf16
@pytest.mark.parametrize("batch, inputs, size, outputs", [(1, 64, 28, 64), (3, 256, 14, 128), (2, 64, 30, 96)])
def test_winograd(batch, inputs, size, outputs):
    """By Winograd's algorithm errors are at most 2.5 times those of direct convolution."""
    rng = np.random.default_rng(inputs * size)
    w = rng.standard_normal((outputs, inputs, 3, 3), np.float32)
    x = rng.standard_normal((batch, inputs, size, size), np.float32)
    model = make_model(
        [onnx.helper.make_node("Conv", ["x", "w"], ["y"], pads=[1] * 4)],
        [("x", onnx.TensorProto.FLOAT, [batch, inputs, size, size])],
        [("y", onnx.TensorProto.FLOAT)],
        {"w": w},
    )
    want = convolve(x, w, 1, 1, 1)
    direct, transformed = (
        np.abs(adze.compile(model, precision="bf16", threads=1, options={"winograd": choice})(x) - want)
        for choice in ("off", "on")
    )
    assert direct.mean() <= 2e-3 * want.std()
    assert transformed.max() <= 2.5 * direct.max()
    assert transformed.mean() <= 2.5 * direct.mean()


@needs_bf16
@pytest.mark.parametrize("outputs, taps, stride, pad", [(64, 7, 2, 3), (96, 16, 16, 0), (20, 5, 2, 1)])
def test_few_channels(outputs, taps, stride, pad):
    """In bf16 with AMX; other CPUs compute three channels in f32."""
    rng = np.random.default_rng(taps)
    w = to_bf16(rng.standard_normal((outputs, 3, taps, taps), np.float32))
    x = to_bf16(rng.standard_normal((2, 3, 64, 64), np.float32))
    model = make_model(
        [onnx.helper.make_node("Conv", ["x", "w"], ["y"], strides=[stride] * 2, pads=[pad] * 4)],
        [("x", onnx.TensorProto.FLOAT, ["n", 3, 64, 64])],
        [("y", onnx.TensorProto.FLOAT)],
        {"w": w},
    )
    assert_close(adze.compile(model, precision="bf16", threads=1)(x), convolve(x, w, stride, pad, 1))


def attend(q, k, v, causal, mask):
    """Attention in f64; heads of q share those of k and v."""
    shared = q.shape[1] // k.shape[1]
    k, v = (np.repeat(x, shared, 1).astype(np.float64) for x in (k, v))
    scores = q.astype(np.float64) @ k.transpose(0, 1, 3, 2) / np.sqrt(q.shape[3])
    if causal:
        scores = np.where(np.tri(q.shape[2], k.shape[2], dtype=bool), scores, -np.inf)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights @ v / weights.sum(-1, keepdims=True)


@needs_bf16
@pytest.mark.parametrize("products, dynamic", [(False, True), (True, False)])
@pytest.mark.parametrize(
    "heads, shared, queries, keys, depth, causal, masked",
    [
        (2, 1, 64, 64, 64, False, False),
        (4, 2, 100, 100, 64, True, False),
        (2, 1, 197, 197, 64, False, False),
        (3, 3, 50, 77, 64, False, True),
        (2, 1, 300, 300, 80, True, False),
        (2, 2, 130, 300, 128, False, True),
        (1, 1, 33, 257, 96, False, False),
        (2, 1, 40, 40, 24, False, False),
        (2, 1, 3, 90, 64, False, False),
    ],
)
def test_attention(heads, shared, queries, keys, depth, causal, masked, products, dynamic):
    """By AMX in bf16; another CPU computes in f32. Products before it store bf16, inputs are rounded as they are read."""
    rng = np.random.default_rng(queries * keys + depth)
    q = to_bf16(rng.standard_normal((1, heads, queries, depth), np.float32))
    k, v = (to_bf16(rng.standard_normal((1, heads // shared, keys, depth), np.float32)) for _ in range(2))
    mask = np.concatenate([np.ones((queries, 1), bool), rng.random((queries, keys - 1)) < 0.5], 1) if masked else None
    nodes, names, weights = [], ["q", "k", "v"], {}
    if products:
        weights["eye"] = np.eye(depth, dtype=np.float32)
        nodes = [onnx.helper.make_node("MatMul", [name, "eye"], [name + "p"]) for name in names]
        names = [name + "p" for name in names]
    nodes.append(onnx.helper.make_node("Attention", [*names, *(["m"] if masked else [])], ["y"], is_causal=int(causal)))
    sizes = ("s", "t") if dynamic else (queries, keys)
    inputs = [
        ("q", onnx.TensorProto.FLOAT, [1, heads, sizes[0], depth]),
        ("k", onnx.TensorProto.FLOAT, [1, heads // shared, sizes[1], depth]),
        ("v", onnx.TensorProto.FLOAT, [1, heads // shared, sizes[1], depth]),
    ]
    if masked:
        inputs.append(("m", onnx.TensorProto.BOOL, list(sizes)))
    model = make_model(nodes, inputs, [("y", onnx.TensorProto.FLOAT)], weights)
    model.opset_import[0].version = 23
    given = [q, k, v] + ([mask] if masked else [])
    one = adze.compile(model, precision="bf16", threads=1)(*given)
    if causal:
        np.testing.assert_array_equal(one, adze.compile(model, precision="bf16", threads=2)(*given))
    want = attend(q, k, v, causal, mask)
    # Scaled queries, weights and, before a product, results are rounded to 8 bits.
    assert np.abs(one - want).max() <= 6e-3 * np.abs(want).max()
    assert np.abs(one - want).mean() <= 1e-3 * np.abs(want).max()


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("m, k, n", [(1, 64, 64), (17, 100, 70), (33, 40, 16), (64, 1000, 33), (130, 256, 100)])
@pytest.mark.parametrize("signed", [False, True])
def test_bytes(m, k, n, signed, dynamic):
    rng = np.random.default_rng(m + k + n)
    a = rng.integers(-128, 128, (m, k), np.int8) if signed else rng.integers(0, 256, (m, k), np.uint8)
    w = rng.integers(-128, 128, (k, n), np.int8)
    element = onnx.TensorProto.INT8 if signed else onnx.TensorProto.UINT8
    model = make_model(
        [onnx.helper.make_node("MatMulInteger", ["x", "w"], ["y"])],
        [("x", element, ["m" if dynamic else m, k])],
        [("y", onnx.TensorProto.INT32)],
        {"w": w},
    )
    module = adze.compile(model, threads=1)
    np.testing.assert_array_equal(module(a), a.astype(np.int32) @ w.astype(np.int32))


@pytest.mark.parametrize(
    "batch, inputs, size, outputs, taps, stride, pad, dilation",
    [
        (1, 3, 64, 64, 7, 2, 3, 1),
        (2, 4, 65, 20, 5, 2, 1, 1),
        (1, 3, 33, 32, 3, 2, 1, 1),
        (1, 64, 14, 64, 3, 1, 1, 1),
        (2, 64, 14, 96, 3, 2, 1, 1),
        (1, 32, 13, 24, 5, 2, 2, 1),
        (1, 64, 17, 40, 3, 3, 1, 2),
        (1, 128, 14, 33, 1, 2, 0, 1),
        (1, 20, 40, 48, 1, 1, 0, 1),
        (1, 24, 16, 33, 3, 1, 1, 1),
    ],
)
def test_convolutions_of_bytes(batch, inputs, size, outputs, taps, stride, pad, dilation):
    rng = np.random.default_rng(inputs * size)
    x = rng.integers(0, 256, (batch, inputs, size, size), np.uint8)
    w = rng.integers(-128, 128, (outputs, inputs, taps, taps), np.int8)
    model = make_model(
        [
            onnx.helper.make_node(
                "ConvInteger", ["x", "w"], ["y"], strides=[stride] * 2, pads=[pad] * 4, dilations=[dilation] * 2
            )
        ],
        [("x", onnx.TensorProto.UINT8, [batch, inputs, size, size])],
        [("y", onnx.TensorProto.INT32)],
        {"w": w},
    )
    for threads in (1, 2):
        got = adze.compile(model, threads=threads)(x)
        np.testing.assert_array_equal(got, convolve(x, w, stride, pad, dilation).astype(np.int32))


@pytest.mark.parametrize("zero", [0, 3, 128])
def test_quantized_results(zero):
    """Ties are rounded to even, and out-of-range values are clamped."""
    steps = np.arange(-300, 601, dtype=np.float32) / 2
    x = np.resize(steps, (40, 901)).astype(np.float32)
    model = make_model(
        [onnx.helper.make_node("QuantizeLinear", ["x", "s", "z"], ["y"])],
        [("x", onnx.TensorProto.FLOAT, ["n", 901])],
        [("y", onnx.TensorProto.UINT8)],
        {"s": np.float32(1), "z": np.uint8(zero)},
    )
    want = np.clip(np.rint(x) + zero, 0, 255).astype(np.uint8)
    np.testing.assert_array_equal(adze.compile(model, threads=1)(x), want)


def test_threads_give_the_same_bits():
    if not has_unit("avx512_bf16"):
        pytest.skip("this CPU has no products of bf16")
    rng = np.random.default_rng(3)
    w = rng.standard_normal((300, 500), np.float32)
    x = rng.standard_normal((211, 300), np.float32)
    model = make_model(
        [onnx.helper.make_node("MatMul", ["x", "w"], ["y"])],
        [("x", onnx.TensorProto.FLOAT, ["m", 300])],
        [("y", onnx.TensorProto.FLOAT)],
        {"w": w},
    )
    one, two = (adze.compile(model, precision="bf16", threads=threads)(x) for threads in (1, 2))
    np.testing.assert_array_equal(one, two)
