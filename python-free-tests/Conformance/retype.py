# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Models with other types (set-up, called by typecases.py): the types that a model executes, and a case's node in another
type."""
import numpy as np
import onnx
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import coverage

TensorProto = onnx.TensorProto
# Attributes that are the type of an output.
TYPE_ATTRIBUTES = ("to", "dtype", "output_datatype", "output_dtype")
# Operators that the reference implementation has under another name, in another operator set.
OTHER_NAMES = {"Scatter": ("ScatterElements", 18)}


def type_name(kind):
    return TensorProto.DataType.Name(kind).lower()


def kind_of(name):
    return TensorProto.DataType.Value(name.upper())


def is_small_float(kind):
    return type_name(kind).startswith(("bfloat", "float8", "float4"))


def is_float(kind):
    return is_small_float(kind) or kind in (TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16)


#---- what a model executes -----------------------------------------------------------------------------------------

def print_type(proto):
    """Returns the element type as in OpSupport.md, also that of a sequence or an optional."""
    inner = proto
    while inner.WhichOneof("value") in ("sequence_type", "optional_type"):
        inner = getattr(inner, inner.WhichOneof("value")).elem_type
    if inner.WhichOneof("value") == "map_type":
        key, value = type_name(inner.map_type.key_type), print_type(inner.map_type.value_type)
        text = f"map({key},tensor({value}))"
        return f"seq({text})" if inner is not proto else text
    return type_name(inner.tensor_type.elem_type) if inner.tensor_type.elem_type else ""


def executed(model):
    """Returns (domain, operator, variable, type) of a model's nodes, if the model declares or ONNX infers it."""
    try:
        model = onnx.shape_inference.infer_shapes(model)
    except Exception:  # declared types are used in any case
        pass
    versions = {coverage.get_domain(entry.domain): entry.version for entry in model.opset_import}
    found, kinds = set(), {}

    def walk(graph):
        for value in [*graph.input, *graph.output, *graph.value_info]:
            if value.HasField("type") and print_type(value.type):
                kinds[value.name] = print_type(value.type)
        for tensor in graph.initializer:
            kinds[tensor.name] = type_name(tensor.data_type)
        for node in graph.node:
            domain = coverage.get_domain(node.domain)
            try:
                schema = onnx.defs.get_schema(node.op_type, versions.get(domain, 0), domain)
            except onnx.defs.SchemaError:
                schema = None
            for names, formals in ((node.input, schema.inputs), (node.output, schema.outputs)) if schema else ():
                for k, name in enumerate(names):
                    if name in kinds and formals:
                        found.add((domain, node.op_type, formals[min(k, len(formals) - 1)].type_str, kinds[name]))
            for attribute in node.attribute:
                if attribute.HasField("g"):
                    walk(attribute.g)

    walk(model.graph)
    return found


#---- another type --------------------------------------------------------------------------------------------------

def convert(array, kind):
    """Returns numbers of the type that are similar to the given ones; integers are not 0, as they may be divisors."""
    if kind == TensorProto.STRING:
        return np.array([str(v) for v in array.flatten()], object).reshape(array.shape)
    if array.dtype.kind in "OU":
        array = np.array([len(v) + 1.5 for v in array.flatten()], np.float32).reshape(array.shape)
    wide = array.astype(np.float64)
    if kind == TensorProto.BOOL:
        return wide > (wide.mean() if wide.size else 0)
    name, dtype = type_name(kind), helper.tensor_dtype_to_np_dtype(kind)
    if "int" not in name:
        wide = np.abs(wide) if name == "float8e8m0" else wide
        return wide if kind == TensorProto.DOUBLE else wide.astype(np.float32).astype(dtype)
    bits = int(name.lstrip("uint"))
    low, high = (0, 2**bits - 1) if name.startswith("u") else (-2**(bits - 1), 2**(bits - 1) - 1)
    if array.dtype.kind == "f":
        wide = np.rint(np.nan_to_num(wide, posinf=9, neginf=-9) * (4 if bits > 4 else 1))
    whole = np.clip(np.abs(wide) if low == 0 else wide, low, min(high, 2**31))
    return np.where(whole == 0, 1, whole).astype(np.int64).astype(dtype)


def places(schema, node, variables):
    """Returns the names of the node's inputs and outputs that have these variables."""
    def names(values, formals):
        return {n for k, n in enumerate(values) if formals and formals[min(k, len(formals) - 1)].type_str in variables}
    return names(node.input, schema.inputs) - {""}, names(node.output, schema.outputs) - {""}


def retype_tensor(tensor, kind):
    tensor.CopyFrom(numpy_helper.from_array(convert(numpy_helper.to_array(tensor), kind), "v"))


def retype_attributes(node, schema, kind):
    """Changes attributes that determine the type of the outputs."""
    for name in TYPE_ATTRIBUTES:
        if name not in schema.attributes:
            continue
        for old in [a for a in node.attribute if a.name == name]:
            node.attribute.remove(old)
        node.attribute.append(helper.make_attribute(name, kind))
    for attribute in node.attribute:
        if attribute.name == "value" and attribute.type == onnx.AttributeProto.TENSOR:
            retype_tensor(attribute.t, kind)


