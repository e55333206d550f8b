# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Operators and operands of shapecases.py by family; models of several nodes are in shapetexts.py."""
import dataclasses
import numpy as np
from onnx import numpy_helper

import coverage

RANDOM = np.random.RandomState(7)
NOTHING, EIGHT = (3, 0, 2), (1, 2, 1, 2, 1, 3, 1, 2)
SHAPES = [(), NOTHING, (2, 1, 3, 1, 2), EIGHT]
PAIRS = [((), ()), ((), (2, 3)), ((1, ), (0, )), ((2, 1, 3), (0, 1)), (NOTHING, (3, 1, 2)), (EIGHT, (2, )),
         ((2, 1, 3, 1, 2, 1), (1, 2, 1, 2, 1, 3))]


class Fixed:
    """Returns an initialiser."""
    def __init__(self, values, dtype=np.int64):
        self.array = np.array(values, dtype)


@dataclasses.dataclass
class Case:
    op: str
    operands: list
    attributes: dict = dataclasses.field(default_factory=dict)
    outputs: int = 1
    expected: list = None
    domain: str = ""
    version: int = None  # the operator set of the operator


def f(*shape, low=-2.0, high=2.0):
    return np.asarray(RANDOM.uniform(low, high, shape), np.float32)


def i(*shape, low=0, high=5, dtype=np.int64):
    return np.asarray(RANDOM.randint(low, high, shape), dtype)


def flag(*shape):
    return np.asarray(RANDOM.uniform(0, 1, shape) > 0.5)


def words(*shape):
    return np.array([["ab", "c d", "", "e"][k % 4] for k in range(int(np.prod(shape)))], object).reshape(shape)


# ---- elementwise ---------------------------------------------------------------------------------------------------

UNARY = """Abs Asinh Atan Ceil Celu Cos Cosh Elu Erf Exp Floor Gelu HardSigmoid HardSwish Identity IsInf IsNaN LeakyRelu Mish
Neg Relu Round Selu Shrink Sigmoid Sign Sin Sinh Softplus Swish Tan Tanh ThresholdedRelu Dropout""".split()
LIMITED = {"Acos": (-1, 1), "Acosh": (1, 3), "Asin": (-1, 1), "Atanh": (-0.9, 0.9), "Log": (0.1, 3), "Reciprocal": (0.5, 2),
           "Sqrt": (0, 3)}
BINARY = """Add Sub Mul Div Equal Greater Less GreaterOrEqual LessOrEqual Max Min Sum""".split()


def elementwise():
    for shape in SHAPES:
        for name in UNARY:
            yield Case(name, [f(*shape)])
        x = f(*shape)
        yield Case("Softsign", [x], {}, 1, [x / (1 + np.abs(x))])
        for name, (low, high) in LIMITED.items():
            yield Case(name, [f(*shape, low=low, high=high)])
        yield Case("Not", [flag(*shape)])
        yield Case("BitwiseNot", [i(*shape, dtype=np.int32)])
        for kind in (7, 9, 10):
            yield Case("Cast", [f(*shape)], dict(to=kind))
        yield Case("CastLike", [f(*shape), i(2, dtype=np.int32)])
        yield Case("BitCast", [f(*shape)], dict(to=6))
        yield Case("Clip", [f(*shape), np.float32(-1), np.float32(1)])
        yield Case("Clip", [f(*shape), Fixed(-1, np.float32), None])
        yield Case("Where", [flag(*shape), f(), f(*shape)])
        yield Case("Shape", [f(*shape)])
        yield Case("Size", [f(*shape)])


def operands_of(name, one, two):
    if name in ("And", "Or", "Xor"):
        return [flag(*one), flag(*two)]
    if name == "Pow":
        return [f(*one, low=0.5), f(*two)]
    if name == "BitShift":
        return [i(*one, dtype=np.uint32), i(*two, dtype=np.uint32)]
    if name.startswith("Bitwise"):
        return [i(*one, dtype=np.int32), i(*two, dtype=np.int32)]
    if name == "Mod":
        return [i(*one, low=-9, high=9, dtype=np.int32), i(*two, low=1, dtype=np.int32)]
    return [f(*one), f(*two, low=0.5)]


