# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Writes cases for versions of operators that ONNX's own cases omit (set-up, called by prepare.py).

ONNX has node cases for the newest version of each operator only. Most older definitions differ in the types that they
accept, or have an attribute instead of an input. So a case is derived from a newer one: the same node, data and expected
outputs in an older operator set, with inputs replaced by attributes of the same name. If ONNX's reference implementation
can run the result, it must compute the expected outputs; otherwise the next case is tried. Operators without any case are
written out below, with expected outputs from the reference implementation.
"""
import collections
import functools
import os
import shutil
import numpy as np
import onnx
from onnx import helper, numpy_helper, parser
from onnx.reference import ReferenceEvaluator

# Attributes whose default differs from the behaviour before they were added.
IMPLIED = {("RoiAlign", 10): {"coordinate_transformation_mode": b"output_half_pixel"}}
CASES_A_VERSION = 2
# Inputs whose attribute had another name.
OLD_NAMES = {"constant_value": "value"}
# Attributes that old definitions require, but do not use.
DEMANDED = {("BatchNormalization", 1): {"consumed_inputs": [0, 0, 0, 1, 1]}}

X = np.array([[0.5, -1.5, 2.0], [3.0, 0.25, -0.75], [-2.0, 1.0, 0.0], [0.1, 0.2, 0.3]], np.float32)


def read_case(folder):
    data = os.path.join(folder, "test_data_set_0")
    if not os.path.isdir(data):
        return None
    model = onnx.load(os.path.join(folder, "model.onnx"))

    def values(side, infos):
        result = []
        for k, info in enumerate(infos):
            path = os.path.join(data, f"{side}_{k}.pb")
            if info.type.WhichOneof("value") != "tensor_type" or not os.path.exists(path):
                return None
            tensor = onnx.TensorProto()
            with open(path, "rb") as file:
                tensor.ParseFromString(file.read())
            result.append(tensor)
        return result

    inputs, outputs = values("input", model.graph.input), values("output", model.graph.output)
    return (model, inputs, outputs) if inputs is not None and outputs else None


def attribute_of(schema, name):
    wanted = OLD_NAMES.get(name, name).lower()
    return next((a for a in schema.attributes.values() if a.name.lower() == wanted), None)


def as_attribute(attribute, tensor):
    array = numpy_helper.to_array(tensor)
    kinds = onnx.defs.OpSchema.AttrType
    if attribute.type == kinds.INTS:
        return helper.make_attribute(attribute.name, [int(v) for v in array.flatten()], attr_type=onnx.AttributeProto.INTS)
    if attribute.type == kinds.FLOATS:
        return helper.make_attribute(attribute.name, [float(v) for v in array.flatten()], attr_type=onnx.AttributeProto.FLOATS)
    if array.size != 1:
        return None
    if attribute.type == kinds.INT:
        return helper.make_attribute(attribute.name, int(array.flatten()[0]))
    if attribute.type == kinds.FLOAT:
        return helper.make_attribute(attribute.name, float(array.flatten()[0]))
    return None


def is_implied(attribute, schema, old):
    """Returns True if the older definition, without the attribute, has the same behaviour."""
    if (old.name, old.since_version) in IMPLIED:
        return IMPLIED[old.name, old.since_version].get(attribute.name) == helper.get_attribute_value(attribute)
    known = schema.attributes.get(attribute.name)
    return known is not None and known.default_value.name != "" and \
        helper.get_attribute_value(known.default_value) == helper.get_attribute_value(attribute)


def lower_node(node, old, new, tensors):
    """Returns the node in the form of the older definition, or None. Names that became attributes are removed from its
    inputs."""
    result = onnx.NodeProto()
    result.CopyFrom(node)
    del result.input[:]
    del result.attribute[:]
    for k, name in enumerate(node.input):
        formal = new.inputs[min(k, len(new.inputs) - 1)].name
        attribute = attribute_of(old, formal) if k < len(new.inputs) else None
        if attribute is not None:
            if name:
                made = as_attribute(attribute, tensors[name]) if name in tensors else None
                if made is None:
                    return None
                result.attribute.append(made)
        elif k < old.max_input:
            result.input.append(name)
        elif name:
            return None
    for attribute in node.attribute:
        if attribute.name in old.attributes:
            result.attribute.append(attribute)
        elif not is_implied(attribute, new, old):
            return None
    for name, value in DEMANDED.get((node.op_type, old.since_version), {}).items():
        result.attribute.append(helper.make_attribute(name, value))
    if len(node.output) > old.max_output or len(result.input) < old.min_input:
        return None
    return result


@functools.lru_cache(maxsize=None)
def get_versions(name, domain=""):
    return [schema.since_version for schema in onnx.defs.get_all_schemas_with_history()
            if (schema.domain, schema.name) == (domain, name)]


def newest_set(domain, name, version):
    """Returns the newest operator set in which this definition is valid."""
    later = [other for other in get_versions(name, domain) if other > version]
    if later:
        return min(later) - 1
    return version if domain else onnx.defs.onnx_opset_version()


def lower_case(case, index, old, domain):
    """Returns the case in the operator set in which the older definition is the newest."""
    model, inputs, outputs = case
    node = model.graph.node[index]
    versions = {entry.domain: entry.version for entry in model.opset_import}
    new = onnx.defs.get_schema(node.op_type, versions.get(domain, 1), domain)
    tensors = {value.name: tensor for value, tensor in zip(model.graph.input, inputs)}
    lowered = lower_node(node, old, new, tensors)
    if lowered is None or has_other_meaning(model, node, old):
        return None
    made = onnx.ModelProto()
    made.CopyFrom(model)
    made.graph.node[index].CopyFrom(lowered)
    for entry in made.opset_import:
        if entry.domain == domain:
            entry.version = newest_set(domain, node.op_type, old.since_version)
    used = {name for n in made.graph.node for name in n.input}
    used |= {name for n in made.graph.node for a in n.attribute for inner in a.g.node for name in inner.input}
    kept = [k for k, value in enumerate(made.graph.input) if value.name in used]
    del made.graph.input[:]
    made.graph.input.extend(model.graph.input[k] for k in kept)
    made.ir_version = min(made.ir_version, 10)
    return made, [inputs[k] for k in kept], outputs


def has_other_meaning(model, node, old):
    """Definitions before version 13 flatten to a matrix whose rows begin at the axis."""
    if node.op_type not in ("Softmax", "LogSoftmax", "Hardmax") or old.since_version >= 13:
        return False
    axis = next((a.i for a in node.attribute if a.name == "axis"), None)  # another default, too
    value = next(v for v in model.graph.input if v.name == node.input[0])
    return axis != len(value.type.tensor_type.shape.dim) - 1


def agrees(model, inputs, outputs):
    """Returns None if the reference implementation cannot run the model."""
    try:
        feeds = {value.name: numpy_helper.to_array(tensor) for value, tensor in zip(model.graph.input, inputs)}
        results = ReferenceEvaluator(model).run(None, feeds)
    except Exception:  # any failure
        return None
    for got, tensor in zip(results, outputs):
        expected = numpy_helper.to_array(tensor)
        got = np.asarray(got)
        if got.shape != expected.shape or got.dtype != expected.dtype:
            return False
        if expected.dtype.kind in "OUS":
            if got.astype(str).tolist() != expected.astype(str).tolist():
                return False
        elif not np.allclose(got.astype(np.complex128), expected.astype(np.complex128), 1e-3, 1e-6, equal_nan=True):
            return False
    return True


def is_valid(model):
    try:
        onnx.checker.check_model(model)
        onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True)
        return True
    except Exception:  # not a model of that version
        return False


def write_files(write, folder, model, inputs, outputs):
    write(os.path.join(folder, "model.onnx"), model.SerializeToString())
    for side, tensors in (("input", inputs), ("output", outputs)):
        for k, tensor in enumerate(tensors):
            write(os.path.join(folder, "test_data_set_0", f"{side}_{k}.pb"), tensor.SerializeToString())


def since(domain, name, opset):
    try:
        return onnx.defs.get_schema(name, opset, domain).since_version
    except onnx.defs.SchemaError:
        return 0


def get_domain(name):
    return "" if name == "ai.onnx" else name


def walk(nodes, versions, found):
    for node in nodes:
        domain = get_domain(node.domain)
        found.add((domain, node.op_type, since(domain, node.op_type, versions.get(domain, 0))))
        for attribute in node.attribute:
            for graph in [attribute.g, *attribute.graphs]:
                walk(graph.node, versions, found)


def read_claims(path):
    """Returns the (domain, operator, version) entries of docs/OpSupport.md that are imported or expanded, without those of
    microsoft.py."""
    claims, domain = set(), ""
    for line in open(path):
        if line.startswith("## "):
            domain = get_domain(line[3:].strip())
        cells = line.split("|")
        if line.startswith("|") and len(cells) > 4 and domain != "com.microsoft":
            for version in (cells[2] + "," + cells[3]).split(","):
                if version.strip().isdigit():
                    claims.add((domain, cells[1].strip(), int(version)))
    return claims


def read_all(root, sets):
    """Returns the executed versions, and by operator the folders of cases that have one node of it."""
    executed, folders = set(), collections.defaultdict(list)
    for name in sets:
        for case in sorted(os.listdir(os.path.join(root, name))):
            folder = os.path.join(root, name, case)
            model = onnx.load(os.path.join(folder, "model.onnx"), load_external_data=False)
            versions = {get_domain(entry.domain): entry.version for entry in model.opset_import}
            walk(model.graph.node, versions, executed)
            for function in model.functions:
                walk(function.node, {get_domain(e.domain): e.version for e in function.opset_import}, executed)
            if not model.functions and len(model.graph.node) <= 4:
                for index, node in enumerate(model.graph.node):
                    domain = get_domain(node.domain)
                    at = since(domain, node.op_type, versions.get(domain, 0))
                    folders[domain, node.op_type].append((at, len(model.graph.node), case, folder, index))
    return executed, folders


def cover_version(key, candidates, out, write):
    """Writes cases of one version; returns their number."""
    domain, name, version = key
    old = onnx.defs.get_schema(name, version, domain)
    made = 0
    for at, _, case, folder, index in sorted(candidates, key=lambda c: (c[1], abs(c[0] - version), c[2])):
        read = read_case(folder)
        lowered = lower_case(read, index, old, domain) if read else None
        if lowered is None or not is_valid(lowered[0]):
            continue
        # The reference implementation has the newer defaults only.
        if (name, version) not in IMPLIED and agrees(*lowered) is False:
            continue
        write_files(write, os.path.join(out, f"{case}_version{version}"), *lowered)
        made += 1
        if made == CASES_A_VERSION:
            break
    return made


#---- operators without any case ------------------------------------------------------------------------------------

def node_model(domain, version, name, inputs, outputs, attributes):
    """Returns a model of one node; `inputs` are arrays, `outputs` are element types with ranks."""
    names = [f"x{k}" for k in range(len(inputs))]
    results = [f"y{k}" for k in range(len(outputs))]
    node = helper.make_node(name, names, results, domain=domain, **attributes)
    graph = helper.make_graph(
        [node], "g",
        [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype) if a.dtype.kind not in "OU" else
                                       onnx.TensorProto.STRING, a.shape) for n, a in zip(names, inputs)],
        [helper.make_tensor_value_info(n, kind, [None] * rank) for n, (kind, rank) in zip(results, outputs)])
    opsets = [helper.make_opsetid("", 21 if domain else newest_set("", name, version))]
    if domain:
        opsets.append(helper.make_opsetid(domain, version))
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


F32, I64, STRING = onnx.TensorProto.FLOAT, onnx.TensorProto.INT64, onnx.TensorProto.STRING
TREE = dict(nodes_treeids=[0, 0, 0, 1, 1, 1], nodes_nodeids=[0, 1, 2, 0, 1, 2], nodes_featureids=[0, 0, 0, 2, 0, 0],
            nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF", "BRANCH_LT", "LEAF", "LEAF"],
            nodes_values=[0.3, 0.0, 0.0, 0.1, 0.0, 0.0], nodes_truenodeids=[1, 0, 0, 1, 0, 0],
            nodes_falsenodeids=[2, 0, 0, 2, 0, 0])
LEAVES = ([0, 0, 1, 1], [1, 2, 1, 2])
VECTORS = dict(kernel_type="RBF", kernel_params=[0.5, 0.0, 3.0],
               support_vectors=[0.1, 0.2, 0.3, 1.0, -1.0, 0.5, -0.5, 0.4, 2.0, 0.0, 1.5, -0.25])
# (domain, operator): versions, inputs, outputs, attributes.
WRITTEN = [
    ("ai.onnx.ml", "FeatureVectorizer", [1], [X, X[:, :2].copy()], [(F32, 2)], dict(inputdimensions=[3, 2])),
    ("ai.onnx.ml", "Imputer", [1], [np.where(X > 1, np.nan, X).astype(np.float32)], [(F32, 2)],
     dict(imputed_value_floats=[0.5, 1.5, -2.5], replaced_value_float=float("nan"))),
    ("ai.onnx.ml", "LinearClassifier", [1], [X], [(I64, 1), (F32, 2)],
     dict(classlabels_ints=[3, 1, 7], coefficients=[0.5, -1.0, 0.25, 1.0, 0.5, -0.5, -0.25, 0.75, 1.0],
          intercepts=[0.1, -0.2, 0.05], post_transform="SOFTMAX")),
    ("ai.onnx.ml", "LinearRegressor", [1], [X], [(F32, 2)],
     dict(targets=2, coefficients=[0.5, -1.0, 0.25, 1.0, 0.5, -0.5], intercepts=[0.1, -0.2])),
    ("ai.onnx.ml", "Normalizer", [1], [X], [(F32, 2)], dict(norm="L2")),
    ("ai.onnx.ml", "OneHotEncoder", [1], [np.array([3, 1, 4, 3], np.int64)], [(F32, 2)], dict(cats_int64s=[1, 3, 5])),
    ("ai.onnx.ml", "SVMClassifier", [1], [X], [(I64, 1), (F32, 2)],
     dict(classlabels_ints=[2, 5], coefficients=[0.5, -0.75, 1.0, -0.25], rho=[0.1], vectors_per_class=[2, 2], **VECTORS)),
    ("ai.onnx.ml", "SVMRegressor", [1], [X], [(F32, 2)],
     dict(coefficients=[0.5, -0.75, 1.0, -0.25], rho=[0.1], n_supports=4, **VECTORS)),
    ("ai.onnx.ml", "Scaler", [1], [X], [(F32, 2)], dict(offset=[0.5, -1.0, 2.0], scale=[2.0, 0.5, 1.0])),
    ("ai.onnx.ml", "TreeEnsembleClassifier", [1, 3], [X], [(I64, 1), (F32, 2)],
     dict(classlabels_int64s=[4, 6, 9], class_treeids=LEAVES[0], class_nodeids=LEAVES[1], class_ids=[0, 1, 2, 1],
          class_weights=[0.5, 0.25, 0.75, 0.125], **TREE)),
    ("ai.onnx.ml", "TreeEnsembleRegressor", [1, 3], [X], [(F32, 2)],
     dict(n_targets=2, target_treeids=LEAVES[0], target_nodeids=LEAVES[1], target_ids=[0, 1, 1, 0],
          target_weights=[0.5, 0.25, 0.75, 0.125], **TREE)),
    ("ai.onnx.ml", "LabelEncoder", [1], [np.array(["b", "x", "a"], object)], [(I64, 1)], dict(classes_strings=["a", "b"])),
    ("ai.onnx.ml", "CategoryMapper", [1], [np.array([["b", "x", "a"]], object)], [(I64, 2)],
     dict(cats_strings=["a", "b"], cats_int64s=[5, 6], default_int64=-2)),
    ("", "Reshape", [1], [X], [(F32, 2)], dict(shape=[2, -1])),
    ("", "Resize", [10], [X[:2, :2].reshape(1, 1, 2, 2), np.array([1, 1, 2, 3], np.float32)], [(F32, 4)], {}),
    ("", "Resize", [11], [X[:2, :2].reshape(1, 1, 2, 2), np.zeros(0, np.float32), np.array([1, 1, 2, 3], np.float32)],
     [(F32, 4)], dict(coordinate_transformation_mode="asymmetric", nearest_mode="floor")),
    ("", "GlobalLpPool", [2, 22], [X.reshape(1, 2, 3, 2)], [(F32, 4)], dict(p=2)),
    ("", "MaxRoiPool", [1, 22], [np.arange(32, dtype=np.float32).reshape(1, 2, 4, 4) % 11,
                                 np.array([[0, 0, 0, 3, 3], [0, 1, 1, 2, 3]], np.float32)], [(F32, 4)],
     dict(pooled_shape=[2, 2])),
]
# Expected outputs of operators that the reference implementation lacks.
KNOWN = {
    "Resize": [np.kron(X[:2, :2].reshape(1, 1, 2, 2), np.ones((1, 1, 2, 3), np.float32))],
    "LabelEncoder": [np.array([1, -1, 0], np.int64)],
    "CategoryMapper": [np.array([[6, -2, 5]], np.int64)],
    "GlobalLpPool": [np.sqrt((X.reshape(1, 2, 3, 2)**2).sum((2, 3), keepdims=True))],
    "MaxRoiPool": None,
    "Reshape": [X.reshape(2, -1)],
}
# Three times the sum so far, and its previous value.
LOOP = """<ir_version: 10, opset_import: ["" : {version}]>
g (float[2] x) => (float[2] y, float[n, 2] all)
<int64 times = {{3}}, bool yes = {{1}}>
{{
  y, all = Loop (times, yes, x) <body = b (int64 i, bool c, float[2] a) => (bool d, float[2] s, float[2] t) {{
    d = Identity (c)
    s = Add (a, x)
    t = Identity (a)
  }}>
}}"""
# Values other than tensors: inputs and outputs are arrays, or dictionaries and lists of arrays.
ROW = np.array([[0.25, 0.75], [1.5, -2.0]], np.float32)
TEXTS = [
    ("Optional", 28, """<ir_version: 10, opset_import: ["" : 28]>
