# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""The steps of a quantization in their order."""

from __future__ import annotations

import os
from typing import Any, Iterable

import numpy as np
import onnx

from .._errors import ArgumentError
from ._balance import balance
from ._data import Data, read_labels
from ._graph import Graph, layer_name, prepare
from ._integer import DynamicRewriter, WeightRewriter
from ._observe import (
    ChannelStatistics,
    Errors,
    Progress,
    compile_proto,
    observe,
    with_outputs,
)
from ._products import (
    Product,
    add_bias,
    bias_of,
    correct_bias,
    find_products,
    match_product,
    signal_to_noise,
)
from ._report import Accuracy, LayerError, QuantizationResult
from ._settings import PRODUCTS, SettingError, Settings
from ._static import BETWEEN, Plan, Rewriter, Scale, calibrate, round_product


def _load(model: Any) -> tuple[Any, str]:
    """Returns the model and its path for messages."""
    path = os.fspath(model) if isinstance(model, (str, os.PathLike)) else "model.onnx"
    try:
        if isinstance(model, (str, os.PathLike)):
            return onnx.load(path), path
        if isinstance(model, (bytes, bytearray, memoryview)):
            return onnx.load_model_from_string(bytes(model)), path
    except OSError as error:
        raise ArgumentError(f"{path}: {error.strerror or error}") from error
    except Exception as error:  # of protobuf, or of external data
        raise ArgumentError(f"{path}: expected an ONNX model: {error}") from error
    if isinstance(model, onnx.ModelProto):
        return model, path
    raise TypeError(
        f"expected the path of a model, its bytes or an onnx.ModelProto, but got "
        f"{type(model).__name__}"
    )


def _copy(model: Any) -> Any:
    result = onnx.ModelProto()
    result.CopyFrom(model)
    return result


def _split_op_types(settings: Settings) -> tuple[list[str], list[str]]:
    """Selects the products to quantize and the ops between them."""
    if settings.op_types is None:
        products = PRODUCTS if settings.mode != "weights" else PRODUCTS[1:]
        return list(products), [op for op in BETWEEN if op != "Mul"]
    known = {*PRODUCTS, *BETWEEN}
    for op in settings.op_types:
        if op not in known:
            raise SettingError(
                f"op_types: expected some of {', '.join(sorted(known))}, but got {op!r}"
            )
    chosen = settings.op_types
    return [op for op in PRODUCTS if op in chosen], [op for op in BETWEEN if op in chosen]


