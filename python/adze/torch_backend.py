# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""``torch.compile(model, backend="adze")``.

Each graph that TorchDynamo captures is exported to ONNX and compiled when it is
first called; parameters and buffers become constants.  A graph that cannot be
compiled runs without the backend, and the logger "adze.torch" prints the reason.
Gradients are not computed: a graph whose inputs or parameters require gradients
runs without the backend, except under ``torch.no_grad()`` or
``torch.inference_mode()``.

Options of ``torch.compile(..., options={...})`` are keywords of
:func:`adze.compile`, such as "precision", "optimize" and "cache".
"""

from __future__ import annotations

import contextlib
import logging
import os
import tempfile
import warnings
from typing import Any, Callable, Iterator, Sequence

import torch

from ._compile import CompileError, compile
from ._errors import AdzeError
from ._module import Module

_log = logging.getLogger("adze.torch")

#: Versions of one graph that are compiled; further shapes run without the backend.
_MAX_VERSIONS = 8
#: Functions of torch's attention modules at inference that have no ONNX form.
_FAST_PATHS = ("_transformer_encoder_layer_fwd", "_native_multi_head_attention")
#: A serialized model has less than 2 GiB.
_MAX_BYTES_IN_MEMORY = 1 << 30


class _Refused(Exception):
    """The reason why a graph is not compiled."""


def _storage(node: torch.fx.Node) -> int | None:
    """Identifies the memory of a node's value while the graph is captured."""
    value = node.meta.get("example_value")
    return value.untyped_storage()._cdata if isinstance(value, torch.Tensor) else None


def _stamp(tensor: torch.Tensor) -> tuple[int, int]:
    """Returns a value that changes with the tensor's elements or identity."""
    version = 0 if tensor.is_inference() else tensor._version
    return version, tensor.data_ptr()


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Suppresses the exporter's messages about packages that are not installed."""
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)


class _Closed(torch.nn.Module):
    """The graph as a function of its tensors: parameters are constants, and sizes are
    those of the tensors."""

    def __init__(self, graph: _Graph, constants: dict[int, torch.Tensor]) -> None:
        super().__init__()
        self.graph = graph.module
        self.places = graph.places
        for index, tensor in constants.items():
            self.register_buffer(f"constant_{index}", tensor.detach(), persistent=True)

    def forward(self, *tensors: torch.Tensor) -> Any:
        args = []
        for index, (kind, *where) in enumerate(self.places):
            if kind == "constant":
                args.append(getattr(self, f"constant_{index}"))
            elif kind == "tensor":
                args.append(tensors[where[0]])
            else:
                args.append(tensors[where[0]].shape[where[1]])
        return self.graph(*args)


