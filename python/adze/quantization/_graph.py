# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""An editable ONNX graph, with the producer and the users of each tensor and constants
as arrays, and the preparation of a model for quantization."""

from __future__ import annotations

import itertools
from typing import Any, Iterable, Iterator

import numpy as np
import onnx
from onnx import helper, numpy_helper

from .._errors import ArgumentError

FLOAT = onnx.TensorProto.FLOAT


def attribute(node: Any, name: str, default: Any = None) -> Any:
    """Returns the value of an attribute."""
    for item in node.attribute:
        if item.name == name:
            return helper.get_attribute_value(item)
    return default


def is_op(node: Any, *op_types: str) -> bool:
    return node.domain in ("", "ai.onnx") and node.op_type in op_types


def _captured(node: Any) -> Iterator[str]:
    """Returns the names that the bodies of a node use, including names defined there."""
    for item in node.attribute:
        for body in [item.g] if item.type == onnx.AttributeProto.GRAPH else item.graphs:
            yield from (output.name for output in body.output)
            for inner in body.node:
                yield from inner.input
                yield from _captured(inner)


class Graph:
    """The main graph of a model, which it edits in place.

    Attributes:
        model: The ``onnx.ModelProto``.
        constants: Initializers by name.
        outputs: Names of the model's outputs.
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        self.nodes = list(model.graph.node)
        self.constants = {tensor.name: tensor for tensor in model.graph.initializer}
        self.outputs = {output.name for output in model.graph.output}
        self._arrays: dict[str, np.ndarray] = {}
        self._names = set(self.constants) | self.outputs
        self._names.update(value.name for value in model.graph.input)
        for node in self.nodes:
            self._names.update(node.output)
            self._names.update(_captured(node))
        self.index()

    def index(self) -> None:
        """Recomputes producers and users after nodes have changed."""
        self.producers: dict[str, Any] = {}
        self.readers: dict[str, list[Any]] = {}
        self.captured: set[str] = set()
        for node in self.nodes:
            for name in node.output:
                self.producers[name] = node
            for name in dict.fromkeys(node.input):
                self.readers.setdefault(name, []).append(node)
            self.captured.update(_captured(node))

    def infer_types(self) -> None:
        """Infers the element types and ranks of tensors (``types``, ``ranks``)."""
        try:
            inferred = onnx.shape_inference.infer_shapes(self.model)
        except Exception:  # a model of 2 GB: types of its inputs and outputs only
            inferred = self.model
        self.values = {
            value.name: value
            for value in itertools.chain(
                inferred.graph.value_info, inferred.graph.input, inferred.graph.output
            )
        }

    def is_float(self, name: str) -> bool:
        """Returns True if a tensor is known to have elements of f32."""
        if name in self.constants:
            return self.constants[name].data_type == FLOAT
        value = self.values.get(name)
        return value is not None and value.type.tensor_type.elem_type == FLOAT

    def rank(self, name: str) -> int | None:
        value = self.values.get(name)
        if value is None or not value.type.tensor_type.HasField("shape"):
            return None
        return len(value.type.tensor_type.shape.dim)

    def has_one_reader(self, name: str) -> bool:
        return (
            len(self.readers.get(name, [])) == 1
            and name not in self.outputs
            and name not in self.captured
        )

    def array(self, name: str) -> np.ndarray:
        """Returns the constant with a name."""
        if name not in self._arrays:
            self._arrays[name] = numpy_helper.to_array(self.constants[name])
        return self._arrays[name]

    def is_float_constant(self, name: str) -> bool:
        return name in self.constants and self.constants[name].data_type == FLOAT

    def fresh(self, hint: str) -> str:
        """Returns an unused name."""
        name = hint
        for i in itertools.count(1):
            if name not in self._names:
                break
            name = f"{hint}_{i}"
        self._names.add(name)
        return name

    def add_tensor(self, tensor: Any) -> str:
        self.constants[tensor.name] = tensor
        return tensor.name

    def add_constant(self, array: Any, hint: str) -> str:
        """Adds an initializer; returns its name."""
        array = np.asarray(array, order="C")
        return self.add_tensor(numpy_helper.from_array(array, self.fresh(hint)))

    def add_node(
        self, op_type: str, inputs: Iterable[str], outputs: Iterable[str] | str, **kwargs: Any
    ) -> str:
        """Adds a node (`finish` sorts nodes), and returns its first output."""
        outputs = [outputs] if isinstance(outputs, str) else list(outputs)
        name = self.fresh(f"{outputs[0]}_{op_type}")
        self.nodes.append(helper.make_node(op_type, list(inputs), outputs, name=name, **kwargs))
        return outputs[0]

    def finish(self) -> Any:
        """Writes the nodes in topological order, and the constants with users, to the
        model, and returns it."""
        graph = self.model.graph
        self.index()
        ordered: list[Any] = []
        done: set[int] = set()
        for root in self.nodes:
            stack = [(root, False)]
            while stack:
                node, is_ready = stack.pop()
                if is_ready:
                    ordered.append(node)
                    continue
                if id(node) in done:
                    continue
                done.add(id(node))
                stack.append((node, True))
                for name in itertools.chain(node.input, _captured(node)):
                    if name in self.producers:
                        stack.append((self.producers[name], False))
        self.nodes = ordered
        read = set(self.readers) | self.captured | self.outputs
        kept = [tensor for name, tensor in self.constants.items() if name in read]
        copies = [type(node).FromString(node.SerializeToString()) for node in ordered]
        del graph.node[:]
        graph.node.extend(copies)
        tensors = [type(t).FromString(t.SerializeToString()) for t in kept]
        del graph.initializer[:]
        graph.initializer.extend(tensors)
        return self.model


