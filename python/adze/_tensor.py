# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Conversion of tensors between libraries: by DLPack, and directly for numpy."""

from __future__ import annotations

import ctypes
import sys
from ctypes import POINTER, byref, c_int64, c_void_p
from typing import Any

import numpy as np

from . import _libraries as lib
from ._errors import AdzeError, ArgumentError, check_status

CPU, CUDA = 1, 2

# ---- Element types ---------------------------------------------------------

#: Code and bits of DLPack, and names: of ours and of numpy (ml_dtypes' too).
_DTYPES: dict[tuple[int, int], str] = {
    (0, 2): "int2",
    (0, 4): "int4",
    (0, 8): "int8",
    (0, 16): "int16",
    (0, 32): "int32",
    (0, 64): "int64",
    (1, 2): "uint2",
    (1, 4): "uint4",
    (1, 8): "uint8",
    (1, 16): "uint16",
    (1, 32): "uint32",
    (1, 64): "uint64",
    (2, 16): "float16",
    (2, 32): "float32",
    (2, 64): "float64",
    (4, 16): "bfloat16",
    (5, 64): "complex64",
    (5, 128): "complex128",
    (6, 8): "bool",
    (10, 8): "float8_e4m3fn",
    (11, 8): "float8_e4m3fnuz",
    (12, 8): "float8_e5m2",
    (13, 8): "float8_e5m2fnuz",
    (14, 8): "float8_e8m0fnu",
    (17, 4): "float4_e2m1fn",
}
_CODES = {name: key for key, name in _DTYPES.items()}
_NUMPY_NAMES = frozenset(
    [
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "float16",
        "float32",
        "float64",
        "complex64",
        "complex128",
        "bool",
    ]
)


def dtype_name(dtype: lib.DLDataType) -> str:
    """Returns "float32"."""
    return _DTYPES.get((dtype.code, dtype.bits), f"code {dtype.code}, {dtype.bits} bits")


def numpy_dtype(name: str) -> np.dtype:
    """Returns numpy's type of that name, from ml_dtypes if numpy has none."""
    if name in _NUMPY_NAMES:
        return np.dtype(name)
    try:
        import ml_dtypes
    except ImportError:
        raise ArgumentError(
            f"numpy has no {name}: install ml_dtypes, or take the tensor by DLPack"
        ) from None
    return np.dtype(getattr(ml_dtypes, name))


_dl_by_numpy: dict[np.dtype, tuple[int, int]] = {}


def dl_dtype(dtype: np.dtype) -> tuple[int, int]:
    """Returns the DLPack code and bits of a numpy type."""
    known = _dl_by_numpy.get(dtype)
    if known is None:
        known = _CODES.get(dtype.name)
        if known is None:
            raise ArgumentError(f"expected an array of numbers, but got dtype {dtype}")
        _dl_by_numpy[dtype] = known
    return known


def _pack(array: np.ndarray, bits: int) -> np.ndarray:
    """Packs elements of fewer than 8 bits, low bits first, as ONNX does."""
    per_byte = 8 // bits
    flat = np.ascontiguousarray(array).view(np.uint8).ravel() & ((1 << bits) - 1)
    flat = np.concatenate([flat, np.zeros(-len(flat) % per_byte, np.uint8)])
    parts = flat.reshape(-1, per_byte) << (np.arange(per_byte, dtype=np.uint8) * bits)
    return np.bitwise_or.reduce(parts.astype(np.uint8), axis=1)


def _unpack(packed: np.ndarray, shape: tuple[int, ...], name: str, bits: int) -> np.ndarray:
    shifts = np.arange(8 // bits, dtype=np.uint8) * bits
    flat = (packed[:, None] >> shifts) & ((1 << bits) - 1)
    flat = flat.ravel()[: int(np.prod(shape, dtype=np.int64))].astype(np.uint8)
    if name.startswith("int"):  # extend the sign
        flat = ((flat ^ (1 << (bits - 1))) - (1 << (bits - 1))).astype(np.int8)
    if name.startswith("float"):
        return flat.view(numpy_dtype(name)).reshape(shape)
    return flat.astype(numpy_dtype(name)).reshape(shape)


# ---- Capsules --------------------------------------------------------------

_api = ctypes.pythonapi
_capsule_new = _api.PyCapsule_New
_capsule_new.restype = ctypes.py_object
_capsule_new.argtypes = [c_void_p, ctypes.c_char_p, c_void_p]
_capsule_pointer = ctypes.PYFUNCTYPE(c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", _api)
)
_capsule_is = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_IsValid", _api)
)
# For destructors: the object has no references left and must not get one.
_raw_pointer = ctypes.PYFUNCTYPE(c_void_p, c_void_p, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", _api)
)
_raw_is = ctypes.PYFUNCTYPE(ctypes.c_int, c_void_p, ctypes.c_char_p)(("PyCapsule_IsValid", _api))