g (float[2, 2] x) => (float[2, 2] y, bool has)
{
  o = Optional (x)
  y = OptionalGetElement (o)
  has = OptionalHasElement (o)
}""", [ROW], [ROW, np.array(True)]),
    ("DictVectorizer", 1, """<ir_version: 10, opset_import: ["" : 21, "ai.onnx.ml" : 1]>
g (map(string, float) m) => (float[1, 3] y)
{
  y = ai.onnx.ml.DictVectorizer <string_vocabulary = ["a", "b", "c"]> (m)
}""", [{"c": np.float32(1.5), "a": np.float32(2), "z": np.float32(3)}], [np.array([[2, 0, 1.5]], np.float32)]),
    ("CastMap", 1, """<ir_version: 10, opset_import: ["" : 21, "ai.onnx.ml" : 1]>
g (map(int64, float) m) => (float[1, 3] y)
{
  y = ai.onnx.ml.CastMap <cast_to = "TO_FLOAT", map_form = "DENSE"> (m)
}""", [{7: np.float32(1.5), -2: np.float32(2), 4: np.float32(3)}], [np.array([[2, 3, 1.5]], np.float32)]),
    ("ZipMap", 1, """<ir_version: 10, opset_import: ["" : 21, "ai.onnx.ml" : 1]>
