# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Models of one or two operators with channels-first images, compared with ONNX's reference evaluator in f64."""

from __future__ import annotations

import numpy as np
import onnx
import onnx.parser
import pytest
from onnx.reference import ReferenceEvaluator

import adze

# The nodes, and the shapes of the inputs. Those named w are constants.
CASES = {
    "dilated": ("y = Conv<pads = [2, 2, 2, 2], dilations = [2, 2]>(x, w)", {"x": (2, 16, 9, 9), "w": (32, 16, 3, 3)}),
    "strided": ("y = Conv<pads = [1, 1, 1, 1], strides = [2, 2]>(x, w)", {"x": (1, 32, 9, 9), "w": (128, 32, 3, 3)}),
    "window5": ("y = Conv<pads = [2, 2, 2, 2]>(x, w)", {"x": (1, 8, 10, 10), "w": (32, 8, 5, 5)}),
    "groups": ("y = Conv<pads = [1, 1, 1, 1], group = 8>(x, w)", {"x": (2, 64, 7, 7), "w": (64, 8, 3, 3)}),
    "groups of 4 at the end": ("a = Conv(x, w0)\n y = Conv<pads = [1, 1, 1, 1], group = 16>(a, w)", {"x": (1, 8, 7, 7), "w0": (64, 8, 1, 1), "w": (64, 4, 3, 3)}),
    "groups of 2 to 6": ("a = Conv(x, w0)\n y = Conv<pads = [1, 1, 1, 1], group = 8>(a, w)", {"x": (1, 8, 7, 7), "w0": (16, 8, 1, 1), "w": (48, 2, 3, 3)}),
    "conv1d": ("y = Conv<pads = [3, 3]>(x, w)", {"x": (1, 12, 50), "w": (64, 12, 7)}),
    "conv3d": ("y = Conv<pads = [1, 1, 1, 1, 1, 1]>(x, w)", {"x": (1, 8, 4, 5, 6), "w": (32, 8, 3, 3, 3)}),
    "sums of pages": ("a = Constant<value_ints = [0]>()\n y = ReduceSum<keepdims = 0>(x, a)", {"x": (2304, 1024)}),
    "means of pages": ("a = Constant<value_ints = [1]>()\n y = ReduceMean(x, a)", {"x": (2, 1600, 2048)}),
}


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_like_the_reference(case, dynamic, tmp_path):
    nodes, shapes = CASES[case]
    generator = np.random.default_rng(1)
    arrays = {name: generator.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}
    dims = ", ".join(["N" if dynamic else str(shapes["x"][0]), *map(str, shapes["x"][1:])])
    graph = onnx.parser.parse_graph(f"lone (float[{dims}] x) => (float y) {{ {nodes} }}")
    graph.output[0].type.tensor_type.ClearField("shape")
    for name, array in arrays.items():
        if name != "x":
            graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 18)], ir_version=10)
    onnx.save(model, tmp_path / "m.onnx")
    result = adze.compile(tmp_path / "m.onnx")(arrays["x"])

    for tensor in model.graph.initializer:
        tensor.CopyFrom(onnx.numpy_helper.from_array(arrays[tensor.name].astype(np.float64), tensor.name))
    model.graph.input[0].type.tensor_type.elem_type = onnx.TensorProto.DOUBLE
    model.graph.output[0].type.tensor_type.elem_type = onnx.TensorProto.DOUBLE
    expected = ReferenceEvaluator(model).run(None, {"x": arrays["x"].astype(np.float64)})[0]
    assert result.shape == expected.shape
    assert np.linalg.norm(result - expected) <= 2e-6 * np.linalg.norm(expected)
