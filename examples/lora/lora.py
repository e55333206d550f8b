# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Serves two LoRA sets over one base at once, and compares with merged weights."""

import re
import sys
import threading

import adze
import numpy


def compute_merged(x, base, lora):
    """Returns the results with the set merged into the base's weights."""
    for i in range(len(base)):
        name = f"layer{i}"
        weight = base[f"{name}.weight"].astype(numpy.float64)
        if lora:
            weight = weight + lora[f"{name}.lora_A"] @ lora[f"{name}.lora_B"]
        x = numpy.maximum(x @ weight, 0)
    return x


def get_private_bytes(path):
    """Returns the bytes of the module's file of which this process has private copies."""
    with open("/proc/self/smaps") as file:
        mappings = re.split(r"^(?=[0-9a-f]+-[0-9a-f]+ )", file.read(), flags=re.MULTILINE)
    mine = [text for text in mappings if path in text.split("\n", 1)[0]]
    assert mine, "the module is mapped from its file"
    return sum(1024 * int(re.search(r"Anonymous: +(\d+)", text)[1]) for text in mine)


def serve(module, lora, x, results, name):
    context = module.context()
    context.override(lora)
    for _ in range(50):
        results[name] = context(x)


module = adze.load(sys.argv[1])
base = dict(numpy.load("base.npz"))
sets = {
    "none": {},
    "french": dict(numpy.load("french.npz")),
    "legal": dict(numpy.load("legal.npz")),
}
print(f"{len(module.inputs)} input, {len(module.overridable)} overridable weights")

x = numpy.random.default_rng(1).standard_normal((3, 512)).astype(numpy.float32)
results = {}
threads = [
    threading.Thread(target=serve, args=(module, lora, x, results, name))
    for name, lora in sets.items()
]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
for name, lora in sets.items():
    expected = compute_merged(x, base, lora)
    error = abs(results[name] - expected).max() / abs(expected).max()
    print(f"{name}: as with merged weights: {error < 1e-5}")
weights = module.info["weights_bytes"]
print("one mapping of the base:", get_private_bytes(sys.argv[1]) < weights / 20)
