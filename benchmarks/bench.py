#!/usr/bin/env python3
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Compares Adze with the installed peers, interleaved in one run, and with the limits of the machine at that moment.

  bench.py BUILD [--models a,b] [--threads 1,2] [--rounds 5] [--seconds 1] [--attempts 3]
                 [--peers onnxruntime,openvino,iree] [--mcpu x86-64-v3] [--json FILE] [--plot FILE.svg]

In each round every engine runs the same model on the same inputs for the given time, one after the other, all on the first
N cores; an engine's figure is the median of its rounds' medians, so that a slower machine affects all of them. Immediately
before and after Adze's turn, machine-limits measures the rate of fused multiply-adds for as long as the turn, and that of a
copy. Printed: `speedup`, the best peer's time divided by Adze's (above 1: Adze is faster), and `limit`, the fraction of the
machine's rate that Adze reached: of the multiply-adds, or of the copy if that fraction is larger. `in cache`: the data of a
call fit the last-level cache, which has another rate. `by definition`: counts the operations of plain convolutions, of which
Winograd convolutions need fewer. For the four whole models: the peak memory of a process that runs one, and the time to the
first result minus an inference. `between bursts of its length`: module-limits, for constant products and a convolution.

Peers run in their best configuration: ONNX Runtime with all optimisations and N threads within an operator; OpenVINO with
the latency hint, N threads and f32; IREE compiled for this CPU. Each also runs alone first. A row is void if a peer was over
5 % slower in the interleaved run than alone; it is then measured again, at most `attempts` times.
"""
import argparse
import functools
import glob
import importlib.metadata
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import onnx
from onnx import numpy_helper
import layers

# The four whole models of the geometric mean.
MEAN_MODELS = ("resnet50", "mobilenet_v2", "bert_base", "yolo_n")
DEFAULT_MODELS = MEAN_MODELS + ("resnet50_dyn_b4", "bert_base_dyn_s93", "mm512", "mm1024", "mm2048", "conv3x3", "dwconv3x3",
                                "softmax", "layernorm", "gelu_tanh", "pointwise3", "pointwise3_dyn") + tuple(layers.MAKERS)
# The layers that are compared with the rate of multiply-adds.
COMPUTE_LAYERS = ("mm512_const", "mm1024_const", "mm2048_const", "conv3x3")
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
    settings = "all optimisations, N threads within an operator"

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
    settings = "latency hint, N threads, f32"

    def __init__(self, path, feeds, threads, precision="f32"):
        import openvino
        config = {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_NUM_THREADS": threads}
        if precision:  # else that of the CPU
            config["INFERENCE_PRECISION_HINT"] = precision
        compiled = openvino.Core().compile_model(path, "CPU", config)
        request = compiled.create_infer_request()
        arrays = list(feeds.values())
        self.call = lambda: request.infer(arrays, share_inputs=True, share_outputs=True)


class Iree(Peer):
    package = "iree-base-compiler"
    settings = "llvm-cpu for this CPU, O3, N workers"

    @staticmethod
    @functools.lru_cache(maxsize=1)
    def compile(path):
        import iree.compiler.tools
        with tempfile.TemporaryDirectory() as folder:
            text = os.path.join(folder, "model.mlir")
            subprocess.run([sys.executable, "-m", "iree.compiler.tools.import_onnx", path, "-o", text], check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=300)
            flags = ["--iree-llvmcpu-target-cpu=host", "--iree-opt-level=O3", "--iree-llvmcpu-stack-allocation-limit=262144"]
            return iree.compiler.tools.compile_file(text, input_type="onnx", target_backends=["llvm-cpu"], extra_args=flags)

    def __init__(self, path, feeds, threads):
        import iree.runtime
        image = Iree.compile(path)
        # The stacks of its workers are 128 KiB by default, half of the limit that its compiler has above: a large product of
        # dynamic size then overflows them.
        iree.runtime.flags.parse_flags(f"--task_topology_group_count={threads}", "--task_worker_stack_size=1048576")
        config = iree.runtime.Config("local-task" if threads > 1 else "local-sync")
        module = iree.runtime.load_vm_module(iree.runtime.VmModule.copy_buffer(config.vm_instance, image), config)
        name = next(n for n in module.vm_module.function_names if not n.startswith("__") and not n.endswith("$async"))
        arrays = [iree.runtime.asdevicearray(config.device, value) for value in feeds.values()]
        function = module[name]
        self.call = lambda: function(*arrays)


def on_first_cores(threads):
    """Adze and the bursts beside it share cores. The peers are left to the machine: a peer that once saw fewer cores (OpenVINO
    counts them when it starts) uses only these in all later rows, which would be unfair."""
    cores = sorted(os.sched_getaffinity(0))[:threads]
    return ["taskset", "-c", ",".join(map(str, cores))]


class Adze:
    def __init__(self, build, module, files, threads):
        self.command = on_first_cores(threads) + [os.path.join(build, "bin", "arun"), module, "--threads", str(threads)]
        for name, file in files.items():
            self.command += ["--input", f"{name}={file}"]

    def run(self, seconds):
        flags = ["--bench", "--json", "--warmup", "3", "--duration", str(seconds)]
        self.last = json.loads(subprocess.run(self.command + flags, capture_output=True, text=True, check=True).stdout)
        return self.last["latency_ms"]["p50"]

    def work(self):
        """FLOPs and bytes of one inference, summed over the kernels."""
        with tempfile.TemporaryDirectory() as folder:
            trace = os.path.join(folder, "trace.json")
            subprocess.run(self.command + ["--profile", trace], capture_output=True, check=True)
            with open(trace) as file:
                events = [e["args"] for e in json.load(file)["traceEvents"] if e.get("cat") == "kernel"]
        return sum(e["flops"] for e in events), sum(e["bytes"] for e in events), len(events)


PEERS = {"onnxruntime": OnnxRuntime, "openvino": OpenVino, "iree": Iree}


def limits(build, threads, seconds):
    command = [os.path.join(build, "bin", "machine-limits"), str(threads), str(max(1, round(seconds * 1e3))), "100"]
    command = on_first_cores(threads) + command
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def make_engines(path, feeds, files, module, threads, args):
    engines = {"adze": Adze(args.build, module, files, threads)}
    for name in args.peers:
        try:
            engines[name] = PEERS[name](path, feeds, threads)
        except Exception as error:  # a peer that cannot run a model has no figure in the row
            lines = str(error).splitlines() or [type(error).__name__]
            reason = next((line for line in lines if "error:" in line), lines[0])
            print(f"  {name}: {reason[-120:]}", file=sys.stderr)
    return engines


def measure(name, threads, engines, args):
    alone = {engine: runner.run(args.seconds) for engine, runner in engines.items()}
    rounds, gflops, copies = {engine: [] for engine in engines}, [], []
    for _ in range(args.rounds):
        for engine, runner in engines.items():
            before = limits(args.build, threads, args.seconds) if engine == "adze" else None
            rounds[engine].append(runner.run(args.seconds))
            if engine == "adze":
                after = limits(args.build, threads, args.seconds)
                gflops.append((before["fma_gflops"] + after["fma_gflops"]) / 2)
                copies.append((before["copy_gb_s"] + after["copy_gb_s"]) / 2)
    ms = {engine: statistics.median(values) for engine, values in rounds.items()}
    flops, moved, kernels = engines["adze"].work()
    compute = flops / (ms["adze"] * 1e6) / statistics.median(gflops)
    memory = moved / (ms["adze"] * 1e6) / statistics.median(copies)
    peers = {engine: value for engine, value in ms.items() if engine != "adze"}
    best = min(peers, key=peers.get) if peers else None
    last = engines["adze"].last
    return {"model": name, "threads": threads, "ms": ms, "alone_ms": alone, "rounds": rounds, "kernels": kernels,
            "flops": flops, "best_peer": best, "speedup": peers[best] / ms["adze"] if best else None,
            "void": [engine for engine in peers if peers[engine] > VOID * alone[engine]],
            "fraction_of_fma": compute, "fraction_of_copy": memory, "fma_gflops": gflops, "copy_gb_s": copies,
            "bytes": moved, "in_cache": moved < last_cache(), "fma_by_definition": compute * args.plain_share,
            "peak_bytes": last.get("peak_bytes"), "load_ms": last.get("load_ms")}


def measure_until_valid(name, threads, engines, args):
    for attempt in range(args.attempts):
        row = measure(name, threads, engines, args)
        row["attempt"] = attempt + 1
        if not row["void"]:
            break
    return row


def last_cache():
    """Bytes of the largest cache of the first core."""
    sizes = [0]
    for name in glob.glob("/sys/devices/system/cpu/cpu0/cache/index*/size"):
        with open(name) as file:
            text = file.read().strip()
        sizes.append(int(text[:-1]) << {"K": 10, "M": 20}[text[-1]])
    return max(sizes)


def plain_share(path, args):
    """Returns the operations of a model with plain convolutions, divided by those it has."""
    flops = []
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "r.json")
        command = [os.path.join(args.build, "bin", "atranslate"), path, "-o", os.path.join(folder, "m.so"), "-q"]
        for flag in ("on", "off"):
            subprocess.run(command + [f"--mcpu={args.mcpu}", f"--winograd={flag}", f"--report={report}"], check=True)
            with open(report) as file:
                flops.append(json.load(file)["totals"]["flops"])
    return flops[1] / flops[0] if flops[0] else 1


def kilobytes_of(process, file, keys):
    """Returns the sum of the matching lines of a file in /proc; None if the process has just ended."""
    try:
        with open(f"/proc/{process.pid}/{file}") as lines:
            return sum(int(line.split()[1]) for line in lines if line.startswith(keys))
    except (ProcessLookupError, FileNotFoundError):
        return 0


def memory_of(command):
    """Returns the peak KiB of a process, and its private KiB while a second process runs the same module, as last seen
    before it ended. (The usage that the system reports afterwards includes the parent process.)"""
    other, process = (subprocess.Popen(command, stdout=subprocess.DEVNULL) for _ in range(2))
    peak, own = 0, 0
    while process.poll() is None:
        peak = max(peak, kilobytes_of(process, "status", ("VmHWM",)))
        if other.poll() is None:
            own = kilobytes_of(process, "smaps_rollup", ("Private_",)) or own
        time.sleep(0.02)
    other.wait()
    return peak, own


MEMORY_OF_PEER = """
import sys, bench
path, folder, name, threads = sys.argv[1:]
feeds, _ = bench.load_feeds(folder)
peer = bench.PEERS[name](path, feeds, int(threads))
for _ in range(3):
    peer.call()
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


