# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Runs a model on data and measures its tensors, which are outputs of a compiled copy
of the model."""

from __future__ import annotations

import os
import tempfile
from typing import Any, Callable, Iterable, Iterator, Sequence

import numpy as np
import onnx
from onnx import helper

from .._compile import compile as compile_model
from ._data import Data
from ._graph import FLOAT, Graph

#: Called with what is done, how many of its runs are, and how many there are.
Progress = Callable[[str, int, int], Any]

#: Bins of a histogram: 8 for each of 256 steps, if all of the range is taken.
BINS = 2048

_LARGEST_MESSAGE = (1 << 31) - (1 << 20)


def with_outputs(model: Any, names: Iterable[str]) -> Any:
    """Returns a copy of the model with more f32 tensors as outputs."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    graph = Graph(copy)
    graph.infer_types()
    for name in dict.fromkeys(names):
        if name in graph.outputs:
            continue
        value = graph.values.get(name)
        if value is None or not value.type.tensor_type.elem_type:
            value = helper.make_tensor_value_info(name, FLOAT, None)
        copy.graph.output.append(value)
    return copy


def compile_proto(model: Any, name: str) -> Any:
    """Compiles a model in memory, or a file for models of 2 GB or more. Messages name the
    file `name`."""
    if model.ByteSize() < _LARGEST_MESSAGE:
        return compile_model(model, name=name)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.onnx")
        onnx.save_model(model, path, save_as_external_data=True, location="model.data")
        return compile_model(path)


def observe(
    model: Any, names: Sequence[str], data: Data, progress: Progress, what: str
) -> Iterator[Any]:
    """Yields the tensors of each run, by name."""
    progress(what, 0, data.count)
    module = compile_proto(with_outputs(model, names), data.model_name)
    for i, feed in enumerate(data.feeds()):
        results = module.run(feed, like="numpy")
        results.update((name, feed[name]) for name in names if name in feed)
        yield results
        progress(what, i + 1, data.count)


class ChannelStatistics:
    """The mean and the largest magnitude of each channel of tensors.

    Args:
        axes: The channels' dim of each tensor by name.
    """

    def __init__(self, axes: dict[str, int]) -> None:
        self.axes = axes
        self._sums: dict[str, np.ndarray] = {}
        self._counts: dict[str, int] = {}
        self.greatest: dict[str, np.ndarray] = {}

    def add(self, results: Any) -> None:
        for name, axis in self.axes.items():
            rows = np.moveaxis(results[name], axis, -1)
            rows = rows.reshape(-1, rows.shape[-1])
            if not rows.size:
                continue
            sums, greatest = rows.sum(axis=0, dtype=np.float64), np.abs(rows).max(axis=0)
            if name in self._sums:
                sums = sums + self._sums[name]
                greatest = np.maximum(greatest, self.greatest[name])
            self._sums[name], self.greatest[name] = sums, greatest
            self._counts[name] = self._counts.get(name, 0) + rows.shape[0]

    def mean(self, name: str) -> np.ndarray:
        return self._sums[name] / self._counts[name]


class Histogram:
    """Histograms of the elements of tensors, between the extrema of an earlier run.

    Attributes:
        counts: The number of elements in each bin, except for those that are 0.
        zeros: The number of elements that are 0, which any scale represents.
    """

    def __init__(self, low: float, high: float) -> None:
        self.low, self.high = low, high
        self.counts = np.zeros(BINS, np.int64)
        self.zeros = 0

    def _bins(self, values: np.ndarray) -> np.ndarray:
        width = self.high - self.low
        index = ((values - np.float32(self.low)) * np.float32(BINS / width)).astype(np.int32)
        return np.clip(index, 0, BINS - 1)

    def add(self, array: np.ndarray) -> None:
        if self.high > self.low:
            flat = array.reshape(-1)
            values = flat[flat != 0]
            self.zeros += len(flat) - len(values)
            self.counts += np.bincount(self._bins(values), minlength=BINS)

    def all_counts(self) -> np.ndarray:
        """Returns the counts including those of 0."""
        counts = self.counts.copy()
        counts[self._bins(np.zeros(1, np.float32))[0]] += self.zeros
        return counts

    @property
    def edges(self) -> np.ndarray:
        return np.linspace(self.low, self.high, BINS + 1)


class Errors:
    """Sums of squares of tensors, and of their differences from other tensors."""

    def __init__(self, names: Iterable[str]) -> None:
        self.signal = dict.fromkeys(names, 0.0)
        self.noise = dict.fromkeys(self.signal, 0.0)

    def add(self, reference: Any, results: Any) -> None:
        for name in self.signal:
            expected = np.asarray(reference[name], np.float64)
            difference = np.asarray(results[name], np.float64) - expected
            self.signal[name] += float(np.square(expected).sum())
            self.noise[name] += float(np.square(difference).sum())
