# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""libadze_generate through its C API: tokens compared with ONNX Runtime's."""

from __future__ import annotations

import ctypes
import pathlib
import sys
from ctypes import POINTER, byref, c_int32, c_int64, c_size_t, c_void_p

import numpy as np
import pytest

import adze
from adze import _libraries
from adze._libraries import CGeneratorInfo as Info
from adze._libraries import CGeneratorOptions as Options
from adze._libraries import CSampling as Sampling
from adze._libraries import TokenCallback

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))
LIBRARY = pathlib.Path(_libraries.folder()) / "libadze_generate.so"

TOKEN, STOPPED, FULL, CANCELLED, FAILED = range(5)
LAYERS, VOCABULARY = 2, 512
EMPTY = np.zeros((1, 2, 0, 32), np.float32)  # a state of no rows


def array(values):
    return (c_int64 * len(values))(*values)


class Generator:
    """The C API, with errors as exceptions."""

    def __init__(self, module, **options):
        self.lib = lib = ctypes.CDLL(str(LIBRARY))
        for name in (
            "generator_create generator_get_info generator_step generator_run "
            "sequence_create sequence_extend sequence_fork sequence_rewind"
        ).split():
            getattr(lib, "adze_" + name).restype = c_void_p
        lib.adze_sequence_tokens.restype = POINTER(c_int64)
        self.module, self.pointer, self.kept = module, c_void_p(), []
        ends = options.pop("ends", [])
        given = Options(size=ctypes.sizeof(Options), end_tokens=array(ends), num_end_tokens=len(ends), **options)
        self.call("generator_create", module._handle.pointer, byref(given), byref(self.pointer))

    def call(self, name, *arguments):
        _libraries_status(getattr(self.lib, "adze_" + name)(*arguments))

    def sampling(self, stops=(), **fields):
        rows = [array(stop) for stop in stops]
        pointers = (POINTER(c_int64) * max(len(rows), 1))(*(ctypes.cast(r, POINTER(c_int64)) for r in rows))
        lengths = (c_size_t * max(len(rows), 1))(*map(len, stops))
        self.kept += [rows, pointers, lengths]
        return Sampling(size=ctypes.sizeof(Sampling), stops=pointers, stop_lengths=lengths, num_stops=len(stops), **fields)

    def listen(self, events, stop_after=None):
        def called(user, sequence, event, token, logprob):
            events.append((event, token, logprob))
            return int(stop_after is not None and len(events) >= stop_after)

        self.kept.append(TokenCallback(called))
        return self.kept[-1]

    def sequence(self, prompt, events=None, stop_after=None, **fields):
        made = c_void_p()
        callback = self.listen([] if events is None else events, stop_after)
        sampling = self.sampling(**fields)
        self.call(
            "sequence_create", self.pointer, byref(sampling), array(prompt), c_size_t(len(prompt)),
            None, None, c_size_t(0), callback, None, byref(made),
        )  # fmt: skip
        return made

    def run(self):
        self.call("generator_run", self.pointer)

    def step(self):
        active = c_int32()
        self.call("generator_step", self.pointer, byref(active))
        return active.value

    def info(self):
        info = Info()
        self.call("generator_get_info", self.pointer, byref(info), c_size_t(ctypes.sizeof(info)))
        return info

    def tokens(self, sequence):
        count = c_size_t()
        tokens = self.lib.adze_sequence_tokens(sequence, byref(count))
        return tokens[: count.value]

    def release(self):
        self.lib.adze_generator_release(self.pointer)


def _libraries_status(status):
    from adze._errors import check_status

    check_status(c_void_p(status).value)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    language_models = pytest.importorskip("language_models")
    path = str(tmp_path_factory.mktemp("generate") / "tiny.onnx")
    language_models.write_model(path, "tiny", "f32")
    return path, adze.compile(path)


@pytest.fixture
def generator(model):
    made = Generator(model[1], rows=128, chunk=16)
    yield made
    made.release()


PROMPT = [int(x) for x in np.random.default_rng(3).integers(0, VOCABULARY, 37)]


