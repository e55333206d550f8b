# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Generators: token ids in, token ids out, by decoder models with their caches in place."""

from __future__ import annotations

import ctypes
import itertools
import sys
import threading
import weakref
from ctypes import POINTER, byref, c_int32, c_int64, c_size_t, c_void_p
from dataclasses import dataclass
from typing import Any, Callable, Iterable, Iterator, Mapping, Sequence

from . import _libraries as lib
from ._errors import AdzeError, ArgumentError, check_status
from ._module import Module
from ._tensor import borrow

_TOKEN = 0
_ENDS = (None, "stopped", "full", "cancelled", "failed")


@dataclass(frozen=True)
class GeneratorInfo:
    """The state and statistics of a generator.

    Attributes:
        batch: Most sequences that one run of the model takes.
        limits: Why these are 1, or only some of those that go on; "" where any
            sequences form a batch.
        num_runs: Runs of the model so far.
        num_rows: Tokens that these took, of prompts as well.
        num_scored: Rows of logits that these computed.
        num_drafted: Tokens that were drafted for runs.
        num_accepted: Those of them that the model chose.
    """

    batch: int
    limits: str
    num_runs: int
    num_rows: int
    num_scored: int
    num_drafted: int
    num_accepted: int


def _ids(tokens: Iterable[int]) -> Any:
    values = [int(token) for token in tokens]
    return (c_int64 * len(values))(*values)


Drafter = Callable[[Sequence[int], int], Iterable[int]]


def _draft_callback(drafter: Drafter) -> Any:
    """The callback of the library. An exception is printed, and drafts nothing."""

    def called(user: Any, tokens: Any, count: int, draft: Any, most: int) -> int:
        try:
            made = list(itertools.islice(drafter(tokens[:count], most), most))
            for i, token in enumerate(made):
                draft[i] = int(token)
            return len(made)
        except Exception:
            sys.excepthook(*sys.exc_info())
            return 0

    return lib.DraftCallback(called)


def _sampling(
    temperature: float = 0.0,
    top_k: int = 0,
    top_p: float = 0.0,
    min_p: float = 0.0,
    repetition_penalty: float = 0.0,
    seed: int = 0,
    max_tokens: int = 0,
    stop: Sequence[Sequence[int]] = (),
    draft: int = 0,
    drafter: Drafter | None = None,
) -> Any:
    """The struct, with the arrays that it points to."""
    stops = [_ids(tokens) for tokens in stop]
    pointers = (POINTER(c_int64) * len(stops))(*(ctypes.cast(s, POINTER(c_int64)) for s in stops))
    made = lib.CSampling(
        size=ctypes.sizeof(lib.CSampling),
        repetition_penalty=repetition_penalty,
        temperature=temperature,
        top_k=top_k,
        top_p=top_p,
        min_p=min_p,
        seed=seed & (1 << 64) - 1,
        max_tokens=max_tokens,
        stops=pointers,
        stop_lengths=(c_size_t * len(stops))(*map(len, stops)),
        num_stops=len(stops),
        draft=draft,
    )
    callback = _draft_callback(drafter) if drafter else None
    if callback:
        made.drafter = ctypes.cast(callback, c_void_p)
    made.kept, made.callback = (stops, pointers), callback
    return made


