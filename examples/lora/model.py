# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Writes base.onnx, the weights of the base, and two LoRA sets for it.

Each layer is y = relu(x W + (x A) B). A and B are initializers that are graph
inputs as well, which makes them default values in ONNX; the rank of the inputs
is symbolic, so that sets of different ranks fit. The defaults are zeros: without
a set, the model is the base.
"""

import numpy
import onnx
from onnx import helper, numpy_helper

WIDTH, LAYERS, F32 = 512, 4, onnx.TensorProto.FLOAT

random = numpy.random.default_rng(0)


def draw(*shape):
    return (random.standard_normal(shape) / shape[0] ** 0.5).astype(numpy.float32)


def make_lora(rank):
    lora = {}
    for i in range(LAYERS):
        lora[f"layer{i}.lora_A"] = draw(WIDTH, rank)
        lora[f"layer{i}.lora_B"] = draw(rank, WIDTH)
    return lora


base = {f"layer{i}.weight": draw(WIDTH, WIDTH) for i in range(LAYERS)}
zeros = {name: numpy.zeros_like(array) for name, array in make_lora(4).items()}
nodes, inputs, value = [], [helper.make_tensor_value_info("x", F32, ["n", WIDTH])], "x"
for i in range(LAYERS):
    name, out = f"layer{i}", "y" if i == LAYERS - 1 else f"y{i}"
    nodes += [
        helper.make_node("MatMul", [value, f"{name}.weight"], [f"{name}.base"]),
        helper.make_node("MatMul", [value, f"{name}.lora_A"], [f"{name}.low"]),
        helper.make_node("MatMul", [f"{name}.low", f"{name}.lora_B"], [f"{name}.delta"]),
        helper.make_node("Add", [f"{name}.base", f"{name}.delta"], [f"{name}.sum"]),
        helper.make_node("Relu", [f"{name}.sum"], [out]),
    ]
    inputs += [
        helper.make_tensor_value_info(f"{name}.lora_A", F32, [WIDTH, "rank"]),
        helper.make_tensor_value_info(f"{name}.lora_B", F32, ["rank", WIDTH]),
    ]
    value = out
graph = helper.make_graph(
    nodes,
    "base",
    inputs,
    [helper.make_tensor_value_info("y", F32, ["n", WIDTH])],
    [numpy_helper.from_array(array, name) for name, array in {**base, **zeros}.items()],
)
opset = helper.make_opsetid("", 21)
onnx.save(helper.make_model(graph, ir_version=10, opset_imports=[opset]), "base.onnx")
numpy.savez("base.npz", **base)
numpy.savez("french.npz", **make_lora(8))
numpy.savez("legal.npz", **make_lora(16))
