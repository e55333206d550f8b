# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Modules: opening, running, and profiling."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import shutil
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from ctypes import POINTER, byref, c_char_p, c_int64, c_uint64, c_void_p
from dataclasses import dataclass
from typing import Any, Callable, Iterator, Mapping, Sequence

import numpy as np

from . import _libraries as lib
from ._compile import Diagnostic, PathLike
from ._errors import ArgumentError, check_status
from ._operators import register
from ._plan import Plan
from ._tensor import (
    CPU,
    CUDA,
    Tensor,
    borrow,
    borrow_array,
    dl_dtype,
    dtype_name,
    has_rows,
    library_of,
    numpy_dtype,
)
from ._values import make_value, read_value, Value

_KINDS = ("tensor", "strings", "sequence", "map", "optional")


@dataclass(frozen=True)
class ValueInfo:
    """An input or output of a module.

    Attributes:
        name: The name in the model.
        kind: "tensor", "strings", "sequence", "map" or "optional".
        dtype: Element type of a tensor, as in "float32"; else "".
        shape: A size, a name, or None for each dim.
        ranges: The least and the greatest size (None: no bound) of each dim, and
            the number that it is a multiple of.
        type: The type in ONNX's notation, as in "seq(tensor(float))"; "" if `dtype`
            has the type.
    """

    name: str
    kind: str
    dtype: str
    shape: tuple[Any, ...]
    ranges: tuple[tuple[int, Any, int], ...]
    type: str = ""


@dataclass(frozen=True)
class StateInfo:
    """An output that continues an input: a cache that the caller keeps.

    Attributes:
        input: Name of the input.
        output: Name of the output.
        kind: "rows" if rows are added or replaced along a dim, "whole" if all
            elements are replaced, "keep" if the output is the input.
        axis: The dim of the rows; None for other kinds.

    The arrays of both may be views of one buffer with space for more rows, as in
    ``buffer[:, :, :length]``: a run then stores only the new rows.
    """

    input: str
    output: str
    kind: str
    axis: int | None = None


def _read_info(info: Any) -> ValueInfo:
    shape: list[Any] = []
    ranges: list[tuple[int, Any, int]] = []
    for i in range(info.rank):
        symbol = info.symbols[i]
        dim = info.dims[i]
        shape.append(dim if dim >= 0 else (symbol or b"").decode() or None)
        r = info.ranges[i]
        ranges.append((r.min, None if r.max < 0 else r.max, r.multiple_of))
    kind = _KINDS[info.kind]
    return ValueInfo(
        info.name.decode(),
        kind,
        dtype_name(info.dtype) if kind == "tensor" else "",
        tuple(shape),
        tuple(ranges),
        (info.type or b"").decode(),
    )


class _Handle:
    """A module of the run time; contexts keep it alive."""

    __slots__ = ("_release", "operators", "pointer")

    def __init__(self, pointer: c_void_p) -> None:
        self.pointer = pointer
        #: Functions that contexts call.
        self.operators: list[Any] = []
        # At interpreter shutdown, modules may already be unloaded.
        self._release = lib.runtime().adze_module_release

    def __del__(self) -> None:
        if self.pointer:
            self._release(self.pointer)


