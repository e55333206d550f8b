# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""adze.quantize and aquant: errors of quantized models, and equality with ONNX Runtime."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import numpy as np
import pytest
from conftest import DIGITS, ROOT

import adze

onnx = pytest.importorskip("onnx")
SAMPLES, LABELS = np.load(DIGITS / "samples.npy"), np.load(DIGITS / "labels.npy")
CALIBRATION, HELD_OUT = SAMPLES[:100], SAMPLES[100:]


def make(text):
    return onnx.parser.parse_model(text)


def op_types(model):
    return [node.op_type for node in model.graph.node]


def constant(model, name):
    tensors = {tensor.name: tensor for tensor in model.graph.initializer}
    return onnx.numpy_helper.to_array(tensors[name])


def run_onnxruntime(model, *inputs):
    onnxruntime = pytest.importorskip("onnxruntime")
    options = onnxruntime.SessionOptions()
    # Else sums saturate on CPUs without VNNI (onnxruntime_session_options_config_keys.h).
    options.add_session_config_entry("session.x64quantprecision", "1")
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    names = [value.name for value in session.get_inputs()]
    return session.run(None, dict(zip(names, inputs)))


def snr(expected, got):
    noise = np.square(expected - got).sum()
    return 10 * np.log10(np.square(expected).sum() / max(noise, 1e-30))


def random_mlp(rng, depth=64, hidden=96, batch="N", channels=None):
    """A model of LayerNormalization, MatMul, Add, Relu, MatMul; `channels` scales the input's
    channels."""
    model = make(
        f"""
        <ir_version: 8, opset_import: ["" : 17]>
        mlp (float[{batch}, 6, {depth}] x) => (float[{batch}, 6, 8] y)
        <float[{depth}] gamma = {{{", ".join("1" for _ in range(depth))}}}> {{
          [norm] n = LayerNormalization<axis = -1>(x, gamma)
          [up] h = MatMul(n, w0)
          [bias] b = Add(h, b0)
          [act] r = Relu(b)
          [down] y = MatMul(r, w1)
        }}"""
    )
    if channels is not None:
        tensor = onnx.numpy_helper.from_array(channels.astype(np.float32), "gamma")
        model.graph.initializer[0].CopyFrom(tensor)
    weights = {
        "w0": rng.standard_normal((depth, hidden)) / 8,
        "b0": rng.standard_normal(hidden),
        "w1": rng.standard_normal((hidden, 8)) / 8,
    }
    for name, array in weights.items():
        tensor = onnx.numpy_helper.from_array(array.astype(np.float32), name)
        model.graph.initializer.append(tensor)
    return model


@pytest.mark.parametrize("method", ["minmax", "percentile", "entropy", "mse"])
def test_static_methods_keep_the_accuracy(method):
    result = adze.quantize(DIGITS / "digits.onnx", CALIBRATION, method=method)
    logits = adze.compile(result.model)(HELD_OUT)
    reference = np.load(DIGITS / "reference.npy")[100:]
    accuracy = (logits.argmax(axis=1) == LABELS[100:]).mean()
    assert accuracy >= (reference.argmax(axis=1) == LABELS[100:]).mean() - 0.005
    assert snr(reference, logits) > 30
    assert result.bytes_after < 0.5 * result.bytes_before
    # Sums are exact; a result in the middle of two steps may be rounded to the other one.
    (other,) = run_onnxruntime(result.model, HELD_OUT)
    assert np.mean(np.abs(logits - other) > 1e-4) < 0.01
    assert np.abs(logits - other).max() < 0.01 * np.ptp(reference)


def test_methods_choose_different_ranges():
    x = np.random.default_rng(0).standard_normal((64, 6, 64)).astype(np.float32)
    x[0, 0, 0] = 1000  # an outlier: LayerNormalization makes it 8
    scales = {}
    for method in ("minmax", "percentile", "entropy", "mse"):
        model = random_mlp(np.random.default_rng(1))
        result = adze.quantize(model, x, method=method, percentile=99.9)
        scales[method] = float(constant(result.model, "n_scale"))
    assert scales["mse"] < scales["minmax"]  # a little: the outlier's error counts
    assert max(scales["percentile"], scales["entropy"]) < 0.7 * scales["minmax"]


