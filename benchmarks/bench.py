#!/usr/bin/env python3
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Adze against the installed peers (ONNX Runtime, OpenVINO), interleaved in one run.

  bench.py BUILD [--models a,b] [--threads 1,2] [--rounds 5] [--seconds 2] [--peers onnxruntime,openvino] [--json FILE]

In each round every engine runs the same model on the same inputs for the given time, one after the other; an engine's figure
is the median of its rounds' medians, so that a machine that slows down slows all of them. A ratio over 1: Adze is slower.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time
import onnx
from onnx import numpy_helper


def load_feeds(folder):
    model = onnx.load(os.path.join(folder, "model.onnx"), load_external_data=False)
    given = {t.name for t in model.graph.initializer}
    names = [i.name for i in model.graph.input if i.name not in given]
    feeds, files = {}, {}
    for k, name in enumerate(names):
        files[name] = os.path.join(folder, "data", f"input_{k}.pb")
        with open(files[name], "rb") as file:
            feeds[name] = numpy_helper.to_array(onnx.TensorProto.FromString(file.read()))
    return feeds, files


def timed(call, seconds):
    """Median milliseconds of a call, after three warm-up runs."""
    for _ in range(3):
        call()
    times, end = [], time.perf_counter() + seconds
    while len(times) < 5 or time.perf_counter() < end:
        start = time.perf_counter()
        call()
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times)


class OnnxRuntime:
    def __init__(self, path, feeds, threads):
        import onnxruntime
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        self.call = lambda: session.run(None, feeds)

    def run(self, seconds):
        return timed(self.call, seconds)


class OpenVino:
    def __init__(self, path, feeds, threads):
        import openvino
        config = {"INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": "f32", "NUM_STREAMS": 1}
        compiled = openvino.Core().compile_model(path, "CPU", config)
        request = compiled.create_infer_request()
        arrays = list(feeds.values())
        self.call = lambda: request.infer(arrays, share_inputs=True, share_outputs=True)

    def run(self, seconds):
        return timed(self.call, seconds)


class Adze:
    def __init__(self, build, module, files, threads):
        self.command = [os.path.join(build, "bin", "arun"), module, "--bench", "--json", "--warmup", "3", "--threads", str(threads)]
        for name, file in files.items():
            self.command += ["--input", f"{name}={file}"]

    def run(self, seconds):
        result = subprocess.run(self.command + ["--duration", str(seconds)], capture_output=True, text=True, check=True)
        self.last = json.loads(result.stdout)
        return self.last["latency_ms"]["p50"]


def compile_module(build, path, module):
    start = time.perf_counter()
    subprocess.run([os.path.join(build, "bin", "atranslate"), path, "-o", module, "-q"], check=True)
    return time.perf_counter() - start


def bench_model(name, args):
    folder = os.path.join(args.build, "models", name)
    path, module = os.path.join(folder, "model.onnx"), os.path.join(args.build, "bench", name + ".so")
    feeds, files = load_feeds(folder)
    rows = []
    try:
        compile_seconds = compile_module(args.build, path, module)
    except subprocess.CalledProcessError as error:
        print(f"{name:20} atranslate ended with {error.returncode}", flush=True)
        return [{"model": name, "error": f"atranslate ended with {error.returncode}"}]
    for threads in args.threads:
        engines = {"adze": Adze(args.build, module, files, threads)}
        for peer, make in (("onnxruntime", OnnxRuntime), ("openvino", OpenVino)):
            if peer in args.peers:
                try:
                    engines[peer] = make(path, feeds, threads)
                except ImportError:
                    pass
        rounds = {engine: [] for engine in engines}
        for _ in range(args.rounds):
            for engine, runner in engines.items():
                rounds[engine].append(runner.run(args.seconds))
        ms = {engine: statistics.median(values) for engine, values in rounds.items()}
        row = {"model": name, "threads": threads, "ms": ms, "rounds": rounds, "compile_s": compile_seconds,
               "ratio": {peer: ms["adze"] / ms[peer] for peer in ms if peer != "adze"},
               "peak_bytes": engines["adze"].last.get("peak_bytes"), "load_ms": engines["adze"].last.get("load_ms")}
        rows.append(row)
        peers = "  ".join(f"{peer} {ms[peer]:9.3f} ms (x{row['ratio'][peer]:.2f})" for peer in row["ratio"])
        print(f"{name:20} {threads} thread{'s' if threads > 1 else ' '}  adze {ms['adze']:9.3f} ms  {peers}  compile {compile_seconds:.1f} s", flush=True)
    os.remove(module)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--models", default="resnet50,mobilenet_v2,bert_base,yolo_n,mm512,conv3x3,dwconv3x3,softmax,layernorm,gelu_tanh")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--peers", default="onnxruntime,openvino")
    parser.add_argument("--json")
    args = parser.parse_args()
    args.threads = [int(t) for t in args.threads.split(",")]
    os.makedirs(os.path.join(args.build, "bench"), exist_ok=True)
    rows = [row for name in args.models.split(",") for row in bench_model(name, args)]
    with open(args.json or os.path.join(args.build, "bench.json"), "w") as file:
        json.dump(rows, file, indent=1)
    sys.exit(any("error" in row for row in rows))


main()
