# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""libadze_generate: prompts that share a run of the model, and drafts that one run verifies."""

from __future__ import annotations

import numpy as np
import pytest
from test_generate_batches import models  # noqa: F401

import adze

onnx = pytest.importorskip("onnx")

# The first is GroupQueryAttention (padded at the end), the second has a mask and positions (padded
# at the front).
FORMS = ["f32", "int4", "padded"]
LENGTHS = (9, 12, 8, 11, 10)


def make_prompts(lengths=LENGTHS, words=64):
    return [[int(x) for x in np.random.default_rng(i).integers(0, words, n)] for i, n in enumerate(lengths)]


def run(module, prompts, batch=8, steps=6, **sampling):
    generator = adze.Generator(module, rows=96, chunk=128, batch=batch)
    sequences = [generator.add(p, max_tokens=steps, seed=i, **sampling) for i, p in enumerate(prompts)]
    runs = []
    while any(s.end is None for s in sequences):
        before = generator.info.num_runs
        generator.step()
        runs.append(generator.info.num_runs - before)
    return [(s.tokens, s.logprobs) for s in sequences], runs, generator.info


@pytest.fixture(scope="module")
def invariant(models, tmp_path_factory):  # noqa: F811
    """The models compiled with --batch-invariant."""
    folder = tmp_path_factory.mktemp("invariant")

    def get(name, threads=None):
        path = folder / f"{name}.so"
        if not path.exists():
            models(name)
            model = models.paths[name].removesuffix(".so") + ".onnx"
            adze.compile(model, options={"batch_invariant": True}).save(str(path))
        return adze.load(str(path), threads=threads)

    return get


@pytest.mark.parametrize("name", FORMS)
def test_prompts_of_different_lengths_are_one_run(models, name):  # noqa: F811
    together, runs, info = run(models(name), make_prompts())
    # The last tokens of prompts that are padded at the end run separately.
    assert runs == [1 if name == "padded" else 2] + [1] * 5
    assert info.num_scored <= 6 * len(LENGTHS)
    assert info.num_rows == sum(LENGTHS) + 5 * len(LENGTHS)
    for prompt, (tokens, logprobs) in zip(make_prompts(), together):
        [(alone, wanted)], _, _ = run(models(name), [prompt])
        assert tokens == alone
        np.testing.assert_allclose(logprobs, wanted, atol=1e-4)


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("threads", [1, 2])
def test_bits_of_batch_invariant_modules(invariant, name, threads):
    """The same bits in any batch, with any lengths and threads, also of sampled tokens."""
    prompts = make_prompts()
    module = invariant(name, threads)
    together, _, _ = run(module, prompts, temperature=0.9)
    for i, prompt in enumerate(prompts):
        generator = adze.Generator(invariant(name, 1), rows=96, batch=1)
        alone = generator.add(prompt, max_tokens=6, seed=i, temperature=0.9)
        alone.wait()
        assert together[i] == (alone.tokens, alone.logprobs)


def test_long_prompts_go_alone(models):  # noqa: F811
    """A run has at most as many rows as a chunk, and at least three in four of them are tokens."""
    _, runs, info = run(models("f32"), make_prompts((60, 60, 60)), steps=1)
    assert (runs, info.num_rows) == ([1, 1], 180)
    # 30 and 20 are 60 rows with 50 tokens; 30, 20 and 10 would be 90 with 60.
    _, runs, info = run(models("padded"), make_prompts((30, 20, 10, 10)), steps=1)
    assert (runs, info.num_rows) == ([1, 1], 70)


def test_recurrent_prompts_of_one_length(models):  # noqa: F811
    """No padding is possible if each token changes a state."""
    same, runs, _ = run(models("recurrent"), make_prompts((7, 7, 5, 5)), steps=2)
    # Sequences that have their first token continue together with the next prompts.
    assert runs == [1, 2, 1]
    for prompt, (tokens, _) in zip(make_prompts((7, 7, 5, 5)), same):
        assert tokens == run(models("recurrent"), [prompt], steps=2)[0][0][0]


def test_blind_models_fill_nothing_up(models):  # noqa: F811
    together, _, _ = run(models("blind"), make_prompts((9, 14)))
    for prompt, (tokens, _) in zip(make_prompts((9, 14)), together):
        assert tokens == run(models("blind"), [prompt])[0][0][0]


def test_join_while_others_decode(models):  # noqa: F811
    """Prompts that are added later share a run with the steps of existing sequences."""
    module = models("f32")
    generator = adze.Generator(module, rows=96, chunk=128)
    prompts = make_prompts()
    first = generator.add(prompts[0], max_tokens=12)
    for _ in range(4):
        generator.step()
    runs = generator.info.num_runs
    later = [generator.add(p, max_tokens=5) for p in prompts[1:]]
    generator.step()
    assert generator.info.num_runs - runs == 2
    assert [len(s.tokens) for s in (first, *later)] == [5, 1, 1, 1, 1]
    generator.run()
    for prompt, sequence, count in zip(prompts, (first, *later), (12, 5, 5, 5, 5)):
        assert sequence.tokens == run(module, [prompt], steps=count)[0][0][0]


