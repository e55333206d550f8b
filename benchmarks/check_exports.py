#!/usr/bin/env python3
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Holds what `atranslate --emit=onnx` writes to ONNX's checker and ONNX Runtime.

  check_exports.py BUILD [NAME ...]      needs: numpy, onnx, onnxruntime

Each prepared model of BUILD/models is exported at -O0, -O1 and -O2. The file has to pass onnx.checker (full_check), to load in
ONNX Runtime and to give the model's reference outputs within 1e-4 of their range. Prints a line a file; exits with 1 if one fails.
"""
import argparse
import os
import subprocess
import sys
import tempfile
import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper


def load_tensor(path):
    tensor = onnx.TensorProto()
    with open(path, "rb") as file:
        tensor.ParseFromString(file.read())
    return numpy_helper.to_array(tensor)


def check(path, data):
    """The greatest error, as a part of the range of its output."""
    onnx.checker.check_model(path, full_check=True)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    feeds = {info.name: load_tensor(f"{data}/input_{k}.pb") for k, info in enumerate(session.get_inputs())}
    worst = 0
    for k, output in enumerate(session.run(None, feeds)):
        expected = load_tensor(f"{data}/output_{k}.pb")
        if output.shape != expected.shape:
            raise ValueError(f"expected an output of shape {expected.shape}, but got {output.shape}")
        error = np.abs(output - expected).max() / (expected.max() - expected.min())
        worst = max(worst, float(error) if np.isfinite(error) else np.inf)
    if worst > 1e-4:
        raise ValueError(f"expected results within 1e-4 of the range, but got {worst:.2g}")
    return worst


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    models = os.path.join(args.build, "models")
    failed = count = 0
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, "exported.onnx")
        for name in args.names or sorted(os.listdir(models)):
            for level in ("-O0", "-O1", "-O2"):
                count += 1
                try:
                    subprocess.run([os.path.join(args.build, "bin", "atranslate"), os.path.join(models, name, "model.onnx"), level,
                                    "--emit=onnx", "-o", path], check=True)
                    error = check(path, os.path.join(models, name, "data"))
                    nodes = len(onnx.load(path, load_external_data=False).graph.node)
                    print(f"{name} {level}: ok, {nodes} nodes, error {error:.2g} of the range", flush=True)
                except Exception as error:  # whatever a peer's library raises is this file's failure
                    failed += 1
                    print(f"{name} {level}: FAILED: {error}", flush=True)
    print(f"{count - failed} of {count} exports pass the checker, load in ONNX Runtime {onnxruntime.__version__} and agree")
    sys.exit(failed != 0)


main()
