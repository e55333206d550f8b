#!/usr/bin/env python3
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Writes ONNX's backend test cases as files (set-up, not a test): OUT/SET/CASE/model.onnx and
test_data_set_K/{input,output}_J.pb.

  prepare.py OUT --node-wheel WHEEL --onnx-data DIR --op-support FILE      needs: onnx 1.23.2, numpy

SET is node (the node cases of the onnx 1.22.0 wheel, the last to contain them), opset28 (cases of this onnx's own generator
that the wheel lacks), simple, pytorch-operator, pytorch-converted (files of DIR, onnx/backend/test/data of the source
package), light (real architectures, with the inputs of ONNX's runner), versions (coverage.py), types (typecases.py) or
shapes (shapecases.py).
"""
import argparse
import hashlib
import os
import shutil
import warnings
import zipfile
import numpy as np
import onnx
from onnx import numpy_helper

import coverage
import microsoft
import retype
import shapecases
import shapetables
import shapetexts
import typecases

warnings.filterwarnings("ignore")
VERSION = "4"  # of this file's output


def write(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)


def extract_wheel(wheel, out):
    prefix = "onnx/backend/test/data/node/"
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.startswith(prefix) and name.endswith((".onnx", ".pb")):
                write(os.path.join(out, name[len(prefix):]), archive.read(name))


def proto(value, info):
    """Returns a value in the file format of test data sets; the type is that of the model's signature."""
    kind = info.type.WhichOneof("value") if info is not None else "tensor_type"
    if isinstance(value, onnx.TensorProto):
        return value
    if kind == "optional_type":
        return numpy_helper.from_optional(value, info.name)
    if isinstance(value, list) or kind == "sequence_type":
        return numpy_helper.from_list(list(value), info.name)
    if isinstance(value, dict):
        return numpy_helper.from_dict(value, info.name)
    return numpy_helper.from_array(np.asarray(value), info.name if info is not None else "")


def write_case(case, folder):
    for k, (inputs, outputs) in enumerate(case.data_sets):
        for side, values, infos in (("input", inputs, case.model.graph.input), ("output", outputs, case.model.graph.output)):
            for j, value in enumerate(values):
                info = infos[j] if j < len(infos) else None
                write(os.path.join(folder, f"test_data_set_{k}", f"{side}_{j}.pb"), proto(value, info).SerializeToString())
    write(os.path.join(folder, "model.onnx"), case.model.SerializeToString())


def same_model(model, path):
    """Returns True if a file has the same graph and the same operator sets."""
    if not os.path.exists(path):
        return False
    other = onnx.load(path)
    return model.graph == other.graph and list(model.opset_import) == list(other.opset_import)


def generate(node, out):
    from onnx.backend.test import loader
    for case in loader.load_model_tests(kind="node"):
        assert (case.rtol, case.atol) == (1e-3, 1e-7), case.name  # assumed by the runner
        if same_model(case.model, os.path.join(node, case.name, "model.onnx")):
            continue
        folder = os.path.join(out, case.name)
        try:
            write_case(case, folder)
        except (TypeError, ValueError, AttributeError, AssertionError) as error:
            shutil.rmtree(folder, ignore_errors=True)
            print(f"prepare: {case.name} cannot be written: {error}")


def write_light(source, out):
    """As ONNX's runner does: numbers that rise from 0 to 1, and the outputs that are stored next to the model."""
    for name in sorted(os.listdir(source)):
        if not name.endswith(".onnx"):
            continue
        stem = name[:-len(".onnx")]
        folder = os.path.join(out, "test_" + stem[len("light_"):])
        model = onnx.load(os.path.join(source, name))
        constants = {tensor.name for tensor in model.graph.initializer}
        inputs = [value for value in model.graph.input if value.name not in constants]
        for k, value in enumerate(inputs):
            shape = [dim.dim_value if dim.HasField("dim_value") else 1 for dim in value.type.tensor_type.shape.dim]
            count = int(np.prod(shape))
            data = (np.arange(count).reshape(shape) / count).astype(np.float32)
            write(os.path.join(folder, "test_data_set_0", f"input_{k}.pb"),
                  numpy_helper.from_array(data, value.name).SerializeToString())
        for k in range(len(model.graph.output)):
            shutil.copy(os.path.join(source, f"{stem}_output_{k}.pb"), os.path.join(folder, "test_data_set_0", f"output_{k}.pb"))
        shutil.copy(os.path.join(source, name), os.path.join(folder, "model.onnx"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--node-wheel", required=True)
    parser.add_argument("--onnx-data", required=True)
    parser.add_argument("--op-support", required=True)
    args = parser.parse_args()
    stamp = os.path.join(args.out, "stamp.txt")
    key = f"{os.path.basename(args.node_wheel)} {onnx.__version__} {VERSION}"
    makers = [args.op_support, coverage.__file__, microsoft.__file__, retype.__file__, shapecases.__file__, shapetables.__file__,
              shapetexts.__file__, typecases.__file__]
    claims = key + "\n" + hashlib.sha256(b"".join(open(name, "rb").read() for name in makers)).hexdigest()
    before = open(stamp).read() if os.path.exists(stamp) else ""
    if before == claims:
        return
    if not before.startswith(key + "\n"):
        write_sets(args)
    print("prepare: cases of older versions, of all types and of shapes", flush=True)
    for name in ("versions", "types", "shapes"):
        shutil.rmtree(os.path.join(args.out, name), ignore_errors=True)
    coverage.cover(args.out, args.op_support, write)
    typecases.cover(args.out, args.op_support, write)
    shapecases.cover(args.out, args.op_support, write)
    write(stamp, claims.encode())


def write_sets(args):
    print("prepare: ONNX's backend test cases", flush=True)
    shutil.rmtree(args.out, ignore_errors=True)
    node = os.path.join(args.out, "node")
    extract_wheel(args.node_wheel, node)
    generate(node, os.path.join(args.out, "opset28"))
    for group in ("simple", "pytorch-operator", "pytorch-converted"):
        source = os.path.join(args.onnx_data, group)
        for name in os.listdir(source):
            if os.path.isdir(os.path.join(source, name, "test_data_set_0")):
                shutil.copytree(os.path.join(source, name), os.path.join(args.out, group, name))
    write_light(os.path.join(args.onnx_data, "light"), os.path.join(args.out, "light"))


main()