class TokenSequence:
    """A prompt and the tokens that follow it. Made by :meth:`Generator.add`.

    Iterating over it yields its tokens one by one, those that were not taken yet,
    and steps the generator when there is none: others that run go on as well::

        for token in generator.add(prompt, max_tokens=100):
            print(token, flush=True)

    One that nobody refers to any more ends.

    Attributes:
        tokens: The tokens that were chosen so far, without the prompt.
        logprobs: The logarithms of their probabilities under the model.
        end: None while it goes on; else "stopped" (by an end token, a stop
            sequence or ``max_tokens``), "full", "cancelled" or "failed".
        error: What ended it, if it failed.
    """

    def __init__(self, generator: Generator, inputs: Mapping[str, Any] | None) -> None:
        self.tokens: list[int] = []
        self.logprobs: list[float] = []
        self.end: str | None = None
        self.error: AdzeError | None = None
        self._generator = generator
        self._pointer = c_void_p()
        self._taken = 0
        self._drafter: Any = None  # what the library calls
        self._names = [name.encode() for name in inputs or ()]
        self._inputs = [borrow(value, None) for value in (inputs or {}).values()]
        self._id = next(generator._ids)

    def __iter__(self) -> Iterator[int]:
        return self

    def __next__(self) -> int:
        while self._taken == len(self.tokens) and self.end is None:
            self._generator.step()
        if self._taken < len(self.tokens):
            self._taken += 1
            return self.tokens[self._taken - 1]
        if self.error:
            raise self.error
        raise StopIteration

    def wait(self) -> list[int]:
        """Steps the generator until this sequence has ended, and returns
        :attr:`tokens`. Raises :attr:`error` if it failed."""
        while self.end is None:
            self._generator.step()
        if self.error:
            raise self.error
        return self.tokens

    def cancel(self) -> None:
        """Ends the sequence before the next step. Any thread may call this."""
        if self._pointer:
            lib.generate().adze_sequence_cancel(self._pointer)

    def extend(self, tokens: Iterable[int]) -> None:
        """Appends tokens and continues: the next turn of a chat. The sequence must
        have ended without a failure."""
        with self._generator._lock:
            ids = _ids(tokens)
            check_status(lib.generate().adze_sequence_extend(self._open(), ids, len(ids)))
            self.end = None

    def fork(self, **sampling: Any) -> TokenSequence:
        """Returns a copy that continues independently from here.

        Args:
            **sampling: As of :meth:`Generator.add`; without any, those of the original.
        """
        generator = self._generator
        with generator._lock:
            made = TokenSequence(generator, None)
            made._inputs = self._inputs
            made.tokens, made.logprobs = list(self.tokens), list(self.logprobs)
            made._taken, made.end = self._taken, self.end
            changed = _sampling(**sampling) if sampling else None
            made._drafter = changed.callback if changed else self._drafter
            given = byref(changed) if changed else None
            check_status(
                lib.generate().adze_sequence_fork(
                    self._open(), given, generator._callback, made._id, byref(made._pointer)
                )
            )
            generator._sequences[made._id] = made
            return made

    def rewind(self, count: int) -> None:
        """Drops all tokens, those of the prompt included, but the first `count`, and
        ends the sequence; :meth:`extend` goes on from there. What was chosen before
        stays in :attr:`tokens`."""
        with self._generator._lock:
            check_status(lib.generate().adze_sequence_rewind(self._open(), count))
            self.end, self.error = self.end or "stopped", None

    @property
    def all_tokens(self) -> list[int]:
        """The tokens that the model sees: prompts and what it chose."""
        with self._generator._lock:
            count = c_size_t()
            tokens = lib.generate().adze_sequence_tokens(self._open(), byref(count))
            return tokens[: count.value]

    def close(self) -> None:
        """Ends the sequence and releases its memory."""
        with self._generator._lock:
            if self._pointer:
                lib.generate().adze_sequence_release(self._pointer)
            self._pointer = c_void_p()
            self.end = self.end or "cancelled"

    def __enter__(self) -> TokenSequence:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()

    def __del__(self) -> None:
        # Any thread may run this, also during a step.
        generator = getattr(self, "_generator", None)
        if generator is not None and self._pointer:
            generator._unused.append((self._pointer, self._inputs))

    def _open(self) -> c_void_p:
        if not self._pointer:
            raise ArgumentError("the sequence is closed")
        return self._pointer


