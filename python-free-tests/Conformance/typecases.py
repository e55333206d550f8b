# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Writes cases for the types of operators that docs/OpSupport.md claims and no other case has (set-up, called by
prepare.py).

The types of an operator are those of the type variables of its newest definition. A case is derived from another one of the
operator: inputs and outputs of the variable get the type, the inputs are converted to it, and the expected outputs are
those of ONNX's reference implementation; types that NumPy lacks are computed in 32 bits and rounded. Operators of
sequences, optionals, maps, branches and loops, and those whose type is an attribute, have their own models below.
"""
import fnmatch
import os
import shutil
import numpy as np
import onnx
from onnx import helper, numpy_helper, parser

import coverage
import microsoft
from retype import (as_output, attempts, convert, executed, is_float, is_small_float, kind_of, run_reference, type_case,
                    type_name)

TensorProto = onnx.TensorProto
CANDIDATES = 40
ROOM = 4096  # elements of a tensor: these cases are about types


def is_blend(model):
    """Returns True if values are interpolated, which ONNX does not define for integers."""
    modes = [a.s for a in model.graph.node[0].attribute if a.name == "mode"]
    return model.graph.node[0].op_type in ("Resize", "GridSample") and \
        (modes or ["linear" if model.graph.node[0].op_type == "GridSample" else b"nearest"]) != [b"nearest"]


def read_claims(path):
    """Returns the type variables and their types by (domain, operator)."""
    claims, domain = {}, ""
    for line in open(path):
        if line.startswith("## "):
            domain = coverage.get_domain(line[3:].strip())
        cells = line.split("|")
        if not line.startswith("|") or len(cells) < 8 or ":" not in cells[6]:
            continue
        if not cells[6].strip(" -") or domain == microsoft.DOMAIN:
            continue
        claims[domain, cells[1].strip()] = {
            part.split(":")[0].strip(): part.split(":")[1].split() for part in cells[6].split(";")}
    return claims


NODE = ""  # the folder of ONNX's node cases


#---- models of their own -------------------------------------------------------------------------------------------

def wide(function, *arrays):
    """Computes in 64 bits and rounds to the type of the first operand."""
    return function(*(a.astype(np.float64) for a in arrays)).astype(np.float32).astype(arrays[0].dtype) \
        if arrays[0].dtype != np.float64 else function(*arrays)


HEAD = '<ir_version: 10, opset_import: ["" : 28, "ai.onnx.ml" : 4]>\ng '
FLAT = np.array([[1.0, 2.0], [3.0, 1.0]], np.float32)
# Models by name: text with {T} (a type) and {K} (its number), inputs, and a function for the expected outputs if the
# reference implementation lacks the operator.
TEXTS = {
    "if": ("""(bool c, {T}[2, 2] x) => ({T}[2, 2] y)
{{
  y = If (c) <then_branch = a () => ({T}[2, 2] p) {{ p = Identity (x) }},
              else_branch = b () => ({T}[2, 2] q) {{ q = Transpose <perm = [1, 0]> (x) }}>
}}""", [np.array(False), FLAT], None),
    "loop": ("""({T}[2, 2] x) => ({T}[2, 2] y, {T}[n, 2, 2] all)
<int64 times = {{3}}, bool yes = {{1}}>
{{
  y, all = Loop (times, yes, x) <body = b (int64 i, bool c, {T}[2, 2] a) => (bool d, {T}[2, 2] s, {T}[2, 2] t) {{
    d = Identity (c)
    s = Transpose <perm = [1, 0]> (a)
    t = Identity (a)
  }}>
}}""", [FLAT], lambda x: [x.T, np.stack([x, x.T, x])]),
    "scan": ("""({T}[2] s, {T}[2, 2] x) => ({T}[2] last, {T}[2, 2] before)
{{
  last, before = Scan (s, x) <num_scan_inputs = 1, body = b ({T}[2] a, {T}[2] e) => ({T}[2] p, {T}[2] q) {{
    p = Identity (e)
    q = Identity (a)
  }}>
}}""", [FLAT[0], FLAT], lambda s, x: [x[1], np.stack([s, x[0]])]),
    "sequence": ("""({T}[2, 2] x, {T}[1, 2] z) => ({T}[m, 2] first, {T}[p, 2] all, int64 n, {T}[q, 2] left)