g (float[2, 2] x) => (seq(map(string, float)) z)
{
  z = ai.onnx.ml.ZipMap <classlabels_strings = ["a", "b"]> (x)
}""", [ROW], [[{"a": row[0], "b": row[1]} for row in ROW]]),
]
# Random numbers: properties of all of them, or, for a seed, those of the reference implementation.
RANDOM = """<ir_version: 10, opset_import: ["" : {version}]>
g ({signature}) => (bool right)
<float low = {{{low}}}, float high = {{{high}}}, float least = {{{least}}}>
{{
  r = {call}
  f = Cast <to = 1> (r)
  mean = ReduceMean <keepdims = 0> (f)
  shifted = Sub (f, mean)
  square = Mul (shifted, shifted)
  variance = ReduceMean <keepdims = 0> (square)
  a = Greater (mean, low)
  b = Less (mean, high)
  c = Greater (variance, least)
  ab = And (a, b)
  right = And (ab, c)
}}"""
RANDOMS = [
    ("RandomNormal", "", 'RandomNormal <mean = 2.0, scale = 0.5, seed = 3.0, shape = [40, 50]> ()', 1.9, 2.1, 0.2),
    ("RandomNormalLike", "float[40, 50] x", 'RandomNormalLike <mean = 2.0, scale = 0.5, seed = 3.0> (x)', 1.9, 2.1, 0.2),
    ("RandomUniform", "", 'RandomUniform <low = 1.0, high = 3.0, seed = 3.0, shape = [40, 50]> ()', 1.9, 2.1, 0.3),
    ("RandomUniformLike", "float[40, 50] x", 'RandomUniformLike <low = 1.0, high = 3.0, seed = 3.0> (x)', 1.9, 2.1, 0.3),
    ("Bernoulli", "float[40, 50] x", 'Bernoulli <dtype = 1, seed = 3.0> (x)', 0.2, 0.3, 0.15),
    ("Multinomial", "float[2, 3] x", 'Multinomial <sample_size = 2000, seed = 3.0, dtype = 6> (x)', 0.8, 1.2, 0.5),
]


def max_roi_pool(x, rois, size):
    """One image; the bins of a region begin and end at rounded positions."""
    out = np.zeros((len(rois), x.shape[1], size, size), np.float32)
    for r, (_, x1, y1, x2, y2) in enumerate(rois.astype(int)):
        for i in range(size):
            for j in range(size):
                ys, ye = y1 + (i * (y2 - y1 + 1)) // size, y1 + -(-((i + 1) * (y2 - y1 + 1)) // size)
                xs, xe = x1 + (j * (x2 - x1 + 1)) // size, x1 + -(-((j + 1) * (x2 - x1 + 1)) // size)
                out[r, :, i, j] = x[0, :, ys:ye, xs:xe].max((1, 2))
    return out


def make_proto(value, name):
    if isinstance(value, list):
        return onnx.SequenceProto(name=name, elem_type=onnx.SequenceProto.MAP, map_values=[make_proto(v, "") for v in value])
    if not isinstance(value, dict):
        return numpy_helper.from_array(value, name)
    # from_dict requires keys of a NumPy type.
    result = onnx.MapProto(name=name)
    by_text = isinstance(next(iter(value)), str)
    result.key_type = onnx.TensorProto.STRING if by_text else onnx.TensorProto.INT64
    if by_text:
        result.string_keys.extend(key.encode() for key in value)
    else:
        result.keys.extend(value)
    result.values.CopyFrom(numpy_helper.from_list([np.asarray(v) for v in value.values()]))
    return result


def write_texts(out, write):
    for name, version, text, inputs, outputs in TEXTS:
        model = parser.parse_model(text)
        onnx.checker.check_model(model)
        write_files(write, os.path.join(out, f"test_{name.lower()}_version{version}"), model,
                    [make_proto(v, info.name) for v, info in zip(inputs, model.graph.input)],
                    [make_proto(v, info.name) for v, info in zip(outputs, model.graph.output)])


def write_written(out, write):
    for domain, name, versions, inputs, outputs, attributes in WRITTEN:
        for version in versions:
            model = node_model(domain, version, name, inputs, outputs, attributes)
            onnx.checker.check_model(model)
            if name == "MaxRoiPool":
                results = [max_roi_pool(*inputs, 2)]
            elif name in KNOWN:
                results = KNOWN[name]
            else:
                results = ReferenceEvaluator(model).run(None, {f"x{k}": a for k, a in enumerate(inputs)})
            write_files(write, os.path.join(out, f"test_{name.lower()}_version{version}"), model,
                        [numpy_helper.from_array(a, f"x{k}") for k, a in enumerate(inputs)],
                        [numpy_helper.from_array(np.asarray(a), f"y{k}") for k, a in enumerate(results)])
    for version in get_versions("Loop"):
        folder = os.path.join(out, f"test_loop_version{version}")
        x = np.array([1.5, -2.0], np.float32)
        write_files(write, folder, parser.parse_model(LOOP.format(version=newest_set("", "Loop", version))),
                    [numpy_helper.from_array(x, "x")],
                    [numpy_helper.from_array(4 * x, "y"), numpy_helper.from_array(np.stack([x, 2 * x, 3 * x]), "all")])
    for name, signature, call, low, high, least in RANDOMS:
        for version in get_versions(name):
            model = parser.parse_model(RANDOM.format(version=newest_set("", name, version), signature=signature, call=call, low=low,
                                                     high=high, least=least))
            inputs = [numpy_helper.from_array(np.full((2, 3) if name == "Multinomial" else (40, 50), 0.25, np.float32), "x")]
            write_files(write, os.path.join(out, f"test_{name.lower()}_version{version}"), model,
                        inputs if signature else [], [numpy_helper.from_array(np.array(True), "right")])
        if name != "Multinomial":  # the reference implementation has the others
            model = parser.parse_model(f'<ir_version: 10, opset_import: ["" : 22]> g ({signature}) => (float[n, m] r) {{ r = {call} }}')
            results = ReferenceEvaluator(model).run(None, {"x": numpy_helper.to_array(inputs[0])} if signature else {})
            write_files(write, os.path.join(out, f"test_{name.lower()}_seeded"), model, inputs if signature else [],
                        [numpy_helper.from_array(r, "r") for r in results])


def cover(root, op_support, write):
    """Writes cases to root/versions; prints versions without a case."""
    out = os.path.join(root, "versions")
    shutil.rmtree(out, ignore_errors=True)
    sets = sorted(name for name in os.listdir(root) if os.path.isdir(os.path.join(root, name)))
    executed, folders = read_all(root, sets)
    write_written(out, write)
    write_texts(out, write)
    gaps = []
    for key in sorted(read_claims(op_support) - executed):
        written = os.path.exists(os.path.join(out, f"test_{key[1].lower()}_version{key[2]}"))
        if not written and not cover_version(key, folders[key[:2]], out, write):
            gaps.append(f"{key[1]}-{key[2]}")
    if gaps:
        print("prepare: no cases of", ", ".join(gaps), flush=True)
