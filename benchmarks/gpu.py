#!/usr/bin/env python3
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Compares whole models on cuda:0 with PyTorch, interleaved in one process.

  gpu.py BUILD [--only a,b] [--precision f16|bf16|tf32|f32|s8] [--rounds 12] [--runs 50] [--peers compile,graph] [--kernels 12] [--json FILE]

BUILD has bin/atranslate, lib/libadze_rt.so (ADZE_LIBRARY_DIR names its folder) and models/NAME/model.onnx with weights. All
tensors are on the device. A turn of Adze is `runs` asynchronous calls between two CUDA events, which replay a CUDA graph; the
peers are the same architecture with random weights in the same precision: `compile` is
torch.compile(mode="reduce-overhead"), `graph` eager mode captured in a CUDA graph. Each figure is the median of `rounds`
turns, taken one after the other; `speed` is the fastest peer's time divided by Adze's. `error` is the norm of the difference
from Adze's f32 module on the CPU, divided by the norm of its result. --kernels N also prints Adze's N slowest kernels.

Rows mm-N are a product of square matrices, the right one constant, against torch.mm (cuBLAS) in a CUDA graph; with s8 the
left one has unsigned bytes, the i32 sums are stored, and the peers are torch._int_mm and cublasGemmEx. Their `error` is
relative to f64. With s8 the other rows use models/NAME/model.int8.onnx, which aquant writes from the f32 model; PyTorch has
no 8-bit models on GPUs, so its models are f16.

