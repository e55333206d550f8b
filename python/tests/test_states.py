# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""States: outputs that continue inputs, in one buffer or in two."""

from __future__ import annotations

import pathlib
import sys

import numpy as np
import pytest

import adze

onnx = pytest.importorskip("onnx")

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

HEAD = '<ir_version: 10, opset_import: ["": 24, "com.microsoft": 1]>\n'

APPEND = """append (float[B, 2, P, 4] past_k, float[B, 2, S, 4] x)
    => (float[B, 2, R, 4] present_k, float[B, 2, R, 4] y) {
  n = Exp(x)
  present_k = Concat <axis = 2> (past_k, n)
  y = Neg(present_k)
}"""

SLIDE = """slide (float[1, 4, 3] past_conv, float[1, 4, S] x)
    => (float[1, 4, 3] present_conv, float[1, 4, R] y)
    <int64[1] from = {-3}, int64[1] to = {9223372036854775807}, int64[1] axis = {2}> {
  n = Exp(x)
  all = Concat <axis = 2> (past_conv, n)
  present_conv = Slice(all, from, to, axis)
  y = Neg(all)
}"""

WRITE = """write (float[B, 2, C, 4] past_k, float[B, 2, S, 4] x, int64[B] at)
    => (float[B, 2, C, 4] present_k, float[B, 2, C, 4] y) {
  n = Exp(x)
  present_k = TensorScatter <axis = 2> (past_k, n, at)
  y = Neg(present_k)
}"""

STATIC = """static (float[B, 2, 6, 4] past_k, float[B, 2, S, 4] x, int64[S] at)
    => (float[B, 2, 6, 4] present_k, float[B, 2, 6, 4] y) <int64[1] last = {1}> {
  n = Exp(x)
  index = Unsqueeze(at, last)
  rows = Transpose <perm = [2, 0, 1, 3]> (past_k)
  updates = Transpose <perm = [2, 0, 1, 3]> (n)
  scattered = ScatterND(rows, index, updates)
  present_k = Transpose <perm = [1, 2, 0, 3]> (scattered)
  y = Neg(present_k)
}"""

WHOLE = """whole (float[4] h_in, float[4] c_in, float[4] x) => (float[4] h_out, float[4] c_out, float[4] y)
    <int64[4] order = {3, 2, 1, 0}> {
  h = Gather(h_in, order)
  h_out = Add(h, x)
  c_out = Identity(c_in)
  y = Add(h_in, c_in)
}"""


def compile_text(text, tmp_path, **options):
    path = str(tmp_path / "model.onnx")
    onnx.save(onnx.parser.parse_model(HEAD + text), path)
    return adze.compile(path, **options)


