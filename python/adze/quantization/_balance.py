# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Balancing (SmoothQuant): divides channels of an activation by factors, and multiplies
the rows of the weights by the same factors, so that few channels with a large range
do not determine the scale of all channels."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from ._data import Data
from ._graph import Graph, attribute, is_op
from ._observe import ChannelStatistics, Progress, observe
from ._products import Product, match_product

#: Divides the channels of a tensor, in the constants that make it.
_Edit = Callable[[np.ndarray], None]

#: f(x / s) is f(x) / s for each channel.
_HOMOGENEOUS = ("Relu", "LeakyRelu", "MaxPool", "AveragePool", "GlobalAveragePool", "Dropout")


def _divide_constant(graph: Graph, node: Any, index: int) -> _Edit:
    def edit(factors: np.ndarray) -> None:
        name = node.input[index]
        array = graph.array(name)
        divided = (array / factors).astype(np.float32)
        node.input[index] = graph.add_constant(divided, f"{name}_balanced")

    return edit


def _divide_product(graph: Graph, product: Product) -> _Edit:
    def edit(factors: np.ndarray) -> None:
        node = product.node
        weight = graph.array(node.input[1]) / product.along_channels(factors)
        node.input[1] = graph.add_constant(weight.astype(np.float32), f"{node.input[1]}_balanced")
        if product.bias:
            _divide_constant(graph, node, 2)(factors)

    return edit


def _is_vector(graph: Graph, name: str, channels: int) -> bool:
    """Returns True if a constant has an element for each channel of the last dim."""
    if not graph.is_float_constant(name):
        return False
    array = graph.array(name)
    return array.size == channels and array.shape[-1:] == (channels,)


def _find_edits(graph: Graph, name: str, channels: int, is_image: bool) -> list[_Edit] | None:
    """Returns how the channels of a tensor are scaled; None if they cannot be."""
    node = graph.producers.get(name)
    if node is None:
        return None

    def after(other: str) -> list[_Edit] | None:
        return (
            _find_edits(graph, other, channels, is_image) if graph.has_one_reader(other) else None
        )

    if is_op(node, *_HOMOGENEOUS) and len(node.output) == 1:
        return after(node.input[0])
    product = match_product(graph, node)
    if product is not None:
        is_same = (node.op_type == "Conv") == is_image and product.channels == channels
        return [_divide_product(graph, product)] if is_same else None
    if is_image:
        return None
    is_norm = is_op(node, "LayerNormalization", "RMSNormalization") or (
        node.op_type in ("SimplifiedLayerNormalization", "LayerNormalization")
    )
    if is_norm and attribute(node, "axis", -1) == -1 and len(node.output) == 1:
        indices = [i for i in (1, 2) if i < len(node.input) and node.input[i]]
        if all(_is_vector(graph, node.input[i], channels) for i in indices):
            return [_divide_constant(graph, node, i) for i in indices]
        return None
    if is_op(node, "Mul", "Add"):
        for i in (1, 0):
            if _is_vector(graph, node.input[i], channels):
                own = [_divide_constant(graph, node, i)]
                if is_op(node, "Mul"):
                    return own
                rest = after(node.input[1 - i])
                return None if rest is None else own + rest
    return None


def _weight_magnitudes(product: Product) -> np.ndarray:
    """Returns the largest magnitude of the weights of each input channel."""
    assert product.depth_axis is not None
    axes = tuple(a for a in range(product.weight.ndim) if a != product.depth_axis)
    return np.abs(product.weight).max(axis=axes)


def balance(
    graph: Graph,
    products: list[Product],
    data: Data,
    strength: float,
    progress: Progress,
) -> int:
    """Balances activations and weights in place.

    Args:
        strength: The part of the range that moves to the weights: 0 balances the
            weights' rows, 1 gives all channels of the activations the same range.

    Returns:
        The number of activations that were balanced.
    """
    by_input: dict[str, list[Product]] = {}
    for product in products:
        by_input.setdefault(product.input, []).append(product)
    chosen: dict[str, tuple[list[Product], list[_Edit]]] = {}
    for name, own in by_input.items():
        is_image = own[0].node.op_type == "Conv"
        if (
            len(graph.readers[name]) != len(own)
            or name in graph.outputs
            or name in graph.captured
            or any(p.depth_axis is None for p in own)
            or any((p.node.op_type == "Conv") != is_image for p in own)
        ):
            continue
        assert own[0].depth_axis is not None
        edits = _find_edits(graph, name, own[0].weight.shape[own[0].depth_axis], is_image)
        if edits is not None:
            chosen[name] = (own, edits)
    if not chosen:
        return 0
    statistics = ChannelStatistics({n: own[0].input_axis for n, (own, _) in chosen.items()})
    for results in observe(graph.model, list(chosen), data, progress, "balance"):
        statistics.add(results)
    for name, (own, edits) in chosen.items():
        # Edits of other tensors change weights, so products are matched again.
        matches = [match_product(graph, product.node) for product in own]
        current = [product for product in matches if product is not None]
        weights = np.max([_weight_magnitudes(product) for product in current], axis=0)
        inputs = statistics.greatest[name]
        factors = np.maximum(inputs, 1e-5) ** strength
        factors = factors / np.maximum(weights, 1e-5) ** (1 - strength)
        factors = np.where((inputs > 0) & (weights > 0), factors, 1).astype(np.float32)
        factors = np.clip(factors, 1e-4, 1e4)
        for edit in edits:
            edit(factors)
        for product in current:
            assert product.depth_axis is not None
            shape = [1] * product.weight.ndim
            shape[product.depth_axis] = -1
            # An edit may have been of this very weight's columns.
            latest = graph.array(product.node.input[1])
            scaled = (latest * factors.reshape(shape)).astype(np.float32)
            hint = f"{product.node.input[1]}_balanced"
            product.node.input[1] = graph.add_constant(scaled, hint)
    graph.index()
    return len(chosen)
