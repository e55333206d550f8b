# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Models of shapecases.py in text form: control flow, sequences, random numbers, maps and trees."""
import numpy as np

from shapetables import EIGHT, NOTHING, f

# Models in text form: text, inputs, and expected outputs if the reference implementation lacks the operators.
HEAD = '<ir_version: 10, opset_import: ["" : 28, "ai.onnx.ml" : 5]>\ng '
LOOP = """(int64 n, float{type} x) => (float{type} y, float{all} all)
{{
  y, all = Loop (n, , x) <body = b (int64 k, bool c, float{type} a) => (bool d, float{type} s, float{type} t) {{
    d = Identity (c)
    s = Add (a, a)
    t = Neg (a)
  }}>
}}"""
SCAN = """(float{type} s, float{steps} x) => (float{type} last, float{all} before)
{{
  last, before = Scan (s, x) <num_scan_inputs = 1, body = b (float{type} a, float{type} e) => (float{type} p, float{type} q) {{
    p = Add (a, e)
    q = Identity (a)
  }}>
}}"""
IF = """(bool c, float{type} x) => (float{all} y)
{{ y = If (c) <then_branch = a () => (float{type} p) {{ p = Neg (x) }}, else_branch = b () => (float{type} q) {{ q = Add (x, x) }}> }}"""
SEQUENCE = """(float{type} x, float{type} z) => (float{type} last, float{all} all, int64 n, float{type} first)
<int64 one = {{1}}, int64 zero = {{0}}>
{{
  both = SequenceConstruct (x, z)
  three = SequenceInsert (both, x, one)
  all = ConcatFromSequence <axis = 0, new_axis = 1> (three)
  n = SequenceLength (three)
  two = SequenceErase (three, zero)
  last = SequenceAt (two, one)
  none = SequenceEmpty ()
  only = SequenceInsert (none, z)
  mapped = SequenceMap (only) <body = m (float{type} e) => (float{type} g) {{ g = Neg (e) }}>
  first = SequenceAt (mapped, zero)
}}"""
OPTIONAL = """(float{type} x) => (float{type} y, bool has)
{{
  o = Optional (x)
  y = OptionalGetElement (o)
  has = OptionalHasElement (o)
}}"""
PARTS = """(float{type} x) => (seq(float{all}) y)
{{ y = SplitToSequence <axis = {axis}, keepdims = {keep}> (x) }}"""


def type_of(*dims):
    """Returns a shape as "[2, n]"; "" for a scalar."""
    return "[" + ", ".join(map(str, dims)) + "]" if dims else ""


def unknown(rank):
    return type_of(*(f"d{k}" for k in range(rank)))


def controlled():
    for shape in ((), NOTHING, EIGHT[:7]):
        label, kind, more = "x".join(map(str, shape)) or "scalar", type_of(*shape), unknown(len(shape) + 1)
        x, z = f(*shape), f(*shape)
        for count in (0, 2):
            every = np.stack([-x * 2.0**k for k in range(count)]).astype(np.float32) if count else np.zeros((0, *shape), np.float32)
            yield f"loop_{label}_{count}", LOOP.format(type=kind, all=more), [np.array(count), x], [x * np.float32(2**count), every]
            steps = f(count, *shape)
            before = [x + steps[:k].sum(0, dtype=np.float32) for k in range(count)]
            yield (f"scan_{label}_{count}", SCAN.format(type=kind, all=more, steps=type_of(count, *shape)), [x, steps],
                   [x + steps.sum(0, dtype=np.float32), np.array(before, np.float32).reshape(count, *shape)])
        for taken in (True, False):
            yield f"if_{label}_{int(taken)}", IF.format(type=kind, all=unknown(len(shape))), [np.array(taken), x], [-x if taken else x + x]
        yield f"sequence_{label}", SEQUENCE.format(type=kind, all=more), [x, z], [z, np.stack([x, x, z]), np.array(3), -z]
        yield f"optional_{label}", OPTIONAL.format(type=kind), [x], [x, np.array(True)]
    for shape, axis in (((2, 0), 0), ((0, 2), 0), ((1, 2, 1, 2, 1, 3, 1), 5)):
        for keep in (0, 1):
            x = f(*shape)
            parts = [np.take(x, [k] if keep else k, axis) for k in range(shape[axis])]
            yield (f"split_to_sequence_{'x'.join(map(str, shape))}_{keep}",
                   PARTS.format(type=type_of(*shape), all=unknown(len(shape) - 1 + keep), axis=axis, keep=keep), [x], [parts])