def reference(path, prompt, count):
    """Greedy tokens by ONNX Runtime, with the logarithms of their probabilities."""
    onnxruntime = pytest.importorskip("onnxruntime")
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    names = [f"{i}.{kind}" for i in range(LAYERS) for kind in ("key", "value")]
    states = {n: EMPTY for n in names}
    tokens, rows, found = list(prompt), np.array([prompt]), []
    for _ in range(count):
        feeds = {"input_ids": rows, "attention_mask": np.ones((1, len(tokens)), np.int64)}
        feeds |= {f"past_key_values.{n}": states[n] for n in names}
        logits, *rest = session.run(["logits", *(f"present.{n}" for n in names)], feeds)
        states = dict(zip(names, rest))
        last = logits[0, -1].astype(np.float64)
        token = int(last.argmax())
        found.append((token, last[token] - last.max() - np.log(np.exp(last - last.max()).sum())))
        tokens.append(token)
        rows = np.array([[token]])
    return found


def test_greedy_is_onnx_runtime(model, generator):
    events = []
    sequence = generator.sequence(PROMPT, events, max_tokens=64)
    generator.run()
    wanted = reference(model[0], PROMPT, 64)
    assert [e[:2] for e in events] == [(TOKEN, token) for token, _ in wanted] + [(STOPPED, -1)]
    np.testing.assert_allclose([e[2] for e in events[:-1]], [p for _, p in wanted], atol=1e-3)
    assert generator.tokens(sequence) == PROMPT + [token for token, _ in wanted]


@pytest.mark.parametrize("precision", ["f32", "int4"])
@pytest.mark.parametrize("level", [0, 2])
def test_last_rows(precision, level, tmp_path):
    """A caller that passes logits with fewer rows gets the last ones, bit for bit; the others are
    not computed."""
    language_models = pytest.importorskip("language_models")
    path = str(tmp_path / "tiny.onnx")
    language_models.write_model(path, "tiny", precision)
    module = adze.compile(path, optimize=level)
    assert module.info["last_rows"] == [{"output": "logits", "dim": 1}]
    rows, past, random = 37, 11, np.random.default_rng(0)
    feeds = {"input_ids": random.integers(0, VOCABULARY, (2, rows)), "attention_mask": np.ones((2, past + rows), np.int64)}
    for i in range(LAYERS):
        for kind in "key", "value":
            feeds[f"past_key_values.{i}.{kind}"] = random.standard_normal((2, 2, past, 32)).astype(np.float32)
    wanted = {name: np.asarray(value) for name, value in module.run(feeds).items()}
    flops = {}
    for count in 0, 1, 5, rows:
        out = {name: np.full_like(value, np.nan) for name, value in wanted.items()}
        out["logits"] = np.full((2, count, VOCABULARY), np.nan, np.float32)
        with module.profile() as profile:
            module.run(feeds, out=out)
        flops[count] = sum(e["args"].get("flops") or 0 for e in profile.events)
        wanted_rows = wanted | {"logits": wanted["logits"][:, rows - count :]}
        for name, value in wanted_rows.items():
            np.testing.assert_array_equal(out[name], value)
    # The vocabulary's product alone is 2 * 128 * 512 operations per row, and lower layers have rows
    # that no other layer needs.
    assert flops[rows] - flops[1] >= 2 * (rows - 1) * 2 * 128 * VOCABULARY
    out["logits"] = np.empty((2, rows + 1, VOCABULARY), np.float32)
    with pytest.raises(adze.AdzeError, match="output 'logits': expected dim 1 = 37, but got 38"):
        module.run(feeds, out=out)


def test_prompts_have_one_row_of_logits(model):
    generator = Generator(model[1], rows=128, chunk=16, batch=1)
    generator.sequence(PROMPT, max_tokens=5)
    generator.run()
    info = generator.info()
    assert (info.num_rows, info.num_runs, info.num_scored) == (len(PROMPT) + 4, 7, 7)
    generator.release()


def test_neighbours_change_nothing(generator):
    """Concurrent sequences have the same tokens as separate ones, sampled as well."""
    settings = [{}, {"temperature": 0.8, "top_k": 40, "seed": 5}, {"temperature": 1.0, "top_p": 0.9, "seed": 6},
                {"temperature": 0.7, "min_p": 0.05, "repetition_penalty": 1.2, "seed": 7}]  # fmt: skip
    alone = []
    for i, fields in enumerate(settings):
        sequence = generator.sequence(PROMPT[i:], max_tokens=20, **fields)
        generator.run()
        alone.append(generator.tokens(sequence))
        generator.lib.adze_sequence_release(sequence)
    together = [generator.sequence(PROMPT[i:], max_tokens=20, **f) for i, f in enumerate(settings)]
    steps = 1
    while generator.step():
        steps += 1
    assert [generator.tokens(s) for s in together] == alone
    # One chunk of a prompt a step: three for each prompt, in turn.
    assert steps > 20 + 2 * len(settings)
    again = generator.sequence(PROMPT[1:], max_tokens=20, temperature=0.8, top_k=40, seed=6)
    generator.run()
    assert generator.tokens(again) != alone[1]


