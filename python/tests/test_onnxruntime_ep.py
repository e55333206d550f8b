# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""The execution provider in sessions: assignment, shapes, memory, threads, errors."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import threading

import numpy as np
import pytest

import adze
from conftest import AFFINE, DIGITS, parse
from ort_sessions import (
    CHAIN,
    LIBRARY,
    NAME,
    VERSION,
    X,
    Y,
    assert_close,
    fill,
    get_assignment,
    get_devices,
    make_options,
    make_reference,
    make_session,
    ort,
)


def run(session, *inputs):
    names = [value.name for value in session.get_inputs()]
    return session.run(None, dict(zip(names, inputs)))


# ---- Registration and assignment ---------------------------------------------


def test_device():
    (device,) = get_devices()
    assert device.ep_vendor == "Adze"
    assert device.device.type == ort.OrtHardwareDeviceType.CPU
    assert adze.get_ep_names() == [NAME] == ["AdzeExecutionProvider"]
    assert os.path.isabs(LIBRARY)


def test_whole_graph():
    session = make_session(DIGITS / "digits.onnx")
    assert session.get_providers()[0] == NAME
    (logits,) = run(session, np.load(DIGITS / "samples.npy"))
    assert_close([logits], [np.load(DIGITS / "reference.npy")])
    assignment = get_assignment(session)
    if assignment is not None:
        assert [name for name, _ in assignment] == [NAME]
        assert len(assignment[0][1]) >= 8


@pytest.mark.skipif(VERSION < (1, 25), reason="providers by name need ONNX Runtime 1.25")
def test_by_name():
    get_devices()
    options = ort.SessionOptions()
    options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
    session = ort.InferenceSession(parse(AFFINE), options, providers=[NAME])
    np.testing.assert_array_equal(run(session, X)[0], Y)
    options = ort.SessionOptions()
    options.log_severity_level = 3
    options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    providers = [(NAME, {"exclude_ops": "Abs"}), "CPUExecutionProvider"]
    session = ort.InferenceSession(parse(CHAIN), options, providers=providers)
    assert ("CPUExecutionProvider", ["third"]) in get_assignment(session)


def test_by_policy():
    get_devices()
    options = ort.SessionOptions()
    options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
    options.set_provider_selection_policy(ort.OrtExecutionProviderDevicePolicy.PREFER_CPU)
    session = ort.InferenceSession(parse(AFFINE), options, enable_fallback=0)
    np.testing.assert_array_equal(run(session, X)[0], Y)


MODELS = {
    "mobilenet_v2": [{"x": (1, 3, 224, 224)}],
    "resnet50_dyn_b4": [{"x": (2, 3, 224, 224)}, {"x": (1, 3, 224, 224)}],
    "bert_base_dyn_s93": [{"ids": (2, 93), "mask": (2, 93)}, {"ids": (1, 16), "mask": (1, 16)}],
    "yolo_n": [{"x": (1, 3, 320, 320)}],
    "layernorm": [{"x": (4096, 768)}],
    "pointwise3_dyn": [{"x": (1000,)}, {"x": (7,)}],
}


@pytest.mark.parametrize("name", MODELS)
def test_models(name, tmp_path):
    path = fill(name, tmp_path)
    session, reference = make_session(path), make_reference(path)
    random = np.random.default_rng(0)
    for shapes in MODELS[name]:
        feeds = {}
        for value in reference.get_inputs():
            shape = shapes[value.name]
            if value.type == "tensor(float)":
                feeds[value.name] = random.standard_normal(shape).astype(np.float32)
            else:
                most = 2 if "mask" in value.name else 30000
                feeds[value.name] = random.integers(0, most, shape)
            if "mask" in value.name:
                feeds[value.name][:] = 1
        assert_close(session.run(None, feeds), reference.run(None, feeds))
    if VERSION >= (1, 24):
        assert [name for name, _ in get_assignment(session)] == [NAME]