_OLD, _NEW = b"dltensor", b"dltensor_versioned"
_NEW_OFFSET = lib.DLManagedTensorVersioned.dl_tensor.offset
_MAX_VERSION = (1, 0)


def _destroy(address: int) -> None:
    """Releases a tensor whose capsule was not consumed."""
    for name, kind in ((_OLD, lib.DLManagedTensor), (_NEW, lib.DLManagedTensorVersioned)):
        if _raw_is(address, name):
            pointer = ctypes.cast(_raw_pointer(address, name), POINTER(kind))
            pointer.contents.deleter(pointer)


_destructor = ctypes.PYFUNCTYPE(None, c_void_p)(_destroy)
_destructor_address = ctypes.cast(_destructor, c_void_p)

#: What tensors given away in DLPack's first form keep alive, by address.
_given: dict[int, Any] = {}


def _forget(pointer: Any) -> None:
    _given.pop(ctypes.addressof(pointer.contents), None)


_old_deleter = lib.DLManagedTensor._fields_[2][1](_forget)


# ---- Memory of numpy's arrays ------------------------------------------------


class _ArrayStruct(ctypes.Structure):
    """PyArrayInterface of numpy's array protocol."""

    _fields_ = [
        ("two", ctypes.c_int),
        ("nd", ctypes.c_int),
        ("typekind", ctypes.c_char),
        ("itemsize", ctypes.c_int),
        ("flags", ctypes.c_int),
        ("shape", c_void_p),
        ("strides", c_void_p),
        ("data", c_void_p),
        ("descr", c_void_p),
    ]


_read_struct = _ArrayStruct.from_address


def address_of(array: np.ndarray) -> int:
    """Returns the address of the first element. `__array_interface__` and
    `ctypes.data` take 5 us for this instead of half a microsecond."""
    capsule = array.__array_struct__
    return _read_struct(_capsule_pointer(capsule, None)).data


# ---- Inputs ----------------------------------------------------------------


