# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Products by constant weights (convolutions and matrix products), and the rounding of
their weights to integers."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Iterable, Sequence

import numpy as np

from .._errors import ArgumentError
from ._graph import Graph, attribute, is_op, layer_name


@dataclass
class Product:
    """A convolution or matrix product by a constant.

    Attributes:
        node: The ONNX node: Conv, Gemm or MatMul.
        weight: The constant in the layout of the node.
        axis: The dim of output channels in the weight.
        depth_axis: The contracted dim of the weight, which is the input's channels;
            None for grouped convolutions.
        bias: Name of the constant bias vector; "" if there is none.
    """

    node: Any
    weight: np.ndarray
    axis: int
    depth_axis: int | None
    bias: str

    @property
    def name(self) -> str:
        return layer_name(self.node)

    @property
    def input(self) -> str:
        return self.node.input[0]

    @property
    def output(self) -> str:
        return self.node.output[0]

    @property
    def input_axis(self) -> int:
        """Returns the channel dim of the input."""
        return 1 if self.node.op_type == "Conv" else -1

    @property
    def channels(self) -> int:
        return self.weight.shape[self.axis]

    def along_channels(self, vector: np.ndarray) -> np.ndarray:
        """Reshapes a vector of output channels to broadcast with the weight."""
        shape = [1] * self.weight.ndim
        shape[self.axis] = -1
        return vector.reshape(shape)


def match_product(graph: Graph, node: Any) -> Product | None:
    """Returns the product that a node computes; None for other nodes."""
    if not is_op(node, "Conv", "Gemm", "MatMul") or not graph.is_float_constant(node.input[1]):
        return None
    weight = graph.array(node.input[1])
    bias = node.input[2] if len(node.input) > 2 else ""
    if bias and not graph.is_float_constant(bias):
        return None
    if is_op(node, "Conv"):
        depth = 1 if attribute(node, "group", 1) == 1 else None
        return Product(node, weight, 0, depth, bias)
    if weight.ndim != 2 or node.input[0] in graph.constants:
        return None
    if is_op(node, "MatMul"):
        return Product(node, weight, 1, 0, "")
    factors = (attribute(node, "alpha", 1.0), attribute(node, "beta", 1.0))
    if attribute(node, "transA", 0) or factors != (1.0, 1.0):
        return None
    axis = 0 if attribute(node, "transB", 0) else 1
    if bias and graph.array(bias).shape != (weight.shape[axis],):
        return None
    return Product(node, weight, axis, 1 - axis, bias)


def find_products(
    graph: Graph, keep: Sequence[str], op_types: Iterable[str], where: str
) -> list[Product]:
    """Returns the products to quantize: those of `op_types` that no pattern of `keep`
    matches. `where` is the model's path for messages."""
    patterns = {pattern: False for pattern in keep}
    wanted = set(op_types)
    result = []
    for node in graph.nodes:
        stays = False
        for pattern in patterns:
            if is_kept(node, [pattern]):
                stays = patterns[pattern] = True
        product = match_product(graph, node)
        if product is not None and not stays and node.op_type in wanted:
            result.append(product)
    unused = [pattern for pattern, was_used in patterns.items() if not was_used]
    if unused:
        names = [layer_name(node) for node in graph.nodes if match_product(graph, node)]
        raise ArgumentError(
            f"{where}: expected names of nodes to keep, but got {unused[0]!r}; products are "
            f"named {', '.join(names[:8])}{', ..' if len(names) > 8 else ''}"
        )
    if not result:
        raise ArgumentError(
            f"{where}: expected {', '.join(sorted(wanted))} by f32 constants, but got none in "
            f"{len(graph.nodes)} nodes; models that are quantized, or of f16, are not taken"
        )
    return result


def is_kept(node: Any, keep: Sequence[str]) -> bool:
    """Returns True if a pattern matches the name of the node or of its output."""
    names = (layer_name(node), *node.output)
    return any(name == p or fnmatchcase(name, p) for p in keep for name in names)


@dataclass
class Rounded:
    """Quantized numbers: (integers - zeros) * scales.

    Attributes:
        integers: The quantized values as int32, in the shape of the numbers.
        scales, zeros: Arrays that broadcast with the numbers.
    """

    integers: np.ndarray
    scales: np.ndarray
    zeros: np.ndarray

    @property
    def numbers(self) -> np.ndarray:
        return ((self.integers - self.zeros) * self.scales).astype(np.float32)


def _round(weight: np.ndarray, scales: np.ndarray, zeros: Any, low: int, high: int) -> np.ndarray:
    return np.clip(np.rint(weight / scales) + zeros, low, high)


