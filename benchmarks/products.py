#!/usr/bin/env python3
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Compares products by packed weights of 4 bits with ONNX Runtime and llama.cpp.

    products.py [--depth 2048] [--blocks 32,128] [--levels 4,0] [--rows 1,4,8,128,512]
                [--layers 4] [--scales f32|bf16] [--rounds 15] [--tools build/bin]
                [--peers onnxruntime,llama.cpp]

A model is a chain of `--layers` MatMulNBits with different square weights: four of
them fit the last-level cache, 48 do not. `--scales bf16`: scales
are numbers of bf16, as where weights of bf16 were quantized symmetrically. llama.cpp
has the same chain in Q4_0, whose blocks are of 32 and whose scales are f16, in its
repacked layout if it has one for the CPU. All engines run
in turn in one process on one thread; a turn takes some 50 ms, and its figure is the
least CPU time of a call in it. Printed are the medians over the turns, of one layer,
and the medians of the ratios. Needs the Python package (ADZE_LIBRARY_DIR=build/lib
PYTHONPATH=python); llama.cpp comes from the package llama-cpp-python.
"""
import argparse
import ctypes
import os
import subprocess
import tempfile
import time

import numpy as np
import onnx
from narrow import time_turn
from onnx import TensorProto, helper, numpy_helper


def make_weights(depth, block, layers, scales):
    """Returns packed numbers and scales of each layer, which preserve the variance."""
    random = np.random.default_rng(0)
    shape = (depth, depth // block)
    unit = np.float32(depth**-0.5 / 4.6)

    def make_scales():
        numbers = unit * (np.float32(0.5) + random.random(shape, dtype=np.float32)) * random.choice([-1, 1], shape)
        bits = numbers.astype(np.float32).view(np.uint32)
        return (bits & 0xFFFF0000 if scales == "bf16" else bits).view(np.float32)

    return [(random.integers(0, 256, (*shape, block // 2), dtype=np.uint8), make_scales()) for _ in range(layers)]


def write_model(path, weights, depth, block, level):
    nodes, tensors, x = [], [], "x"
    for i, (packed, scales) in enumerate(weights):
        names = [f"packed{i}", f"scales{i}"]
        tensors += [numpy_helper.from_array(array, name) for array, name in zip((packed, scales), names)]
        y = "y" if i + 1 == len(weights) else f"y{i}"
        nodes.append(helper.make_node("MatMulNBits", [x, *names], [y], domain="com.microsoft", K=depth, N=depth, bits=4,
                                      block_size=block, accuracy_level=level))
        x = y
    values = [helper.make_tensor_value_info(n, TensorProto.FLOAT, ["rows", depth]) for n in ("x", "y")]
    graph = helper.make_graph(nodes, "products", values[:1], values[1:], tensors)
    imports = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    onnx.save(helper.make_model(graph, ir_version=10, opset_imports=imports), path)


class Ours:
    name = "Adze"

    def __init__(self, path, weights, tools):
        import adze

        module = path + ".so"
        subprocess.run([os.path.join(tools, "atranslate"), path, "-o", module, "-q"], check=True)
        self.context = adze.load(module, threads=1).context()

    def prepare(self, x):
        y = np.empty_like(x)
        return lambda: self.context.run({"x": x}, out={"y": y}), lambda: y


class OnnxRuntime:
    name = "onnxruntime"

    def __init__(self, path, weights, tools):
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        self.make = onnxruntime.OrtValue.ortvalue_from_numpy

    def prepare(self, x):
        binding, y = self.session.io_binding(), self.make(np.empty_like(x))
        binding.bind_ortvalue_input("x", self.make(x))
        binding.bind_ortvalue_output("y", y)
        return lambda: self.session.run_with_iobinding(binding), y.numpy


def to_q4_0(packed, scales):
    """Returns the bytes of llama.cpp's blocks of 32 numbers; longer blocks share a scale."""
    rows = packed.shape[0]
    numbers = np.stack([packed & 15, packed >> 4], -1).reshape(rows, -1, 32)
    scales = np.repeat(scales, numbers.shape[1] // scales.shape[1], axis=1).astype(np.float16)
    nibbles = numbers[..., :16] | numbers[..., 16:] << 4
    return np.concatenate([scales[..., None].view(np.uint8), nibbles], -1)


class LlamaCpp:
    name = "llama.cpp"
    Q4_0, F32 = 2, 0

    def __init__(self, path, weights, tools):
        import importlib.util

        folder = os.path.join(os.path.dirname(importlib.util.find_spec("llama_cpp").origin), "lib")
        libraries = [ctypes.CDLL(os.path.join(folder, f"lib{n}.so"), ctypes.RTLD_GLOBAL) for n in ("ggml-base", "ggml-cpu")]
        self.base, self.cpu = libraries
        self.backend = self._call(self.cpu, "ggml_backend_cpu_init")
        self._call(self.cpu, "ggml_backend_cpu_set_n_threads", self.backend, ctypes.c_int(1), result=None)
        self.depth = weights[0][0].shape[0]
        context = self._make_context()
        shape = ctypes.c_int64(self.depth), ctypes.c_int64(self.depth)
        self.weights = [self._call(self.base, "ggml_new_tensor_2d", context, ctypes.c_int(self.Q4_0), *shape) for _ in weights]
        self._call(self.base, "ggml_backend_alloc_ctx_tensors_from_buft", context, self._find_repacked())
        for tensor, (packed, scales) in zip(self.weights, weights):
            data = to_q4_0(packed, scales)
            self._call(self.base, "ggml_backend_tensor_set", tensor, data.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(0),
                       ctypes.c_size_t(data.nbytes), result=None)

    @staticmethod
    def _call(library, name, *args, result=ctypes.c_void_p):
        function = getattr(library, name)
        function.restype = result
        value = function(*(ctypes.c_void_p(a) if isinstance(a, int) else a for a in args))
        assert result is not ctypes.c_void_p or value, name
        return value

    def _make_context(self):
        class Parameters(ctypes.Structure):
            _fields_ = [("size", ctypes.c_size_t), ("buffer", ctypes.c_void_p), ("no_alloc", ctypes.c_bool)]

        return self._call(self.base, "ggml_init", Parameters(1 << 22, None, True))

    def _find_repacked(self):
        """Returns the type of buffers whose weights are repacked."""
        device = self._call(self.base, "ggml_backend_get_device", self.backend)
        find = self._call(self.base, "ggml_backend_reg_get_proc_address", self._call(self.cpu, "ggml_backend_cpu_reg"),
                          b"ggml_backend_dev_get_extra_bufts")
        types = ctypes.CFUNCTYPE(ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p)(find)(device)
        names = []
        for kind in iter(iter(types).__next__, None):
            names.append(self._call(self.base, "ggml_backend_buft_name", kind, result=ctypes.c_char_p).decode())
            if "REPACK" in names[-1].upper():
                return kind
        raise RuntimeError(f"expected a type of buffers for repacked weights among {names}")

    def prepare(self, x):
        context = self._make_context()
        first = self._call(self.base, "ggml_new_tensor_2d", context, ctypes.c_int(self.F32), ctypes.c_int64(self.depth),
                           ctypes.c_int64(x.shape[0]))
        y = first
        for weights in self.weights:
            y = self._call(self.base, "ggml_mul_mat", context, weights, y)
        graph = self._call(self.base, "ggml_new_graph", context)
        self._call(self.base, "ggml_build_forward_expand", graph, y, result=None)
        self._call(self.base, "ggml_backend_alloc_ctx_tensors", context, self.backend)
        size = ctypes.c_size_t(x.nbytes), ctypes.c_size_t(0)

        def copy(name, tensor, array):
            self._call(self.base, name, tensor, array.ctypes.data_as(ctypes.c_void_p), size[1], size[0], result=None)
            return array

        copy("ggml_backend_tensor_set", first, x)
        compute = self.base.ggml_backend_graph_compute
        backend, graph = ctypes.c_void_p(self.backend), ctypes.c_void_p(graph)
        return lambda: compute(backend, graph), lambda: copy("ggml_backend_tensor_get", y, np.empty_like(x))


PEERS = {peer.name: peer for peer in (OnnxRuntime, LlamaCpp)}


def compare(engines, rows, depth, layers, rounds):
    """Returns the microseconds of a layer by engine and turn, and the largest differences from ours, by range."""
    x = np.random.default_rng(rows).standard_normal((rows, depth), dtype=np.float32)
    calls, results = zip(*(engine.prepare(x) for engine in engines))
    turns = [[time_turn(call, time.thread_time, seconds=0.05, least=2) for call in calls] for _ in range(rounds)]
    times = np.array(turns) * 1e3 / layers
    ours, *others = (np.array(result()) for result in results)
    return times, [np.abs(other - ours).max() / np.ptp(ours) for other in others]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--depth", type=int, default=2048)
    for name, default in ("blocks", "32,128"), ("levels", "4,0"), ("rows", "1,4,8,128,512"), ("peers", ",".join(PEERS)):
        parser.add_argument("--" + name, default=default)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--scales", choices=("f32", "bf16"), default="f32")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--tools", default="build/bin")
    args = parser.parse_args()
    blocks, levels, all_rows = ([int(n) for n in text.split(",")] for text in (args.blocks, args.levels, args.rows))
    peers = [PEERS[name] for name in args.peers.split(",") if name]
    print("| block | level | rows | Adze us | " + " | ".join(f"{p.name} us | ratio | differs" for p in peers) + " |")
    print("|---" * (4 + 3 * len(peers)) + "|")
    for block in blocks:
        weights = make_weights(args.depth, block, args.layers, args.scales)
        for level in levels:
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "model.onnx")
                write_model(path, weights, args.depth, block, level)
                engines = [kind(path, weights, args.tools) for kind in (Ours, *peers)]
            for rows in all_rows:
                times, differences = compare(engines, rows, args.depth, args.layers, args.rounds)
                us, ratios = np.median(times, axis=0), np.median(times / times[:, :1], axis=0)
                columns = "".join(f" {u:.1f} | {r:.2f} | {d:.0e} |" for u, r, d in zip(us[1:], ratios[1:], differences))
                print(f"| {block} | {level} | {rows} | {us[0]:.1f} |{columns}", flush=True)


if __name__ == "__main__":
    main()
