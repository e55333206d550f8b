# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""The result of a quantization: the model, the error of each layer, the accuracy."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from dataclasses import dataclass, field
from typing import Any

import onnx

_LARGEST_MESSAGE = (1 << 31) - (1 << 20)


@dataclass(frozen=True)
class LayerError:
    """The quantization error of a layer, as a signal-to-noise ratio in dB.

    Attributes:
        name: The name of the node, or of an output of the model.
        op: The operator of the node; "output" for outputs of the model.
        weight_snr: The ratio of the weight; None for outputs of the model.
        output_snr: The ratio of the layer's output, with all previous layers quantized,
            relative to the f32 model; None without data.
    """

    name: str
    op: str
    weight_snr: float | None
    output_snr: float | None


@dataclass(frozen=True)
class Accuracy:
    """The fraction of samples whose largest output is that of their label."""

    before: float
    after: float
    samples: int


@dataclass
class QuantizationResult:
    """A quantized model and its quantization error.

    Attributes:
        model: The ``onnx.ModelProto``.
        layers: The quantized layers, in the model's order, then its outputs.
        accuracy: The accuracy before and after; None without labels.
        balanced: The number of activations that were balanced.
        bytes_before, bytes_after: The sizes of the models in bytes.
    """

    model: Any
    layers: list[LayerError] = field(default_factory=list)
    accuracy: Accuracy | None = None
    balanced: int = 0
    bytes_before: int = 0
    bytes_after: int = 0

    def table(self) -> str:
        """Returns the error of each layer, the size and the accuracy as text."""

        def show(value: float | None) -> str:
            return "" if value is None else f"{value:.1f} dB"

        rows = [("layer", "op", "weight", "output")]
        rows += [(e.name, e.op, show(e.weight_snr), show(e.output_snr)) for e in self.layers]
        widths = [max(len(row[i]) for row in rows) for i in range(4)]
        lines = [
            f"{a:<{widths[0]}}  {b:<{widths[1]}}  {c:>{widths[2]}}  {d:>{widths[3]}}".rstrip()
            for a, b, c, d in rows
        ]
        ratio = self.bytes_after / max(self.bytes_before, 1)
        lines.append(
            f"size: {self.bytes_before} to {self.bytes_after} bytes ({ratio:.2f} of the model)"
        )
        if self.accuracy is not None:
            a = self.accuracy
            lines.append(
                f"accuracy: {100 * a.before:.2f} % before, {100 * a.after:.2f} % after "
                f"({a.samples} samples)"
            )
        return "\n".join(lines)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model, completely or not at all. Weights of models of 2 GB or more
        are written to a file next to it."""
        target = os.fspath(path)
        folder, name = os.path.split(os.path.abspath(target))
        temporary = tempfile.mkdtemp(prefix=".aquant-", dir=folder)
        try:
            made = os.path.join(temporary, name)
            if self.model.ByteSize() < _LARGEST_MESSAGE:
                with open(made, "wb") as file:
                    file.write(self.model.SerializeToString())
            else:
                onnx.save_model(
                    self.model, made, save_as_external_data=True, location=f"{name}.data"
                )
                os.replace(f"{made}.data", os.path.join(folder, f"{name}.data"))
            os.replace(made, target)
        finally:
            with contextlib.suppress(OSError):
                shutil.rmtree(temporary)