def round_weight(
    weight: np.ndarray,
    axes: tuple[int, ...],
    low: int,
    high: int,
    *,
    is_symmetric: bool = True,
    method: str = "minmax",
    least_scales: np.ndarray | None = None,
) -> Rounded:
    """Rounds a weight to integers in [low, high].

    Args:
        axes: Dims whose elements share a scale.
        is_symmetric: The zero point is 0; otherwise the least element is `low`.
        method: "minmax" covers the whole range, "mse" the part of it with the least
            squared error.
        least_scales: Lower bounds of the scales.
    """
    weight = weight.astype(np.float32)
    least = np.minimum(weight.min(axis=axes, keepdims=True), 0)
    most = np.maximum(weight.max(axis=axes, keepdims=True), 0)
    tiny = np.float32(1e-12)
    if is_symmetric:
        # Symmetric ranges, but for few bits, where the last integer counts.
        few = high < 64
        full = np.maximum(most / high, -least / (-low if few else high))
    else:
        full = (most - least) / np.float32(high - low)
    full = np.where(full > tiny, full, np.float32(1)).astype(np.float32)

    def attempt(part: float) -> Rounded:
        scales = (full * np.float32(part)).astype(np.float32)
        if least_scales is not None:
            scales = np.maximum(scales, least_scales).astype(np.float32)
        zeros = np.zeros_like(scales)
        if not is_symmetric:
            zeros = np.clip(np.rint(low - least * np.float32(part) / scales), low, high)
        integers = _round(weight, scales, zeros, low, high).astype(np.int32)
        return Rounded(integers, scales, zeros.astype(np.int32))

    best = attempt(1.0)
    if method == "minmax":
        return best
    error = np.square(best.numbers - weight).sum(axis=axes, keepdims=True)
    for part in np.linspace(0.96, 0.6, 10):
        other = attempt(float(part))
        its_error = np.square(other.numbers - weight).sum(axis=axes, keepdims=True)
        is_better = its_error < error
        error = np.where(is_better, its_error, error)
        best = Rounded(
            np.where(is_better, other.integers, best.integers),
            np.where(is_better, other.scales, best.scales),
            np.where(is_better, other.zeros, best.zeros),
        )
    return best


def signal_to_noise(signal: float, noise: float) -> float:
    """Returns the ratio of two sums of squares in dB."""
    if noise <= 0:
        return float("inf")
    return 10 * float(np.log10(max(signal, 1e-300) / noise))


def correct_bias(product: Product, numbers: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """Returns the change of the mean of each output channel that rounding a weight to
    `numbers` causes, where `mean` is that of the input's channels. Borders of
    convolutions, which have fewer elements in bounds, are treated like the interior."""
    error = (product.weight - numbers).astype(np.float64)
    if product.node.op_type == "Conv":
        taps = error.sum(axis=tuple(range(2, error.ndim)))  # [out, in / group]
        group = attribute(product.node, "group", 1)
        means = mean.reshape(group, 1, -1)
        parts = (taps.reshape(group, -1, taps.shape[1]) * means).sum(axis=2)
        return parts.reshape(-1)
    assert product.depth_axis is not None
    return np.tensordot(mean.astype(np.float64), error, axes=([0], [product.depth_axis]))


def bias_of(graph: Graph, product: Product) -> np.ndarray | None:
    return graph.array(product.bias) if product.bias else None


def add_bias(graph: Graph, product: Product, vector: np.ndarray) -> None:
    """Adds a vector to the result of a product of the f32 graph: to its bias, to the
    constant of the next addition, or by a separate node."""
    node = product.node
    vector = vector.astype(np.float32)
    if node.op_type in ("Conv", "Gemm"):
        old = bias_of(graph, product)
        total = vector if old is None else old + vector
        product.bias = graph.add_constant(total, f"{product.output}_bias")
        inputs = [*node.input[:2], product.bias]
        del node.input[:]
        node.input.extend(inputs)
        return
    readers = graph.readers.get(product.output, [])
    if graph.has_one_reader(product.output) and is_op(readers[0], "Add"):
        add = readers[0]
        other = 1 if add.input[0] == product.output else 0
        name = add.input[other]
        if graph.is_float_constant(name) and graph.array(name).shape == vector.shape:
            add.input[other] = graph.add_constant(graph.array(name) + vector, name)
            return
    raw = graph.fresh(product.output + "_uncorrected")
    final = product.output
    node.output[0] = raw
    summand = graph.add_constant(vector, final + "_bias")
    graph.add_node("Add", [raw, summand], final)
    graph.index()
