# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""adze.compile and adze.check: models, options, errors, progress."""

from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

import adze
from conftest import AFFINE, DIGITS, REFUSED, parse

X = np.array([[1, -1], [0.5, -0.25]], np.float32)
Y = np.array([[3, 0], [2, 0.5]], np.float32)


def test_version():
    assert "LLVM 22" in adze.compiler_version()
    assert adze.__version__[0].isdigit()


@pytest.mark.parametrize("form", ["path", "pathlib", "bytes", "proto"])
def test_forms_of_a_model(form, tmp_path):
    onnx = pytest.importorskip("onnx")
    data = parse(AFFINE)
    path = tmp_path / "affine.onnx"
    path.write_bytes(data)
    model = {
        "path": str(path),
        "pathlib": path,
        "bytes": data,
        "proto": onnx.load_model_from_string(data),
    }[form]
    np.testing.assert_array_equal(adze.compile(model)(X), Y)


def test_output_file(tmp_path):
    path = tmp_path / "affine.so"
    module = adze.compile(parse(AFFINE), output=path)
    np.testing.assert_array_equal(module(X), Y)
    np.testing.assert_array_equal(adze.load(path)(X), Y)


def test_external_data(tmp_path):
    onnx = pytest.importorskip("onnx")
    model = onnx.load(DIGITS / "digits.onnx")
    onnx.save_model(
        model, tmp_path / "m.onnx", save_as_external_data=True, location="w.bin", size_threshold=0
    )
    data = (tmp_path / "m.onnx").read_bytes()
    module = adze.compile(data, name=str(tmp_path / "m.onnx"))
    samples, reference = np.load(DIGITS / "samples.npy"), np.load(DIGITS / "reference.npy")
    np.testing.assert_allclose(module(samples), reference, rtol=1e-3, atol=1e-5)
    with pytest.raises(adze.CompileError, match="w.bin"):
        adze.compile(data, name=str(tmp_path / "elsewhere" / "m.onnx"))


def test_weights_in_a_file(tmp_path):
    path = tmp_path / "digits.so"
    adze.compile(DIGITS / "digits.onnx", output=path, options={"weights": "file"})
    assert (tmp_path / "digits.weights").stat().st_size > 20000
    with pytest.raises(adze.CompileError, match="needs an output file"):
        adze.compile(DIGITS / "digits.onnx", options={"weights": "file"})


def test_memory(tmp_path):
    """Compiling takes twice the memory of the weights, beside what a small model takes."""
    onnx = pytest.importorskip("onnx")
    code = "import adze, sys; adze.compile(sys.argv[1], output=sys.argv[2]);"
    code += "print(next(x.split()[1] for x in open('/proc/self/status') if x.startswith('VmHWM')))"
    peaks = []
    for size in (8, 6000):
        weights = np.random.default_rng(0).standard_normal((size, size), np.float32)
        model = onnx.load_model_from_string(parse("""
            <ir_version: 8, opset_import: ["" : 18]>
            product (float[1, N] x) => (float[1, N] y) { y = MatMul(x, w) }"""))
        model.graph.initializer.append(onnx.numpy_helper.from_array(weights, "w"))
        onnx.save(model, tmp_path / "m.onnx")
        command = [sys.executable, "-c", code, tmp_path / "m.onnx", tmp_path / "m.so"]
        kibibytes = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
        peaks.append(int(kibibytes) << 10)
    assert peaks[1] - peaks[0] < 2.2 * weights.nbytes


def test_dims():
    assert adze.compile(parse(AFFINE), dims={"N": 3}).inputs[0].shape == (3, 2)
    bounded = adze.compile(parse(AFFINE), dims={"N": (1, 4)})
    assert bounded.inputs[0].shape == ("N", 2)
    assert bounded.inputs[0].ranges[0] == (1, 4, 1)
    with pytest.raises(adze.ArgumentError, match="expected dim 0"):
        bounded(np.zeros((5, 2), np.float32))
    assert adze.compile(parse(AFFINE), dims={"N": "2..8:4"}).inputs[0].ranges[0][:2] == (2, 8)
    assert adze.compile(parse(AFFINE), shapes={"x": (7, None)}).inputs[0].shape == (7, 2)
    with pytest.raises(ValueError, match="least"):
        adze.compile(parse(AFFINE), dims={"N": (1, 2, 3, 4)})


def test_refused_node():
    with pytest.raises(adze.CompileError, match="node 'second'") as caught:
        adze.compile(parse(REFUSED), name="refused.onnx")
    error = caught.value
    assert error.status == "unsupported"
    assert error.unsupported == ["second"]
    diagnostic, summary = error.diagnostics
    assert summary.severity == "note"
    assert "1 node cannot be imported" in summary.message
    assert diagnostic.severity == "error"
    assert diagnostic.file == "refused.onnx"
    assert diagnostic.op == "com.example.Blur-1"
    assert diagnostic.message.startswith("expected an operator of ai.onnx")
    assert str(diagnostic) == str(error)


