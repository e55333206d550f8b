# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Serves the digits model over HTTP: requests that arrive at about the same time run as one batch.

    uvicorn server:app --port 8000

Each batch uses a context of the module and a thread of the module's pool; the contexts share the weights.
Environment variables: MODULE, BATCH (most images of a batch), CONTEXTS (batches at once) and WAIT_MS (how long the
first image of a batch waits for others).
"""

from __future__ import annotations

import asyncio
import os
from contextlib import asynccontextmanager

import adze
import numpy as np
from fastapi import FastAPI, HTTPException
from pydantic import BaseModel

MODULE = os.environ.get("MODULE", "digits.so")
BATCH = int(os.environ.get("BATCH", "32"))
CONTEXTS = int(os.environ.get("CONTEXTS", "2"))
WAIT_MS = float(os.environ.get("WAIT_MS", "2"))
SHAPE = (1, 8, 8)


class Batcher:
    """Collects single inputs into batches, and runs at most `contexts` batches at once."""

    def __init__(self, module: adze.Module):
        self.module = module
        self.queue: asyncio.Queue[tuple[np.ndarray, asyncio.Future[np.ndarray]]] = asyncio.Queue()
        self.free = asyncio.Semaphore(CONTEXTS)
        self.batches = self.images = 0
        self.running: set[asyncio.Task[None]] = set()

    async def predict(self, image: np.ndarray) -> np.ndarray:
        """Returns the row of the output that belongs to the image."""
        result: asyncio.Future[np.ndarray] = asyncio.get_running_loop().create_future()
        await self.queue.put((image, result))
        return await result

    async def collect(self) -> list[tuple[np.ndarray, asyncio.Future[np.ndarray]]]:
        """Returns the next batch: the first image that arrives, and those that arrive soon after it."""
        batch = [await self.queue.get()]
        deadline = asyncio.get_running_loop().time() + WAIT_MS / 1000
        while len(batch) < BATCH:
            left = deadline - asyncio.get_running_loop().time()
            try:
                batch.append(await asyncio.wait_for(self.queue.get(), left) if left > 0 else self.queue.get_nowait())
            except (asyncio.TimeoutError, asyncio.QueueEmpty):
                break
        return batch

    async def run(self, batch: list[tuple[np.ndarray, asyncio.Future[np.ndarray]]]) -> None:
        try:
            images = np.stack([image for image, _ in batch])
            rows = await asyncio.wrap_future(self.module.run_async(images))
            for (_, result), row in zip(batch, rows):
                if not result.done():  # the client may have disconnected
                    result.set_result(row)
        except Exception as error:  # every client of the batch gets the error
            for _, result in batch:
                if not result.done():
                    result.set_exception(error)
        finally:
            self.free.release()
        self.batches += 1
        self.images += len(batch)

    async def work(self) -> None:
        """Runs batches without end."""
        while True:
            # While all contexts are busy, images accumulate, so that the next batch is larger.
            await self.free.acquire()
            task = asyncio.create_task(self.run(await self.collect()))
            self.running.add(task)
            task.add_done_callback(self.running.discard)


class Image(BaseModel):
    pixels: list[list[float]]  # 8 rows of 8, from 0 to 1


@asynccontextmanager
async def lifespan(app: FastAPI):
    # One thread per run, as several runs are concurrent.
    app.state.batcher = Batcher(adze.load(MODULE, threads=1))
    worker = asyncio.create_task(app.state.batcher.work())
    yield
    worker.cancel()


app = FastAPI(lifespan=lifespan)


@app.post("/predict")
async def predict(image: Image):
    pixels = np.array(image.pixels, np.float32, ndmin=2) if len({len(row) for row in image.pixels}) == 1 else None
    if pixels is None or pixels.shape != SHAPE[1:]:
        raise HTTPException(422, "expected 8 rows of 8 pixels")
    logits = await app.state.batcher.predict(pixels.reshape(SHAPE))
    return {"digit": int(logits.argmax()), "logits": logits.tolist()}


@app.get("/stats")
async def stats():
    batcher = app.state.batcher
    return {"images": batcher.images, "batches": batcher.batches, "weights_bytes": batcher.module.memory["weights_bytes"]}
