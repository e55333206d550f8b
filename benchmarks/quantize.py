#!/usr/bin/env python3
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Quantizes test models to 8 bits with ONNX Runtime's own tool.

    quantize.py build/models resnet50 [--activations u8|i8]

Writes build/models/resnet50_qdq (for signed activations resnet50_qdq_i8): the
model with QuantizeLinear and DequantizeLinear around its operators, and the
inputs of the original model. Weights are symmetric, with a scale for each
channel; the ranges of activations are those of the model's test inputs, so
speeds are representative of a real model, but accuracies are not.
`make bench --models=resnet50_qdq` measures it.
"""
import argparse
import os
import shutil

import onnx
from onnx import numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static


class TestInputs(CalibrationDataReader):
    """Yields the inputs that are stored with a test model, once."""

    def __init__(self, folder):
        model = onnx.load(os.path.join(folder, "model.onnx"), load_external_data=False)
        given = {tensor.name for tensor in model.graph.initializer}
        feeds = {}
        for number, name in enumerate(i.name for i in model.graph.input if i.name not in given):
            with open(os.path.join(folder, "data", f"input_{number}.pb"), "rb") as file:
                feeds[name] = numpy_helper.to_array(onnx.TensorProto.FromString(file.read()))
        self.feeds = iter([feeds])

    def get_next(self):
        return next(self.feeds, None)


def quantize(models, name, activations):
    folder = os.path.join(models, name)
    out = os.path.join(models, f"{name}_qdq" + ("_i8" if activations == "i8" else ""))
    os.makedirs(out, exist_ok=True)
    types = {"u8": QuantType.QUInt8, "i8": QuantType.QInt8}
    quantize_static(os.path.join(folder, "model.onnx"), os.path.join(out, "model.onnx"), TestInputs(folder),
                    quant_format=QuantFormat.QDQ, per_channel=True, activation_type=types[activations],
                    weight_type=QuantType.QInt8)
    shutil.copytree(os.path.join(folder, "data"), os.path.join(out, "data"), dirs_exist_ok=True)
    print(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models")
    parser.add_argument("names", nargs="+")
    parser.add_argument("--activations", choices=("u8", "i8"), default="u8")
    args = parser.parse_args()
    for name in args.names:
        quantize(args.models, name, args.activations)


if __name__ == "__main__":
    main()
