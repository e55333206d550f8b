# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""adze.Generator: sequences of tokens, streamed, in batches, from several threads."""

from __future__ import annotations

import gc
import threading

import numpy as np
import pytest
from test_generate import PROMPT, VOCABULARY, model, reference  # noqa: F401
from test_generate_batches import HEAD, RECURRENT, write

import adze

onnx = pytest.importorskip("onnx")


@pytest.fixture
def generator(model):  # noqa: F811
    return adze.Generator(model[1], rows=128, chunk=16)


def test_streams(model, generator):  # noqa: F811
    wanted = reference(model[0], PROMPT, 20)
    sequence = generator.add(PROMPT, max_tokens=20)
    assert sequence.tokens == [] and sequence.end is None
    seen = []
    for token in sequence:
        seen.append(token)
        assert sequence.tokens == seen  # not one more than was asked for
    assert seen == [token for token, _ in wanted]
    assert sequence.end == "stopped" and sequence.all_tokens == PROMPT + seen
    np.testing.assert_allclose(sequence.logprobs, [p for _, p in wanted], atol=1e-3)
    assert list(sequence) == []


def test_sequences_share_runs(generator):
    prompts = [PROMPT[i : i + 9] for i in range(5)]
    alone = [generator.add(p, max_tokens=12, temperature=0.9, seed=3 + i).wait() for i, p in enumerate(prompts)]
    before = generator.info
    assert (before.batch, before.limits) == (8, "")
    together = generator.generate(prompts, max_tokens=12, temperature=0.9, seed=3)
    after = generator.info
    assert together == alone
    assert after.num_runs - before.num_runs == 5 + 11 + 4  # prompts, steps, and those of the last ones
    assert after.num_rows - before.num_rows == 5 * (9 + 11)
    # Iterating over one of them steps the others.
    first, second = (generator.add(p, max_tokens=5) for p in prompts[:2])
    assert len(list(first)) == 5 and len(second.tokens) == 4
    assert len(list(second)) == 5


def test_ends(model, generator):  # noqa: F811
    wanted = [token for token, _ in reference(model[0], PROMPT, 12)]
    sequence = generator.add(PROMPT, stop=[[1, 2, 3], wanted[4:6]])
    assert sequence.wait() == wanted[:6] and sequence.end == "stopped"
    full = generator.add(PROMPT)
    assert len(full.wait()) == 128 - len(PROMPT) + 1 and full.end == "full"
    ending = adze.Generator(model[1], rows=64, end_tokens=wanted[2:3])
    assert ending.add(PROMPT).wait() == wanted[:3]


def test_cancel_from_another_thread(generator):
    sequence, other = generator.add(PROMPT), generator.add(PROMPT[:7], max_tokens=30)
    begun = threading.Event()

    def cancel():
        assert begun.wait(60)
        sequence.cancel()

    thread = threading.Thread(target=cancel)
    thread.start()
    seen = []
    for token in sequence:
        seen.append(token)
        if len(seen) == 3:
            begun.set()
            thread.join()
    assert sequence.end == "cancelled" and len(seen) == 3
    assert len(other.wait()) == 30


def test_threads_take_turns(generator):
    prompts = [PROMPT[i : i + 5] for i in range(6)]
    alone = generator.generate(prompts, max_tokens=20)
    results = [None] * 6

    def work(i):
        results[i] = list(generator.add(prompts[i], max_tokens=20))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == alone


def test_unused_sequences_end(generator):
    sequence = generator.add(PROMPT[:5])
    generator.step()
    kept = generator.add(PROMPT[:6], max_tokens=3)
    del sequence
    gc.collect()
    assert len(kept.wait()) == 3 and generator.step() == 0
    with generator.add(PROMPT[:5]) as sequence:
        next(sequence)
    assert sequence.end == "cancelled" and generator.step() == 0
    with pytest.raises(adze.ArgumentError, match="the sequence is closed"):
        sequence.extend([1])
    sequence.cancel()
    sequence.close()


def test_fork_rewind_extend(model, generator):  # noqa: F811
    wanted = [token for token, _ in reference(model[0], PROMPT, 20)]
    sequence = generator.add(PROMPT, max_tokens=10)
    sequence.wait()
    fork = sequence.fork()
    assert fork.end == "stopped" and fork.tokens == wanted[:10]
    sequence.extend([7, 8])
    assert len(sequence.wait()) == 20
    fork.rewind(len(PROMPT) + 4)
    fork.extend(wanted[4:10])
    fork.wait()
    assert fork.all_tokens == PROMPT + wanted
    other = fork.fork(max_tokens=3, temperature=2.0, seed=8)
    other.extend([5])
    assert len(other.wait()) == 23


def test_one_fails(generator):
    fine = generator.add(PROMPT, max_tokens=4)
    bad = generator.add([VOCABULARY])
    assert len(fine.wait()) == 4
    assert bad.end == "failed" and fine.error is None
    with pytest.raises(adze.AdzeError, match="expected indices in .*, but got 512"):
        bad.wait()
    with pytest.raises(adze.AdzeError, match="expected indices in"):
        next(iter(bad))


def test_inputs_of_a_sequence(tmp_path):
    """Outputs of an encoder stay for a sequence; such models run in turn."""
    text = RECURRENT.replace("float[B, 32] state_in)", "float[B, 32] state_in, float[1, 32] memory)")
    text = text.replace("both = Add(sum, old)", "some = Add(sum, old)\n  both = Add(some, memory)")
    module = adze.compile(write(text, str(tmp_path / "m.onnx")))
    generator = adze.Generator(module)
    assert generator.info.batch == 1
    assert generator.info.limits == "sequences have tensors of their own as further inputs"
    memories = [np.full((1, 32), value, np.float32) for value in (0.0, 1.5)]
    sequences = [generator.add([3, 4], max_tokens=8, inputs={"memory": memory}) for memory in memories]
    state = np.zeros((1, 32), np.float32)
    for memory, sequence in zip(memories, sequences):
        ids, tokens, state = np.array([[3, 4]]), [], np.zeros((1, 32), np.float32)
        for _ in range(8):
            got = module.run({"input_ids": ids, "state_in": state, "memory": memory})
            state, token = got["state_out"], int(got["logits"][0, -1].argmax())
            tokens.append(token)
            ids = np.array([[token]])
        assert sequence.wait() == tokens
    assert sequences[0].tokens != sequences[1].tokens
    with pytest.raises(adze.ArgumentError, match="expected a tensor for input 'memory'"):
        generator.add([1])
    with pytest.raises(adze.ArgumentError, match="the model has no input 'other'"):
        generator.add([1], inputs={"other": memories[0]})


def test_errors(model, generator, tmp_path):  # noqa: F811
    path = str(tmp_path / "plain.onnx")
    onnx.save(onnx.parser.parse_model(HEAD + "plain (float[N] x) => (float[N] y) { y = Exp(x) }"), path)
    with pytest.raises(adze.AdzeError, match="the model has no input 'input_ids'"):
        adze.Generator(adze.compile(path))
    with pytest.raises(adze.ArgumentError, match="the model has no input 'nothing'"):
        adze.Generator(model[1], mask="nothing")
    with pytest.raises(adze.ArgumentError, match="at least one token"):
        generator.add([])
    with pytest.raises(adze.ArgumentError, match="not negative"):
        generator.add(PROMPT, temperature=-1.0)
    with pytest.raises(adze.ArgumentError, match="a sequence that has ended"):
        generator.add(PROMPT).extend([1])
    assert adze.Generator(model[1], batch=1).info.limits == "the options say so"
