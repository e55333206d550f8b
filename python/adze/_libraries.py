# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""The C libraries, loaded on first use, and the signatures of their functions."""

from __future__ import annotations

import ctypes
import functools
import os
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    c_char_p,
    c_float,
    c_int,
    c_int32,
    c_int64,
    c_size_t,
    c_uint64,
    c_void_p,
)
from typing import Any

# ---- Structures of dlpack.h ------------------------------------------------


class DLDevice(Structure):
    _fields_ = [("device_type", c_int32), ("device_id", c_int32)]


class DLDataType(Structure):
    _fields_ = [
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
    ]


class DLTensor(Structure):
    _fields_ = [
        ("data", c_void_p),
        ("device", DLDevice),
        ("ndim", c_int32),
        ("dtype", DLDataType),
        ("shape", POINTER(c_int64)),
        ("strides", POINTER(c_int64)),
        ("byte_offset", c_uint64),
    ]


class DLManagedTensor(Structure):
    pass


DLManagedTensor._fields_ = [
    ("dl_tensor", DLTensor),
    ("manager_ctx", c_void_p),
    ("deleter", CFUNCTYPE(None, POINTER(DLManagedTensor))),
]


class DLManagedTensorVersioned(Structure):
    pass


DLManagedTensorVersioned._fields_ = [
    ("major", ctypes.c_uint32),
    ("minor", ctypes.c_uint32),
    ("manager_ctx", c_void_p),
    ("deleter", CFUNCTYPE(None, POINTER(DLManagedTensorVersioned))),
    ("flags", c_uint64),
    ("dl_tensor", DLTensor),
]

# ---- Structures of adze.h --------------------------------------------------


class Range(Structure):
    _fields_ = [("min", c_int64), ("max", c_int64), ("multiple_of", c_int64)]


class CValueInfo(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("kind", c_int),
        ("dtype", DLDataType),
        ("rank", c_int32),
        ("dims", POINTER(c_int64)),
        ("symbols", POINTER(c_char_p)),
        ("ranges", POINTER(Range)),
        ("type", c_char_p),
    ]


class CShape(Structure):
    _fields_ = [("rank", c_int32), ("dims", POINTER(c_int64))]


class MemoryInfo(Structure):
    _fields_ = [
        ("current_bytes", c_uint64),
        ("peak_bytes", c_uint64),
        ("allocations", c_uint64),
        ("weights_bytes", c_uint64),
        ("arena_bytes", c_uint64),
        ("arena_lower_bound_bytes", c_uint64),
    ]


class CString(Structure):
    _fields_ = [("text", c_void_p), ("length", c_size_t)]


class CAttribute(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("kind", c_int),
        ("count", c_size_t),
        ("values", c_void_p),
    ]


OperatorCallback = CFUNCTYPE(c_void_p, c_void_p, c_void_p)
ReleaseCallback = CFUNCTYPE(None, c_void_p)

# ---- Structures of adze_generate.h -----------------------------------------


class CSampling(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("repetition_penalty", c_float),
        ("temperature", c_float),
        ("top_k", c_int32),
        ("top_p", c_float),
        ("min_p", c_float),
        ("seed", c_uint64),
        ("max_tokens", c_int64),
        ("stops", POINTER(POINTER(c_int64))),
        ("stop_lengths", POINTER(c_size_t)),
        ("num_stops", c_size_t),
        ("draft", c_int32),
        ("drafter", c_void_p),
        ("drafter_user", c_void_p),
    ]


class CGeneratorOptions(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("rows", c_int64),
        ("chunk", c_int64),
        ("end_tokens", POINTER(c_int64)),
        ("num_end_tokens", c_size_t),
        ("ids", c_char_p),
        ("mask", c_char_p),
        ("positions", c_char_p),
        ("logits", c_char_p),
        ("batch", c_int64),
        ("device_type", c_int32),
        ("device_id", c_int32),
    ]


class CGeneratorInfo(Structure):
    _fields_ = [
        ("batch", c_int64),
        ("limits", c_char_p),
        ("num_runs", c_int64),
        ("num_rows", c_int64),
        ("num_scored", c_int64),
        ("num_drafted", c_int64),
        ("num_accepted", c_int64),
    ]


TokenCallback = CFUNCTYPE(c_int, c_void_p, c_void_p, c_int, c_int64, c_float)
DraftCallback = CFUNCTYPE(
    c_size_t, c_void_p, POINTER(c_int64), c_size_t, POINTER(c_int64), c_size_t
)

# ---- Structures of adze_compiler.h -----------------------------------------


class CDiagnostic(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("severity", c_int),
        ("file", c_char_p),
        ("line", c_int32),
        ("column", c_int32),
        ("node", c_char_p),
        ("op", c_char_p),
        ("message", c_char_p),
        ("formatted", c_char_p),
    ]


DiagnosticCallback = CFUNCTYPE(None, c_void_p, POINTER(CDiagnostic))
ProgressCallback = CFUNCTYPE(None, c_void_p, c_char_p, c_uint64, c_uint64)
CancelCallback = CFUNCTYPE(c_int, c_void_p)