def choose(logits, seed, position, temperature, top_k=0, top_p=0.0, min_p=0.0):
    """Returns the token that the filters and a random number select, as adze_generate.h defines."""
    scores = logits.astype(np.float64) / temperature
    order = np.argsort(-scores, kind="stable")
    parts = np.exp(scores[order] - scores.max())
    if top_k:
        order, parts = order[:top_k], parts[:top_k]
    left = parts >= min_p
    if top_p:
        left &= np.cumsum(parts) - parts < top_p * parts.sum()
    parts = parts * left
    z = (seed + (position + 1) * 0x9E3779B97F4A7C15) % 2**64
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
    limit = parts.sum() * ((z ^ (z >> 31)) >> 11) * 2.0**-53
    return int(order[np.searchsorted(np.cumsum(parts), limit, side="right")])


@pytest.mark.parametrize(
    "fields",
    [{"top_k": 40}, {"top_p": 0.8}, {"min_p": 0.3}, {"min_p": 1e-6}, {"top_k": 300, "min_p": 1e-6},
     {"top_k": 300, "top_p": 0.5}, {"top_k": 60, "top_p": 0.7, "min_p": 0.2}],
    ids=str,
)  # fmt: skip
def test_filters_leave_what_they_say(model, generator, fields):
    fields = {"temperature": 4.0, **fields}
    states = {f"past_key_values.{i}.{kind}": EMPTY for i in range(LAYERS) for kind in ("key", "value")}
    feeds = {"input_ids": np.array([PROMPT]), "attention_mask": np.ones((1, len(PROMPT)), np.int64), **states}
    logits = model[1].run(feeds)["logits"][0, -1]
    for seed in range(64):
        sequence = generator.sequence(PROMPT, max_tokens=1, seed=seed, **fields)
        generator.run()
        assert generator.tokens(sequence)[-1] == choose(logits, seed, len(PROMPT), **fields), seed
        generator.lib.adze_sequence_release(sequence)


def test_filters(generator):
    """A filter that keeps the best token is greedy at any temperature."""
    greedy = generator.sequence(PROMPT, max_tokens=12)
    one = generator.sequence(PROMPT, max_tokens=12, temperature=5.0, top_k=1, seed=9)
    least = generator.sequence(PROMPT, max_tokens=12, temperature=5.0, top_p=1e-6, seed=9)
    near = generator.sequence(PROMPT, max_tokens=12, temperature=5.0, min_p=1.0, seed=9)
    free = generator.sequence(PROMPT, max_tokens=12, temperature=5.0, seed=9)
    generator.run()
    wanted = generator.tokens(greedy)
    assert [generator.tokens(s) for s in (one, least, near)] == [wanted] * 3
    assert generator.tokens(free) != wanted
    penalized = generator.sequence(PROMPT, max_tokens=40, repetition_penalty=1e6)
    generator.run()
    made = generator.tokens(penalized)[len(PROMPT) :]
    assert len(set(made)) == len(made) and not set(made) & set(PROMPT)


def test_distribution(generator):
    """Samples have the probabilities of the softmax."""
    events = []
    generator.sequence(PROMPT, events, max_tokens=1)
    generator.run()
    best, logprob = events[0][1], events[0][2]
    base, count, hits = generator.sequence(PROMPT, max_tokens=1), 400, 0
    generator.run()
    generator.call("sequence_rewind", base, c_size_t(len(PROMPT)))
    for seed in range(count):
        fork, sampling = c_void_p(), generator.sampling(temperature=0.25, seed=seed, max_tokens=1)
        generator.call("sequence_fork", base, byref(sampling), generator.listen([]), None, byref(fork))
        generator.call("sequence_rewind", fork, c_size_t(len(PROMPT) - 1))
        generator.call("sequence_extend", fork, array(PROMPT[-1:]), c_size_t(1))
        generator.run()
        hits += generator.tokens(fork)[-1] == best
        generator.lib.adze_sequence_release(fork)
    # At temperature 1 the model's probability is exp(logprob); a lower one sharpens the
    # distribution.
    assert hits / count > np.exp(logprob) + 3 * np.sqrt(0.25 / count)
    assert hits < count


