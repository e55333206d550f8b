# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Classifies images with a trained model: compiles it, runs batches of several sizes, and prints the profile.

    classify.py MODEL.onnx FOLDER     FOLDER has samples.npy, labels.npy and reference.npy
"""

from __future__ import annotations

import pathlib
import sys

import adze
import numpy as np


def show(image: np.ndarray, digit: int) -> None:
    """Prints an image as characters, and its predicted class."""
    shades = " .:-=+*#%@"
    for number, row in enumerate(image.reshape(8, 8)):
        line = "".join(shades[int(value * (len(shades) - 1))] * 2 for value in row / image.max())
        print(f"  {line}  {digit if number == 3 else ''}".rstrip())


def main() -> None:
    model, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    samples = np.load(folder / "samples.npy")
    labels = np.load(folder / "labels.npy").ravel()
    module = adze.compile(model, dims={"batch": (1, 512, 32)})
    print("inputs:", *module.inputs[0].shape, module.inputs[0].dtype)

    # One by one, and all at once: the size of the batch is dynamic.
    logits = module(samples)
    single = np.concatenate([module(sample[None]) for sample in samples[:20]])
    assert np.allclose(single, logits[:20], rtol=1e-4, atol=1e-4)
    assert np.allclose(logits, np.load(folder / "reference.npy"), rtol=1e-3, atol=1e-4)
    digits = logits.argmax(axis=1)
    print(f"accuracy: {(digits == labels).mean():.2%} of {len(labels)} samples")
    show(samples[0], digits[0])

    # The kernels by time.
    with module.profile() as profile:
        for _ in range(10):
            module(samples)
    for kernel, _, launches in sorted(profile.summary()):
        print(f"{kernel}: {launches} launches")


main()
