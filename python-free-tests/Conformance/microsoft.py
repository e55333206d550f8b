# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Cases of the operators of com.microsoft, for each type that they accept (set-up, called by typecases.py).

ONNX has no cases of them, and its reference implementation lacks them. So the expected outputs are computed here in 64
bits, from the documentation of ONNX Runtime. The numbers are chosen such that no step rounds in narrow types: scores of a
softmax are equal or masked, normalised values have a deviation of 1, 2 or 4.
"""
import math
import numpy as np
from onnx import TensorProto, helper, parser

import coverage

DOMAIN = "com.microsoft"
FLOATS = {"float": TensorProto.FLOAT, "float16": TensorProto.FLOAT16, "bfloat16": TensorProto.BFLOAT16}
ALL_FLOATS = dict(FLOATS, double=TensorProto.DOUBLE)


def in_type(array, kind):
    if kind == TensorProto.STRING:
        return np.array([f"{v:g}" for v in array.flatten()], object).reshape(array.shape)
    wide = np.asarray(array, np.float64)
    return wide if kind == TensorProto.DOUBLE else wide.astype(np.float32).astype(helper.tensor_dtype_to_np_dtype(kind))


def i32(values):
    return np.array(values, np.int32)


def gelu(x):
    return np.vectorize(lambda v: v / 2 * (1 + math.erf(v / math.sqrt(2))))(x)


def tanh_gelu(x):
    return x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def normalized(x):
    return (x - x.mean(-1, keepdims=True)) / x.std(-1, keepdims=True)


def scaled(x):
    return x / np.sqrt((x**2).mean(-1, keepdims=True))


# Rows of mean 0 and deviation 1, 2 and 4, and a part of them to add to the rest.
ROWS = np.array([[[1.0, -1.0, 1.0, -1.0], [2.0, 2.0, -2.0, -2.0], [-4.0, 4.0, 4.0, -4.0]]])
SKIP = np.array([[[0.5, -2.0, 1.0, 0.0], [0.0, 4.0, -1.0, -2.0], [-4.0, 1.0, 2.0, 8.0]]])
SCALE, SHIFT, BIAS = np.array([1.0, 2.0, -1.0, 0.5]), np.array([0.5, 0.0, -2.0, 1.0]), np.array([1.0, 0.0, -0.5, 2.0])
X = np.array([[0.0, 1.0, -0.5, 2.0], [3.0, -8.0, 0.25, -1.5]])


def activations():
    """Returns (operator, types, inputs, attributes, outputs); None is an absent input."""
    yield "Gelu", ALL_FLOATS, [X], {}, [gelu(X)]
    yield "BiasGelu", ALL_FLOATS, [X, BIAS], {}, [gelu(X + BIAS)]
    yield "FastGelu", ALL_FLOATS, [X, BIAS], {}, [tanh_gelu(X + BIAS)]
    yield "QuickGelu", ALL_FLOATS, [X], dict(alpha=0.0), [X / 2]


def norms():
    rest = ROWS - SKIP - BIAS
    yield ("SkipLayerNormalization", FLOATS, [rest, SKIP, SCALE, SHIFT, BIAS], dict(epsilon=0.0),
           [normalized(ROWS) * SCALE + SHIFT, None, None, ROWS])
    yield ("SkipSimplifiedLayerNormalization", FLOATS, [rest, SKIP, SCALE, BIAS], dict(epsilon=0.0),
           [scaled(ROWS) * SCALE, None, None, ROWS])
    words, places = np.array([[8.0, 1.0, 0.0, 2.0], [0.0, 3.0, -1.0, 0.5]]), np.array([[1.0, 0.5, 2.0, -2.0], [0.0, 0.5, -4.0, 1.0]])
    parts = ROWS[:, :2] - words[[1, 0]] - places
    yield ("EmbedLayerNormalization", {k: FLOATS[k] for k in ("float", "float16")},
           [i32([[1, 0]]), i32([[0, 1]]), words, places, parts[0], SCALE, SHIFT, i32([[1, 1]])], dict(epsilon=0.0),
           [normalized(ROWS[:, :2]) * SCALE + SHIFT, i32([2]), ROWS[:, :2]])
    # GPT-2 has no segments.
    yield ("EmbedLayerNormalization", {k: FLOATS[k] for k in ("float", "float16")},
           [i32([[1, 0]]), None, words, ROWS[0, :2] - words[[1, 0]], None, SCALE, SHIFT], dict(epsilon=0.0),
           [normalized(ROWS[:, :2]) * SCALE + SHIFT])


def products_of_many_rows():
    """Each block of the depth has a greatest element of 127, so bytes represent all of its elements exactly."""
    row, depth, column = np.arange(33)[:, None], np.arange(64), np.arange(20)[:, None]
    x = np.where(depth % 32 == row % 32, 127.0, (row + depth) % 5 - 2.0)
    numbers, scales = (column * 5 + depth * 7) % 16, np.array([0.5, 0.25]) / 2.0 ** (column % 4)
    packed = (numbers[:, ::2] | numbers[:, 1::2] << 4).astype(np.uint8).reshape(20, 2, 16)
    zeros = (column * 3 + np.arange(2) * 5) % 16
    for level in (0, 4):
        size = dict(K=64, N=20, bits=4, block_size=32, accuracy_level=level)
        yield ("MatMulNBits", FLOATS, [x, packed, scales], size,
               [x @ ((numbers - 8) * np.repeat(scales, 32, 1)).T])
        yield ("MatMulNBits", FLOATS, [x, packed, scales, (zeros[:, :1] | zeros[:, 1:] << 4).astype(np.uint8)], size,
               [x @ ((numbers - np.repeat(zeros, 32, 1)) * np.repeat(scales, 32, 1)).T])


def products():
    a, b = np.array([[1.0, -2.0], [0.5, 3.0]]), np.array([[2.0, 1.0], [-1.0, 4.0]])
    yield "FusedMatMul", ALL_FLOATS, [a, b], dict(alpha=0.5, transA=1, transB=1), [a.T @ b.T / 2]
    x = np.arange(-8.0, 8.0).reshape(1, 16)
    numbers = np.arange(32).reshape(2, 16) * 7 % 16
    packed = (numbers[:, ::2] | numbers[:, 1::2] << 4).astype(np.uint8).reshape(2, 1, 8)
    scales = np.array([0.5, 0.25])
    size = dict(K=16, N=2, bits=4, block_size=16)
    yield "MatMulNBits", FLOATS, [x, packed, scales], size, [x @ ((numbers - 8) * scales[:, None]).T]
    for zeros in (np.array([3, 12], np.uint8), np.array([3.0, 12.0])):
        yield ("MatMulNBits", FLOATS, [x, packed, scales, zeros], size,
               [x @ ((numbers - np.array([[3], [12]])) * scales[:, None]).T])
    yield from products_of_many_rows()

    # The exact numbers of FP4; -1, 0 and 1 of NF4.
    for kind, table in ((0, {0: 0.0, 3: 1.0, 5: 0.5, 7: 0.25, 11: -1.0, 13: -0.5}), (1, {0: -1.0, 7: 0.0, 15: 1.0})):
        codes = np.array(list(table))[numbers % len(table)]
        packed = (codes[:, ::2] << 4 | codes[:, 1::2]).astype(np.uint8).reshape(-1)
        weights = np.vectorize(table.get)(codes) * scales[:, None]
        size = dict(K=16, N=2, block_size=16, quant_type=kind)
        yield "MatMulBnb4", FLOATS, [x, packed, scales], size, [x @ weights.T]
        yield "MatMulBnb4", FLOATS, [x[:, :2], packed, scales], dict(size, transB=0), [x[:, :2] @ weights]


def attentions():
    """The queries are 0, so all keys that a query sees have equal weights."""
    x = np.array([[[1.0, 2.0], [3.0, -1.0], [-2.0, 4.0]]])
    weights, shift = np.array([[0, 0, 1, 2, 0.5, -1], [0, 0, -1, 1, 2, 1.0]]), np.array([0, 0, 1, -2, 0.5, 1])
    product = x @ weights + shift
    k, v = product[..., 2:4], product[..., 4:]
    seen = np.array([[1, 0, 0], [0.5, 0.5, 0], [0.5, 0.5, 0]])  # causal, and key 2 is masked
    yield ("Attention", FLOATS, [x, weights, shift, i32([[1, 1, 0]])], dict(num_heads=1, unidirectional=1),
           [seen @ v, np.stack([k, v])[:, :, None]])
    yield ("MultiHeadAttention", FLOATS, [0 * x, k, v, None, i32([[1, 1, 0]])], dict(num_heads=1, unidirectional=1),
           [seen @ v, k[:, None], v[:, None]])
    # Two heads of queries for one of keys, of 8 elements; the query is at the last of four keys.
    past = np.tile(np.array([[[[2.0, 1.0], [-3.0, 0.5], [4.0, 0.0]]]]), 4)
    k, v = np.tile(k[:, :1], 4), np.tile(v[:, :1], 4)
    keys, values = np.concatenate([past / 2, k[:, None]], 2), np.concatenate([past, v[:, None]], 2)
    mean = values[0, 0].mean(0)
    yield ("GroupQueryAttention", FLOATS, [np.zeros((1, 1, 16)), k, v, past / 2, past, i32([3]), i32(4)],
           dict(num_heads=2, kv_num_heads=1), [np.concatenate([mean, mean])[None, None], keys, values])


def biases():
    """In the layout of T5: the table is [heads, buckets], here [2, 8]."""
    table = np.arange(16.0)
    distances = np.arange(30)[None] - np.arange(30)[:, None]
    for both in (0, 1):
        far, size = (np.abs(distances), 4) if both else (np.maximum(-distances, 0), 8)
        exact = size // 2
        grown = exact + np.floor(np.log(np.maximum(far, 1) / exact) / math.log(20 / exact) * (size - exact) + 1e-6)
        buckets = np.where(far < exact, far, np.minimum(grown, size - 1)).astype(int) + both * 4 * (distances > 0)
        yield ("RelativePositionBias", {k: FLOATS[k] for k in ("float", "float16")},
               [table.reshape(8, 2), np.array([30]), np.array([30])], dict(is_bidirectional=both, max_distance=20),
               [table.reshape(2, 8)[:, buckets][None]])


def rotations():
    x = np.arange(-8.0, 8.0).reshape(1, 2, 2, 4)
    cosine, sine = np.array([[1, 0.5], [-0.5, 2]]), np.array([[0.5, 1], [1, -0.5]])
    c, s = cosine[[1, 0]][None, None], sine[[1, 0]][None, None]
    low, high = x[..., :2], x[..., 2:]
    yield ("RotaryEmbedding", FLOATS, [x, np.array([[1, 0]]), cosine, sine], {},
           [np.concatenate([low * c - high * s, low * s + high * c], -1)])


COMMON = {k: ALL_FLOATS[k] for k in ("double", "float", "float16")}
BYTES = {"int8": TensorProto.INT8, "uint8": TensorProto.UINT8}
STORED = dict(BYTES, int16=TensorProto.INT16, uint16=TensorProto.UINT16, int4=TensorProto.INT4, uint4=TensorProto.UINT4)


def f32(values):
    return np.array(values, np.float32)


def fused():
    x, w = np.arange(-4.0, 5.0).reshape(1, 1, 3, 3), np.array([[[[1.0, 0.5], [-1.0, 2.0]]]])
    product = np.array([[sum(x[0, 0, i + p, j + q] * w[0, 0, p, q] for p in (0, 1) for q in (0, 1)) for j in (0, 1)] for i in (0, 1)])
    z = np.array([[[[1.0, -8.0], [0.0, 2.0]]]])
    yield "FusedConv", COMMON, [x, w, np.array([0.5]), z], dict(activation="Relu"), [np.maximum(product + 0.5 + z, 0)]
    yield ("FusedConv", COMMON, [x, w], dict(activation="Clip", activation_params=[-1.0, 1.0]), [np.clip(product, -1, 1)[None, None]])
    yield "FusedConv", COMMON, [x, w], dict(activation="HardSigmoid", activation_params=[0.25, 0.5]), [
        np.clip(product / 4 + 0.5, 0, 1)[None, None]]
    yield ("NhwcFusedConv", {k: FLOATS[k] for k in ("float", "float16")},
           [x.transpose(0, 2, 3, 1), w, np.array([0.5]), z.transpose(0, 2, 3, 1)], dict(activation="Relu"),
           [np.maximum(product + 0.5 + z, 0).transpose(0, 2, 3, 1)])
    yield ("NhwcConv", COMMON, [x.transpose(0, 2, 3, 1), w.transpose(0, 2, 3, 1), np.array([0.5])], {}, [product[None, :, :, None] + 0.5])
    a, b = np.array([[1.0, -2.0], [0.5, 3.0]]), np.array([[2.0, 1.0], [-1.0, 4.0]])
    gemm = a @ b.T / 2 + 1
    yield ("FusedGemm", COMMON, [a, b, np.array([1.0])], dict(activation="LeakyRelu", activation_alpha=0.5, alpha=0.5, transB=1),
           [np.where(gemm < 0, gemm / 2, gemm)])
    yield "BiasSoftmax", COMMON, [np.array([[[1.0, 2.0], [3.0, 0.5]]]), np.array([[[-1.0, -2.0]], [[-1.0, -2.0]]])[:1]], dict(
        axis=2, is_inner_broadcast=1), [np.array([[[0.5, 0.5], [1 / (1 + math.exp(-3.5)), 1 / (1 + math.exp(3.5))]]])]


def silu(x):
    return x / (1 + np.exp(-x))


def group_norms():
    """Two groups of two channels: (name, types of X, of the scale, inputs, attributes, outputs), channels last."""
    group = np.array([[[1.0, -1.0, 2.0, 2.0], [-1.0, 1.0, -2.0, -2.0]]]).reshape(1, 2, 1, 4)
    normal = np.array([[[1.0, -1.0, 1.0, 1.0], [-1.0, 1.0, -1.0, -1.0]]]).reshape(1, 2, 1, 4) * SCALE + SHIFT
    skip = np.array([[0.5, 4.0, -2.0, 1.0]])
    attributes = dict(groups=2, epsilon=0.0)
    for first in ("float", "float16"):
        for second in ("float", "float16"):
            kinds = FLOATS[first], FLOATS[second]
            yield "GroupNorm", kinds, [group, SCALE, SHIFT], dict(attributes, activation=0), [normal]
            yield "GroupNorm", kinds, [group, SCALE, SHIFT], dict(attributes, activation=1), [silu(normal)]
            front = group.transpose(0, 3, 1, 2)
            yield "GroupNorm", kinds, [front, SCALE, SHIFT], dict(attributes, activation=0, channels_last=0), [normal.transpose(0, 3, 1, 2)]
            yield ("SkipGroupNorm", kinds, [group - skip[:, None, None] - BIAS, SCALE, SHIFT, skip, BIAS], dict(attributes, activation=0),
                   [normal, group])


def quantised():
    a, b = np.array([[10.0, 20.0, 3.0]]), np.array([[4.0, 0.0, 30.0]])
    half, quarter, two = f32(0.5), f32(0.25), np.array(2.0)
    sums = (a - 2) * 0.5 + b * 0.25
    yield "QLinearAdd", BYTES, [a, half, two, b, quarter, None, half, np.array(1.0)], {}, [np.rint(sums / 0.5) + 1]
    yield "QLinearMul", BYTES, [a, half, two, b, quarter, None, half, np.array(1.0)], {}, [
        np.rint((a - 2) * 0.5 * b * 0.25 / 0.5) + 1]
    low = np.array([[0.0, 1.0, 2.0, 6.0]])
    yield "QLinearLeakyRelu", BYTES, [low, half, two, half, two], dict(alpha=0.5), [np.array([[1.0, 2.0, 2.0, 6.0]])]
    yield "QLinearSigmoid", BYTES, [low, half, two, f32(1 / 64), np.array(0.0)], {}, [np.rint(64 / (1 + np.exp(-(low - 2) / 2)))]
    yield "QLinearSoftmax", BYTES, [np.array([[5.0, 5.0], [9.0, 9.0]]), half, two, f32(1 / 64), two], dict(opset=13, axis=-1), [
        np.full((2, 2), 34.0)]
    yield "QLinearSoftmax", BYTES, [np.full((1, 2, 2), 5.0), half, two, f32(1 / 64), two], dict(opset=12, axis=1), [np.full((1, 2, 2), 18.0)]
    yield ("QLinearGlobalAveragePool", BYTES, [np.array([[[[2.0, 4.0], [6.0, 12.0]]]]), half, two, quarter, two], {},
           [np.array([[[[10.0]]]])])
    yield ("QLinearGlobalAveragePool", BYTES, [np.array([[[[2.0], [4.0]], [[6.0], [12.0]]]]), half, two, quarter, two],
           dict(channels_last=1), [np.array([[[[10.0]]]])])
    yield "QLinearConcat", BYTES, [half, two, a, half, two, b, f32(1.0), None], dict(axis=1), [np.concatenate([a, b * 2 + 2], 1)]
    # The range of the left operand is 0 to 255: its scale is 1.
    left, right = f32([[0, 255, 5]]), np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    yield ("DynamicQuantizeMatMul", BYTES, [left, right, f32([0.5, 2.0]), np.array([1.0, 2.0]), f32([1, 0])], {},
           [f32(left @ (right - [1, 2]) * [0.5, 2] + [1, 0])])


def windows():
    """Means and selections of bytes; a recurrent step whose cell is tanh(2) / 2."""
    half, quarter, two = f32(0.5), f32(0.25), np.array(2.0)
    x = np.array([[[[2.0, 4.0], [6.0, 12.0]]]])
    yield "QLinearAveragePool", BYTES, [x, half, two, quarter, two], dict(kernel_shape=[2, 2]), [np.array([[[[10.0]]]])]
    yield "QLinearReduceMean", BYTES, [x[0, 0].reshape(1, 4), half, two, quarter, two], dict(axes=[1], keepdims=1), [np.array([[10.0]])]
    yield ("QLinearWhere", BYTES, [np.array([[True, False, True]]), np.array([[10.0, 20.0, 3.0]]), half, two,
                                   np.array([[4.0, 0.0, 30.0]]), quarter, np.array(0.0), half, np.array(1.0)], {},
           [np.array([[9.0, 1.0, 2.0]])])
    weights = np.array([[[2.0, 2.0, 2.0, 4.0], [2.0, 2.0, 2.0, 3.0]]])
    cell = math.tanh(2.0) / 2
    hidden = math.tanh(cell) / 2
    yield ("DynamicQuantizeLSTM", BYTES, [f32([[[1.0, 2.0]]]), weights, np.full((1, 1, 4), 2.0), None, i32([1]), None, None, None,
                                          f32([0.5]), np.array([2.0]), f32([0.5]), np.array([2.0])], dict(hidden_size=1),
           [f32([[[[hidden]]]]), f32([[[hidden]]]), f32([[[cell]]])])


def typed():
    """Returns (name, kind, types of single inputs and of the output, inputs, attributes, outputs)."""
    bytes_, centred = np.array([[1.0, 2.0, 6.0]]), np.array([[-1.0, 0.0, 4.0]])
    right = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    for to in ("float", "float16"):
        for text in STORED:
            ends = {0: FLOATS[to], 1: FLOATS[to], "out": STORED[text]}
            yield "QuantizeLinear", STORED[text], ends, [centred * 0.5, np.array(0.5), np.array(2.0)], {}, [bytes_]
        for text, kind in dict(STORED, int32=TensorProto.INT32).items():
            ends = {1: FLOATS[to], "out": FLOATS[to]}
            yield "DequantizeLinear", kind, ends, [bytes_, np.array(0.5), np.array(2.0)], {}, [centred * 0.5]
        for first in BYTES.values():
            for second in BYTES.values():
                ends = {0: first, 4: first, 1: second, 5: second, "out": FLOATS[to]}
                yield ("MatMulIntegerToFloat", FLOATS[to], ends,
                       [bytes_, right, np.array(0.5), np.array([1.0, 2.0]), np.array(2.0), np.array([1.0, 2.0]), np.array([0.5, 1.0])], {},
                       [centred @ (right - [1, 2]) * [0.5, 1] + [0.5, 1]])
                # One position attends to itself: to its value.
                weight, shift = np.array([[1.0, 0, 2, 1, 4, 2], [0.0, 1, 1, 2, 2, 6]]), np.array([0.0, 1, 0, 2, 1, -1])
                ends = {0: first, 6: first, 1: second, 7: second}
                value = np.array([[[1.0, 2.0]]]) @ (weight[:, 4:] - 2) * 0.5 + shift[4:]
                yield ("QAttention", FLOATS[to], ends,
                       [np.array([[[4.0, 6.0]]]), weight, shift, np.array(0.5), np.array(0.5), i32([[1]]), np.array(2.0), np.array(2.0)],
                       dict(num_heads=1), [value])
    image, filters = np.array([[[[3.0, 5.0], [2.0, 4.0]]]]), np.array([[[[3.0]]], [[[1.0]]]])
    half, two = f32(0.5), np.array(2.0)
    for first in BYTES.values():
        for second in BYTES.values():
            for third in BYTES.values():
                ends = {0: first, 2: first, 3: second, 5: second, 7: third, "out": third}
                rest = [half, two, np.where(filters == 1, 1.0, 3.0), f32([1, 1]), np.array(2.0), half, np.array(3.0)]
                signed = np.concatenate([image - 2, 2 - image], 1) + 3
                yield "QLinearConv", first, ends, [image] + rest, {}, [signed]
                yield ("QLinearConv", first, ends, [image.transpose(0, 2, 3, 1)] + rest, dict(channels_last=1),
                       [signed.transpose(0, 2, 3, 1)])
    words, places = np.array([[8.0, 1.0, 0.0, 2.0], [0.0, 3.0, 9.0, 5.0]]), np.array([[1.0, 5.0, 2.0, 0.0], [0.0, 5.0, 4.0, 1.0]])
    parts = np.array([[3.0, 0.0, 1.0, 4.0]])
    rows = (words[[1, 0]] + places + parts - 6)[None] / 2
    scale, shift = np.array([4.0, 2.0, 6.0, 8.0]), np.array([2.0, 3.0, 4.0, 5.0])
    for kind in BYTES.values():
        yield ("QEmbedLayerNormalization", kind, {},
               [i32([[1, 0]]), i32([[0, 0]]), words, places, parts, scale, shift, i32([[1, 1]])] + [half] * 5 + [two] * 5, {},
               [f32(normalized(rows) * (scale - 2) / 2 + (shift - 2) / 2), i32([2])])
    for first in BYTES.values():
        for second in BYTES.values():
            ends = {3: second, 5: second}
            operands = [bytes_, f32(0.5), np.array(2.0), right, f32([1, 2]), np.array([1.0, 2.0]), i32([2, -4])]
            yield "QGemm", first, ends, operands, {}, [f32([[9, 12]])]
            for third in BYTES.values():
                yield ("QGemm", first, {**ends, 8: third, "out": third}, operands + [f32(0.5), np.array(2.0)], {},
                       [np.array([[20.0, 26.0]])])
    # Rows of two blocks; bytes have their own zero points, which are in the middle, and two numbers per byte, the low one
    # first.
    rows, scales, zeros = np.arange(64.0).reshape(2, 32) % 7, np.array([[0.5, 2.0], [1.0, 4.0]]), np.array([[1.0, 3.0], [2.0, 5.0]])

    def numbers(shift):
        return (rows - np.repeat(shift, 16, 1)) * np.repeat(scales, 16, 1)

    def packed(x):
        return (x[:, ::2] + 16 * x[:, 1::2]).astype(np.uint8)

    for text, kind in FLOATS.items():
        for index in (np.int32, np.int64):
            picks = np.array([1, 0], index)
            for stored in ("int4", "uint4", "uint8"):
                sizes = dict(block_size=16, bits=8 if stored == "uint8" else 4)
                yield ("GatherBlockQuantized", kind, {0: STORED[stored], 3: STORED[stored]}, [rows, picks, scales, zeros], sizes,
                       [numbers(zeros)[::-1]])
            bytes4 = dict(block_size=16, bits=4)
            yield "GatherBlockQuantized", kind, {}, [packed(rows), picks, scales, packed(zeros)], bytes4, [numbers(zeros)[::-1]]
            yield "GatherBlockQuantized", kind, {}, [packed(rows), picks, scales], bytes4, [numbers(0 * zeros + 8)[::-1]]


def sinks():
    """A head whose sink equals its only score, which therefore has half of the weight."""
    q, k, v = np.zeros((1, 1, 16)), np.tile(np.array([[[1.0, -2.0]]]), 4), np.tile(np.array([[[3.0, 0.5]]]), 4)
    past = np.tile(np.array([[[[2.0, 1.0], [-3.0, 0.5]]]]), 4)
    keys, values = np.concatenate([past / 2, k[:, None]], 2), np.concatenate([past, v[:, None]], 2)
    size = dict(num_heads=2, kv_num_heads=1)
    total = values[0, 0].sum(0)
    sink = np.array([0.0, math.log(5.0)])
    heads = np.concatenate([total / 4, total / 8])[None, None]
    rest = [None] * 4
    yield "GroupQueryAttention", FLOATS, [q, k, v, past / 2, past, i32([2]), i32(3)] + rest + [sink], size, [heads, keys, values]
    yield ("GroupQueryAttention", FLOATS, [q, k, v, past / 2, past, i32([2]), i32(3)], dict(size, smooth_softmax=1),
           [np.concatenate([total / 4] * 2)[None, None], keys, values])
    seen = values[0, 0, 1:].mean(0)
    yield ("GroupQueryAttention", FLOATS, [q, k, v, past / 2, past, i32([2]), i32(3)], dict(size, local_window_size=2),
           [np.concatenate([seen] * 2)[None, None], keys, values])


def experts():
    """Returns (name, kind, types of single inputs, inputs, attributes, outputs): two of three experts have half of the
    weight each."""
    x, router = np.array([[1.0, 2.0], [-2.0, 0.5]]), np.array([[1.0, -16.0, 1.0], [-16.0, 0.0, 0.0]])
    share = np.array([[0.5, 0, 0.5], [0, 0.5, 0.5]])
    w1 = np.array([[[1.0, 0.5], [-1.0, 1.0]], [[2.0, 1.0], [0.0, -1.0]], [[0.5, 0.5], [1.0, -1.0]]])
    w2, b1, b2 = w1[::-1] * 2, np.array([[1.0, 0.0], [0.0, 2.0], [-1.0, 0.5]]), np.array([[0.5, 0.0], [1.0, -1.0], [0.0, 2.0]])
    best = dict(k=2, normalize_routing_weights=1)

    def mixed(one, two, act):
        return sum(share[:, e, None] * (act(x @ one[e].T + b1[e]) @ two[e].T + b2[e]) for e in range(3))

    def gated(h):
        return np.clip(h[:, :1], None, 1) / 2 * (np.clip(h[:, 1:], -1, 1) + 1)

    w3 = w2[:, :, :1]
    swish = dict(best, activation_type="swiglu", activation_alpha=0.0, activation_beta=1.0, swiglu_limit=1.0)
    codes = np.arange(12).reshape(3, 2, 2) % 16
    packed = (codes[:, :, :1] | codes[:, :, 1:] << 4).astype(np.uint8)
    ones, rows = np.full((3, 2), 0.5), np.array([[1, 2], [3, 4], [5, 6]])
    zeros = (rows[:, :1] | rows[:, 1:] << 4).astype(np.uint8)
    wide = np.arange(3 * 2 * 16).reshape(3, 2, 16) * 7 % 16
    nibbles = (wide[:, :, ::2] | wide[:, :, 1::2] << 4).astype(np.uint8)
    back = np.arange(3 * 16 * 2).reshape(3, 16, 2) * 5 % 16
    halves, shift = np.full((3, 16), 0.5), np.zeros((3, 16))
    long, one = np.concatenate([x, np.zeros((2, 14))], 1), np.full((3, 2, 1), 0.5)
    for kind in FLOATS.values():
        yield "MoE", kind, {}, [x, router, w1, b1, w2, b2], dict(best, activation_type="relu"), [mixed(w1, w2, lambda h: np.maximum(h, 0))]
        yield "MoE", kind, {}, [x[None], router, w1, b1, w2, b2], dict(best, activation_type="identity"), [mixed(w1, w2, lambda h: h)[None]]
        for fusion in (1, 2):
            yield "MoE", kind, {}, [x, router, w1, b1, w3, b2], dict(swish, swiglu_fusion=fusion), [mixed(w1, w3, gated)]
        parts = [w1[:, :1], b1[:, :1], w3, b2, w1[:, 1:], b1[:, 1:]]
        yield "MoE", kind, {}, [x, router] + parts, swish, [mixed(w1, w3, gated)]
        for scale in FLOATS.values():
            ends, linear = {3: scale, 6: scale}, dict(best, activation_type="identity")
            yield ("QMoE", kind, ends, [x, router, packed, ones, b1, packed, ones, b2], linear,
                   [mixed((codes - 8) / 2, (codes - 8) / 2, lambda h: h)])
            centred = (codes - rows[:, :, None]) / 2
            yield ("QMoE", kind, ends, [x, router, packed, ones, b1, packed, ones, b2, None, None, None, zeros, zeros], linear,
                   [mixed(centred, centred, lambda h: h)])
            first = sum(share[:, e, None] * ((long @ ((wide[e] - 8) / 2).T + b1[e]) @ ((back[e] - 8) / 2).T) for e in range(3))
            packed_back = (back[:, :, :1] | back[:, :, 1:] << 4).astype(np.uint8)
            yield ("QMoE", kind, ends, [long, router, nibbles, one, b1, packed_back, halves, shift], linear, [first])


def stand_ins():
    """Operators that are equivalent to one or several operators of ai.onnx."""
    common = {k: ALL_FLOATS[k] for k in ("double", "float", "float16")}
    whole = dict(int32=TensorProto.INT32, int64=TensorProto.INT64)
    some = {k: ALL_FLOATS[k] for k in ("double", "float")}
    yield "BiasAdd", common, [X, BIAS, X[::-1]], {}, [X + BIAS + X[::-1]]
    left, right = np.split(X + BIAS, 2, axis=-1)
    yield "BiasSplitGelu", common, [X, BIAS], {}, [left * gelu(right)]
    yield ("ExpandDims", dict(common, **whole, **BYTES, bool=TensorProto.BOOL), [np.array([[1.0, 0.0], [0.0, 1.0]]), i32(1)], {},
           [np.array([[[1.0, 0.0]], [[0.0, 1.0]]])])
    a, b = np.array([[1.0, -2.0], [0.5, 3.0]]), np.array([[2.0, 1.0], [-1.0, 4.0]])
    yield "GemmFastGelu", FLOATS, [a, b, np.array([0.5, -1.0])], {}, [tanh_gelu(a @ b + [0.5, -1.0])]
    yield "CDist", some, [a, b[:1]], {}, [np.array([[10.0], [6.25]])]
    yield "CDist", some, [np.array([[3.0, 4.0]]), np.array([[0.0, 0.0], [3.0, 4.0]])], dict(metric="euclidean"), [np.array([[5.0, 0.0]])]
    for activation, y in (("Relu", np.maximum(a @ b, 0)), ("LeakyRelu", np.where(a @ b < 0, a @ b / 2, a @ b)), ("Tanh", np.tanh(a @ b))):
        yield "FusedMatMulActivation", ALL_FLOATS, [a, b], dict(activation=activation, activation_alpha=0.5), [y]
    for index in (np.int32, np.int64):
        kinds = dict(common, **whole, **BYTES, int16=TensorProto.INT16, bool=TensorProto.BOOL, string=TensorProto.STRING,
                     **{f"uint{n}": getattr(TensorProto, f"UINT{n}") for n in (16, 32, 64)})
        yield "GatherND", kinds, [np.array([[1.0, 0.0], [1.0, 1.0]]), np.array([[1, 0], [0, 1]], index)], {}, [np.array([1.0, 0.0])]
    grid = np.array([[[[0.0, 0.0], [-1.0, 1.0]]]])
    for mode, corner in (("bilinear", 3.0), ("nearest", 3.0)):
        yield ("GridSample", {"float": TensorProto.FLOAT}, [np.array([[[[1.0, 2.0, 2.0], [4.0, 5.0, 6.0], [3.0, 8.0, 9.0]]]]), grid],
               dict(mode=mode, align_corners=1), [np.array([[[[5.0, corner]]]])])
    yield "Inverse", common, [np.array([[[0.0, 2.0], [4.0, 0.0]], [[1.0, 1.0], [0.0, 0.5]]])], {}, [
        np.array([[[0.0, 0.25], [0.5, 0.0]], [[1.0, -2.0], [0.0, 2.0]]])]
    yield "MatMulInteger16", {"int16": TensorProto.INT16}, [np.array([[300.0, -2.0]]), np.array([[300.0], [4.0]])], {}, [i32([[89992]])]
    left, right = np.array([[10.0, 3.0]]), np.array([[4.0], [7.0]])
    yield "MulInteger", BYTES, [left, np.array(2.0), right, np.array(5.0)], {}, [i32((left - 2) * (right - 5))]
    yield "MulInteger", BYTES, [left, None, right, None], {}, [i32(left * right)]
    yield "ReduceSumInteger", BYTES, [np.full((2, 3), 100.0)], dict(axes=[1], keepdims=0), [i32([300, 300])]
    image = np.arange(16.0).reshape(1, 2, 4, 2) * 7 % 11
    yield "NhwcMaxPool", BYTES, [image], dict(kernel_shape=[2, 2], strides=[2, 2]), [image.reshape(1, 1, 2, 2, 2, 2).max(axis=(2, 4))]
    yield "Pad", common, [a, np.array([1, 0, 0, 2]), np.array([0.5])], {}, [np.pad(a, ((1, 0), (0, 2)), constant_values=0.5)]
    yield ("Range", dict(some, int16=TensorProto.INT16, **whole), [np.array(2.0), np.array(9.0), np.array(3.0)], {},
           [np.array([2.0, 5.0, 8.0])])
    yield "TransposeMatMul", common, [a, b], dict(alpha=0.5, transA=1, transB=1), [a.T @ b.T / 2]
    ones = np.ones((3, 3))
    yield "Trilu", dict(some, int64=TensorProto.INT64, bool=TensorProto.BOOL), [ones, np.array(1)], dict(upper=0), [np.tril(ones, 1)]
    yield ("Unique", {"float": TensorProto.FLOAT}, [np.array([3.0, 1.0, 3.0, 2.0])], {},
           [np.array([3.0, 1.0, 2.0]), np.array([0, 1, 0, 2]), np.array([2, 1, 1])])


def tokenizers():
    """Results of ONNX Runtime 1.32. An empty match consumes a character."""
    kinds = {"string": TensorProto.STRING}
    def text(*values):
        return np.array(values, object)
    for x, attributes, y in (
            (text("Hello World", "a  b c"), dict(separators=[" "]), text(["Hello", "World", "#"], ["a", "b", "c"])),
            (text(["a b", "c"], ["d e f", ""]), dict(separators=[" "], mark=1),
             text([["\x02", "a", "b", "\x03", "#"], ["\x02", "c", "\x03", "#", "#"]],
                  [["\x02", "d", "e", "f", "\x03"], ["\x02", "\x03", "#", "#", "#"]])),
            (text("ab,cd;;e"), dict(separators=[",", ";"], mincharnum=2), text(["ab", "cd"])),
            (text("aab aab"), dict(separators=["\\b"]), text(["ab", "ab"])),
            (text("abc", "d\u00e9"), dict(separators=[""]), text(["a", "b", "c"], ["d", "\u00e9", "#"])),
            (text("abc 12 d_e"), dict(tokenexp="[a-z]+"), text(["abc", "d", "e"])),
            (text("foobar xyz"), dict(tokenexp="foo|foobar"), text(["foobar"])),
            (text("abcdef"), dict(tokenexp="[a-c]{2}|[a-f]{4}", mincharnum=3), text(["abcd"])),
            (text("aba"), dict(tokenexp="."), text(["a", "b", "a"])),
            (text("1", ""), dict(tokenexp="[a-z]", mark=1), np.zeros((2, 0), object))):
        yield "Tokenizer", kinds, [x], dict(dict(mark=0, mincharnum=1, pad_value="#"), **attributes), [y]


# The next token is the best one of the last row. Scores are multiples of 1000, so all other tokens have probability 0. The
# state keeps the tokens and is not read.
CHAIN = """
decoder (int32[b, s] input_ids, int32[b, s] position_ids, int32[b, t] attention_mask, float[2, b, 1, p, 1] past_0)
    => (float[b, s, 5] logits, float[2, b, 1, q, 1] present_0)
