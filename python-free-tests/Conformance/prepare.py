#!/usr/bin/env python3
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Writes ONNX's backend test cases as files (set-up, not a test): OUT/CASE/model.onnx, test_data_set_K/{input,output}_J.pb and
tolerance.txt.

  prepare.py OUT --onnx-data DIR      needs: onnx, numpy. DIR: onnx/backend/test/data of the source package
"""
import argparse
import os
import shutil
import warnings
import numpy as np
import onnx
from onnx import numpy_helper

warnings.filterwarnings("ignore")


def proto(value, info):
    """A case's value in the file form of test data sets; the type comes from the model's signature."""
    kind = info.type.WhichOneof("value") if info is not None else "tensor_type"
    if isinstance(value, onnx.TensorProto):
        return value
    if value is None or kind == "optional_type":
        return numpy_helper.from_optional(None if value is None else value, info.name)
    if isinstance(value, list) or kind == "sequence_type":
        return numpy_helper.from_list(list(value), info.name)
    if isinstance(value, dict):
        return numpy_helper.from_dict(value, info.name)
    return numpy_helper.from_array(np.asarray(value), info.name if info is not None else "")


def tolerance(case):
    """The case's own, or some ulps of a 16-bit output: bf16 as ONNX's runner has it (two), f16 four, since the expected
    values were themselves computed step by step in f16."""
    kinds = {output.type.tensor_type.elem_type for output in case.model.graph.output}
    rtol, atol = case.rtol, case.atol
    if onnx.TensorProto.BFLOAT16 in kinds:
        rtol = max(rtol, 2**-6)
    if onnx.TensorProto.FLOAT16 in kinds:
        rtol, atol = max(rtol, 2**-8), max(atol, 2**-14)
    return f"{rtol:g} {atol:g}\n"


def write_case(case, out):
    folder = os.path.join(out, case.name)
    for k, (inputs, outputs) in enumerate(case.data_sets or []):
        data = os.path.join(folder, f"test_data_set_{k}")
        os.makedirs(data)
        for side, values, infos in (("input", inputs, case.model.graph.input), ("output", outputs, case.model.graph.output)):
            for j, value in enumerate(values):
                info = infos[j] if j < len(infos) else None
                with open(os.path.join(data, f"{side}_{j}.pb"), "wb") as file:
                    file.write(proto(value, info).SerializeToString())
    onnx.save(case.model, os.path.join(folder, "model.onnx"))
    with open(os.path.join(folder, "tolerance.txt"), "w") as file:
        file.write(tolerance(case))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--onnx-data", required=True)
    args = parser.parse_args()
    stamp = os.path.join(args.out, "stamp.txt")
    key = onnx.__version__ + " 2"
    if os.path.exists(stamp) and open(stamp).read() == key:
        return
    print("prepare: ONNX's backend test cases", flush=True)
    shutil.rmtree(args.out, ignore_errors=True)
    os.makedirs(args.out)
    from onnx.backend.test import loader
    names = []
    for case in loader.load_model_tests(kind="node"):
        try:
            write_case(case, args.out)
            names.append(case.name)
        except (TypeError, ValueError, AttributeError, AssertionError) as error:
            shutil.rmtree(os.path.join(args.out, case.name), ignore_errors=True)
            print(f"prepare: {case.name} cannot be written: {error}")
    for group in ("simple", "pytorch-operator", "pytorch-converted"):
        for name in sorted(os.listdir(os.path.join(args.onnx_data, group))):
            source = os.path.join(args.onnx_data, group, name)
            if os.path.isdir(os.path.join(source, "test_data_set_0")):
                shutil.copytree(source, os.path.join(args.out, name))
                with open(os.path.join(args.out, name, "tolerance.txt"), "w") as file:
                    file.write("1e-3 1e-5\n")
                names.append(name)
    with open(os.path.join(args.out, "cases.txt"), "w") as file:
        file.write("\n".join(sorted(names)) + "\n")
    with open(stamp, "w") as file:
        file.write(key)


main()
