# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Calls on numpy arrays whose shapes a context has seen before."""

from __future__ import annotations

from ctypes import POINTER, addressof, c_int64, c_void_p, cast
from typing import Any, Sequence

import numpy as np

from . import _libraries as lib
from ._errors import check_status
from ._tensor import address_of, dl_dtype, host_tensor, numpy_dtype

#: Larger outputs are memory of the run time, which keeps it for the next run.
_MOST_BYTES = 1 << 16


class _Tensors:
    """DLTensors of fixed shapes and types, which have no data yet."""

    __slots__ = ("count", "dtypes", "kept", "pointers", "shapes", "tensors")

    def __init__(self, dtypes: Sequence[np.dtype], shapes: Sequence[tuple[int, ...]]) -> None:
        self.count = len(shapes)
        self.dtypes = dtypes
        self.shapes = shapes
        self.kept = [(c_int64 * len(shape))(*shape) for shape in shapes]
        self.tensors = [
            host_tensor(*dl_dtype(dtype), dims) for dtype, dims in zip(dtypes, self.kept)
        ]
        addresses = (c_void_p * self.count)(*map(addressof, self.tensors))
        self.pointers = cast(addresses, POINTER(POINTER(lib.DLTensor)))
        self.kept.append(addresses)


class Plan:
    """A run on dense numpy arrays of these shapes, with outputs that are small numpy
    arrays. A call only fills in addresses."""

    __slots__ = ("_ins", "_outs", "_run")

    def __init__(
        self,
        dtypes: Sequence[str],
        shapes: Sequence[tuple[int, ...]],
        out_dtypes: Sequence[str],
        out_shapes: Sequence[tuple[int, ...]],
    ) -> None:
        self._ins = _Tensors([numpy_dtype(name) for name in dtypes], shapes)
        self._outs = _Tensors([numpy_dtype(name) for name in out_dtypes], out_shapes)
        self._run = lib.runtime().adze_run

    @staticmethod
    def is_for(
        in_dtypes: Sequence[str], dtypes: Sequence[str], shapes: Sequence[tuple[Any, ...]]
    ) -> bool:
        """Returns True if inputs and outputs of these types, and outputs of these shapes,
        can be arrays of a plan. Elements of fewer than 8 bits are packed by a copy."""
        if any(dl_dtype(numpy_dtype(name))[1] < 8 for name in in_dtypes):
            return False
        size = 0
        for name, shape in zip(dtypes, shapes):
            dtype = numpy_dtype(name)
            if None in shape or dl_dtype(dtype)[1] < 8:
                return False
            size += int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        return size <= _MOST_BYTES

    def run(self, pointer: Any, values: Sequence[Any]) -> list[np.ndarray] | None:
        """Runs a context. Returns None if a value is not an array that needs no copy."""
        ins, outs = self._ins, self._outs
        for value, tensor, dtype in zip(values, ins.tensors, ins.dtypes):
            if type(value) is not np.ndarray or value.dtype != dtype:
                return None
            if not value.flags.c_contiguous:
                return None
            tensor.data = address_of(value)
        results = []
        for tensor, shape, dtype in zip(outs.tensors, outs.shapes, outs.dtypes):
            result = np.empty(shape, dtype)
            tensor.data = address_of(result)
            results.append(result)
        status = self._run(pointer, ins.pointers, ins.count, outs.pointers, outs.count)
        if status:
            check_status(status)
        return results
