#!/usr/bin/env python3
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Counts the kernels of each model: launches of Adze, and nodes of ONNX Runtime after all optimisations.

  count_kernels.py BUILD [MODEL...]

MODEL is a folder of BUILD/models (default: all of them). Constants and shape arithmetic that are computed at load time are
not counted.
"""
import os
import re
import subprocess
import sys
import tempfile
import onnx
import onnxruntime


def count_peer_nodes(path, folder):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.optimized_model_filepath = os.path.join(folder, "optimized.onnx")
    options.log_severity_level = 3
    onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    model = onnx.load(options.optimized_model_filepath, load_external_data=False)
    return sum(node.op_type != "Constant" for node in model.graph.node)


def count_launches(build, path, folder):
    command = [os.path.join(build, "bin", "atranslate"), path, "-o", os.path.join(folder, "model.so"), "--stats"]
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    return int(re.search(r"convert-host-to-llvm: launches = (\d+)", result.stdout + result.stderr).group(1))


def main():
    build = sys.argv[1]
    models = sys.argv[2:] or sorted(os.listdir(os.path.join(build, "models")))
    print(f"{'model':<20} {'Adze':>6} {'ONNX Runtime ' + onnxruntime.__version__:>22} {'ratio':>6}")
    for name in models:
        path = os.path.join(build, "models", name, "model.onnx")
        with tempfile.TemporaryDirectory() as folder:
            ours, theirs = count_launches(build, path, folder), count_peer_nodes(path, folder)
        print(f"{name:<20} {ours:>6} {theirs:>22} {theirs / ours:>6.2f}", flush=True)


if __name__ == "__main__":
    main()
