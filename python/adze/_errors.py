# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Statuses of the run time as exceptions."""

from __future__ import annotations

from typing import Any

from ._libraries import runtime

_NAMES = {
    1: "invalid argument",
    2: "invalid module",
    3: "unsupported",
    4: "input or output",
    5: "out of memory",
    6: "device",
    7: "run",
    8: "internal",
}


class AdzeError(RuntimeError):
    """A call of the run time failed.

    Attributes:
        code: Number of the kind of error (``adze_code`` of ``adze.h``).
        kind: The kind of error as text: "invalid argument", "invalid module",
            "unsupported", "input or output", "out of memory", "device", "run"
            (a data-dependent error of the model) or "internal".
    """

    def __init__(self, message: str, code: int = 8) -> None:
        super().__init__(message)
        self.code = code
        self.kind = _NAMES.get(code, "internal")


class ArgumentError(AdzeError, ValueError):
    """An input, output or option is wrong: its name, shape, dtype or device."""

    def __init__(self, message: str, code: int = 1) -> None:
        super().__init__(message, code)


class _MemoryError(AdzeError, MemoryError):
    """The run time could not allocate memory."""


def check_status(status: Any) -> None:
    """Raises the exception of a status of the run time; None is success."""
    if not status:
        return
    rt = runtime()
    code = rt.adze_status_code(status)
    message = rt.adze_status_message(status).decode("utf-8", "replace")
    rt.adze_status_free(status)
    if code == 1:
        raise ArgumentError(message)
    if code == 5:
        raise _MemoryError(message, code)
    raise AdzeError(message, code)
