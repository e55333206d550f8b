# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Compilation of models: options, diagnostics, progress, cancellation."""

from __future__ import annotations

import ctypes
import json
import os
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Iterable, Mapping, Sequence, Union

from . import _libraries as lib

if TYPE_CHECKING:
    from ._module import Module

PathLike = Union[str, "os.PathLike[str]"]
#: A size, a range (least, greatest[, common]), or text as ``--dim`` takes it.
Dim = Union[int, str, "tuple[int, int]", "tuple[int, int, int]"]

_SEVERITIES = ("error", "warning", "remark", "note")
_STATUSES = {
    1: "input",
    2: "usage",
    3: "unsupported",
    4: "cancelled",
    70: "defect",
}


@dataclass(frozen=True)
class Diagnostic:
    """One message of the compiler.

    Attributes:
        severity: "error", "warning", "remark" or "note".
        message: What is wrong and what to do about it.
        file: The model, or another file; may be empty.
        node: Name of the ONNX node; may be empty.
        op: Its operator, as in "ai.onnx.Conv-22"; may be empty.
        line: Line in MLIR text; 0 elsewhere.
        column: Column in MLIR text; 0 elsewhere.
        formatted: The whole message in one line, as atranslate prints it.
    """

    severity: str
    message: str
    file: str = ""
    node: str = ""
    op: str = ""
    line: int = 0
    column: int = 0
    formatted: str = ""

    def __str__(self) -> str:
        return self.formatted or f"{self.severity}: {self.message}"


class CompileError(Exception):
    """A model was not compiled.

    Attributes:
        status: "input" (an error of the model or of a file), "usage" (a wrong
            option), "unsupported", "cancelled" or "defect" (an internal error).
        diagnostics: All messages, in the order in which they were reported.
    """

    def __init__(
        self, message: str, status: str = "input", diagnostics: Sequence[Diagnostic] = ()
    ) -> None:
        super().__init__(message)
        self.status = status
        self.diagnostics = list(diagnostics)

    @property
    def unsupported(self) -> list[str]:
        """The names of the ONNX nodes that have errors."""
        return [d.node for d in self.diagnostics if d.severity == "error" and d.node]


def _text(value: bytes | None) -> str:
    return (value or b"").decode("utf-8", "replace")


class _Options:
    """Options of the C API with callbacks, which are released with the object."""

    def __init__(self) -> None:
        self._lib = lib.compiler()
        handle = ctypes.c_void_p()
        self._lib.adze_compiler_options_create(ctypes.byref(handle))
        self._release = self._lib.adze_compiler_options_release
        self.handle = handle
        self.diagnostics: list[Diagnostic] = []
        self.cancelled = threading.Event()
        self.failure: BaseException | None = None
        self._report = lib.DiagnosticCallback(self._on_diagnostic)
        self._cancel = lib.CancelCallback(lambda _: self.cancelled.is_set())
        self._progress: Any = None
        self._lib.adze_compiler_options_set_diagnostics(handle, self._report, None)
        self._lib.adze_compiler_options_set_cancel(handle, self._cancel, None)

    def __del__(self) -> None:
        if getattr(self, "handle", None):
            self._release(self.handle)

    def set(self, key: str, value: object) -> None:
        if isinstance(value, bool):
            value = "true" if value else "false"
        status = self._lib.adze_compiler_options_set(self.handle, key.encode(), str(value).encode())
        if status:
            message = _text(self._lib.adze_compiler_options_message(self.handle))
            raise CompileError(message, _STATUSES.get(status, "usage"))

    def follow(self, progress: Callable[[str, int, int], Any]) -> None:
        def call(_: Any, stage: bytes, done: int, total: int) -> None:
            # An exception of the callback cancels the compilation, which raises it.
            try:
                if self.failure is None:
                    progress(stage.decode(), done, total)
            except BaseException as error:
                self.failure = error
                self.cancelled.set()

        self._progress = lib.ProgressCallback(call)
        self._lib.adze_compiler_options_set_progress(self.handle, self._progress, None)

    def _on_diagnostic(self, _: Any, pointer: Any) -> None:
        d = pointer.contents
        self.diagnostics.append(
            Diagnostic(
                _SEVERITIES[d.severity],
                _text(d.message),
                _text(d.file),
                _text(d.node),
                _text(d.op),
                d.line,
                d.column,
                _text(d.formatted),
            )
        )


