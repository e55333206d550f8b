#!/usr/bin/env python3
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Compares models in narrow types with OpenVINO and ONNX Runtime by CPU time.

    narrow.py MODELS NAME ... [--precision f32|bf16] [--other TOOLS] [--turns 15] [--threads 1]

MODELS/NAME is a folder of prepare.py or quantize.py. OpenVINO computes in its default
precision (bf16 where the CPU has it), ONNX Runtime in that of the model, Adze with
`--precision` (QDQ models run in bytes with f32, too). `--other` is a folder with a
second atranslate, whose modules are compared as well. All engines run in turn in one
process; a turn takes some 0.2 s, and its figure is the least CPU time of a call in it
(with several threads the wall time). Printed are the medians over the turns, and the
medians of the ratios to Adze's. Needs the Python package (ADZE_LIBRARY_DIR=build/lib
PYTHONPATH=python).
"""
import argparse
import functools
import os
import subprocess
import tempfile
import time

import numpy as np
import onnx
from bench import OnnxRuntime, OpenVino, load_feeds


class Ours:
    def __init__(self, tools, path, feeds, threads, precision):
        import adze

        with tempfile.TemporaryDirectory() as folder:
            module = os.path.join(folder, "module.so")
            command = [os.path.join(tools, "atranslate"), path, "-o", module, "-q", f"--precision={precision}"]
            subprocess.run(command, check=True)
            context = adze.load(module, threads=threads).context()
        self.call = lambda: context.run(feeds)


def time_turn(call, clock, seconds=0.2, least=3):
    """Returns the least milliseconds of a call, of at least this many after one to warm up."""
    call()
    times, end = [], time.perf_counter() + seconds
    while len(times) < least or time.perf_counter() < end:
        begin = clock()
        call()
        times.append((clock() - begin) * 1e3)
    return min(times)


def make_engines(name, args):
    folder = os.path.join(args.models, name)
    path = os.path.join(folder, "model.onnx")
    feeds, _ = load_feeds(folder)
    engines = {"Adze": Ours(args.tools, path, feeds, args.threads, args.precision)}
    if args.other:
        engines["other"] = Ours(args.other, path, feeds, args.threads, args.precision)
    for label, kind in ("OpenVINO", functools.partial(OpenVino, precision=None)), ("ONNX Runtime", OnnxRuntime):
        try:
            engines[label] = kind(path, feeds, args.threads)
            engines[label].call()
        except Exception as error:  # a peer that cannot run a model has no figure
            print(f"{name}: {label}: {(str(error).splitlines() or ['?'])[-1][:120]}")
            engines.pop(label, None)
    return engines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models")
    parser.add_argument("names", nargs="+")
    parser.add_argument("--precision", choices=("f32", "bf16"), default="f32")
    parser.add_argument("--tools", default="build/bin")
    parser.add_argument("--other", default="")
    parser.add_argument("--turns", type=int, default=15)
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    clock = time.process_time if args.threads == 1 else time.perf_counter
    best = []
    for name in args.names:
        engines = make_engines(name, args)
        times = np.array([[time_turn(e.call, clock) for e in engines.values()] for _ in range(args.turns)])
        ms, ratios = np.median(times, axis=0), np.median(times / times[:, :1], axis=0)
        columns = " | ".join(f"{label} {m:.2f} ms, {r:.2f}" for label, m, r in list(zip(engines, ms, ratios))[1:])
        print(f"| {name} | {ms[0]:.2f} ms | {columns} |", flush=True)
        best.append(min(r for label, r in zip(engines, ratios) if label in ("OpenVINO", "ONNX Runtime")))
    print(f"geometric mean over the better peer: {np.exp(np.mean(np.log(best))):.2f}; load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
