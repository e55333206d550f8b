# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Values other than tensors of numbers: strings, sequences, maps, optionals."""

from __future__ import annotations

import ctypes
import functools
from ctypes import POINTER, byref, c_char_p, c_int32, c_int64, c_size_t, c_void_p
from itertools import repeat
from typing import Any, Callable, Iterable, Mapping

import numpy as np

from . import _libraries as lib
from ._errors import ArgumentError, check_status
from ._tensor import Tensor, borrow

TENSOR, STRINGS, SEQUENCE, MAP, OPTIONAL = range(5)


class Value:
    """A reference to an adze_value."""

    __slots__ = ("_release", "handle")

    def __init__(self, handle: c_void_p | None = None) -> None:
        self.handle = c_void_p() if handle is None else handle
        self._release = lib.runtime().adze_value_release

    def __del__(self) -> None:
        if self.handle:
            self._release(self.handle)


def _is_text(value: Any) -> bool:
    if isinstance(value, (str, bytes, np.str_, np.bytes_)):
        return True
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "USO" or value.dtype.kind == "T"
    return False


def _make_strings(value: Any) -> Value:
    array = np.asarray(value, dtype=object)
    texts = [t.encode() if isinstance(t, str) else bytes(t) for t in array.ravel()]
    count = len(texts)
    result = Value()
    check_status(
        lib.runtime().adze_value_from_strings(
            (c_char_p * count)(*texts),
            (c_size_t * count)(*map(len, texts)),
            (c_int64 * array.ndim)(*array.shape),
            array.ndim,
            byref(result.handle),
        )
    )
    return result


#: Inputs that values refer to, by the address of their DLManagedTensorVersioned.
_borrowed: dict[int, Any] = {}


def _give_back(pointer: Any) -> None:
    _borrowed.pop(ctypes.addressof(pointer.contents), None)


_deleter = lib.DLManagedTensorVersioned._fields_[3][1](_give_back)


#: Copying smaller arrays takes less time than referring to them.
_MOST_COPIED = 4096


def _make_tensor(value: Any, dtype: str | None) -> Value:
    source = borrow(value, dtype)
    if isinstance(value, np.ndarray) and value.nbytes <= _MOST_COPIED:
        copy = Value()
        check_status(lib.runtime().adze_value_from_tensor(source.pointer, byref(copy.handle)))
        return copy
    managed = lib.DLManagedTensorVersioned()
    managed.major, managed.minor, managed.deleter = 1, 0, _deleter
    managed.dl_tensor = source.pointer.contents
    _borrowed[ctypes.addressof(managed)] = (managed, source)
    result = Value()
    check_status(lib.runtime().adze_value_from_dlpack(managed, byref(result.handle)))
    return result


def _handles(values: list[Value]) -> Any:
    return (c_void_p * len(values))(*(v.handle for v in values))


def _inner(kind: str, prefix: str) -> str:
    """Returns the text between the parentheses of "seq(tensor(string))"."""
    return kind[len(prefix) + 1 : -1] if kind.startswith(prefix + "(") else ""


_ONNX_NAMES = {"float": "float32", "double": "float64"}


def _dtype_of(kind: str) -> str | None:
    name = _inner(kind, "tensor")
    return _ONNX_NAMES.get(name, name) if name and name != "string" else None


def make_value(value: Any, kind: str, dtype: str | None = None) -> Value:
    """Creates a value of a type in ONNX's notation ("seq(tensor(float))"). For a tensor
    of numbers, the element type may be given instead."""
    rt = lib.runtime()
    result = Value()
    if kind.startswith("optional("):
        if value is None:
            check_status(rt.adze_value_from_optional(None, byref(result.handle)))
            return result
        element = make_value(value, _inner(kind, "optional"))
        check_status(rt.adze_value_from_optional(element.handle, byref(result.handle)))
        return result
    if kind.startswith("seq("):
        if not isinstance(value, (list, tuple)):
            raise ArgumentError(f"expected a list for {kind}, but got {type(value).__name__}")
        elements = [make_value(v, _inner(kind, "seq")) for v in value]
        check_status(
            rt.adze_value_from_sequence(_handles(elements), len(elements), byref(result.handle))
        )
        return result
    if kind.startswith("map("):
        return _make_map(value, kind)
    if "string" in kind or _is_text(value):
        return _make_strings(value)
    return _make_tensor(value, dtype or _dtype_of(kind))


def _make_map(value: Any, kind: str) -> Value:
    if not isinstance(value, Mapping):
        raise ArgumentError(f"expected a dict for {kind}, but got {type(value).__name__}")
    key_kind, _, element_kind = _inner(kind, "map").partition(",")
    keys = list(value)
    if key_kind == "string":
        key_value = _make_strings(keys)
    else:
        key_value = _make_tensor(np.asarray(keys, dtype=key_kind), None)
    elements = [make_value(value[key], element_kind.strip()) for key in keys]
    result = Value()
    check_status(
        lib.runtime().adze_value_from_map(
            key_value.handle, _handles(elements), len(elements), byref(result.handle)
        )
    )
    return result