def test_many_partitions(tmp_path):
    path = fill("mobilenet_v2", tmp_path)
    session = make_session(path, {"exclude_ops": "Clip", "O": "0"}, fallback=True)
    x = np.random.default_rng(0).standard_normal((1, 3, 224, 224)).astype(np.float32)
    assert_close(run(session, x), run(make_reference(path), x))
    if VERSION >= (1, 24):
        names = [name for name, _ in get_assignment(session)]
        assert names.count(NAME) == 36


def test_partitions():
    model = parse(CHAIN)
    x = np.array([0.5, -2, 3], np.float32)
    session = make_session(model, {"exclude_ops": "Abs"}, fallback=True)
    np.testing.assert_allclose(run(session, x)[0], np.exp(x / 2) + np.exp(x), rtol=1e-6)
    if VERSION >= (1, 24):
        assert sorted(get_assignment(session)) == [
            (NAME, ["fifth", "fourth"]),
            (NAME, ["first", "second"]),
            ("CPUExecutionProvider", ["third"]),
        ]
    with pytest.raises(Exception, match="fallback to CPU EP has been explicitly disabled"):
        make_session(model, {"exclude_ops": "Abs"})


def test_least_nodes_of_a_partition():
    session = make_session(parse(CHAIN), {"exclude_ops": "Neg", "min_nodes": "3"}, fallback=True)
    x = np.array([0.5, -2, 3], np.float32)
    np.testing.assert_allclose(run(session, x)[0], np.exp(x / 2) + np.exp(x), rtol=1e-6)
    if VERSION >= (1, 24):
        assert (NAME, ["fifth", "fourth", "third"]) in get_assignment(session)
        assert ("CPUExecutionProvider", ["first"]) in get_assignment(session)


# Values of other kinds are supported inside of a partition.
def test_sequences_and_strings_inside():
    session = make_session(
        parse("""
        <ir_version: 8, opset_import: ["" : 18]>
        inside (float[4, 2] x, int64 i, float[N] y) => (float[R, C] part, float[N] same)
        <int64 two = {2}> {
          parts = SplitToSequence<axis = 0>(x, two)
          part = SequenceAt(parts, i)
          words = Cast<to = 8>(y)
          same = Cast<to = 1>(words)
        }""")
    )
    x, y = np.arange(8, dtype=np.float32).reshape(4, 2), np.array([1.5, 2], np.float32)
    for i in (0, 1):
        part, same = run(session, x, np.array(i), y)
        np.testing.assert_array_equal(part, x[2 * i : 2 * i + 2])
        np.testing.assert_array_equal(same, y)


def test_strings_stay_with_the_cpu():
    session = make_session(
        parse("""
        <ir_version: 8, opset_import: ["" : 20]>
        strings (string[N] words, float[N] x) => (float[N] y, string[N] z) {
          [double] a = Add(x, x)
          [join] z = StringConcat(words, words)
          [negate] y = Neg(a)
        }"""),
        fallback=True,
    )
    y, z = run(session, np.array(["a", "b"], object), np.array([1, 2], np.float32))
    np.testing.assert_array_equal(y, [-2, -4])
    assert list(z) == ["aa", "bb"]
    if VERSION >= (1, 24):
        assert sorted(get_assignment(session)) == [
            (NAME, ["double", "negate"]),
            ("CPUExecutionProvider", ["join"]),
        ]


# A node after an unsupported one is checked again, with the value as an input.
def test_unsupported_operators():
    session = make_session(
        parse("""
        <ir_version: 8, opset_import: ["" : 18, "com.microsoft" : 1]>
        custom (float[2, 3] x) => (float[2, 3] y)
        <float[3] bias = {0, 1, 2}, float half = {0.5}> {
          [positive] a = Relu(x)
          [gelu] b = com.microsoft.BiasGelu(a, bias)
          [halve] y = Mul(b, half)
        }"""),
        {"exclude_ops": "BiasGelu"},
        fallback=True,
    )
    (y,) = run(session, np.ones((2, 3), np.float32))
    np.testing.assert_allclose(y[0], [0.420672, 0.97725, 1.497975], rtol=1e-5)
    if VERSION >= (1, 24):
        assert (NAME, ["positive"]) in get_assignment(session)
        assert (NAME, ["halve"]) in get_assignment(session)