def layer_name(node: Any) -> str:
    """Returns the name of a layer: the node's, or that of its output."""
    return node.name or node.output[0]


def _opset(model: Any) -> int:
    versions = [o.version for o in model.opset_import if o.domain in ("", "ai.onnx")]
    return versions[0] if versions else 1


def _inline_constants(graph: Graph) -> None:
    """Converts Constant nodes to initializers."""
    kept = []
    for node in graph.nodes:
        value = attribute(node, "value") if is_op(node, "Constant") else None
        if value is None:
            kept.append(node)
            continue
        tensor = onnx.TensorProto()
        tensor.CopyFrom(value)
        tensor.name = node.output[0]
        graph.add_tensor(tensor)
    graph.nodes = kept
    graph.index()


#: Nodes of constants that are computed here; their results are as large as weights.
_FOLDED = (
    *("Add", "Cast", "Concat", "Div", "Expand", "Gather", "Identity", "Mul", "Neg", "Reciprocal"),
    *("Reshape", "Slice", "Sqrt", "Squeeze", "Sub", "Transpose", "Unsqueeze"),
)


def _fold_constants(graph: Graph) -> None:
    """Folds nodes whose operands are all constants."""
    from onnx.reference import ReferenceEvaluator

    kept = []
    for node in graph.nodes:
        if not is_op(node, *_FOLDED) or not all(i in graph.constants for i in node.input if i):
            kept.append(node)
            continue
        feeds = {name: graph.array(name) for name in node.input if name}
        value = ReferenceEvaluator(node).run(None, feeds)[0]
        graph.add_tensor(numpy_helper.from_array(np.asarray(value, order="C"), node.output[0]))
    graph.nodes = kept
    graph.index()


def _fold_summands(graph: Graph) -> None:
    """Folds an addition of a constant per channel into the bias of a convolution."""
    dropped = set()
    for add in graph.nodes:
        if not is_op(add, "Add"):
            continue
        for i in (0, 1):
            conv = graph.producers.get(add.input[i])
            name = add.input[1 - i]
            if (
                conv is None
                or not is_op(conv, "Conv")
                or not graph.has_one_reader(add.input[i])
                or not all(graph.is_float_constant(n) for n in (name, *conv.input[1:]) if n)
            ):
                continue
            weight, summand = graph.array(conv.input[1]), graph.array(name)
            channels, spatial = weight.shape[0], weight.ndim - 2
            shapes = [(channels, *[1] * spatial), (1, channels, *[1] * spatial)]
            if summand.size != 1 and summand.shape not in shapes:
                continue
            bias = graph.array(conv.input[2]) if len(conv.input) > 2 and conv.input[2] else 0
            total = np.broadcast_to(bias + summand.reshape(-1), [channels])
            inputs = [*conv.input[:2], graph.add_constant(total, conv.output[0] + "_bias")]
            del conv.input[:]
            conv.input.extend(inputs)
            conv.output[0] = add.output[0]
            dropped.add(id(add))
            break
    graph.nodes = [node for node in graph.nodes if id(node) not in dropped]
    graph.index()


