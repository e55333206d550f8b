# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""A chat in the terminal.

    chat.py FOLDER [--system TEXT] [--temperature X] [--top-p X] [--seed N] [--max-tokens N] [--rows N] [--threads N]

FOLDER has model.so and the files of the tokenizer. Ctrl-C ends an answer, Ctrl-D the chat. The caches of earlier turns are
kept, so that only new tokens of the conversation run.
"""

from __future__ import annotations

import argparse
import os
import sys

import adze
from text import Language, TextStream


def go_on(sequence: adze.TokenSequence, tokens: list[int]) -> None:
    """Continues a sequence with those tokens of a conversation that it does not have yet."""
    known = sequence.all_tokens
    same = 0
    while same < min(len(known), len(tokens) - 1) and known[same] == tokens[same]:
        same += 1
    if same < len(known):
        sequence.rewind(same)
    sequence.extend(tokens[same:])


def answer(sequence: adze.TokenSequence, language: Language) -> str:
    """Prints an answer as it is generated, and returns it."""
    stream, text = TextStream(language), ""
    try:
        for token in sequence:
            piece = stream.add(token)
            print(piece, end="", flush=True)
            text += piece
    except KeyboardInterrupt:
        sequence.cancel()
        sequence.wait()
    rest = stream.finish()
    print(rest)
    return text + rest


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--system", default="")
    parser.add_argument("--temperature", type=float, default=0.7)
    parser.add_argument("--top-p", type=float, default=0.95)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--max-tokens", type=int, default=512)
    parser.add_argument("--rows", type=int, default=4096)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--device", help="cpu or cuda:0; by default the CPU, if model.so has code for it")
    options = parser.parse_args()
    language = Language(options.folder)
    module = adze.load(os.path.join(options.folder, "model.so"), threads=options.threads, device=options.device)
    generator = adze.Generator(module, rows=options.rows, batch=1, end_tokens=language.ends)
    sampling = {
        "temperature": options.temperature,
        "top_p": options.top_p,
        "seed": options.seed,
        "max_tokens": options.max_tokens,
    }
    messages = [{"role": "system", "content": options.system}] if options.system else []
    sequence = None
    while True:
        try:
            line = input("> " if sys.stdin.isatty() else "")
        except (EOFError, KeyboardInterrupt):
            return
        messages.append({"role": "user", "content": line})
        tokens = language.encode_chat(messages)
        if sequence is None:
            sequence = generator.add(tokens, **sampling)
        else:
            go_on(sequence, tokens)
        messages.append({"role": "assistant", "content": answer(sequence, language)})
        if sequence.end == "full":
            print(f"[the conversation has {options.rows} tokens: --rows N makes room for more]")
            return


if __name__ == "__main__":
    main()
