# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Serves the digits model by Ray Serve: several replicas, requests in batches, one copy of the weights in memory.

    serve_digits.py MODULE.so FOLDER     FOLDER has samples.npy, labels.npy and reference.npy
"""

from __future__ import annotations

import asyncio
import mmap
import os
import pathlib
import sys
import time

import adze
import numpy as np
import ray
from ray import serve

REPLICAS = 2


@serve.deployment(
    num_replicas=REPLICAS,
    max_ongoing_requests=128,
    health_check_timeout_s=300,  # a busy machine may be slow although it is healthy
    ray_actor_options={"num_cpus": 0.5},
)
class Digits:
    """A replica: a process with the module mapped, and a context for each batch that runs."""

    def __init__(self, path: str):
        self.path = path
        self.module = adze.load(path, threads=1)

    @serve.batch(max_batch_size=32, batch_wait_timeout_s=0.005)
    async def predict(self, images: list[np.ndarray]) -> list[np.ndarray]:
        """Ray calls this with the requests of five milliseconds."""
        return list(await asyncio.wrap_future(self.module.run_async(np.stack(images))))

    async def memory(self) -> dict[str, int]:
        """Returns the bytes of the module's read-only mappings that this process accessed, and how many of them it copied."""
        await asyncio.sleep(0.2)  # so that the next request goes to another replica
        sums, counts = {"Rss": 0, "Anonymous": 0}, False
        for line in pathlib.Path("/proc/self/smaps").read_text().splitlines():
            words = line.split()
            if "-" in words[0] and not words[0].endswith(":"):
                counts = words[-1] == self.path and "w" not in words[1]
            elif counts and words[0][:-1] in sums:
                sums[words[0][:-1]] += int(words[1]) * 1024
        return {"pid": os.getpid(), **sums}


async def run(path: str, folder: pathlib.Path) -> None:
    serve.start(proxy_location="Disabled")  # called through handles here; omit it for HTTP
    handle = serve.run(Digits.bind(path))
    samples, labels = np.load(folder / "samples.npy"), np.load(folder / "labels.npy").ravel()
    rows = np.stack(await asyncio.gather(*(handle.predict.remote(sample) for sample in samples)))
    close = np.allclose(rows, np.load(folder / "reference.npy"), rtol=1e-3, atol=1e-4)
    print(f"{(rows.argmax(axis=1) == labels).sum()} of {len(labels)} right, logits as ONNX Runtime's: {close}")
    found: dict[int, dict[str, int]] = {}
    end = time.monotonic() + 180  # a busy machine starts them one by one
    while len(found) < REPLICAS and time.monotonic() < end:
        for memory in await asyncio.gather(*(handle.memory.remote() for _ in range(4 * REPLICAS))):
            found[memory["pid"]] = memory
    assert all(memory["Rss"] > memory["Anonymous"] for memory in found.values())
    copied = max(memory["Anonymous"] for memory in found.values()) // mmap.PAGESIZE
    print(f"{len(found)} replicas; most pages of the module that one copied: {copied}")


def start_ray() -> None:
    """Starts Ray on this machine, also beside other work."""
    # Ray sets the niceness of its workers to 15: under other load they would hardly run, and be considered dead.
    os.environ.setdefault("RAY_worker_niceness", "0")
    os.environ.setdefault("RAY_worker_register_timeout_seconds", "300")
    # Replicas find the package where this program does.
    keys = [key for key in ("PYTHONPATH", "ADZE_LIBRARY_DIR") if key in os.environ]
    for attempts_left in reversed(range(5)):
        try:
            ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="error",
                     runtime_env={"env_vars": {key: os.environ[key] for key in keys}})
            return
        except Exception as error:  # it waits 30 seconds for its first processes
            ray.shutdown()
            if "timed out during startup" not in str(error) or not attempts_left:
                raise


def main() -> None:
    start_ray()
    asyncio.run(run(str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2])))
    ray.shutdown()


main()
