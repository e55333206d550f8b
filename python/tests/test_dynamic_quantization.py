# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Operators that quantize at run time, against their definitions in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import adze

onnx = pytest.importorskip("onnx")
DOMAIN = "com.microsoft"


def quantize(x):
    """ONNX's DynamicQuantizeLinear: steps from the zero point, and a scale."""
    low, high = min(np.float32(0), x.min()), max(np.float32(0), x.max())
    scale = np.float32((high - low) / np.float32(255)) if high > low else np.float32(1)
    zero = np.rint(np.clip(-low / scale, 0, 255))
    return np.clip(np.rint(x / scale) + zero, 0, 255) - zero, np.float64(scale)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def run_lstm(x, w, r, bias, lengths, first, cell, scales, zeros, reverse):
    """One direction of an LSTM [T, B, I] in f64, whose states are rounded to f32 between steps."""
    (steps, batch, _), hidden = x.shape, r.shape[0]
    bytes_, scale = quantize(x)
    w, r = w.astype(np.float64) - zeros[0], r.astype(np.float64) - zeros[1]
    gates = bytes_ @ w * (scale * scales[0]) + bias[: 4 * hidden] + bias[4 * hidden :]
    output = np.zeros((steps, batch, hidden), np.float32)
    h, c = first.astype(np.float32), cell.astype(np.float64)
    for step in reversed(range(steps)) if reverse else range(steps):
        rows = [quantize(row) for row in h]
        products = np.stack([row @ r * row_scale for row, row_scale in rows]) * scales[1]
        i, o, f, g = np.split(gates[step] + products, 4, axis=1)
        new_c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        new_h = (sigmoid(o) * np.tanh(new_c)).astype(np.float32)
        counts = (step < lengths)[:, None]
        output[step] = np.where(counts, new_h, 0)
        h, c = np.where(counts, new_h, h), np.where(counts, new_c, c)
    return output, h, c


def make_lstm(inputs, initializers, hidden, direction, operands):
    node = onnx.helper.make_node(
        "DynamicQuantizeLSTM", operands, ["y", "y_h", "y_c"], domain=DOMAIN, hidden_size=hidden, direction=direction
    )
    graph = onnx.helper.make_graph(
        [node],
        "layer",
        [onnx.helper.make_tensor_value_info(name, onnx.helper.np_dtype_to_tensor_dtype(x.dtype), shape) for name, x, shape in inputs],
        [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None) for name in ("y", "y_h", "y_c")],
        [onnx.numpy_helper.from_array(value, name) for name, value in initializers.items()],
    )
    sets = [onnx.helper.make_opsetid("", 21), onnx.helper.make_opsetid(DOMAIN, 1)]
    return onnx.helper.make_model(graph, opset_imports=sets, ir_version=10)


