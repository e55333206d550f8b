# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""The tool ``aquant``."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import subprocess
import sys
import time
from typing import Any, Iterator, Sequence

# Statuses of atranslate, and the status of an interrupted program.
_STATUSES = {"input": 1, "usage": 2, "unsupported": 3, "cancelled": 4, "defect": 70}
_INTERRUPTED = 130

_DESCRIPTION = """Quantizes the matrix products and convolutions of an f32 model.

Example: aquant model.onnx --data samples.npz -o model.int8.onnx
"""

_EPILOG = """\
Data: FILE.npz has an array for each input, by name; its first dim counts samples. FILE.npy
is the array of a model with one input. In a folder, each file has the inputs of one run.

With data, a table of the error of each layer is printed: the signal-to-noise ratio in dB of
the weight, and of the layer's output relative to that of the f32 model.

Exit statuses: 0 success, 1 an error of the model or the data, 2 a usage error, 3 the model is
not supported, 4 cancelled, 70 an internal error, 130 interrupted.
"""


class _Help(argparse.RawDescriptionHelpFormatter):
    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=28, width=100)


class _Parser(argparse.ArgumentParser):
    def print_help(self, file: Any = None) -> None:
        # argparse drops the error of a write, which an unbuffered stream raises at once.
        print(self.format_help(), end="", file=file)


def _make_parser() -> argparse.ArgumentParser:
    parser = _Parser(
        "aquant",
        usage="aquant [options] MODEL.onnx -o OUTPUT.onnx",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=_Help,
        allow_abbrev=False,
    )

    def choice(group: Any, flag: str, default: Any, choices: Sequence[Any], text: str) -> None:
        names = "|".join(map(str, choices))
        kind = int if isinstance(default, int) else str
        group.add_argument(
            flag, default=default, choices=choices, type=kind, metavar=f"<{names}>", help=text
        )

    parser.add_argument("model", metavar="MODEL.onnx", help="the f32 model")
    parser.add_argument(
        "-o", dest="output", required=True, metavar="<FILE>", help="the quantized model"
    )
    parser.add_argument("--data", metavar="<DIR|FILE>", help="calibration data: .npz or .npy")
    parser.add_argument(
        "--labels",
        metavar="<FILE.npy>",
        help="classes of the samples, to print the accuracy before and after",
    )
    parser.add_argument(
        "--batch", type=int, default=32, metavar="<N>", help="samples in a run (32)"
    )
    choice(
        parser,
        "--mode",
        "static",
        ("static", "dynamic", "weights"),
        "static: activations by scales from the data (default); dynamic: activations at run "
        "time; weights: only weights of matrix products, by blocks",
    )
    parser.add_argument(
        "--keep",
        action="append",
        default=[],
        metavar="<NAME[,..]>",
        help="nodes that stay in f32, by name or pattern (head.*); may be repeated",
    )
    parser.add_argument(
        "--op-types",
        metavar="<OP[,..]>",
        help="operators to quantize: Conv, Gemm, MatMul, Add, Concat, AveragePool and "
        "GlobalAveragePool by default; Mul is also supported",
    )
    parser.add_argument(
        "--balance",
        type=float,
        metavar="<0..1>",
        help="move a part of the range of activation channels to the weights (SmoothQuant; "
        ".5 is usual)",
    )
    parser.add_argument(
        "--bias-correction",
        action="store_true",
        help="correct biases by the change of channel means that rounding the weights causes",
    )
    parser.add_argument(
        "--per-tensor",
        action="store_true",
        help="one scale for each weight instead of one for each channel",
    )
    choice(
        parser,
        "--symmetric",
        "weights",
        ("weights", "all", "none"),
        "tensors without a zero point: weights (default), weights and activations, or none",
    )
    choice(
        parser,
        "--weights-method",
        "auto",
        ("auto", "minmax", "mse"),
        "the range of weights: all values, or the range of the least squared error; auto is "
        "mse for 4 bits",
    )
    parser.add_argument("-q", dest="quiet", action="store_true", help="print errors only")
    parser.add_argument("--version", action="store_true", help="print the version and exit")

    static = parser.add_argument_group("static")
    choice(
        static,
        "--method",
        "minmax",
        ("minmax", "percentile", "entropy", "mse"),
        "the range of activations: all values (default), all but outliers, the range of the "
        "least KL divergence, or of the least squared error",
    )
    static.add_argument(
        "--percentile",
        type=float,
        default=99.99,
        metavar="<P>",
        help="the percentage of values in the range of --method=percentile (99.99)",
    )
    choice(static, "--activations", "u8", ("u8", "i8"), "the type of activations (u8)")
    static.add_argument(
        "--reduce-range",
        action="store_true",
        help="weights of 7 bits, for x86 CPUs without VNNI; also with --mode=dynamic",
    )

    weights = parser.add_argument_group("weights by blocks")
    choice(weights, "--bits", 4, (4, 8), "bits of each weight (4)")
    weights.add_argument(
        "--block", type=int, default=32, metavar="<N>", help="weights that share a scale (32)"
    )
    choice(
        weights,
        "--format",
        "nbits",
        ("nbits", "qdq"),
        "MatMulNBits (default), or DequantizeLinear of opset 21",
    )
    choice(
        weights,
        "--accuracy-level",
        0,
        (0, 4),
        "attribute of MatMulNBits: 4 allows activations of 8 bits, 0 does not (default)",
    )
    return parser


