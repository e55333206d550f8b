#!/usr/bin/env python3
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Writes decoder models with random weights, and times steps of them.

    language_models.py write MODEL.onnx [--shape llama|llama-8b|qwen|small|tiny] [--precision int4|f32] [--type f32|f16]
    language_models.py time MODEL.onnx [--shape ..] [--tools build/bin] [--threads 1,2] [--rounds 3] [--peers ..]
    language_models.py batch MODEL.onnx [--shape ..] [--tools build/bin]

The graphs are those that onnxruntime-genai's model builder writes for CPUs:
GroupQueryAttention with rotary embedding and a cache that grows by the new
tokens, SkipSimplifiedLayerNormalization, MatMulNBits in blocks of 32 with
accuracy_level 4. With `--type f16` activations, caches and scales are f16, as it
writes them for GPUs. The weights are seeded random numbers, so the generated text
is meaningless. `time` compares a decoding step and a prompt with ONNX Runtime,
interleaved, with caches in place and copied, and prints medians, and those of the
ratios (of CPU time with one thread, of wall time with several); with `--peers` also
with onnxruntime-genai and llama.cpp (language_peers.py).
`batch` compares steps of one sequence with those of several that share runs of the
model, by the CPU time of one thread. Both need the Python package
(ADZE_LIBRARY_DIR=build/lib PYTHONPATH=python).
"""
import argparse
import os
import subprocess
import tempfile
import time

import numpy as np
import onnx
from language_peers import PEERS
from onnx import TensorProto, helper

# hidden, layers, intermediate, heads, heads of keys, head size, words
SHAPES = {
    "llama": (2048, 8, 8192, 32, 8, 64, 32000),
    "qwen": (896, 24, 4864, 14, 2, 64, 151936),  # that of Qwen2.5-0.5B
    "llama-8b": (4096, 32, 14336, 32, 8, 128, 128256),  # that of Llama-3.1-8B
    "tiny": (128, 2, 256, 4, 2, 32, 512),
    "small": (256, 2, 512, 4, 2, 64, 512),
}
TYPES = {"f32": np.float32, "f16": np.float16}
BLOCK = 32
LONGEST = 4096


class Writer:
    """Collects nodes, and writes weights to a file next to the model."""

    def __init__(self, path, precision, element, seed):
        self.nodes, self.weights = [], []
        self.name = os.path.basename(path) + ".data"
        self.file = open(path + ".data", "wb")
        self.random, self.precision, self.element = np.random.default_rng(seed), precision, np.dtype(element)

    def node(self, op, inputs, outputs, domain="", **attributes):
        self.nodes.append(helper.make_node(op, inputs, outputs, name=outputs[0], domain=domain, **attributes))
        return outputs[0]

    def weight(self, name, array):
        if array.dtype == np.float32:
            array = array.astype(self.element)
        offset = -(-self.file.tell() // LONGEST) * LONGEST
        self.file.seek(offset)
        array.tofile(self.file)
        tensor = TensorProto(name=name, data_type=helper.np_dtype_to_tensor_dtype(array.dtype), dims=array.shape,
                             data_location=TensorProto.EXTERNAL)
        for key, value in ("location", self.name), ("offset", offset), ("length", array.nbytes):
            tensor.external_data.add(key=key, value=str(value))
        self.weights.append(tensor)
        return name

    def number(self, name, value):
        self.weights.append(onnx.numpy_helper.from_array(np.array(value, np.int64), name))

    def product(self, name, x, depth, columns, bias=False):
        """Adds the product of x by a random matrix [depth, columns], which preserves the variance."""
        scale = np.float32(depth**-0.5)
        if self.precision == "int4":
            shape = (columns, depth // BLOCK)
            packed = self.random.integers(0, 256, (*shape, BLOCK // 2), dtype=np.uint8)
            deviation = np.float32(4.6)  # of numbers in [-8, 8)
            scales = scale / deviation * (np.float32(0.5) + self.random.random(shape, dtype=np.float32))
            y = self.node("MatMulNBits", [x, self.weight(name + ".packed", packed), self.weight(name + ".scales", scales)],
                          [name], "com.microsoft", K=depth, N=columns, bits=4, block_size=BLOCK, accuracy_level=4)
        else:
            matrix = self.random.standard_normal((depth, columns), dtype=np.float32) * scale
            y = self.node("MatMul", [x, self.weight(name + ".weight", matrix)], [name])
        if not bias:
            return y
        numbers = self.random.standard_normal(columns, dtype=np.float32)
        return self.node("Add", [y, self.weight(name + ".bias", numbers)], [name + ".biased"])


def write_model(path, shape="llama", precision="int4", element="f32", seed=0):
    """Writes the model to `path`, and its weights next to it."""
    hidden, layers, inner, heads, kv, size, words = SHAPES[shape]
    w = Writer(path, precision, TYPES[element], seed)
    float_type = helper.np_dtype_to_tensor_dtype(w.element)

    def norm(name):
        numbers = 1 + 0.1 * w.random.standard_normal(hidden)
        return w.weight(name, numbers.astype(np.float32))

    angles = np.outer(np.arange(LONGEST), 10000.0 ** (-np.arange(size // 2) * 2 / size))
    w.weight("cos", np.cos(angles).astype(np.float32))
    w.weight("sin", np.sin(angles).astype(np.float32))
    w.number("one", 1)
    w.number("rows", [1])
    w.node("ReduceSum", ["attention_mask", "rows"], ["lengths"], keepdims=0)
    w.node("Sub", ["lengths", "one"], ["last64"])
    w.node("Cast", ["last64"], ["last"], to=TensorProto.INT32)
    w.node("Shape", ["attention_mask"], ["mask_shape"])
    w.node("Gather", ["mask_shape", "one"], ["total64"], axis=0)
    w.node("Cast", ["total64"], ["total"], to=TensorProto.INT32)
    table = w.random.standard_normal((words, hidden), dtype=np.float32)
    x = w.node("Gather", [w.weight("embedding", table), "input_ids"], ["embedded"])
    normal = w.node("SimplifiedLayerNormalization", [x, norm("norm")], ["normal"], axis=-1, epsilon=1e-5, stash_type=1)

    def state(kind, name, rows):
        return helper.make_tensor_value_info(f"{kind}.{name}", float_type, ["batch", kv, rows, size])

    inputs = [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "sequence"]),
              helper.make_tensor_value_info("attention_mask", TensorProto.INT64, ["batch", "all"])]
    outputs = [helper.make_tensor_value_info("logits", float_type, ["batch", "sequence", words])]
    for i in range(layers):
        p = f"layer{i}."
        qkv = [w.product(p + n, normal, hidden, c * size, bias=shape == "qwen")
               for n, c in (("q", heads), ("k", kv), ("v", kv))]
        names = [f"{i}.key", f"{i}.value"]
        inputs += [state("past_key_values", n, "past") for n in names]
        outputs += [state("present", n, "all") for n in names]
        a = w.node("GroupQueryAttention", qkv + [f"past_key_values.{n}" for n in names] + ["last", "total", "cos", "sin"],
                   [p + "attention"] + [f"present.{n}" for n in names], "com.microsoft", num_heads=heads,
                   kv_num_heads=kv, do_rotary=1, rotary_interleaved=0, scale=size**-0.5)
        o = w.product(p + "o", a, heads * size, hidden)
        w.node("SkipSimplifiedLayerNormalization", [x, o, norm(p + "norm1")], [p + "normal1", "", "", p + "sum1"],
               "com.microsoft", epsilon=1e-5)
        gate, up = (w.product(p + n, p + "normal1", hidden, inner) for n in ("gate", "up"))
        w.node("Sigmoid", [gate], [p + "sigmoid"])
        w.node("Mul", [gate, p + "sigmoid"], [p + "silu"])
        w.node("Mul", [p + "silu", up], [p + "inner"])
        down = w.product(p + "down", p + "inner", inner, hidden)
        normal, x = p + "normal2", p + "sum2"
        is_last = i + 1 == layers
        w.node("SkipSimplifiedLayerNormalization", [p + "sum1", down, norm(p + "norm2")],
               [normal] + ([] if is_last else ["", "", x]), "com.microsoft", epsilon=1e-5)
    w.node("Identity", [w.product("head", normal, hidden, words)], ["logits"])
    w.file.close()
    graph = helper.make_graph(w.nodes, shape, inputs, outputs, w.weights)
    imports = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    onnx.save(helper.make_model(graph, ir_version=10, opset_imports=imports), path)


def make_step(shape, past, rows, seed=0):
    """Returns the inputs of a step: `rows` tokens after `past` ones."""
    _, layers, _, _, kv, size, words = SHAPES[shape]
    random = np.random.default_rng(seed)
    feeds = {"input_ids": random.integers(0, words, (1, rows)),
             "attention_mask": np.ones((1, past + rows), np.int64)}
    for i in range(layers):
        for kind in "key", "value":
            feeds[f"past_key_values.{i}.{kind}"] = random.standard_normal((1, kv, past, size)).astype(np.float32)
    return feeds


def make_buffers(shape, capacity, feeds):
    """Returns caches with a capacity of `capacity` rows, which begin with those of the feeds."""
    _, layers, _, _, kv, size, _ = SHAPES[shape]
    buffers = {}
    for i in range(layers):
        for kind in "key", "value":
            past = feeds[f"past_key_values.{i}.{kind}"]
            buffers[f"{i}.{kind}"] = buffer = np.zeros((1, kv, capacity, size), np.float32)
            buffer[:, :, : past.shape[2]] = past
    return buffers


class Ours:
    """Runs steps of the module of Adze. With `buffers` the caches are updated in place."""

    def __init__(self, module, threads):
        import adze

        self.module = adze.load(module, threads=threads)
        self.context = self.module.context()

    def prepare(self, feeds, buffers, words):
        past, rows = feeds["past_key_values.0.key"].shape[2], feeds["input_ids"].shape[1]
        out = {"logits": np.empty((1, rows, words), np.float32)}
        if buffers:
            feeds = feeds | {f"past_key_values.{n}": b[:, :, :past] for n, b in buffers.items()}
            out |= {f"present.{n}": b[:, :, : past + rows] for n, b in buffers.items()}
        else:
            for name, value in feeds.items():
                if name.startswith("past"):
                    _, kv, _, size = value.shape
                    present = "present" + name.removeprefix("past_key_values")
                    out[present] = np.empty((1, kv, past + rows, size), np.float32)
        return lambda: self.context.run(feeds, out=out)


class Theirs:
    """Runs steps of ONNX Runtime. With `buffers` it updates the caches in place: past
    and present are whole buffers."""

    def __init__(self, path, threads):
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        self.session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])

    def prepare(self, feeds, buffers, words):
        import onnxruntime

        binding = self.session.io_binding()
        kept = []

        def bind(name, array, bind_to):
            value = onnxruntime.OrtValue.ortvalue_from_numpy(array)
            kept.append(value)
            bind_to(name, value)
            return value

        for name, value in feeds.items():
            state = name.removeprefix("past_key_values.")
            if buffers and state != name:
                both = bind(name, buffers[state], binding.bind_ortvalue_input)
                binding.bind_ortvalue_output(f"present.{state}", both)
            else:
                bind(name, value, binding.bind_ortvalue_input)
        for output in self.session.get_outputs():
            if not buffers or output.name == "logits":
                binding.bind_output(output.name)

        def step(kept=kept):
            self.session.run_with_iobinding(binding)

        return step


def time_steps(step, seconds, clock):
    times, end = [], time.time() + seconds
    while not times or time.time() < end:
        begin = clock()
        step()
        times.append(clock() - begin)
    return float(np.median(times)) * 1e3


def time_model(path, shape, tools, threads, peers, rounds, seconds=1):
    words = SHAPES[shape][-1]
    with tempfile.TemporaryDirectory() as folder:
        module = os.path.join(folder, "module.so")
        subprocess.run([os.path.join(tools, "atranslate"), path, "-o", module], check=True)
        names = ["ONNX Runtime", *peers]
        print("| step | cache | threads | Adze ms | " + " | ".join(f"{n} ms | ratio" for n in names) + " |")
        print("|---" * (4 + 2 * len(names)) + "|")
        for count in threads:
            clock = time.process_time if count == 1 else time.perf_counter
            both = Ours(module, count), Theirs(path, count)
            others = [PEERS[name](path, SHAPES[shape], count, LONGEST) for name in peers]
            for past, rows in (128, 1), (512, 1), (2000, 1), (0, 128), (0, 512):
                for in_place in (True, False):
                    feeds = make_step(shape, past, rows)
                    capacity = past + 64 + rows
                    buffers = make_buffers(shape, capacity, feeds) if in_place else None
                    steps = [runner.prepare(feeds, buffers, words) for runner in both]
                    if in_place:
                        steps += [peer.prepare(feeds["input_ids"][0], past, capacity)[0] for peer in others]
                    for step in steps:
                        step()
                    turns = np.array([[time_steps(step, seconds, clock) for step in steps] for _ in range(rounds)])
                    ours, *theirs = np.median(turns, axis=0)
                    ratios = np.median(turns / turns[:, :1], axis=0)[1:]
                    what = f"1 token, past {past}" if past else f"prompt of {rows}"
                    where = "in place" if in_place else "copied"
                    columns = "".join(f" {ms:.1f} | {ratio:.2f} |" for ms, ratio in zip(theirs, ratios))
                    columns += " | |" * (len(names) - len(theirs))
                    print(f"| {what} | {where} | {count} | {ours:.1f} |{columns}", flush=True)


def time_batches(path, shape, tools, rounds=25, past=128):
    import adze

    random = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "module.so")
        subprocess.run([os.path.join(tools, "atranslate"), path, "-o", file], check=True)
        module = adze.load(file, threads=1)
        generators, times = {}, {}
        for count in 1, 2, 4, 8:
            generator = adze.Generator(module, rows=past + rounds + 16, batch=max(count, 2))
            prompts = random.integers(0, SHAPES[shape][-1], (count, past))
            generators[count] = generator, [generator.add(prompt) for prompt in prompts]
            for _ in range(count + 2):  # prompts, and first steps together
                generator.step()
        for _ in range(rounds):
            for count, (generator, _) in generators.items():
                runs, begin = generator.info.num_runs, time.thread_time()
                generator.step()
                times.setdefault(count, []).append(time.thread_time() - begin)
                assert generator.info.num_runs == runs + 1
    print("| sequences | CPU ms a step | tokens in the time of one |\n|---|---|---|")
    one = np.median(times[1])
    for count, all_times in times.items():
        print(f"| {count} | {np.median(all_times) * 1e3:.1f} | {one * count / np.median(all_times):.2f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("write", "time", "batch"))
    parser.add_argument("model")
    parser.add_argument("--shape", choices=SHAPES, default="llama")
    parser.add_argument("--precision", choices=("int4", "f32"), default="int4", help="int4, or f32 for weights of --type")
    parser.add_argument("--type", choices=TYPES, default="f32", help="of activations, caches and all other weights")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tools", default="build/bin")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peers", default="", help="beside ONNX Runtime: " + ",".join(PEERS))
    arguments = parser.parse_args()
    if arguments.action == "write":
        write_model(arguments.model, arguments.shape, arguments.precision, arguments.type, arguments.seed)
    elif arguments.action == "batch":
        time_batches(arguments.model, arguments.shape, arguments.tools)
    else:
        peers = [name for name in arguments.peers.split(",") if name]
        time_model(arguments.model, arguments.shape, arguments.tools, map(int, arguments.threads.split(",")), peers,
                   arguments.rounds)


if __name__ == "__main__":
    main()
