# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Generation of token ids by decoder models, with their caches in place."""

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
from ._module import Module, _device
from ._tensor import borrow

_TOKEN = 0
_ENDS = (None, "stopped", "full", "cancelled", "failed")


@dataclass(frozen=True)
class GeneratorInfo:
    """The state and statistics of a generator.

    Attributes:
        batch: The largest number of sequences in one run of the model.
        limits: Why `batch` is 1, or why only some of the active sequences share a
            run; "" if any sequences form a batch.
        num_runs: The number of runs of the model so far.
        num_rows: The number of tokens in these runs, including prompts.
        num_scored: The number of rows of logits that these runs computed.
        num_drafted: The number of drafted tokens.
        num_accepted: The number of drafted tokens that the model accepted.
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
    """Returns the callback of the library. An exception of `drafter` is printed, and no
    token is drafted."""

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
    """Returns the struct, and the arrays that it points to."""
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
    """A prompt and the tokens that follow it. :meth:`Generator.add` creates it.

    Iterating over a sequence yields its tokens one by one, from the first one that
    was not yielded yet, and steps the generator for more tokens. A step also
    continues all other active sequences::

        for token in generator.add(prompt, max_tokens=100):
            print(token, flush=True)

    A sequence without references ends.

    Attributes:
        tokens: The tokens that were generated so far, without the prompt.
        logprobs: The logarithms of their probabilities under the model.
        end: None while the sequence is active; else "stopped" (by an end token, a
            stop sequence or ``max_tokens``), "full", "cancelled" or "failed".
        error: The error that ended the sequence, if it failed.
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
        """Appends tokens and continues, for the next turn of a chat. The sequence must
        have ended without a failure."""
        with self._generator._lock:
            ids = _ids(tokens)
            check_status(lib.generate().adze_sequence_extend(self._open(), ids, len(ids)))
            self.end = None

    def fork(self, **sampling: Any) -> TokenSequence:
        """Returns a copy that continues independently from here.

        Args:
            **sampling: Arguments of :meth:`Generator.add`; by default those of the
                original.
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
        """Drops all tokens, including those of the prompt, after the first `count`, and
        ends the sequence; :meth:`extend` continues from there. Tokens that were
        generated before remain in :attr:`tokens`."""
        with self._generator._lock:
            check_status(lib.generate().adze_sequence_rewind(self._open(), count))
            self.end, self.error = self.end or "stopped", None

    @property
    def all_tokens(self) -> list[int]:
        """The tokens of all prompts and the generated ones, in the order of the cache."""
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

    Active sequences share runs of the model if its form allows it (:attr:`info`).
    They join and leave at any step, and their tokens do not depend on the other
    sequences. Any thread may call any method; one thread steps at a time.

    Args:
        module: A module with states (:attr:`adze.Module.states`). Runs and states are on
            its device.
        rows: Capacity of a sequence: the maximum number of tokens of its prompts and
            answers.
        chunk: Maximum number of tokens of a prompt in one step.
        batch: Maximum number of sequences in one run of the model.
        end_tokens: Tokens that end any sequence.
        ids: Name of the input with token ids, if it is not "input_ids".
        mask: Name of the attention mask, if it is not "attention_mask".
        positions: Name of the positions, if it is not "position_ids" or
            "cache_position".
        logits: Name of the output with logits, if it is not "logits".

    Raises:
        AdzeError: The module lacks one of these values, or has no states.
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
        device_type, device_id = _device(module.device)
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
            device_type=device_type,
            device_id=device_id,
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
            max_tokens: Maximum number of tokens to generate; 0: until the buffers are
                full.
            temperature: Logits are divided by it; 0: always the most likely token.
            top_k: Samples from this many of the most likely tokens; 0: all.
            top_p: Samples from the most likely tokens up to this sum of probabilities;
                0: all.
            min_p: Samples from tokens of at least this probability relative to the
                most likely one.
            repetition_penalty: Makes tokens that occur less likely, if above 1.
            seed: Seed of the random numbers. Equal seeds give equal tokens, with any
                other sequences and any number of threads.
            stop: Token sequences that end the sequence.
            draft: Maximum number of tokens that speculative decoding drafts after the
                next one. One run of the model verifies them and keeps those that it
                would have generated: the tokens are the same, in fewer runs.
            drafter: A function that receives the tokens so far and a maximum number,
                and returns tokens that may follow; by default prompt lookup. It must
                not call the generator.
            inputs: Further inputs of the model that are constant for the sequence, such
                as the results of an encoder.

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
        """Returns the continuations of several prompts, which share runs of the model.

        Args:
            prompts: The token ids of each prompt.
            seed: Prompt number i has the seed ``seed + i``.
            **sampling: Arguments of :meth:`add`.
        """
        sequences = [self.add(p, seed=seed + i, **sampling) for i, p in enumerate(prompts)]
        try:
            return [sequence.wait() for sequence in sequences]
        finally:
            for sequence in sequences:
                sequence.close()

    def step(self) -> int:
        """Runs a chunk of one prompt, or short prompts together, and one token of each
        other active sequence. Returns the number of sequences that remain active. A
        sequence that fails has an :attr:`TokenSequence.error`; the others continue."""
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
        """The form of batches, and the number of runs so far."""
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
    """Handles an event of a step; returning 1 ends a sequence without references."""
    sequence = sequences.get(user)
    if sequence is None:
        return 1
    if event == _TOKEN:
        sequence.tokens.append(token)
        sequence.logprobs.append(logprob)
    else:
        sequence.end = _ENDS[event]
    return 0