<int64 one = {{1}}, int64 zero = {{0}}>
{{
  both = SequenceConstruct (x, z)
  three = SequenceInsert (both, x, one)
  all = ConcatFromSequence <axis = 0> (three)
  n = SequenceLength (three)
  two = SequenceErase (three, zero)
  left = SequenceAt (two, one)
  none = SequenceEmpty <dtype = {K}> ()
  only = SequenceInsert (none, z)
  first = SequenceAt (only, zero)
}}""", [FLAT, FLAT[:1]], lambda x, z: [z, np.concatenate([x, x, z]), np.array(3), z]),
    "sequence_index": ("""(float[2, 2] x, float[1, 2] z, {T} k) => (float[m, 2] y, int64 n)
{{
  both = SequenceConstruct (x, z)
  three = SequenceInsert (both, z, k)
  two = SequenceErase (three, k)
  y = SequenceAt (two, k)
  n = SequenceLength (two)
}}""", [FLAT, FLAT[:1], np.array(1)], lambda x, z, k: [z, np.array(2)]),
    "sequence_map": ("""({T}[2, 2] x, {T}[1, 2] z) => ({T}[m, n] y)
<int64 one = {{1}}>
{{
  both = SequenceConstruct (x, z)
  longer = SequenceMap (both, z) <body = b ({T}[m, 2] e, {T}[1, 2] w) => ({T}[n, 2] f) {{ f = Concat <axis = 0> (e, w) }}>
  y = SequenceAt (longer, one)
}}""", [FLAT, FLAT[:1]], lambda x, z: [np.concatenate([z, z])]),
    "split_to_sequence": ("""({T}[2, 2] x) => (seq({T}[m, 2]) both)
<int64[2] parts = {{1, 1}}>
{{ both = SplitToSequence <axis = 0> (x, parts) }}""", [FLAT], lambda x: [[x[:1], x[1:]]]),
    "split_to_sequence_parts": ("""(float[2, 2] x, {T}[2] parts) => (float[m, 2] y)