def test_control_flow():
    session = make_session(
        parse("""
        <ir_version: 8, opset_import: ["" : 18]>
        loop (float[N] x, bool twice) => (float[N] y, float[N] sum)
        <int64 three = {3}, bool yes = {1}> {
          y = If(twice) <then_branch = then () => (float[N] t) { t = Add(x, x) },
                         else_branch = other () => (float[N] e) { e = Identity(x) }>
          sum = Loop(three, yes, y) <body = body (int64 i, bool c, float[N] before)
                                     => (bool again, float[N] after) {
            again = Identity(c)
            after = Add(before, x)
          }>
        }"""),
        fallback=VERSION < (1, 27),  # which cannot fuse what only bodies read
    )
    x = np.array([1, 2], np.float32)
    y, total = run(session, x, np.array(True))
    np.testing.assert_array_equal(y, 2 * x)
    np.testing.assert_array_equal(total, 5 * x)
    y, total = run(session, x, np.array(False))
    np.testing.assert_array_equal(total, 4 * x)


# ONNX Runtime does not provide attributes that are types: the node is left to the CPU, and the
# others are taken.
@pytest.mark.skipif(VERSION < (1, 24), reason="ONNX Runtime tells nothing of nodes")
def test_attributes_that_cannot_be_read():
    onnx = pytest.importorskip("onnx")
    model = onnx.parser.parse_model("""
        <ir_version: 8, opset_import: ["" : 18]>
        maybe (float[2] x) => (float[2] y, bool has) {
          [double] y = Add(x, x)
          [none] o = Optional()
          [ask] has = OptionalHasElement(o)
        }""")
    kind = onnx.helper.make_tensor_type_proto(onnx.TensorProto.FLOAT, [2])
    model.graph.node[1].attribute.append(onnx.helper.make_attribute("type", kind))
    session = make_session(model.SerializeToString(), fallback=True)
    y, has = run(session, np.array([1, 2], np.float32))
    np.testing.assert_array_equal(y, [2, 4])
    assert not has
    assert (NAME, ["double"]) in get_assignment(session)


# Parts of a body are taken if its If, Loop or Scan is not taken as a whole: nested bodies, values
# and weights from outside, and loops.
@pytest.mark.skipif(VERSION < (1, 24), reason="ONNX Runtime tells nothing of bodies")
def test_bodies_by_parts():
    model = parse("""
        <ir_version: 8, opset_import: ["" : 18, "com.microsoft" : 1]>
        bodies (float[N, 3] x, bool first) => (float[M, 3] y, float[K, 3] sum)
        <float[3] bias = {0, 1, 2}, float half = {0.5}, int64 three = {3}, bool yes = {1}> {
          [before] a = Add(x, x)
          [choose] y = If(first) <
            then_branch = then () => (float[P, 3] t) {
              [then_exp] e = Exp(a)
              [then_gelu] g = com.microsoft.BiasGelu(e, bias)
              [then_mul] t = Mul(g, half)
            },
            else_branch = other () => (float[Q, 3] f) {
              [inner] f = If(first) <
                then_branch = never () => (float[R, 3] n) { [copy] n = Identity(a) },
                else_branch = always () => (float[S, 3] w) { [inner_neg] w = Neg(x) }
              >
            }
          >
          [loop] sum = Loop(three, yes, a) <body = body (int64 i, bool c, float[T, 3] before)
                                            => (bool again, float[U, 3] after) {
            [loop_copy] again = Identity(c)
            [loop_add] d = Add(before, bias)
            [loop_gelu] h = com.microsoft.BiasGelu(d, bias)
            [loop_sub] after = Sub(h, x)
          }>
        }""")
    session = make_session(model, {"exclude_ops": "BiasGelu"}, fallback=True)
    reference = make_reference(model)
    x = np.array([[1, -1, 0.25], [2, 0.5, -3]], np.float32)
    for first in (True, False):
        for got, expected in zip(
            run(session, x, np.array(first)), run(reference, x, np.array(first))
        ):
            np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)
    ours = {node for name, nodes in get_assignment(session) for node in nodes if name == NAME}
    assert {"before", "then_exp", "then_mul", "loop_add", "loop_sub"} <= ours, ours
    assert not {"choose", "loop", "then_gelu", "loop_gelu"} & ours, ours


