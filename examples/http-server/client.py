# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Sends the held-out samples of the digits example to the server from many threads, and counts correct answers.

    client.py URL
"""

from __future__ import annotations

import json
import pathlib
import sys
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import numpy as np

URL = sys.argv[1]
DIGITS = pathlib.Path(__file__).resolve().parent.parent / "digits"


def fetch(path: str, body: dict | None = None) -> dict:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(URL + path, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def wait_for_server(seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while True:
        try:
            fetch("/stats")
            return
        except (urllib.error.URLError, ConnectionError):
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


def main() -> None:
    wait_for_server()
    samples, labels = np.load(DIGITS / "samples.npy"), np.load(DIGITS / "labels.npy")
    with ThreadPoolExecutor(32) as pool:
        answers = list(pool.map(lambda x: fetch("/predict", {"pixels": x.reshape(8, 8).tolist()}), samples))
    right = sum(answer["digit"] == label for answer, label in zip(answers, labels.ravel()))
    expected = np.load(DIGITS / "reference.npy")
    close = np.allclose([answer["logits"] for answer in answers], expected, rtol=1e-3, atol=1e-4)
    print(f"{right} of {len(samples)} right, logits as ONNX Runtime's: {close}")
    try:
        fetch("/predict", {"pixels": [[1, 2], [3]]})
    except urllib.error.HTTPError as error:
        print(error.code, json.load(error)["detail"])
    stats = fetch("/stats")
    print(f"{stats['images']} images in {'fewer' if stats['batches'] < stats['images'] else stats['batches']} batches")


main()
