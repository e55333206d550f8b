#!/usr/bin/env python3
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Restores the weights of a model, as seeded random numbers.

  fill.py NAME.light.onnx -o NAME.onnx      needs: onnx, numpy. The result is the same on all machines (PCG64).

Two kinds of models: those of this folder, whose removed tensors carry a doc_string {"seed", "mean", "std", "min", "max"};
and the light_* models of the ONNX source package, whose weights are ConstantOfShape nodes of one value. Those become
initialisers: matrices and filters are normal with deviation sqrt(2 / fan-in); tensors without fan-in (biases, and the four
vectors of a batch normalisation) are drawn so that activations keep their magnitude.
"""
import argparse
import json
import zlib
import numpy as np
import onnx
from onnx import helper, numpy_helper


def normal(seed, shape):
    return np.random.Generator(np.random.PCG64(seed)).standard_normal(shape, dtype=np.float32)


def fill_removed(model):
    for tensor in model.graph.initializer:
        if not tensor.doc_string.startswith('{"seed"'):
            continue
        spec = json.loads(tensor.doc_string)
        values = normal(spec["seed"], tuple(tensor.dims))
        values = np.clip(values * np.float32(spec["std"]) + np.float32(spec["mean"]), spec["min"], spec["max"]).astype(np.float32)
        tensor.CopyFrom(numpy_helper.from_array(values, tensor.name))


def vector(role, seed, shape):
    """Returns a tensor without fan-in. `role` is (operator, operand index) of its user."""
    values = normal(seed, shape)
    if role == ("BatchNormalization", 4):  # the variance
        return 1 + np.abs(values) / 4
    if role in (("BatchNormalization", 1), ("Mul", 1)):  # a scale
        return np.float32(0.75) + values / 10
    return values / 10


def fill_constants(model):
    graph = model.graph
    shapes = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
    users, views = {}, {}
    for node in graph.node:
        for index, name in enumerate(node.input):
            users.setdefault(name, (node.op_type, index))
            if node.op_type in ("Unsqueeze", "Reshape") and index == 0:
                views[name] = node.output[0]
    nodes, filled = [], []
    for node in graph.node:
        if node.op_type != "ConstantOfShape":
            nodes.append(node)
            continue
        name = node.output[0]
        shape = tuple(int(d) for d in shapes[node.input[0]])
        seed, fan_in = zlib.crc32(name.encode()), int(np.prod(shape[1:]))
        role = users.get(name)
        while role and role[0] in ("Unsqueeze", "Reshape") and name in views:
            name = views[name]
            role = users.get(name)
        if len(shape) > 1 and fan_in > 1:
            values = normal(seed, shape) * np.float32(np.sqrt(2 / fan_in))
        else:
            values = vector(role, seed, shape)
        filled.append(numpy_helper.from_array(values.astype(np.float32), node.output[0]))
    if not filled:
        return
    del graph.node[:]
    graph.node.extend(nodes)
    used = {name for node in nodes for name in node.input}
    kept = [t for t in graph.initializer if t.name in used] + filled
    kept_names = {t.name for t in kept}
    gone = set(shapes) - kept_names
    inputs = [i for i in graph.input if i.name not in gone]
    del graph.initializer[:], graph.input[:]
    graph.initializer.extend(kept)
    graph.input.extend(inputs)


def add_logits(model):
    """Makes the operand of a final Softmax an output too, as softmax hides differences."""
    graph = model.graph
    last = next((n for n in graph.node if graph.output[0].name in n.output), None)
    if last is None or last.op_type != "Softmax":
        return
    output = graph.output.add()
    output.CopyFrom(graph.output[0])
    output.name = last.input[0]


def fill(path):
    model = onnx.load(path)
    fill_removed(model)
    if any(n.op_type == "ConstantOfShape" for n in model.graph.node) and "light_" in path:
        fill_constants(model)
        add_logits(model)
    return model


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("light")
    parser.add_argument("-o", "--output", required=True)
    args = parser.parse_args()
    onnx.save(fill(args.light), args.output)