def test_ends(model, generator):
    wanted = [token for token, _ in reference(model[0], PROMPT, 12)]
    events = []
    sequence = generator.sequence(PROMPT, events, stops=[[1, 2, 3], wanted[4:6]])
    generator.run()
    assert events[-1][0] == STOPPED and generator.tokens(sequence)[len(PROMPT) :] == wanted[:6]
    called = []
    generator.sequence(PROMPT, called, stop_after=3)
    generator.run()
    assert [e[0] for e in called] == [TOKEN] * 3 + [STOPPED]
    full = []
    generator.sequence(PROMPT, full)
    generator.run()
    assert full[-1][0] == FULL and len(full) - 1 == 128 - len(PROMPT) + 1
    cancelled = []
    sequence = generator.sequence(PROMPT, cancelled)
    while len(cancelled) < 2:
        generator.step()
    generator.lib.adze_sequence_cancel(sequence)
    generator.run()
    assert [e[0] for e in cancelled] == [TOKEN, TOKEN, CANCELLED]
    by_token = Generator(model[1], rows=128, ends=[wanted[2]])
    events = []
    by_token.sequence(PROMPT, events)
    by_token.run()
    assert [e[1] for e in events] == [*wanted[:3], -1]
    by_token.release()


def test_fork_rewind_extend(model, generator):
    wanted = [token for token, _ in reference(model[0], PROMPT, 20)]
    sequence = generator.sequence(PROMPT, max_tokens=10)
    generator.run()
    fork = c_void_p()
    generator.call("sequence_fork", sequence, None, generator.listen([]), None, byref(fork))
    # The original continues differently; the copy, and a sequence that is truncated, do not.
    generator.call("sequence_extend", sequence, array([7, 8]), c_size_t(2))
    generator.run()
    assert len(generator.tokens(sequence)) == len(PROMPT) + 22
    generator.call("sequence_rewind", fork, c_size_t(len(PROMPT) + 4))
    generator.call("sequence_extend", fork, array(wanted[4:10]), c_size_t(6))
    generator.run()
    assert generator.tokens(fork) == PROMPT + wanted
    generator.call("sequence_rewind", sequence, c_size_t(len(PROMPT)))
    generator.call("sequence_extend", sequence, array(wanted[:1]), c_size_t(1))
    generator.run()
    assert generator.tokens(sequence) == PROMPT + wanted[:11]


def test_errors(model, tmp_path, generator):
    onnx = pytest.importorskip("onnx")
    path = str(tmp_path / "plain.onnx")
    text = '<ir_version: 10, opset_import: ["": 21]> plain (float[N] x) => (float[N] y) { y = Exp(x) }'
    onnx.save(onnx.parser.parse_model(text), path)
    with pytest.raises(adze.AdzeError, match="the model has no input 'input_ids'"):
        Generator(adze.compile(path))
    with pytest.raises(adze.AdzeError, match="the module has no states"):
        Generator(adze.compile(model[0], options={"state": "none"}))
    with pytest.raises(adze.AdzeError, match="the model has no input 'nothing'"):
        Generator(model[1], mask=b"nothing")
    with pytest.raises(adze.AdzeError, match="at least one token"):
        generator.sequence([])
    with pytest.raises(adze.AdzeError, match="not negative"):
        generator.sequence(PROMPT, temperature=-1.0)
    sequence = generator.sequence(PROMPT, max_tokens=2)
    with pytest.raises(adze.AdzeError, match="a sequence that has ended"):
        generator.call("sequence_extend", sequence, array([1]), c_size_t(1))
    generator.run()
    with pytest.raises(adze.AdzeError, match="at most 39 tokens"):
        generator.call("sequence_rewind", sequence, c_size_t(99))
    events = []
    bad = generator.sequence([1, VOCABULARY], events)
    fine = generator.sequence(PROMPT, max_tokens=3)
    with pytest.raises(adze.AdzeError, match=r"expected indices in \[-512, 512\), but got 512"):
        generator.run()
    assert events == [(FAILED, -1, 0.0)]
    generator.run()
    assert len(generator.tokens(fine)) == len(PROMPT) + 3
    assert generator.tokens(bad) == [1, VOCABULARY]