def fresh(shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def copies(module, feeds, out):
    """Returns the names of the states that a run copied."""
    with module.profile() as profile:
        module.run(feeds, out=out)
    return [e["name"] for e in profile.trace["traceEvents"] if e.get("cat") == "copy"]


@pytest.mark.parametrize("level", [0, 2])
@pytest.mark.parametrize("batch", [1, 3])
def test_append(batch, level, tmp_path):
    module = compile_text(APPEND, tmp_path, optimize=level)
    assert module.states == (adze.StateInfo("past_k", "present_k", "rows", 2),)
    capacity = 9
    buffer = np.full((batch, 2, capacity, 4), np.nan, np.float32)
    wanted = np.empty((batch, 2, 0, 4), np.float32)
    for step, rows in enumerate((3, 1, 1, 2)):
        x, past = fresh((batch, 2, rows, 4), step), wanted.shape[2]
        wanted = np.concatenate([wanted, np.exp(x)], 2)
        before = buffer.copy()
        y = np.empty_like(wanted)
        feeds = {"past_k": buffer[:, :, :past], "x": x}
        got = copies(module, feeds, [buffer[:, :, : past + rows], y])
        assert not got
        np.testing.assert_allclose(buffer[:, :, : past + rows], wanted, rtol=1e-6)
        np.testing.assert_array_equal(y, -buffer[:, :, : past + rows])
        # No other row was stored.
        np.testing.assert_array_equal(buffer[:, :, past + rows :], before[:, :, past + rows :])
        np.testing.assert_array_equal(buffer[:, :, :past], before[:, :, :past])
        # Separate buffers have the same bits, and the input is unchanged.
        apart = module.run({"past_k": before[:, :, :past], "x": x})
        np.testing.assert_array_equal(np.asarray(apart["present_k"]), buffer[:, :, : past + rows])
        np.testing.assert_array_equal(np.asarray(apart["y"]), y)
        np.testing.assert_array_equal(before[:, :, :past], buffer[:, :, :past])


def test_append_into_another_view(tmp_path):
    """The output is in a buffer of another capacity: old rows are copied."""
    module = compile_text(APPEND, tmp_path)
    old, new = fresh((2, 2, 5, 4)), np.full((2, 2, 8, 4), np.nan, np.float32)
    x, y = fresh((2, 2, 1, 4), 1), np.empty((2, 2, 5, 4), np.float32)
    assert copies(module, {"past_k": old[:, :, :4], "x": x}, [new[:, :, :5], y]) == ["past_k"]
    wanted = np.concatenate([old[:, :, :4], np.exp(x)], 2)
    np.testing.assert_allclose(new[:, :, :5], wanted, rtol=1e-6)
    assert np.isnan(new[:, :, 5:]).all()
    np.testing.assert_array_equal(y, -new[:, :, :5])


def test_append_large(tmp_path):
    """Copies of several megabytes, by all threads."""
    module = compile_text(APPEND, tmp_path)
    past, x = fresh((3, 2, 30011, 4)), fresh((3, 2, 2, 4), 1)
    got = module.run({"past_k": past, "x": x})
    np.testing.assert_allclose(
        np.asarray(got["present_k"]), np.concatenate([past, np.exp(x)], 2), rtol=1e-6
    )


@pytest.mark.parametrize("level", [0, 2])
def test_slide(level, tmp_path):
    module = compile_text(SLIDE, tmp_path, optimize=level)
    assert [s.kind for s in module.states] == ["rows"]
    buffer = np.full((1, 4, 8), np.nan, np.float32)
    buffer[:, :, :3] = window = fresh((1, 4, 3))
    for step in range(3):  # the window moves on in the buffer
        x = fresh((1, 4, 1), step + 1)
        rows = np.concatenate([window, np.exp(x)], 2)
        y = np.empty_like(rows)
        past, present = buffer[:, :, step : step + 3], buffer[:, :, step + 1 : step + 4]
        assert not copies(module, {"past_conv": past, "x": x}, [present, y])
        window = rows[:, :, 1:]
        np.testing.assert_allclose(present, window, rtol=1e-6)
        np.testing.assert_allclose(y, -rows, rtol=1e-6)
    # In the same buffer the rows move.
    dense = window.copy()
    x, y = fresh((1, 4, 2), 9), np.empty((1, 4, 5), np.float32)
    rows = np.concatenate([window, np.exp(x)], 2)
    assert copies(module, {"past_conv": dense, "x": x}, [dense, y]) == ["past_conv"] * 2
    np.testing.assert_allclose(dense, rows[:, :, 2:], rtol=1e-6)
    np.testing.assert_allclose(y, -rows, rtol=1e-6)


@pytest.mark.parametrize("level", [0, 2])
def test_write(level, tmp_path):
    module = compile_text(WRITE, tmp_path, optimize=level)
    assert [s.kind for s in module.states] == ["rows"]
    cache, at = fresh((2, 2, 6, 4)), np.array([1, 4])
    x, y = fresh((2, 2, 2, 4), 1), np.empty((2, 2, 6, 4), np.float32)
    wanted = cache.copy()
    for row in range(2):
        wanted[row, :, at[row] : at[row] + 2] = np.exp(x[row])
    before = cache.copy()
    apart = module.run({"past_k": cache, "x": x, "at": at})
    np.testing.assert_array_equal(cache, before)
    assert not copies(module, {"past_k": cache, "x": x, "at": at}, [cache, y])
    np.testing.assert_allclose(cache, wanted, rtol=1e-6)
    np.testing.assert_array_equal(np.asarray(apart["present_k"]), cache)
    np.testing.assert_array_equal(y, -cache)
    with pytest.raises(adze.AdzeError, match=r"expected indices in \[0, 6\), but got 6"):
        module.run({"past_k": cache, "x": x, "at": np.array([1, 5])}, out=[cache, y])
    np.testing.assert_allclose(cache, wanted, rtol=1e-6)


@pytest.mark.parametrize("level", [0, 2])
def test_static_cache(level, tmp_path):
    """StaticCache of transformers as exported by torch; an index may count from the end, and the
    buffer may have more rows than the tensor."""
    module = compile_text(STATIC, tmp_path, optimize=level)
    assert [s.kind for s in module.states] == ["rows"]
    buffer = np.full((2, 2, 9, 4), np.nan, np.float32)
    cache = buffer[:, :, :6]
    cache[:] = wanted = fresh((2, 2, 6, 4))
    x, at, y = fresh((2, 2, 2, 4), 1), np.array([2, -1]), np.empty((2, 2, 6, 4), np.float32)
    wanted[:, :, [2, 5]] = np.exp(x)
    assert not copies(module, {"past_k": cache, "x": x, "at": at}, [cache, y])
    np.testing.assert_allclose(cache, wanted, rtol=1e-6)
    np.testing.assert_array_equal(y, -cache)
    assert np.isnan(buffer[:, :, 6:]).all()


def test_whole_and_kept(tmp_path):
    module = compile_text(WHOLE, tmp_path)
    assert [(s.input, s.kind) for s in module.states] == [("h_in", "whole"), ("c_in", "keep")]
    h, c, x, y = fresh(4), fresh(4, 1), fresh(4, 2), np.empty(4, np.float32)
    wanted = h[::-1] + x, h + c
    kept = c.copy()
    module.run({"h_in": h, "c_in": c, "x": x}, out=[h, c, y])
    np.testing.assert_array_equal(h, wanted[0])
    np.testing.assert_array_equal(y, wanted[1])
    np.testing.assert_array_equal(c, kept)


def test_errors(tmp_path):
    module = compile_text(APPEND, tmp_path)
    buffer, x = fresh((2, 2, 6, 4)), fresh((2, 2, 1, 4), 1)
    y = np.empty((2, 2, 5, 4), np.float32)

    def fails(past, present, match):
        before = buffer.copy()
        with pytest.raises(adze.AdzeError, match=match):
            module.run({"past_k": past, "x": x}, out=[present, y])
        np.testing.assert_array_equal(buffer, before)

    fails(buffer[:, :, :4], buffer[:, :, 1:6], "without continuing it: expected its data 0 rows")
    flat = buffer.reshape(-1)
    dense = flat[: 2 * 2 * 4 * 4].reshape(2, 2, 4, 4)
    fails(dense, flat[: 2 * 2 * 5 * 4].reshape(2, 2, 5, 4), "without continuing it")
    fails(buffer[:, :, :4], np.empty((2, 2, 4, 4), np.float32), "expected dim 2 = 5")
    with pytest.raises(adze.AdzeError, match="overlaps input 'x' in memory, and does not continue it"):
        module.run({"past_k": buffer[:, :, :4], "x": y[:, :, :1].copy()}, out=[buffer[:, :, :5], y])
        whole = fresh((2, 2, 1, 4))
        module.run({"past_k": whole[:, :, :0], "x": whole}, out=[whole, y[:, :, :1].copy()])


def test_named_pairs(tmp_path):
    """--state selects pairs that have no usual name, and rejects values that are not an update."""
    text = WHOLE.replace("h_in", "a").replace("h_out", "b")
    assert [s.input for s in compile_text(text, tmp_path).states] == ["c_in"]
    module = compile_text(text, tmp_path, options={"state": "a=b"})
    assert [(s.input, s.kind) for s in module.states] == [("a", "whole"), ("c_in", "keep")]
    assert compile_text(text, tmp_path, options={"state": "none"}).states == ()
    with pytest.raises(adze.CompileError, match="--state: 'x=y': expected an update of 'x'"):
        compile_text(WRITE.replace("h_in", "a"), tmp_path, options={"state": "x=y"})
    with pytest.raises(adze.CompileError, match=r"expected INPUT=OUTPUT"):
        compile_text(text, tmp_path, options={"state": "a"})


@pytest.mark.parametrize("precision", ["f32", "int4"])
@pytest.mark.parametrize("full", [False, True])
def test_generation(full, precision, tmp_path):
    """Steps of a decoder in one buffer: tokens are those of separate buffers, bit for bit, and
    those of ONNX Runtime in f32; the cache is not copied.

    With `full`, the past is the whole buffer, as ONNX Runtime's shared buffers are.
    """
    language_models = pytest.importorskip("language_models")
    path = str(tmp_path / "tiny.onnx")
    language_models.write_model(path, "tiny", precision)
    module = adze.compile(path)
    layers, heads, size = 2, 2, 32
    names = [f"{i}.{kind}" for i in range(layers) for kind in ("key", "value")]
    assert [(s.input, s.output) for s in module.states] == [
        (f"past_key_values.{n}", f"present.{n}") for n in names
    ]
    capacity = 512
    buffers = {n: np.zeros((1, heads, capacity, size), np.float32) for n in names}
    apart = {n: np.zeros((1, heads, 0, size), np.float32) for n in names}
    tokens = np.random.default_rng(1).integers(0, 512, (1, 300))
    length, words = 0, 512
    for step in range(8):
        rows = tokens.shape[1]
        feeds = {
            "input_ids": tokens,
            "attention_mask": np.ones((1, length + rows), np.int64),
        }
        logits = np.empty((1, rows, words), np.float32)
        if full:
            past = present = buffers
        else:
            past = {n: b[:, :, :length] for n, b in buffers.items()}
            present = {n: b[:, :, : length + rows] for n, b in buffers.items()}
        shared = feeds | {f"past_key_values.{n}": past[n] for n in names}
        with module.profile() as profile:
            module.run(shared, out=[logits, *(present[n] for n in names)])
        assert not [e for e in profile.trace["traceEvents"] if e.get("cat") == "copy"]
        got = module.run(feeds | {f"past_key_values.{n}": apart[n] for n in names})
        np.testing.assert_array_equal(logits, np.asarray(got["logits"]))
        apart = {n: np.asarray(got[f"present.{n}"]) for n in names}
        for n in names:
            np.testing.assert_array_equal(apart[n], buffers[n][:, :, : length + rows])
            assert not buffers[n][:, :, length + rows :].any()
        if step:  # a step stores its row, not the cache
            state = heads * length * size * 4
            sizes = [e["args"]["bytes_written"] for e in profile.events]
            assert sum(s >= state / 8 for s in sizes) <= 2 * layers, sorted(sizes)
        length += rows
        tokens = logits[:, -1:].argmax(-1)