class _Signature:
    """Inputs and outputs of a module, and the conversion of values for them."""

    def __init__(self, handle: _Handle) -> None:
        rt = lib.runtime()
        self.inputs = self._read(
            handle, rt.adze_module_num_inputs(handle.pointer), rt.adze_module_input
        )
        self.outputs = self._read(
            handle, rt.adze_module_num_outputs(handle.pointer), rt.adze_module_output
        )
        self.overridable = self._read(
            handle,
            rt.adze_module_num_overridable(handle.pointer),
            rt.adze_module_input,
            len(self.inputs),
        )
        self.names = {info.name: i for i, info in enumerate(self.inputs)}
        self.is_plain = all(v.kind == "tensor" for v in self.inputs + self.outputs)
        text = c_char_p()
        check_status(rt.adze_module_info(handle.pointer, byref(text)))
        self.info: dict[str, Any] = json.loads(text.value or b"{}")
        self.states = tuple(StateInfo(**state) for state in self.info.get("states", ()))
        rows = [state for state in self.states if state.kind == "rows"]
        #: Of inputs and outputs that may be views of larger buffers: the dim of
        #: the rows.
        self.input_rows = {state.input: state.axis for state in rows}
        self.output_rows = {state.output: state.axis for state in rows}

    @staticmethod
    def _read(handle: _Handle, count: int, get: Any, first: int = 0) -> tuple[ValueInfo, ...]:
        infos = []
        for i in range(first, first + count):
            info = POINTER(lib.CValueInfo)()
            check_status(get(handle.pointer, i, byref(info)))
            infos.append(_read_info(info.contents))
        return tuple(infos)

    def arrange(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
        """The inputs in the module's order."""
        if not kwargs and len(args) == len(self.inputs):
            return list(args)
        if len(args) > len(self.inputs):
            raise ArgumentError(f"expected {len(self.inputs)} inputs, but got {len(args)}")
        values: list[Any] = list(args) + [_MISSING] * (len(self.inputs) - len(args))
        for name, value in kwargs.items():
            index = self.names.get(name)
            if index is None:
                known = ", ".join(repr(n) for n in self.names)
                raise ArgumentError(f"expected inputs {known}, but got {name!r}")
            if values[index] is not _MISSING:
                raise ArgumentError(f"input {name!r} is given twice")
            values[index] = value
        missing = [i.name for i, v in zip(self.inputs, values) if v is _MISSING]
        if missing:
            raise ArgumentError("expected inputs " + ", ".join(map(repr, missing)) + " too")
        return values


_MISSING = object()
#: Per context: more different shapes would have little benefit.
_MOST_PLANS = 64


class Profile:
    """A recording of runs.

    Attributes:
        trace: A Chrome trace: ``{"traceEvents": [...]}``; times are microseconds.
    """

    def __init__(self) -> None:
        self.trace: dict[str, Any] = {}

    @property
    def events(self) -> list[dict[str, Any]]:
        """The events of the launches, in order: "name" (the kernel), "ts" and "dur" in
        microseconds, "args" with ONNX nodes, bytes and FLOPs."""
        return [e for e in self.trace.get("traceEvents", []) if e.get("cat") == "kernel"]

    def save(self, path: PathLike) -> None:
        """Writes the trace to a file for chrome://tracing or Perfetto."""
        with open(path, "w") as file:
            json.dump(self.trace, file)

    def summary(self) -> list[tuple[str, float, int]]:
        """Returns the name, the total time in microseconds and the number of launches
        of each kernel, slowest first."""
        totals: dict[str, list[float]] = {}
        for event in self.events:
            entry = totals.setdefault(event["name"], [0.0, 0])
            entry[0] += float(event.get("dur", 0))
            entry[1] += 1
        rows = [(name, total, int(count)) for name, (total, count) in totals.items()]
        return sorted(rows, key=lambda row: -row[1])


class Context:
    """The resources of one run: working memory and, on a device, a stream.

    A context serves one run at a time; further calls wait. Contexts of one module
    run concurrently and share its weights. A context is called like its module.
    """

    def __init__(self, module: Module) -> None:
        self._handle = module._handle  # released after the context
        self._signature = module._signature
        self._lock = threading.RLock()
        self._pointer = c_void_p()
        self._release = lib.runtime().adze_context_release
        kind, index = _device(module.device)
        check_status(
            lib.runtime().adze_context_create(
                self._handle.pointer, lib.DLDevice(kind, index), byref(self._pointer)
            )
        )
        self._is_cpu = kind == CPU
        inputs, outputs = len(self._signature.inputs), len(self._signature.outputs)
        self._ins = (POINTER(lib.DLTensor) * inputs)()
        self._outs = (POINTER(lib.DLTensor) * outputs)()
        self._managed = POINTER(lib.DLManagedTensorVersioned) * outputs
        #: By the shapes of the inputs; None where calls of them have no plan.
        self._plans: dict[tuple[Any, ...], Plan | None] = {}

    def __del__(self) -> None:
        if getattr(self, "_pointer", None):
            self._release(self._pointer)

    # -- Runs --

    def __call__(self, *args: Any, like: str | None = None, out: Any = None, **inputs: Any) -> Any:
        """Runs the model in this context; see :meth:`Module.__call__`."""
        values = self._run(self._signature.arrange(args, inputs), like, out)
        return values[0] if len(values) == 1 else tuple(values)

    def run(
        self, inputs: Mapping[str, Any], like: str | None = None, out: Any = None
    ) -> dict[str, Any]:
        """Runs the model in this context; see :meth:`Module.run`."""
        values = self._run(self._signature.arrange((), inputs), like, out)
        return {info.name: v for info, v in zip(self._signature.outputs, values)}

    def _run(self, values: list[Any], like: str | None, out: Any) -> list[Any]:
        if out is None and like in (None, "numpy"):
            planned = self._run_planned(values)
            if planned is not None:
                return planned
        library = like if like is not None else _library(values)
        with self._lock:
            if out is not None:
                return self._run_into(values, _arrange_outputs(self._signature, out))
            if library == "numpy" and not self._is_cpu:
                arrays = self._run_to_host(values)
                if arrays is not None:
                    return arrays
                library = "adze" if like is None else library
            if not self._signature.is_plain:
                return self._run_values(values, library)
            results = self._run_tensors(values)
        return [result.to(library) for result in results]

    def _run_planned(self, values: list[Any]) -> list[Any] | None:
        """Runs by a plan; returns None if there is none for such values."""
        try:
            shapes = tuple([value.shape for value in values])
            plan = self._plans[shapes]
        except AttributeError:
            return None
        except (KeyError, TypeError):
            plan = self._make_plan(values)
        if plan is None:
            return None
        with self._lock:
            return plan.run(self._pointer, values)

    def _make_plan(self, values: list[Any]) -> Plan | None:
        signature = self._signature
        if not self._is_cpu or not signature.is_plain or signature.states:
            return None
        if not all(isinstance(value, np.ndarray) for value in values):
            return None
        shapes = tuple([value.shape for value in values])
        if [len(shape) for shape in shapes] != [len(info.shape) for info in signature.inputs]:
            return None  # the run says what was expected
        outputs = _infer_shapes(self._handle, signature, shapes)
        dtypes = [info.dtype for info in signature.outputs]
        plan = None
        in_dtypes = [info.dtype for info in signature.inputs]
        if Plan.is_for(in_dtypes, dtypes, outputs):
            plan = Plan(in_dtypes, shapes, dtypes, outputs)
        if len(self._plans) >= _MOST_PLANS:
            self._plans.clear()
        self._plans[shapes] = plan
        return plan

    def _borrow(self, values: list[Any]) -> list[Any]:
        """Sets the array of inputs; the returned objects must outlive the run."""
        kept = []
        for i, (value, info) in enumerate(zip(values, self._signature.inputs)):
            try:
                borrowed = borrow(value, info.dtype, self._signature.input_rows.get(info.name))
            except ArgumentError as error:
                raise ArgumentError(f"input {info.name!r}: {error}") from None
            self._ins[i] = borrowed.pointer
            kept.append(borrowed)
        return kept

    def _run_tensors(self, values: list[Any]) -> list[Tensor]:
        kept = self._borrow(values)
        count = len(self._signature.outputs)
        managed = self._managed()
        status = lib.runtime().adze_run_alloc(self._pointer, self._ins, len(kept), managed, count)
        check_status(status)
        return [Tensor(m) for m in managed]

    def _run_to_host(self, values: list[Any]) -> list[Any] | None:
        """Runs on a device, and returns outputs that the run copied to numpy arrays;
        None if their shapes are data-dependent."""
        if not self._signature.is_plain:
            return None
        kept = self._borrow(values)
        tensors = [borrowed.pointer.contents for borrowed in kept]
        shapes = _infer_shapes(
            self._handle, self._signature, [tuple(t.shape[: t.ndim]) for t in tensors]
        )
        if any(dim is None for shape in shapes for dim in shape):
            return None
        outputs = [
            np.empty(shape, numpy_dtype(info.dtype))
            for shape, info in zip(shapes, self._signature.outputs)
        ]
        if any(dl_dtype(array.dtype)[1] < 8 for array in outputs):
            return None
        return self._run_into(values, outputs)

    def _run_into(self, values: list[Any], outputs: list[Any]) -> list[Any]:
        if not self._signature.is_plain:
            raise ArgumentError("out= is for modules of tensors")
        kept = self._borrow(values)
        for i, (output, info) in enumerate(zip(outputs, self._signature.outputs)):
            rows = self._signature.output_rows.get(info.name)
            borrowed = _borrow_output(output, info.name, rows)
            self._outs[i] = borrowed.pointer
            kept.append(borrowed)
        status = lib.runtime().adze_run(
            self._pointer, self._ins, len(values), self._outs, len(outputs)
        )
        check_status(status)
        return outputs

    def _run_values(self, values: list[Any], library: str) -> list[Any]:
        made = [
            make_value(value, info.type, info.dtype or None)
            for value, info in zip(values, self._signature.inputs)
        ]
        count = len(self._signature.outputs)
        ins = (c_void_p * len(made))(*(value.handle for value in made))
        outs = (c_void_p * count)()
        check_status(lib.runtime().adze_run_values(self._pointer, ins, len(made), outs, count))
        results = [Value(c_void_p(handle)) for handle in outs]
        return [read_value(result, library) for result in results]

    # -- Weights --

    def override(self, weights: Mapping[str, Any]) -> None:
        """Sets the values of overridable weights (:attr:`Module.overridable`) for runs
        of this context; None restores the model's own value. Other contexts are not
        affected, and all contexts share all other weights.

        Args:
            weights: Arrays by name, as from ``numpy.load("lora.npz")`` or
                ``safetensors.numpy.load_file``. Dense arrays are not copied, and
                must not change while contexts use them; in a context on a device,
                arrays in host memory are copied to the device.

        Raises:
            ArgumentError: A name, shape, dtype or device is wrong. The weights
                before it in the order of `weights` have their new values.
        """
        kinds = {info.name: info.dtype for info in self._signature.overridable}
        for name, array in weights.items():
            value = None if array is None else make_value(array, "", kinds.get(name))
            with self._lock:
                status = lib.runtime().adze_context_override(
                    self._pointer, name.encode(), value.handle if value else None
                )
                check_status(status)

    # -- Observing --

    @contextlib.contextmanager
    def profile(self) -> Iterator[Profile]:
        """Records the runs of this context in a ``with`` statement."""
        rt = lib.runtime()
        result = Profile()
        with self._lock:
            check_status(rt.adze_profile_begin(self._pointer))
        try:
            yield result
        finally:
            text = c_char_p()
            with self._lock:
                check_status(rt.adze_profile_end(self._pointer, byref(text)))
                result.trace = json.loads(text.value or b"{}")

    @property
    def memory(self) -> dict[str, int]:
        """Memory statistics: "current_bytes" and "peak_bytes" of the module's contexts
        and outputs, "weights_bytes", "arena_bytes" of the last run and
        "arena_lower_bound_bytes", and the number of "allocations"."""
        info = lib.MemoryInfo()
        check_status(
            lib.runtime().adze_memory_stats(self._pointer, byref(info), ctypes.sizeof(info))
        )
        return {field[0]: getattr(info, field[0]) for field in info._fields_}


def _infer_shapes(
    handle: _Handle, signature: _Signature, shapes: Sequence[Sequence[int]]
) -> tuple[tuple[Any, ...], ...]:
    def pack(all_shapes: Sequence[Sequence[int]]) -> tuple[Any, list[Any]]:
        kept = [(c_int64 * len(shape))(*shape) for shape in all_shapes]
        return (lib.CShape * len(kept))(*(lib.CShape(len(k), k) for k in kept)), kept

    ins, kept_in = pack(shapes)
    outs, kept_out = pack([[0] * len(info.shape) for info in signature.outputs])
    check_status(
        lib.runtime().adze_infer_shapes(
            handle.pointer, ins, len(kept_in), outs, len(kept_out), POINTER(c_uint64)()
        )
    )
    return tuple(tuple(None if d < 0 else d for d in dims) for dims in kept_out)


def _library(values: list[Any]) -> str:
    """Returns the library of the outputs: that of the first input that is an array."""
    for value in values:
        library = library_of(value)
        if library:
            return library
    return "numpy"


def _arrange_outputs(signature: _Signature, out: Any) -> list[Any]:
    infos = signature.outputs
    if isinstance(out, Mapping):
        names = [info.name for info in infos]
        if set(out) != set(names):
            raise ArgumentError(f"expected outputs {names}, but got {list(out)}")
        return [out[name] for name in names]
    outputs = list(out) if isinstance(out, (list, tuple)) else [out]
    if len(outputs) != len(infos):
        raise ArgumentError(f"expected {len(infos)} outputs, but got {len(outputs)}")
    return outputs


def _borrow_output(output: Any, name: str, rows: int | None) -> Any:
    """Borrows an array for an output, which is written in place, never by a copy.
    `rows` is the dim of rows that may be part of a larger buffer."""
    if isinstance(output, np.ndarray):
        is_dense = output.flags.c_contiguous or has_rows(output, rows)
        if not is_dense or not output.flags.writeable:
            raise ArgumentError(f"output {name!r}: expected a dense, writable array")
        return borrow_array(output, rows)
    is_contiguous = getattr(output, "is_contiguous", None)
    if callable(is_contiguous) and not is_contiguous() and not has_rows(output, rows):
        raise ArgumentError(f"output {name!r}: expected a dense tensor")
    if not hasattr(output, "__dlpack__") or library_of(output) == "jax":
        raise ArgumentError(
            f"output {name!r}: expected a writable array, but got {type(output).__name__}"
        )
    return borrow(output, None, rows)


def _device(device: str) -> tuple[int, int]:
    kind, _, index = device.partition(":")
    if kind == "cpu" and not index:
        return CPU, 0
    if kind == "cuda" and (not index or index.isdigit()):
        return CUDA, int(index or 0)
    raise ArgumentError(f"expected device 'cpu' or 'cuda:0', but got {device!r}")


class Module:
    """A compiled model. :func:`adze.compile` and :func:`adze.load` return it.

    Any number of threads may call a module concurrently. Each call uses one of the
    module's contexts, which share the weights.

    Attributes:
        inputs: The inputs (:class:`ValueInfo`), in order.
        outputs: The outputs, in order.
        states: The outputs that continue inputs (:class:`StateInfo`).
        overridable: The weights that a context may replace
            (:meth:`Context.override`).
        device: The device that runs the module: "cpu" or "cuda:0".
        diagnostics: The messages of the compiler, if :func:`adze.compile` returned
            this module.
    """

    def __init__(self, handle: _Handle, device: str | None, source: Any) -> None:
        self._handle = handle
        self._source = source  # a path, or the compiler's result
        self._signature = _Signature(handle)
        self.inputs = self._signature.inputs
        self.outputs = self._signature.outputs
        self.states = self._signature.states
        self.overridable = self._signature.overridable
        self.diagnostics: list[Diagnostic] = []
        #: Names, types, symbols, variants, device images and memory, as
        #: ``arun --info --json`` prints them.
        self.info = self._signature.info
        has_cpu = bool(self.info.get("variants")) or not self.info.get("device_images")
        self.device = device or ("cpu" if has_cpu else "cuda:0")
        _device(self.device)
        self._free: list[Context] = []
        self._local = threading.local()
        self._executor: ThreadPoolExecutor | None = None
        self._lock = threading.Lock()

    @staticmethod
    def _options(threads: int | None, options: Mapping[str, Any] | None) -> c_void_p:
        rt = lib.runtime()
        handle = c_void_p()
        check_status(rt.adze_options_create(byref(handle)))
        settings = dict(options or {})
        if threads is not None:
            settings["threads"] = threads
        try:
            for key, value in settings.items():
                check_status(rt.adze_options_set(handle, key.encode(), os.fsencode(str(value))))
        except BaseException:
            rt.adze_options_release(handle)
            raise
        return handle

    @classmethod
    def _open(
        cls,
        path: str,
        device: str | None = None,
        threads: int | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> Module:
        rt = lib.runtime()
        settings = cls._options(threads, options)
        handle = c_void_p()
        try:
            check_status(rt.adze_module_open(os.fsencode(path), settings, byref(handle)))
        finally:
            rt.adze_options_release(settings)
        return cls(_Handle(handle), device, path)

    @classmethod
    def _open_result(
        cls, result: Any, device: str | None = None, threads: int | None = None
    ) -> Module:
        rt = lib.runtime()
        settings = cls._options(threads, None)
        handle = c_void_p()
        address, size = result.data()
        try:
            check_status(rt.adze_module_open_memory(address, size, settings, byref(handle)))
        finally:
            rt.adze_options_release(settings)
        return cls(_Handle(handle), device, result)

    def __repr__(self) -> str:
        def show(infos: Sequence[ValueInfo]) -> str:
            return ", ".join(
                f"{i.name}: {i.dtype or i.type or i.kind}"
                f"[{', '.join('?' if d is None else str(d) for d in i.shape)}]"
                for i in infos
            )

        name = self.info.get("model", "")
        return (
            f"<adze.Module {name} ({show(self.inputs)}) -> ({show(self.outputs)}) on {self.device}>"
        )

    # -- Runs --

    def __call__(self, *args: Any, like: str | None = None, out: Any = None, **inputs: Any) -> Any:
        """Runs the model.

        Args:
            *args: Inputs in order: anything with DLPack, numbers and lists; strings,
                lists, dicts and None for string tensors, sequences, maps and
                optionals. Dense, row-major arrays are not copied.
            like: The library of the outputs: "numpy", "torch", "jax", "cupy" or
                "adze" (:class:`adze.Tensor`); by default that of the first input.
            out: Arrays that receive the outputs: one, a list or a dict by name.
            **inputs: Inputs by name.

        Returns:
            The output, or a tuple if there are several.

        Raises:
            ArgumentError: An input's name, shape, dtype or device is wrong.
            AdzeError: The run failed; the message names the ONNX node.
        """
        # As _context() does, which would take a third of a small model's call.
        own = getattr(self._local, "profiled", None)
        if own is not None:
            return own(*args, like=like, out=out, **inputs)
        try:
            context = self._free.pop()  # atomic
        except IndexError:
            context = Context(self)
        try:
            return context(*args, like=like, out=out, **inputs)
        finally:
            self._free.append(context)

    def run(
        self, inputs: Mapping[str, Any], like: str | None = None, out: Any = None
    ) -> dict[str, Any]:
        """Runs the model with inputs and outputs as dicts, for names that are not
        Python identifiers."""
        with self._context() as context:
            return context.run(inputs, like=like, out=out)

    def run_async(self, *args: Any, **kwargs: Any) -> Future[Any]:
        """Runs the model on one of the module's threads.

        Returns:
            A future with the result of :meth:`__call__`
            (``await asyncio.wrap_future(future)``). The inputs must not change
            before it is done.
        """
        with self._lock:
            if self._executor is None:
                self._executor = ThreadPoolExecutor(
                    max_workers=os.cpu_count(), thread_name_prefix="adze"
                )
        return self._executor.submit(self, *args, **kwargs)

    def swap_weights(self, path: str | os.PathLike[str]) -> None:
        """Replaces the weights by those of the module at `path`, which must have the
        same code: a model of the same graph, compiled with the same options. Calls
        that begin later use the new weights; active calls complete with the old ones.

        Raises:
            AdzeError: The code differs, the weights are damaged, or a device has no
                memory for them; the weights are then unchanged.
        """
        check_status(lib.runtime().adze_swap_weights(self._handle.pointer, os.fsencode(path)))

    def register_operator(self, name: str, function: Callable[..., Any]) -> None:
        """Registers a function for the nodes of an operator that was declared as a host
        function when the model was compiled (``options={"kernels": "FILE.mlir"}``).
        Contexts that are created later call it; calls may be concurrent.

        Args:
            name: Domain and operator, as in "com.example.Clip".
            function: A function that is called with the node's inputs in order, and
                its attributes by name: ``clip(x, low, high, mode="...")``. Inputs
                are read-only numpy arrays (string tensors: arrays of objects) that
                are valid until it returns, or None if the node omits the input. It
                returns the output, or a tuple of several; an exception ends the run
                with :class:`AdzeError`, which names the node.
        """
        self._handle.operators.append(register(self._handle.pointer, name, function))
        with self._lock:
            self._free.clear()  # made with the functions of before

    def context(self) -> Context:
        """Returns a separate context, which keeps its working memory between runs."""
        return Context(self)

    @contextlib.contextmanager
    def _context(self) -> Iterator[Context]:
        own = getattr(self._local, "profiled", None)
        if own is not None:
            yield own
            return
        try:
            context = self._free.pop()  # atomic
        except IndexError:
            context = Context(self)
        try:
            yield context
        finally:
            self._free.append(context)

    # -- Observing --

    @contextlib.contextmanager
    def profile(self) -> Iterator[Profile]:
        """Records the calls of this thread in a ``with`` statement::

        with module.profile() as profile:
            module(x)
        print(profile.summary())
        """
        with self._context() as context, context.profile() as result:
            outer = getattr(self._local, "profiled", None)
            self._local.profiled = context
            try:
                yield result
            finally:
                self._local.profiled = outer

    @property
    def memory(self) -> dict[str, int]:
        """The :attr:`Context.memory` of the context that ran last."""
        with self._context() as context:
            return context.memory

    def infer_shapes(self, *shapes: Sequence[int]) -> tuple[tuple[Any, ...], ...]:
        """Returns the outputs' shapes for shapes of the inputs, in order; None for a
        dynamic dim. Raises ArgumentError for shapes that the model does not accept."""

        return _infer_shapes(self._handle, self._signature, shapes)

    def save(self, path: PathLike) -> None:
        """Writes the module to a file, completely or not at all."""
        target = os.fspath(path)
        temporary = f"{target}.tmp-{os.getpid()}-{threading.get_ident()}"
        try:
            if isinstance(self._source, str):
                shutil.copyfile(self._source, temporary)
            else:
                address, size = self._source.data()
                with open(temporary, "wb") as file:
                    file.write((ctypes.c_char * size).from_address(address))
            os.replace(temporary, target)
        except BaseException:
            with contextlib.suppress(OSError):
                os.remove(temporary)
            raise


def load(
    path: PathLike,
    *,
    device: str | None = None,
    threads: int | None = None,
    options: Mapping[str, Any] | None = None,
) -> Module:
    """Opens a compiled module.

    Args:
        path: The module's file. It is checked before any of it is executed.
        device: "cpu" or "cuda:0"; by default the CPU, if the module has code for it.
        threads: Threads of a run, the caller's included; by default one for each CPU
            that the process may use.
        options: Further options of ``adze_options_set``, as in ``{"verify": "code"}``.

    Raises:
        AdzeError: The file is not a module, is damaged, or cannot run on this machine.
    """
    return Module._open(os.fspath(path), device=device, threads=threads, options=options)
