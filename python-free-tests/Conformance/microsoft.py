# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Cases of the operators of com.microsoft, in each type that they take (set-up, of typecases.py).

ONNX has no cases of them and its reference implementation does not know them, so the expected outputs are computed
here, from what ONNX Runtime documents, in 64 bits. The numbers are such that no step rounds in the narrow types: softmax
is over scores that are equal or masked, what is normalised has deviation 1, 2 or 4.
"""
import math
import numpy as np
from onnx import TensorProto, helper

import coverage

DOMAIN = "com.microsoft"
FLOATS = {"float": TensorProto.FLOAT, "float16": TensorProto.FLOAT16, "bfloat16": TensorProto.BFLOAT16}
ALL_FLOATS = dict(FLOATS, double=TensorProto.DOUBLE)


def in_type(array, kind):
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


# Rows of mean 0 and deviation 1, 2 and 4; then a part of them, to be added to the rest.
ROWS = np.array([[[1.0, -1.0, 1.0, -1.0], [2.0, 2.0, -2.0, -2.0], [-4.0, 4.0, 4.0, -4.0]]])
SKIP = np.array([[[0.5, -2.0, 1.0, 0.0], [0.0, 4.0, -1.0, -2.0], [-4.0, 1.0, 2.0, 8.0]]])
SCALE, SHIFT, BIAS = np.array([1.0, 2.0, -1.0, 0.5]), np.array([0.5, 0.0, -2.0, 1.0]), np.array([1.0, 0.0, -0.5, 2.0])
X = np.array([[0.0, 1.0, -0.5, 2.0], [3.0, -8.0, 0.25, -1.5]])


def activations():
    """(operator, types, inputs, attributes, outputs); None stands for an input that is left out."""
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


def attentions():
    """The queries are 0: each key that a query sees counts as much as another one."""
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


def rotations():
    x = np.arange(-8.0, 8.0).reshape(1, 2, 2, 4)
    cosine, sine = np.array([[1, 0.5], [-0.5, 2]]), np.array([[0.5, 1], [1, -0.5]])
    c, s = cosine[[1, 0]][None, None], sine[[1, 0]][None, None]
    low, high = x[..., :2], x[..., 2:]
    yield ("RotaryEmbedding", FLOATS, [x, np.array([[1, 0]]), cosine, sine], {},
           [np.concatenate([low * c - high * s, low * s + high * c], -1)])


def make(name, kind, inputs, attributes, outputs, kinds=None):
    """A model of one node, its inputs and outputs; `kinds`: types of single inputs and of all outputs."""
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
    """(name, case) of each operator in each type."""
    number = 0
    for family in (activations, norms, products, attentions, rotations):
        for name, kinds, inputs, attributes, outputs in family():
            number += 1
            for text, kind in kinds.items():
                yield f"microsoft_{name.lower()}_{number}_{text}", make(name, kind, inputs, attributes, outputs)
    # The scale may be of another type, which the result has.
    for text, kind in ALL_FLOATS.items():
        for other, to in ALL_FLOATS.items():
            if kind == to or TensorProto.FLOAT in (kind, to):
                yield (f"microsoft_simplifiedlayernormalization_{text}_{other}",
                       make("SimplifiedLayerNormalization", kind, [ROWS, SCALE], dict(epsilon=0.0),
                            [scaled(ROWS) * SCALE], {1: to, "out": to}))
