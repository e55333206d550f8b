# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Adze as an ``onnx.backend``. It needs the package onnx.

import adze.backend as backend
rep = backend.prepare(onnx.load("model.onnx"), device="CPU")
(logits,) = rep.run([image])
"""

from __future__ import annotations

from typing import Any, Mapping

import numpy as np
from onnx import ModelProto
from onnx.backend.base import Backend, BackendRep, namedtupledict

from . import _compile
from ._module import Module

__all__ = [
    "AdzeBackend",
    "AdzeBackendRep",
    "is_compatible",
    "prepare",
    "run_model",
    "run_node",
    "supports_device",
]


def _device(device: str) -> str:
    """Converts "CPU" or "CUDA:0" to Adze's notation."""
    kind, _, index = device.partition(":")
    return "cpu" if kind == "CPU" else f"cuda:{index or 0}"


class AdzeBackendRep(BackendRep):
    """A compiled model."""

    def __init__(self, module: Module) -> None:
        self.module = module

    def run(self, inputs: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Runs the model on a list of inputs, a dict by name, or one input.

        Returns:
            The outputs in order, as numpy arrays (lists and None for sequences and
            optionals); they are also accessible by name.
        """
        signature = self.module.inputs
        if isinstance(inputs, Mapping):
            values = [inputs[info.name] for info in signature]
        elif isinstance(inputs, (list, tuple)):
            values = list(inputs)
        else:
            values = [inputs]
        outputs = self.module.run(
            {info.name: v for info, v in zip(signature, values)}, like="numpy"
        )
        return namedtupledict("Outputs", list(outputs))(*outputs.values())


class AdzeBackend(Backend):
    """The backend as ONNX's tests expect it."""

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Returns True if the package can compile for the device."""
        return device.partition(":")[0] in ("CPU", "CUDA")

    @classmethod
    def is_compatible(cls, model: ModelProto, device: str = "CPU", **kwargs: Any) -> bool:
        """Returns True if the whole model can be compiled."""
        return bool(_compile.check(model)["compiles"])

    @classmethod
    def prepare(cls, model: ModelProto, device: str = "CPU", **kwargs: Any) -> AdzeBackendRep:
        """Compiles a model; keywords are those of :func:`adze.compile`.

        Raises:
            CompileError: The model was not compiled; the error has the reasons.
        """
        super().prepare(model, device, **kwargs)
        place = _device(device)
        if place != "cpu":
            kwargs.setdefault("target", ["cpu", "cuda:sm_90a"])
        return AdzeBackendRep(_compile.compile(model, device=place, **kwargs))

    @classmethod
    def run_model(cls, model: ModelProto, inputs: Any, device: str = "CPU", **kwargs: Any) -> Any:
        """Compiles a model and runs it once."""
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def run_node(
        cls, node: Any, inputs: Any, device: str = "CPU", outputs_info: Any = None, **kwargs: Any
    ) -> Any:
        """Compiles a node for the types of these inputs, and runs it. `outputs_info` has
        (dtype, shape) of each output, for outputs that ONNX cannot infer."""
        from onnx import helper

        arrays = [np.asarray(v) for v in inputs]
        names = [n for n in node.input if n]
        graph_inputs = [
            helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
            for n, a in zip(names, arrays)
        ]
        if outputs_info is None:
            graph_outputs = [helper.make_empty_tensor_value_info(n) for n in node.output if n]
        else:
            graph_outputs = [
                helper.make_tensor_value_info(
                    n, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape
                )
                for n, (dtype, shape) in zip(node.output, outputs_info)
            ]
        graph = helper.make_graph([node], "node", graph_inputs, graph_outputs)
        opset = kwargs.pop("opset_version", None)
        imports = None if opset is None else [helper.make_opsetid(node.domain, opset)]
        model = helper.make_model(graph, opset_imports=imports)
        if outputs_info is None:
            from onnx import shape_inference

            model = shape_inference.infer_shapes(model)
        return cls.prepare(model, device, **kwargs).run(arrays)


supports_device = AdzeBackend.supports_device
is_compatible = AdzeBackend.is_compatible
prepare = AdzeBackend.prepare
run_model = AdzeBackend.run_model
run_node = AdzeBackend.run_node
