#!/usr/bin/env python3
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Compares single operators in f32 on the CPU with ONNX Runtime or OpenVINO, interleaved in one process.

    cpu_operators.py [--only a,b] [--tools build/bin] [--other TOOLS] [--peer onnxruntime|openvino] [--threads 1] [--turns 15]

The rows are those of operator_models.py, and some that matter on CPUs only. A turn takes some 20 ms, and its figure is the least
time of a call in it. Printed are the medians over the turns, and the medians of the ratios to Adze's times: above 1, Adze is
faster. `--other` is a folder with a second atranslate, whose modules are compared as well. Threads of a peer spin for a while after
a call, so there is one peer in a process, and with several threads a pause before each turn. Needs the Python package (ADZE_LIBRARY_DIR=build/lib PYTHONPATH=python).
"""
import argparse
import os
import tempfile
import time

import numpy as np
from bench import OnnxRuntime, OpenVino
from narrow import Ours, time_turn
from operator_models import CASES, make_arrays, write_model

PEERS = {"onnxruntime": OnnxRuntime, "openvino": OpenVino}
MORE = {
    "last-groups32": ("a = Conv(x, r)\n y = Conv<pads=[1,1,1,1],group=32>(a, w)", {"x": (1, 256, 28, 28), "r": (256, 256, 1, 1), "w": (256, 8, 3, 3)}),
    "last-groups32x4": ("a = Conv(x, r)\n y = Conv<pads=[1,1,1,1],group=32>(a, w)", {"x": (1, 128, 28, 28), "r": (128, 128, 1, 1), "w": (128, 4, 3, 3)}),
    "last-depthwise": ("a = Conv(x, r)\n y = Conv<pads=[1,1,1,1],group=256>(a, w)", {"x": (1, 256, 28, 28), "r": (256, 256, 1, 1), "w": (256, 1, 3, 3)}),
    "groups32x2": ("y = Conv<pads=[1,1,1,1],group=32>(x, w)", {"x": (1, 64, 56, 56), "w": (64, 2, 3, 3)}),
    "conv1d-k7": ("y = Conv<pads=[3,3]>(x, w)", {"x": (1, 80, 1000), "w": (512, 80, 7)}),
    "conv2x2-s2": ("y = Conv<strides=[2,2]>(x, w)", {"x": (1, 96, 56, 56), "w": (192, 96, 2, 2)}),
    "patches16": ("y = Conv<strides=[16,16]>(x, w)", {"x": (1, 3, 224, 224), "w": (768, 3, 16, 16)}),
    "max-middle": ("a = Constant<value_ints=[1]>()\n y = ReduceMax<keepdims=0>(x, a)", {"x": (4, 1024, 2048)}),
    "matmul-row": ("y = MatMul(x, b)", {"x": (1, 1024), "b": (1024, 1024)}),
    "matmul-heads": ("y = MatMul(x, b)", {"x": (8, 512, 64), "b": (8, 64, 512)}),
    "concat-last": ("y = Concat<axis=-1>(x, b)", {"x": (1024, 64), "b": (1024, 32)}),
}


def time_in_turn(engine, threads):
    if threads > 1:
        time.sleep(0.1)
    return time_turn(engine.call, time.perf_counter, seconds=0.02, least=2)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", type=lambda text: text.split(","), default=[*CASES, *MORE])
    parser.add_argument("--tools", default="build/bin")
    parser.add_argument("--other", default="")
    parser.add_argument("--peer", choices=PEERS, default="onnxruntime")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--turns", type=int, default=15)
    args = parser.parse_args()
    ratios = []
    for row in args.only:
        text, shapes = (CASES | MORE)[row]
        arrays = make_arrays(shapes, "f32")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.onnx")
            feeds = {name: arrays[name] for name in write_model(path, text, arrays, "f32")}
            engines = {"Adze": Ours(args.tools, path, feeds, args.threads, "f32")}
            if args.other:
                engines["other"] = Ours(args.other, path, feeds, args.threads, "f32")
            engines[args.peer] = PEERS[args.peer](path, feeds, args.threads)
        turns = [[time_in_turn(e, args.threads) for e in engines.values()] for _ in range(args.turns)]
        ms, ratio = np.median(turns, axis=0), np.median(np.array(turns) / np.array(turns)[:, :1], axis=0)
        columns = " | ".join(f"{m:.3f} | {r:.2f}" for m, r in list(zip(ms, ratio))[1:])
        print(f"| {row} | {ms[0]:.3f} | {columns} |", flush=True)
        ratios.append(ratio[-1])
    print(f"geometric mean of {len(ratios)} relative to {args.peer}: {np.exp(np.mean(np.log(ratios))):.2f}; load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
