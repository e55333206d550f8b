# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Single layers for bench.py: products with constant weights, and bandwidth-bound layers that exceed all caches."""
import os
import numpy as np
from onnx import TensorProto, helper, numpy_helper, save

ROWS = [24576, 2048]  # 201 MB each way


def weights(shape, name):
    values = np.random.default_rng(7).standard_normal(shape, dtype=np.float32)
    return numpy_helper.from_array(values / np.sqrt(np.float32(shape[-1])), name)


def layer(op, shape, result, initializers=(), **attributes):
    inputs = ["x"] + [tensor.name for tensor in initializers]
    value = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in (("x", shape), ("y", result))]
    graph = helper.make_graph([helper.make_node(op, inputs, ["y"], **attributes)], op, value[:1], value[1:], list(initializers))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


def product(n):
    return lambda: layer("MatMul", [n, n], [n, n], [weights([n, n], "w")])


def norm():
    return layer("LayerNormalization", ROWS, ROWS, [weights(ROWS[1:], "scale"), weights(ROWS[1:], "bias")])


def depthwise():
    shape = [1, 128, 640, 640]
    return layer("Conv", shape, shape, [weights([128, 1, 3, 3], "w")], group=128, pads=[1, 1, 1, 1])


MAKERS = {
    "mm512_const": product(512), "mm1024_const": product(1024), "mm2048_const": product(2048),
    "softmax_large": lambda: layer("Softmax", ROWS, ROWS), "layernorm_large": norm,
    "gelu_tanh_large": lambda: layer("Gelu", ROWS, ROWS, approximate="tanh"), "dwconv3x3_large": depthwise,
}  # fmt: skip


def make(name, folder):
    """Writes the layer and its input in the layout of prepare.py."""
    data = os.path.join(folder, "data")
    os.makedirs(data, exist_ok=True)
    model = MAKERS[name]()
    save(model, os.path.join(folder, "model.onnx"))
    shape = [dim.dim_value for dim in model.graph.input[0].type.tensor_type.shape.dim]
    with open(os.path.join(data, "input_0.pb"), "wb") as file:
        file.write(numpy_helper.from_array(np.random.default_rng(1).standard_normal(shape, dtype=np.float32), "x").SerializeToString())
