# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""libadze_generate: sequences that share runs of the model have the results of separate ones."""

from __future__ import annotations

import random
from ctypes import byref, c_size_t, c_void_p

import numpy as np
import pytest
from test_generate import FAILED, ROOT, STOPPED, Generator, array

import adze

onnx = pytest.importorskip("onnx")

HEAD = '<ir_version: 10, opset_import: ["": 23]>\n'
WORDS = 64

# As traced by exporters: a mask of padding and causality, positions as an input, caches that are
# concatenated.
PADDED = """padded (int64[B, S] input_ids, int64[B, T] attention_mask, int64[B, S] position_ids,
    float[B, 2, P, 16] past_key, float[B, 2, P, 16] past_value)
    => (float[B, S, 64] logits, float[B, 2, T, 16] present_key, float[B, 2, T, 16] present_value)
    <int64[4] heads = {0, 0, 2, 16}, int64[3] flat = {0, 0, 32}, int64 zero = {0}, int64 one = {1}, int64 two = {2},
     int64[1] axis1 = {1}, int64[2] axis12 = {1, 2}, float nothing = {0}, float least = {-3.4e38}, float scale = {0.25}> {
  token = Gather(table, input_ids)
  place = Gather(places, position_ids)
  x = Add(token, place)
  q0 = MatMul(x, wq)
  k0 = MatMul(x, wk)
  v0 = MatMul(x, wv)
  q1 = Reshape(q0, heads)
  k1 = Reshape(k0, heads)
  v1 = Reshape(v0, heads)
  q = Transpose <perm = [0, 2, 1, 3]> (q1)
  k = Transpose <perm = [0, 2, 1, 3]> (k1)
  v = Transpose <perm = [0, 2, 1, 3]> (v1)
  present_key = Concat <axis = 2> (past_key, k)
  present_value = Concat <axis = 2> (past_value, v)
  kt = Transpose <perm = [0, 1, 3, 2]> (present_key)
  s0 = MatMul(q, kt)
  s1 = Mul(s0, scale)
  past_shape = Shape(past_key)
  past = Gather <axis = 0> (past_shape, two)
  ids_shape = Shape(input_ids)
  rows = Gather <axis = 0> (ids_shape, one)
  total = Add(past, rows)
  columns = Range(zero, total, one)
  steps = Range(past, total, one)
  steps1 = Unsqueeze(steps, axis1)
  later = Greater(columns, steps1)
  seen = Cast <to = 9> (attention_mask)
  hidden = Not(seen)
  hidden2 = Unsqueeze(hidden, axis12)
  gone = Or(later, hidden2)
  bias = Where(gone, least, nothing)
  s2 = Add(s1, bias)
  w = Softmax <axis = -1> (s2)
  y0 = MatMul(w, present_value)
  y1 = Transpose <perm = [0, 2, 1, 3]> (y0)
  y = Reshape(y1, flat)
  z = Add(x, y)
  logits = MatMul(z, head)
}"""

# The same, but the mask is all true.
BLIND = PADDED.replace("Or(later, hidden2)", "And(later, later)")

# One batch only.
SINGLE = PADDED.replace("[B,", "[1,")

# No growing cache: each row of the batch has a state, for any length.
RECURRENT = """recurrent (int64[B, S] input_ids, float[B, 32] state_in) => (float[B, S, 64] logits, float[B, 32] state_out)
    <int64[1] axis1 = {1}, int64[1] last = {-1}, int64[1] end = {9223372036854775807}> {
  token = Gather(table, input_ids)
  sum = ReduceSum <keepdims = 0> (token, axis1)
  old = MatMul(state_in, wq)
  both = Add(sum, old)
  state_out = Tanh(both)
  y = Unsqueeze(state_out, axis1)
  x = MatMul(token, wk)
  z = Add(x, y)
  logits = MatMul(z, head)
}"""


