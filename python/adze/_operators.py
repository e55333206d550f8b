# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Operators that are functions in Python."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, byref, c_char_p, c_float, c_int64, c_void_p
from typing import Any, Callable

import numpy as np

from . import _libraries as lib
from ._errors import ArgumentError, check_status
from ._tensor import dtype_name, numpy_dtype
from ._values import STRINGS, Value, make_value, read_value

_RUN_ERROR = 7
_INT, _FLOAT, _STRING, _INTS, _FLOATS, _STRINGS = range(6)


def _read_attribute(attribute: lib.CAttribute) -> Any:
    kind, count = attribute.kind, attribute.count
    if kind in (_STRING, _STRINGS):
        rows = ctypes.cast(attribute.values, POINTER(lib.CString))
        texts = [
            ctypes.string_at(rows[i].text, rows[i].length).decode("utf-8", "replace")
            for i in range(count)
        ]
        return texts[0] if kind == _STRING else texts
    element = c_int64 if kind in (_INT, _INTS) else c_float
    numbers = ctypes.cast(attribute.values, POINTER(element))[:count] if count else []
    return numbers[0] if kind in (_INT, _FLOAT) else numbers


def _view(tensor: lib.DLTensor) -> np.ndarray:
    """Returns the memory of a dense tensor, which is valid as long as the tensor is."""
    if tensor.dtype.bits < 8:
        raise ArgumentError(f"expected elements of whole bytes, but got {dtype_name(tensor.dtype)}")
    dtype = numpy_dtype(dtype_name(tensor.dtype))
    shape = tuple(tensor.shape[: tensor.ndim])
    if 0 in shape:
        return np.empty(shape, dtype)
    size = dtype.itemsize * int(np.prod(shape, dtype=np.int64))
    memory = (ctypes.c_char * size).from_address(tensor.data + tensor.byte_offset)
    return np.ndarray(shape, dtype, memoryview(memory))


class _Call:
    """One call: inputs, attributes and results."""

    def __init__(self, handle: c_void_p) -> None:
        self.handle = handle
        self.rt = lib.runtime()

    def attributes(self) -> dict[str, Any]:
        count = ctypes.c_size_t()
        rows = self.rt.adze_call_attributes(self.handle, byref(count))
        return {rows[i].name.decode(): _read_attribute(rows[i]) for i in range(count.value)}

    def input(self, index: int) -> Any:
        tensor = self.rt.adze_call_input(self.handle, index)
        if tensor:
            array = _view(tensor.contents)
            array.flags.writeable = False
            return array
        value = Value()
        check_status(self.rt.adze_call_input_value(self.handle, index, byref(value.handle)))
        return read_value(value) if value.handle else None

    def inputs(self) -> list[Any]:
        return [self.input(i) for i in range(self.rt.adze_call_num_inputs(self.handle))]

    def give(self, index: int, result: Any) -> None:
        kind = self.rt.adze_call_output_type(self.handle, index).contents
        array = np.asarray(result)
        if array.dtype.kind in "USOT":
            strings = make_value(result, "tensor(string)")
            assert self.rt.adze_value_kind(strings.handle) == STRINGS
            check_status(self.rt.adze_call_set_output(self.handle, index, strings.handle))
            return
        name = dtype_name(kind.dtype)
        if not isinstance(result, (np.ndarray, np.generic)):
            array = np.asarray(result, numpy_dtype(name))  # numbers and lists
        if array.dtype.name != name or array.ndim != kind.ndim:
            raise ArgumentError(
                f"output {index}: expected an array of {name} and {kind.ndim} dims, "
                f"but got {array.dtype.name} and {array.ndim} dims"
            )
        dims = (c_int64 * array.ndim)(*array.shape)
        tensor = POINTER(lib.DLTensor)()
        check_status(self.rt.adze_call_output(self.handle, index, dims, byref(tensor)))
        if array.size:
            _view(tensor.contents)[...] = array

    def give_all(self, results: Any) -> None:
        count = self.rt.adze_call_num_outputs(self.handle)
        if count == 1 and not isinstance(results, tuple):
            results = (results,)
        if not isinstance(results, (tuple, list)) or len(results) != count:
            got = len(results) if isinstance(results, (tuple, list)) else 1
            raise ArgumentError(f"expected {count} outputs, but got {got}")
        for index, result in enumerate(results):
            self.give(index, result)


def register(handle: c_void_p, name: str, function: Callable[..., Any]) -> Any:
    """Registers the function with a module; the returned object must outlive the
    module's contexts."""
    if not callable(function):
        raise ArgumentError(f"expected a function, but got {type(function).__name__}")

    def run(user: Any, pointer: Any) -> Any:
        try:
            call = _Call(c_void_p(pointer))
            call.give_all(function(*call.inputs(), **call.attributes()))
            return None
        except BaseException as error:  # the run ends with it
            message = f"{type(error).__name__}: {error}".encode("utf-8", "replace")
            return lib.runtime().adze_status_create(_RUN_ERROR, c_char_p(message))

    callback = lib.OperatorCallback(run)
    check_status(
        lib.runtime().adze_module_register_operator(
            handle, name.encode(), callback, None, lib.ReleaseCallback()
        )
    )
    return callback