def _read_texts(handle: c_void_p) -> list[str]:
    """Returns the elements of a string tensor, in row-major order."""
    texts, lengths, count = POINTER(c_void_p)(), POINTER(c_size_t)(), c_size_t()
    check_status(
        lib.runtime().adze_value_strings(handle, byref(texts), byref(lengths), byref(count))
    )
    read = ctypes.string_at
    return [read(texts[i], lengths[i]).decode("utf-8", "replace") for i in range(count.value)]


def _read_strings(handle: c_void_p) -> np.ndarray:
    texts = _read_texts(handle)
    rank, dims = c_int32(), POINTER(c_int64)()
    check_status(lib.runtime().adze_value_shape(handle, byref(rank), byref(dims)))
    array = np.empty(len(texts), dtype=object)
    array[:] = texts
    return array.reshape(tuple(dims[: rank.value]))


#: By code and bits: numbers that ctypes reads.
_NUMBERS = {(0, 64): c_int64, (2, 32): ctypes.c_float, (2, 64): ctypes.c_double}


def _read_numbers(value: Value) -> list[Any]:
    """Returns the elements of a dense tensor in host memory, in row-major order."""
    rt = lib.runtime()
    managed = POINTER(lib.DLManagedTensorVersioned)()
    check_status(rt.adze_value_as_dlpack(value.handle, byref(managed)))
    tensor = managed.contents.dl_tensor
    kind = _NUMBERS.get((tensor.dtype.code, tensor.dtype.bits))
    if kind is None or not tensor.data:
        return Tensor(managed).numpy().ravel().tolist()
    count = 1
    for dim in tensor.shape[: tensor.ndim]:
        count *= dim
    numbers = (kind * count).from_address(tensor.data + tensor.byte_offset)[:]
    managed.contents.deleter(managed)
    return numbers


def _read_keys(keys: Value) -> list[Any]:
    if lib.runtime().adze_value_kind(keys.handle) == STRINGS:
        return _read_texts(keys.handle)
    return _read_numbers(keys)


#: Dictionaries with more keys are made by zip, whose cost per row no longer counts.
_MOST_NAMED = 64


@functools.cache
def _dict_maker(width: int) -> Callable[[list[Any], Iterable[tuple[Any, ...]]], list[dict]]:
    """Returns a function that converts each row of `width` values to a dictionary. A
    dictionary display takes a third of the time of dict(zip(keys, row))."""
    if not 0 < width <= _MOST_NAMED:
        return lambda keys, rows: list(map(dict, map(zip, repeat(keys), rows)))
    keys, row = ([f"{letter}{i}" for i in range(width)] for letter in "kv")
    items = ", ".join(map("{}: {}".format, keys, row))
    return eval(
        f"lambda keys, rows: (lambda {', '.join(keys)}:"
        f" [{{{items}}} for {', '.join(row)}, in rows])(*keys)"
    )


def _read_element(element: Any, library: str) -> Any:
    """Returns a scalar of a map as a number."""
    if not isinstance(element, Tensor):
        return element
    return element.to(library) if element.shape else element.numpy().item()


def read_value(value: Value, library: str = "adze") -> Any:
    """Converts a value to Python objects: tensors to arrays of `library`
    (:class:`adze.Tensor`), string tensors to numpy arrays of objects, other values to
    lists, dicts and None. Scalars in a map become numbers."""
    rt = lib.runtime()
    kind = rt.adze_value_kind(value.handle)
    if kind == STRINGS:
        return _read_strings(value.handle)
    if kind == SEQUENCE:
        keys, table = Value(), Value()
        status = rt.adze_value_sequence_table(
            value.handle, byref(keys.handle), byref(table.handle)
        )
        if not status:
            names, numbers = _read_keys(keys), _read_numbers(table)
            rows = zip(*[iter(numbers)] * len(names))
            return _dict_maker(len(names))(names, rows)
        rt.adze_status_free(status)
        count = c_size_t()
        check_status(rt.adze_value_sequence_size(value.handle, byref(count)))
        elements = []
        for i in range(count.value):
            element = Value()
            check_status(rt.adze_value_sequence_get(value.handle, i, byref(element.handle)))
            elements.append(read_value(element, library))
        return elements
    if kind == MAP:
        keys, values = Value(), Value()
        check_status(rt.adze_value_map_get(value.handle, byref(keys.handle), byref(values.handle)))
        elements = [_read_element(element, library) for element in read_value(values)]
        return dict(zip(_read_keys(keys), elements))
    if kind == OPTIONAL:
        has = c_int32()
        check_status(rt.adze_value_optional_has(value.handle, byref(has)))
        if not has.value:
            return None
        element = Value()
        check_status(rt.adze_value_optional_get(value.handle, byref(element.handle)))
        return read_value(element, library)
    managed = POINTER(lib.DLManagedTensorVersioned)()
    check_status(rt.adze_value_as_dlpack(value.handle, byref(managed)))
    return Tensor(managed).to(library)