def write(text, path):
    model = onnx.parser.parse_model(HEAD + text)
    numbers = np.random.default_rng(0)
    shapes = {"table": (WORDS, 32), "places": (256, 32), "head": (32, WORDS)} | {w: (32, 32) for w in ("wq", "wk", "wv")}
    for name, shape in shapes.items():
        if name in text:
            array = numbers.standard_normal(shape) * (0.3 if len(name) == 2 else 1)
            model.graph.initializer.append(onnx.numpy_helper.from_array(array.astype(np.float32), name))
    onnx.save(model, path)
    return path


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Compiled on first use, and opened with any number of threads."""
    folder, paths = tmp_path_factory.mktemp("batches"), {}

    def get(name, threads=None):
        if name not in paths:
            path = str(folder / f"{name}.onnx")
            if name in ("f32", "int4"):
                pytest.importorskip("language_models").write_model(path, "tiny", name)
            elif name == "causal":
                path = str(ROOT / "examples/models/decoder.onnx")
            else:
                texts = {"padded": PADDED, "blind": BLIND, "single": SINGLE, "recurrent": RECURRENT}
                write(texts[name], path)
            paths[name] = str(folder / f"{name}.so")
            adze.compile(path).save(paths[name])
        return adze.load(paths[name], threads=threads)

    get.paths = paths
    return get


EQUAL = b"the model has no mask or positions for rows of different lengths: sequences of equal length form batches"


@pytest.mark.parametrize(
    "name, batch, limits",
    [
        ("f32", 8, None),
        ("padded", 8, None),
        ("recurrent", 8, None),
        ("causal", 8, EQUAL),
        ("blind", 8, EQUAL),
        ("single", 1, b"an input or a state has no batch as its first dim"),
    ],
)
def test_which_form(models, name, batch, limits):
    generator = Generator(models(name), rows=64)
    info = generator.info()
    assert (info.batch, info.limits, info.num_runs, info.num_rows) == (batch, limits, 0, 0)
    generator.release()
    generator = Generator(models(name), rows=64, batch=1)
    assert (generator.info().batch, generator.info().limits) == (1, b"the options say so")
    generator.release()


def make_prompts(name, count, longest=40):
    draw = random.Random(count)
    words = {"f32": 512, "int4": 512, "causal": 16}.get(name, WORDS)
    return [[draw.randrange(words) for _ in range(draw.randint(1, longest))] for _ in range(count)]


def sampled(i):
    """Every other sequence is greedy."""
    return {"temperature": 1.0, "top_p": 0.95, "seed": i} if i % 2 else {}


def run_alone(module, prompts, counts, **options):
    results = []
    for i, (prompt, count) in enumerate(zip(prompts, counts)):
        generator = Generator(module, batch=1, **options)
        sequence = generator.sequence(prompt, max_tokens=count, **sampled(i))
        generator.run()
        results.append(generator.tokens(sequence))
        generator.release()
    return results


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", ["f32", "int4", "padded", "recurrent", "causal", "single"])
def test_joining_and_leaving(models, name, threads):
    """Sequences are added and removed at random steps, in batches of several sizes and blocks."""
    prompts, draw = make_prompts(name, 11), random.Random(threads)
    counts = [draw.randint(1, 24) for _ in prompts]
    options = {"rows": 72, "chunk": 16}
    alone = run_alone(models(name, threads=1), prompts, counts, **options)
    for batch in (2, 4, 16):
        generator = Generator(models(name, threads=threads), batch=batch, **options)
        running, got = {}, {}
        order = list(range(len(prompts)))
        draw.shuffle(order)
        while order or running:
            if order and (not running or draw.random() < 0.4):
                i = order.pop()
                running[i] = generator.sequence(prompts[i], max_tokens=counts[i], **sampled(i)), []
            generator.step()
            for i, (sequence, _) in list(running.items()):
                tokens = generator.tokens(sequence)
                if len(tokens) == len(prompts[i]) + counts[i]:
                    got[i] = tokens
                    del running[i]
                    if draw.random() < 0.8:  # else its slot stays taken
                        generator.lib.adze_sequence_release(sequence)
        assert [got[i] for i in range(len(prompts))] == alone, batch
        generator.release()


@pytest.mark.parametrize("name", ["f32", "padded", "recurrent", "causal", "single"])
def test_runs(models, name):
    """Counts the runs of the model: one per prompt, or fewer if prompts can be padded, and one per
    step."""
    count, tokens = 6, 10
    prompts = [p if len(p) > 1 else p * 2 for p in make_prompts(name, count, 12)]
    if name == "causal":  # no two have the same length at any step
        prompts = [[1] * (2 + 3 * i) for i in range(count)]
    generator = Generator(models(name), rows=64, batch=count)
    for prompt in prompts:
        generator.sequence(prompt, max_tokens=tokens)
    generator.run()
    assert generator.info().num_rows == sum(map(len, prompts)) + count * (tokens - 1)
    # The second one joins the first at its second token, and so on; there are fewer runs if prompts
    # share them.
    together = count + tokens - 1 + count - 1
    runs = generator.info().num_runs
    if name in ("single", "causal"):
        assert runs == count * tokens
    elif name == "recurrent":
        assert runs == together
    else:
        assert tokens <= runs < together
    generator.release()


@pytest.mark.parametrize("name", ["f32", "padded", "causal", "single"])
def test_answers_to_one_prompt(models, name):
    """Forks have equal lengths, which form a batch in any model that has one."""
    count, tokens, prompt = 5, 12, make_prompts(name, 3)[2]
    generator = Generator(models(name), rows=64)
    first = generator.sequence(prompt, max_tokens=tokens)
    generator.step()
    forks = [c_void_p() for _ in range(count)]
    for i, fork in enumerate(forks):
        sampling = generator.sampling(temperature=1.0, seed=i, max_tokens=tokens)
        generator.call("sequence_fork", first, byref(sampling), generator.listen([]), None, byref(fork))
    generator.run()
    runs = generator.info().num_runs
    assert runs == 1 + (tokens - 1) * (1 + count if name == "single" else 1)
    for i, fork in enumerate(forks):
        alone = Generator(models(name), rows=64, batch=1)
        sequence = alone.sequence(prompt, max_tokens=1)
        alone.run()
        other = c_void_p()
        sampling = alone.sampling(temperature=1.0, seed=i, max_tokens=tokens)
        alone.call("sequence_fork", sequence, byref(sampling), alone.listen([]), None, byref(other))
        alone.call("sequence_extend", other, array([generator.tokens(fork)[len(prompt) + 1]]), c_size_t(1))
        alone.run()
        assert alone.tokens(other)[: len(prompt) + tokens] == generator.tokens(fork)
        alone.release()
    generator.release()


def test_padded_is_onnx_runtime(models, tmp_path):
    """Rows of a padded batch, with the positions and causality of the model."""
    onnxruntime = pytest.importorskip("onnxruntime")
    session = onnxruntime.InferenceSession(write(PADDED, str(tmp_path / "m.onnx")), providers=["CPUExecutionProvider"])
    prompts = make_prompts("padded", 5)
    generator = Generator(models("padded"), rows=128)
    sequences = [generator.sequence(p, max_tokens=24) for p in prompts]
    generator.run()
    for prompt, sequence in zip(prompts, sequences):
        tokens = list(prompt)
        for _ in range(24):
            n = len(tokens)
            feeds = {"input_ids": np.array([tokens]), "attention_mask": np.ones((1, n), np.int64),
                     "position_ids": np.arange(n)[None], "past_key": np.zeros((1, 2, 0, 16), np.float32),
                     "past_value": np.zeros((1, 2, 0, 16), np.float32)}  # fmt: skip
            tokens.append(int(session.run(["logits"], feeds)[0][0, -1].argmax()))
        assert generator.tokens(sequence) == tokens
    generator.release()


@pytest.mark.parametrize("name", ["f32", "padded"])
def test_long_life(models, name):
    """More steps than a slot has rows: the rows of a batch are moved to the front."""
    options = {"rows": 24, "chunk": 8}
    prompts = make_prompts(name, 40, 12)
    counts = [8 + i % 5 for i in range(40)]
    alone = run_alone(models(name), prompts, counts, **options)
    generator = Generator(models(name), batch=3, **options)
    running, order = {}, list(range(40))
    while order or running:
        while order and len(running) < 3:
            i = order.pop(0)
            running[i] = generator.sequence(prompts[i], max_tokens=counts[i], **sampled(i))
        generator.step()
        for i, sequence in list(running.items()):
            if len(generator.tokens(sequence)) == len(alone[i]):
                assert generator.tokens(sequence) == alone[i], i
                generator.lib.adze_sequence_release(running.pop(i))
    generator.release()


@pytest.mark.parametrize("name", ["f32", "padded", "causal"])
def test_fork_rewind_extend_among_others(models, name):
    """Changes of a sequence between steps do not affect other sequences."""
    prompts = make_prompts(name, 4, 20)
    module = models(name)
    alone = run_alone(module, prompts, [30] * 4, rows=96)
    generator = Generator(module, rows=96)
    sequences = [generator.sequence(p, max_tokens=30, **sampled(i)) for i, p in enumerate(prompts)]
    for _ in range(10):
        generator.step()
    fork = c_void_p()
    generator.call("sequence_fork", sequences[1], None, generator.listen([]), None, byref(fork))
    # Back by some tokens, which are computed again in the batch.
    generator.call("sequence_rewind", sequences[2], c_size_t(len(prompts[2]) + 2))
    generator.call("sequence_extend", sequences[2], array(alone[2][len(prompts[2]) + 2 :][:3]), c_size_t(3))
    generator.run()
    for i in (0, 1, 3):
        assert generator.tokens(sequences[i]) == alone[i]
    assert generator.tokens(fork) == alone[1]
    assert generator.tokens(sequences[2])[: len(alone[2])] == alone[2]
    generator.release()


@pytest.mark.parametrize("name", ["f32", "padded"])
def test_one_of_a_batch_fails(models, name):
    prompts = make_prompts(name, 3, 9)
    module = models(name)
    alone = run_alone(module, prompts, [12] * 3, rows=64)
    generator = Generator(module, rows=64)
    events = [[], []]
    sequences = [generator.sequence(prompts[0], max_tokens=12), generator.sequence(prompts[1], max_tokens=12, **sampled(1))]
    for _ in range(3):
        generator.step()
    # A prompt of one invalid token is part of a batch.
    bad = generator.sequence([100000], events[0])
    sequences.append(generator.sequence(prompts[2], events[1], max_tokens=12))
    with pytest.raises(adze.AdzeError, match="expected indices in .*, but got 100000"):
        generator.step()
    assert events[0] == [(FAILED, -1, 0.0)] and generator.tokens(bad) == [100000]
    generator.lib.adze_sequence_release(bad)
    generator.run()
    assert [generator.tokens(s) for s in sequences] == alone
    assert events[1][-1][0] == STOPPED
    generator.release()