# An initializer that the caller may override is an input, not a constant.
def test_overridable_initializers():
    onnx = pytest.importorskip("onnx")
    model = onnx.load_model_from_string(parse(AFFINE))
    for tensor in model.graph.initializer:
        model.graph.input.append(
            onnx.helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims)
        )
    session = make_session(model.SerializeToString())
    np.testing.assert_array_equal(session.run(None, {"x": X})[0], Y)
    (y,) = session.run(None, {"x": X, "two": np.array([0, 0], np.float32)})
    np.testing.assert_array_equal(y, np.ones((2, 2)))


def test_external_data(tmp_path):
    onnx = pytest.importorskip("onnx")
    model = onnx.load(DIGITS / "digits.onnx")
    onnx.save(model, tmp_path / "m.onnx", save_as_external_data=True, size_threshold=0)
    session = make_session(tmp_path / "m.onnx")
    (logits,) = run(session, np.load(DIGITS / "samples.npy"))
    assert_close([logits], [np.load(DIGITS / "reference.npy")])


# ---- Shapes --------------------------------------------------------------------


def test_dynamic_batch():
    session, samples = make_session(DIGITS / "digits.onnx"), np.load(DIGITS / "samples.npy")
    reference = np.load(DIGITS / "reference.npy")
    for batch in (1, 300, 7, 7, 1, 64):
        assert_close(run(session, samples[:batch]), [reference[:batch]])
    assert run(session, samples[:0])[0].shape == (0, 10)


def test_fixed_dims():
    options = make_options()
    options.add_free_dimension_override_by_name("batch", 3)
    session = ort.InferenceSession(str(DIGITS / "digits.onnx"), options)
    samples = np.load(DIGITS / "samples.npy")
    assert_close(run(session, samples[:3]), [np.load(DIGITS / "reference.npy")[:3]])
    bounded = make_session(DIGITS / "digits.onnx", {"dim": "batch=1..4"})
    assert_close(run(bounded, samples[:4]), [np.load(DIGITS / "reference.npy")[:4]])
    with pytest.raises(Exception, match="'image'.* 5"):
        run(bounded, samples[:5])


def test_data_dependent_shapes():
    session = make_session(
        parse("""
        <ir_version: 8, opset_import: ["" : 18]>
        nonzero (float[N] x) => (int64[R, C] places, float[N] twice) {
          places = NonZero(x)
          twice = Add(x, x)
        }""")
    )
    for values in ([0, 1, 0, 2], [0, 0], [3, 4, 5], []):
        x = np.array(values, np.float32)
        places, twice = run(session, x)
        np.testing.assert_array_equal(places, [np.flatnonzero(x)])
        np.testing.assert_array_equal(twice, 2 * x)


def test_scalars_and_types():
    session = make_session(
        parse("""
        <ir_version: 8, opset_import: ["" : 18]>
        types (float16 h, bool b, uint8[2] u, double d)
          => (float16 h2, bool nb, uint8[2] u2, double d2) {
          h2 = Add(h, h)
          nb = Not(b)
          u2 = Add(u, u)
          d2 = Neg(d)
        }""")
    )
    u = np.array([1, 200], np.uint8)
    h, b, u, d = run(session, np.array(1.5, np.float16), np.array(True), u, np.array(2.5))
    assert (h.dtype, float(h), bool(b), float(d)) == (np.float16, 3.0, False, -2.5)
    np.testing.assert_array_equal(u, [2, 144])


# ---- Memory --------------------------------------------------------------------


