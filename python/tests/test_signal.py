# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Fourier transforms and long windows over signals, against NumPy in f64."""

from __future__ import annotations

import numpy as np
import pytest

import adze

onnx = pytest.importorskip("onnx")

# One step (prime or short) and two: powers of two, common frame lengths, odd factors.
LENGTHS = [16, 67, 64, 96, 400, 441, 512]


def dft(kind, length, parts, onesided, inverse):
    """A DFT of a dynamic number of rows."""
    spectrum = length // 2 + 1 if onesided else length
    return onnx.parser.parse_model(f"""
<ir_version: 10, opset_import: ["" : 20]>
g ({kind}[n, {length}, {parts}] x) => ({kind}[n, {spectrum}, 2] y)
<int64 axis = {{1}}>
{{
  y = DFT<onesided = {int(onesided)}, inverse = {int(inverse)}>(x, , axis)
}}""")


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("kind, dtype, bound", [("float", np.float32, 1e-6), ("double", np.float64, 1e-13)])
def test_transforms(length, kind, dtype, bound):
    rng = np.random.default_rng(length)
    for parts, onesided, inverse in [(1, True, False), (1, False, False), (2, False, False), (2, False, True)]:
        x = rng.standard_normal((3, length, parts)).astype(dtype)
        signal = x[..., 0].astype(np.float64) + (1j * x[..., 1] if parts == 2 else 0)
        expected = (np.fft.ifft if inverse else np.fft.fft)(signal, axis=1)
        if onesided:
            expected = expected[:, : length // 2 + 1]
        got = adze.compile(dft(kind, length, parts, onesided, inverse))(x)
        got = got[..., 0] + 1j * got[..., 1]
        assert got.shape == expected.shape
        assert abs(got - expected).max() <= bound * abs(expected).max()


@pytest.mark.parametrize("frame, step", [(400, 160), (512, 128), (37, 10)])
def test_frames(frame, step):
    model = onnx.parser.parse_model(f"""
<ir_version: 10, opset_import: ["" : 17]>
g (float[batch, length, 1] x, float[{frame}] window) => (float[batch, frames, {frame // 2 + 1}, 2] y)
<int64 step = {{{step}}}>
{{
  y = STFT(x, step, window)
}}""")
    module = adze.compile(model)
    rng = np.random.default_rng(frame)
    window = rng.random(frame).astype(np.float32)
    for length in (frame, frame + step - 1, 1000):
        x = rng.standard_normal((2, length, 1)).astype(np.float32)
        rows = np.lib.stride_tricks.sliding_window_view(x[..., 0], frame, axis=1)[:, ::step]
        expected = np.fft.rfft(rows.astype(np.float64) * window, axis=2)
        got = module(x, window)
        got = got[..., 0] + 1j * got[..., 1]
        assert got.shape == expected.shape
        assert abs(got - expected).max() <= 1e-6 * abs(expected).max()


@pytest.mark.parametrize("taps, step, pads", [(45, 41, (7, 44)), (64, 64, (0, 0)), (90, 32, (0, 3)), (33, 9, (5, 0))])
def test_long_windows(taps, step, pads):
    """Windows that overlap little, which become rows of a product."""
    model = onnx.parser.parse_model(f"""
<ir_version: 10, opset_import: ["" : 17]>
g (float[batch, 1, length] x, float[24, 1, {taps}] w, float[24] b) => (float[batch, 24, windows] y)
{{
  y = Conv<strides = [{step}], pads = [{pads[0]}, {pads[1]}]>(x, w, b)
}}""")
    module = adze.compile(model)
    rng = np.random.default_rng(taps)
    w = rng.standard_normal((24, 1, taps)).astype(np.float32)
    b = rng.standard_normal(24).astype(np.float32)
    for length in (taps, taps + 1, 5 * step, 700):
        x = rng.standard_normal((2, 1, length)).astype(np.float32)
        padded = np.pad(x[:, 0].astype(np.float64), [(0, 0), pads])
        rows = np.lib.stride_tricks.sliding_window_view(padded, taps, axis=1)[:, ::step]
        expected = np.einsum("nwt,ot->now", rows, w[:, 0].astype(np.float64)) + b[:, None]
        got = module(x, w, b)
        assert got.shape == expected.shape
        assert abs(got - expected).max() <= 1e-6 * abs(expected).max()