def show_first_use(name, threads, folder, module, files, args):
    """Prints the peak memory of a process of each engine, and the time to the first result minus one inference."""
    adze = Adze(args.build, module, files, threads)
    adze.run(0.2)
    usual, firsts = adze.last["latency_ms"]["p50"], []
    for _ in range(5):
        flags = ["--bench", "--json", "--warmup", "0", "--iterations", "1"]
        first = json.loads(subprocess.run(adze.command + flags, capture_output=True, text=True, check=True).stdout)
        firsts.append(first["load_ms"] + first["latency_ms"]["p50"] - usual)
    peak, own = memory_of(adze.command + ["--bench", "--duration", "0.5"])
    memory = {"adze": peak}
    for peer in args.peers:
        run = subprocess.run([sys.executable, "-c", MEMORY_OF_PEER, os.path.join(folder, "model.onnx"), folder, peer, str(threads)],
                             cwd=os.path.dirname(os.path.abspath(__file__)), capture_output=True, text=True)
        if run.returncode == 0:
            memory[peer] = int(run.stdout.split()[-1])
    texts = "  ".join(f"{engine} {kilobytes / 1024:.0f} MB" for engine, kilobytes in memory.items())
    print(f"{name:20} {threads}t  first result {statistics.median(firsts):.1f} ms beyond an inference  peak memory {texts}"
          f" ({own / 1024:.0f} MB not shared with a second process)", flush=True)
    return {"first_result_ms": firsts, "peak_memory_kb": memory, "own_memory_kb": own}