def test_one_prompt_fails(models):  # noqa: F811
    """An invalid token ends its own sequence only."""
    generator = adze.Generator(models("f32"), rows=96, chunk=128)
    prompts = make_prompts((5, 6, 7))
    prompts[1][3] = 512
    sequences = [generator.add(p, max_tokens=4) for p in prompts]
    while any(s.end is None for s in sequences):
        generator.step()
    assert [s.end for s in sequences] == ["stopped", "failed", "stopped"]
    assert "node 'embedded'" in str(sequences[1].error)
    for i in 0, 2:
        assert sequences[i].tokens == run(models("f32"), [prompts[i]], steps=4)[0][0][0]


# ---- Drafts ------------------------------------------------------------------


@pytest.mark.parametrize("name", [*FORMS, "causal", "single"])
@pytest.mark.parametrize("sampling", [{}, {"temperature": 0.9, "repetition_penalty": 1.1}])
def test_drafts_change_no_token(models, name, sampling):  # noqa: F811
    """By prompt lookup, and with a drafter that is wrong at every third token."""
    prompt = make_prompts((12,), 16)[0] * 2
    generator = adze.Generator(models(name), rows=96)
    plain = generator.add(prompt, max_tokens=40, seed=3, **sampling)
    plain.wait()
    sequence = prompt + plain.tokens
    calls = []

    def drafter(tokens, most):
        calls.append((tokens, most))
        return [(t + (i % 3 == 0)) % 16 for i, t in enumerate(sequence[len(tokens) : len(tokens) + most], len(tokens))]

    for draft, by in (4, None), (1, None), (5, drafter):
        generator = adze.Generator(models(name), rows=96)
        made = generator.add(prompt, max_tokens=40, seed=3, draft=draft, drafter=by, **sampling)
        made.wait()
        assert made.tokens == plain.tokens
        np.testing.assert_allclose(made.logprobs, plain.logprobs, atol=1e-4)
        assert made.all_tokens == sequence
        info = generator.info
        assert info.num_accepted <= info.num_drafted
        # Each run has one token, and those that were accepted.
        assert info.num_runs + info.num_accepted == 40
    assert all(tokens == sequence[: len(tokens)] and 0 < most <= 5 for tokens, most in calls)


def test_right_drafts_save_runs(models):  # noqa: F811
    prompt = make_prompts((12,))[0]
    plain = adze.Generator(models("int4"), rows=96).add(prompt, max_tokens=41)
    plain.wait()
    sequence = prompt + plain.tokens
    generator = adze.Generator(models("int4"), rows=96)
    made = generator.add(prompt, max_tokens=41, draft=7, drafter=lambda tokens, most: sequence[len(tokens) :])
    made.wait()
    assert made.tokens == plain.tokens
    info = generator.info
    assert (info.num_runs, info.num_drafted, info.num_accepted) == (6, 35, 35)


def test_draft_beside_others(models):  # noqa: F811
    """Sequences with and without drafts, one that stops within a draft, and a full buffer."""
    prompts = make_prompts((9, 14, 20))
    wanted = [run(models("padded"), [p], steps=12)[0][0][0] for p in prompts]
    generator = adze.Generator(models("padded"), rows=30)
    right = prompts[0] + wanted[0]
    drafted = generator.add(
        prompts[0], max_tokens=12, draft=8, stop=[wanted[0][3:5]], drafter=lambda tokens, most: right[len(tokens) :]
    )
    others = [generator.add(p, max_tokens=12, draft=d) for p, d in zip(prompts[1:], (0, 4))]
    generator.run()
    assert drafted.tokens == wanted[0][:5] and drafted.end == "stopped"
    assert others[0].tokens == wanted[1]
    # 30 rows: 20 of the prompt, and 10 tokens that were run; one more was chosen.
    assert others[1].tokens == wanted[2][:11] and others[1].end == "full"


def test_recurrent_models_draft_nothing(models):  # noqa: F811
    prompt = make_prompts((6,))[0]
    wanted = run(models("recurrent"), [prompt], steps=8)[0][0][0]
    generator = adze.Generator(models("recurrent"), rows=96)
    made = generator.add(prompt, max_tokens=8, draft=4)
    made.wait()
    assert made.tokens == wanted and generator.info.num_drafted == 0


def test_drafters_that_fail(models, capsys):  # noqa: F811
    prompt = make_prompts((6,))[0]
    wanted = run(models("f32"), [prompt], steps=8)[0][0][0]

    def broken(tokens, most):
        raise ValueError("no draft today")

    generator = adze.Generator(models("f32"), rows=96)
    made = generator.add(prompt, max_tokens=8, draft=4, drafter=broken)
    made.wait()
    assert made.tokens == wanted and generator.info.num_drafted == 0
    assert "no draft today" in capsys.readouterr().err
    # An invalid token.
    failed = generator.add(prompt, max_tokens=8, draft=4, drafter=lambda tokens, most: [10**6])
    with pytest.raises(adze.AdzeError, match="expected indices in"):
        failed.wait()
    assert failed.end == "failed"
