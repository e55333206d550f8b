#!/usr/bin/env python3
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Writes the test models of list.txt: OUT/NAME/model.onnx, OUT/NAME/data/input_K.pb and output_K.pb.

  prepare.py OUT --onnx-light DIR [NAME ...] [--references]      needs: onnx, numpy (with --references: onnxruntime too)

Weights and inputs are seeded, so the shipped reference outputs fit; references/fingerprints.txt has their hashes, and a
difference is an error. --references writes references/ again with ONNX Runtime, and rejects a reference whose standard
deviation is less than a thousandth of its range, as no result would differ from it.
"""
import argparse
import hashlib
import math
import os
import shutil
import sys
import zlib
import numpy as np
import onnx
from onnx import numpy_helper
from fill import fill, normal

here = os.path.dirname(os.path.abspath(__file__))


def make_inputs(name, model, dims):
    given = {t.name for t in model.graph.initializer}
    feeds = {}
    for value in model.graph.input:
        if value.name in given:
            continue
        kind = value.type.tensor_type
        shape = [d.dim_value or dims[d.dim_param] for d in kind.shape.dim]
        seed = zlib.crc32(f"{name}:{value.name}".encode())
        if kind.elem_type == onnx.TensorProto.FLOAT:
            feeds[value.name] = normal(seed, shape)
        elif value.name == "ids":
            feeds[value.name] = np.random.Generator(np.random.PCG64(seed)).integers(0, 30000, shape)
        else:  # a mask with trailing zeros, of a different number in each row
            mask = np.ones(shape, np.int64)
            for row in range(shape[0]):
                mask[row, shape[1] - 11 - 7 * row:] = 0
            feeds[value.name] = mask
    return feeds


def conv(x, w, bias, group):
    n, c, h, width = x.shape
    out, per_group = len(w), c // group
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    y = np.zeros((n, out, h, width))
    for o in range(out):
        first = o // (out // group) * per_group
        for i in range(per_group):
            for r in range(3):
                for s in range(3):
                    y[:, o] += w[o, i, r, s] * padded[:, first + i, r:r + h, s:s + width]
    return y + (0 if bias is None else bias[:, None, None])


def evaluate(name, model, feeds):
    """Computes a single layer in f64."""
    x, *rest = [v.astype(np.float64) for v in feeds.values()]
    weights = {t.name: numpy_helper.to_array(t).astype(np.float64) for t in model.graph.initializer}
    node = model.graph.node[0]
    operands = [weights.get(i) for i in node.input]
    if name.startswith("mm"):
        return x @ rest[0]
    if "conv" in name:
        group = next(a.i for a in node.attribute if a.name == "group")
        return conv(x, operands[1], operands[2] if len(operands) > 2 else None, group)
    if name == "softmax":
        e = np.exp(x - x.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)
    if name == "layernorm":
        norm = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + node.attribute[1].f)
        return norm * operands[1] + (operands[2] if len(operands) > 2 else 0)
    if name == "gelu_tanh":
        return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    if name.startswith("pointwise3"):
        return np.sin((x + 1) * 2)
    sys.exit(f"prepare: no reference for {name}")


def fingerprint(model, feeds):
    digest = hashlib.sha256()
    for tensor in sorted(model.graph.initializer, key=lambda t: t.name):
        digest.update(tensor.name.encode() + numpy_helper.to_array(tensor).tobytes())
    for key in sorted(feeds):
        digest.update(key.encode() + feeds[key].tobytes())
    return digest.hexdigest()


def write(path, array, name):
    with open(path, "wb") as file:
        file.write(numpy_helper.from_array(np.ascontiguousarray(array), name).SerializeToString())


def check_spread(name, array):
    spread = array.max() - array.min()
    if not array.std() >= 1e-3 * spread or spread == 0:
        sys.exit(f"prepare: {name}: expected a reference that varies, but got deviation {array.std()} in a range of {spread}")
    print(f"  {name}: {array.shape} range {spread:.4g} deviation/range {array.std() / spread:.3g}")


def make_reference(name, path, model, feeds):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    folder = os.path.join(here, "references", name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    print(name)
    for k, (info, array) in enumerate(zip(session.get_outputs(), session.run(None, feeds))):
        check_spread(info.name, array)
        write(os.path.join(folder, f"output_{k}.pb"), array, info.name)
    digest = fingerprint(model, feeds)
    listing = os.path.join(here, "references", "fingerprints.txt")
    lines = open(listing).read().splitlines() if os.path.exists(listing) else []
    lines = sorted([line for line in lines if line.split()[0] != name] + [f"{name} {digest}"])
    open(listing, "w").write("\n".join(lines) + "\n")


def read_fingerprint(name):
    with open(os.path.join(here, "references", "fingerprints.txt")) as file:
        return dict(line.split() for line in file).get(name)


def prepare(row, args, recipe):
    name, source, reference, dims = row
    folder = os.path.join(args.out, name)
    stamp = os.path.join(folder, "stamp.txt")
    key = recipe + " " + (read_fingerprint(name) or "" if not args.references else "")
    if not args.references and os.path.exists(stamp) and open(stamp).read() == key:
        return
    print(f"prepare: {name}", flush=True)
    light = os.path.join(here, f"{name}.light.onnx") if source == "shared" else os.path.join(args.onnx_light, f"{name}.onnx")
    model = fill(light)
    shutil.rmtree(folder, ignore_errors=True)
    data = os.path.join(folder, "data")
    os.makedirs(data)
    path = os.path.join(folder, "model.onnx")
    onnx.save(model, path)
    sizes = {} if dims == "-" else {k: int(v) for k, v in (part.split("=") for part in dims.split(","))}
    feeds = make_inputs(name, model, sizes)
    for k, (key_name, array) in enumerate(feeds.items()):
        write(os.path.join(data, f"input_{k}.pb"), array, key_name)
    if reference == "numpy":
        write(os.path.join(data, "output_0.pb"), evaluate(name, model, feeds).astype(np.float32), model.graph.output[0].name)
    else:
        if args.references:
            make_reference(name, path, model, feeds)
        if fingerprint(model, feeds) != read_fingerprint(name):
            sys.exit(f"prepare: {name}: expected the weights that the shipped reference was made with, but got others")
        for k in range(len(model.graph.output)):
            shutil.copy(os.path.join(here, "references", name, f"output_{k}.pb"), data)
    with open(stamp, "w") as file:
        file.write(key)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--onnx-light", required=True)
    parser.add_argument("--references", action="store_true")
    args = parser.parse_args()
    digest = hashlib.sha256()
    for file in ("fill.py", "prepare.py", "list.txt"):
        digest.update(open(os.path.join(here, file), "rb").read())
    for line in open(os.path.join(here, "list.txt")):
        row = line.split()
        if not row or row[0] == "#" or (args.names and row[0] not in args.names):
            continue
        if not (args.references and row[2] == "numpy"):
            prepare(row, args, digest.hexdigest())


main()