def show_between_bursts(row, module, args):
    """Prints single runs, each between two bursts of the same length, in one process; operations by definition."""
    gflop = row["flops"] * args.plain_share / 1e9
    command = [os.path.join(args.build, "bin", "module-limits"), module, str(gflop), str(row["threads"])]
    figures = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    print(f"{row['model']:20} {row['threads']}t  between bursts of its length: {figures['part_of_burst']:.0%} of FMA", flush=True)
    return {"between_bursts": figures}


def show(row):
    peers = "  ".join(f"{engine} {value:9.3f}" for engine, value in row["ms"].items() if engine != "adze")
    of, part = max((row["fraction_of_fma"], "FMA"), (row["fraction_of_copy"], "copy"))
    speedup = f"speedup {row['speedup']:5.2f}" if row["speedup"] else ""
    void = f"  void: {', '.join(row['void'])} slower than alone" if row["void"] else ""
    again = f"  (measured {row['attempt']} times)" if row["attempt"] > 1 else ""
    cached = ", in cache" if part == "copy" and row["in_cache"] else ""
    plain = f" ({row['fma_by_definition']:.0%} by definition)" if row["fma_by_definition"] > 1.01 * row["fraction_of_fma"] else ""
    print(f"{row['model']:20} {row['threads']}t  adze {row['ms']['adze']:9.3f} ms  {peers}  {speedup}  "
          f"limit {of:4.0%} of {part}{cached}{plain}{void}{again}", flush=True)


