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

import numpy as np
import torch
import torch.nn.functional as F

import gpu


def conv(**attributes):
    return lambda x, w: F.conv2d(x, w, **attributes)


def lstm(x, w, r):
    """Returns the states of an LSTM without bias. PyTorch has the gates i, f, g, o; ONNX has i, o, f, g."""
    reorder = lambda t: torch.cat([t[0].chunk(4)[gate] for gate in (0, 2, 3, 1)])
    hidden = r.shape[2]
    state = x.new_zeros(1, x.shape[1], hidden)
    return torch.lstm(x, (state, state), [reorder(w), reorder(r)], False, 1, 0.0, False, False, False)[0].unsqueeze(1)


# Names: the text of the nodes, the shapes of the inputs, and the function. Inputs named w and r are constants; those named i are
# integers below the size of dim 0 of x.
CASES = {
    "conv3x3-32x128x28": ("y = Conv<pads=[1,1,1,1]>(x, w)", {"x": (32, 128, 28, 28), "w": (128, 128, 3, 3)}, conv(padding=1)),
    "conv3x3-32x256x14": ("y = Conv<pads=[1,1,1,1]>(x, w)", {"x": (32, 256, 14, 14), "w": (256, 256, 3, 3)}, conv(padding=1)),
    "conv3x3-1x64x56": ("y = Conv<pads=[1,1,1,1]>(x, w)", {"x": (1, 64, 56, 56), "w": (64, 64, 3, 3)}, conv(padding=1)),
    "conv3x3-1x512x7": ("y = Conv<pads=[1,1,1,1]>(x, w)", {"x": (1, 512, 7, 7), "w": (512, 512, 3, 3)}, conv(padding=1)),
    "conv3x3-s2-8x64x112": ("y = Conv<pads=[1,1,1,1],strides=[2,2]>(x, w)", {"x": (8, 64, 112, 112), "w": (128, 64, 3, 3)}, conv(padding=1, stride=2)),
    "conv3x3-320x64x64": ("y = Conv<pads=[1,1,1,1]>(x, w)", {"x": (2, 320, 64, 64), "w": (320, 320, 3, 3)}, conv(padding=1)),
    "conv1x1-32x256x14": ("y = Conv(x, w)", {"x": (32, 256, 14, 14), "w": (1024, 256, 1, 1)}, conv()),
    "conv1x1-1x1024x14": ("y = Conv(x, w)", {"x": (1, 1024, 14, 14), "w": (256, 1024, 1, 1)}, conv()),
    "conv7x7-32x3x224": ("y = Conv<pads=[3,3,3,3],strides=[2,2]>(x, w)", {"x": (32, 3, 224, 224), "w": (64, 3, 7, 7)}, conv(padding=3, stride=2)),
    "conv5x5-8x32x64": ("y = Conv<pads=[2,2,2,2]>(x, w)", {"x": (8, 32, 64, 64), "w": (64, 32, 5, 5)}, conv(padding=2)),
    "conv3x3-dilated": ("y = Conv<pads=[2,2,2,2],dilations=[2,2]>(x, w)", {"x": (4, 256, 32, 32), "w": (256, 256, 3, 3)}, conv(padding=2, dilation=2)),
    "conv3x3-groups32": ("y = Conv<pads=[1,1,1,1],group=32>(x, w)", {"x": (8, 256, 28, 28), "w": (256, 8, 3, 3)}, conv(padding=1, groups=32)),
    "depthwise3x3-8x144x56": ("y = Conv<pads=[1,1,1,1],group=144>(x, w)", {"x": (8, 144, 56, 56), "w": (144, 1, 3, 3)}, conv(padding=1, groups=144)),
    "depthwise7x7-8x96x56": ("y = Conv<pads=[3,3,3,3],group=96>(x, w)", {"x": (8, 96, 56, 56), "w": (96, 1, 7, 7)}, conv(padding=3, groups=96)),
    "conv1d-8x512x3000": ("y = Conv<pads=[1,1]>(x, w)", {"x": (2, 80, 3000), "w": (512, 80, 3)}, lambda x, w: F.conv1d(x, w, padding=1)),
    "conv3d-1x32x32": ("y = Conv<pads=[1,1,1,1,1,1]>(x, w)", {"x": (1, 32, 32, 32, 32), "w": (32, 32, 3, 3, 3)}, lambda x, w: F.conv3d(x, w, padding=1)),
    "convtranspose-8x128x32": ("y = ConvTranspose<strides=[2,2]>(x, w)", {"x": (8, 128, 32, 32), "w": (128, 64, 2, 2)}, lambda x, w: F.conv_transpose2d(x, w, stride=2)),
    "matmul-1024": ("y = MatMul(x, w)", {"x": (1024, 1024), "w": (1024, 1024)}, lambda x, w: x @ w),
    "matmul-1000x1001x999": ("y = MatMul(x, w)", {"x": (1000, 1001), "w": (1001, 999)}, lambda x, w: x @ w),
    "matmul-1x4096x4096": ("y = MatMul(x, w)", {"x": (1, 4096), "w": (4096, 4096)}, lambda x, w: x @ w),
    "matmul-64x4096x11008": ("y = MatMul(x, w)", {"x": (64, 4096), "w": (4096, 11008)}, lambda x, w: x @ w),
    "matmul-batch-96x128": ("y = MatMul(x, b)", {"x": (96, 128, 64), "b": (96, 64, 128)}, lambda x, b: x @ b),
    "matmul-dynamic-2048": ("y = MatMul(x, b)", {"x": (2048, 2048), "b": (2048, 2048)}, lambda x, b: x @ b),
    "gemm-transb-bias-gelu": ("g = Gemm<transB=1>(x, w, r)\n y = Gelu(g)", {"x": (512, 1024), "w": (4096, 1024), "r": (4096,)}, lambda x, w, r: F.gelu(F.linear(x, w, r))),
    "softmax-4096": ("y = Softmax<axis=-1>(x)", {"x": (4096, 4096)}, lambda x: x.softmax(-1)),
    "softmax-32000": ("y = Softmax<axis=-1>(x)", {"x": (256, 32000)}, lambda x: x.softmax(-1)),
    "softmax-axis1": ("y = Softmax<axis=1>(x)", {"x": (16, 64, 4096)}, lambda x: x.softmax(1)),
    "layernorm-4096": ("y = LayerNormalization(x, w, r)", {"x": (4096, 4096), "w": (4096,), "r": (4096,)}, lambda x, w, r: F.layer_norm(x, (4096,), w, r)),
    "instancenorm": ("y = InstanceNormalization(x, w, r)", {"x": (8, 64, 128, 128), "w": (64,), "r": (64,)}, lambda x, w, r: F.instance_norm(x, weight=w, bias=r)),
    "groupnorm": ("y = GroupNormalization<num_groups=32>(x, w, r)", {"x": (2, 320, 64, 64), "w": (320,), "r": (320,)}, lambda x, w, r: F.group_norm(x, 32, w, r)),
    "gelu": ("y = Gelu(x)", {"x": (4096, 4096)}, F.gelu),
    "add-broadcast": ("y = Add(x, b)", {"x": (64, 128, 1024), "b": (1, 128, 1)}, lambda x, b: x + b),
    "sum-last": ("a = Constant<value_ints=[-1]>()\n y = ReduceSum<keepdims=0>(x, a)", {"x": (4096, 4096)}, lambda x: x.sum(-1)),
    "sum-first": ("a = Constant<value_ints=[0]>()\n y = ReduceSum<keepdims=0>(x, a)", {"x": (4096, 4096)}, lambda x: x.sum(0)),
    "mean-all": ("y = ReduceMean<keepdims=0>(x)", {"x": (4096, 4096)}, lambda x: x.mean()),
    "argmax-32000": ("y = ArgMax<axis=-1,keepdims=0>(x)", {"x": (64, 32000)}, lambda x: x.argmax(-1)),
    "topk-50": ("k = Constant<value_ints=[50]>()\n y, j = TopK(x, k)", {"x": (64, 32000)}, lambda x: x.topk(50).values),
    "cumsum-4096": ("a = Constant<value_int=1>()\n y = CumSum(x, a)", {"x": (1024, 4096)}, lambda x: x.cumsum(1)),
    "transpose-0213": ("y = Transpose<perm=[0,2,1,3]>(x)", {"x": (16, 512, 12, 64)}, lambda x: x.transpose(1, 2).contiguous()),
    "transpose-10": ("y = Transpose<perm=[1,0]>(x)", {"x": (4096, 4096)}, lambda x: x.t().contiguous()),
    "transpose-0231": ("y = Transpose<perm=[0,2,3,1]>(x)", {"x": (32, 128, 28, 28)}, lambda x: x.permute(0, 2, 3, 1).contiguous()),
    "transpose-0312": ("y = Transpose<perm=[0,3,1,2]>(x)", {"x": (32, 28, 28, 128)}, lambda x: x.permute(0, 3, 1, 2).contiguous()),
    "gather-rows": ("y = Gather<axis=0>(x, i)", {"x": (30522, 768), "i": (64, 128)}, lambda x, i: x[i]),
    "concat-channels": ("y = Concat<axis=1>(x, b)", {"x": (8, 64, 80, 80), "b": (8, 64, 80, 80)}, lambda x, b: torch.cat((x, b), 1)),
    "slice-pad": ("p = Constant<value_ints=[0,0,1,1,0,0,1,1]>()\n y = Pad<mode=\"reflect\">(x, p)", {"x": (8, 64, 80, 80)}, lambda x: F.pad(x, (1, 1, 1, 1), mode="reflect")),
    "maxpool3x3-s2": ("y = MaxPool<kernel_shape=[3,3],strides=[2,2],pads=[1,1,1,1]>(x)", {"x": (32, 64, 112, 112)}, lambda x: F.max_pool2d(x, 3, 2, 1)),
    "avgpool2x2": ("y = AveragePool<kernel_shape=[2,2],strides=[2,2]>(x)", {"x": (32, 64, 112, 112)}, lambda x: F.avg_pool2d(x, 2)),
    "globalavgpool": ("y = GlobalAveragePool(x)", {"x": (32, 2048, 7, 7)}, lambda x: x.mean((2, 3), keepdim=True)),
    "resize-nearest-2x": ("e = Constant<value_floats=[1.0,1.0,2.0,2.0]>()\n y = Resize<mode=\"nearest\",coordinate_transformation_mode=\"asymmetric\",nearest_mode=\"floor\">(x, , e)", {"x": (8, 128, 40, 40)}, lambda x: F.interpolate(x, scale_factor=2)),
    "resize-linear-2x": ("e = Constant<value_floats=[1.0,1.0,2.0,2.0]>()\n y = Resize<mode=\"linear\">(x, , e)", {"x": (8, 128, 40, 40)}, lambda x: F.interpolate(x, scale_factor=2, mode="bilinear")),
    "gridsample": ("y = GridSample(x, b)", {"x": (8, 64, 64, 64), "b": (8, 64, 64, 2)}, lambda x, b: F.grid_sample(x, b, align_corners=False)),
    "lstm-64x32x256": ("y, h, c = LSTM<hidden_size=256>(x, w, r)", {"x": (64, 32, 256), "w": (1, 1024, 256), "r": (1, 1024, 256)}, lstm),
    "attention-8x12x512x64": ("y = Attention(x, b, c)", {n: (8, 12, 512, 64) for n in "xbc"}, F.scaled_dot_product_attention),
    "sin-chain": ("a = Sin(x)\n b = Mul(a, x)\n c = Exp(b)\n d = Add(c, a)\n y = Tanh(d)", {"x": (4096, 4096)}, lambda x: torch.tanh(torch.exp(x.sin() * x) + x.sin())),
    "clip-small": ("y = Relu(x)", {"x": (1, 1000)}, torch.relu),
}


