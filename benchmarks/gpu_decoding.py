#!/usr/bin/env python3
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Times steps of a decoder on cuda:0 beside torch.compile with CUDA graphs.

  gpu_decoding.py BUILD MODEL.onnx [--precision f16] [--past 512,2000] [--tokens 1] [--modes reduce-overhead,max-autotune]
                  [--no-peer] [--kernels N] [--timeline N] [--check] [--rounds 12] [--runs 50] [--json FILE]

MODEL is written by `language_models.py write` with its weights, in floats or in blocks of 4 bits. BUILD has bin/atranslate and
lib/libadze_rt.so (ADZE_LIBRARY_DIR names its folder). Caches stay in place on the device, and every run is replayed. PyTorch runs
the same shapes with random weights: f16, or int4 by `_weight_int4pack_mm` in bf16. A turn is `runs` calls between two
CUDA events; each figure is the median of `rounds` turns in milliseconds, taken one after the other. `speed` is the
faster peer's time divided by Adze's. --timeline N prints the N kernels that add most to a step. --check compares logits
and new rows with those of Adze's module for the CPU, in f32.
"""
import argparse
import json
import os
import statistics
import subprocess

import numpy as np
import torch
from torch.nn import functional

import adze
from gpu import Engine, interleave, print_kernels, print_timeline

BLOCK = 32
SPARE = 8  # rows of a cache beyond those of the step


def make_step(path, tokens, past):
    """Returns an engine that runs a step of `tokens` after `past` others, with caches in place, and computes the last logits."""
    module = adze.load(path, device="cuda:0")
    generator = torch.Generator(device="cuda").manual_seed(0)
    caches = [torch.randn((1, info.shape[1], past + tokens + SPARE, info.shape[3]), generator=generator, device="cuda",
                          dtype=getattr(torch, info.dtype)) for info in module.inputs if info.name.startswith("past")]
    ids = torch.arange(1, tokens + 1, device="cuda").reshape(1, tokens)
    mask = torch.ones((1, past + tokens), dtype=torch.int64, device="cuda")
    inputs = [ids, mask, *(cache[:, :, :past] for cache in caches)]
    batch, _, words = module.infer_shapes(*(tuple(t.shape) for t in inputs))[0]
    logits = torch.empty((batch, 1, words), device="cuda", dtype=getattr(torch, module.outputs[0].dtype))
    return Engine(module, inputs, [logits, *(cache[:, :, :past + tokens] for cache in caches)], rows=2)


class Linear(torch.nn.Module):
    """A product by random weights: f16, or int4 in blocks of 32 with scales and zeros in bf16."""

    def __init__(self, depth, columns, bits):
        super().__init__()
        self.bits = bits
        if bits == 4:
            words = torch.randint(0, 256, (columns, depth // 2), dtype=torch.uint8, device="cuda")
            self.packed = torch.ops.aten._convert_weight_to_int4pack(words, 8)
            self.scales = torch.rand((depth // BLOCK, columns, 2), device="cuda").bfloat16() * 0.01
        else:
            self.weight = torch.randn((columns, depth), device="cuda").half() * 0.02

    def forward(self, x):
        if self.bits != 4:
            return functional.linear(x, self.weight)
        y = torch.ops.aten._weight_int4pack_mm(x.reshape(-1, x.shape[-1]), self.packed, BLOCK, self.scales)
        return y.reshape(*x.shape[:-1], -1)


class Decoder(torch.nn.Module):
    """The decoder of language_models.py, with caches of `capacity` rows."""

    def __init__(self, shape, bits, past, tokens, capacity):
        super().__init__()
        self.hidden, layers, inner, self.heads, self.kv, self.size, words = shape
        self.type = torch.bfloat16 if bits == 4 else torch.float16
        self.past, self.tokens = past, tokens
        linear = lambda depth, columns: Linear(depth, columns, bits)
        self.layers = torch.nn.ModuleList(torch.nn.ModuleDict({
            "qkv": linear(self.hidden, (self.heads + 2 * self.kv) * self.size), "o": linear(self.heads * self.size, self.hidden),
            "up": linear(self.hidden, 2 * inner), "down": linear(inner, self.hidden)}) for _ in range(layers))
        self.head = linear(self.hidden, words)
        self.norm = torch.ones(self.hidden, device="cuda", dtype=self.type)
        self.table = torch.randn((words, self.hidden), device="cuda").to(self.type)
        angle = torch.arange(past, past + tokens, device="cuda")[:, None] * torch.rand((1, self.size // 2), device="cuda")
        self.cos, self.sin = torch.cos(angle).to(self.type), torch.sin(angle).to(self.type)
        self.caches = [torch.randn((2, 1, self.kv, capacity, self.size), device="cuda").to(self.type) for _ in range(layers)]

    def rotate(self, x):
        first, second = x.chunk(2, -1)
        return torch.cat((first * self.cos - second * self.sin, second * self.cos + first * self.sin), -1)

    def forward(self, ids):
        end, norm = self.past + self.tokens, lambda x: functional.rms_norm(x, (self.hidden,), self.norm)
        x = self.table[ids]
        for layer, cache in zip(self.layers, self.caches):
            qkv = layer["qkv"](norm(x)).reshape(1, self.tokens, -1, self.size).transpose(1, 2)
            q, k, v = qkv.split((self.heads, self.kv, self.kv), 1)
            cache[0, :, :, self.past:end], cache[1, :, :, self.past:end] = self.rotate(k), v
            y = functional.scaled_dot_product_attention(self.rotate(q), cache[0, :, :, :end], cache[1, :, :, :end],
                                                        is_causal=self.past == 0, enable_gqa=True)
            x = x + layer["o"](y.transpose(1, 2).reshape(1, self.tokens, -1))
            gate, up = layer["up"](norm(x)).chunk(2, -1)
            x = x + layer["down"](functional.silu(gate) * up)
        return self.head(norm(x)[:, -1:])


def translate(args, output, *flags):
    subprocess.run([os.path.join(args.build, "bin", "atranslate"), args.model, "-q", "-o", output, *flags], check=True)


def check(args, step, past):
    """Returns the largest differences from the module for the CPU, relative to the largest logit and cache element."""
    path = args.model + ".cpu.so"
    translate(args, path, "--target=cpu")
    arrays = [t.cpu().numpy().copy() for t in step.inputs]
    step()
    torch.cuda.synchronize()
    expected = adze.load(path)(*arrays, like="numpy")
    got = [t.cpu().numpy() for t in step.outputs]
    error = lambda a, b: float(np.abs(a.astype(np.float32) - b).max() / np.abs(b).max())
    return error(got[0][:, -1:], expected[0][:, -1:]), max(error(a, b) for a, b in zip(got[1:], expected[1:]))


def make_peers(args, past, shape, bits):
    peers = {}
    for mode in filter(None, args.modes.split(",")):
        model = Decoder(shape, bits, past, args.tokens, past + args.tokens + SPARE)
        compiled = torch.compile(model, mode=mode)
        ids = torch.arange(1, args.tokens + 1, device="cuda").reshape(1, args.tokens)
        peers[mode] = lambda compiled=compiled, ids=ids: compiled(ids)
        for _ in range(3):
            peers[mode]()
    return peers


def measure(args, path, past, shape, bits):
    step = make_step(path, args.tokens, past)
    result = {"past": past}
    if args.check:
        result["logits"], result["caches"] = check(args, step, past)
    calls = {"adze": step, **({} if args.no_peer else make_peers(args, past, shape, bits))}
    times = interleave(calls, args.rounds, args.runs)
    result.update({name: statistics.median(values) for name, values in times.items()})
    others = [result[name] for name in calls if name != "adze"]
    if others:
        result["speed"] = min(others) / result["adze"]
    print(json.dumps(result), flush=True)
    if args.kernels:
        print_kernels(step, args.kernels)
    if args.timeline:
        print_timeline(step, args.timeline)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("model")
    parser.add_argument("--precision", default="")
    parser.add_argument("--past", default="512,2000")
    parser.add_argument("--tokens", type=int, default=1)
    parser.add_argument("--modes", default="reduce-overhead,max-autotune")
    parser.add_argument("--shape", default="2048,8,8192,32,8,64,32000", help="hidden, layers, inner, heads, kv heads, head size, words")
    parser.add_argument("--no-peer", action="store_true")
    parser.add_argument("--kernels", type=int, default=0)
    parser.add_argument("--timeline", type=int, default=0)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--json")
    args = parser.parse_args()
    path = f"{args.model}.{args.precision or 'f32'}.so"
    translate(args, path, "--target=cuda:sm_90a", *([f"--precision={args.precision}"] if args.precision else []))
    bits = 4 if "int4" in os.path.basename(args.model) else 16
    shape = tuple(int(size) for size in args.shape.split(","))
    results = []
    torch.cuda.set_stream(torch.cuda.Stream())
    with torch.no_grad():
        for past in args.past.split(","):
            results.append(measure(args, path, int(past), shape, bits))
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump(results, file)


if __name__ == "__main__":
    main()
