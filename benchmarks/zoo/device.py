#!/usr/bin/env python3
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Runs real files on cuda:0, and compares results and times with those of the CPU.

  device.py pack CACHE FOLDER [REGEX ...] [--most MB]             copies files of the zoo, and the shapes of their inputs
  device.py run BUILD FOLDER [--precision f32] [--json FILE]      compiles, compares and times them

CACHE is that of zoo.py. `pack` needs ONNX Runtime, which states the sizes of dynamic dims that it accepts; `run` needs PyTorch, BUILD
has bin/atranslate, and ADZE_LIBRARY_DIR names the folder of libadze_rt.so. Inputs are seeded as zoo.py's. An error is the largest
difference from the CPU's result as a fraction of its range. Times are medians, in microseconds: of tensors on the device where the
shapes of results are known before a run, else with copies. `slow` lists the kernels that take over 8 times, and 12 microseconds
more than, what 2 TB/s or 15 TFLOP/s would.
"""
import argparse
import concurrent.futures
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
import zoo  # noqa: E402


def pack(args):
    os.makedirs(args.folder, exist_ok=True)
    inputs = {}
    for name, path, own in zoo.all_files(args.cache):
        if not os.path.exists(path) or os.path.getsize(path) > args.most * 1e6 or \
                not any(re.search(regex, name) for regex in args.names or ["."]):
            continue
        try:
            feeds, _ = zoo.make_feeds(zoo.make_session(path, 1), own)
        except Exception as error:  # weights in other files, or no sizes
            print(f"device.py: {name}: {str(error).splitlines()[0][:120]}")
            continue
        inputs[name] = [[list(value.shape), str(value.dtype), own.get(key)] for key, value in feeds.items()]
        shutil.copy(path, os.path.join(args.folder, name + ".onnx"))
    with open(os.path.join(args.folder, "inputs.json"), "w") as file:
        json.dump(inputs, file)


def compile_file(args, name):
    """Returns the reasons of failures by target, and the seconds for the device."""
    reasons, seconds = {}, 0
    for target, flags in {"cpu": [], "cuda": ["--target=cuda:sm_90a", f"--precision={args.precision}"]}.items():
        module = os.path.join(args.folder, f"{name}.{target}.so")
        begin = time.time()
        made = subprocess.run([os.path.join(args.build, "bin/atranslate"), os.path.join(args.folder, name + ".onnx"), *flags, "-j", "1",
                               "-o", module, f"--report={module}.json"], capture_output=True, text=True)
        seconds = time.time() - begin
        if made.returncode:
            reasons[target] = zoo.last_error(made.stderr)
    return name, reasons, seconds


def as_arrays(results):
    """Returns the arrays of results, which may be on the device."""
    import torch
    values = results if isinstance(results, (list, tuple)) else [results]
    return [value if isinstance(value, np.ndarray) else torch.from_dlpack(value).cpu().numpy() for value in values]


def measure_with_copies(module, arrays):
    """Returns the microseconds of a run, and those and the number of launches of each kernel."""
    times = []
    for _ in range(5):
        begin = time.perf_counter()
        module(*arrays)
        times.append(1e6 * (time.perf_counter() - begin))
    context = module.context()
    with context.profile() as profile:
        context(*arrays)
    kernels = {}
    for event in profile.events:
        entry = kernels.setdefault(event["name"].split(".")[0], [0.0, 0])
        entry[0] += event["dur"]
        entry[1] += 1
    return statistics.median(times), sorted(kernels.items(), key=lambda item: -item[1][0])


def find_slow(report, kernels):
    with open(report) as file:
        known = {kernel["function"]: kernel for kernel in reversed(json.load(file)["kernels"])}
    slow = []
    for name, (microseconds, launches) in kernels:
        if name in known:
            bytes_moved = known[name]["bytes_read"] + known[name]["bytes_written"]
            least = max(bytes_moved / 2e6, known[name]["flops"] / 15e6)
            if microseconds / launches > 8 * least + 12:
                slow.append([name, round(microseconds / launches, 1), launches])
    return slow


def measure(args, name, inputs):
    import adze
    import gpu
    import torch
    generator = np.random.default_rng(1)
    arrays = [zoo.make_array(*spec, generator) for spec in inputs]
    paths = {target: os.path.join(args.folder, f"{name}.{target}.so") for target in ("cpu", "cuda")}
    on_cpu, on_device = adze.load(paths["cpu"]), adze.load(paths["cuda"], device="cuda:0")
    expected, got = as_arrays(on_cpu(*arrays)), as_arrays(on_device(*arrays))
    row = {"error": max(zoo.difference(one, other) for one, other in zip(got, expected))}
    try:
        engine = gpu.make_engine(paths["cuda"], arrays)
        row["microseconds"] = 1000 * statistics.median(gpu.interleave({"": engine}, 5, 5)[""])
        kernels = engine.profile()
    except Exception:  # the shapes of results are data-dependent
        torch.cuda.synchronize()
        row["microseconds"], kernels = measure_with_copies(on_device, arrays)
        row["with_copies"] = True
    row["launches"] = int(sum(launches for _, (_, launches) in kernels))
    row["slow"] = find_slow(paths["cuda"] + ".json", kernels)
    return row


def run(args):
    import torch
    stream = torch.cuda.Stream()
    torch.cuda.set_stream(stream)
    with open(os.path.join(args.folder, "inputs.json")) as file:
        inputs = json.load(file)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        compiled = list(pool.map(lambda name: compile_file(args, name), inputs))
    rows = []
    for name, reasons, seconds in compiled:
        row = {"name": name, "seconds": round(seconds, 1)}
        if reasons:
            row["failures"] = reasons
        else:
            try:
                row |= measure(args, name, inputs[name])
            except Exception as error:
                row["failures"] = {"run": str(error)[:200]}
        rows.append(row)
        print(json.dumps(row), flush=True)
    if args.json:
        with open(args.json, "w") as file:
            json.dump(rows, file)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("pack")
    command.add_argument("cache")
    command.add_argument("folder")
    command.add_argument("names", nargs="*")
    command.add_argument("--most", type=float, default=2.0)
    command.set_defaults(call=pack)
    command = commands.add_parser("run")
    command.add_argument("build")
    command.add_argument("folder")
    command.add_argument("--precision", default="f32")
    command.add_argument("--json")
    command.set_defaults(call=run)
    args = parser.parse_args()
    args.call(args)


if __name__ == "__main__":
    main()