def _is_torch(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def _is_jax(value: Any) -> bool:
    jax = sys.modules.get("jax")
    return jax is not None and isinstance(value, jax.Array)


def _is_cupy(value: Any) -> bool:
    cupy = sys.modules.get("cupy")
    return cupy is not None and isinstance(value, cupy.ndarray)


def library_of(value: Any) -> str:
    """Returns the library of a value: "numpy", "torch", "jax", "cupy", "adze", or ""
    for numbers and lists of numbers."""
    if isinstance(value, np.ndarray):
        return "numpy"
    if isinstance(value, Tensor):
        return "adze"
    if _is_torch(value):
        return "torch"
    if _is_jax(value):
        return "jax"
    if _is_cupy(value):
        return "cupy"
    return "adze" if hasattr(value, "__dlpack__") else ""


def has_rows(value: Any, axis: int | None) -> bool:
    """Returns True if an array is dense except for space after its rows along `axis`:
    a view of a buffer with more rows."""
    if axis is None:
        return False
    shape = tuple(value.shape)
    if isinstance(value, np.ndarray):
        if any(stride % value.itemsize for stride in value.strides):
            return False
        strides = tuple(stride // value.itemsize for stride in value.strides)
    elif _is_torch(value):
        strides = value.stride()
    else:
        return False
    dense = row = 1
    is_pitch = True
    for dim in reversed(range(len(shape))):
        if shape[dim] != 1:
            if dim < axis and is_pitch:
                is_pitch = False
                if strides[dim] >= dense and strides[dim] % row == 0:
                    dense = strides[dim]
            if strides[dim] != dense and 0 not in shape:
                return False
        if dim == axis:
            row = max(dense, 1)
        dense *= shape[dim]
    return True


def _settle(value: Any, rows: int | None) -> Any:
    """Waits for writes to the tensor on a device, since the run's stream is not ordered
    after the library's; detaches the tensor, and makes it dense except for unused
    space after its rows along `rows`."""
    if _is_torch(value):
        if value.requires_grad:
            value = value.detach()
        if not value.is_contiguous() and not has_rows(value, rows):
            value = value.contiguous()
        if value.is_cuda:
            import torch

            torch.cuda.current_stream(value.device).synchronize()
    elif _is_cupy(value):
        import cupy

        value = cupy.ascontiguousarray(value)
        cupy.cuda.get_current_stream().synchronize()
    elif _is_jax(value):
        value.block_until_ready()
    return value


class Borrowed:
    """An input's DLTensor, with the objects that must outlive it."""

    __slots__ = ("pointer", "keep")

    def __init__(self, pointer: Any, keep: Any) -> None:
        self.pointer = pointer
        self.keep = keep


def host_tensor(code: int, bits: int, dims: Any) -> lib.DLTensor:
    """Returns a DLTensor in host memory without data. `dims` is an array of c_int64
    that must outlive it."""
    tensor = lib.DLTensor()
    tensor.device.device_type = CPU
    tensor.ndim = len(dims)
    tensor.dtype.code = code
    tensor.dtype.bits = bits
    tensor.dtype.lanes = 1
    tensor.shape = dims
    return tensor


def borrow_array(array: np.ndarray, rows: int | None = None) -> Borrowed:
    """Borrows a numpy array without a copy, if it is in native byte order and dense,
    except for unused space after its rows along `rows`."""
    code, bits = dl_dtype(array.dtype)
    shape = array.shape
    strides = None
    if bits < 8:
        array = _pack(array, bits)
    elif array.dtype.isnative and has_rows(array, rows):
        strides = (c_int64 * len(shape))(*(s // array.itemsize for s in array.strides))
    elif not array.flags.c_contiguous or not array.dtype.isnative:
        array = np.ascontiguousarray(array, array.dtype.newbyteorder("="))
    rank = len(shape)
    dims = (c_int64 * rank)(*shape)
    tensor = host_tensor(code, bits, dims)
    tensor.data = address_of(array)
    if strides is not None:
        tensor.strides = strides
    return Borrowed(ctypes.pointer(tensor), (array, dims, strides, tensor))


def borrow(value: Any, dtype: str | None, rows: int | None = None) -> Borrowed:
    """Borrows an input without a copy. Numbers, lists and numpy's scalars become arrays
    of `dtype`, the type of the input. A tensor that is not dense is copied, unless its
    only gaps are unused space after its rows along `rows`."""
    if isinstance(value, np.ndarray):
        return borrow_array(value, rows)
    if isinstance(value, Tensor):
        return Borrowed(ctypes.pointer(value._tensor), value)
    if not hasattr(value, "__dlpack__") or isinstance(value, np.generic):
        kind = None if dtype is None else numpy_dtype(dtype)
        if isinstance(value, np.generic):
            kind = None
        return borrow_array(np.asarray(value, dtype=kind))
    value = _settle(value, rows)
    # stream=-1 would be correct after _settle, but not all libraries accept it on the CPU.
    try:
        capsule = value.__dlpack__(max_version=_MAX_VERSION)
    except TypeError:
        capsule = value.__dlpack__()
    if _capsule_is(capsule, _NEW):
        address = _capsule_pointer(capsule, _NEW) + _NEW_OFFSET
    elif _capsule_is(capsule, _OLD):
        address = _capsule_pointer(capsule, _OLD)
    else:
        raise ArgumentError("expected a DLPack capsule that was not consumed yet")
    return Borrowed(ctypes.cast(c_void_p(address), POINTER(lib.DLTensor)), (capsule, value))


# ---- Outputs ---------------------------------------------------------------


class _Interface:
    """Memory that numpy wraps without a copy; keeps its owner alive."""

    __slots__ = ("__array_interface__", "owner")

    def __init__(self, owner: Any, address: int, shape: tuple[int, ...], typestr: str) -> None:
        self.owner = owner
        self.__array_interface__ = {
            "version": 3,
            "data": (address, False),
            "shape": shape,
            "typestr": typestr,
            "strides": None,
        }


class Tensor:
    """An output in memory of the run time, which any library accepts by DLPack.

    ``numpy.asarray(t)``, ``torch.from_dlpack(t)``, ``jax.dlpack.from_dlpack(t)``
    and ``cupy.from_dlpack(t)`` share its memory; it lives as long as any of them.

    Attributes:
        shape: Sizes of the dims.
        dtype: Name of the element type, as in "float32".
        device: "cpu" or "cuda:0".
        nbytes: Bytes of the elements.
    """

    __slots__ = ("__weakref__", "_managed", "_release", "_tensor", "_value")

    def __init__(self, managed: Any) -> None:
        """Takes ownership of a DLManagedTensorVersioned of the run time."""
        self._value: Any = None
        self._managed = managed
        self._tensor = managed.contents.dl_tensor
        self._release = lib.runtime().adze_value_release

    def __del__(self) -> None:
        value, managed = self._value, self._managed
        self._value = self._managed = None
        if value:
            self._release(value)
        elif managed:
            managed.contents.deleter(managed)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self._tensor.shape[: self._tensor.ndim])

    @property
    def dtype(self) -> str:
        return dtype_name(self._tensor.dtype)

    @property
    def device(self) -> str:
        device = self._tensor.device
        return "cpu" if device.device_type == CPU else f"cuda:{device.device_id}"

    @property
    def nbytes(self) -> int:
        count = 1
        for dim in self.shape:
            count *= dim
        return (count * self._tensor.dtype.bits + 7) // 8

    def __repr__(self) -> str:
        return f"adze.Tensor(shape={self.shape}, dtype={self.dtype!r}, device={self.device!r})"

    def __len__(self) -> int:
        if not self._tensor.ndim:
            raise TypeError("len() of a tensor without dims")
        return self._tensor.shape[0]

    # -- DLPack --

    def __dlpack_device__(self) -> tuple[int, int]:
        device = self._tensor.device
        return device.device_type, device.device_id

    def _share(self) -> Any:
        """Returns another DLManagedTensorVersioned of the same memory."""
        rt = lib.runtime()
        if self._value is None:
            value = c_void_p()
            check_status(rt.adze_value_from_dlpack(self._managed, byref(value)))
            # The run time owns it now; the address of `_tensor` does not change.
            self._value, self._managed = value, None
        shared = POINTER(lib.DLManagedTensorVersioned)()
        check_status(rt.adze_value_as_dlpack(self._value, byref(shared)))
        return shared

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """Returns the tensor in DLPack's form. The run is complete, so no stream needs to
        wait."""
        if copy:
            raise BufferError("Adze's tensors are shared, not copied")
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            raise BufferError(f"the tensor is on {self.device}, and is not copied elsewhere")
        shared = self._share()
        if max_version is not None and max_version[0] >= 1:
            return _capsule_new(shared, _NEW, _destructor_address)
        # DLPack's first form, for older libraries.
        old = lib.DLManagedTensor()
        old.dl_tensor = shared.contents.dl_tensor
        old.deleter = _old_deleter
        _given[ctypes.addressof(old)] = (old, _Shared(shared))
        return _capsule_new(ctypes.addressof(old), _OLD, _destructor_address)

    # -- Libraries --

    def numpy(self) -> np.ndarray:
        """Returns a numpy array of the same memory, or of a copy for elements of fewer
        than 8 bits. Raises AdzeError for a tensor on a device."""
        dtype = self._tensor.dtype
        if self._tensor.device.device_type != CPU:
            raise AdzeError(
                f"the tensor is on {self.device}: take it by torch.from_dlpack or cupy.from_dlpack",
                1,
            )
        shape, name, bits = self.shape, dtype_name(dtype), dtype.bits
        kind = numpy_dtype(name)
        if 0 in shape:
            return np.empty(shape, kind)
        address = self._tensor.data + self._tensor.byte_offset
        if bits < 8:
            raw = np.asarray(_Interface(self, address, (self.nbytes,), "|u1"))
            return _unpack(raw, shape, name, bits)
        if kind.isbuiltin == 1:
            return np.asarray(_Interface(self, address, shape, kind.str))
        typestr = {8: "|u1", 16: "<u2"}[bits]
        return np.asarray(_Interface(self, address, shape, typestr)).view(kind)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        array = self.numpy()
        if dtype is not None and array.dtype != dtype:
            if copy is False:
                raise ValueError(f"a copy is needed for {dtype}")
            return array.astype(dtype)
        return array.copy() if copy else array

    def to(self, library: str) -> Any:
        """Returns the tensor as an array of "numpy", "torch", "jax", "cupy" or "adze"."""
        if library == "numpy":
            return self.numpy()
        if library == "adze":
            return self
        if library == "torch":
            import torch

            return torch.from_dlpack(self)
        if library == "jax":
            import jax.dlpack

            return jax.dlpack.from_dlpack(self)
        if library == "cupy":
            import cupy

            return cupy.from_dlpack(self)
        raise ValueError(f"expected 'numpy', 'torch', 'jax', 'cupy' or 'adze', but got {library!r}")


class _Shared:
    """Calls the deleter of a shared tensor when it is destroyed."""

    __slots__ = ("pointer",)

    def __init__(self, pointer: Any) -> None:
        self.pointer = pointer

    def __del__(self) -> None:
        self.pointer.contents.deleter(self.pointer)