class _Graph:
    """A captured graph, and the modules that were compiled from it."""

    def __init__(
        self, module: torch.fx.GraphModule, examples: Sequence[Any], options: dict[str, Any]
    ) -> None:
        self.module = module
        self.options = options
        nodes = [n for n in module.graph.nodes if n.op == "placeholder"]
        values = [n.meta.get("example_value", e) for n, e in zip(nodes, examples)]
        self.places: list[tuple[Any, ...]] = []
        self.tensors: list[int] = []  # which of the arguments
        self.constants: list[int] = []
        self.dynamic: list[frozenset[int]] = []  # dims of each tensor
        sizes: dict[str, tuple[int, int]] = {}
        self.reason = self._classify(values, examples, sizes)
        self.outputs = self._read_outputs()
        self.versions: dict[Any, Module | None] = {}
        self.stamps: list[tuple[int, int]] = []
        self.reported: set[str] = set()
        if self.reason:
            self.report(self.reason)

    def _classify(
        self, values: list[Any], examples: Sequence[Any], sizes: dict[str, tuple[int, int]]
    ) -> str:
        for index, (value, example) in enumerate(zip(values, examples)):
            is_static = getattr(example, "_dynamo_static_input_type", None)
            if isinstance(example, torch.nn.Parameter) or is_static:
                self.constants.append(index)
                self.places.append(("constant",))
            elif isinstance(example, torch.Tensor):
                dims = [i for i, d in enumerate(value.shape) if isinstance(d, torch.SymInt)]
                for i in dims:
                    sizes.setdefault(str(value.shape[i]), (len(self.tensors), i))
                self.dynamic.append(frozenset(dims))
                self.places.append(("tensor", len(self.tensors)))
                self.tensors.append(index)
            else:
                self.places.append(("size", value))
        for index, place in enumerate(self.places):
            if place[0] == "size":
                where = sizes.get(str(place[1]))
                if where is None:
                    return f"input {index} is a number that is no size of a tensor"
                self.places[index] = ("size", *where)
        return ""

    def _read_outputs(self) -> list[bool]:
        """Returns whether each output is a tensor; the others are None."""
        (output,) = [n for n in self.module.graph.nodes if n.op == "output"]
        inputs = {_storage(n) for n in self.module.graph.nodes if n.op == "placeholder"}
        results = []
        for node in output.args[0]:
            value = None if node is None else node.meta.get("example_value")
            if node is not None and not isinstance(value, torch.Tensor):
                self.reason = self.reason or "an output is no tensor"
            elif node is not None and _storage(node) in inputs:
                # What writes to one later must change the other.
                self.reason = self.reason or "an output shares memory with an input"
            results.append(node is not None)
        if not any(results):
            self.reason = self.reason or "it has no output"
        return results

    def report(self, reason: str) -> None:
        if reason not in self.reported:
            self.reported.add(reason)
            _log.warning("a graph runs without Adze: %s", reason)

    # -- Compilation --

    def _export(self, tensors: list[torch.Tensor], constants: dict[int, torch.Tensor]) -> Any:
        closed = _Closed(self, constants).eval()
        shapes = None
        if any(self.dynamic):
            auto = torch.export.Dim.AUTO
            shapes = (tuple({d: auto for d in dims} for dims in self.dynamic),)
        program = torch.export.export(closed, tuple(tensors), dynamic_shapes=shapes, strict=False)
        program = program.run_decompositions({})  # writes become results
        signature = program.graph_signature
        if signature.buffers_to_mutate or getattr(signature, "user_inputs_to_mutate", None):
            raise _Refused("it writes to its inputs, parameters or buffers")
        return torch.onnx.export(program, dynamo=True, verbose=False)

    def _compile(self, tensors: list[torch.Tensor], constants: dict[int, torch.Tensor]) -> Module:
        options = dict(self.options)
        devices = {t.device for t in (*tensors, *constants.values())}
        if len(devices) != 1:
            raise _Refused(f"its tensors are on {len(devices)} devices")
        (device,) = devices
        if device.type == "cuda":
            major, minor = torch.cuda.get_device_capability(device)
            exact = "a" if (major, minor) in ((9, 0), (10, 0)) else ""
            options.setdefault("target", f"cuda:sm_{major}{minor}{exact}")
            options.setdefault("device", f"cuda:{device.index or 0}")
        elif device.type != "cpu":
            raise _Refused(f"there is no code for device {device}")
        with torch.no_grad(), _quiet():
            program = self._export(tensors, constants)
        size = sum(t.numel() * t.element_size() for t in constants.values())
        if size < _MAX_BYTES_IN_MEMORY:
            module = compile(program.model_proto, **options)
        else:
            with tempfile.TemporaryDirectory(prefix="adze-torch-") as folder:
                path = os.path.join(folder, "graph.onnx")
                program.save(path, external_data=True)
                module = compile(path, **options)
        if len(module.inputs) != len(tensors) or len(module.outputs) != sum(self.outputs):
            raise _Refused("the exporter changed its inputs or outputs")
        return module

    def _find(self, args: Sequence[Any]) -> Module | None:
        tensors = [args[i] for i in self.tensors]
        stamps = [_stamp(args[i]) for i in self.constants]
        if stamps != self.stamps:
            # New parameters: what was compiled has the old ones.
            self.versions.clear()
            self.stamps = stamps
        # The exporter takes sizes of 0 and 1 for constants.
        key = tuple(
            (t.dtype, t.device)
            + tuple(None if i in dims and d > 1 else d for i, d in enumerate(t.shape))
            for t, dims in zip(tensors, self.dynamic)
        )
        if key in self.versions:
            return self.versions[key]
        if len(self.versions) >= _MAX_VERSIONS:
            self.report(f"it was compiled for {_MAX_VERSIONS} other shapes")
            return None
        try:
            module = self._compile(tensors, {i: args[i] for i in self.constants})
        except Exception as error:
            self.report(_describe(error))
            module = None
        self.versions[key] = module
        return module

    # -- Calls --

    def __call__(self, *args: Any) -> Any:
        if self.reason:
            return self.module.forward(*args)
        if torch.is_grad_enabled() and any(
            isinstance(a, torch.Tensor) and a.requires_grad for a in args
        ):
            self.report("the inputs require gradients; run under torch.no_grad()")
            return self.module.forward(*args)
        module = self._find(args)
        if module is None:
            return self.module.forward(*args)
        try:
            values = module(*(args[i] for i in self.tensors), like="torch")
        except AdzeError as error:
            self.report(str(error))
            return self.module.forward(*args)
        given = iter((values,) if len(module.outputs) == 1 else values)
        return tuple(next(given) if is_tensor else None for is_tensor in self.outputs)


def _describe(error: Exception) -> str:
    if isinstance(error, (CompileError, _Refused)):
        return str(error)
    # The exporter wraps what went wrong in advice.
    while error.__cause__ is not None:
        error = error.__cause__  # type: ignore[assignment]
    lines = str(error).strip().splitlines() or [""]
    text = f"torch.onnx.export: {type(error).__name__}: {lines[0]}"
    if any(name in text for name in _FAST_PATHS):
        text += "; torch.backends.mha.set_fastpath_enabled(False) has torch use others"
    return text


def adze(
    module: torch.fx.GraphModule,
    example_inputs: Sequence[Any],
    *,
    mode: str | None = None,
    options: dict[str, Any] | None = None,
) -> Callable[..., Any]:
    """The backend: compiles a captured graph when it is called."""
    return _Graph(module, example_inputs, dict(options or {}))