Rows attention-BxHxLxD are attention of f16 over L keys of D elements, B batches of H heads (with the suffix -causal, causal
attention), against scaled_dot_product_attention of PyTorch by cuDNN and by its flash kernel, in a CUDA graph. Their `error`
is relative to f64, of two heads; `tflops` counts visible pairs of query and key.
"""
import argparse
import ctypes
import datetime
import json
import os
import statistics
import subprocess
import tempfile

import numpy as np
import torch

import adze
from adze import _libraries
from adze._module import _borrow_output

# The name of a row, with the model, the shapes of its inputs, and the batch.
ROWS = {
    "resnet50-1": ("resnet50", {}, 1),
    "resnet50-32": ("resnet50_dyn_b4", {"x": (32, 3, 224, 224)}, 32),
    "bert_base-1": ("bert_base", {}, 1),
    "bert_base-32": ("bert_base_dyn_s93", {"ids": (32, 128), "mask": (32, 128)}, 32),
    "mobilenet_v2-1": ("mobilenet_v2", {}, 1),
    **{f"mm-{n}": ("mm", {}, n) for n in (1024, 2048, 4096, 8192)},
}
ATTENTION = ("4x16x2048x128", "2x16x8192x128", "16x16x1024x128", "4x16x4096x64", "2x16x8192x64", "16x16x1024x64", "16x12x512x64",
             "16x12x512x32", "2x8x4096x40", "4x16x2048x80", "4x16x2048x96", "2x8x4096x160", "4x16x2048x256", "32x12x197x64", "8x20x1500x64")
ROWS |= {f"attention-{shape}{kind}": ("attention", {}, 0) for shape in ATTENTION for kind in ("", "-causal")}
SEQUENCE, VOCABULARY = 128, 30522


def make_product(path, n, precision):
    """Writes the model of a product by a constant, and returns its operands."""
    from onnx import TensorProto, helper, numpy_helper, save
    generator = np.random.default_rng(0)
    if precision == "s8":
        x, w = generator.integers(0, 127, (n, n), np.uint8), generator.integers(-127, 127, (n, n), np.int8)
    else:
        x, w = (generator.standard_normal((n, n), np.float32) for _ in range(2))
        if precision == "f16":
            x, w = x.astype(np.float16), w.astype(np.float16)
    weight = numpy_helper.from_array(w, "w")
    if precision == "s8":
        op, element, result = "MatMulInteger", TensorProto.UINT8, TensorProto.INT32
    else:
        op, element = "MatMul", weight.data_type
        result = element
    graph = helper.make_graph([helper.make_node(op, ["x", "w"], ["y"])], "mm", [helper.make_tensor_value_info("x", element, [n, n])],
                              [helper.make_tensor_value_info("y", result, [n, n])], [weight])
    os.makedirs(os.path.dirname(path), exist_ok=True)
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), path)
    return x, w


def make_attention(path, row):
    """Writes the model of attention, and returns query, keys and values."""
    from onnx import TensorProto, helper, save
    shape, causal = parse_attention(row)
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT16, shape) for name in "qkv"]
    graph = helper.make_graph([helper.make_node("Attention", ["q", "k", "v"], ["y"], is_causal=int(causal))], "attention", inputs,
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT16, shape)])
    os.makedirs(os.path.dirname(path), exist_ok=True)
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=10), path)
    generator = np.random.default_rng(0)
    return [generator.standard_normal(shape, np.float32).astype(np.float16) for _ in inputs]


def parse_attention(row):
    """Returns the shape of the tensors of a row, and whether it is causal."""
    return [int(size) for size in row.split("-")[1].split("x")], row.endswith("-causal")


def make_attention_peers(arrays, causal):
    from torch.nn.attention import SDPBackend, sdpa_kernel
    tensors = [torch.from_numpy(array).cuda() for array in arrays]
    captured = {}
    for name, backend in (("cudnn", SDPBackend.CUDNN_ATTENTION), ("flash", SDPBackend.FLASH_ATTENTION)):
        with sdpa_kernel(backend):
            captured[name] = capture(lambda: torch.nn.functional.scaled_dot_product_attention(*tensors, is_causal=causal))
    return {name: replay for name, (replay, _) in captured.items()}, captured


def attend(arrays, causal):
    """Returns the attention of the first two heads, in f64."""
    q, k, v = (torch.from_numpy(array[0, :2]).cuda().double() for array in arrays)
    scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
    if causal:
        scores = scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).triu(1), -torch.inf)
    return scores.softmax(-1) @ v


def cublas_bytes(a, b):
    """Returns a function that multiplies signed bytes, [m, k] by [n, k], by cublasGemmEx."""
    transposed, plain, bytes_type, sums_type, compute, algorithm = 1, 0, 3, 10, 72, -1  # its enums
    library = ctypes.CDLL(f"libcublas.so.{torch.version.cuda.split('.')[0]}")
    handle = ctypes.c_void_p()
    if library.cublasCreate_v2(ctypes.byref(handle)):
        raise RuntimeError("cublasCreate failed")
    (m, k), n = a.shape, b.shape[0]
    sums = torch.empty((m, n), dtype=torch.int32, device="cuda")
    one, zero = ctypes.c_int32(1), ctypes.c_int32(0)

    def call():
        library.cublasSetStream_v2(handle, ctypes.c_void_p(torch.cuda.current_stream().cuda_stream))
        status = library.cublasGemmEx(
            handle, transposed, plain, n, m, k, ctypes.byref(one), ctypes.c_void_p(b.data_ptr()), bytes_type, k,
            ctypes.c_void_p(a.data_ptr()), bytes_type, k, ctypes.byref(zero), ctypes.c_void_p(sums.data_ptr()), sums_type, n,
            compute, algorithm)
        if status:
            raise RuntimeError(f"cublasGemmEx failed: {status}")
        return sums

    return call


def make_product_peers(x, w, precision):
    a, b = torch.from_numpy(x).cuda(), torch.from_numpy(w).cuda()
    calls = {"mm": lambda: torch.mm(a, b)}
    if precision == "s8":
        rows, columns = a.to(torch.int8), b.t().contiguous()
        calls = {"int_mm": lambda: torch._int_mm(rows, columns.t()), "cublas": cublas_bytes(rows, columns)}
        if not torch.equal(calls["int_mm"](), calls["cublas"]()):
            raise RuntimeError("torch._int_mm and cublasGemmEx differ")
    captured = {name: capture(call) for name, call in calls.items()}
    return {name: replay for name, (replay, _) in captured.items()}, captured


def make_inputs(model, batch):
    generator = np.random.default_rng(0)
    if model.startswith("bert"):
        return [generator.integers(0, VOCABULARY, (batch, SEQUENCE)), np.ones((batch, SEQUENCE), np.int64)]
    return [generator.standard_normal((batch, 3, 224, 224), dtype=np.float32)]


def translate(args, model, shapes, output, *flags, file="model.onnx"):
    command = [os.path.join(args.build, "bin", "atranslate"), os.path.join(args.build, "models", model, file), "-q",
               "-o", output, *flags]
    for name, shape in shapes.items():
        command += ["--shape", f"{name}={'x'.join(map(str, shape))}"]
    subprocess.run(command, check=True)


class Engine:
    """Queues runs of a module on torch's current stream of now. `rows` is the dim of rows of outputs that are part of larger
    buffers."""

    def __init__(self, module, inputs, outputs, rows=None):
        self.module, self.inputs, self.outputs = module, inputs, outputs
        self.context = module.context()
        self.run = _libraries.runtime().adze_run_async
        self.run.restype = ctypes.c_void_p
        self.run.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32, ctypes.c_void_p, ctypes.c_int32, ctypes.c_void_p]
        # torch.cuda.current_stream() takes longer than a call.
        self.stream = torch.cuda.current_stream().cuda_stream
        if not self.stream:
            raise RuntimeError("torch's default stream is no stream of a context, whose own is not ordered with it")
        self.kept = self.context._borrow(inputs)
        for i, (output, info) in enumerate(zip(outputs, module.outputs)):
            borrowed = _borrow_output(output, info.name, rows)
            self.context._outs[i] = borrowed.pointer
            self.kept.append(borrowed)

    def __call__(self):
        context = self.context
        status = self.run(context._pointer, context._ins, len(self.inputs), context._outs, len(self.outputs), self.stream)
        if status:
            raise RuntimeError("adze_run_async failed")

    def profile(self):
        """Returns the microseconds and the number of launches of each kernel of a run, slowest first. Each launch is timed
        alone, which adds about two microseconds."""
        with self.context.profile() as profile:
            for _ in range(3):
                self.context(*self.inputs, out=self.outputs)
        kernels = {}
        launches = len(profile.events) // 3
        for event in profile.events[launches:]:  # the first run warms up
            entry = kernels.setdefault(event["name"].split(".")[0], [0.0, 0])
            entry[0] += event["dur"] / 2
            entry[1] += 0.5
        return sorted(kernels.items(), key=lambda item: -item[1][0])


def make_engine(path, arrays):
    module = adze.load(path, device="cuda:0")
    shapes = module.infer_shapes(*(array.shape for array in arrays))
    outputs = [torch.empty(shape, dtype=getattr(torch, info.dtype), device="cuda")
               for shape, info in zip(shapes, module.outputs)]
    return Engine(module, [torch.from_numpy(array).cuda() for array in arrays], outputs)


def torch_model(model, precision):
    torch.manual_seed(0)
    types = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "tf32": torch.float32, "s8": torch.float16}
    if model.startswith("bert"):
        import transformers
        module = transformers.BertModel(transformers.BertConfig(), add_pooling_layer=False)
        module = module.cuda().eval().to(types[precision])
        return module, lambda tensors: module(input_ids=tensors[0], attention_mask=tensors[1])[0], lambda t: t
    import torchvision
    module = getattr(torchvision.models, "mobilenet_v2" if model.startswith("mobilenet") else "resnet50")()
    module = module.cuda().eval().to(types[precision]).to(memory_format=torch.channels_last)
    convert = lambda t: t.to(types[precision]).to(memory_format=torch.channels_last)
    return module, lambda tensors: module(tensors[0]), convert


def capture(call):
    """Returns a function that replays the call, and the object that owns its memory."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            call()
    stream.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = call()
    return graph.replay, (graph, result)