class _Bar:
    """A progress bar on standard error, if that is a terminal."""

    def __init__(self) -> None:
        self._is_on = sys.stderr.isatty()
        self._last = 0.0
        self._width = 0

    def __call__(self, what: str, done: int, total: int) -> None:
        now = time.monotonic()
        if not self._is_on or (done < total and done > 0 and now - self._last < 0.1):
            return
        self._last = now
        filled = 30 * done // max(total, 1)
        text = f"{what:<10} [{'#' * filled}{'.' * (30 - filled)}] {done}/{total}"
        self._width = max(self._width, len(text))
        print("\r" + text.ljust(self._width), end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        if self._width:
            print("\r" + " " * self._width + "\r", end="", file=sys.stderr, flush=True)
            self._width = 0


def _split(values: Sequence[str]) -> list[str]:
    return [part for value in values for part in value.split(",") if part]


def _quantize(args: argparse.Namespace, bar: _Bar) -> str | None:
    from . import quantize

    result = quantize(
        args.model,
        args.data,
        output=args.output,
        mode=args.mode,
        method=args.method,
        percentile=args.percentile,
        per_channel=not args.per_tensor,
        symmetric=args.symmetric,
        activations=args.activations,
        weights_method=args.weights_method,
        reduce_range=args.reduce_range,
        bits=args.bits,
        block=args.block,
        format=args.format,
        accuracy_level=args.accuracy_level,
        balance=args.balance,
        bias_correction=args.bias_correction,
        keep=_split(args.keep),
        op_types=None if args.op_types is None else _split([args.op_types]),
        batch=args.batch,
        labels=args.labels,
        progress=bar,
    )
    bar.clear()
    if not args.quiet:
        return result.table()
    return None


def _run(arguments: Sequence[str]) -> int:
    parser = _make_parser()
    if "--version" in arguments:
        from .._tools import find

        return subprocess.run([find("atranslate"), "--version"], check=False).returncode
    args = parser.parse_args(arguments)
    from .._compile import CompileError
    from .._errors import AdzeError
    from ._settings import SettingError

    needed = {
        "--mode=static": args.mode == "static",
        "--balance": args.balance is not None,
        "--bias-correction": args.bias_correction,
        "--labels": args.labels is not None,
    }
    for flag in (flag for flag, is_needed in needed.items() if is_needed and not args.data):
        parser.error(f"{flag} needs calibration data: give some by --data")
    bar = _Bar()
    try:
        table = _quantize(args, bar)
    except CompileError as error:
        bar.clear()
        print(f"error: {error}", file=sys.stderr)
        return _STATUSES.get(error.status, 1)
    except SettingError as error:
        bar.clear()
        print(f"error: --{str(error).replace('_', '-', 1)}", file=sys.stderr)
        return _STATUSES["usage"]
    except (AdzeError, ImportError) as error:
        bar.clear()
        print(f"error: {error}", file=sys.stderr)
        return _STATUSES["input"]
    except OSError as error:  # of a write it has no name
        bar.clear()
        print(f"error: {error.filename or args.output}: {error.strerror}", file=sys.stderr)
        return _STATUSES["input"]
    except KeyboardInterrupt:
        bar.clear()
        return _INTERRUPTED
    if table is not None:
        print(table)
    return 0


class _Ended(BaseException):
    """A signal ends the process: partial outputs are removed first."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextlib.contextmanager
def _ends_by_signals() -> Iterator[None]:
    numbers = (signal.SIGTERM, signal.SIGHUP)

    def end(number: int, _: object) -> None:
        for other in numbers:  # a second one would end the removal
            signal.signal(other, signal.SIG_IGN)
        raise _Ended(number)

    known = {n: signal.getsignal(n) for n in numbers}
    caught = [n for n in numbers if known[n] == signal.SIG_DFL]  # nohup ignores one
    for number in caught:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in caught:
            signal.signal(number, known[number])


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the tool; returns its exit status."""
    try:
        try:
            with _ends_by_signals():
                status = _run(sys.argv[1:] if arguments is None else arguments)
        except SystemExit as end:  # argparse's --help and refusals
            status = end.code if isinstance(end.code, int) else 0
        sys.stdout.flush()
        return status
    except _Ended as end:
        os.kill(os.getpid(), end.number)
        return 128 + end.number
    except OSError as error:
        print(f"error: standard output: {error.strerror}", file=sys.stderr)
        # The interpreter would write it again, and end with a status of its own.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _STATUSES["input"]
