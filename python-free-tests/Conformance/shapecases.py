# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Writes cases of shapes that ONNX's own cases omit (set-up, called by prepare.py): scalars, dims of 0, five to eight dims,
and broadcasts of these. Each operator of docs/OpSupport.md has some; the inputs are in shapetables.py and shapetexts.py.

Expected outputs are those of ONNX's reference implementation, or are given with the inputs if it cannot compute them or
differs from the operator's definition."""
import os
import shutil
import numpy as np
import onnx
from onnx import helper, numpy_helper, parser
from onnx.reference import ReferenceEvaluator

import coverage
import microsoft
import shapetables
import shapetexts
from shapetables import Fixed

ROOM = 1 << 14  # elements of a tensor: these cases are about shapes


def describe(array):
    shape = np.asarray(array).shape
    return "x".join(map(str, shape)) if shape else "scalar"


def element_type(array):
    return onnx.TensorProto.STRING if array.dtype.kind in "OUS" else helper.np_dtype_to_tensor_dtype(array.dtype)


def info(name, array):
    return helper.make_tensor_value_info(name, element_type(array), array.shape)


def build(case, results=None):
    """Returns the model of one node; without results its outputs have no declared types. Operands that are None are
    absent."""
    names = ["" if value is None else f"x{k}" for k, value in enumerate(case.operands)]
    count = case.outputs if results is None else len(results)
    node = helper.make_node(case.op, names, [f"y{k}" for k in range(count)], name="n", domain=case.domain, **case.attributes)
    given = [(n, v) for n, v in zip(names, case.operands) if v is not None]
    # The sizes of outputs are not declared, as the case tests their inference.
    made = [helper.make_tensor_value_info(f"y{k}", element_type(r), [None] * r.ndim) for k, r in enumerate(results)] \
        if results is not None else [onnx.ValueInfoProto(name=f"y{k}") for k in range(count)]
    graph = helper.make_graph([node], "g", [info(n, v) for n, v in given if not isinstance(v, Fixed)], made,
                              [numpy_helper.from_array(v.array, n) for n, v in given if isinstance(v, Fixed)])
    version = case.version or (28 if not case.domain or case.domain == microsoft.DOMAIN else
                               onnx.defs.get_schema(case.op, 28, case.domain).since_version)
    opsets = [helper.make_opsetid(case.domain, 1 if case.domain == microsoft.DOMAIN else version)]
    if case.domain:
        opsets.append(helper.make_opsetid("", 28))
    return helper.make_model(graph, opset_imports=opsets, ir_version=11)


def one_node(case):
    """Returns model, inputs and outputs of a case."""
    feeds = {f"x{k}": v for k, v in enumerate(case.operands) if v is not None and not isinstance(v, Fixed)}
    results = case.expected
    if results is None:
        results = ReferenceEvaluator(build(case)).run(None, feeds)
    results = [np.asarray(r) for r in results]
    assert all(r.size <= ROOM for r in results), "too large"
    model = build(case, results)
    if not case.domain == microsoft.DOMAIN:
        onnx.checker.check_model(model)
        onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True)
    return (model, [numpy_helper.from_array(v, n) for n, v in feeds.items()],
            [numpy_helper.from_array(r.astype(object) if r.dtype.kind in "US" else r, f"y{k}") for k, r in enumerate(results)])


def proto(value, name):
    """Returns a tensor, or a sequence of tensors or of maps."""
    if isinstance(value, dict) or (isinstance(value, list) and value and isinstance(value[0], dict)):
        return coverage.make_proto(value, name)
    return numpy_helper.from_list(value, name) if isinstance(value, list) else numpy_helper.from_array(np.asarray(value), name)


def of_text(text, arrays, expected):
    """Does the same for a model that is written out."""
    model = parser.parse_model(text)
    onnx.checker.check_model(model)
    if expected is None:
        expected = ReferenceEvaluator(model).run(None, {v.name: a for v, a in zip(model.graph.input, arrays)})
    return (model, [proto(a, v.name) for v, a in zip(model.graph.input, arrays)],
            [proto(r, v.name) for v, r in zip(model.graph.output, expected)])


def cases():
    """Returns (name, operator, function that creates it) of all cases."""
    for case in shapetables.all_cases():
        shapes = "_".join("none" if v is None else describe(v.array if isinstance(v, Fixed) else v) for v in case.operands)
        yield f"{case.op.lower()}_{shapes or 'nothing'}", case.op, lambda case=case: one_node(case)
    for name, text, arrays, expected in shapetexts.texts():
        yield name, "", lambda t=text, a=arrays, e=expected: of_text(t, a, e)


def cover(root, op_support, write):
    """Writes cases to root/shapes; prints operators without a case."""
    out = os.path.join(root, "shapes")
    shutil.rmtree(out, ignore_errors=True)
    taken, found, gaps = {}, set(), []
    with np.errstate(all="ignore"):
        for name, _, make in cases():
            taken[name] = taken.get(name, 0) + 1
            if taken[name] > 1:
                name += f"_{taken[name]}"
            try:
                case = make()
            except Exception as error:  # any failure of the reference implementation
                gaps.append(f"{name} ({str(error).splitlines()[0][:200] if str(error) else type(error).__name__})")
                continue
            coverage.walk(case[0].graph.node, {e.domain: e.version for e in case[0].opset_import}, found)
            coverage.write_files(write, os.path.join(out, "test_" + name), *case)
    names = {(domain, name) for domain, name, _ in found}
    claims = {(domain, name) for domain, name, _ in coverage.read_claims(op_support)}
    gaps += [f"{name}" for _, name in sorted(claims - names)]
    if gaps:
        print("prepare: no shape cases of", "; ".join(gaps), flush=True)
