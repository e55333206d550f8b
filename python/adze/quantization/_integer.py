# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Quantization without calibration data: of activations at run time (dynamic), and of
weights only, by blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx

from .._errors import ArgumentError
from ._graph import Graph, attribute, require_opset
from ._products import Product, Rounded, bias_of, round_weight
from ._settings import Settings


class DynamicRewriter:
    """Integer products with activations quantized by DynamicQuantizeLinear."""

    def __init__(self, graph: Graph, settings: Settings) -> None:
        self.graph, self.settings = graph, settings
        self._inputs: dict[str, tuple[str, str, str]] = {}
        self.rounded: dict[str, np.ndarray] = {}

    def _quantize_input(self, name: str) -> tuple[str, str, str]:
        if name not in self._inputs:
            parts = ("quantized", "scale", "zero_point")
            names = tuple(self.graph.fresh(f"{name}_{part}") for part in parts)
            self.graph.add_node("DynamicQuantizeLinear", [name], names)
            self._inputs[name] = names  # type: ignore[assignment]
        return self._inputs[name]

    def round(self, product: Product) -> Rounded:
        axes = tuple(a for a in range(product.weight.ndim) if a != product.axis)
        if not self.settings.per_channel:
            axes = tuple(range(product.weight.ndim))
        most = 63 if self.settings.reduce_range else 127
        return round_weight(product.weight, axes, -most, most, method=self.settings.weights_method)

    def rewrite(self, product: Product) -> None:
        graph, node = self.graph, product.node
        rounded = self.round(product)
        self.rounded[product.name] = rounded.numbers
        quantized, scale, zero = self._quantize_input(product.input)
        hint = node.input[1]
        weight, scales = rounded.integers.astype(np.int8), rounded.scales.reshape(-1)
        if not self.settings.per_channel:
            scales = scales[0]
        is_conv = node.op_type == "Conv"
        if is_conv:
            # ONNX Runtime has ConvInteger by unsigned weights only.
            weight = (weight.astype(np.int32) + 128).astype(np.uint8)
            scales = np.reshape(scales, [-1, *[1] * (weight.ndim - 2)])
        elif attribute(node, "transB", 0):
            weight = weight.T
        inputs = [quantized, graph.add_constant(weight, f"{hint}_quantized"), zero]
        if is_conv:
            inputs.append(graph.add_constant(np.uint8(128), f"{hint}_zero_point"))
        output, fresh = product.output, graph.fresh
        kwargs: dict[str, Any] = {}
        if is_conv:
            kwargs = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
        op_type = "ConvInteger" if is_conv else "MatMulInteger"
        sums = graph.add_node(op_type, inputs, fresh(f"{output}_sums"), **kwargs)
        numbers = graph.add_node("Cast", [sums], fresh(f"{output}_cast"), to=onnx.TensorProto.FLOAT)
        both = graph.add_node(
            "Mul",
            [scale, graph.add_constant(scales, f"{hint}_scale")],
            fresh(f"{output}_scales"),
        )
        bias = bias_of(graph, product)
        graph.nodes.remove(node)
        graph.index()
        scaled = output if bias is None else fresh(f"{output}_scaled")
        graph.add_node("Mul", [numbers, both], scaled)
        if bias is not None:
            if is_conv:
                bias = bias.reshape([-1, *[1] * (weight.ndim - 2)])
            graph.add_node("Add", [scaled, graph.add_constant(bias, f"{output}_bias")], output)


def _pack(integers: np.ndarray, bits: int) -> np.ndarray:
    """Packs integers of `bits` bits into bytes, lowest bits first."""
    if bits == 8:
        return integers.astype(np.uint8)
    integers = integers.astype(np.uint8) & 15
    if integers.shape[-1] % 2:
        integers = np.concatenate([integers, np.zeros_like(integers[..., :1])], axis=-1)
    return integers[..., 0::2] | integers[..., 1::2] << 4


