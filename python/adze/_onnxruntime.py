# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""The path of the execution provider for ONNX Runtime."""

from __future__ import annotations

import os

from ._libraries import folder

_NAME = "AdzeExecutionProvider"


def get_library_path() -> str:
    """Returns the absolute path of the execution provider's library, for
    ``onnxruntime.register_execution_provider_library``.

    Raises:
        ImportError: The package was built without it.
    """
    path = os.path.abspath(os.path.join(folder(), "libonnxruntime_ep_adze.so"))
    if not os.path.exists(path):
        raise ImportError(f"{path}: expected the execution provider's library, but there is none")
    return path


def get_ep_name() -> str:
    """Returns the name of the execution provider: "AdzeExecutionProvider"."""
    return _NAME


def get_ep_names() -> list[str]:
    """Returns the names of all execution providers of the library."""
    return [_NAME]
