# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Calibration data: arrays in memory or in files that are the inputs of runs."""

from __future__ import annotations

import os
import zipfile
from typing import Any, Iterator, Mapping

import numpy as np
from onnx import helper

from .._errors import ArgumentError


class _Input:
    """An input of the model: its name, dtype and dims (None where dynamic)."""

    def __init__(self, value: Any) -> None:
        self.name = value.name
        tensor = value.type.tensor_type
        if not value.type.HasField("tensor_type"):
            raise ArgumentError(f"input {value.name!r} is no tensor: it cannot be calibrated")
        self.dtype = helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        self.dims = None
        if tensor.HasField("shape"):
            self.dims = [d.dim_value if d.dim_value > 0 else None for d in tensor.shape.dim]

    def convert(self, array: Any, source: str) -> np.ndarray:
        array = np.asarray(array)
        if self.dims is not None and array.ndim == len(self.dims) - 1:
            array = array[None]  # one sample, without its batch
        if self.dims is not None and array.ndim != len(self.dims):
            raise ArgumentError(
                f"{source}: expected {len(self.dims)} dims for input {self.name!r}, but got "
                f"shape {array.shape}"
            )
        for axis, dim in enumerate(self.dims or []):
            if axis and dim is not None and array.shape[axis] != dim:
                raise ArgumentError(
                    f"{source}: expected {dim} in dim {axis} of input {self.name!r}, but got "
                    f"shape {array.shape}"
                )
        if not np.can_cast(array.dtype, self.dtype, "same_kind"):
            raise ArgumentError(
                f"{source}: expected {self.dtype} for input {self.name!r}, but got {array.dtype}"
            )
        return np.ascontiguousarray(array.astype(self.dtype, copy=False))


def _load(path: str) -> Any:
    """Returns the arrays of an .npy or .npz file."""
    try:
        return np.load(path)
    except OSError as error:
        raise ArgumentError(f"{path}: {error.strerror or error}") from error
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        raise ArgumentError(f"{path}: expected an .npy or .npz file: {error}") from error


class Data:
    """The calibration data of a model: a re-iterable sequence of feeds.

    Args:
        source: A dict of arrays, an array for a model with one input, the path of an
            .npz or .npy file, or a folder of files or a list of dicts, each with the
            inputs of one run.
        name: The model's path, for messages.
        batch: The number of samples in a run, for models whose first dim is dynamic.
    """

    def __init__(self, model: Any, name: str, source: Any, batch: int) -> None:
        self.model_name = name
        initializers = {tensor.name for tensor in model.graph.initializer}
        self.inputs = [_Input(v) for v in model.graph.input if v.name not in initializers]
        self.batch = batch
        self.parts: list[Any] = []
        self.is_split = True
        if isinstance(source, (str, os.PathLike)):
            self._take_path(os.fspath(source))
        elif isinstance(source, Mapping) or hasattr(source, "shape"):
            self.parts = [("the data", source)]
        else:
            self.is_split = False
            self.parts = [(f"item {i} of the data", item) for i, item in enumerate(source)]
        self.count = sum(1 for _ in self.feeds())
        if self.count == 0:
            raise ArgumentError("expected calibration data, but got no sample")

    def _take_path(self, path: str) -> None:
        if os.path.isdir(path):
            self.is_split = False
            files = sorted(f for f in os.listdir(path) if f.endswith((".npz", ".npy")))
            self.parts = [(os.path.join(path, f), None) for f in files]
            if not files:
                raise ArgumentError(f"{path}: expected .npz or .npy files, but got none")
        elif path.endswith((".npz", ".npy")):
            self.parts = [(path, None)]
        else:
            raise ArgumentError(f"{path}: expected a folder, or an .npz or .npy file")

    def _read(self, path: str, arrays: Any) -> Any:
        if arrays is None:
            arrays = _load(path)
        if hasattr(arrays, "shape"):
            if len(self.inputs) != 1:
                names = [value.name for value in self.inputs]
                raise ArgumentError(
                    f"{path}: one array is for models of one input; expected an .npz or a dict "
                    f"of {names}"
                )
            arrays = {self.inputs[0].name: arrays}
        missing = [value.name for value in self.inputs if value.name not in arrays]
        if missing:
            raise ArgumentError(
                f"{path}: expected an array for input {missing[0]!r}, but got {list(arrays)}"
            )
        return {v.name: v.convert(arrays[v.name], path) for v in self.inputs}

    def _split(self, arrays: Any) -> Iterator[Any]:
        """Splits arrays whose first dim counts samples into the inputs of runs."""
        sizes = {}
        for value in self.inputs:
            array = arrays[value.name]
            fixed = value.dims[0] if value.dims else None
            is_open = bool(value.dims) and fixed is None
            if array.ndim and (is_open or (fixed and array.shape[0] != fixed)):
                sizes[value.name] = fixed or self.batch
        counts = {arrays[name].shape[0] for name in sizes}
        if len(counts) != 1:  # none is a batch, or they are of different things
            yield arrays
            return
        count = counts.pop()
        step = min(sizes.values())
        fixed_step = any(v.dims and v.dims[0] for v in self.inputs if v.name in sizes)
        for start in range(0, count, step):
            if fixed_step and start + step > count:
                return  # the model takes whole batches only
            yield {
                name: array[start : start + step] if name in sizes else array
                for name, array in arrays.items()
            }

    def feeds(self) -> Iterator[Any]:
        for path, arrays in self.parts:
            read = self._read(path, arrays)
            if self.is_split:
                yield from self._split(read)
            else:
                yield read


def read_labels(labels: Any) -> np.ndarray:
    if isinstance(labels, (str, os.PathLike)):
        path = os.fspath(labels)
        labels = _load(path)
        if not hasattr(labels, "shape"):
            raise ArgumentError(f"{path}: expected an .npy file of labels, but got an archive")
    labels = np.asarray(labels).reshape(-1)
    if labels.dtype.kind not in "iu":
        raise ArgumentError(f"expected labels of integers, but got {labels.dtype}")
    return labels