@pytest.mark.parametrize(
    "settings",
    [
        {"activations": "i8"},
        {"symmetric": "all"},
        {"symmetric": "all", "activations": "i8"},
        {"symmetric": "none"},
        {"per_channel": False},
        {"reduce_range": True},
        {"balance": 0.5, "bias_correction": True},
        {"mode": "dynamic"},
        {"mode": "dynamic", "per_channel": False, "bias_correction": True},
        {"mode": "weights", "bits": 8},
        {"mode": "weights", "bits": 8, "format": "qdq", "symmetric": "none"},
        {"mode": "weights", "symmetric": "none", "block": 64},
        {"mode": "weights", "accuracy_level": 4, "bias_correction": True},
    ],
    ids=lambda s: "-".join(map(str, s.values())),
)
@pytest.mark.parametrize("name", ["digits", "mlp"])
def test_settings_agree_with_onnxruntime(name, settings):
    rng = np.random.default_rng(3)
    if name == "digits":
        model, x = onnx.load(DIGITS / "digits.onnx"), SAMPLES[:50]
    else:
        model, x = random_mlp(rng), rng.standard_normal((50, 6, 64)).astype(np.float32)
    reference = adze.compile(model)(x)
    result = adze.quantize(model, x, **settings)
    onnx.checker.check_model(result.model)
    got = adze.compile(result.model)(x)
    (other,) = run_onnxruntime(result.model, x)
    few_bits = settings.get("mode") == "weights" and settings.get("bits", 4) == 4
    assert snr(reference, got) > (15 if few_bits else 30)
    # Both round activations, not always to the same of two steps; ONNX Runtime also does so if
    # weights by blocks are dequantized.
    is_rounded = settings.get("accuracy_level") or settings.get("format") == "qdq"
    assert snr(other, got) > (35 if is_rounded else 45)
    assert result.layers[-1].output_snr == pytest.approx(snr(reference, got), abs=1)


def test_static_products_are_of_integers(tmp_path):
    result = adze.quantize(DIGITS / "digits.onnx", CALIBRATION, output=tmp_path / "m.onnx")
    assert op_types(onnx.load(tmp_path / "m.onnx")) == op_types(result.model)
    assert "BatchNormalization" not in op_types(result.model)
    # One pair before each of three products, and around data movement between them.
    assert op_types(result.model).count("QuantizeLinear") == 6
    atranslate = ROOT / "build" / "bin" / "atranslate"
    if not atranslate.exists():
        pytest.skip("no atranslate")
    command = [atranslate, tmp_path / "m.onnx", "--mcpu=znver4", "--stats", "-o", tmp_path / "m.so"]
    stats = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "graph-form-integer-products: formed = 3" in stats.stdout + stats.stderr


def test_residual_between_products():
    rng = np.random.default_rng(0)
    model = make(
        """
        <ir_version: 8, opset_import: ["" : 17]>
        block (float[N, 8, 6, 6] x) => (float[N, 8, 6, 6] y, float[N, 16, 6, 6] z) {
          [a] a = Conv<pads = [1, 1, 1, 1]>(x, w0)
          [b] b = Relu(a)
          [c] c = Conv<pads = [1, 1, 1, 1]>(b, w1)
          [sum] s = Add(c, b)
          [d] d = Relu(s)
          [y] y = Conv<pads = [1, 1, 1, 1]>(d, w2)
          [cat] e = Concat<axis = 1>(b, d)
          [z] z = Conv(e, w3)
        }"""
    )
    shapes = [(8, 8, 3, 3)] * 3 + [(16, 16, 1, 1)]
    for i, shape in enumerate(shapes):
        array = (rng.standard_normal(shape) / 6).astype(np.float32)
        model.graph.initializer.append(onnx.numpy_helper.from_array(array, f"w{i}"))
    x = rng.standard_normal((16, 8, 6, 6)).astype(np.float32)
    result = adze.quantize(model, x)
    nodes = {node.name: node for node in result.model.graph.node}
    # The sum has dequantized operands, and all operands of a concatenation share one scale.
    producers = {o: node for node in result.model.graph.node for o in node.output}
    operands = [producers[name] for name in [*nodes["sum"].input, *nodes["cat"].input]]
    assert {node.op_type for node in operands} == {"DequantizeLinear"}
    assert len({node.input[1] for node in operands[2:]}) == 1
    reference, got = adze.compile(model)(x), adze.compile(result.model)(x)
    other = run_onnxruntime(result.model, x)
    for expected, mine, its in zip(reference, got, other):
        assert snr(expected, mine) > 28
        assert snr(its, mine) > 45
    # A sum that is kept in f32 has f32 operands.
    kept = adze.quantize(model, x, keep=["sum"])
    nodes = {node.name: node for node in kept.model.graph.node}
    assert nodes["sum"].input[0] == "c"