def make_peers(args, model, arrays):
    module, call, convert = torch_model(model, args.precision)
    tensors = [convert(torch.from_numpy(array).cuda()) for array in arrays]
    peers, kept = {}, [module]
    if "compile" in args.peers:
        compiled = torch.compile(call, mode="reduce-overhead")
        peers["compile"] = lambda: compiled(tensors)
    if "graph" in args.peers:
        peers["graph"], memory = capture(lambda: call(tensors))
        kept.append(memory)
    return peers, kept


def turn(call, runs):
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(runs):
        call()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / runs


def interleave(calls, rounds, runs):
    """Returns the milliseconds of a call in each of `rounds` turns, which the calls take one after the other."""
    for call in calls.values():
        for _ in range(10):
            call()
    torch.cuda.synchronize()
    times = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            times[name].append(turn(call, runs))
    return times


def print_kernels(engine, count):
    for name, (microseconds, number) in engine.profile()[:count]:
        print(f"    {name:60} {microseconds:9.2f} us in {number:g}", flush=True)


def print_timeline(call, count):
    """Prints what each kernel adds to a replayed run: the time from the end of the kernel before it to its own end.

    Kernels overlap, so a kernel may take longer than it adds. The times are those of torch.profiler, which does not serialize
    the kernels of a CUDA graph, unlike the profile of the run time.
    """
    runs = 5
    call()
    torch.cuda.synchronize()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        for _ in range(runs):
            call()
        torch.cuda.synchronize()
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        profile.export_chrome_trace(file.name)
        with open(file.name, encoding="utf-8") as trace:
            events = [event for event in json.load(trace)["traceEvents"] if event.get("cat") == "kernel"]
    events.sort(key=lambda event: event["ts"])
    last = events[-(len(events) // runs):]
    added = {}
    for before, event in zip(last, last[1:]):
        adds = event["ts"] + event["dur"] - before["ts"] - before["dur"]
        added.setdefault(event["name"], []).append((adds, event["dur"]))
    for name, times in sorted(added.items(), key=lambda item: -sum(adds for adds, _ in item[1]))[:count]:
        adds, takes = (statistics.mean(values) for values in zip(*times))
        print(f"    {name:60} adds {adds:7.2f} us, takes {takes:7.2f}, {len(times)} times", flush=True)


def measure(args, row):
    model, shapes, batch = ROWS[row]
    if (args.precision == "bf16" and model == "mm") or (args.precision != "f16" and model == "attention"):
        raise SystemExit(f"gpu.py: row {row} has no {args.precision}")
    if model == "mm":
        model = f"{row}-{args.precision}"
        arrays = make_product(os.path.join(args.build, "models", model, "model.onnx"), batch, args.precision)
        operands, arrays = arrays, arrays[:1]
    elif model == "attention":
        model = row
        operands, arrays = None, make_attention(os.path.join(args.build, "models", row, "model.onnx"), row)
    else:
        operands, arrays = None, make_inputs(model, batch)
    attention = parse_attention(row) if row.startswith("attention-") else None
    path = os.path.join(args.build, f"{row}-{args.precision}.so")
    report = path + ".json"
    is_bytes = args.precision == "s8"
    translate(args, model, shapes, path, "--target=cuda:sm_90a", f"--report={report}",
              *([] if is_bytes else [f"--precision={args.precision}"]),
              file="model.int8.onnx" if is_bytes and not operands else "model.onnx")
    engine = make_engine(path, arrays)
    engine()
    torch.cuda.synchronize()
    result = {"row": row, "launches": json.load(open(report))["totals"]["launches"]}
    if operands and args.check:
        x, w = (torch.from_numpy(array).cuda().double() for array in operands)
        expected, got = x @ w, engine.outputs[0].double()
        result["error"] = float(torch.linalg.norm(got - expected) / torch.linalg.norm(expected))
    elif attention and args.check:
        expected = attend(arrays, attention[1])
        got = engine.outputs[0][0, :2].double()
        result["error"] = float(torch.linalg.norm(got - expected) / torch.linalg.norm(expected))
    elif args.check:
        reference = path + ".cpu.so"
        translate(args, model, shapes, reference)
        expected = adze.load(reference)(*arrays, like="numpy")
        expected = np.asarray(expected, np.float64)
        got = engine.outputs[0].cpu().numpy().astype(np.float64)
        result["error"] = float(np.linalg.norm(got - expected) / np.linalg.norm(expected))
    with torch.inference_mode():
        if operands:
            peers, kept = make_product_peers(*operands, args.precision)
        elif attention:
            peers, kept = make_attention_peers(arrays, attention[1])
        else:
            peers, kept = make_peers(args, model, arrays)
        calls = {"adze": engine, **peers}
        times = interleave(calls, args.rounds, args.runs)
    result |= {f"{name}_ms": statistics.median(values) for name, values in times.items()}
    result |= {f"{name}_spread": max(values) / min(values) for name, values in times.items()}
    others = [result[f"{name}_ms"] for name in peers]
    if others:
        result["speed"] = min(others) / result["adze_ms"]
    if attention:
        (batches, heads, length, depth), causal = attention
        pairs = length * (length + 1) // 2 if causal else length * length
        result["tflops"] = 4 * batches * heads * pairs * depth / result["adze_ms"] / 1e9
    if args.kernels:
        print_kernels(engine, args.kernels)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--only", type=lambda text: text.split(","), default=[row for row in ROWS if not row.startswith(("mm", "attention"))])
    parser.add_argument("--precision", default="f16")
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--peers", type=lambda text: text.split(",") if text else [], default=["compile", "graph"])
    parser.add_argument("--kernels", type=int, default=0)
    parser.add_argument("--no-check", dest="check", action="store_false")
    parser.add_argument("--json")
    args = parser.parse_args()
    if args.precision == "tf32":
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    driver = subprocess.run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"], capture_output=True, text=True)
    about = {"date": datetime.date.today().isoformat(), "device": torch.cuda.get_device_name(0),
             "driver": driver.stdout.strip(), "torch": torch.__version__, "precision": args.precision}
    print(json.dumps(about), flush=True)
    torch.cuda.set_stream(torch.cuda.Stream())
    results = []
    for row in args.only:
        result = measure(args, row)
        results.append(result)
        print(json.dumps({k: round(v, 6) if isinstance(v, float) else v for k, v in result.items()}), flush=True)
        torch.cuda.empty_cache()
        torch._dynamo.reset()
    if args.json:
        with open(args.json, "w") as file:
            json.dump({**about, "rows": results}, file, indent=1)


if __name__ == "__main__":
    main()
