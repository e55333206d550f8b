# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""--kv-precision: caches of few bits, against a reference in f64 that rounds the same rows."""

from __future__ import annotations

import numpy as np
import pytest
from test_generate_batches import models  # noqa: F401

import adze

onnx = pytest.importorskip("onnx")
ml_dtypes = pytest.importorskip("ml_dtypes")

HEAD = '<ir_version: 10, opset_import: ["": 23, "com.microsoft": 1]>\n'
HEADS, GROUPS, SIZE = 4, 2, 32

# Rows are replaced after the existing ones of each row of the batch.
WRITE = """write (float[B, S, 128] q, float[B, S, 64] k, float[B, S, 64] v, float[B, 2, P, 32] past_key,
    float[B, 2, P, 32] past_value, int32[B] last, int32 total)
    => (float[B, S, 128] y, float[B, 2, T, 32] present_key, float[B, 2, T, 32] present_value) {
  y, present_key, present_value = com.microsoft.GroupQueryAttention <num_heads = 4, kv_num_heads = 2>
      (q, k, v, past_key, past_value, last, total)
}"""

# A concat appends rows.
APPEND = """append (float[B, S, 128] q, float[B, S, 64] k, float[B, S, 64] v, float[B, 2, P, 32] past_key,
    float[B, 2, P, 32] past_value)
    => (float[B, S, 128] y, float[B, 2, T, 32] present_key, float[B, 2, T, 32] present_value) {
  y, present_key, present_value = Attention <q_num_heads = 4, kv_num_heads = 2, is_causal = 1>
      (q, k, v, , past_key, past_value)
}"""