@pytest.mark.parametrize("optimize, options", [(0, {}), (2, {}), (2, {"mcpu": "x86-64-v3"})])
@pytest.mark.parametrize("dtype, zero", [(np.int8, 0), (np.uint8, 128)])
@pytest.mark.parametrize(
    "batch, hidden, direction, dims",
    [
        (1, 64, "bidirectional", "TBI"),
        (1, 20, "forward", "3BI"),
        (3, 64, "reverse", "T3I"),
        (6, 132, "forward", "TBI"),
        (2, 30, "forward", "TBI"),  # units that fill no group of bytes
    ],
)
def test_lstm(batch, hidden, direction, dims, dtype, zero, optimize, options):
    rng = np.random.default_rng(7)
    steps, size = 5 if dims[0] == "T" else 3, 12
    directions = 2 if direction == "bidirectional" else 1
    low = np.iinfo(dtype).min + 1

    def weights(*shape):
        return rng.integers(low, low + 255, shape).astype(dtype)

    values = {
        "w": weights(directions, size, 4 * hidden),
        "r": weights(directions, hidden, 4 * hidden),
        "b": rng.uniform(-0.1, 0.1, (directions, 8 * hidden)).astype(np.float32),
        "sw": rng.uniform(0.001, 0.01, (directions, 4 * hidden)).astype(np.float32),
        "sr": rng.uniform(0.001, 0.003, directions).astype(np.float32),
        "zw": np.full((directions, 4 * hidden), zero, dtype),
        "zr": np.full(directions, zero, dtype),
    }
    x = rng.uniform(-2, 3, (steps, batch, size)).astype(np.float32)
    first = rng.uniform(-1, 1, (directions, batch, hidden)).astype(np.float32)
    cell = rng.uniform(-1, 1, (directions, batch, hidden)).astype(np.float32)
    lengths = rng.integers(1, steps + 1, batch).astype(np.int32)
    if direction == "reverse":  # steps behind a row's length are the first ones
        first[:] = 0
    shape = [symbol if symbol in "TB" else int(symbol) if symbol.isdigit() else size for symbol in dims]
    rows = shape[1]
    inputs = [("x", x, shape), ("l", lengths, [rows]), ("h", first, [directions, rows, hidden]), ("c", cell, [directions, rows, hidden])]
    model = make_lstm(inputs, values, hidden, direction, ["x", "w", "r", "b", "l", "h", "c", "", "sw", "zw", "sr", "zr"])
    module = adze.compile(model, optimize=optimize, options=options)
    y, y_h, y_c = module(**{name: value for name, value, _ in inputs})
    for d in range(directions):
        expected = run_lstm(
            x,
            values["w"][d],
            values["r"][d],
            values["b"][d].astype(np.float64),
            lengths,
            first[d],
            cell[d],
            (values["sw"][d].astype(np.float64), np.float64(values["sr"][d])),
            (zero, zero),
            direction == "reverse" or d == 1,
        )
        for result, wanted in zip((y[:, d], y_h[d], y_c[d]), expected):
            np.testing.assert_allclose(result, wanted, atol=2e-6)


def test_lstm_keeps_bytes(tmp_path):
    """A module is at most as large as the weights of its layer, which are bytes."""
    rng, hidden, size = np.random.default_rng(3), 256, 256
    values = {
        "w": rng.integers(-127, 128, (1, size, 4 * hidden)).astype(np.int8),
        "r": rng.integers(-127, 128, (1, hidden, 4 * hidden)).astype(np.int8),
        "s": np.full(1, 0.01, np.float32),
        "z": np.zeros(1, np.int8),
    }
    x = rng.uniform(-1, 1, (4, 1, size)).astype(np.float32)
    model = make_lstm([("x", x, [4, 1, size])], values, hidden, "forward", ["x", "w", "r"] + [""] * 5 + ["s", "z", "s", "z"])
    path = tmp_path / "layer.so"
    adze.compile(model, output=path)
    stored = values["w"].nbytes + values["r"].nbytes
    assert path.stat().st_size < 1.1 * stored + 200_000


@pytest.mark.parametrize("optimize", [0, 2])
@pytest.mark.parametrize("rows", [1, 7])
def test_matmul(rows, optimize):
    rng, depth, columns = np.random.default_rng(rows), 64, 40
    b = rng.integers(-127, 128, (depth, columns)).astype(np.int8)
    scales = rng.uniform(0.001, 0.01, columns).astype(np.float32)
    bias = rng.uniform(-1, 1, columns).astype(np.float32)
    node = onnx.helper.make_node("DynamicQuantizeMatMul", ["a", "b", "s", "", "bias"], ["y"], domain=DOMAIN)
    graph = onnx.helper.make_graph(
        [node],
        "product",
        [onnx.helper.make_tensor_value_info("a", onnx.TensorProto.FLOAT, ["m", depth])],
        [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, ["m", columns])],
        [onnx.numpy_helper.from_array(value, name) for name, value in (("b", b), ("s", scales), ("bias", bias))],
    )
    sets = [onnx.helper.make_opsetid("", 21), onnx.helper.make_opsetid(DOMAIN, 1)]
    module = adze.compile(onnx.helper.make_model(graph, opset_imports=sets, ir_version=10), optimize=optimize)
    a = rng.uniform(-3, 2, (rows, depth)).astype(np.float32)
    steps, scale = quantize(a)
    expected = steps @ b.astype(np.float64) * (scale * scales) + bias
    np.testing.assert_allclose(module(a=a), expected, rtol=1e-5, atol=1e-5)