<int64 one = {{1}}>
{{
  both = SplitToSequence <axis = 0> (x, parts)
  y = SequenceAt (both, one)
}}""", [FLAT, np.array([1, 1])], lambda x, parts: [x[1:]]),
    "optional": ("""({T}[2, 2] x) => ({T}[2, 2] y, bool has)
{{
  o = Optional (x)
  y = OptionalGetElement (o)
  has = OptionalHasElement (o)
}}""", [FLAT], lambda x: [x, np.array(True)]),
    "bit_cast": ("""({T}[2, 2] x) => ({T}[2, 2] y)
{{ y = BitCast <to = {K}> (x) }}""", [FLAT], lambda x: [x]),
    "cast_from": ("""({T}[2, 2] x) => (float[2, 2] y)
{{ y = Cast <to = 1> (x) }}""", [FLAT], None),
    "cast_to": ("""(float[2, 2] x) => ({T}[2, 2] y)
{{ y = Cast <to = {K}> (x) }}""", [FLAT / 2 + 0.25], None),
    "cast_like_from": ("""({T}[2, 2] x, float z) => (float[2, 2] y)
{{ y = CastLike (x, z) }}""", [FLAT, np.array(1.0)], None),
    "cast_like_to": ("""(float[2, 2] x, {T} z) => ({T}[2, 2] y)
{{ y = CastLike (x, z) }}""", [FLAT / 2 + 0.25, np.array(1.0)], None),
    **{name: (f"""(int64 n) => ({{T}}[10] y)
{{{{ y = {name} <output_datatype = {{K}}, periodic = 0> (n) }}}}""", [np.array(10)],
              lambda n, weights=weights: [sum(w * np.cos(k * 2 * np.pi * np.arange(10) / 9) for k, w in enumerate(weights))])
       for name, weights in (("HannWindow", [0.5, -0.5]), ("HammingWindow", [25 / 46, -21 / 46]),
                             ("BlackmanWindow", [0.42, -0.5, 0.08]))},
    "dequantize_from": ("""({T}[4] x, float s, {T} zero) => (float[4] y)
{{ y = DequantizeLinear (x, s, zero) }}""", [np.array([1, -2, 4, 3]), np.array(2.0), np.array(1.0)],
                        lambda x, s, zero: [(x.astype(np.float32) - zero.astype(np.float32)) * s]),
    # Numbers that no step rounds, so that the order of computation does not matter.
    "batch_norm": ("""({T}[1, 2, 2] x, {T}[2] scale, {T}[2] bias, {T}[2] mean, {T}[2] variance) => ({T}[1, 2, 2] y)
{{ y = BatchNormalization <epsilon = 0.0> (x, scale, bias, mean, variance) }}""",
                   [np.array([[[1, 2], [3, 5]]]), np.array([2, 4]), np.array([1, -1]), np.array([1, 3]), np.array([1, 4])],
                   lambda x, *rest: [np.array([[[1, 3], [-1, 3]]], np.float32)]),
    "stft": ("""({T}[1, 6, 1] x, int64 step, int64 length) => ({T}[1, 2, 3, 2] y)
{{ y = STFT (x, step, , length) }}""", [np.array([1, 2, 4, 8, 1, 3]).reshape(1, 6, 1), np.array(2), np.array(4)],
             lambda x, *rest: [np.array([[[[15, 0], [-3, 6], [-5, 0]], [[16, 0], [3, -5], [-6, 0]]]], np.float32)]),
    "quantize_to": ("""(float[4] x, float s, {T} zero) => ({T}[4] y)
{{ y = QuantizeLinear (x, s, zero) }}""", [np.array([2, -4, 8, 6]), np.array(2.0), np.array(0.0)],
                    lambda x, s, zero: [(x / s + zero.astype(np.float32)).astype(zero.dtype)]),
    "rotary": ("""({T}[1, 2, 2, 4] x, {T}[2, 2] cosine, {T}[2, 2] sine, int64[1, 2] places) => ({T}[1, 2, 2, 4] y)
{{ y = RotaryEmbedding (x, cosine, sine, places) }}""",
               [np.arange(-8, 8).reshape(1, 2, 2, 4), np.array([[1, 0.5], [-0.5, 2]]), np.array([[0.5, 1], [1, -0.5]]),
                np.array([[1, 2]]) - 1], None),
    "mish": ("""({T}[2, 2] x) => ({T}[2, 2] y)
{{ y = Mish (x) }}""", [FLAT - 2], lambda x: [wide(lambda x: x * np.tanh(np.log1p(np.exp(x))), x)]),
    "mean_variance": ("""({T}[1, 2, 1, 2] x) => ({T}[1, 2, 1, 2] y)
{{ y = MeanVarianceNormalization (x) }}""", [FLAT.reshape(1, 2, 1, 2)],
                      lambda x: [wide(lambda x: (x - x.mean((0, 2, 3), keepdims=True)) / x.std((0, 2, 3), keepdims=True), x)]),
    "dft_length": ("""(float[1, 4, 1] x, {T} n) => (float[1, 2, 2] y)
{{ y = DFT (x, n) }}""", [np.array([1, 2, 4, 8]).reshape(1, 4, 1), np.array(2)],
                   lambda x, n: [np.array([[[3, 0], [-1, 0]]], np.float32)]),
    "dequantize_scale": ("""(float8e4m3fn[4] x, {T} s) => (float[4] y)
{{ y = DequantizeLinear <output_dtype = 1> (x, s) }}""", [np.array([1, -2, 0.5, 3]), np.array(4)],
                         lambda x, s: [x.astype(np.float32) * s.astype(np.float32)]),
    "layer_norm_stash": ("""(float[2, 4] x, float[4] s) => (float[2, 4] y, {T}[2, 1] mean, {T}[2, 1] inverse)
{{ y, mean, inverse = LayerNormalization <epsilon = 0.0, stash_type = {K}> (x, s) }}""",
                         [np.array([[1, -1, 1, -1], [4, 0, 0, 4]]), np.array([1, 2, 3, 4])],
                         lambda x, s: [np.array([[1, -2, 3, -4], [1, -2, -3, 4]], np.float32), np.array([[0.0], [2.0]]),
                                       np.array([[1.0], [0.5]])]),
    "qlinear_matmul": ("""({T}[2, 2] a, {T}[2, 2] b, {T} zero, float one) => ({T}[2, 2] y)
{{ y = QLinearMatMul (a, one, zero, b, one, zero, one, zero) }}""", [FLAT, FLAT.T, np.array(1.0), np.array(1.0)],
                       lambda a, b, zero, one: [wide(lambda a, b, z: (a - z) @ (b - z) + z, a, b, zero)]),
}


def values_like(array, kind):
    return convert(np.asarray(array), kind)


def text_case(key, kind):
    text, arrays, expected = TEXTS[key]
    model = parser.parse_model(HEAD + text.format(T=type_name(kind), K=kind))
    arrays = [values_like(a, info.type.tensor_type.elem_type) for a, info in zip(arrays, model.graph.input)]
    inputs = [numpy_helper.from_array(a, info.name) for a, info in zip(arrays, model.graph.input)]
    results = expected(*arrays) if expected else run_reference(model, inputs)
    return model, inputs, [as_output(info, result) for info, result in zip(model.graph.output, results)]


def node_case(domain, version, name, arrays, outputs, attributes, results=None):
    """Returns one node; `outputs` are element types with ranks."""
    model = coverage.node_model(domain, version, name, arrays, outputs, attributes)
    inputs = [numpy_helper.from_array(a, info.name) for a, info in zip(arrays, model.graph.input)]
    if results is None:
        results = run_reference(model, inputs)
    return model, inputs, [as_output(info, result) for info, result in zip(model.graph.output, results)]


def constant(kind):
    value = values_like(FLAT[0], kind)
    return node_case("", 25, "Constant", [], [(kind, 1)], dict(value=numpy_helper.from_array(value, "v")), [value])


def label_encoder(kind, of_keys):
    """Computes {1: a, 3: b}, else c, with keys or values in the type."""
    keys, values = (kind, TensorProto.FLOAT) if of_keys else (TensorProto.INT64, kind)
    known, found, other = np.array([1.0, 3.0]), np.array([2.0, 1.0]), np.array([3.0])
    asked = np.array([[1.0, 2.0], [3.0, 1.0]])
    if not of_keys:  # convert multiplies fractions before it converts to integers
        known, asked = known.astype(np.int64), asked.astype(np.int64)
    found, other = values_like(found, values), values_like(other, values)
    expected = np.where(asked == known[0], found[0], np.where(asked == known[1], found[1], other[0])).astype(found.dtype)
    tensors = dict(keys_tensor=values_like(known, keys), values_tensor=found, default_tensor=other)
    return node_case("ai.onnx.ml", 4, "LabelEncoder", [values_like(asked, keys)], [(values, 2)],
                     {n: numpy_helper.from_array(t, n) for n, t in tensors.items()}, [expected])


def labelled(name):
    """The classifier of coverage.py with strings as labels."""
    domain, _, versions, inputs, outputs, attributes = next(w for w in coverage.WRITTEN if w[1] == name)
    old = next(a for a in attributes if a.startswith("classlabels_int"))
    texts = dict({k: v for k, v in attributes.items() if k != old}, classlabels_strings=[f"c{v}" for v in attributes[old]])
    plain = coverage.node_model(domain, versions[-1], name, inputs, outputs, attributes)
    labels, scores = run_reference(plain, [numpy_helper.from_array(a, f"x{k}") for k, a in enumerate(inputs)])
    return node_case(domain, versions[-1], name, inputs, [(TensorProto.STRING, 1), outputs[1]], texts,
                     [np.array([f"c{v}" for v in labels], object), scores])


def known(name, kind):
    """The operators of coverage.py that the reference implementation lacks."""
    domain, _, versions, arrays, outputs, attributes = next(w for w in coverage.WRITTEN if w[1] == name)
    arrays = [values_like(a, kind) for a in arrays]
    if name == "MaxRoiPool":
        result = wide(lambda *x: coverage.max_roi_pool(*x, 2), *arrays)
    else:
        result = wide(lambda x: np.sqrt((x**2).sum((2, 3), keepdims=True)), *arrays)
    return node_case(domain, versions[-1], name, arrays, [(kind, 4)], attributes, [result])


def with_lengths(name, kind):
    """A recurrent case with an input of lengths, in which all sequences have the full length."""
    model, inputs, outputs = coverage.read_case(os.path.join(NODE, "test_gru_defaults" if name == "GRU" else "test_simple_rnn_defaults"))
    count, batch = inputs[0].dims[0], inputs[0].dims[1]
    node = model.graph.node[0]
    node.input.extend([""] * (4 - len(node.input)) + ["lengths"])
    model.graph.input.append(helper.make_tensor_value_info("lengths", kind, [batch]))
    return model, [*inputs, numpy_helper.from_array(values_like(np.full(batch, count), kind), "lengths")], outputs


def with_bias(kind):
    """Quantised convolution plus 0, 1000, ..: the sum has a scale of 1."""
    x, w, b = np.full((1, 1, 2, 2), 3, np.uint8), np.full((2, 1, 1, 1), 2, np.uint8), np.array([0, 5], np.int32)
    one, zero = np.array(1, np.float32), np.array(0, np.uint8)
    return node_case("", 10, "QLinearConv", [x, one, zero, w, one, zero, one, zero, b], [(TensorProto.UINT8, 4)], {},
                     [np.array([[[[6, 6], [6, 6]], [[11, 11], [11, 11]]]], np.uint8)])


def ml_case(name, kind):
    """Attributes change with the type."""
    ml = "ai.onnx.ml"
    if name == "Imputer":
        if is_float(kind):
            return None
        x = values_like(np.array([[1, 2], [3, 1]]), kind)
        return node_case(ml, 1, name, [x], [(kind, 2)], dict(imputed_value_int64s=[7, 8], replaced_value_int64=1),
                         [np.array([[7, 2], [3, 8]], x.dtype)])
    texts = np.array(["b", "x", "a", "b"], object)
    if name == "OneHotEncoder":
        return node_case(ml, 1, name, [texts], [(TensorProto.FLOAT, 2)], dict(cats_strings=["a", "b"]),
                         [np.array([[0, 1], [0, 0], [1, 0], [0, 1]], np.float32)])
    return node_case("", 9, name, [texts], [(TensorProto.FLOAT, 1)],
                     dict(max_gram_length=2, max_skip_count=0, min_gram_length=1, mode="TF", ngram_counts=[0, 2],
                          ngram_indexes=[0, 1, 2], pool_strings=["a", "b", "a", "b"]),
                     [np.array([1, 2, 1], np.float32)])


def category_mapper(kind):
    to_text = kind == TensorProto.INT64
    asked = np.array([[6, 2, 5]], np.int64) if to_text else np.array([["b", "x", "a"]], object)
    expected = np.array([["b", "none", "a"]], object) if to_text else np.array([[6, -2, 5]], np.int64)
    return node_case("ai.onnx.ml", 1, "CategoryMapper", [asked], [(TensorProto.STRING if to_text else TensorProto.INT64, 2)],
                     dict(cats_strings=["a", "b"], cats_int64s=[5, 6], default_int64=-2, default_string="none"), [expected])


MAP = """<ir_version: 10, opset_import: ["" : 21, "ai.onnx.ml" : 1]>
g ({input}) => ({output})
{{ y = ai.onnx.ml.{call} (x) }}"""


def map_case(input, output, call, value, expected):
    model = parser.parse_model(MAP.format(input=input + " x", output=output + " y", call=call))
    return model, [coverage.make_proto(value, "x")], [coverage.make_proto(expected, "y")]


def map_cases():
    """Named values; a map is an input or an output."""
    cases = {}
    vocabularies = {"string": ('string_vocabulary = ["a", "b", "c"]', ["c", "a", "z"]),
                    "int64": ("int64_vocabulary = [3, 5, 7]", [7, 3, 9])}
    for key, (vocabulary, keys) in vocabularies.items():
        for value in ("int64", "float", "double", "string"):
            if key == value:
                continue
            numbers = values_like([1.5, 2.5, 3.5], kind_of(value))
            zero = numbers[:1] * 0 if value != "string" else np.array([""], object)
            cases[f"dict_vectorizer_{key}_{value}"] = map_case(
                f"map({key}, {value})", f"{value}[1, 3]", f"DictVectorizer <{vocabulary}>", dict(zip(keys, numbers)),
                np.stack([numbers[1], zero[0], numbers[0]]).reshape(1, 3).astype(numbers.dtype))
    for value, numbers in (("float", np.array([1.5, 2.5, 3.5], np.float32)), ("string", np.array(["1.5", "2.5", "3.5"], object))):
        for to in ("FLOAT", "INT64", "STRING"):
            if value == "string" and to == "INT64":
                numbers = np.array(["4", "5", "6"], object)
            row = np.array([[numbers[1], numbers[2], numbers[0]]], object)
            if to == "STRING":
                if value == "float":
                    continue
                row = row.astype(object)
            else:
                row = row.astype(np.float32 if to == "FLOAT" else np.int64)
            cases[f"cast_map_{value}_{to.lower()}"] = map_case(
                f"map(int64, {value})", f"{ {'FLOAT': 'float', 'INT64': 'int64', 'STRING': 'string'}[to] }[1, 3]",
                f'CastMap <cast_to = "TO_{to}", map_form = "DENSE">', dict(zip([7, -2, 4], numbers)), row)
    rows = np.array([[0.25, 0.75], [1.5, -2.0]], np.float32)
    cases["zip_map_int64"] = map_case("float[2, 2]", "seq(map(int64, float))", "ZipMap <classlabels_int64s = [4, 9]>", rows,
                                      [{4: row[0], 9: row[1]} for row in rows])
    return cases


# Random numbers of a type, with the expectations of coverage.py. Types of the input, and of the output.
RANDOM_SOURCES = {"RandomNormalLike": "x", "RandomUniformLike": "x", "Bernoulli": "x", "Multinomial": "x"}


def random_case(name, kind, of_output):
    signature, call, low, high, least = next(r[1:] for r in coverage.RANDOMS if r[0] == name)
    call = call.replace("dtype = 1, ", "").replace(", dtype = 6", "")
    if of_output:
        call = call.replace(" <", f" <dtype = {kind}, ")
    else:
        signature = signature.replace("float[", type_name(kind) + "[")
        call = call.replace(" <", f" <dtype = {6 if name == 'Multinomial' else 1}, ")
    if is_small_float(kind) or kind == TensorProto.FLOAT16:
        low, high = low - 0.05, high + 0.05
    model = parser.parse_model(coverage.RANDOM.format(version=28, signature=signature, call=call, low=low, high=high,
                                                      least=least))
    inputs = []
    for info in model.graph.input:
        shape = (2, 3) if name == "Multinomial" else (40, 50)
        numbers = np.full(shape, 0.25, np.float32)
        wanted = info.type.tensor_type.elem_type
        inputs.append(numpy_helper.from_array(values_like(numbers, wanted), info.name))
    return model, inputs, [numpy_helper.from_array(np.array(True), "right")]


def own_cases(key, kinds):
    """Returns (name, function) of the models of operators that have their own, for types."""
    domain, name = key
    texts = {
        "If": ["if"], "Loop": ["loop"], "Scan": ["scan"], "SequenceMap": ["sequence_map"],
        "SplitToSequence": ["split_to_sequence", "split_to_sequence_parts"], "BitCast": ["bit_cast"],
        "Cast": ["cast_from", "cast_to"], "CastLike": ["cast_like_from", "cast_like_to"], "Mish": ["mish"],
        "MeanVarianceNormalization": ["mean_variance"], "DFT": ["dft_length"], "DequantizeLinear": ["dequantize_scale", "dequantize_from"],
        "LayerNormalization": ["layer_norm_stash"], "RotaryEmbedding": ["rotary"], "QuantizeLinear": ["quantize_to"],
        "BlackmanWindow": ["BlackmanWindow"], "HammingWindow": ["HammingWindow"], "HannWindow": ["HannWindow"],
        "BatchNormalization": ["batch_norm"], "STFT": ["stft"], "QLinearMatMul": ["qlinear_matmul"],
    }.get(name, [])
    if name.startswith("Sequence") or name == "ConcatFromSequence":
        texts = [*texts, "sequence", "sequence_index"]
    if name.startswith("Optional"):
        texts = ["optional"]
    makers = [(t, lambda kind, t=t: text_case(t, kind)) for t in texts]
    if name == "Constant":
        makers.append(("constant", constant))
    if name == "LabelEncoder":
        makers += [("label_encoder_keys", lambda kind: label_encoder(kind, True)),
                   ("label_encoder_values", lambda kind: label_encoder(kind, False))]
    if name in ("GlobalLpPool", "MaxRoiPool"):
        makers.append((name.lower(), lambda kind: known(name, kind)))
    if name in ("GRU", "RNN"):
        makers.append((name.lower() + "_lengths", lambda kind: with_lengths(name, kind)))
    if name in ("Imputer", "OneHotEncoder", "TfIdfVectorizer"):
        makers.append((name.lower() + "_own", lambda kind: ml_case(name, kind)))
    if name == "QLinearConv":
        makers.append(("qlinear_conv_bias", with_bias))
    if name == "CategoryMapper":
        makers.append(("category_mapper", category_mapper))
    if name in ("LinearClassifier", "SVMClassifier", "TreeEnsembleClassifier"):
        makers.append((name.lower() + "_labels", lambda kind: labelled(name) if kind == TensorProto.STRING else None))
    if name in [r[0] for r in coverage.RANDOMS]:
        makers.append((name.lower() + "_output", lambda kind: random_case(name, kind, True)))
        if name in RANDOM_SOURCES:
            makers.append((name.lower() + "_input", lambda kind: random_case(name, kind, False)))
    return [(f"{text.lower()}_{type_name(kind)}", lambda make=make, kind=kind: make(kind)) for text, make in makers for kind in kinds]


#---- the set -------------------------------------------------------------------------------------------------------

class Writer:
    def __init__(self, out, write, done):
        self.out, self.write, self.done = out, write, done

    def keep(self, name, case):
        """Writes a case if it executes a new version or type."""
        model, inputs, outputs = case
        found = executed(model)
        if found <= self.done:
            return
        self.done |= found
        coverage.write_files(self.write, os.path.join(self.out, "test_" + name), model, inputs, outputs)

    def keep_own(self, key, missing):
        kinds = sorted({kind_of(t) for v in missing.values() for t in v if "(" not in t})
        for name, make in own_cases(key, kinds):
            try:
                case = make()
                onnx.checker.check_model(case[0])
                # The function body that ONNX defines has one type, although the definition allows others.
                onnx.shape_inference.infer_shapes(case[0], check_type=True,
                                                  strict_mode=key[1] != "MeanVarianceNormalization")
            except Exception:  # not a type of this operator
                continue
            if None not in case[2]:
                self.keep(name, case)


def effort(read):
    """Prefers the simplest case: attributes, inputs, elements; cases that take long to compile come last."""
    node = read[0].graph.node[0]
    return any(a.s == b"cubic" for a in node.attribute), len(node.attribute), len(node.input), sum(np.prod(t.dims) for t in read[1])


def small(read):
    return read and all(np.prod(t.dims) <= ROOM for t in [*read[1], *read[2]])


def cover_type(key, schema, variable, name, candidates, writer):
    """Writes a case that is derived from another one; returns True if there is one."""
    kind = kind_of(name)
    for read in candidates:
        if not is_float(kind) and is_blend(read[0]):
            continue
        for variables in attempts(schema, variable, kind):
            case = type_case(read, schema, variables, kind)
            if case and (*key, variable, name) in executed(case[0]):
                writer.keep(f"{key[1].lower()}_{variable.lower()}_{name}", case)
                return True
    return False


def done_before(root, sets):
    """Returns the types that the cases of other sets execute; known failures do not count."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "known-failures.txt")
    failing = [line.split()[1] for line in open(path) if line.split() and not line.startswith("#")]
    found = set()
    for name in sets:
        for case in sorted(os.listdir(os.path.join(root, name))):
            if not any(fnmatch.fnmatchcase(f"{name}/{case}", pattern) for pattern in failing):
                found |= executed(onnx.load(os.path.join(root, name, case, "model.onnx"), load_external_data=False))
    return found


