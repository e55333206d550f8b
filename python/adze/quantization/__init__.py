# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Quantization of ONNX models. It needs the package onnx.

    import adze
    result = adze.quantize("model.onnx", {"x": samples}, output="model.int8.onnx")
    print(result.table())

The tool ``aquant`` does the same for files.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Callable, Iterable, Sequence

from .._errors import ArgumentError

if TYPE_CHECKING:
    from ._report import Accuracy, LayerError, QuantizationResult

__all__ = ["Accuracy", "LayerError", "QuantizationResult", "quantize"]


def __getattr__(name: str) -> Any:
    if name in ("Accuracy", "LayerError", "QuantizationResult"):
        from . import _report

        return getattr(_report, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def quantize(
    model: Any,
    data: Any = None,
    *,
    output: str | os.PathLike[str] | None = None,
    mode: str = "static",
    method: str = "minmax",
    percentile: float = 99.99,
    per_channel: bool = True,
    symmetric: str = "weights",
    activations: str = "u8",
    weights_method: str = "auto",
    reduce_range: bool = False,
    bits: int = 4,
    block: int = 32,
    format: str = "nbits",
    accuracy_level: int = 0,
    balance: float | None = None,
    bias_correction: bool = False,
    keep: Sequence[str] = (),
    op_types: Iterable[str] | None = None,
    batch: int = 32,
    labels: Any = None,
    progress: Callable[[str, int, int], Any] | None = None,
) -> QuantizationResult:
    """Quantizes the products of an f32 model by constant weights.

    Args:
        model: The path of an ONNX model, its bytes, or an ``onnx.ModelProto``.
        data: Calibration data: a dict of arrays by input name, or one array for a
            model with one input; the first dim counts samples. Also the path of an
            .npz or .npy file of these, or a folder of files or a list of dicts, each
            with the inputs of one run. Static quantization, `balance` and
            `bias_correction` need data; with data, the result has the error of each
            layer.
        output: The path of the quantized model.
        mode: "static": scales of activations are computed from the data
            (QuantizeLinear, DequantizeLinear). "dynamic": activations are quantized at
            run time (DynamicQuantizeLinear, MatMulInteger, ConvInteger). "weights":
            only weights of matrix products are quantized, by blocks.
        method: How the range of an activation is calibrated: "minmax" (its extrema),
            "percentile" (without outliers), "entropy" (least KL divergence), "mse"
            (least squared error).
        percentile: The percentage of values in the range of the method "percentile".
        per_channel: Weights have a scale for each output channel, or else one for all.
        symmetric: "weights": weights have no zero point, but activations do. "all":
            neither has one. "none": both have one; Adze computes static products by
            such weights in f32.
        activations: "u8" or "i8": the type of activations of static quantization.
        weights_method: "minmax" or "mse"; "auto" is "mse" for weights of 4 bits.
        reduce_range: Rounds weights to 7 bits, for CPUs whose products of bytes
            saturate (x86 without VNNI).
        bits: Bits of block-quantized weights: 4 or 8.
        block: The number of weights that share a scale: a power of two of at least 16.
        format: The form of block-quantized weights: "nbits" (MatMulNBits) or "qdq"
            (DequantizeLinear of ONNX opset 21).
        accuracy_level: The attribute of MatMulNBits: 4 allows activations of 8 bits,
            0 does not.
        balance: Divides channels of activations and multiplies the weights by the
            same factors, if a norm, a product or a constant factor computes the
            activation. 0 to 1: the part of the range that moves to the weights; None:
            no balancing.
        bias_correction: Corrects biases by the change of the means of output channels
            that rounding the weights causes.
        keep: Names, or patterns such as "head.*", of nodes that stay in f32.
        op_types: The operators to quantize: by default Conv, Gemm and MatMul; and,
            with static quantization, Add, Concat, AveragePool and GlobalAveragePool
            between them. Mul is also supported.
        batch: The number of samples in a run, for models whose first dim is dynamic.
        labels: Classes of the samples (an array of integers or an .npy file): the
            result then has the accuracy of the first output before and after.
        progress: Called with the name of a step, the number of its runs that are
            done, and the number of all its runs. An exception that it raises ends the
            quantization.

    Returns:
        The :class:`QuantizationResult`.

    Raises:
        ArgumentError: An argument is wrong, or the model has nothing to quantize.
        CompileError: The model was not compiled for calibration.
    """
    try:
        import onnx  # noqa: F401
    except ImportError as error:
        raise ImportError(
            "adze.quantize needs the package onnx: pip install 'adze[onnx]'"
        ) from error
    from ._quantize import run
    from ._settings import SettingError, Settings

    settings = Settings(
        mode=mode,
        method=method,
        percentile=percentile,
        per_channel=per_channel,
        symmetric=symmetric,
        activations=activations,
        weights_method=weights_method,
        reduce_range=reduce_range,
        bits=bits,
        block=block,
        format=format,
        accuracy_level=accuracy_level,
        balance=balance,
        bias_correction=bias_correction,
        keep=tuple(keep),
        op_types=None if op_types is None else tuple(op_types),
        batch=batch,
    )
    if data is None:
        needed = [
            (mode == "static", 'mode="static"'),
            (balance is not None, "balance"),
            (bias_correction, "bias_correction"),
            (labels is not None, "labels"),
        ]
        for is_needed, what in needed:
            if is_needed:
                raise SettingError(f"{what} needs calibration data: give some as data")
    if output is not None:
        folder = os.path.dirname(os.path.abspath(output))
        if not os.access(folder, os.W_OK):
            name = os.fspath(output)
            raise ArgumentError(f"{name}: expected a folder to write to, but got {folder}")
    result = run(model, data, labels, settings, progress or (lambda *_: None))
    if output is not None:
        result.save(output)
    return result