@pytest.mark.parametrize(
    "keywords, status, text",
    [
        ({"precision": "f9"}, "usage", "expected --precision="),
        ({"precision": "f16", "options": {"mcpu": "x86-64-v3"}}, "unsupported", "--precision=f16"),
        ({"target": "abacus"}, "usage", "expected --target="),
        ({"options": {"no_such": 1}}, "usage", "unknown option 'no-such'"),
        ({"options": {"mcpu": "z80"}}, "usage", "unknown CPU"),
        ({"options": {"plugin": "p.so"}}, "usage", "command line only"),
        ({"optimize": 9}, "usage", "expected -O0"),
        ({"dims": {"M": 1}}, "input", "M"),
    ],
)
def test_wrong_options(keywords, status, text):
    with pytest.raises(adze.CompileError, match=text) as caught:
        adze.compile(parse(AFFINE), **keywords)
    assert caught.value.status == status


def test_wrong_models():
    with pytest.raises(adze.CompileError, match="nothing.onnx") as caught:
        adze.compile("nothing.onnx")
    assert caught.value.status == "input"
    with pytest.raises(adze.CompileError, match="not an ONNX file"):
        adze.compile(b"no model")
    with pytest.raises(TypeError, match="expected the path of a model"):
        adze.compile(3)


def test_check():
    result = adze.check(parse(AFFINE), name="a.onnx")
    assert (result["model"], result["compiles"], result["issues"]) == ("a.onnx", True, [])
    assert (result["nodes"], result["supported"]) == (3, 3)
    result = adze.check(parse(REFUSED))
    assert not result["compiles"]
    (issue,) = result["issues"]
    assert (issue["node"], issue["index"], issue["kind"]) == ("second", 1, "unsupported")
    with pytest.raises(adze.CompileError, match="--dim N=x"):
        adze.check(parse(AFFINE), dims={"N": "x"})


def test_cache(tmp_path):
    first = adze.compile(parse(AFFINE), cache=tmp_path, options={"v": True})
    second = adze.compile(parse(AFFINE), cache=tmp_path, options={"v": True})
    assert not any("from the cache" in d.message for d in first.diagnostics)
    assert any("from the cache" in d.message for d in second.diagnostics)
    np.testing.assert_array_equal(second(X), Y)


def test_progress():
    steps = []
    adze.compile(DIGITS / "digits.onnx", progress=lambda *step: steps.append(step))
    stages = list(dict.fromkeys(stage for stage, _, _ in steps))
    assert stages == ["import", "graph", "tile", "linalg", "host", "kernel", "llvm", "link"]
    kernels = [(done, total) for stage, done, total in steps if stage == "kernel"]
    assert kernels[0][0] == 0 and kernels[-1][0] == kernels[-1][1] > 1


def test_progress_that_raises_cancels():
    class Enough(Exception):
        pass

    steps = []

    def stop(stage, done, total):
        steps.append(stage)
        if stage == "tile":
            raise Enough

    with pytest.raises(Enough):
        adze.compile(DIGITS / "digits.onnx", progress=stop)
    assert steps[-1] == "tile"


def test_ctrl_c_cancels():
    script = (
        "import adze, os, signal\n"
        # A background process may begin with the signal ignored.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "def stop(stage, done, total):\n"
        "    if stage == 'kernel': os.kill(os.getpid(), signal.SIGINT)\n"
        "try:\n"
        f"    adze.compile({str(DIGITS / 'digits.onnx')!r}, progress=stop, jobs=1)\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted')\n"
        "print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=100
    )
    assert done.stdout == "interrupted\nTrue\n", done.stderr


def test_compilations_at_once():
    results = {}

    def work(i):
        try:
            results[i] = adze.compile(parse(AFFINE if i % 2 else REFUSED))(X)
        except adze.CompileError as error:
            results[i] = error.status

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i in range(4):
        if i % 2:
            np.testing.assert_array_equal(results[i], Y)
        else:
            assert results[i] == "unsupported"


@pytest.mark.parametrize("tool", ["atranslate", "arun", "aopt"])
def test_tools(tool, tmp_path):
    script = f"import sys; from adze._tools import {tool} as run; sys.argv[0] = {tool!r}; run()"
    command = [sys.executable, "-c", script]
    version = subprocess.run([*command, "--version"], capture_output=True, text=True)
    assert version.returncode == 0 and version.stdout.startswith("Adze ")
    wrong = subprocess.run([*command, "--no-such-flag"], capture_output=True, text=True)
    assert wrong.returncode != 0 and "no-such-flag" in wrong.stderr


def test_versions():
    def ask(tool):
        script = f"from adze._tools import {tool}; {tool}()"
        command = [sys.executable, "-c", script, "--version"]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    assert ask("aquant") == ask("atranslate")
    assert adze.compiler_version() in ask("aquant")


def test_tools_together(tmp_path):
    def run(tool, *args):
        script = f"from adze._tools import {tool} as run; run()"
        return subprocess.run(
            [sys.executable, "-c", script, *args], capture_output=True, text=True, check=True
        ).stdout

    module = tmp_path / "digits.so"
    run("atranslate", str(DIGITS / "digits.onnx"), "-o", str(module))
    assert "latency" in run("arun", str(module), "--random")


def test_typed():
    folder = pathlib.Path(os.path.dirname(adze.__file__))
    assert (folder / "py.typed").exists()