class _Result:
    """A result of the C API, and its contents."""

    def __init__(self) -> None:
        self.handle = ctypes.c_void_p()
        self._lib = lib.compiler()
        self._release = self._lib.adze_compiler_result_release

    def __del__(self) -> None:
        if getattr(self, "handle", None):
            self._release(self.handle)

    @property
    def message(self) -> str:
        return _text(self._lib.adze_compiler_result_message(self.handle)).rstrip("\n")

    def data(self) -> tuple[int, int]:
        """Returns the address and the size of the output in memory."""
        size = ctypes.c_size_t()
        address = self._lib.adze_compiler_result_data(self.handle, ctypes.byref(size))
        return address or 0, size.value

    def bytes(self) -> bytes:
        return ctypes.string_at(*self.data())


class _Model:
    """A model in any form: a path, or bytes with a name."""

    def __init__(self, model: Any, name: str | None) -> None:
        self.path: bytes | None = None
        self.bytes: bytes | None = None
        self.name = os.fsencode(name or "model.onnx")
        if isinstance(model, (str, os.PathLike)):
            self.path = os.fsencode(model)
        elif isinstance(model, (bytes, bytearray, memoryview)):
            self.bytes = bytes(model)
        elif hasattr(model, "SerializeToString"):
            try:
                self.bytes = model.SerializeToString()
            except Exception as error:
                raise CompileError(
                    f"the model cannot be serialized: {error}; save one of 2 GB or more "
                    "with external data and compile its path"
                ) from error
        else:
            raise TypeError(
                "expected the path of a model, its bytes or an onnx.ModelProto, but got "
                f"{type(model).__name__}"
            )

    def call(self, options: _Options, result: _Result, output: bytes | None) -> int:
        c = lib.compiler()
        out = ctypes.byref(result.handle)
        if self.path is not None:
            return c.adze_compile(self.path, output, options.handle, out)
        data = self.bytes
        assert data is not None
        return c.adze_compile_memory(data, len(data), self.name, output, options.handle, out)

    def check(self, options: _Options, result: _Result) -> int:
        c = lib.compiler()
        out = ctypes.byref(result.handle)
        if self.path is not None:
            return c.adze_compiler_check(self.path, options.handle, out)
        data = self.bytes
        assert data is not None
        return c.adze_compiler_check_memory(data, len(data), self.name, options.handle, out)


def _dim(name: str, dim: Dim) -> str:
    if isinstance(dim, (tuple, list)):
        if len(dim) not in (2, 3):
            raise ValueError(
                f"dims[{name!r}]: expected (least, greatest) or (least, greatest, common), "
                f"but got {dim!r}"
            )
        return f"{name}={dim[0]}..{dim[1]}" + (f":{dim[2]}" if len(dim) == 3 else "")
    return f"{name}={dim}"


def _shape(name: str, shape: str | Iterable[int | str | None]) -> str:
    if isinstance(shape, str):
        return f"{name}={shape}"
    dims = ("?" if dim is None or not isinstance(dim, int) else str(dim) for dim in shape)
    return f"{name}={'x'.join(dims)}"


def _strings(value: str | Iterable[str] | None) -> list[str]:
    if value is None:
        return []
    return [value] if isinstance(value, str) else list(value)


def _make_options(
    target: str | Iterable[str] | None,
    precision: str | None,
    dims: Mapping[str, Dim] | None,
    shapes: Mapping[str, Any] | None,
    options: Mapping[str, Any] | None,
    **scalars: Any,
) -> _Options:
    result = _Options()
    for name in _strings(target):
        result.set("target", name)
    if precision is not None:
        result.set("precision", precision)
    for name, dim in (dims or {}).items():
        result.set("dim", _dim(name, dim))
    for name, shape in (shapes or {}).items():
        result.set("shape", _shape(name, shape))
    for key, value in scalars.items():
        if value is not None:
            result.set(key.replace("_", "-"), value)
    for key, value in (options or {}).items():
        key = key.replace("_", "-")
        for part in value if isinstance(value, (list, tuple)) else [value]:
            result.set(key, os.fspath(part) if isinstance(part, os.PathLike) else part)
    return result


def _run(options: _Options, work: Callable[[], int]) -> int:
    """Runs a compilation on a separate thread, so that Ctrl-C cancels it: the
    interpreter handles signals on the main thread only."""
    status: list[int] = []
    thread = threading.Thread(target=lambda: status.append(work()), name="adze-compile")
    thread.start()
    try:
        while thread.is_alive():
            thread.join(0.1)
    except BaseException:
        options.cancelled.set()
        thread.join()
        raise
    if options.failure is not None:
        raise options.failure
    return status[0]