def cover(root, op_support, write):
    """Writes cases to root/types; prints types without a case."""
    global NODE
    NODE, out = os.path.join(root, "node"), os.path.join(root, "types")
    shutil.rmtree(out, ignore_errors=True)
    sets = sorted(n for n in os.listdir(root) if os.path.isdir(os.path.join(root, n)))
    _, folders = coverage.read_all(root, [s for s in sets if s != "light"])
    writer = Writer(out, write, done_before(root, sets))
    for name, case in map_cases().items():
        writer.keep(name, case)
    for name, case in microsoft.cases():
        coverage.write_files(write, os.path.join(out, "test_" + name), *case)
    newest = {}
    for domain, name, version in coverage.read_claims(op_support):
        newest[domain, name] = max(version, newest.get((domain, name), 0))
    gaps = []
    for key, claimed in sorted(read_claims(op_support).items()):
        def get_missing():
            left = {v: [t for t in types if (*key, v, t) not in writer.done] for v, types in claimed.items()}
            return {v: types for v, types in left.items() if types}
        if get_missing():
            writer.keep_own(key, get_missing())
        missing = get_missing()
        if not missing:
            continue
        schema = onnx.defs.get_schema(key[1], newest[key], key[0])
        is_random = key[1] in [r[0] for r in coverage.RANDOMS]
        paths = sorted(c[3] for c in folders[key] if c[0] == newest[key] and c[1] == 1 and not is_random)
        candidates = sorted((read for read in map(coverage.read_case, paths) if small(read)), key=effort)[:CANDIDATES]
        for variable, types in missing.items():
            for name in types:
                if "(" in name or ((*key, variable, name) not in writer.done and
                                   not cover_type(key, schema, variable, name, candidates, writer)):
                    gaps.append(f"{key[1]} {variable}: {name}")
    if gaps:
        print("prepare: no cases of", ", ".join(gaps), flush=True)