_TENSORS = POINTER(POINTER(DLTensor))
_HANDLE = c_void_p
_OUT = POINTER(c_void_p)

# Name: (result, arguments). A status is a pointer, None for success.
_RUNTIME: dict[str, tuple[Any, list[Any]]] = {
    "adze_status_code": (c_int, [c_void_p]),
    "adze_status_message": (c_char_p, [c_void_p]),
    "adze_status_free": (None, [c_void_p]),
    "adze_status_create": (c_void_p, [c_int, c_char_p]),
    "adze_options_create": (c_void_p, [_OUT]),
    "adze_options_release": (None, [_HANDLE]),
    "adze_options_set": (c_void_p, [_HANDLE, c_char_p, c_char_p]),
    "adze_module_open": (c_void_p, [c_char_p, _HANDLE, _OUT]),
    "adze_module_open_memory": (c_void_p, [c_void_p, c_size_t, _HANDLE, _OUT]),
    "adze_module_release": (None, [_HANDLE]),
    "adze_module_info": (c_void_p, [_HANDLE, POINTER(c_char_p)]),
    "adze_swap_weights": (c_void_p, [_HANDLE, c_char_p]),
    "adze_module_num_inputs": (c_int32, [_HANDLE]),
    "adze_module_num_outputs": (c_int32, [_HANDLE]),
    "adze_module_input": (c_void_p, [_HANDLE, c_int32, POINTER(POINTER(CValueInfo))]),
    "adze_module_output": (c_void_p, [_HANDLE, c_int32, POINTER(POINTER(CValueInfo))]),
    "adze_module_num_overridable": (c_int32, [_HANDLE]),
    "adze_module_register_operator": (
        c_void_p,
        [_HANDLE, c_char_p, OperatorCallback, c_void_p, ReleaseCallback],
    ),
    "adze_call_attributes": (POINTER(CAttribute), [_HANDLE, POINTER(c_size_t)]),
    "adze_call_num_inputs": (c_int32, [_HANDLE]),
    "adze_call_num_outputs": (c_int32, [_HANDLE]),
    "adze_call_input": (POINTER(DLTensor), [_HANDLE, c_int32]),
    "adze_call_input_value": (c_void_p, [_HANDLE, c_int32, _OUT]),
    "adze_call_output_type": (POINTER(DLTensor), [_HANDLE, c_int32]),
    "adze_call_output": (
        c_void_p,
        [_HANDLE, c_int32, POINTER(c_int64), POINTER(POINTER(DLTensor))],
    ),
    "adze_call_set_output": (c_void_p, [_HANDLE, c_int32, _HANDLE]),
    "adze_context_override": (c_void_p, [_HANDLE, c_char_p, _HANDLE]),
    "adze_infer_shapes": (
        c_void_p,
        [_HANDLE, POINTER(CShape), c_int32, POINTER(CShape), c_int32, POINTER(c_uint64)],
    ),
    "adze_context_create": (c_void_p, [_HANDLE, DLDevice, _OUT]),
    "adze_context_release": (None, [_HANDLE]),
    "adze_run": (c_void_p, [_HANDLE, _TENSORS, c_int32, _TENSORS, c_int32]),
    "adze_run_alloc": (
        c_void_p,
        [_HANDLE, _TENSORS, c_int32, POINTER(POINTER(DLManagedTensorVersioned)), c_int32],
    ),
    "adze_run_values": (c_void_p, [_HANDLE, _OUT, c_int32, _OUT, c_int32]),
    "adze_value_kind": (c_int, [_HANDLE]),
    "adze_value_release": (None, [_HANDLE]),
    "adze_value_from_dlpack": (c_void_p, [POINTER(DLManagedTensorVersioned), _OUT]),
    "adze_value_from_tensor": (c_void_p, [POINTER(DLTensor), _OUT]),
    "adze_value_as_dlpack": (
        c_void_p,
        [_HANDLE, POINTER(POINTER(DLManagedTensorVersioned))],
    ),
    "adze_value_from_strings": (
        c_void_p,
        [POINTER(c_char_p), POINTER(c_size_t), POINTER(c_int64), c_int32, _OUT],
    ),
    "adze_value_strings": (
        c_void_p,
        [_HANDLE, POINTER(POINTER(c_void_p)), POINTER(POINTER(c_size_t)), POINTER(c_size_t)],
    ),
    "adze_value_shape": (
        c_void_p,
        [_HANDLE, POINTER(c_int32), POINTER(POINTER(c_int64))],
    ),
    "adze_value_from_sequence": (c_void_p, [_OUT, c_size_t, _OUT]),
    "adze_value_from_map": (c_void_p, [_HANDLE, _OUT, c_size_t, _OUT]),
    "adze_value_from_optional": (c_void_p, [_HANDLE, _OUT]),
    "adze_value_sequence_size": (c_void_p, [_HANDLE, POINTER(c_size_t)]),
    "adze_value_sequence_get": (c_void_p, [_HANDLE, c_size_t, _OUT]),
    "adze_value_sequence_table": (c_void_p, [_HANDLE, _OUT, _OUT]),
    "adze_value_map_get": (c_void_p, [_HANDLE, _OUT, _OUT]),
    "adze_value_optional_has": (c_void_p, [_HANDLE, POINTER(c_int32)]),
    "adze_value_optional_get": (c_void_p, [_HANDLE, _OUT]),
    "adze_profile_begin": (c_void_p, [_HANDLE]),
    "adze_profile_end": (c_void_p, [_HANDLE, POINTER(c_char_p)]),
    "adze_memory_stats": (c_void_p, [_HANDLE, POINTER(MemoryInfo), c_size_t]),
}