def retype(model, schema, tensors, variables, kind):
    """Returns the model with inputs and outputs of the variables in another type, and its inputs."""
    made = onnx.ModelProto()
    made.CopyFrom(model)
    node = made.graph.node[0]
    changed, outputs = places(schema, node, variables)
    inputs = []
    for value, tensor in zip(made.graph.input, tensors):
        if value.name in changed:
            value.type.tensor_type.elem_type = kind
            tensor = numpy_helper.from_array(convert(numpy_helper.to_array(tensor), kind), value.name)
        inputs.append(tensor)
    for value in made.graph.output:
        if value.name in outputs:
            value.type.tensor_type.elem_type = kind
    if outputs and not changed:
        retype_attributes(node, schema, kind)
    if schema.name == "TreeEnsemble":
        for attribute in node.attribute:
            if attribute.name in ("nodes_splits", "leaf_weights", "membership_values"):
                retype_tensor(attribute.t, kind)
    del made.graph.value_info[:]
    return made, inputs


def run_reference(model, inputs):
    node = model.graph.node[0]
    if node.op_type in OTHER_NAMES:
        other = onnx.ModelProto()
        other.CopyFrom(model)
        other.graph.node[0].op_type, other.opset_import[0].version = OTHER_NAMES[node.op_type]
        model = other
    feeds = {value.name: numpy_helper.to_array(tensor) for value, tensor in zip(model.graph.input, inputs)}
    return ReferenceEvaluator(model).run(None, feeds)


def as_output(value, result):
    """Returns the result in the type that the output declares, or None."""
    if value.type.WhichOneof("value") == "sequence_type":
        return numpy_helper.from_list(list(result), value.name)
    wanted, result = value.type.tensor_type.elem_type, np.asarray(result)
    if wanted == TensorProto.STRING:
        return numpy_helper.from_array(result.astype(object), value.name) \
            if all(isinstance(v, str) for v in result.flatten()) else None
    dtype = helper.tensor_dtype_to_np_dtype(wanted)
    if result.dtype != dtype:
        # Wider floats are rounded, larger integers wrap around; integers for fractions are a loss.
        if result.dtype.kind in "iu" and "int" not in type_name(wanted) or wanted == TensorProto.BOOL:
            return None
        result = result.astype(np.float32).astype(dtype) if is_small_float(wanted) else result.astype(dtype)
    return numpy_helper.from_array(result, value.name)


def by_number(made, schema, inputs, variables, kind):
    """Returns results of data movement: elements that cannot be moved (strings, bools) are numbered."""
    numbers, texts = [], [""]
    changed, outputs = places(schema, made.graph.node[0], variables)
    for value, tensor in zip(made.graph.input, inputs):
        array = numpy_helper.to_array(tensor)
        if value.name in changed:
            texts += [v for v in array.flatten().tolist() if v not in texts]
            array = np.array([texts.index(v) for v in array.flatten().tolist()], np.float32).reshape(array.shape)
        numbers.append(numpy_helper.from_array(array, value.name))
    wide, _ = retype(made, schema, inputs, variables, TensorProto.FLOAT)
    results = run_reference(wide, numbers)
    dtype = object if kind == TensorProto.STRING else bool
    return [np.array([texts[int(v)] for v in r.flatten()], dtype).reshape(r.shape) if value.name in outputs else r
            for value, r in zip(made.graph.output, results)]


def results_of(made, schema, inputs, variables, kind):
    if kind == TensorProto.FLOAT16 or is_small_float(kind):
        wide, wide_inputs = retype(made, schema, inputs, variables, TensorProto.FLOAT)
        if coverage.is_valid(wide):
            made, inputs = wide, wide_inputs
    elif schema.domain == "ai.onnx.ml" and "int" in type_name(kind) and schema.outputs[-1].type_str == "tensor(float)":
        made, inputs = retype(made, schema, inputs, variables, TensorProto.FLOAT)
    elif kind in (TensorProto.STRING, TensorProto.BOOL):
        try:
            results = run_reference(made, inputs)
            if None not in [as_output(value, result) for value, result in zip(made.graph.output, results)]:
                return results
        except Exception:  # defined for numbers only
            pass
        return by_number(made, schema, inputs, variables, kind)
    return run_reference(made, inputs)


def type_case(read, schema, variables, kind):
    """Derives a case of that type from another one; returns None if the reference implementation cannot run it."""
    model, tensors, _ = read
    made, inputs = retype(model, schema, tensors, variables, kind)
    if not coverage.is_valid(made):
        return None
    try:
        results = results_of(made, schema, inputs, variables, kind)
        outputs = [as_output(value, result) for value, result in zip(made.graph.output, results)]
    except Exception:  # any failure
        return None
    return (made, inputs, outputs) if None not in outputs else None


def attempts(schema, variable, kind):
    """Returns sets of variables to change: all possible ones, the one alone, and the one with another one."""
    text = f"tensor({type_name(kind)})"
    others = [c.type_param_str for c in schema.type_constraints
              if text in c.allowed_type_strs and c.type_param_str != variable]
    return [{variable, *others}, {variable}, *({variable, other} for other in others)]
