# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""docs/onnxruntime.md: its programs run, and print what the page shows.

docs-console-test runs the pages without Python; this runs the blocks that need it
by the same rules.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys

from conftest import ROOT
from ort_sessions import VERSION, pytest

PAGE = ROOT / "docs" / "onnxruntime.md"
FENCE = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)


def read_commands(block):
    """The commands of a console block, each with the lines that it should print."""
    commands = []
    for line in block.splitlines():
        if line.startswith("$ "):
            commands.append((line[2:], []))
        else:
            commands[-1][1].append(line)
    return commands


def make_pattern(lines):
    """A line "..." stands for any lines, "..." in a line for any text."""
    pattern = ""
    for line in lines:
        if line.strip() == "...":
            pattern += r"(?:.*\n)*"
        else:
            pattern += ".*".join(re.escape(part) for part in line.rstrip().split("...")) + r" *\n"
    return pattern


def test_patterns():
    assert re.fullmatch(make_pattern(["a ... c", "..."]), "a b c\n1\n2\n")
    assert not re.fullmatch(make_pattern(["a ... c"]), "a b d\n")
    assert not re.fullmatch(make_pattern([]), "a\n")


@pytest.mark.skipif(VERSION < (1, 24), reason="the page needs ONNX Runtime 1.24")
def test_page(tmp_path):
    tools, work = tmp_path / "bin", tmp_path / "work"
    tools.mkdir()
    work.mkdir()
    python = tools / "python3"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    for name in ("docs", "examples"):
        (work / name).symlink_to(ROOT / name)
    environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "LC_ALL": "C"}
    count = 0
    for language, title, body in FENCE.findall(PAGE.read_text()):
        if title:
            (work / title).write_text(body)
        elif language == "console":
            for command, expected in read_commands(body):
                done = subprocess.run(
                    ["bash", "-c", command],
                    cwd=work,
                    env=environment,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    text=True,
                )
                assert done.returncode == 0, f"$ {command}\n{done.stdout}"
                assert re.fullmatch(make_pattern(expected), done.stdout), (
                    f"$ {command}\n{done.stdout}"
                )
                count += 1
    assert count >= 6