def compile(
    model: Any,
    *,
    target: str | Iterable[str] | None = None,
    precision: str | None = None,
    weights_precision: str | None = None,
    dims: Mapping[str, Dim] | None = None,
    shapes: Mapping[str, Any] | None = None,
    optimize: int | None = None,
    jobs: int | None = None,
    cache: PathLike | None = None,
    output: PathLike | None = None,
    device: str | None = None,
    threads: int | None = None,
    name: str | None = None,
    progress: Callable[[str, int, int], Any] | None = None,
    options: Mapping[str, Any] | None = None,
) -> Module:
    """Compiles an ONNX model and opens the module.

    Args:
        model: The path of a model (.onnx, or .mlir of any level), its bytes, or an
            ``onnx.ModelProto``.
        target: "cpu" (the default), "cuda:sm_90a", or several.
        precision: "f32" (as ONNX defines, the default), "bf16" or "f16"; "auto"
            selects bf16 for as many products as the error bound
            ``options={"max_error": E}`` permits (0.01 of the range of an output).
        weights_precision: Constant weights of f32 matrix products: "f32" (the default),
            or "int8" or "int4", rounded by blocks of 32 along the depth; "int4:64" by
            blocks of 64.
        dims: Symbolic dims by name: a size to fix it, ``(least, greatest)`` or
            ``(least, greatest, common)`` to bound it.
        shapes: Shapes of inputs by name, as in ``{"x": (1, 3, None, 224)}``; None
            keeps the dim of the model.
        optimize: 0 (the reference path) to 3; 2 by default.
        jobs: Threads to compile with; by default as many as the machine runs.
        cache: A folder in which compiled modules are cached by content.
        output: The path of the module. By default the module stays in memory.
        device: The device that runs the module: "cpu" or "cuda:0"; by default the
            CPU, if the module has code for it.
        threads: Threads of a run; by default one for each CPU.
        name: For models in memory: the path that the model is reported under.
            Messages name it, and external data is resolved against its folder.
        progress: Called with the name of a stage, the number of kernels that are
            done, and the number of all kernels (0 and 0 for a stage without
            kernels). An exception that it raises cancels the compilation and
            propagates.
        options: Further flags of atranslate by name, as in ``{"mcpu":
            "x86-64-v3", "weights": "file", "tune": "model"}``; a list for a flag
            that may be repeated.

    Returns:
        The :class:`adze.Module`.

    Raises:
        CompileError: The model was not compiled; ``diagnostics`` have the reason for
            each node.
        AdzeError: The module cannot run on this machine.
    """
    from ._module import Module  # which imports this

    source = _Model(model, name)
    opts = _make_options(
        target,
        precision,
        dims,
        shapes,
        options,
        O=optimize,
        weights_precision=weights_precision,
        j=jobs,
        cache=None if cache is None else os.fspath(cache),
    )
    if progress is not None:
        opts.follow(progress)
    result = _Result()
    path = None if output is None else os.fsencode(output)
    status = _run(opts, lambda: source.call(opts, result, path))
    if status:
        raise CompileError(result.message or "cancelled", _STATUSES[status], opts.diagnostics)
    if output is not None:
        module = Module._open(os.fspath(output), device=device, threads=threads)
    else:
        module = Module._open_result(result, device=device, threads=threads)
    module.diagnostics = opts.diagnostics
    return module


def check(
    model: Any,
    *,
    dims: Mapping[str, Dim] | None = None,
    shapes: Mapping[str, Any] | None = None,
    name: str | None = None,
    options: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Imports a model without compiling it, and reports why it cannot be compiled.

    Args: Those of :func:`adze.compile`.

    Returns:
        ``{"model": name, "compiles": bool, "issues": [...]}``. An issue has "kind"
        ("unsupported" or "error") and "reason", and, if it concerns a node, the
        node's name ("node"), its index in the graph ("index") and its operator
        ("op", as in "ai.onnx.Conv-22").

    Raises:
        CompileError: An option is wrong.
    """
    source = _Model(model, name)
    opts = _make_options(None, None, dims, shapes, options)
    result = _Result()
    status = _run(opts, lambda: source.check(opts, result))
    if not result.data()[1]:
        raise CompileError(result.message, _STATUSES.get(status, "input"), opts.diagnostics)
    return json.loads(result.bytes())