<float[5, 5] table = {0, 0, 0, 1000, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1000, 0, 2000, 0, 1000, 0},
 int64[3] axes = {0, 2, 4}>
{
  logits = Gather(table, input_ids)
  number = Cast<to = 1>(input_ids)
  own = Unsqueeze(number, axes)
  both = Concat<axis = 0>(own, own)
  present_0 = Concat<axis = 3>(past_0, both)
}
"""


def searches():
    """Counts from 0 and 3 in steps of 3 and 4 to the end token, which is 1; ended sequences are padded with 2."""
    kinds = {"float": TensorProto.FLOAT}
    attributes = dict(decoder=parser.parse_graph(CHAIN), eos_token_id=1, pad_token_id=2)
    prompts, limit = i32([[0], [3]]), i32([4])
    yield "GreedySearch", kinds, [prompts, limit], attributes, [i32([[0, 3, 4, 2], [3, 4, 2, 2]])]
    yield "GreedySearch", kinds, [prompts, limit, i32([0]), np.array(1.0)], attributes, [i32([[0, 3, 4, 2], [3, 4, 2, 2]])]
    yield "GreedySearch", kinds, [prompts, limit, i32([3]), None, i32([1, 1, 1, 1, 0])], attributes, [i32([[0, 3, 0, 3], [3, 0, 3, 0]])]
    for custom in (0, 1):
        yield ("Sampling", kinds, [prompts, limit, i32([0]), np.array(1.0), None, None, None, None, i32([5])],
               dict(attributes, top_p=0.5, custom=custom, min_tokens_to_keep=1, temperature=0.5),
               [i32([[0, 3, 4, 2], [3, 4, 2, 2]])])
    inputs = [prompts, limit, i32([0]), i32([2]), i32([1]), np.array([1.0])]
    yield ("BeamSearch", kinds, inputs, dict(attributes, early_stopping=1),
           [i32([[[0, 3, 4, 2]], [[3, 4, 2, 2]]]), np.array([[0.0], [0.0]])])


def make(name, kind, inputs, attributes, outputs, kinds=None):
    """Returns a model of one node, its inputs and outputs; `kinds` are the types of single inputs and of all outputs."""
    def of(value, wanted):
        return in_type(value, wanted) if value.dtype == np.float64 else value
    arrays = [None if a is None else of(a, (kinds or {}).get(k, kind)) for k, a in enumerate(inputs)]
    results = [None if a is None else of(a, (kinds or {}).get("out", kind)) for a in outputs]
    model = coverage.node_model(DOMAIN, 1, name, [a for a in arrays if a is not None],
                                [(helper.np_dtype_to_tensor_dtype(a.dtype), a.ndim) for a in results if a is not None], attributes)
    node = model.graph.node[0]
    given, made = list(node.input), list(node.output)
    del node.input[:], node.output[:]
    node.input.extend("" if a is None else given.pop(0) for a in arrays)
    node.output.extend("" if a is None else made.pop(0) for a in results)
    return (model, [coverage.make_proto(a, v.name) for a, v in zip((a for a in arrays if a is not None), model.graph.input)],
            [coverage.make_proto(a, v.name) for a, v in zip((a for a in results if a is not None), model.graph.output)])


def cases():
    """Returns (name, case) of each operator for each type."""
    number = 0
    families = (activations, norms, products, attentions, biases, rotations, fused, quantised, windows, sinks, stand_ins, tokenizers,
                searches)
    for family in families:
        for name, kinds, inputs, attributes, outputs in family():
            number += 1
            for text, kind in kinds.items():
                yield f"microsoft_{name.lower()}_{number}_{text}", make(name, kind, inputs, attributes, outputs)
    for name, (first, second), inputs, attributes, outputs in group_norms():
        number += 1
        yield f"microsoft_{name.lower()}_{number}", make(name, first, inputs, attributes, outputs, {1: second, 2: second})
    for name, kind, kinds, inputs, attributes, outputs in experts():
        number += 1
        yield f"microsoft_{name.lower()}_{number}", make(name, kind, inputs, attributes, outputs, kinds)
    for name, kind, kinds, inputs, attributes, outputs in typed():
        number += 1
        yield f"microsoft_{name.lower()}_{number}", make(name, kind, inputs, attributes, outputs, kinds)
    # The scale may have another type, which is also that of the result.
    for text, kind in ALL_FLOATS.items():
        for other, to in ALL_FLOATS.items():
            if kind == to or TensorProto.FLOAT in (kind, to):
                yield (f"microsoft_simplifiedlayernormalization_{text}_{other}",
                       make("SimplifiedLayerNormalization", kind, [ROWS, SCALE], dict(epsilon=0.0),
                            [scaled(ROWS) * SCALE], {1: to, "out": to}))
