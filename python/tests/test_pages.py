# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Runs the programs in Python of pages, and compares their output with the page.

docs-console-test runs the pages without Python; this test runs the other blocks by the same rules.
"""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import subprocess
import sys
import types

import numpy as np
import pytest

import adze
from conftest import ROOT, parse

# From the wheel, or from the build.
TOOLS = f"{pathlib.Path(sys.executable).parent}:{ROOT / 'build' / 'bin'}"
FENCE = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)


def read_commands(block):
    """Returns the commands of a console block, each with its expected output."""
    commands = []
    for line in block.splitlines():
        if line.startswith("$ "):
            commands.append((line[2:], []))
        else:
            commands[-1][1].append(line)
    return commands


def make_pattern(lines):
    """Returns True if the output matches: a line "..." stands for any lines, "..." in a line for
    any text."""
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


def run_page(page, tmp_path, work, most_seconds=300):
    """Runs the commands of a page in a folder; returns their number."""
    tools = tmp_path / "bin"
    tools.mkdir()
    python = tools / "python3"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    aquant = tools / "aquant"  # an entry point of the package
    program = "from adze._tools import aquant; aquant()"
    aquant.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{program}" "$@"\n')
    aquant.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tools}:{TOOLS}:{os.environ['PATH']}", "LC_ALL": "C"}
    count = 0
    for language, title, body in FENCE.findall(page.read_text()):
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
                    timeout=most_seconds,
                )
                assert done.returncode == 0, f"$ {command}\n{done.stdout}"
                assert re.fullmatch(make_pattern(expected), done.stdout), (
                    f"$ {command}\n{done.stdout}"
                )
                count += 1
    return count


def test_onnxruntime_page(tmp_path):
    from ort_sessions import VERSION

    if VERSION < (1, 24):
        pytest.skip("the page needs ONNX Runtime 1.24")
    work = tmp_path / "work"
    work.mkdir()
    for name in ("docs", "examples"):
        (work / name).symlink_to(ROOT / name)
    assert run_page(ROOT / "docs" / "onnxruntime.md", tmp_path, work) >= 6


def test_quantisation_page(tmp_path):
    pytest.importorskip("onnx")
    if not shutil.which("atranslate", path=TOOLS):
        pytest.skip("no atranslate")
    work = tmp_path / "work"
    work.mkdir()
    for name in ("docs", "examples"):
        (work / name).symlink_to(ROOT / name)
    assert run_page(ROOT / "docs" / "guides" / "quantisation.md", tmp_path, work) >= 8


@pytest.mark.parametrize(
    "name, modules",
    [
        ("python", []),
        ("http-server", ["fastapi", "uvicorn"]),
        ("chat", ["fastapi", "uvicorn", "tokenizers", "jinja2"]),
        ("ray-serve", ["ray.serve"]),
    ],
)
def test_example(name, modules, tmp_path):
    for module in modules:
        pytest.importorskip(module)
    if not shutil.which("atranslate", path=TOOLS):
        pytest.skip("no atranslate")
    examples = tmp_path / "examples"
    examples.mkdir()
    shutil.copytree(ROOT / "examples" / name, examples / name)
    (examples / "digits").symlink_to(ROOT / "examples" / "digits")
    (tmp_path / "benchmarks").symlink_to(ROOT / "benchmarks")
    assert run_page(examples / name / "README.md", tmp_path, examples / name) >= 1


IMAGES = """
<ir_version: 8, opset_import: ["" : 18]>
images (float[batch, 1, 28, 28] image) => (float[batch, 784] logits) { logits = Flatten(image) }
"""

CACHE = """
<ir_version: 8, opset_import: ["" : 18]>
step (float[1, 8, P, 64] past_k, float[1, 8, 1, 64] x) => (float[1, 8, R, 64] present_k, float[1, 8, 1, 64] y) {
  present_k = Concat<axis = 2>(past_k, x)
  y = Relu(x)
}
"""


def make_images():
    pathlib.Path("model.onnx").write_bytes(parse(IMAGES))
    return {"torch": types.SimpleNamespace(compile=lambda net, backend: net), "net": None}


def make_generator():
    adze.compile(ROOT / "examples" / "models" / "decoder.onnx").save("model.so")
    generator = adze.Generator(adze.load("model.so"))
    small = types.SimpleNamespace(guess=lambda tokens, most: [1] * most)
    return {"generator": generator, "prompt": [1, 5, 2], "other": [4, 4], "small": small, "adze": adze}


def make_cache():
    module = adze.compile(parse(CACHE))
    x = np.ones((1, 8, 1, 64), np.float32)
    return {"numpy": np, "module": module, "length": 7, "x": x, "y": np.zeros_like(x)}


@pytest.mark.parametrize(
    "page, number, prepare, check",
    [
        ("docs/python.md", 0, make_images, lambda n: n["logits"].shape == (8, 784)),
        ("docs/python.md", 1, make_generator, lambda n: len(n["answers"]) == 2),
        ("docs/guides/generation.md", 0, make_generator, lambda n: n["sequence"] is not None),
        ("docs/runtime.md", 0, make_cache, lambda n: n["cache"][0, 0, 7, 0] == 1 and n["y"].all()),
        ("python/README.md", 0, make_images, lambda n: n["module"].inputs[0].name == "image"),
    ],
)
def test_fragment(page, number, prepare, check, tmp_path, monkeypatch):
    """Blocks without a title run in this process, with the variables that the page assumes."""
    monkeypatch.chdir(tmp_path)
    blocks = [
        body
        for language, title, body in FENCE.findall((ROOT / page).read_text())
        if language == "python" and not title
    ]
    names = prepare()
    exec(compile(blocks[number], page, "exec"), names)  # noqa: S102
    assert check(names)
