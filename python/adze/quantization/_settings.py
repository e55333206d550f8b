# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""The settings of a quantization."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Sequence

from .._errors import ArgumentError

PRODUCTS = ("Conv", "Gemm", "MatMul")
CHOICES = {
    "mode": ("static", "dynamic", "weights"),
    "method": ("minmax", "percentile", "entropy", "mse"),
    "weights_method": ("auto", "minmax", "mse"),
    "activations": ("u8", "i8"),
    "symmetric": ("weights", "all", "none"),
    "bits": (4, 8),
    "format": ("nbits", "qdq"),
    "accuracy_level": (0, 4),
}


class SettingError(ArgumentError):
    """An invalid value of a setting."""


@dataclass
class Settings:
    """The arguments of :func:`adze.quantize`, checked."""

    mode: str = "static"
    method: str = "minmax"
    percentile: float = 99.99
    per_channel: bool = True
    symmetric: str = "weights"
    activations: str = "u8"
    weights_method: str = "auto"
    reduce_range: bool = False
    bits: int = 4
    block: int = 32
    format: str = "nbits"
    accuracy_level: int = 0
    balance: float | None = None
    bias_correction: bool = False
    keep: Sequence[str] = field(default_factory=tuple)
    op_types: Sequence[str] | None = None
    batch: int = 32

    def __post_init__(self) -> None:
        for name, choices in CHOICES.items():
            value = getattr(self, name)
            if value not in choices:
                raise SettingError(
                    f"{name}: expected one of {', '.join(map(str, choices))}, but got {value!r}"
                )
        if self.weights_method == "auto":
            is_narrow = self.mode == "weights" and self.bits == 4
            self.weights_method = "mse" if is_narrow else "minmax"
        if not 50 < self.percentile <= 100:
            raise SettingError(f"percentile: expected 50 to 100, but got {self.percentile}")
        if self.balance is not None and not 0 <= self.balance <= 1:
            raise SettingError(f"balance: expected 0 to 1, but got {self.balance}")
        if self.block < 16 or self.block & (self.block - 1):
            raise SettingError(
                f"block: expected a power of two of at least 16, but got {self.block}"
            )
        if self.batch < 1:
            raise SettingError(f"batch: expected at least 1, but got {self.batch}")

    @property
    def is_symmetric(self) -> bool:
        return self.symmetric != "none"
