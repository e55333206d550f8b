# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Calibration: the range of an activation that 8 bits represent."""

from __future__ import annotations

from typing import Callable

import numpy as np

from ._observe import Histogram

_LEVELS = 256

#: Loss of the range between two numbers.
_Loss = Callable[[float, float], float]


def _percentile(histogram: Histogram, percentile: float) -> tuple[float, float]:
    """Returns the range without outliers: half of them are omitted at each end, or all of
    them at one end if the other end is 0."""
    counts = histogram.all_counts()
    share = np.cumsum(counts) / counts.sum()
    rare = 1 - percentile / 100
    if histogram.low < 0 < histogram.high:
        rare /= 2
    edges = histogram.edges
    low = edges[np.searchsorted(share, rare, side="right")] if histogram.low < 0 else histogram.low
    high = edges[np.searchsorted(share, 1 - rare) + 1] if histogram.high > 0 else histogram.high
    return float(low), float(high)


def _squared_error(histogram: Histogram) -> _Loss:
    """Returns the sum of squared errors at the centers of the bins."""
    edges = histogram.edges
    middles, counts = (edges[:-1] + edges[1:]) / 2, histogram.counts

    def loss(low: float, high: float) -> float:
        scale = (high - low) / (_LEVELS - 1)
        rounded = np.rint((np.clip(middles, low, high) - low) / scale) * scale + low
        return float((counts * np.square(rounded - middles)).sum())

    return loss


def _divergence(histogram: Histogram) -> _Loss:
    """Returns the KL divergence of the rounded distribution from that of all values, in
    which values out of the range are at its ends."""
    edges, counts = histogram.edges, histogram.counts.astype(np.float64)
    middles, total = (edges[:-1] + edges[1:]) / 2, counts.sum()

    def loss(low: float, high: float) -> float:
        inside = (middles >= low) & (middles <= high)
        if not inside.any():
            return float("inf")
        first, last = np.flatnonzero(inside)[[0, -1]]
        reference = counts[first : last + 1].copy()
        kept = reference.copy()
        reference[0] += counts[:first].sum()
        reference[-1] += counts[last + 1 :].sum()
        step = (high - low) / (_LEVELS - 1)
        level = np.rint((middles[first : last + 1] - low) / step).astype(np.int64)
        level = np.clip(level, 0, _LEVELS - 1)
        # A level's values are taken as spread evenly over its bins that have any.
        filled = reference > 0
        sums = np.bincount(level, weights=kept, minlength=_LEVELS)
        bins = np.bincount(level, weights=filled, minlength=_LEVELS)
        rounded = np.where(filled, sums[level] / np.maximum(bins[level], 1), 0)
        p = reference[filled] / total
        q = np.maximum(rounded[filled], 1e-9) / max(rounded.sum(), 1e-9)
        return float((p * np.log(p / q)).sum())

    return loss


def _search(histogram: Histogram, make_loss: Callable[[Histogram], _Loss]) -> tuple[float, float]:
    """Searches for the range with the least loss, one end at a time."""
    loss = make_loss(histogram)
    low, high = min(histogram.low, 0.0), max(histogram.high, 0.0)
    lows, highs = (end * np.linspace(1, 0.2, 81) for end in (low, high))
    for _ in range(2):
        if high > 0:
            high = float(highs[np.argmin([loss(low, end) for end in highs])])
        if low < 0:
            low = float(lows[np.argmin([loss(end, high) for end in lows])])
    return low, high


def choose_range(method: str, percentile: float, histogram: Histogram) -> tuple[float, float]:
    """Returns the smallest and the largest representable value."""
    if method == "minmax" or histogram.counts.sum() == 0 or histogram.low >= histogram.high:
        return histogram.low, histogram.high
    if method == "percentile":
        return _percentile(histogram, percentile)
    return _search(histogram, _squared_error if method == "mse" else _divergence)
