# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Adze: ahead-of-time compilation of ONNX models to loadable modules.

    import adze
    module = adze.compile("model.onnx", dims={"batch": (1, 64)})
    logits = module(image)          # numpy in, numpy out; torch in, torch out
    module.save("model.so")         # later: adze.load("model.so")

Modules may be called from any number of threads: the GIL is released during a run.

``adze.get_library_path()`` is the library of the execution provider, with which
ONNX Runtime runs models by Adze.
"""

from ._compile import CompileError, Diagnostic, check, compile
from ._errors import AdzeError, ArgumentError
from ._generate import Generator, GeneratorInfo, TokenSequence
from ._libraries import compiler_version
from ._module import Context, Module, Profile, StateInfo, ValueInfo, load
from ._onnxruntime import get_ep_name, get_ep_names, get_library_path
from ._tensor import Tensor
from .quantization import quantize

__all__ = [
    "AdzeError",
    "ArgumentError",
    "CompileError",
    "Context",
    "Diagnostic",
    "Generator",
    "GeneratorInfo",
    "Module",
    "Profile",
    "StateInfo",
    "Tensor",
    "TokenSequence",
    "ValueInfo",
    "check",
    "compile",
    "compiler_version",
    "get_ep_name",
    "get_ep_names",
    "get_library_path",
    "load",
    "quantize",
]


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("adze")
    except PackageNotFoundError:  # a source tree
        return compiler_version().split()[1]


__version__ = _version()
del _version
