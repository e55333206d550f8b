# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Converts between text and token ids: the tokenizer of a folder, its chat template, and incremental decoding."""

from __future__ import annotations

import json
import pathlib
from typing import Any, Sequence

from jinja2.sandbox import ImmutableSandboxedEnvironment
from tokenizers import Tokenizer


def _read_json(path: pathlib.Path) -> dict[str, Any]:
    return json.loads(path.read_text()) if path.exists() else {}


class Language:
    """The tokenizer and the chat template of a folder in the layout of Hugging Face: tokenizer.json, and optionally
    tokenizer_config.json, chat_template.jinja and generation_config.json.

    Attributes:
        tokenizer: The tokenizer.
        ends: Ids of the tokens that end an answer.
    """

    def __init__(self, folder: str | pathlib.Path) -> None:
        folder = pathlib.Path(folder)
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        config = _read_json(folder / "tokenizer_config.json")
        self._tokens = {name: self._text_of(config.get(name)) for name in ("bos_token", "eos_token")}
        ends = _read_json(folder / "generation_config.json").get("eos_token_id")
        if ends is None:
            ends = self.tokenizer.token_to_id(self._tokens["eos_token"])
        self.ends = [] if ends is None else ends if isinstance(ends, list) else [ends]
        own = folder / "chat_template.jinja"
        template = own.read_text() if own.exists() else config.get("chat_template")
        environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
        environment.globals["raise_exception"] = self._refuse
        self._template = environment.from_string(template) if isinstance(template, str) else None

    @staticmethod
    def _text_of(token: Any) -> str:
        return token.get("content", "") if isinstance(token, dict) else token or ""

    @staticmethod
    def _refuse(message: str) -> None:
        raise ValueError(message)

    def encode(self, text: str) -> list[int]:
        """Returns the tokens of a text, with the special tokens that the tokenizer adds."""
        return self.tokenizer.encode(text).ids

    def encode_chat(self, messages: Sequence[dict[str, str]]) -> list[int]:
        """Returns the tokens of a conversation, up to where the next answer begins. Raises ValueError if the model has
        no template, or its template rejects the messages."""
        if self._template is None:
            raise ValueError("the model's folder has no template for chats (tokenizer_config.json)")
        text = self._template.render(messages=messages, add_generation_prompt=True, **self._tokens)
        return self.tokenizer.encode(text, add_special_tokens=False).ids


class TextStream:
    """Decodes tokens incrementally to whole characters, up to the first stop string.

    Attributes:
        is_stopped: Whether a stop string was found.
    """

    def __init__(self, language: Language, stops: Sequence[str] = ()) -> None:
        self.is_stopped = False
        self._language, self._stops = language, [s for s in stops if s]
        self._ids: list[int] = []
        self._begin = self._end = 0  # tokens that are decoded again, and those whose text was returned
        self._held = ""

    def add(self, token: int) -> str:
        """Returns the text that can no longer change."""
        if token in self._language.ends:
            return ""
        self._ids.append(token)
        return self._pass(self._decode(is_last=False))

    def finish(self) -> str:
        """Returns the remaining text."""
        text = self._pass(self._decode(is_last=True)) + ("" if self.is_stopped else self._held)
        self._held = ""
        return text

    def _decode(self, is_last: bool) -> str:
        """Decodes tokens that may be parts of a character, or have blanks that depend on adjacent tokens."""
        decode = self._language.tokenizer.decode
        before, now = decode(self._ids[self._begin : self._end]), decode(self._ids[self._begin :])
        is_partial = now.endswith("\ufffd") and len(self._ids) - self._end < 4
        if len(now) <= len(before) or (is_partial and not is_last):
            return ""
        self._begin, self._end = self._end, len(self._ids)
        return now[len(before) :]

    def _pass(self, text: str) -> str:
        if self.is_stopped:
            return ""
        text = self._held + text
        found = [at for at in (text.find(stop) for stop in self._stops) if at >= 0]
        if found:
            self.is_stopped, self._held = True, ""
            return text[: min(found)]
        most = max((n for s in self._stops for n in range(1, len(s)) if text.endswith(s[:n])), default=0)
        self._held = text[len(text) - most :]
        return text[: len(text) - most]