class _Quantizer:
    """One quantization, from the prepared f32 graph to the quantized one."""

    def __init__(
        self, model: Any, name: str, data: Data | None, settings: Settings, progress: Progress
    ) -> None:
        self.name = name
        self.settings, self.data, self.progress = settings, data, progress
        least = 21 if settings.mode == "weights" and settings.format == "qdq" else 13
        self.reference = prepare(model, name, least)
        self.product_types, self.between = _split_op_types(settings)
        self.balanced = 0
        self.rounded: dict[str, np.ndarray] = {}
        self.weights: dict[str, np.ndarray] = {}

    def find(self, graph: Graph) -> list[Product]:
        return find_products(graph, self.settings.keep, self.product_types, self.name)

    def balance(self) -> None:
        if self.settings.balance is None:
            return
        assert self.data is not None
        graph = Graph(self.reference)
        products = self.find(graph)
        self.balanced = balance(graph, products, self.data, self.settings.balance, self.progress)
        self.reference = graph.finish()

    def means(self, products: Iterable[Product]) -> ChannelStatistics:
        """Returns the means of the channels of products' inputs, for the correction of biases."""
        statistics = ChannelStatistics({p.input: p.input_axis for p in products})
        if self.settings.bias_correction:
            assert self.data is not None
            names = list(statistics.axes)
            for results in observe(self.reference, names, self.data, self.progress, "means"):
                statistics.add(results)
        return statistics

    def correct(
        self, graph: Graph, product: Product, numbers: np.ndarray, means: ChannelStatistics
    ) -> None:
        if self.settings.bias_correction:
            mean = means.mean(product.input)
            add_bias(graph, product, correct_bias(product, numbers, mean))

    def static(self, graph: Graph, products: list[Product]) -> None:
        assert self.data is not None
        settings = self.settings
        plan = Plan(graph, products, settings.keep, self.between)
        scales = calibrate(self.reference, plan, self.data, settings, self.progress)
        means = self.means(products)
        inputs: dict[str, Scale] = {p.name: scales[plan.group(p.input)] for p in products}
        for product in products:
            scale = inputs[product.name].scale
            rounded = round_product(product, settings, scale, bias_of(graph, product))
            self.correct(graph, product, rounded.numbers, means)
        graph.index()
        rewriter = Rewriter(graph, plan, scales, settings)
        rewriter.activations()
        for product in products:
            rewriter.weight(product, inputs[product.name], bias_of(graph, product))
        self.rounded = rewriter.rounded

    def dynamic(self, graph: Graph, products: list[Product]) -> None:
        rewriter = DynamicRewriter(graph, self.settings)
        means = self.means(products)
        for product in products:
            self.correct(graph, product, rewriter.round(product).numbers, means)
            rewriter.rewrite(product)
        self.rounded = rewriter.rounded

    def by_blocks(self, graph: Graph, products: list[Product]) -> None:
        rewriter = WeightRewriter(graph, self.settings)
        means = self.means(products)
        for product in products:
            numbers = rewriter.numbers(product, rewriter.round(product))
            self.correct(graph, product, numbers, means)
            rewriter.rewrite(product)
        self.rounded = rewriter.rounded

    def rewrite(self) -> Any:
        graph = Graph(_copy(self.reference))
        graph.infer_types()
        products = self.find(graph)
        self.weights = {product.name: product.weight for product in products}
        steps = {"static": self.static, "dynamic": self.dynamic, "weights": self.by_blocks}
        steps[self.settings.mode](graph, products)
        return graph.finish()

    def errors(self, quantized: Any) -> list[LayerError]:
        graph = Graph(self.reference)
        nodes = [node for node in graph.nodes if layer_name(node) in self.rounded]
        layers = {layer_name(node): node for node in nodes}
        outputs = [o.name for o in self.reference.graph.output]
        measured = self._measure(quantized, [node.output[0] for node in nodes])
        result = []
        for name, node in layers.items():
            product = match_product(graph, node)
            assert product is not None
            weight = product.weight.astype(np.float64)
            noise = float(np.square(weight - self.rounded[name]).sum())
            snr = signal_to_noise(float(np.square(weight).sum()), noise)
            result.append(LayerError(name, node.op_type, snr, measured.get(node.output[0])))
        if measured:
            result += [LayerError(n, "output", None, measured[n]) for n in outputs if n in measured]
        return result

    def _measure(self, quantized: Any, names: list[str]) -> dict[str, float]:
        """Measures the signal-to-noise ratio of tensors of the quantized model."""
        if self.data is None:
            return {}
        graph = Graph(self.reference)
        graph.infer_types()
        names = [*names, *(n for n in graph.outputs if graph.is_float(n))]
        errors = Errors(names)
        module = compile_proto(with_outputs(quantized, names), self.name)
        feeds = self.data.feeds()
        runs = observe(self.reference, names, self.data, self.progress, "errors")
        for reference, feed in zip(runs, feeds):
            errors.add(reference, module.run(feed, like="numpy"))
        return {
            name: signal_to_noise(errors.signal[name], errors.noise[name]) for name in errors.signal
        }


def _count_hits(model: Any, data: Data, labels: np.ndarray) -> tuple[int, int]:
    """Counts the samples whose first output predicts their label, and all samples."""
    module = compile_proto(model, data.model_name)
    name = module.outputs[0].name
    hits = seen = 0
    for feed in data.feeds():
        result = np.asarray(module.run(feed, like="numpy")[name])
        if result.dtype.kind == "f":
            result = result.reshape(-1, result.shape[-1]).argmax(axis=1)
        result = result.reshape(-1)
        if seen + len(result) > len(labels):
            raise ArgumentError(
                f"expected a label for each of the samples, but got {len(labels)} labels for "
                f"{seen + len(result)} results or more of output {name!r}"
            )
        hits += int((result == labels[seen : seen + len(result)]).sum())
        seen += len(result)
    return hits, seen


def run(
    model: Any, source: Any, labels: Any, settings: Settings, progress: Progress
) -> QuantizationResult:
    """Quantizes a model; the arguments are those of :func:`adze.quantize`."""
    original, name = _load(model)
    expected = None if labels is None else read_labels(labels)
    data = None if source is None else Data(original, name, source, settings.batch)
    quantizer = _Quantizer(original, name, data, settings, progress)
    quantizer.balance()
    quantized = quantizer.rewrite()
    result = QuantizationResult(quantized, balanced=quantizer.balanced)
    result.bytes_before, result.bytes_after = original.ByteSize(), quantized.ByteSize()
    result.layers = quantizer.errors(quantized)
    if expected is not None:
        assert data is not None
        before, seen = _count_hits(original, data, expected)
        after, _ = _count_hits(quantized, data, expected)
        if seen != len(expected):
            raise ArgumentError(
                f"expected {len(expected)} results, as many as labels, but got {seen}"
            )
        result.accuracy = Accuracy(before / seen, after / seen, seen)
    return result