def test_keep_and_op_types():
    kept = adze.quantize(DIGITS / "digits.onnx", CALIBRATION, keep=["conv*"])
    assert [e.name for e in kept.layers] == ["fc", "logits"]
    chosen = adze.quantize(DIGITS / "digits.onnx", mode="dynamic", op_types=["Conv"])
    assert [e.name for e in chosen.layers] == ["conv1", "conv2"]
    assert op_types(chosen.model).count("ConvInteger") == 2
    assert "Gemm" in op_types(chosen.model)
    model = onnx.load(DIGITS / "digits.onnx")
    model.graph.node[0].name = "layers[0]"  # a name, though a pattern too
    kept = adze.quantize(model, mode="dynamic", keep=["layers[0]"])
    assert [e.name for e in kept.layers] == ["conv2", "fc"]


def test_balance_evens_out_channels():
    rng = np.random.default_rng(5)
    channels = np.ones(64)
    channels[[3, 40]] = 80  # as transformers have them
    model = random_mlp(rng, channels=channels)
    weight = onnx.numpy_helper.to_array(model.graph.initializer[1]).copy()
    weight[[3, 40]] /= 80
    model.graph.initializer[1].CopyFrom(onnx.numpy_helper.from_array(weight, "w0"))
    x = rng.standard_normal((32, 6, 64)).astype(np.float32)
    reference = adze.compile(model)(x)
    plain, balanced = adze.quantize(model, x), adze.quantize(model, x, balance=0.5)
    assert balanced.balanced == 2  # the norm's result, and the bounded sum
    losses = [snr(reference, adze.compile(r.model)(x)) for r in (plain, balanced)]
    assert losses[1] > losses[0] + 6


def test_bias_correction_keeps_means():
    rng = np.random.default_rng(7)
    model = random_mlp(rng)
    x = (rng.standard_normal((64, 6, 64)) + 1).astype(np.float32)
    reference = adze.compile(model)(x)

    def shift(**settings):
        result = adze.quantize(model, x, mode="weights", bits=4, block=64, **settings)
        got = adze.compile(result.model)(x)
        return np.abs((got - reference).mean(axis=(0, 1))).mean()

    assert shift(bias_correction=True) < 0.3 * shift()


def test_bias_correction_of_grouped_convolutions():
    rng = np.random.default_rng(9)
    model = make(
        """
        <ir_version: 8, opset_import: ["" : 17]>
        grouped (float[N, 8, 5, 5] x) => (float[N, 12, 5, 5] y) {
          y = Conv<group = 4>(x, w)
        }"""
    )
    weight = rng.standard_normal((12, 2, 1, 1)).astype(np.float32)
    model.graph.initializer.append(onnx.numpy_helper.from_array(weight, "w"))
    x = (rng.standard_normal((32, 8, 5, 5)) + np.arange(8).reshape(8, 1, 1)).astype(np.float32)
    reference = adze.compile(model)(x)

    def shift(**settings):
        coarse = {"mode": "dynamic", "per_channel": False, "reduce_range": True}
        got = adze.compile(adze.quantize(model, x, **coarse, **settings).model)(x)
        return np.abs((got - reference).mean(axis=(0, 2, 3))).mean()

    assert shift(bias_correction=True) < 0.3 * shift()