def test_io_binding_writes_to_bound_memory():
    session = make_session(parse(AFFINE))
    x, y = X.copy(), np.full_like(X, np.nan)
    binding = session.io_binding()
    value = ort.OrtValue.ortvalue_from_shape_and_type([2, 2], np.float32)
    pointer = value.data_ptr()
    binding.bind_input("x", "cpu", 0, np.float32, x.shape, x.ctypes.data)
    for bind in (
        lambda: binding.bind_output("y", "cpu", 0, np.float32, y.shape, y.ctypes.data),
        lambda: binding.bind_ortvalue_output("y", value),
    ):
        bind()
        session.run_with_iobinding(binding)
    np.testing.assert_array_equal(y, Y)
    (output,) = binding.get_outputs()
    assert output.data_ptr() == pointer
    np.testing.assert_array_equal(value.numpy(), Y)
    x[:] = 0  # what is bound is read anew
    session.run_with_iobinding(binding)
    np.testing.assert_array_equal(value.numpy(), np.ones((2, 2)))


def test_inputs_are_not_copied():
    session = make_session(
        parse("""
        <ir_version: 8, opset_import: ["" : 18]>
        sum (float[N] x) => (float y) { y = ReduceSum<keepdims = 0>(x) }""")
    )
    x = np.ones(64 << 20, np.float32)
    run(session, x[:1024])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert float(run(session, x)[0]) == x.size
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) << 10
    assert grown < x.nbytes // 4


# ---- Threads --------------------------------------------------------------------