def make_arrays(shapes, precision):
    """Returns the values of the inputs, by name. Constants are scaled by their depth, so that sums don't overflow f16."""
    generator = np.random.default_rng(0)
    arrays = {}
    for name, shape in shapes.items():
        if name == "i":
            arrays[name] = generator.integers(0, shapes["x"][0], shape)
            continue
        scale = np.prod(shape[1:]) ** -0.5 if name in ("w", "r") and len(shape) > 1 else 1.0
        arrays[name] = (generator.standard_normal(shape, np.float32) * scale).astype(np.float16 if precision == "f16" else np.float32)
    return arrays


def write_model(path, text, arrays, precision):
    """Writes the model of a row, and returns the names of its inputs."""
    from onnx import helper, numpy_helper, parser, save
    element = "float16" if precision == "f16" else "float"
    inputs = [name for name in arrays if name not in ("w", "r")]
    declare = lambda name: f"{'int64' if name == 'i' else element}[{','.join(map(str, arrays[name].shape))}] {name}"
    result = "int64" if "ArgMax" in text else element
    graph = parser.parse_graph(f"row ({', '.join(map(declare, inputs))}) => ({result} y) {{ {text} }}")
    graph.output[0].type.tensor_type.ClearField("shape")
    graph.initializer.extend(numpy_helper.from_array(arrays[name], name) for name in arrays if name not in inputs)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=10), path)
    return inputs


def measure(args, row, precision):
    text, shapes, call = CASES[row]
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