def test_weights_by_blocks():
    rng = np.random.default_rng(2)
    model = random_mlp(rng, depth=80)  # two blocks and a half
    weight = constant(model, "w0")
    result = adze.quantize(model, mode="weights", bits=4, block=32, weights_method="minmax")
    node = next(n for n in result.model.graph.node if n.op_type == "MatMulNBits")
    packed, scales = (constant(result.model, name) for name in node.input[1:3])
    assert packed.shape == (96, 3, 16) and scales.shape == (96, 3)
    integers = np.stack([packed & 15, packed >> 4], axis=-1).reshape(96, 3, 32).astype(int) - 8
    numbers = (integers * scales[:, :, None]).reshape(96, -1)[:, :80].T
    steps = np.repeat(scales, 32, axis=1)[:, :80].T
    assert (np.abs(numbers - weight) <= steps / 2 * 1.001).all()
    better = adze.quantize(model, mode="weights", bits=4, block=32)
    assert better.layers[0].weight_snr > result.layers[0].weight_snr


def test_forms_of_data(tmp_path):
    model = DIGITS / "digits.onnx"
    expected = adze.quantize(model, {"image": CALIBRATION}).model.SerializeToString()
    np.savez(tmp_path / "all.npz", image=CALIBRATION)
    folder = tmp_path / "folder"
    folder.mkdir()
    for i in range(4):
        np.save(folder / f"{i}.npy", CALIBRATION[25 * i : 25 * i + 25])
    runs = [{"image": sample} for sample in CALIBRATION]  # without the dim of samples
    for data in (CALIBRATION, tmp_path / "all.npz", folder, runs):
        assert adze.quantize(model, data).model.SerializeToString() == expected
    with pytest.raises(adze.ArgumentError, match="expected an array for input 'image'"):
        adze.quantize(model, {"other": CALIBRATION})
    with pytest.raises(adze.ArgumentError, match=r"expected 4 dims for input 'image'"):
        adze.quantize(model, np.zeros(3, np.float32))
    with pytest.raises(adze.ArgumentError, match="expected float32 for input 'image'"):
        adze.quantize(model, np.zeros((1, 1, 8, 8), complex))


def test_fixed_batch():
    model = onnx.load(DIGITS / "digits.onnx")
    for value in (*model.graph.input, *model.graph.output):
        value.type.tensor_type.shape.dim[0].dim_value = 30
    seen = []
    adze.quantize(model, CALIBRATION, progress=lambda *step: seen.append(step))
    assert ("ranges", 3, 3) in seen and ("errors", 3, 3) in seen  # 10 samples are left


def test_wrong_arguments(tmp_path):
    model = DIGITS / "digits.onnx"
    for settings, message in [
        ({}, 'mode="static" needs calibration data'),
        ({"mode": "int8"}, "mode: expected one of static, dynamic, weights"),
        ({"mode": "weights", "block": 24}, "block: expected a power of two"),
        ({"mode": "dynamic", "keep": ["head"]}, "names of nodes to keep, but got 'head'"),
        ({"mode": "dynamic", "output": tmp_path / "no" / "m.onnx"}, "expected a folder"),
    ]:
        with pytest.raises(adze.ArgumentError, match=re.escape(message)):
            adze.quantize(model, **settings)
    quantized = adze.quantize(model, CALIBRATION).model
    with pytest.raises(adze.ArgumentError, match="expected Conv, Gemm, MatMul by f32 constants"):
        adze.quantize(quantized, mode="dynamic")


def aquant(*arguments, cwd):
    program = "from adze._tools import aquant; aquant()"
    return subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        cwd=cwd,
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "100"},
    )


