# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""ONNX models of single operators, which cpu_operators.py and gpu_operators.py measure.

The tensors have the layout that ONNX gives them: images are NCHW.
"""
import os

import numpy as np

# Names: the text of the nodes, and the shapes of the inputs. Inputs named w and r are constants; those named i are integers
# below the size of dim 0 of x.
CASES = {
    "conv3x3-32x128x28": ("y = Conv<pads=[1,1,1,1]>(x, w)", {"x": (32, 128, 28, 28), "w": (128, 128, 3, 3)}),
    "conv3x3-32x256x14": ("y = Conv<pads=[1,1,1,1]>(x, w)", {"x": (32, 256, 14, 14), "w": (256, 256, 3, 3)}),
    "conv3x3-1x64x56": ("y = Conv<pads=[1,1,1,1]>(x, w)", {"x": (1, 64, 56, 56), "w": (64, 64, 3, 3)}),
    "conv3x3-1x512x7": ("y = Conv<pads=[1,1,1,1]>(x, w)", {"x": (1, 512, 7, 7), "w": (512, 512, 3, 3)}),
    "conv3x3-s2-8x64x112": ("y = Conv<pads=[1,1,1,1],strides=[2,2]>(x, w)", {"x": (8, 64, 112, 112), "w": (128, 64, 3, 3)}),
    "conv3x3-320x64x64": ("y = Conv<pads=[1,1,1,1]>(x, w)", {"x": (2, 320, 64, 64), "w": (320, 320, 3, 3)}),
    "conv1x1-32x256x14": ("y = Conv(x, w)", {"x": (32, 256, 14, 14), "w": (1024, 256, 1, 1)}),
    "conv1x1-1x1024x14": ("y = Conv(x, w)", {"x": (1, 1024, 14, 14), "w": (256, 1024, 1, 1)}),
    "conv7x7-32x3x224": ("y = Conv<pads=[3,3,3,3],strides=[2,2]>(x, w)", {"x": (32, 3, 224, 224), "w": (64, 3, 7, 7)}),
    "conv5x5-8x32x64": ("y = Conv<pads=[2,2,2,2]>(x, w)", {"x": (8, 32, 64, 64), "w": (64, 32, 5, 5)}),
    "conv3x3-dilated": ("y = Conv<pads=[2,2,2,2],dilations=[2,2]>(x, w)", {"x": (4, 256, 32, 32), "w": (256, 256, 3, 3)}),
    "conv3x3-groups32": ("y = Conv<pads=[1,1,1,1],group=32>(x, w)", {"x": (8, 256, 28, 28), "w": (256, 8, 3, 3)}),
    "conv3x3-groups32x4": ("y = Conv<pads=[1,1,1,1],group=32>(x, w)", {"x": (8, 128, 56, 56), "w": (128, 4, 3, 3)}),
    "conv3x3-groups7x24": ("y = Conv<pads=[1,1,1,1],group=7>(x, w)", {"x": (8, 168, 28, 28), "w": (168, 24, 3, 3)}),
    "depthwise3x3-8x144x56": ("y = Conv<pads=[1,1,1,1],group=144>(x, w)", {"x": (8, 144, 56, 56), "w": (144, 1, 3, 3)}),
    "depthwise7x7-8x96x56": ("y = Conv<pads=[3,3,3,3],group=96>(x, w)", {"x": (8, 96, 56, 56), "w": (96, 1, 7, 7)}),
    "conv1d-8x512x3000": ("y = Conv<pads=[1,1]>(x, w)", {"x": (2, 80, 3000), "w": (512, 80, 3)}),
    "conv3d-1x32x32": ("y = Conv<pads=[1,1,1,1,1,1]>(x, w)", {"x": (1, 32, 32, 32, 32), "w": (32, 32, 3, 3, 3)}),
    "convtranspose-8x128x32": ("y = ConvTranspose<strides=[2,2]>(x, w)", {"x": (8, 128, 32, 32), "w": (128, 64, 2, 2)}),
    "matmul-1024": ("y = MatMul(x, w)", {"x": (1024, 1024), "w": (1024, 1024)}),
    "matmul-1000x1001x999": ("y = MatMul(x, w)", {"x": (1000, 1001), "w": (1001, 999)}),
    "matmul-1x4096x4096": ("y = MatMul(x, w)", {"x": (1, 4096), "w": (4096, 4096)}),
    "matmul-64x4096x11008": ("y = MatMul(x, w)", {"x": (64, 4096), "w": (4096, 11008)}),
    "matmul-batch-96x128": ("y = MatMul(x, b)", {"x": (96, 128, 64), "b": (96, 64, 128)}),
    "matmul-dynamic-2048": ("y = MatMul(x, b)", {"x": (2048, 2048), "b": (2048, 2048)}),
    "gemm-transb-bias-gelu": ("g = Gemm<transB=1>(x, w, r)\n y = Gelu(g)", {"x": (512, 1024), "w": (4096, 1024), "r": (4096,)}),
    "softmax-4096": ("y = Softmax<axis=-1>(x)", {"x": (4096, 4096)}),
    "softmax-32000": ("y = Softmax<axis=-1>(x)", {"x": (256, 32000)}),
    "softmax-axis1": ("y = Softmax<axis=1>(x)", {"x": (16, 64, 4096)}),
    "layernorm-4096": ("y = LayerNormalization(x, w, r)", {"x": (4096, 4096), "w": (4096,), "r": (4096,)}),
    "instancenorm": ("y = InstanceNormalization(x, w, r)", {"x": (8, 64, 128, 128), "w": (64,), "r": (64,)}),
    "groupnorm": ("y = GroupNormalization<num_groups=32>(x, w, r)", {"x": (2, 320, 64, 64), "w": (320,), "r": (320,)}),
    "gelu": ("y = Gelu(x)", {"x": (4096, 4096)}),
    "add-broadcast": ("y = Add(x, b)", {"x": (64, 128, 1024), "b": (1, 128, 1)}),
    "sum-last": ("a = Constant<value_ints=[-1]>()\n y = ReduceSum<keepdims=0>(x, a)", {"x": (4096, 4096)}),
    "sum-first": ("a = Constant<value_ints=[0]>()\n y = ReduceSum<keepdims=0>(x, a)", {"x": (4096, 4096)}),
    "mean-all": ("y = ReduceMean<keepdims=0>(x)", {"x": (4096, 4096)}),
    "argmax-32000": ("y = ArgMax<axis=-1,keepdims=0>(x)", {"x": (64, 32000)}),
    "topk-50": ("k = Constant<value_ints=[50]>()\n y, j = TopK(x, k)", {"x": (64, 32000)}),
    "cumsum-4096": ("a = Constant<value_int=1>()\n y = CumSum(x, a)", {"x": (1024, 4096)}),
    "transpose-0213": ("y = Transpose<perm=[0,2,1,3]>(x)", {"x": (16, 512, 12, 64)}),
    "transpose-10": ("y = Transpose<perm=[1,0]>(x)", {"x": (4096, 4096)}),
    "transpose-0231": ("y = Transpose<perm=[0,2,3,1]>(x)", {"x": (32, 128, 28, 28)}),
    "transpose-0312": ("y = Transpose<perm=[0,3,1,2]>(x)", {"x": (32, 28, 28, 128)}),
    "gather-rows": ("y = Gather<axis=0>(x, i)", {"x": (30522, 768), "i": (64, 128)}),
    "concat-channels": ("y = Concat<axis=1>(x, b)", {"x": (8, 64, 80, 80), "b": (8, 64, 80, 80)}),
    "slice-pad": ("p = Constant<value_ints=[0,0,1,1,0,0,1,1]>()\n y = Pad<mode=\"reflect\">(x, p)", {"x": (8, 64, 80, 80)}),
    "maxpool3x3-s2": ("y = MaxPool<kernel_shape=[3,3],strides=[2,2],pads=[1,1,1,1]>(x)", {"x": (32, 64, 112, 112)}),
    "avgpool2x2": ("y = AveragePool<kernel_shape=[2,2],strides=[2,2]>(x)", {"x": (32, 64, 112, 112)}),
    "globalavgpool": ("y = GlobalAveragePool(x)", {"x": (32, 2048, 7, 7)}),
    "resize-nearest-2x": ("e = Constant<value_floats=[1.0,1.0,2.0,2.0]>()\n y = Resize<mode=\"nearest\",coordinate_transformation_mode=\"asymmetric\",nearest_mode=\"floor\">(x, , e)", {"x": (8, 128, 40, 40)}),
    "resize-linear-2x": ("e = Constant<value_floats=[1.0,1.0,2.0,2.0]>()\n y = Resize<mode=\"linear\">(x, , e)", {"x": (8, 128, 40, 40)}),
    "gridsample": ("y = GridSample(x, b)", {"x": (8, 64, 64, 64), "b": (8, 64, 64, 2)}),
    "lstm-64x32x256": ("y, h, c = LSTM<hidden_size=256>(x, w, r)", {"x": (64, 32, 256), "w": (1, 1024, 256), "r": (1, 1024, 256)}),
    "attention-8x12x512x64": ("y = Attention(x, b, c)", {n: (8, 12, 512, 64) for n in "xbc"}),
    "sin-chain": ("a = Sin(x)\n b = Mul(a, x)\n c = Exp(b)\n d = Add(c, a)\n y = Tanh(d)", {"x": (4096, 4096)}),
    "clip-small": ("y = Relu(x)", {"x": (1, 1000)}),
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
