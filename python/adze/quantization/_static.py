# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Static quantization (QDQ): QuantizeLinear and DequantizeLinear around products and the
ops between them, with scales from calibration data."""

from __future__ import annotations

from typing import Any, Iterable, Sequence

import numpy as np

from ._data import Data
from ._graph import Graph, is_op
from ._observe import Histogram, Progress, observe
from ._products import Product, Rounded, is_kept, round_weight
from ._ranges import choose_range
from ._settings import Settings

#: Ops whose result has elements of their first operand: they keep its scale.
MOVES = ("MaxPool", "Reshape", "Flatten", "Transpose", "Squeeze", "Unsqueeze", "Identity")
#: Ops that are computed between dequantized operands and a quantized result.
BETWEEN = ("Add", "Mul", "Concat", "AveragePool", "GlobalAveragePool")
#: Functions that only bound what is quantized next.
_BOUNDS = ("Relu", "Clip")
#: Elementwise functions that the search for a producing product looks through.
_FUNCTIONS = (
    *_BOUNDS,
    "LeakyRelu",
    "PRelu",
    "Sigmoid",
    "HardSigmoid",
    "HardSwish",
    "Tanh",
    "Gelu",
    "Elu",
    "Softplus",
    "Mish",
)


class Plan:
    """The tensors that are quantized, in groups that share a scale.

    Attributes:
        readers: Nodes that read dequantized tensors, by id.
        tensors: The quantized tensors.
    """

    def __init__(
        self, graph: Graph, products: Sequence[Product], keep: Sequence[str], between: Iterable[str]
    ) -> None:
        self.graph = graph
        self.keep = keep
        self.between = tuple(between)
        self.products = {id(p.node) for p in products}
        self.readers = dict.fromkeys(self.products)
        self.tensors: dict[str, None] = {}
        self._parents: dict[str, str] = {}
        self._moved: set[str] = set()
        self._derived = self._find_derived()
        self._find_tensors()

    def _find_derived(self) -> set[str]:
        """Returns the results of quantized products and of the ops between them."""
        derived: set[str] = set()
        passed = (*_FUNCTIONS, *MOVES, *BETWEEN)
        for node in self.graph.nodes:
            is_product = id(node) in self.products
            if is_product or (is_op(node, *passed) and any(i in derived for i in node.input)):
                derived.update(node.output[:1])
        return derived

    def _is_between(self, node: Any) -> bool:
        graph = self.graph
        return (
            is_op(node, *self.between)
            and not is_kept(node, self.keep)
            and any(name in self._derived for name in node.input)
            and all(name not in graph.constants and graph.is_float(name) for name in node.input)
        )

    def _find_tensors(self) -> None:
        bounded: set[str] = set()  # what functions bound and is quantized then
        for node in reversed(self.graph.nodes):
            result = node.output[0] if node.output else ""
            if id(node) in self.products:
                self.tensors[node.input[0]] = None
            elif result in self.tensors and is_op(node, *MOVES) and len(node.output) == 1:
                if node.input[0] in self.graph.constants or not self.graph.is_float(result):
                    continue
                self._take(node, node.input[:1])
                self._moved.add(result)
                self._join(node.input[0], result)
            elif (result in self.tensors or result in bounded) and self._is_between(node):
                self._take(node, node.input)
                if is_op(node, "Concat") and result in self.tensors:
                    self._moved.add(result)
                    for name in node.input:
                        self._join(name, result)
            elif is_op(node, *_BOUNDS) and (result in self.tensors or result in bounded):
                bounded.add(node.input[0])

    def _take(self, node: Any, inputs: Iterable[str]) -> None:
        self.readers[id(node)] = None
        self.tensors.update(dict.fromkeys(inputs))

    def _join(self, a: str, b: str) -> None:
        self._parents[self.group(a)] = self.group(b)

    def group(self, name: str) -> str:
        """Returns the name of the group of tensors that share a scale with a tensor."""
        while name in self._parents:
            name = self._parents[name]
        return name

    @property
    def observed(self) -> list[str]:
        """Returns the tensors whose ranges determine scales."""
        return [name for name in self.tensors if name not in self._moved]

    def _is_epilogue(self, node: Any) -> bool:
        """Returns True if a node clamps a tensor or adds a constant to it."""
        is_sum = is_op(node, "Add") and any(i in self.graph.constants for i in node.input)
        return is_op(node, *_BOUNDS) or is_sum

    def reads(self, node: Any, name: str) -> bool:
        """Returns True if a node reads the dequantized tensor. Results of products are
        stored in 8 bits only; results of other ops are also available in f32."""
        if id(node) in self.readers:
            return True
        producer = self.graph.producers.get(name)
        while producer is not None and self._is_epilogue(producer):
            sources = [i for i in producer.input if i not in self.graph.constants]
            producer = self.graph.producers.get(sources[0])
        return producer is not None and id(producer) in self.readers


class Scale:
    """Computes the scale and zero point of an activation."""

    def __init__(self, low: float, high: float, settings: Settings) -> None:
        low, high = min(low, 0.0), max(high, 0.0)
        is_signed = settings.activations == "i8"
        if settings.symmetric == "all":
            most = max(-low, high)
            self.scale = np.float32(most / 127 if most > 0 else 1)
            zero = 0 if is_signed else 128
        else:
            self.scale = np.float32((high - low) / 255 if high > low else 1)
            zero = int(np.clip(np.rint(-low / self.scale), 0, 255)) - (128 if is_signed else 0)
        if self.scale < np.float32(1e-30):
            self.scale = np.float32(1)
        self.zero = np.array(zero, np.int8 if is_signed else np.uint8)


def calibrate(
    model: Any, plan: Plan, data: Data, settings: Settings, progress: Progress
) -> dict[str, Scale]:
    """Computes the scale of each group of tensors."""
    lows: dict[str, float] = {}
    highs: dict[str, float] = {}
    for results in observe(model, plan.observed, data, progress, "ranges"):
        for name in plan.observed:
            if not results[name].size:
                continue
            group = plan.group(name)
            lows[group] = min(lows.get(group, np.inf), float(results[name].min()))
            highs[group] = max(highs.get(group, -np.inf), float(results[name].max()))
    histograms = {group: Histogram(lows[group], highs[group]) for group in lows}
    if settings.method != "minmax":
        for results in observe(model, plan.observed, data, progress, "histograms"):
            for name in plan.observed:
                group = plan.group(name)
                if group in histograms:
                    histograms[group].add(results[name])
    ranges = {
        group: choose_range(settings.method, settings.percentile, histogram)
        for group, histogram in histograms.items()
    }
    groups = {plan.group(name) for name in plan.tensors}
    return {group: Scale(*ranges.get(group, (0.0, 0.0)), settings) for group in groups}


def round_product(product: Product, settings: Settings, input_scale: Any, bias: Any) -> Rounded:
    """Quantizes the weight of a product to 8 bits, per output channel or per tensor."""
    axes = tuple(a for a in range(product.weight.ndim) if a != product.axis)
    if not settings.per_channel:
        axes = tuple(range(product.weight.ndim))
    least = None
    if bias is not None:
        # The bias has the product of both scales, and 32 bits.
        least = np.abs(bias).astype(np.float64) / (float(input_scale) * (1 << 30))
        least = product.along_channels(least)
        least = (least if settings.per_channel else least.max()).astype(np.float32)
    most = 63 if settings.reduce_range else 127
    is_symmetric = settings.symmetric != "none"
    return round_weight(
        product.weight,
        axes,
        -most if is_symmetric else -most - 1,
        most,
        is_symmetric=is_symmetric,
        method=settings.weights_method,
        least_scales=least,
    )


class Rewriter:
    """Writes the quantized form of a planned graph."""

    def __init__(self, graph: Graph, plan: Plan, scales: dict[str, Scale], settings: Settings):
        self.graph, self.plan, self.scales, self.settings = graph, plan, scales, settings
        self._names: dict[str, tuple[str, str]] = {}
        #: Weights as the quantized model has them, by the product's name.
        self.rounded: dict[str, np.ndarray] = {}

    def _scale_names(self, name: str) -> tuple[str, str]:
        group = self.plan.group(name)
        if group not in self._names:
            scale = self.scales[group]
            self._names[group] = (
                self.graph.add_constant(scale.scale, f"{group}_scale"),
                self.graph.add_constant(scale.zero, f"{group}_zero_point"),
            )
        return self._names[group]

    def activations(self) -> None:
        for name in list(self.plan.tensors):
            readers = [n for n in self.graph.readers[name] if self.plan.reads(n, name)]
            scale, zero = self._scale_names(name)
            quantized = self.graph.fresh(f"{name}_quantized")
            dequantized = self.graph.fresh(f"{name}_dequantized")
            self.graph.add_node("QuantizeLinear", [name, scale, zero], quantized)
            self.graph.add_node("DequantizeLinear", [quantized, scale, zero], dequantized)
            for node in readers:
                for i, other in enumerate(node.input):
                    if other == name:
                        node.input[i] = dequantized

    def weight(self, product: Product, scale: Scale, bias: Any) -> None:
        """Quantizes the weight of a product, and its bias: a vector or None."""
        graph, node = self.graph, product.node
        rounded = round_product(product, self.settings, scale.scale, bias)
        self.rounded[product.name] = rounded.numbers
        weight_scale = rounded.scales.reshape(-1)
        zeros = rounded.zeros.reshape(-1).astype(np.int8)
        axis: dict[str, Any] = {"axis": product.axis}
        if not self.settings.per_channel:
            weight_scale, zeros, axis = weight_scale[0], zeros[0], {}
        hint = node.input[1]
        integers = graph.add_constant(rounded.integers.astype(np.int8), f"{hint}_quantized")
        scales = graph.add_constant(weight_scale, f"{hint}_scale")
        zero = graph.add_constant(zeros, f"{hint}_zero_point")
        name = graph.fresh(f"{hint}_dequantized")
        node.input[1] = graph.add_node("DequantizeLinear", [integers, scales, zero], name, **axis)
        if bias is not None:
            self._bias(product, np.float32(scale.scale) * weight_scale, bias, axis)

    def _bias(self, product: Product, scale: Any, bias: np.ndarray, axis: Any) -> None:
        graph, node = self.graph, product.node
        wide = np.rint(bias.astype(np.float64) / scale)
        integers = np.clip(wide, -(2**31), 2**31 - 1).astype(np.int32)
        hint = f"{product.output}_bias"
        inputs = [
            graph.add_constant(integers, f"{hint}_quantized"),
            graph.add_constant(np.asarray(scale, np.float32), f"{hint}_scale"),
            graph.add_constant(np.zeros(np.shape(scale), np.int32), f"{hint}_zero_point"),
        ]
        kwargs = {"axis": 0} if axis else {}
        name = graph.add_node(
            "DequantizeLinear", inputs, graph.fresh(f"{hint}_dequantized"), **kwargs
        )
        inputs = [*node.input[:2], name]
        del node.input[:]
        node.input.extend(inputs)