def test_tool(tmp_path):
    done = aquant(
        *(DIGITS / "digits.onnx", "--data", DIGITS / "samples.npy", "-o", "m.onnx"),
        *("--labels", DIGITS / "labels.npy", "--method", "mse"),
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""  # no bar where there is no terminal
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["layer", "op", "weight", "output"]
    assert [line.split()[0] for line in lines[1:5]] == ["conv1", "conv2", "fc", "logits"]
    before, after = re.search(r"accuracy: (\S+) % before, (\S+) % after", done.stdout).groups()
    assert float(before) == 99.0 and float(after) >= 98.5
    assert adze.compile(tmp_path / "m.onnx")(SAMPLES[:1]).shape == (1, 10)


def test_bar_on_a_terminal(tmp_path):
    pty = pytest.importorskip("pty")
    ours, its = pty.openpty()
    program = "from adze._tools import aquant; aquant()"
    arguments = [DIGITS / "digits.onnx", "--data", DIGITS / "samples.npy", "-o", "m.onnx"]
    subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=its,
        check=True,
    )
    text = os.read(ours, 1 << 16).decode()
    assert "ranges     [" + "#" * 30 + "] 10/10" in text
    assert text.endswith(" \r")  # it is cleared


@pytest.mark.parametrize(
    "arguments, status, message",
    [
        (["{model}", "-o", "m.onnx"], 2, "--mode=static needs calibration data"),
        (["{model}", "--data", "none.npz", "-o", "m.onnx"], 1, "error: none.npz: No such file"),
        (["none.onnx", "--mode=dynamic", "-o", "m.onnx"], 1, "error: none.onnx: No such file"),
        (["text.onnx", "--mode=dynamic", "-o", "m.onnx"], 1, "text.onnx: expected an ONNX model"),
        (["{model}", "--mode=weights", "--block=5", "-o", "m.onnx"], 2, "error: --block: expected"),
        (["{model}", "--mode=fast", "-o", "m.onnx"], 2, "invalid choice: 'fast'"),
    ],
)
def test_errors_of_the_tool(arguments, status, message, tmp_path):
    (tmp_path / "text.onnx").write_text("no model")
    model = str(DIGITS / "digits.onnx")
    done = aquant(*(a.format(model=model) for a in arguments), cwd=tmp_path)
    assert done.returncode == status
    assert message in done.stderr
    assert not (tmp_path / "m.onnx").exists()
    assert sorted(os.listdir(tmp_path)) == ["text.onnx"]


WEIGHTS = (DIGITS / "digits.onnx", "--mode=weights", "-o", "m.onnx")


def run_aquant(*arguments, cwd, before="", **settings):
    program = f"{before}\nfrom adze._tools import aquant; aquant()"
    return subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        cwd=cwd,
        stderr=subprocess.PIPE,
        text=True,
        **settings,
    )


def test_a_write_that_fails_says_why(tmp_path):
    resource = pytest.importorskip("resource")
    most = (100, resource.RLIM_INFINITY)
    limit = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, {most})"
    done = run_aquant(*WEIGHTS, cwd=tmp_path, before=limit)
    assert (done.returncode, done.stderr) == (1, "error: m.onnx: File too large\n")
    assert not os.listdir(tmp_path)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("arguments", [WEIGHTS, ["--help"]])
def test_lost_output_is_an_error(arguments, unbuffered, tmp_path):
    with open("/dev/full", "w") as full:
        environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
        done = run_aquant(*arguments, cwd=tmp_path, stdout=full, env=environment)
    assert done.returncode == 1
    assert done.stderr == "error: standard output: No space left on device\n"


def test_a_signal_leaves_nothing(tmp_path):
    kill = "import os\nos.replace = lambda *_: os.kill(os.getpid(), 15)"
    done = run_aquant(*WEIGHTS, cwd=tmp_path, before=kill)
    assert done.returncode == -15
    assert not os.listdir(tmp_path)


def test_help_is_that_of_the_page(tmp_path):
    page = (ROOT / "docs" / "cli.md").read_text()
    block = re.search(r"^\$ aquant --help\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert aquant("--help", cwd=tmp_path).stdout.rstrip() == block.group(1).rstrip()