def _fold_batch_norms(graph: Graph) -> None:
    """Folds BatchNormalization into the convolution before it, so that its factors are
    quantized with the weights."""
    dropped = set()
    for norm in graph.nodes:
        if not is_op(norm, "BatchNormalization") or attribute(norm, "training_mode", 0):
            continue
        conv = graph.producers.get(norm.input[0])
        constants = [*norm.input[1:5], *(conv.input[1:3] if conv is not None else [])]
        if (
            conv is None
            or not is_op(conv, "Conv")
            or not graph.has_one_reader(norm.input[0])
            or not all(graph.is_float_constant(name) for name in constants if name)
        ):
            continue
        gamma, beta, mean, variance = (graph.array(n).astype(np.float64) for n in norm.input[1:5])
        factor = gamma / np.sqrt(variance + attribute(norm, "epsilon", 1e-5))
        weight = graph.array(conv.input[1])
        bias = graph.array(conv.input[2]) if len(conv.input) > 2 and conv.input[2] else 0.0
        scaled = weight * factor.reshape(-1, *[1] * (weight.ndim - 1))
        shifted = (bias - mean) * factor + beta
        names = [
            graph.add_constant(scaled.astype(np.float32), conv.input[1] + "_folded"),
            graph.add_constant(shifted.astype(np.float32), conv.output[0] + "_bias"),
        ]
        inputs = [conv.input[0], *names]
        del conv.input[:]
        conv.input.extend(inputs)
        conv.output[0] = norm.output[0]
        dropped.add(id(norm))
    graph.nodes = [node for node in graph.nodes if id(node) not in dropped]
    graph.index()


def _fold_gemm_factors(graph: Graph) -> None:
    """Folds alpha and beta of Gemm into its constants, and makes its bias a vector."""
    for node in graph.nodes:
        if not is_op(node, "Gemm") or not graph.is_float_constant(node.input[1]):
            continue
        weight = graph.array(node.input[1])
        columns = weight.shape[0 if attribute(node, "transB", 0) else 1]
        has_bias = len(node.input) > 2 and bool(node.input[2])
        if has_bias and not graph.is_float_constant(node.input[2]):
            continue
        alpha, beta = attribute(node, "alpha", 1.0), attribute(node, "beta", 1.0)
        bias = graph.array(node.input[2]) if has_bias else np.zeros(columns, np.float32)
        if bias.size not in (1, columns) or (bias.ndim > 1 and bias.shape[-1] != columns):
            continue  # a column, or a matrix, of summands
        if alpha != 1:
            node.input[1] = graph.add_constant(weight * np.float32(alpha), node.input[1] + "_f")
        if has_bias:
            vector = np.broadcast_to(bias.reshape(-1) * np.float32(beta), [columns])
            node.input[2] = graph.add_constant(vector, node.input[2] + "_f")
        kept = [a for a in node.attribute if a.name not in ("alpha", "beta")]
        kept = [onnx.AttributeProto.FromString(a.SerializeToString()) for a in kept]
        del node.attribute[:]
        node.attribute.extend(kept)


def prepare(model: Any, where: str, least_opset: int) -> Any:
    """Returns a copy of the model in the form for quantization: in an opset with the
    required operators, without functions, with constants as initializers, and with
    batch norms and factors folded into the weights. `where` is the model's path."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    if copy.functions:
        copy = onnx.inliner.inline_local_functions(copy)
    if _opset(copy) < least_opset:
        try:
            copy = onnx.version_converter.convert_version(copy, least_opset)
        except Exception as error:
            raise ArgumentError(
                f"{where}: expected opset {least_opset} or later, but got {_opset(copy)}, which "
                f"onnx cannot convert ({error}); export the model with a later opset"
            ) from error
    initializers = {tensor.name for tensor in copy.graph.initializer}
    inputs = [value for value in copy.graph.input if value.name not in initializers]
    inputs = [onnx.ValueInfoProto.FromString(value.SerializeToString()) for value in inputs]
    del copy.graph.input[:]
    copy.graph.input.extend(inputs)
    graph = Graph(copy)
    _inline_constants(graph)
    _fold_constants(graph)
    _fold_summands(graph)
    _fold_batch_norms(graph)
    _fold_gemm_factors(graph)
    for node in graph.nodes:
        node.name = node.name or graph.fresh(f"{node.op_type}_{node.output[0]}")
    return graph.finish()


def require_opset(model: Any, domain: str, version: int) -> None:
    if not any(o.domain == domain for o in model.opset_import):
        model.opset_import.append(helper.make_opsetid(domain, version))