class Generator:
    """Generates tokens by a decoder model::

        generator = adze.Generator(adze.load("model.so"), end_tokens=[2])
        for token in generator.add(prompt, max_tokens=100, temperature=0.8, seed=1):
            ...
        answers = generator.generate([prompt, other], max_tokens=100)

    Sequences that run at the same time share runs of the model as far as its form
    allows (:attr:`info`), join and leave at any step, and get the tokens that each
    of them gets alone. Methods may be called by any thread; one steps at a time.

    Args:
        module: A module for the CPU with states (:attr:`adze.Module.states`).
        rows: Capacity of a sequence: most tokens of prompts and answers.
        chunk: Most tokens of a prompt per step.
        batch: Most sequences of one run.
        end_tokens: Tokens that end any sequence.
        ids: Name of the input of token ids, if it is not "input_ids".
        mask: The same, if not "attention_mask".
        positions: The same, if not "position_ids" or "cache_position".
        logits: Name of the output, if it is not "logits".

    Raises:
        AdzeError: The module has no such values, or no states.
    """

    def __init__(
        self,
        module: Module,
        *,
        rows: int = 2048,
        chunk: int = 512,
        batch: int = 8,
        end_tokens: Iterable[int] = (),
        ids: str | None = None,
        mask: str | None = None,
        positions: str | None = None,
        logits: str | None = None,
    ) -> None:
        self._pointer = c_void_p()
        library = lib.generate()
        self._release = library.adze_generator_release
        self.module = module
        self._ids = itertools.count(1)
        self._sequences: weakref.WeakValueDictionary[int, TokenSequence] = (
            weakref.WeakValueDictionary()
        )
        self._unused: list[tuple[c_void_p, Any]] = []
        self._lock = threading.RLock()
        # A weak reference: the callback must not keep the generator.
        sequences = self._sequences
        self._callback = lib.TokenCallback(
            lambda user, _, event, token, logprob: _take(sequences, user, event, token, logprob)
        )
        ends = _ids(end_tokens)
        options = lib.CGeneratorOptions(
            size=ctypes.sizeof(lib.CGeneratorOptions),
            rows=rows,
            chunk=chunk,
            end_tokens=ends,
            num_end_tokens=len(ends),
            ids=ids and ids.encode(),
            mask=mask and mask.encode(),
            positions=positions and positions.encode(),
            logits=logits and logits.encode(),
            batch=batch,
        )
        check_status(
            library.adze_generator_create(
                module._handle.pointer, byref(options), byref(self._pointer)
            )
        )

    def __del__(self) -> None:
        if getattr(self, "_pointer", None):
            self._release(self._pointer)

    def add(
        self,
        prompt: Iterable[int],
        *,
        max_tokens: int = 0,
        temperature: float = 0.0,
        top_k: int = 0,
        top_p: float = 0.0,
        min_p: float = 0.0,
        repetition_penalty: float = 0.0,
        seed: int = 0,
        stop: Sequence[Sequence[int]] = (),
        draft: int = 0,
        drafter: Drafter | None = None,
        inputs: Mapping[str, Any] | None = None,
    ) -> TokenSequence:
        """Returns a sequence that joins at the next step.

        Args:
            prompt: At least one token.
            max_tokens: Most tokens to choose; 0: until there is no room left.
            temperature: Logits are divided by it; 0: always the most likely token.
            top_k: Samples from this many of the most likely tokens; 0: all.
            top_p: Only the most likely ones up to this sum of probabilities; 0: all.
            min_p: Only those at least so likely relative to the most likely one.
            repetition_penalty: Makes tokens that occur less likely, if above 1.
            seed: Seed of the random numbers. Equal seeds give equal tokens, whatever
                other sequences run, on any number of threads.
            stop: Token sequences that end it.
            draft: Speculative decoding: at most this many tokens are drafted after the
                next one and verified in one run; the model keeps those that it would
                have chosen. The tokens are the same, in fewer runs of the model.
            drafter: Returns tokens that may follow, given the tokens so far and the
                greatest number of tokens; by default by prompt lookup.
                Must not call the generator.
            inputs: Further inputs of the model, which stay for the sequence, such as
                the results of an encoder.

        Raises:
            ArgumentError: A token, a parameter or an input is wrong.
        """
        with self._lock:
            self._collect()
            made = TokenSequence(self, inputs)
            sampling = _sampling(
                temperature, top_k, top_p, min_p, repetition_penalty, seed, max_tokens, stop,
                draft, drafter,
            )  # fmt: skip
            made._drafter = sampling.callback
            ids, count = _ids(prompt), len(made._names)
            names = (ctypes.c_char_p * count)(*made._names)
            tensors = (POINTER(lib.DLTensor) * count)(*(b.pointer for b in made._inputs))
            check_status(
                lib.generate().adze_sequence_create(
                    self._pointer,
                    byref(sampling),
                    ids,
                    len(ids),
                    names,
                    tensors,
                    count,
                    self._callback,
                    made._id,
                    byref(made._pointer),
                )
            )
            self._sequences[made._id] = made
            return made

    def generate(
        self, prompts: Iterable[Iterable[int]], *, seed: int = 0, **sampling: Any
    ) -> list[list[int]]:
        """Returns the continuation of each of several prompts, which run at the same time.

        Args:
            prompts: Token ids of each.
            seed: Prompt number i has the seed ``seed + i``.
            **sampling: As of :meth:`add`.
        """
        sequences = [self.add(p, seed=seed + i, **sampling) for i, p in enumerate(prompts)]
        try:
            return [sequence.wait() for sequence in sequences]
        finally:
            for sequence in sequences:
                sequence.close()

    def step(self) -> int:
        """Runs a chunk of one prompt, and one token of each active sequence.
        Returns how many continue. A sequence that fails has the
        :attr:`TokenSequence.error`; the others continue."""
        with self._lock:
            self._collect()
            running = [s for s in self._sequences.values() if s.end is None]
            active = c_int32()
            try:
                check_status(lib.generate().adze_generator_step(self._pointer, byref(active)))
            except AdzeError as error:
                failed = [s for s in running if s.end == "failed"]
                for sequence in failed:
                    sequence.error = error
                if not failed:
                    raise
            return active.value

    def run(self) -> None:
        """Steps until no sequence is active."""
        while self.step():
            pass

    @property
    def info(self) -> GeneratorInfo:
        """How the generator forms batches, and the number of its runs so far."""
        with self._lock:
            info = lib.CGeneratorInfo()
            check_status(
                lib.generate().adze_generator_get_info(
                    self._pointer, byref(info), ctypes.sizeof(info)
                )
            )
            limits = (info.limits or b"").decode()
            return GeneratorInfo(
                info.batch,
                limits,
                info.num_runs,
                info.num_rows,
                info.num_scored,
                info.num_drafted,
                info.num_accepted,
            )

    def _collect(self) -> None:
        """Releases sequences without references."""
        while self._unused:
            pointer, _ = self._unused.pop()
            lib.generate().adze_sequence_release(pointer)


def _take(
    sequences: Mapping[int, TokenSequence], user: int, event: int, token: int, logprob: float
) -> int:
    """An event of a step; returning 1 ends a sequence without references."""
    sequence = sequences.get(user)
    if sequence is None:
        return 1
    if event == _TOKEN:
        sequence.tokens.append(token)
        sequence.logprobs.append(logprob)
    else:
        sequence.end = _ENDS[event]
    return 0
