#!/usr/bin/env python3
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Adze against the installed peers, interleaved in one run, beside what the machine gives in that very second.

  bench.py BUILD [--models a,b] [--threads 1,2] [--rounds 5] [--seconds 1] [--peers onnxruntime,openvino,iree]
                 [--mcpu x86-64-v3] [--json FILE] [--plot FILE.svg]

In each round every engine runs the same model on the same inputs for the given time, one after the other, with a burst of
machine-limits before and after; an engine's figure is the median of its rounds' medians, so that a machine that slows down
slows all of them. Printed: `speedup`, the best peer's time over Adze's (above 1: Adze is faster), and `limit`, the part of
the machine's rate that Adze reached: of the fused multiply-adds, or of the copy rate where that is the larger part.

Peers run in their best form: ONNX Runtime with all optimisations and N threads within an operator; OpenVINO with the
latency hint, N threads and f32; IREE compiled for this CPU. Each also runs alone first, and a row is void where a peer
among the others was over 5 % slower than alone.
"""
import argparse
import importlib.metadata
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
import onnx
from onnx import numpy_helper

# The four whole models that the geometric mean is taken over.
MEAN_MODELS = ("resnet50", "mobilenet_v2", "bert_base", "yolo_n")
DEFAULT_MODELS = MEAN_MODELS + ("resnet50_dyn_b4", "bert_base_dyn_s93", "mm512", "mm1024", "mm2048", "conv3x3", "dwconv3x3",
                                "softmax", "layernorm", "gelu_tanh", "pointwise3", "pointwise3_dyn")
VOID = 1.05


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


class Peer:
    """An engine in this process; `call` is one inference."""

    def run(self, seconds):
        """Median milliseconds of an inference, after three warm-up ones."""
        for _ in range(3):
            self.call()
        times, end = [], time.perf_counter() + seconds
        while len(times) < 5 or time.perf_counter() < end:
            start = time.perf_counter()
            self.call()
            times.append((time.perf_counter() - start) * 1e3)
        return statistics.median(times)


class OnnxRuntime(Peer):
    package = "onnxruntime"

    def __init__(self, path, feeds, threads):
        import onnxruntime
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        self.call = lambda: session.run(None, feeds)


class OpenVino(Peer):
    package = "openvino"

    def __init__(self, path, feeds, threads):
        import openvino
        config = {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": "f32"}
        compiled = openvino.Core().compile_model(path, "CPU", config)
        request = compiled.create_infer_request()
        arrays = list(feeds.values())
        self.call = lambda: request.infer(arrays, share_inputs=True, share_outputs=True)


class Iree(Peer):
    package = "iree-base-compiler"

    def __init__(self, path, feeds, threads):
        import iree.compiler.tools
        import iree.runtime
        with tempfile.TemporaryDirectory() as folder:
            text = os.path.join(folder, "model.mlir")
            subprocess.run([sys.executable, "-m", "iree.compiler.tools.import_onnx", path, "-o", text], check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=300)
            flags = ["--iree-llvmcpu-target-cpu=host", "--iree-opt-level=O3"]
            image = iree.compiler.tools.compile_file(text, input_type="onnx", target_backends=["llvm-cpu"], extra_args=flags)
        iree.runtime.flags.parse_flags(f"--task_topology_group_count={threads}")
        config = iree.runtime.Config("local-task" if threads > 1 else "local-sync")
        module = iree.runtime.load_vm_module(iree.runtime.VmModule.copy_buffer(config.vm_instance, image), config)
        name = next(n for n in module.vm_module.function_names if not n.startswith("__") and not n.endswith("$async"))
        arrays = [iree.runtime.asdevicearray(config.device, value) for value in feeds.values()]
        function = module[name]
        self.call = lambda: function(*arrays)


class Adze:
    def __init__(self, build, module, files, threads):
        self.command = [os.path.join(build, "bin", "arun"), module, "--threads", str(threads)]
        for name, file in files.items():
            self.command += ["--input", f"{name}={file}"]

    def run(self, seconds):
        flags = ["--bench", "--json", "--warmup", "3", "--duration", str(seconds)]
        self.last = json.loads(subprocess.run(self.command + flags, capture_output=True, text=True, check=True).stdout)
        return self.last["latency_ms"]["p50"]

    def work(self):
        """FLOPs and bytes of one inference, summed over the kernels."""
        with tempfile.NamedTemporaryFile(suffix=".json") as trace:
            subprocess.run(self.command + ["--profile", trace.name], capture_output=True, check=True)
            events = [e["args"] for e in json.load(trace)["traceEvents"] if e.get("cat") == "kernel"]
        return sum(e["flops"] for e in events), sum(e["bytes"] for e in events), len(events)


PEERS = {"onnxruntime": OnnxRuntime, "openvino": OpenVino, "iree": Iree}


def limits(build, threads, milliseconds=60):
    command = [os.path.join(build, "bin", "machine-limits"), str(threads), str(milliseconds)]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def make_engines(path, feeds, files, module, threads, args):
    engines = {"adze": Adze(args.build, module, files, threads)}
    for name in args.peers:
        try:
            engines[name] = PEERS[name](path, feeds, threads)
        except Exception as error:  # a peer that cannot run a model leaves the row to the others
            print(f"  {name}: {str(error).splitlines()[0][:120] if str(error) else type(error).__name__}", file=sys.stderr)
    return engines


def measure(name, threads, engines, args):
    alone = {engine: runner.run(args.seconds) for engine, runner in engines.items()}
    rounds, gflops, copies = {engine: [] for engine in engines}, [], []
    for _ in range(args.rounds):
        for engine, runner in engines.items():
            before = limits(args.build, threads)
            rounds[engine].append(runner.run(args.seconds))
            if engine == "adze":
                after = limits(args.build, threads)
                gflops.append((before["fma_gflops"] + after["fma_gflops"]) / 2)
                copies.append((before["copy_gb_s"] + after["copy_gb_s"]) / 2)
    ms = {engine: statistics.median(values) for engine, values in rounds.items()}
    flops, moved, kernels = engines["adze"].work()
    compute = flops / (ms["adze"] * 1e6) / statistics.median(gflops)
    memory = moved / (ms["adze"] * 1e6) / statistics.median(copies)
    peers = {engine: value for engine, value in ms.items() if engine != "adze"}
    best = min(peers, key=peers.get) if peers else None
    return {"model": name, "threads": threads, "ms": ms, "alone_ms": alone, "rounds": rounds, "kernels": kernels,
            "best_peer": best, "speedup": peers[best] / ms["adze"] if best else None,
            "void": [engine for engine in peers if peers[engine] > VOID * alone[engine]],
            "fraction_of_fma": compute, "fraction_of_copy": memory, "fma_gflops": gflops, "copy_gb_s": copies,
            "peak_bytes": engines["adze"].last.get("peak_bytes"), "load_ms": engines["adze"].last.get("load_ms")}


def show(row):
    peers = "  ".join(f"{engine} {value:9.3f}" for engine, value in row["ms"].items() if engine != "adze")
    of, part = max((row["fraction_of_fma"], "FMA"), (row["fraction_of_copy"], "copy"))
    speedup = f"speedup {row['speedup']:5.2f}" if row["speedup"] else ""
    void = f"  void: {', '.join(row['void'])} slower than alone" if row["void"] else ""
    print(f"{row['model']:20} {row['threads']}t  adze {row['ms']['adze']:9.3f} ms  {peers}  {speedup}  "
          f"limit {of:4.0%} of {part}{void}", flush=True)


def bench_model(name, args):
    folder = os.path.join(args.build, "models", name)
    path, module = os.path.join(folder, "model.onnx"), os.path.join(args.build, "bench", name + ".so")
    feeds, files = load_feeds(folder)
    command = [os.path.join(args.build, "bin", "atranslate"), path, "-o", module, "-q", f"--mcpu={args.mcpu}"]
    start = time.perf_counter()
    result = subprocess.run(command)
    seconds = time.perf_counter() - start
    if result.returncode:
        print(f"{name:20} atranslate ended with {result.returncode}", flush=True)
        return [{"model": name, "error": f"atranslate ended with {result.returncode}"}]
    rows = []
    for threads in args.threads:
        row = measure(name, threads, make_engines(path, feeds, files, module, threads, args), args)
        row["compile_s"] = seconds
        rows.append(row)
        show(row)
    os.remove(module)
    return rows


def versions(args):
    found = {"cpu": next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")}
    for name in args.peers:
        try:
            found[name] = importlib.metadata.version(PEERS[name].package)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found


def geometric_means(rows, args):
    means = {}
    for threads in args.threads:
        ratios = [row["speedup"] for row in rows if row.get("threads") == threads and row["model"] in MEAN_MODELS and row["speedup"]]
        if len(ratios) == len(MEAN_MODELS):
            means[threads] = math.exp(sum(map(math.log, ratios)) / len(ratios))
            print(f"geometric mean over {', '.join(MEAN_MODELS)}, {threads} thread(s): {means[threads]:.2f}x the best peer")
    return means


def plot(rows, file):
    import matplotlib
    matplotlib.use("svg")
    from matplotlib import pyplot
    rows = [row for row in rows if row.get("speedup")]
    figure, axis = pyplot.subplots(figsize=(8, 0.3 * len(rows) + 1.2))
    labels = [f"{row['model']}, {row['threads']}t" for row in rows]
    axis.barh(labels, [row["speedup"] for row in rows], color=["#bbbbbb" if row["void"] else "#3b6ea5" for row in rows])
    axis.axvline(1, color="black", linewidth=0.8)
    axis.invert_yaxis()
    axis.set_xlabel("best peer's time / Adze's time (above 1: Adze is faster; grey: void)")
    figure.tight_layout()
    figure.savefig(file)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--models", default=",".join(DEFAULT_MODELS))
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--mcpu", default="native")
    parser.add_argument("--json")
    parser.add_argument("--plot")
    args = parser.parse_args()
    args.threads = [int(t) for t in args.threads.split(",")]
    args.peers = [name for name in args.peers.split(",") if name]
    for name in args.peers:
        if name not in PEERS:
            parser.error(f"expected peers of {', '.join(PEERS)}, but got {name}")
    os.makedirs(os.path.join(args.build, "bench"), exist_ok=True)
    found = versions(args)
    print("  ".join(f"{name} {version}" for name, version in found.items()), flush=True)
    rows = [row for name in args.models.split(",") for row in bench_model(name, args)]
    result = {"versions": found, "geometric_mean": geometric_means(rows, args), "rows": rows}
    with open(args.json or os.path.join(args.build, "bench.json"), "w") as file:
        json.dump(result, file, indent=1)
    plot(rows, args.plot or os.path.join(args.build, "bench.svg"))
    sys.exit(any("error" in row for row in rows))


main()
