# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""ImageDecoder against Pillow, with which ONNX's reference decodes."""

from __future__ import annotations

import io

import numpy as np
import pytest

import adze

onnx = pytest.importorskip("onnx")
Image = pytest.importorskip("PIL.Image")

# Format, mode and Pillow's options for saving.
FILES = [
    ("JPEG", "RGB", {"quality": 90}),
    ("JPEG", "RGB", {"quality": 60, "subsampling": "4:2:0", "progressive": True}),
    ("JPEG", "L", {}),
    ("PNG", "RGB", {}),
    ("PNG", "RGBA", {}),
    ("PNG", "P", {}),
    ("PNG", "L", {}),
    ("PNG", "1", {}),
    ("WEBP", "RGB", {"lossless": True}),
    ("WEBP", "RGB", {"quality": 80}),
    ("TIFF", "RGB", {}),
    ("TIFF", "L", {"compression": "tiff_lzw"}),
    ("JPEG2000", "RGB", {}),
    ("JPEG2000", "L", {}),
    ("BMP", "RGB", {}),
    ("BMP", "P", {}),
    ("BMP", "1", {}),
    ("PPM", "RGB", {}),
    ("PPM", "L", {}),
    ("PPM", "1", {}),
]


def encode(kind, mode, options, height=37, width=53):
    y, x = np.mgrid[0:height, 0:width]
    pixels = np.stack([x * 4, y * 6, (x * y) % 256, np.full_like(x, 200)], axis=-1).astype(np.uint8)
    image = Image.fromarray(pixels if mode == "RGBA" else pixels[..., :3]).convert(mode)
    file = io.BytesIO()
    image.save(file, format=kind, **options)
    return np.frombuffer(file.getvalue(), np.uint8)


@pytest.fixture(scope="module")
def decoders():
    def make(pixel_format):
        node = onnx.helper.make_node("ImageDecoder", ["x"], ["y"], pixel_format=pixel_format)
        graph = onnx.helper.make_graph(
            [node],
            "decoder",
            [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.UINT8, ["bytes"])],
            [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.UINT8, ["h", "w", "c"])],
        )
        return adze.compile(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 20)], ir_version=10))

    return {pixel_format: make(pixel_format) for pixel_format in ("RGB", "BGR", "Grayscale")}


@pytest.mark.parametrize("kind, mode, options", FILES)
def test_pixels(decoders, kind, mode, options):
    data = encode(kind, mode, options)
    image = Image.open(io.BytesIO(data.tobytes())).convert("RGB")
    expected = {"RGB": np.array(image), "BGR": np.array(image)[..., ::-1], "Grayscale": np.array(image.convert("L"))[..., None]}
    for pixel_format, wanted in expected.items():
        result = decoders[pixel_format](x=data)
        assert result.shape == wanted.shape
        # Other versions of libraries may round the last step of a lossy format differently.
        most = 2 if kind in ("JPEG", "WEBP") else 0
        assert np.abs(result.astype(int) - wanted.astype(int)).max() <= most


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "TIFF", "BMP", "PPM"])
def test_damaged(decoders, kind):
    data = encode(kind, "RGB", {})
    for size in (len(data) // 2, 20, 1):
        with pytest.raises(adze.AdzeError, match="ImageDecoder"):
            decoders["RGB"](x=data[:size])
    # Damaged bytes are rejected or decoded; nothing else happens.
    rng = np.random.default_rng(5)
    for _ in range(50):
        damaged = data.copy()
        damaged[rng.integers(len(data), size=4)] = rng.integers(256, size=4)
        try:
            assert decoders["RGB"](x=damaged).ndim == 3
        except adze.AdzeError:
            pass