def rounded(rows, kind):
    """Returns the elements that a cache stores, its scales, and their values in f64."""
    if kind == "f16":
        kept = rows.astype(np.float16)
        return kept, None, kept.astype(np.float64)
    if kind == "bf16":
        bits = rows.view(np.uint32)
        kept = ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)
        return kept, None, (kept.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    greatest = np.abs(rows).max(-1, keepdims=True)
    scales = greatest * np.float32(1 / 127)
    factors = np.float32(127) / np.maximum(greatest, np.float32(1e-30))
    kept = np.rint(rows * factors).astype(np.int8)
    return kept, scales[..., 0], kept.astype(np.float64) * scales


def heads(x, count):
    batch, rows, _ = x.shape
    return x.reshape(batch, rows, count, SIZE).transpose(0, 2, 1, 3)


def attention(q, keys, values):
    """Computes in f64; the last key is that of the last query."""
    q = heads(q, HEADS).astype(np.float64)
    keys, values = (np.repeat(x, HEADS // GROUPS, 1) for x in (keys, values))
    scores = q @ keys.transpose(0, 1, 3, 2) / np.sqrt(SIZE)
    rows, total = scores.shape[-2:]
    scores[..., np.arange(total) > np.arange(rows)[:, None] + total - rows] = -np.inf
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    y = weights / weights.sum(-1, keepdims=True) @ values
    return y.transpose(0, 2, 1, 3).reshape(y.shape[0], rows, HEADS * SIZE)


class Cache:
    """Returns buffers of past and present in NumPy's types; bf16 is viewed as u16."""

    def __init__(self, kind, batch, capacity):
        dtype = {"f16": np.float16, "bf16": np.uint16, "int8": np.int8}[kind]
        self.kind = kind
        self.buffers = {n: np.full((batch, GROUPS, capacity, SIZE), 1, dtype) for n in ("key", "value")}
        if kind == "int8":
            self.buffers |= {f"{n}.scale": np.ones((batch, GROUPS, capacity), np.float32) for n in ("key", "value")}

    def rows(self, count, prefix):
        made = {}
        for name, buffer in self.buffers.items():
            view = buffer[:, :, :count]
            made[prefix + name] = view.view(ml_dtypes.bfloat16) if view.dtype == np.uint16 else view
        return made


def compile_kind(text, tmp_path, kind, **options):
    path = str(tmp_path / "model.onnx")
    onnx.save(onnx.parser.parse_model(HEAD + text), path)
    given = {"kv_precision": kind} if kind else {}
    return adze.compile(path, output=str(tmp_path / f"{kind}.so"), options=given, **options)


@pytest.mark.parametrize("text", [WRITE, APPEND], ids=["write", "append"])
@pytest.mark.parametrize("kind", ["f16", "bf16", "int8"])
@pytest.mark.parametrize("level", [0, 2])
def test_against_f64(text, kind, level, tmp_path):
    """A prompt of 37 rows and steps after it, with the caches in place."""
    module = compile_kind(text, tmp_path, kind, optimize=level)
    inputs = {i["name"]: i["dtype"] for i in module.info["inputs"]}
    assert inputs["past_key"] == inputs["past_value"] == {"f16": "f16", "bf16": "bf16", "int8": "i8"}[kind]
    names = {(s.input, s.output) for s in module.states}
    assert ("past_key", "present_key") in names and len(names) == (4 if kind == "int8" else 2)
    assert kind != "int8" or ("past_key.scale", "present_key.scale") in names
    random, cache, past = np.random.default_rng(0), Cache(kind, 2, 96), 0
    keys = values = np.zeros((2, GROUPS, 0, SIZE))
    for rows in (37, 1, 1, 4, 1):
        q = random.standard_normal((2, rows, HEADS * SIZE)).astype(np.float32)
        k, v = random.standard_normal((2, 2, rows, GROUPS * SIZE)).astype(np.float32)
        if past:
            k[0] *= 20  # rows of several sizes
        v[:, 0, :SIZE] = 0  # a row of zeros
        total = past + rows
        y = np.empty_like(q)
        feeds = {"q": q, "k": k, "v": v} | cache.rows(past, "past_")
        if text is WRITE:
            feeds |= {"last": np.full(2, total - 1, np.int32), "total": np.array(total, np.int32)}
        with module.profile() as profile:
            module.run(feeds, out=cache.rows(total, "present_") | {"y": y})
        assert not [e for e in profile.trace["traceEvents"] if e.get("cat") == "copy"]
        for name, new in ("key", heads(k, GROUPS)), ("value", heads(v, GROUPS)):
            kept, scales, exact = rounded(np.ascontiguousarray(new), kind)
            np.testing.assert_array_equal(cache.buffers[name][:, :, past:total], kept)
            if scales is not None:
                np.testing.assert_array_equal(cache.buffers[name + ".scale"][:, :, past:total], scales)
            assert (cache.buffers[name][:, :, total:] == 1).all()  # no other row was stored
            if name == "key":
                keys = np.concatenate([keys, exact], 2)
            else:
                values = np.concatenate([values, exact], 2)
        np.testing.assert_allclose(y, attention(q, keys, values), atol=2e-5, rtol=1e-5)
        past = total


@pytest.mark.parametrize("kind", ["f16", "bf16", "int8"])
@pytest.mark.parametrize("name", ["f32", "int4", "padded"])
def test_generators(models, name, kind, tmp_path):  # noqa: F811
    """Generators use these caches; tokens are independent of the number of threads, and near those
    of f32."""
    wanted = models(name)
    model = models.paths[name].removesuffix(".so") + ".onnx"
    path = str(tmp_path / "module.so")
    adze.compile(model, output=path, options={"kv_precision": kind})
    prompts = [[int(x) for x in np.random.default_rng(i).integers(0, 64, 9 + 4 * i)] for i in range(3)]
    made = []
    for threads in 1, 2:
        generator = adze.Generator(adze.load(path, threads=threads), rows=64)
        sequences = [generator.add(p, max_tokens=20, draft=d) for p, d in zip(prompts, (0, 3, 0))]
        generator.run()
        assert generator.info.batch == 8 and not generator.info.limits
        made.append([(s.tokens, s.logprobs) for s in sequences])
    assert made[0] == made[1]
    reference = adze.Generator(wanted, rows=64)
    # The scores of "padded" are ten times as large. Products by int4 round their activations to 8
    # bits, so any other cache moves some of them by a step: the difference is that of a step, not
    # of the cache's type.
    error = {"f16": 1e-3, "bf16": 1e-2, "int8": 3e-2}[kind] * (10 if name == "padded" else 1)
    if name == "int4":
        error = 1e-1
    for prompt, (tokens, logprobs) in zip(prompts, made[0]):
        sequence = reference.add(prompt, max_tokens=20)
        sequence.wait()
        same = next((i for i, (a, b) in enumerate(zip(tokens, sequence.tokens)) if a != b), len(tokens))
        assert same > 0
        np.testing.assert_allclose(logprobs[:same], sequence.logprobs[:same], atol=error)


def test_bits_of_threads(tmp_path):
    for kind in "f16", "bf16", "int8":
        compile_kind(APPEND, tmp_path, kind)
        random, results = np.random.default_rng(1), []
        x = {n: random.standard_normal((1, 1, s)).astype(np.float32) for n, s in (("q", 128), ("k", 64), ("v", 64))}
        prompt = {n: random.standard_normal((1, 300, s)).astype(np.float32) for n, s in (("q", 128), ("k", 64), ("v", 64))}
        for threads in 1, 2, 7:
            module = adze.load(str(tmp_path / f"{kind}.so"), threads=threads)
            empty = {i["name"]: i for i in module.info["inputs"] if i["name"].startswith("past")}
            first = module.run(prompt | {n: empty_state(i) for n, i in empty.items()})
            states = {"past" + n.removeprefix("present"): value for n, value in first.items() if n != "y"}
            results.append((np.asarray(first["y"]), np.asarray(module.run(x | states)["y"])))
        for got in results[1:]:
            for one, other in zip(got, results[0]):
                np.testing.assert_array_equal(one, other)


def empty_state(info):
    shape = [1 if s == "B" else 0 if s == "P" else s for s in info["shape"]]
    types = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "i8": np.int8, "f32": np.float32}
    return np.zeros(shape, types[info["dtype"]])


@pytest.mark.parametrize("kind", ["f16", "int8"])
def test_refused(kind, tmp_path):
    path = str(tmp_path / "plain.onnx")
    onnx.save(onnx.parser.parse_model(HEAD + "plain (float[N] x) => (float[N] y) { y = Exp(x) }"), path)
    with pytest.raises(adze.CompileError, match=f"--kv-precision={kind}: the model has no cache of f32"):
        adze.compile(path, options={"kv_precision": kind})
    with pytest.raises(adze.CompileError, match="f32, f16, bf16 or int8"):
        adze.compile(path, options={"kv_precision": "f8"})
