# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""The command line tools of the package."""

from __future__ import annotations

import os
import sys

from ._libraries import folder


def find(name: str) -> str:
    """Returns the path of a tool of this package."""
    path = os.path.join(folder(), name)
    if not os.path.exists(path):  # a build tree: lib/ and bin/
        path = os.path.join(folder(), os.pardir, "bin", name)
    return path


def _run(name: str) -> None:
    os.execv(find(name), [name, *sys.argv[1:]])


def atranslate() -> None:
    """Compiles a model: ``atranslate model.onnx -o model.so``."""
    _run("atranslate")


def arun() -> None:
    """Runs a module: ``arun model.so --random --bench``."""
    _run("arun")


def aopt() -> None:
    """Runs passes over MLIR text: ``aopt --adze-graph text.mlir``."""
    _run("aopt")


def aquant() -> None:
    """Quantizes a model: ``aquant model.onnx --data samples.npz -o model.int8.onnx``."""
    from .quantization._cli import main

    sys.exit(main())