def bench_model(name, args):
    folder = os.path.join(args.build, "bench" if name in layers.MAKERS else "models", name)
    if name in layers.MAKERS:
        layers.make(name, folder)
    path, module = os.path.join(folder, "model.onnx"), os.path.join(args.build, "bench", name + ".so")
    feeds, files = load_feeds(folder)
    command = [os.path.join(args.build, "bin", "atranslate"), path, "-o", module, "-q", f"--mcpu={args.mcpu}"]
    start = time.perf_counter()
    result = subprocess.run(command)
    seconds = time.perf_counter() - start
    if result.returncode:
        print(f"{name:20} atranslate ended with {result.returncode}", flush=True)
        return [{"model": name, "error": f"atranslate ended with {result.returncode}"}]
    rows, args.plain_share = [], plain_share(path, args)
    for threads in args.threads:
        row = measure_until_valid(name, threads, make_engines(path, feeds, files, module, threads, args), args)
        row["compile_s"] = seconds
        rows.append(row)
        show(row)
        if name in MEAN_MODELS:
            row.update(show_first_use(name, threads, folder, module, files, args))
        if name in COMPUTE_LAYERS:
            row.update(show_between_bursts(row, module, args))
    if name in layers.MAKERS:
        shutil.rmtree(folder)
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
    parser.add_argument("--attempts", type=int, default=3)
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--mcpu", default="native")
    parser.add_argument("--json")
    parser.add_argument("--plot")
    args = parser.parse_args()
    args.threads = [int(t) for t in args.threads.split(",")]
    args.peers = [name for name in args.peers.split(",") if name]
    if args.attempts < 1:
        parser.error(f"expected at least one attempt, but got {args.attempts}")
    for name in args.peers:
        if name not in PEERS:
            parser.error(f"expected peers of {', '.join(PEERS)}, but got {name}")
    args.build = os.path.abspath(args.build)
    os.makedirs(os.path.join(args.build, "bench"), exist_ok=True)
    found = versions(args)
    print("  ".join(f"{name} {version}" for name, version in found.items()), flush=True)
    print("  ".join(f"{name}: {PEERS[name].settings}" for name in args.peers), flush=True)
    rows = [row for name in args.models.split(",") for row in bench_model(name, args)]
    settings = {name: PEERS[name].settings for name in args.peers}
    result = {"versions": found, "settings": settings, "geometric_mean": geometric_means(rows, args), "rows": rows}
    with open(args.json or os.path.join(args.build, "bench.json"), "w") as file:
        json.dump(result, file, indent=1)
    plot(rows, args.plot or os.path.join(args.build, "bench.svg"))
    sys.exit(any("error" in row for row in rows))


if __name__ == "__main__":
    main()