_GENERATE: dict[str, tuple[Any, list[Any]]] = {
    "adze_generator_create": (c_void_p, [_HANDLE, POINTER(CGeneratorOptions), _OUT]),
    "adze_generator_get_info": (c_void_p, [_HANDLE, POINTER(CGeneratorInfo), c_size_t]),
    "adze_generator_release": (None, [_HANDLE]),
    "adze_generator_step": (c_void_p, [_HANDLE, POINTER(c_int32)]),
    "adze_sequence_create": (
        c_void_p,
        [
            _HANDLE,
            POINTER(CSampling),
            POINTER(c_int64),
            c_size_t,
            POINTER(c_char_p),
            _TENSORS,
            c_size_t,
            TokenCallback,
            c_void_p,
            _OUT,
        ],
    ),
    "adze_sequence_extend": (c_void_p, [_HANDLE, POINTER(c_int64), c_size_t]),
    "adze_sequence_fork": (
        c_void_p,
        [_HANDLE, POINTER(CSampling), TokenCallback, c_void_p, _OUT],
    ),
    "adze_sequence_rewind": (c_void_p, [_HANDLE, c_size_t]),
    "adze_sequence_tokens": (POINTER(c_int64), [_HANDLE, POINTER(c_size_t)]),
    "adze_sequence_cancel": (None, [_HANDLE]),
    "adze_sequence_release": (None, [_HANDLE]),
}

_COMPILER: dict[str, tuple[Any, list[Any]]] = {
    "adze_compiler_version": (c_char_p, []),
    "adze_compiler_options_create": (c_int, [_OUT]),
    "adze_compiler_options_release": (None, [_HANDLE]),
    "adze_compiler_options_set": (c_int, [_HANDLE, c_char_p, c_char_p]),
    "adze_compiler_options_message": (c_char_p, [_HANDLE]),
    "adze_compiler_options_list": (c_char_p, []),
    "adze_compiler_options_set_diagnostics": (None, [_HANDLE, DiagnosticCallback, c_void_p]),
    "adze_compiler_options_set_progress": (None, [_HANDLE, ProgressCallback, c_void_p]),
    "adze_compiler_options_set_cancel": (None, [_HANDLE, CancelCallback, c_void_p]),
    "adze_compile": (c_int, [c_char_p, c_char_p, _HANDLE, _OUT]),
    "adze_compile_memory": (
        c_int,
        [c_void_p, c_size_t, c_char_p, c_char_p, _HANDLE, _OUT],
    ),
    "adze_compiler_check": (c_int, [c_char_p, _HANDLE, _OUT]),
    "adze_compiler_check_memory": (c_int, [c_void_p, c_size_t, c_char_p, _HANDLE, _OUT]),
    "adze_compiler_result_message": (c_char_p, [_HANDLE]),
    "adze_compiler_result_data": (c_void_p, [_HANDLE, POINTER(c_size_t)]),
    "adze_compiler_result_release": (None, [_HANDLE]),
}


def folder() -> str:
    """The folder of the libraries and tools: the package's own, or, for a
    source tree, ADZE_LIBRARY_DIR."""
    return os.environ.get("ADZE_LIBRARY_DIR") or os.path.dirname(os.path.abspath(__file__))


def _load(name: str, functions: dict[str, tuple[Any, list[Any]]]) -> ctypes.CDLL:
    path = os.path.join(folder(), name)
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(f"{path}: {error}; ADZE_LIBRARY_DIR may name its folder") from error
    for function, (result, arguments) in functions.items():
        pointer = getattr(library, function)
        pointer.restype = result
        pointer.argtypes = arguments
    return library


@functools.cache
def runtime() -> ctypes.CDLL:
    """libadze_rt."""
    return _load("libadze_rt.so", _RUNTIME)


@functools.cache
def generate() -> ctypes.CDLL:
    """libadze_generate, which needs libadze_rt."""
    runtime()
    return _load("libadze_generate.so", _GENERATE)


@functools.cache
def compiler() -> ctypes.CDLL:
    """libadze_compiler."""
    return _load("libadze_compiler.so", _COMPILER)


def compiler_version() -> str:
    """Returns "Adze 1.2.0 (commit 0123abc), LLVM 22.1.0"."""
    return compiler().adze_compiler_version().decode()
