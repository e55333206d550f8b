#!/usr/bin/env python3
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Compares single operators on cuda:0 with PyTorch, interleaved in one process.

  gpu_operators.py BUILD [--only a,b] [--precision f32,f16] [--rounds 9] [--runs 30] [--peers compile,eager] [--kernels N] [--json FILE]

BUILD has bin/atranslate, and ADZE_LIBRARY_DIR names the folder of libadze_rt.so. Each row is an ONNX model with one operator or
a few, whose tensors have the layout that ONNX gives them (images are NCHW), all on the device. The peers compute the same
function from the same tensors: `compile` is torch.compile, `eager` is eager mode with cudnn.benchmark; both run in a CUDA graph.
Products of f32 don't use TF32. Each figure is the median of `rounds` turns of `runs` calls, taken one after the other; `speed` is the
fastest peer's time divided by Adze's, `error` the norm of the difference from PyTorch's f64 divided by the norm of that.
"""
import argparse
import json
import os
import statistics
import subprocess

import torch
import torch.nn.functional as F

import gpu
from operator_models import CASES, make_arrays, write_model


def conv(**attributes):
    return lambda x, w: F.conv2d(x, w, **attributes)


def lstm(x, w, r):
    """Returns the states of an LSTM without bias. PyTorch has the gates i, f, g, o; ONNX has i, o, f, g."""
    reorder = lambda t: torch.cat([t[0].chunk(4)[gate] for gate in (0, 2, 3, 1)])
    hidden = r.shape[2]
    state = x.new_zeros(1, x.shape[1], hidden)
    return torch.lstm(x, (state, state), [reorder(w), reorder(r)], False, 1, 0.0, False, False, False)[0].unsqueeze(1)


# The functions of the rows of operator_models.CASES, whose arguments are the inputs in order.
FUNCTIONS = {
    "conv3x3-32x128x28": conv(padding=1),
    "conv3x3-32x256x14": conv(padding=1),
    "conv3x3-1x64x56": conv(padding=1),
    "conv3x3-1x512x7": conv(padding=1),
    "conv3x3-s2-8x64x112": conv(padding=1, stride=2),
    "conv3x3-320x64x64": conv(padding=1),
    "conv1x1-32x256x14": conv(),
    "conv1x1-1x1024x14": conv(),
    "conv7x7-32x3x224": conv(padding=3, stride=2),
    "conv5x5-8x32x64": conv(padding=2),
    "conv3x3-dilated": conv(padding=2, dilation=2),
    "conv3x3-groups32": conv(padding=1, groups=32),
    "conv3x3-groups32x4": conv(padding=1, groups=32),
    "conv3x3-groups7x24": conv(padding=1, groups=7),
    "depthwise3x3-8x144x56": conv(padding=1, groups=144),
    "depthwise7x7-8x96x56": conv(padding=3, groups=96),
    "conv1d-8x512x3000": lambda x, w: F.conv1d(x, w, padding=1),
    "conv3d-1x32x32": lambda x, w: F.conv3d(x, w, padding=1),
    "convtranspose-8x128x32": lambda x, w: F.conv_transpose2d(x, w, stride=2),
    "matmul-1024": lambda x, w: x @ w,
    "matmul-1000x1001x999": lambda x, w: x @ w,
    "matmul-1x4096x4096": lambda x, w: x @ w,
    "matmul-64x4096x11008": lambda x, w: x @ w,
    "matmul-batch-96x128": lambda x, b: x @ b,
    "matmul-dynamic-2048": lambda x, b: x @ b,
    "gemm-transb-bias-gelu": lambda x, w, r: F.gelu(F.linear(x, w, r)),
    "softmax-4096": lambda x: x.softmax(-1),
    "softmax-32000": lambda x: x.softmax(-1),
    "softmax-axis1": lambda x: x.softmax(1),
    "layernorm-4096": lambda x, w, r: F.layer_norm(x, (4096,), w, r),
    "instancenorm": lambda x, w, r: F.instance_norm(x, weight=w, bias=r),
    "groupnorm": lambda x, w, r: F.group_norm(x, 32, w, r),
    "gelu": F.gelu,
    "add-broadcast": lambda x, b: x + b,
    "sum-last": lambda x: x.sum(-1),
    "sum-first": lambda x: x.sum(0),
    "mean-all": lambda x: x.mean(),
    "argmax-32000": lambda x: x.argmax(-1),
    "topk-50": lambda x: x.topk(50).values,
    "cumsum-4096": lambda x: x.cumsum(1),
    "transpose-0213": lambda x: x.transpose(1, 2).contiguous(),
    "transpose-10": lambda x: x.t().contiguous(),
    "transpose-0231": lambda x: x.permute(0, 2, 3, 1).contiguous(),
    "transpose-0312": lambda x: x.permute(0, 3, 1, 2).contiguous(),
    "gather-rows": lambda x, i: x[i],
    "concat-channels": lambda x, b: torch.cat((x, b), 1),
    "slice-pad": lambda x: F.pad(x, (1, 1, 1, 1), mode="reflect"),
    "maxpool3x3-s2": lambda x: F.max_pool2d(x, 3, 2, 1),
    "avgpool2x2": lambda x: F.avg_pool2d(x, 2),
    "globalavgpool": lambda x: x.mean((2, 3), keepdim=True),
    "resize-nearest-2x": lambda x: F.interpolate(x, scale_factor=2),
    "resize-linear-2x": lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"),
    "gridsample": lambda x, b: F.grid_sample(x, b, align_corners=False),
    "lstm-64x32x256": lstm,
    "attention-8x12x512x64": F.scaled_dot_product_attention,
    "sin-chain": lambda x: torch.tanh(torch.exp(x.sin() * x) + x.sin()),
    "clip-small": torch.relu,
}


def measure(args, row, precision):
    text, shapes = CASES[row]
    call = FUNCTIONS[row]
    arrays = make_arrays(shapes, precision)
    model = f"operator-{row}-{precision}"
    inputs = write_model(os.path.join(args.build, "models", model, "model.onnx"), text, arrays, precision)
    path = os.path.join(args.build, f"{model}.so")
    report = path + ".json"
    gpu.translate(args, model, {}, path, "--target=cuda:sm_90a", f"--report={report}")
    engine = gpu.make_engine(path, [arrays[name] for name in inputs])
    engine()
    torch.cuda.synchronize()
    tensors = [torch.from_numpy(array).cuda() for array in arrays.values()]
    result = {"row": row, "type": precision, "launches": json.load(open(report))["totals"]["launches"]}
    with torch.inference_mode():
        expected = call(*(t.double() if t.is_floating_point() else t for t in tensors)).double()
        got = engine.outputs[0].double()
        result["error"] = float(torch.linalg.norm(got - expected) / torch.linalg.norm(expected))
        peers, kept = {}, []
        for name in args.peers:
            function = torch.compile(call) if name == "compile" else call
            try:
                peers[name], memory = gpu.capture(lambda: function(*tensors))
            except Exception as error:  # a peer that cannot run the operator is left out
                print(f"gpu_operators.py: {row}: {name}: {str(error).splitlines()[0]}", flush=True)
                continue
            kept.append(memory)
        times = gpu.interleave({"adze": engine, **peers}, args.rounds, args.runs)
    result |= {f"{name}_us": 1000 * statistics.median(values) for name, values in times.items()}
    if args.kernels:
        gpu.print_kernels(engine, args.kernels)
    if peers:
        result["speed"] = min(result[f"{name}_us"] for name in peers) / result["adze_us"]
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--only", type=lambda text: text.split(","), default=list(CASES))
    parser.add_argument("--precision", type=lambda text: text.split(","), default=["f32", "f16"])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--peers", type=lambda text: text.split(",") if text else [], default=["compile", "eager"])
    parser.add_argument("--kernels", type=int, default=0)
    parser.add_argument("--json")
    args = parser.parse_args()
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    torch.cuda.set_stream(torch.cuda.Stream())
    results = []
    for row in args.only:
        for precision in args.precision:
            try:
                result = measure(args, row, precision)
            except (RuntimeError, subprocess.CalledProcessError) as error:
                result = {"row": row, "type": precision, "failed": str(error).splitlines()[0]}
            results.append(result)
            print(json.dumps({k: round(v, 6) if isinstance(v, float) else v for k, v in result.items()}), flush=True)
            torch.cuda.empty_cache()
        torch._dynamo.reset()
    if args.json:
        with open(args.json, "w") as file:
            json.dump(results, file, indent=1)


if __name__ == "__main__":
    main()