def broadcast():
    for one, two in PAIRS:
        for name in BINARY + ["And", "Or", "Xor", "Pow", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Mod"]:
            yield Case(name, operands_of(name, one, two))
        yield Case("BitShift", operands_of("BitShift", one, two), dict(direction="LEFT"))
        yield Case("Where", [flag(*two), f(*one), f(*two)])
        yield Case("StringConcat", [words(*one), words(*two)])
    for one, two in PAIRS[:3] + PAIRS[4:6]:
        yield Case("PRelu", [f(*max(one, two, key=len)), f(*min(one, two, key=len))])
    for name in ("Max", "Min", "Sum"):
        yield Case(name, [f()])
        yield Case(name, [f(2, 1, 1, 1, 1, 2), f(), f(1, 3, 1)])
    for shapes in (((), ), *PAIRS, ((2, 1, 1, 1, 1, 2), (), (1, 3, 1))):
        x = [f(*s) for s in shapes]
        yield Case("Mean", x, {}, 1, [sum(x[1:], x[0]) / np.float32(len(x))])
    yield Case("Where", [flag(2, 1), f(0, 1, 1), f(3)])
    yield Case("Expand", [f(), Fixed([2, 3])])
    yield Case("Expand", [f(), Fixed([])])
    yield Case("Expand", [f(1, 3), Fixed([2, 0, 1, 3])])
    yield Case("Expand", [f(3, 1), np.array([0, 1, 2])])
    yield Case("Expand", [f(2, 1, 2), Fixed([1, 2, 1, 3, 1, 1, 3, 1])])
    yield Case("Expand", [f(0), Fixed([1])])


# ---- along axes ----------------------------------------------------------------------------------------------------

REDUCTIONS = "L1 L2 LogSum LogSumExp Max Mean Min Prod Sum SumSquare".split()


def reductions():
    for name in ["Reduce" + r for r in REDUCTIONS]:
        low = 0.5 if "Log" in name else -2
        x = f(low=low)
        known = [x] if name == "ReduceLogSumExp" else None
        yield Case(name, [x], {}, 1, known)
        yield Case(name, [x, None], dict(keepdims=0), 1, known)
        yield Case(name, [x, Fixed([])], dict(noop_with_empty_axes=1), 1, known)
        yield Case(name, [f(*NOTHING, low=low), Fixed([0, -1])], dict(keepdims=0))
        if name != "ReduceMean":  # of no element: NaN
            yield Case(name, [f(*NOTHING, low=low), Fixed([1])])
            yield Case(name, [f(0, low=low)], dict(keepdims=0))
        yield Case(name, [f(*EIGHT, low=low), Fixed([1, -1, 4])])
        yield Case(name, [f(2, 1, 3, 2, 2, 2, low=low), Fixed([5, 0, 2])], dict(keepdims=0))
        yield Case(name, [f(2, 1, 3, 2, 2, low=low), None])
    for name in ("ArgMax", "ArgMin"):
        for shape, axis in ((NOTHING, 0), (NOTHING, -1), (EIGHT, 5), ((2, 3, 1, 2, 4), -1), ((1, ), 0)):
            for keep in (0, 1):
                yield Case(name, [f(*shape)], dict(axis=axis, keepdims=keep))


def along():
    for shape, axis in ((NOTHING, 0), (NOTHING, 1), (NOTHING, -1), ((2, 3, 1, 2, 4), 1), (EIGHT, 5), (EIGHT, -1), ((1, ), 0)):
        for name in ("Softmax", "LogSoftmax", "Hardmax"):
            if shape != NOTHING or axis != 1 or name != "Hardmax":
                yield Case(name, [f(*shape)], dict(axis=axis))
        for name in ("CumSum", "CumProd"):
            yield Case(name, [f(*shape), Fixed(axis)], dict(reverse=int(axis > 0), exclusive=int(axis == 0)))
        if shape != NOTHING:
            x = f(*shape)
            yield Case("LpNormalization", [x], dict(axis=axis, p=1), 1, [x / np.abs(x).sum(axis, keepdims=True)])
            yield Case("LpNormalization", [x], dict(axis=axis, p=2))
            count = np.array([1])
            yield Case("TopK", [f(*shape), count], dict(axis=axis), 2)
        yield Case("TopK", [f(*shape), Fixed([0])], dict(axis=axis), 2,
                   [np.zeros([0 if a == axis % len(shape) else n for a, n in enumerate(shape)], kind)
                    for kind in (np.float32, np.int64)])
    yield Case("Unique", [f(2, 1, 2, 1, 2).round()], {}, 4)
    yield Case("Unique", [f(3, 1, 2, 1, 2).round()], dict(axis=0), 4)
    for shape in ((0, 3), (3, 0), (2, 3, 1, 2, 1, 2)):
        yield Case("NonZero", [f(*shape).round()])
    yield Case("NonZero", [np.zeros((2, 3), np.float32)])
    yield Case("Compress", [f(2, 1, 3, 1, 2), flag(3)], dict(axis=2))
    yield Case("Compress", [f(*EIGHT), np.array([True, False])], dict(axis=-1))
    yield Case("Compress", [f(2, 3), np.array([False, False])], dict(axis=0))
    yield Case("Compress", [f(0, 3), np.zeros(0, bool)], dict(axis=0))
    yield Case("Compress", [f(2, 0), np.zeros(0, bool)])
    for shape in ((0, 3), (3, 0), (2, 0, 3), EIGHT, (2, 1, 2, 3, 4)):
        yield Case("Trilu", [f(*shape)])
        yield Case("Trilu", [f(*shape), np.array(-1)], dict(upper=0))
    for batch, time in ((0, 3), (2, 3)):
        yield Case("ReverseSequence", [f(time, batch, 1, 2, 1, 2), np.array([2, 3][:batch], np.int64)])


# ---- movement ------------------------------------------------------------------------------------------------------

def reshapes():
    for shape, wanted in (((), [1]), ((), [-1]), ((), []), ((1, 1), []), ((0, 3), [0, 1, 3]), ((2, 3), [1] * 6 + [-1, 3]),
                          (EIGHT, [6, 0, -1]), (EIGHT, [24]), ((1, 1, 2, 1, 3), [0, 0, 0, 0, 0])):
        yield Case("Reshape", [f(*shape), Fixed(wanted)])
        yield Case("Reshape", [f(*shape), np.array(wanted, np.int64)])
    for shape, wanted in (((0, 3), [3, 0]), ((2, 0), [0]), ((0, ), [2, 0, 4]), (NOTHING, [1, 2, 3, 4, 5, 6, 0, 7])):
        yield Case("Reshape", [f(*shape), Fixed(wanted)], dict(allowzero=1))
        yield Case("Reshape", [f(*shape), np.array(wanted, np.int64)], dict(allowzero=1))
    for shape, axis in (((), 0), (NOTHING, 1), (NOTHING, 3), (EIGHT, 4), (EIGHT, -3), (EIGHT, 8), ((0, ), 1), ((2, 3, 1, 2, 2), 0)):
        x = f(*shape)
        yield Case("Flatten", [x], dict(axis=axis), 1, [x.reshape(int(np.prod(shape[:axis])), int(np.prod(shape[axis:])))])
    for shape, axes in (((1, ), [0]), ((1, 0, 1), [0, 2]), ((1, 0, 1), [-1]), (EIGHT, [0, 2, -4, 6]), ((1, ) * 8, list(range(8)))):
        yield Case("Squeeze", [f(*shape), Fixed(axes)])
        yield Case("Squeeze", [f(*shape)])
    for shape, axes in (((), [0]), ((), [1, 0]), ((), list(range(8))), ((0, ), [0, -1]), ((2, 0, 3), [1, 3, 5, 6]), ((2, ), [])):
        yield Case("Unsqueeze", [f(*shape), Fixed(axes)])
    for shape, perm in (((), None), (NOTHING, None), (NOTHING, [2, 0, 1]), (EIGHT, None), (EIGHT, [5, 1, 3, 7, 0, 2, 4, 6]),
                        ((2, 3, 2, 3, 2), [4, 1, 3, 0, 2]), ((2, 1, 3, 1, 2, 2), [5, 0, 4, 1, 3, 2])):
        yield Case("Transpose", [f(*shape)], {} if perm is None else dict(perm=perm))
    for shape in ((0, 4, 2, 2), (1, 4, 0, 2), (1, 4, 1, 1)):
        yield Case("DepthToSpace", [f(*shape)], dict(blocksize=2))
    for shape in ((0, 1, 4, 2), (1, 1, 0, 2), (1, 0, 2, 2)):
        yield Case("SpaceToDepth", [f(*shape)], dict(blocksize=2))


def pieces():
    for shapes, axis in ((((2, 0), (2, 3)), 1), (((0, 3), (0, 3)), 0), (((0, ), (2, ), (0, )), 0), ((EIGHT, EIGHT, EIGHT), 4),
                         (((2, 1, 3, 1, 2), (2, 1, 3, 2, 2)), -2), ((EIGHT, ), -1), (((2, 0, 3), (2, 0, 4)), 2)):
        yield Case("Concat", [f(*s) for s in shapes], dict(axis=axis))
    for shape, axis, parts in (((0, 4), 1, [1, 3]), ((4, 0), 0, [1, 3]), ((4, ), 0, [0, 4]), ((4, ), 0, [2, 0, 2]),
                               ((1, 2, 1, 2, 1, 4, 1, 2), 5, [1, 3]), ((2, 1, 1, 1, 3), -1, [1, 2]), ((0, ), 0, [0, 0])):
        yield Case("Split", [f(*shape), Fixed(parts)], dict(axis=axis), len(parts))
        yield Case("Split", [f(*shape), np.array(parts)], dict(axis=axis), len(parts))
    yield Case("Split", [f(0, 4)], dict(axis=1, num_outputs=2), 2)
    yield Case("Split", [f(*EIGHT)], dict(axis=5, num_outputs=2), 2)
    for shape, starts, ends, axes, steps in (
            ((4, ), [2], [2], [0], [1]), ((4, ), [3], [1], [0], [1]), ((0, 3), [0], [0], [0], [1]), ((0, 3), [-1], [-9], [0], [-1]),
            ((3, 4), [-1], [-9], [1], [-2]), (EIGHT, [1, -1, 0], [2, 2, 2], [1, -1, 5], [1, 1, 2]),
            ((2, 3, 1, 4, 2), [0, 3], [0, 0], [1, 3], [1, -1]), ((2, 3), [], [], [], [])):
        yield Case("Slice", [f(*shape), *(Fixed(v) for v in (starts, ends, axes, steps))])
        ends = [9 if end == shape[axis] else end for end, axis in zip(ends, axes)]
        yield Case("Slice", [f(*shape), *(np.array(v, np.int64) for v in (starts, ends, axes, steps))])
    for shape, repeats in (((), []), ((2, 3), [0, 2]), ((0, 3), [2, 1]), ((2, 1, 3, 1, 2), [1, 2, 1, 3, 1]), (EIGHT, [2, 1, 1, 1, 3, 1, 2, 1])):
        yield Case("Tile", [f(*shape), Fixed(repeats)])
        yield Case("Tile", [f(*shape), np.array(repeats, np.int64)])
    for shape, pads in (((), []), ((0, 2), [1, 0, 1, 0]), ((2, 0), [0, 2, 1, 0]), ((2, 3), [-1, 0, -1, 0]),
                        ((2, 1, 3, 1, 2), [0, 1, 0, 0, 2, 1, 0, -1, 2, 0])):
        for fixed in (True, False):
            x = f(*shape)
            padded = np.pad(x, np.maximum(np.array(pads, int).reshape(2, -1).T, 0), constant_values=0.5) if shape else x
            cut = tuple(slice(max(-low, 0), n - max(-high, 0)) for low, high, n in zip(pads, pads[len(shape):], padded.shape))
            yield Case("Pad", [x, Fixed(pads) if fixed else np.array(pads, np.int64), np.float32(0.5)], {}, 1, [padded[cut]])
    for mode in ("edge", "reflect", "wrap", "constant"):
        yield Case("Pad", [f(*EIGHT), Fixed([1, 1, 2, 1]), None, Fixed([5, -1])], dict(mode=mode))
        yield Case("Pad", [f(2, 0, 1, 3, 2, 3), Fixed([1, 2, 0, 2]), None, np.array([-1, 3])], dict(mode=mode))
    yield Case("CenterCropPad", [f(*EIGHT), Fixed([3, 1])], dict(axes=[3, 5]))
    yield Case("CenterCropPad", [f(0, 4, 3), Fixed([2, 5])], dict(axes=[1, 2]))
    yield Case("CenterCropPad", [f(2, 3), Fixed([0, 5])])
    yield Case("Col2Im", [f(0, 4, 4), Fixed([3, 3]), Fixed([2, 2])], {}, 1, [np.zeros((0, 1, 3, 3), np.float32)])


def indexed():
    for shape, indices, axis in (((3, ), (), 0), ((0, ), (0, ), 0), ((2, 3, 4), (0, ), 1), ((2, 3, 2), (2, 1, 1, 2, 1, 1), 1), (EIGHT, (), 5),
                                 (EIGHT, (1, ), -3), ((3, 0, 2), (4, ), 0), ((2, 0), (), 0), ((2, 1, 3, 1, 4), (2, 0, 3), -1)):
        yield Case("Gather", [f(*shape), i(*indices, high=2)], dict(axis=axis))
    for shape, indices, axis in (((2, 3), (0, 3), 0), ((2, 3), (2, 0), 1), ((0, 3), (0, 3), 0), (EIGHT, EIGHT, 5), (EIGHT, (1, 2, 1, 2, 1, 5, 1, 2), 5),
                                 ((2, 1, 3, 1, 2), (1, 1, 2, 1, 4), -1), ((4, ), (1, ), 0)):
        x, at = f(*shape), i(*indices, high=2)
        cut = x[tuple(slice(n) if a != axis % len(shape) else slice(None) for a, n in enumerate(indices))]
        yield Case("GatherElements", [x, at], dict(axis=axis), 1, [np.take_along_axis(cut, at, axis)])
    for shape, indices, batch in (((2, 3), (0, 2), 0), ((2, 3), (0, 1), 0), ((2, ), (1, ), 0), ((2, ) * 8, (3, 8), 0), ((2, ) * 8, (2, 1, 4), 0),
                                  ((2, 1, 3, 1, 2, 2), (2, 1, 3, 2), 2), ((2, 2, 0), (4, 1), 0)):
        yield Case("GatherND", [f(*shape), i(*indices, high=1)], dict(batch_dims=batch))
    for shape, indices, axis in (((2, 3), (0, 3), 0), ((2, 3), (2, 0), 1), ((0, 3), (0, 3), 1), (EIGHT, (1, 2, 1, 2, 1, 1, 1, 2), 5), ((2, 1, 3, 1, 2), (1, 1, 2, 1, 1), 2)):
        yield Case("ScatterElements", [f(*shape), i(*indices, high=2), f(*indices)], dict(axis=axis))
        for mode in ("add", "max"):
            yield Case("ScatterElements", [f(*shape), i(*indices, high=2), f(*indices)], dict(axis=axis, reduction=mode))
    for shape, indices, updates in (((2, 3), (0, 1), (0, 3)), ((2, 3), (1, 2), (1, )), ((2, 0), (2, 1), (2, 0)), ((2, ) * 8, (1, 8), (1, )),
                                    ((3, 1, 2, 1, 2), (1, 1, 1), (1, 1, 1, 2, 1, 2)), ((2, ), (1, ), ())):
        for mode in ("none", "mul", "min"):
            yield Case("ScatterND", [f(*shape), i(*indices, high=2), f(*updates)], dict(reduction=mode))
    yield Case("GatherND", [f(0, 2), i(0, 1)], dict(batch_dims=1), 1, [np.zeros(0, np.float32)])
    x = f(2, 3)
    yield Case("Scatter", [x, i(0, 3), f(0, 3)], {}, 1, [x], "", 10)
    for shape, axis in (((0, 3), 1), ((2, ), 0), ((1, 2, 1, 2, 1, 2, 1), 3), ((2, 1, 3, 1), -1)):
        yield Case("OneHot", [i(*shape), Fixed(4), f(2)], dict(axis=axis))
        yield Case("OneHot", [i(*shape), np.array(4), f(2)], dict(axis=axis))
    yield Case("TensorScatter", [f(0, 2, 4, 3), f(0, 2, 1, 3), np.zeros(0, np.int64)])
    yield Case("TensorScatter", [f(2, 2, 4, 3), f(2, 2, 0, 3), np.array([1, 0])])
    yield Case("TensorScatter", [f(2, 1, 2, 4, 1, 3), f(2, 1, 2, 2, 1, 3), np.array([1, 0])], dict(axis=3))


def generated():
    for start, limit, delta in ((0, 0, 1), (3, 1, 1), (5, -1, -2), (2, 3, 1)):
        yield Case("Range", [np.array(v, np.int64) for v in (start, limit, delta)])
        yield Case("Range", [Fixed(v) for v in (start, limit, delta)])
    for shape in ([], [0], [2, 0, 3], [1, 2, 1, 2, 1, 2, 1, 2]):
        yield Case("ConstantOfShape", [Fixed(shape)])
        yield Case("ConstantOfShape", [np.array(shape, np.int64)])
        yield Case("Constant", [], dict(value=numpy_helper.from_array(f(*shape))))
    for shape in ((0, 3), (3, 0), (0, 0), (1, 1)):
        yield Case("EyeLike", [f(*shape)], dict(k=1))
    for shape, start, end in (((), 0, 0), ((0, ), 0, 1), (EIGHT, 2, -1), (EIGHT, 5, 2), (EIGHT, -9, 20), (NOTHING, 1, 3)):
        yield Case("Shape", [f(*shape)], dict(start=start, end=end))
    for name in ("HannWindow", "HammingWindow", "BlackmanWindow"):
        yield Case(name, [np.array(5)], dict(periodic=1))
    yield Case("MelWeightMatrix", [Fixed(3), Fixed(16), Fixed(8000), Fixed(0.0, np.float32), Fixed(4000.0, np.float32)])


# ---- products ------------------------------------------------------------------------------------------------------

def products():
    for one, two in (((0, 3), (3, 2)), ((2, 0), (0, 3)), ((2, 3), (3, 0)), ((3, ), (3, )), ((0, ), (0, )), ((3, ), (2, 1, 2, 1, 3, 2)),
                     ((2, 1, 2, 1, 2, 3), (3, )), ((1, 2, 1, 2, 1, 2, 2, 3), (2, 1, 1, 3, 1, 3, 2)), ((0, 2, 3), (1, 3, 2)), ((2, 1, 1, 2, 3), (3, 4)),
                     ((1, 2, 1, 2, 1, 2, 2, 0), (0, 3))):
        yield Case("MatMul", [f(*one), f(*two)])
        if len(one) > 1 and len(two) > 1:
            yield Case("MatMulInteger", [i(*one, dtype=np.uint8), i(*two, dtype=np.uint8), np.uint8(1), np.uint8(2)])
    for m, k, n, bias in ((0, 3, 2, (2, )), (2, 0, 3, (2, 1)), (2, 3, 0, (1, )), (2, 3, 4, ()), (2, 0, 3, None), (1, 1, 1, (1, 1)), (0, 0, 0, ())):
        yield Case("Gemm", [f(m, k), f(k, n), None if bias is None else f(*bias)], dict(alpha=0.5, beta=2.0))
        yield Case("Gemm", [f(k, m), f(n, k), f(m, n)], dict(transA=1, transB=1))
    for equation, shapes in (("i,i->", ((0, ), (0, ))), ("ij->", (EIGHT[:0] + (2, 0), )), ("...ij,...jk->...ik", ((1, 2, 1, 2, 1, 2, 2, 3), (2, 1, 1, 1, 3, 1, 3, 2))), (",->", ((), ())),
                             ("ij,jk->ik", ((2, 0), (0, 3))), ("bij,bjk->bik", ((0, 2, 3), (0, 3, 2))), ("abcdefgh->hgfedcba", (EIGHT, )), ("...ii->...i", ((2, 1, 2, 1, 3, 3), )),
                             ("i,->i", ((3, ), ())), ("ab,cd->abcd", ((2, 0), (1, 2)))):
        yield Case("Einsum", [f(*s) for s in shapes], dict(equation=equation))
    for shape in ((0, 2, 2), (2, 1, 1, 2, 3, 3), (1, 1), (1, 2, 1, 1, 2, 1, 2, 2)):
        yield Case("Det", [f(*shape)])
    one, zero = np.float32(0.47), np.uint8(1)  # no result is a tie of two numbers
    for a, b in (((0, 3), (3, 2)), ((2, 1, 2, 1, 2, 3), (3, 2)), ((2, 0), (0, 3))):
        yield Case("QLinearMatMul", [i(*a, dtype=np.uint8), one, zero, i(*b, dtype=np.uint8), one, zero, one, zero])


def nets():
    for x, w, extra in (((0, 2, 4, 4), (3, 2, 3, 3), {}), ((0, 2, 4), (2, 1, 3), dict(group=2)), ((1, 2, 3, 3, 3), (2, 2, 2, 2, 2), {}),
                        ((1, 1, 3, 2, 2, 3), (2, 1, 2, 1, 2, 2), {}), ((2, 1, 1), (1, 1, 1), {}), ((1, 2, 3, 3, 3), (2, 1, 2, 2, 2), dict(group=2, strides=[2, 1, 1]))):
        yield Case("Conv", [f(*x), f(*w), f(w[0])], extra)
        yield Case("ConvInteger", [i(*x, dtype=np.uint8), i(*w, dtype=np.uint8)], extra)
    for x, w in (((0, 2, 3, 3), (2, 1, 2, 2)), ((0, 2, 3), (2, 3, 2)), ((1, 2, 2, 2, 2), (2, 1, 2, 2, 2)), ((2, 1, 1), (1, 1, 1))):
        yield Case("ConvTranspose", [f(*x), f(*w)], {}, 1,
                   [np.zeros((0, w[1], *(n + k - 1 for n, k in zip(x[2:], w[2:]))), np.float32)] if x[0] == 0 else None)
    one, zero = np.float32(0.47), np.uint8(1)
    for x, w in (((0, 2, 4, 4), (3, 2, 3, 3)), ((1, 2, 3, 3, 3), (2, 2, 2, 2, 2))):
        yield Case("QLinearConv", [i(*x, dtype=np.uint8), one, zero, i(*w, dtype=np.uint8), one, zero, one, zero])
    yield Case("DeformConv", [f(0, 1, 3, 3), f(1, 1, 2, 2), f(0, 8, 2, 2)], dict(kernel_shape=[2, 2]), 1, [np.zeros((0, 1, 2, 2), np.float32)])
    yield Case("CausalConvWithState", [f(0, 2, 4), f(2, 1, 3), None, f(0, 2, 2)], {}, 2)
    for shape, kernel in (((0, 2, 4, 4), [2, 2]), ((0, 2, 4), [3]), ((2, 0, 4, 4), [2, 2]), ((1, 2, 3, 4, 3), [2, 2, 2]), ((1, 2, 2, 3, 2, 3), [1, 2, 2, 2])):
        for name in ("AveragePool", "LpPool", "MaxPool"):
            yield Case(name, [f(*shape)], dict(kernel_shape=kernel), 1,
                       [np.zeros([*shape[:2], *(n - k + 1 for n, k in zip(shape[2:], kernel))], np.float32)] if 0 in shape else None)
    yield Case("MaxPool", [f(0, 2, 4)], dict(kernel_shape=[3]), 2, [np.zeros((0, 2, 2), np.float32), np.zeros((0, 2, 2), np.int64)])
    for shape in ((0, 2, 3, 3), (2, 0, 3), (2, 3, 1, 2, 2, 1, 3, 2), (2, 3, 1), (1, 2, 2, 2, 2)):
        axes = tuple(range(2, len(shape)))
        x = f(*shape)
        yield Case("GlobalAveragePool", [x], {}, 1, [x.mean(axes, keepdims=True)])
        yield Case("GlobalMaxPool", [x], {}, 1, [x.max(axes, keepdims=True)])
        yield Case("GlobalLpPool", [x], dict(p=1), 1, [np.abs(x).sum(axes, keepdims=True)])
    yield Case("MaxUnpool", [f(0, 1, 2, 2), i(0, 1, 2, 2)], dict(kernel_shape=[2, 2], strides=[2, 2]), 1, [np.zeros((0, 1, 4, 4), np.float32)])
    yield Case("MaxRoiPool", [f(1, 2, 4, 4), f(0, 5)], dict(pooled_shape=[2, 2]), 1, [np.zeros((0, 2, 2, 2), np.float32)])
    yield Case("RoiAlign", [f(1, 2, 4, 4), f(0, 4), i(0)], dict(output_height=2, output_width=2), 1, [np.zeros((0, 2, 2, 2), np.float32)])
    yield from images()


def images():
    nothing = np.zeros(0, np.float32)
    for shape, scales in (((0, 1, 2, 2), [1, 1, 2, 2]), ((1, 1, 2, 1, 2), [1, 1, 2, 1, 2]), ((1, 1, 2, 1, 2, 1, 1, 2), [1, 2, 1, 1, 1, 3, 1, 2]), ((2, ), [2])):
        yield Case("Resize", [f(*shape), None, Fixed(scales, np.float32)], dict(mode="nearest"))
        yield Case("Resize", [f(*shape), None, None, np.array([int(s * n) for s, n in zip(scales, shape)])], dict(mode="linear"))
    yield Case("Upsample", [f(0, 1, 2, 2), Fixed([1, 1, 2, 2], np.float32)], {}, 1, [np.zeros((0, 1, 4, 4), np.float32)], "", 9)
    for x, grid in (((0, 1, 3, 3), (0, 2, 2, 2)), ((1, 1, 3, 3), (1, 0, 2, 2)), ((1, 0, 3, 3), (1, 2, 2, 2)), ((0, 1, 2, 3, 3), (0, 1, 2, 2, 3))):
        yield Case("GridSample", [f(*x), f(*grid, low=-1, high=1)], {}, 1, [np.zeros([*x[:2], *grid[1:-1]], np.float32)])
    yield Case("AffineGrid", [f(0, 2, 3), Fixed([0, 1, 2, 3])], {}, 1, [np.zeros((0, 2, 3, 2), np.float32)])
    yield Case("AffineGrid", [f(1, 3, 4), Fixed([1, 1, 2, 1, 2])])
    for boxes, classes in ((0, 1), (3, 1)):
        yield Case("NonMaxSuppression", [f(1, boxes, 4), f(1, classes, boxes), Fixed([0]), Fixed([0.5], np.float32)], {}, 1, [np.zeros((0, 3), np.int64)])
    yield Case("NonMaxSuppression", [f(0, 3, 4), f(0, 2, 3), np.array(2)], {}, 1, [np.zeros((0, 3), np.int64)])
    for shape, axis in (((0, 4, 1), 1), ((1, 2, 1, 2, 1, 4, 1), 5), ((2, 1, 4, 1, 2), -3), ((1, 2, 1, 2, 1, 2, 3, 2), 6)):
        yield Case("DFT", [f(*shape), None, Fixed(axis)])
    yield Case("STFT", [f(0, 6, 1), Fixed(2), None, Fixed(4)], {}, 1, [np.zeros((0, 2, 3, 2), np.float32)])


# ---- normalisations and attention ----------------------------------------------------------------------------------

def normal():
    for shape in ((0, 3), (2, 3), (2, 0, 4), (0, 2, 1, 2, 3), (2, 3, 1, 2, 1, 2, 1, 2)):
        yield Case("BatchNormalization", [f(*shape), f(shape[1]), f(shape[1]), f(shape[1]), f(shape[1], low=0.5)])
    for shape in ((0, 3, 4), (2, 2, 1, 3, 1, 2), (2, 1, 2, 2, 1, 2, 1, 2)):
        x, scale, bias = f(*shape), f(shape[1]), f(shape[1])
        axes, per = tuple(range(2, len(shape))), (-1, ) + (1, ) * (len(shape) - 2)
        spread = np.sqrt(x.var(axes, keepdims=True) + np.float32(1e-5))
        yield Case("InstanceNormalization", [x, scale, bias], {}, 1,
                   [(x - x.mean(axes, keepdims=True)) / spread * scale.reshape(per) + bias.reshape(per)])
    for shape in ((0, 4, 3), (2, 4, 1, 2, 1, 3)):
        yield Case("GroupNormalization", [f(*shape), f(4), f(4)], dict(num_groups=2), 1, [np.zeros(shape, np.float32)] if 0 in shape else None)
    for shape, axis in (((0, 3), -1), ((2, 0, 3), 2), (EIGHT, 5), (EIGHT, -1), ((2, 1, 2, 3, 4), 0), ((3, ), 0)):
        yield Case("LayerNormalization", [f(*shape), f(*shape[axis:]), f(*shape[axis:])], dict(axis=axis), 3 if 0 not in shape else 1)
        yield Case("RMSNormalization", [f(*shape), f(*shape[axis:])], dict(axis=axis))
        yield Case("LayerNormalization", [f(*shape), f(1)], dict(axis=axis))
    for shape in ((0, 3, 2, 2), (2, 3, 1, 2, 2), (1, 4, 1, 2, 1, 2, 1, 2), (2, 3)):
        x = f(*shape)
        around = np.stack([(x[:, max(c - 1, 0):c + 2]**2).sum(1) for c in range(shape[1])], 1)
        yield Case("LRN", [x], dict(size=3, alpha=0.3), 1, [x / (1 + np.float32(0.1) * around)**np.float32(0.75)])
    yield Case("MeanVarianceNormalization", [f(2, 3, 1, 2, 2)], dict(axes=[0, 2, 3, 4]))
    yield Case("MeanVarianceNormalization", [f(*EIGHT)], dict(axes=[1, 3, 5]))
    for q, k, v in (((0, 2, 3, 4), (0, 2, 5, 4), (0, 2, 5, 4)), ((2, 2, 0, 4), (2, 2, 5, 4), (2, 2, 5, 4)), ((2, 2, 3, 4), (2, 2, 5, 4), (2, 2, 5, 0)),
                    ((1, 1, 1, 1), (1, 1, 1, 1), (1, 1, 1, 1))):
        yield Case("Attention", [f(*q), f(*k), f(*v)])
    yield Case("Attention", [f(1, 2, 2, 4), f(1, 2, 2, 4), f(1, 2, 2, 4), None, f(1, 2, 0, 4), f(1, 2, 0, 4)], dict(is_causal=1), 3)
    yield Case("LinearAttention", [f(1, 1, 1), f(1, 1, 1), f(1, 1, 1)], dict(q_num_heads=1, kv_num_heads=1, update_rule="linear"), 2)
    yield Case("RotaryEmbedding", [f(0, 2, 3, 4), f(0, 3, 2), f(0, 3, 2)])
    yield Case("FlexAttention", [f(0, 2, 3, 4), f(0, 2, 5, 4), f(0, 2, 5, 4)], {}, 1, [np.zeros((0, 2, 3, 4), np.float32)], "ai.onnx.preview")
    for shape in (NOTHING, EIGHT):
        one, two = f(*shape), f(*shape)
        yield Case("SwiGLU", [one, two], {}, 1, [one / (1 + np.exp(-one)) * two])
    for name, gates in (("RNN", 1), ("GRU", 3), ("LSTM", 4)):
        yield Case(name, [f(3, 0, 2), f(1, gates * 4, 2), f(1, gates * 4, 4)], dict(hidden_size=4), 2,
                   [np.zeros((3, 1, 0, 4), np.float32), np.zeros((1, 0, 4), np.float32)])
        yield Case(name, [f(1, 1, 1), f(1, gates, 1), f(1, gates, 1)], dict(hidden_size=1), 2)


def adam(r, t, x, g, v, h):
    one = np.float32(1)
    gradient = np.float32(0.01) * x + g
    v = np.float32(0.9) * v + np.float32(0.1) * gradient
    h = np.float32(0.99) * h + np.float32(0.01) * gradient * gradient
    rate = r * np.sqrt(one - np.float32(0.99)**np.float32(t)) / (one - np.float32(0.9)**np.float32(t))
    return [x - rate * v / (np.sqrt(h) + np.float32(1e-5)), v, h]


def losses():
    for name in ("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"):
        for shape in ((0, 3), (2, 3, 0), (2, 3, 1, 2, 1, 2), (1, 2, 2, 1, 2, 1, 1, 2)):
            target = i(shape[0], *shape[2:], high=2)
            empty = shape[0] == 0
            yield Case(name, [f(*shape), target], dict(reduction="none"), 1, [np.zeros(target.shape, np.float32)] if empty else None)
            yield Case(name, [f(*shape), target, f(shape[1], low=0.5)], dict(reduction="sum"), 1, [np.zeros((), np.float32)] if empty else None)
    for shape in ((), (0, 2), EIGHT):
        x = [np.float32(0.1), np.array(3), *(f(*shape, low=0.5) for _ in range(4))]
        domain = "ai.onnx.preview.training"
        yield Case("Adagrad", x[:5], dict(epsilon=1e-5, decay_factor=0.1, norm_coefficient=0.01), 2, None, domain)
        yield Case("Adam", x, dict(epsilon=1e-5, alpha=0.9, beta=0.99, norm_coefficient=0.01), 3, adam(*x), domain)
        yield Case("Momentum", x[:5], dict(alpha=0.9, beta=1.0, mode="standard", norm_coefficient=0.01), 2, None, domain)


def quantised():
    one, zero = np.float32(0.25), np.int8(3)
    for shape in SHAPES:
        yield Case("QuantizeLinear", [f(*shape), one, zero])
        yield Case("DequantizeLinear", [i(*shape, dtype=np.int8), one, zero])
    for shape, axis in ((NOTHING, 1), (NOTHING, 0), (EIGHT, 5), ((2, 1, 3, 1, 4), -1)):
        n = shape[axis]
        yield Case("QuantizeLinear", [f(*shape), f(n, low=0.1), i(n, dtype=np.int8)], dict(axis=axis))
        yield Case("DequantizeLinear", [i(*shape, dtype=np.int8), f(n, low=0.1), i(n, dtype=np.int8)], dict(axis=axis))
    yield Case("DequantizeLinear", [i(2, 1, 2, 1, 4, dtype=np.int8), f(2, 1, 2, 1, 2, low=0.1)], dict(axis=4, block_size=2))
    yield Case("DequantizeLinear", [i(0, 4, dtype=np.int8), f(0, 2, low=0.1)], dict(axis=1, block_size=2))
    for shape in ((), (1, ), EIGHT):
        yield Case("DynamicQuantizeLinear", [f(*shape)], {}, 3)


# ---- what is no tensor of numbers ----------------------------------------------------------------------------------

def texts_of():
    for shape in SHAPES:
        yield Case("RegexFullMatch", [words(*shape)], dict(pattern="[a-c]+"))
        yield Case("StringConcat", [words(*shape), words()])
        yield Case("Identity", [words(*shape)])
    for shape in ((0, ), (2, 1, 1)):
        yield Case("StringSplit", [words(*shape)], dict(delimiter=" "), 2)
    yield Case("StringSplit", [np.array("a b", object)], dict(delimiter=" "), 2, [np.array(["a", "b"], object), np.array(2)])
    yield Case("StringNormalizer", [np.array(["a", "b"], object)], dict(stopwords=["a", "b"]))
    for shape in ((0, ), (0, 3)):
        yield Case("TfIdfVectorizer", [i(*shape)], dict(mode="TF", min_gram_length=1, max_gram_length=1, max_skip_count=0, ngram_counts=[0],
                                                         ngram_indexes=[0, 1], pool_int64s=[1, 2]), 1, [np.zeros((*shape[:-1], 2), np.float32)])


def learned():
    ml = "ai.onnx.ml"
    for shape in SHAPES:
        yield Case("Binarizer", [f(*shape)], dict(threshold=0.5), domain=ml)
        yield Case("LabelEncoder", [i(*shape)], dict(keys_int64s=[1, 2], values_floats=[0.5, 1.5], default_float=-1.0), domain=ml)
        if len(shape) < 8:
            x = i(*shape)
            yield Case("OneHotEncoder", [x], dict(cats_int64s=[1, 3]), 1, [(x[..., None] == np.array([1, 3])).astype(np.float32)], ml)
    for rows in (0, 1):
        yield Case("Scaler", [f(rows, 3)], dict(offset=[0.5, -1.0, 2.0], scale=[2.0, 0.5, 1.0]), domain=ml)
        yield Case("Normalizer", [f(rows, 3)], dict(norm="L1"), 1, None if rows else [np.zeros((0, 3), np.float32)], ml)
        yield Case("Imputer", [f(rows, 3)], dict(imputed_value_floats=[0.5], replaced_value_float=1.0), domain=ml)
        yield Case("LinearRegressor", [f(rows, 3)], dict(targets=1, coefficients=[0.5, -1.0, 0.25], intercepts=[0.5]), domain=ml)
        yield Case("FeatureVectorizer", [f(rows, 3), f(rows, 1)], dict(inputdimensions=[3, 1]), domain=ml)
        keys = np.array([[7, 1, 9]])[:rows]
        yield Case("CategoryMapper", [keys], dict(cats_strings=["a", "b"], cats_int64s=[1, 7], default_string="none"), 1,
                   [np.array([["b", "a", "none"]], object)[:rows]], ml)
        yield Case("ArrayFeatureExtractor", [f(rows, 3), Fixed([0, 2])], {}, 1, [np.zeros((0, 2), np.float32)] if rows == 0 else None, domain=ml)
    left = ("LinearClassifier", "SVMClassifier", "SVMRegressor", "TreeEnsembleClassifier", "TreeEnsembleRegressor")
    for domain, name, _, operands, outputs, attributes in coverage.WRITTEN:
        for rows in (0, 1) if domain == ml and name in left else ():
            empty = [np.zeros((0, 3)[:rank], np.int64 if kind == coverage.I64 else np.float32) for kind, rank in outputs]
            if rows == 0 and name.endswith("Regressor"):
                empty = [np.zeros((0, attributes.get("n_targets", 1)), np.float32)]
            if rows == 0 and name == "SVMClassifier":
                empty[1] = np.zeros((0, 2), np.float32)
            yield Case(name, [operands[0][:rows]], attributes, len(outputs), empty if rows == 0 else None, ml, 3 if "Tree" in name else None)


def contributed():
    ms = "com.microsoft"
    for shape in (NOTHING, EIGHT):
        x, bias = f(*shape), f(shape[-1])
        yield Case("QuickGelu", [x], {}, 1, [x / (1 + np.exp(-1.702 * x, dtype=np.float32))], ms)
        shifted = x + bias
        yield Case("FastGelu", [x, bias], {}, 1,
                   [np.float32(0.5) * shifted * (1 + np.tanh(np.float32(0.797885) * shifted + np.float32(0.035677) * shifted**3))], ms)
    for one, two in (((0, 3), (3, 2)), ((2, 0), (0, 3)), ((2, 1, 2, 1, 2, 3), (3, 2))):
        a, b = f(*one), f(*two)
        yield Case("FusedMatMul", [a, b], dict(alpha=0.5), 1, [np.matmul(a, b) * np.float32(0.5)], ms)
    for shape in ((0, ), (2, 0)):
        yield Case("Tokenizer", [words(*shape)], dict(mark=1, mincharnum=1, pad_value="", separators=[" "]), 1,
                   [np.zeros((*shape, 0), object)], ms)
    for rows in (0, 2):
        x, skip, scale = f(rows, 3, 4), f(rows, 3, 4), f(4)
        total = x + skip
        root = np.sqrt((total**2).mean(-1, keepdims=True) + np.float32(1e-5))
        yield Case("SkipSimplifiedLayerNormalization", [x, skip, scale], dict(epsilon=1e-5), 1, [total / root * scale], ms)


def split_nothing():
    """-1 beside sizes of 0: nothing in a batch, or no query if heads are split."""
    for shape in (np.array([0, 0, 2, -1]), np.array([0, -1, 2, 4])):  # ONNX rejects them as a constant
        yield Case("Reshape", [f(0, 3, 8), shape], {}, 1, [np.zeros((0, 3, 2, 4), np.float32)])
    for batch, queries in ((0, 2), (2, 0)):
        nothing = np.zeros((batch, queries, 8), np.float32)
        for keys, attributes in ((8, {}), (8, dict(is_causal=1)), (4, dict(kv_num_heads=1))):
            attributes = dict(dict(q_num_heads=2, kv_num_heads=2), **attributes)
            yield Case("Attention", [f(batch, queries, 8), f(batch, 5, keys), f(batch, 5, keys)], attributes, 1, [nothing])
        past = f(batch, 2, 3, 4)
        keys = f(batch, 5, 8)
        present = np.concatenate([past, keys.reshape(batch, 5, 2, 4).transpose(0, 2, 1, 3)], 2)
        yield Case("Attention", [f(batch, queries, 8), keys, keys, None, past, past], dict(q_num_heads=2, kv_num_heads=2), 3,
                   [nothing, present, present])
    for shape in ((0, 3, 4), (0, 3, 0)):
        yield Case("SoftmaxCrossEntropyLoss", [f(*shape), i(0, shape[2])], dict(reduction="sum"), 2,
                   [np.zeros((), np.float32), np.zeros(shape, np.float32)])


def encoded_images():
    """A row, a column and one pixel, of strings and of bytes."""
    for width, height in ((3, 1), (1, 2), (1, 1)):
        pixels = np.arange(3 * width * height, dtype=np.uint8).reshape(height, width, 3) * 9
        head = f" {width} {height} 255\n".encode()
        for data in (b"P6" + head + pixels.tobytes(), b"P3" + head + " ".join(map(str, pixels.ravel())).encode()):
            yield Case("ImageDecoder", [np.frombuffer(data, np.uint8)], {}, 1, [pixels])


def all_cases():
    for group in (elementwise, broadcast, reductions, along, reshapes, pieces, indexed, generated, products, nets, normal, losses, quantised,
                  texts_of, learned, contributed, split_nothing, encoded_images):
        yield from group()