def drawn():
    """Returns the shape of random numbers."""
    for shape in ((), (0, ), NOTHING, EIGHT):
        label, like, size = "x".join(map(str, shape)) or "scalar", type_of(*shape), type_of(len(shape))
        for name in ("RandomNormal", "RandomUniform"):
            yield (f"{name.lower()}_{label}", f"() => (int64{size} y) {{ r = {name} <shape: ints = [{', '.join(map(str, shape))}]> ()\ny = Shape (r) }}",
                   [], [np.array(shape, np.int64)])
        for name in ("RandomNormalLike", "RandomUniformLike", "Bernoulli"):
            yield (f"{name.lower()}_{label}", f"(float{like} x) => (int64{size} y) {{ r = {name} (x)\ny = Shape (r) }}",
                   [f(*shape, low=0, high=1)], [np.array(shape, np.int64)])
    yield "multinomial_0x3", "(float[0, 3] x) => (int64[2] y) { r = Multinomial <sample_size = 4> (x)\ny = Shape (r) }", [f(0, 3)], [np.array([0, 4])]


TREE = """(float[{rows}, 2] x) => (float[n, 1] y)
{{
  y = ai.onnx.ml.TreeEnsemble <n_targets = 1, aggregate_function = 1, post_transform = 0, tree_roots = [0],
      nodes_featureids = [1], nodes_modes = uint8[1] {{0}}, nodes_splits = float[1] {{0.5}}, nodes_truenodeids = [0], nodes_trueleafs = [1],
      nodes_falsenodeids = [1], nodes_falseleafs = [1], leaf_targetids = [0, 0], leaf_weights = float[2] {{1.5, -2.5}}> (x)
}}"""
MAPS = """(float[{rows}, 2] x) => (seq(map(string, float)) z)
{{ z = ai.onnx.ml.ZipMap <classlabels_strings = ["a", "b"]> (x) }}"""


DENSE = """(map(int64, float) x) => (float[1, n] y)
{{ y = ai.onnx.ml.CastMap <map_form = "SPARSE", max_map = {size}> (x) }}"""
CHOSEN = """(map(string, float) x) => (float[1, n] y)
{{ y = ai.onnx.ml.DictVectorizer <string_vocabulary = ["b", "c"]> (x) }}"""


def learned_texts():
    yield "castmap_1", DENSE.format(size=1), [{0: np.float32(1.5)}], [np.array([[1.5]], np.float32)]
    yield "castmap_5", DENSE.format(size=5), [{3: np.float32(1.5)}], [np.array([[0, 0, 0, 1.5, 0]], np.float32)]
    yield "dictvectorizer_none", CHOSEN.format(), [{"a": np.float32(1.5)}], [np.zeros((1, 2), np.float32)]
    for rows in (0, 2):
        x = f(rows, 2)
        yield f"treeensemble_{rows}x2", TREE.format(rows=rows), [x], [np.where(x[:, 1:] <= 0.5, np.float32(1.5), np.float32(-2.5))]
        yield f"zipmap_{rows}x2", MAPS.format(rows=rows), [x], [[{"a": row[0], "b": row[1]} for row in x]]


def texts():
    for group in (controlled, drawn, learned_texts):
        for name, text, operands, expected in group():
            yield name, HEAD + text, operands, expected