class WeightRewriter:
    """Block-quantized weights of matrix products, by blocks along the depth."""

    def __init__(self, graph: Graph, settings: Settings) -> None:
        self.graph, self.settings = graph, settings
        self.rounded: dict[str, np.ndarray] = {}
        if settings.format == "nbits":
            require_opset(graph.model, "com.microsoft", 1)

    def _blocks(self, product: Product) -> tuple[np.ndarray, int]:
        """Returns the weight [columns, blocks, block], zero-padded, and its depth."""
        weight = product.weight if product.axis == 0 else product.weight.T
        depth, block = weight.shape[1], self.settings.block
        missing = -depth % block
        padded = np.pad(weight, [(0, 0), (0, missing)])
        return padded.reshape(weight.shape[0], -1, block), depth

    def round(self, product: Product) -> Rounded:
        blocks, _ = self._blocks(product)
        half = 1 << (self.settings.bits - 1)
        return round_weight(
            blocks,
            (2,),
            -half,
            half - 1,
            is_symmetric=self.settings.is_symmetric,
            method=self.settings.weights_method,
        )

    def numbers(self, product: Product, rounded: Rounded) -> np.ndarray:
        """Returns the rounded weight in the shape of the product's weight."""
        _, depth = self._blocks(product)
        rows = rounded.numbers.reshape(rounded.numbers.shape[0], -1)[:, :depth]
        return rows if product.axis == 0 else rows.T

    def rewrite(self, product: Product) -> None:
        if product.node.op_type == "Conv":
            raise ArgumentError("weights of convolutions are not quantized by blocks")
        rounded = self.round(product)
        self.rounded[product.name] = self.numbers(product, rounded)
        if self.settings.format == "nbits":
            self._packed(product, rounded)
        else:
            self._blocked(product, rounded)

    def _packed(self, product: Product, rounded: Rounded) -> None:
        graph, node, bits = self.graph, product.node, self.settings.bits
        half = 1 << (bits - 1)
        _, depth = self._blocks(product)
        hint = node.input[1]
        scales = rounded.scales[:, :, 0].astype(np.float32)
        inputs = [
            product.input,
            graph.add_constant(_pack(rounded.integers + half, bits), f"{hint}_packed"),
            graph.add_constant(scales, f"{hint}_scales"),
        ]
        if not self.settings.is_symmetric:
            zeros = _pack(rounded.zeros[:, :, 0] + half, bits)
            inputs.append(graph.add_constant(zeros, f"{hint}_zero_points"))
        bias = bias_of(graph, product)
        graph.nodes.remove(node)
        graph.index()
        output = product.output
        result = output if bias is None else graph.fresh(f"{output}_product")
        graph.add_node(
            "MatMulNBits",
            inputs,
            result,
            domain="com.microsoft",
            K=depth,
            N=product.channels,
            bits=bits,
            block_size=self.settings.block,
            accuracy_level=self.settings.accuracy_level,
        )
        if bias is not None:
            graph.add_node("Add", [result, graph.add_constant(bias, f"{output}_bias")], output)

    def _blocked(self, product: Product, rounded: Rounded) -> None:
        """Adds the blocked DequantizeLinear of the weight [depth, columns]."""
        graph, node, bits = self.graph, product.node, self.settings.bits
        _, depth = self._blocks(product)
        hint = node.input[1]

        def tensor(array: np.ndarray, part: str) -> str:
            kind = onnx.TensorProto.INT4 if bits == 4 else onnx.TensorProto.INT8
            flat = np.ascontiguousarray(array).reshape(-1)
            raw = _pack(flat, 4) if bits == 4 else flat.astype(np.int8)
            name = graph.fresh(f"{hint}_{part}")
            made = onnx.helper.make_tensor(name, kind, array.shape, raw.tobytes(), raw=True)
            return graph.add_tensor(made)

        def turn(array: np.ndarray) -> np.ndarray:
            return array if product.axis == 0 else array.T

        columns = rounded.integers.shape[0]
        rows = rounded.integers.reshape(columns, -1)[:, :depth]
        inputs = [
            tensor(turn(rows), "quantized"),
            graph.add_constant(turn(rounded.scales[:, :, 0]).astype(np.float32), f"{hint}_scales"),
        ]
        if not self.settings.is_symmetric:
            inputs.append(tensor(turn(rounded.zeros[:, :, 0]), "zero_points"))
        node.input[1] = graph.add_node(
            "DequantizeLinear",
            inputs,
            graph.fresh(f"{hint}_dequantized"),
            axis=1 - product.axis,
            block_size=self.settings.block,
        )