@pytest.mark.parametrize("pool", ["session", "adze"])
def test_concurrent_runs(pool):
    session = make_session(DIGITS / "digits.onnx", {"thread_pool": pool})
    samples, reference = np.load(DIGITS / "samples.npy"), np.load(DIGITS / "reference.npy")
    failures = []

    def work(seed):
        random = np.random.default_rng(seed)
        try:
            for _ in range(40):
                begin = int(random.integers(0, 290))
                end = begin + int(random.integers(1, 10))
                (logits,) = session.run(None, {"image": samples[begin:end]})
                assert_close([logits], [reference[begin:end]])
        except Exception as error:  # noqa: BLE001
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_concurrent_sessions():
    results = {}

    def work(factor):
        model = parse(AFFINE.replace("{2, 2}", f"{{{factor}, {factor}}}"))
        results[factor] = run(make_session(model), X)[0]

    threads = [threading.Thread(target=work, args=(factor,)) for factor in range(2, 8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for factor in range(2, 8):
        np.testing.assert_array_equal(results[factor], np.maximum(factor * X + 1, 0))


WIDE = """
<ir_version: 8, opset_import: ["" : 18]>
wide (float[1000000] x) => (float[1000000] y) { a = Exp(x) y = Sqrt(a) }
"""


def count_threads(options, intra):
    """Returns the number of threads that a session adds to the process with the first run."""
    session_options = make_options(options)
    session_options.intra_op_num_threads = intra
    x = np.zeros(1000000, np.float32)
    model = parse(WIDE)
    before = set(os.listdir("/proc/self/task"))
    session = ort.InferenceSession(model, session_options)
    np.testing.assert_array_equal(run(session, x)[0], np.ones_like(x))
    return len(set(os.listdir("/proc/self/task")) - before)


def test_threads_of_the_session():
    assert count_threads({}, 1) == 0
    assert count_threads({}, 3) == 2
    assert count_threads({"thread_pool": "session", "threads": "8"}, 1) == 0


def test_threads_of_adze():
    assert count_threads({"thread_pool": "adze", "threads": "3"}, 1) == 2
    assert count_threads({"thread_pool": "adze", "threads": "1"}, 1) == 0


# ---- Options, profiles and errors ------------------------------------------------


def test_session_entries():
    config = {"ep.adze.exclude_ops": "Abs", "ep.adze.O": "0"}
    session = make_session(parse(CHAIN), config=config, fallback=True)
    x = np.array([0.5, -2, 3], np.float32)
    np.testing.assert_allclose(run(session, x)[0], np.exp(x / 2) + np.exp(x), rtol=1e-6)
    if VERSION >= (1, 24):
        assert ("CPUExecutionProvider", ["third"]) in get_assignment(session)
    # Options of the provider take precedence.
    make_session(parse(CHAIN), {"exclude_ops": ""}, config)


@pytest.mark.parametrize(
    "options, text",
    [
        ({"optimise": "3"}, "option 'optimise': unknown option 'optimise'"),
        ({"O": "9"}, "option 'O': expected -O0, -O1, -O2 or -O3, but got '-O9'"),
        ({"threads": "x"}, "option 'threads': expected a number, but got 'x'"),
        ({"thread_pool": "x"}, "option 'thread_pool': expected session or adze, but got 'x'"),
        ({"target": "cuda:sm_90a"}, "option 'target': expected an option of atranslate"),
        ({"compiler": "/nowhere/lib.so"}, "expected the compiler's library, but got: /nowhere"),
        ({"compiler": LIBRARY}, "expected the compiler of Adze"),
        ({"mcpu": "z80"}, "z80"),
        ({"verify_module": "maybe"}, "verify"),
        ({"precision": "f16"}, "precision"),
        ({"dim": "N=4..1"}, "N=4..1"),
        ({"kernels": "/nowhere/kernels.mlir"}, "/nowhere/kernels.mlir"),
        ({"report": "/nowhere/report.json"}, "/nowhere/report.json"),
    ],
)
def test_wrong_options(options, text):
    with pytest.raises(Exception) as info:
        make_session(parse(AFFINE), options)
    assert text in str(info.value) and NAME in str(info.value)


GATHER = """
<ir_version: 8, opset_import: ["" : 18]>
gather (float[4] x, int64[N] i) => (float[N] y) { [pick] y = Gather(x, i) }
"""


def test_errors_of_runs():
    session = make_session(parse(GATHER))
    x = np.arange(4, dtype=np.float32)
    np.testing.assert_array_equal(run(session, x, np.array([3, -4]))[0], [3, 0])
    with pytest.raises(Exception, match="AdzeExecutionProvider: .*'pick'.*4"):
        run(session, x, np.array([4]))
    # The session continues.
    np.testing.assert_array_equal(run(session, x, np.array([1]))[0], [1])


def test_profiles(tmp_path):
    session = make_session(parse(CHAIN), {"exclude_ops": "Abs"}, fallback=True)
    options, path = ort.RunOptions(), tmp_path / "trace.json"
    options.add_run_config_entry("ep.adze.profile", str(path))
    x = np.ones(8, np.float32)
    session.run(None, {"x": x}, options)
    events = json.loads(path.read_text())["traceEvents"]
    nodes = {n for event in events for n in event.get("args", {}).get("nodes", [])}
    assert nodes == {"first", "second", "fourth", "fifth"}
    path.unlink()
    session.run(None, {"x": x})
    assert not path.exists()
    path.write_text("")
    options = ort.RunOptions()
    options.add_run_config_entry("ep.adze.profile", str(path / "below"))
    with pytest.raises(Exception, match="expected to write '.*below'"):
        session.run(None, {"x": x}, options)
    session.run(None, {"x": x})


def test_register_twice_and_unregister():
    code = f"""
import numpy as np, onnxruntime as ort
name, library, model = {NAME!r}, {LIBRARY!r}, {str(DIGITS / "digits.onnx")!r}
images = np.ones((2, 1, 8, 8), np.float32)
def run():
    options = ort.SessionOptions()
    options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
    options.add_provider_for_devices([d for d in ort.get_ep_devices() if d.ep_name == name], {{}})
    return ort.InferenceSession(model, options).run(None, {{"image": images}})[0]
def is_loaded():
    return library in open("/proc/self/maps").read()
ort.register_execution_provider_library(name, library)
first = run()
assert is_loaded()
ort.unregister_execution_provider_library(name)
assert not is_loaded() or {VERSION < (1, 27)}, "the library stays"
assert not [d for d in ort.get_ep_devices() if d.ep_name == name]
ort.register_execution_provider_library(name, library)
np.testing.assert_array_equal(run(), first)
print("done")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
