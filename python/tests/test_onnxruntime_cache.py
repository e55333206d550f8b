# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""The execution provider's cache, and EPContext models."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys
import threading

import numpy as np
import pytest

from conftest import AFFINE, DIGITS, parse
from ort_sessions import (
    CHAIN,
    LIBRARY,
    NAME,
    X,
    Y,
    assert_close,
    get_assignment,
    make_options,
    make_session,
    ort,
)

onnx = pytest.importorskip("onnx")


def run_affine(model, options=None, config=None):
    return make_session(model, options, config).run(None, {"x": X})[0]


def get_files(folder, suffix):
    return sorted(path for path in folder.iterdir() if path.suffix == suffix)


# ---- The cache -------------------------------------------------------------------


def test_cache_is_used(tmp_path):
    cache = tmp_path / "new" / "cache"
    options = {"cache_dir": str(cache)}
    model = parse(AFFINE)
    np.testing.assert_array_equal(run_affine(model, options), Y)
    (module,) = get_files(cache, ".so")
    assert len(get_files(cache, ".json")) == 1
    # Another module of the same signature replaces it: y = relu(5 x + 1).
    other = tmp_path / "other"
    run_affine(parse(AFFINE.replace("{2, 2}", "{5, 5}")), {"cache_dir": str(other)})
    shutil.copy(get_files(other, ".so")[0], module)
    np.testing.assert_array_equal(run_affine(model, options), np.maximum(5 * X + 1, 0))
    assert len(list(cache.iterdir())) == 2


def test_cache_keys(tmp_path):
    options = {"cache_dir": str(tmp_path)}
    model = parse(AFFINE)
    variants = [
        (model, {}),
        (parse(AFFINE.replace("{2, 2}", "{3, 3}")), {}),
        (model, {"O": "0"}),
        (model, {"dim": "N=1..4"}),
        (model, {"mcpu": "x86-64-v3" if os.uname().machine == "x86_64" else "generic"}),
    ]
    for count, (some, more) in enumerate(variants, start=1):
        for _ in range(2):
            run_affine(some, {**options, **more})
        assert len(get_files(tmp_path, ".so")) == count
    # Options of runs are not part of the key.
    for more in ({"threads": "1"}, {"thread_pool": "adze"}, {"dim": "M=3"}):
        run_affine(model, {**options, **more})
    assert len(get_files(tmp_path, ".so")) == len(variants)


def test_damaged_entries_are_compiled_again(tmp_path):
    options = {"cache_dir": str(tmp_path)}
    model = parse(AFFINE)
    run_affine(model, options)
    (module,), (checked,) = get_files(tmp_path, ".so"), get_files(tmp_path, ".json")
    whole, text = module.read_bytes(), checked.read_text()
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 255
    for damaged in (b"", whole[: len(whole) // 2], bytes(flipped)):
        module.unlink()  # it may be mapped
        module.write_bytes(damaged)
        checked.write_text(text[: len(text) // 2])
        np.testing.assert_array_equal(run_affine(model, options), Y)
        assert module.read_bytes() == whole
        assert checked.read_text() == text
    assert len(list(tmp_path.iterdir())) == 2


# Weights are checked before the first run, which reports the damage.
def test_damaged_weights(tmp_path):
    options, images = {"cache_dir": str(tmp_path)}, np.load(DIGITS / "samples.npy")[:1]
    make_session(DIGITS / "digits.onnx", options).run(None, {"image": images})
    (module,) = get_files(tmp_path, ".so")
    (bias,) = [
        onnx.numpy_helper.to_array(tensor).tobytes()
        for tensor in onnx.load(DIGITS / "digits.onnx").graph.initializer
        if tensor.name == "fc.bias"
    ]
    contents = bytearray(module.read_bytes())
    at = contents.find(bias)
    assert at > 0
    contents[at] ^= 1
    module.unlink()
    module.write_bytes(contents)
    session = make_session(DIGITS / "digits.onnx", options)
    with pytest.raises(Exception, match=f"{NAME}: .*{module.name}"):
        session.run(None, {"image": images})


def test_cache_of_several_sessions_at_once(tmp_path):
    failures = []

    def work():
        try:
            np.testing.assert_array_equal(
                run_affine(parse(AFFINE), {"cache_dir": str(tmp_path)}), Y
            )
        except Exception as error:  # noqa: BLE001
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".json", ".so"]


def test_cache_that_cannot_be_written(tmp_path, capfd):
    (tmp_path / "file").write_text("")
    options = make_options({"cache_dir": str(tmp_path / "file")})
    options.log_severity_level = 2
    session = ort.InferenceSession(parse(AFFINE), options)
    np.testing.assert_array_equal(session.run(None, {"x": X})[0], Y)
    said = capfd.readouterr().err
    assert "option 'cache_dir': expected to write '" in said
    assert "but got: Not a directory" in said


# ONNX Runtime's copies of the constants are gone; those of a module in a file
# are shared between processes.
def test_memory_of_constants(tmp_path):
    size, count = 1024, 16
    weights = np.random.default_rng(0).standard_normal((size, size)).astype(np.float32) / size
    nodes = [
        onnx.helper.make_node("MatMul", [f"x{i}", f"w{i}"], [f"x{i + 1}"]) for i in range(count)
    ]
    values = [
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1, size])
        for name in ("x0", f"x{count}")
    ]
    tensors = [onnx.numpy_helper.from_array(weights + i, f"w{i}") for i in range(count)]
    graph = onnx.helper.make_graph(nodes, "large", values[:1], values[1:], tensors)
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 18)])
    model.ir_version = 10
    onnx.save(model, tmp_path / "m.onnx")
    code = f"""
import numpy as np, onnxruntime as ort
def get_memory():
    lines = dict(line.split(":", 1) for line in open("/proc/self/status"))
    return int(lines["RssAnon"].split()[0]) >> 10
ort.register_execution_provider_library({NAME!r}, {LIBRARY!r})
options = ort.SessionOptions()
options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
options.add_provider_for_devices(
    [d for d in ort.get_ep_devices() if d.ep_name == {NAME!r}],
    {{"cache_dir": {str(tmp_path / "cache")!r}}})
before = get_memory()
session = ort.InferenceSession({str(tmp_path / "m.onnx")!r}, options)
session.run(None, {{"x0": np.ones((1, {size}), np.float32)}})
print(get_memory() - before)
"""
    for _ in range(2):  # the second takes the module from the cache
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    assert int(done.stdout) < count * weights.nbytes / 2 / (1 << 20)


# ---- EPContext models --------------------------------------------------------------


def make_context_model(source, path, embed, options=None, fallback=False):
    config = {
        "ep.context_enable": "1",
        "ep.context_embed_mode": str(int(embed)),
        "ep.context_file_path": str(path),
    }
    make_session(source, options, config, fallback)
    return onnx.load(path)


@pytest.mark.parametrize("embed", [True, False])
def test_context_models(embed, tmp_path):
    path = tmp_path / "digits_ctx.onnx"
    model = make_context_model(DIGITS / "digits.onnx", path, embed)
    (node,) = model.graph.node
    attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
    assert (node.op_type, node.domain) == ("EPContext", "com.microsoft")
    assert attributes["source"].decode() == NAME
    assert attributes["embed_mode"] == int(embed)
    files = get_files(tmp_path, ".so")
    if embed:
        assert not files and attributes["ep_cache_context"][:4] == b"\x7fELF"
    else:
        assert [file.name for file in files] == [attributes["ep_cache_context"].decode()]
    assert not model.graph.initializer
    samples, reference = np.load(DIGITS / "samples.npy"), np.load(DIGITS / "reference.npy")
    session = make_session(path)
    for batch in (300, 5):
        (logits,) = session.run(None, {"image": samples[:batch]})
        assert_close([logits], [reference[:batch]])


def test_context_models_from_memory(tmp_path):
    path = tmp_path / "ctx.onnx"
    make_context_model(parse(AFFINE), path, True)
    np.testing.assert_array_equal(run_affine(path.read_bytes()), Y)
    # A module in a file is found by the option.
    outside = tmp_path / "outside.onnx"
    make_context_model(parse(AFFINE), outside, False)
    config = {"ep.context_file_path": str(outside)}
    np.testing.assert_array_equal(run_affine(outside.read_bytes(), config=config), Y)


def test_context_models_of_several_partitions(tmp_path):
    path = tmp_path / "ctx.onnx"
    options = {"exclude_ops": "Abs"}
    model = make_context_model(parse(CHAIN), path, False, options, fallback=True)
    assert sorted(node.op_type for node in model.graph.node) == ["Abs", "EPContext", "EPContext"]
    assert len(get_files(tmp_path, ".so")) == 2
    x = np.array([0.5, -2, 3], np.float32)
    session = make_session(path, fallback=True)
    np.testing.assert_allclose(session.run(None, {"x": x})[0], np.exp(x / 2) + np.exp(x), rtol=1e-6)
    assignment = get_assignment(session)
    if assignment is not None:
        assert sorted(name for name, _ in assignment) == [NAME, NAME, "CPUExecutionProvider"]


def test_model_compiler(tmp_path):
    if not hasattr(ort, "ModelCompiler"):
        pytest.skip("no ModelCompiler")
    options = make_options()
    compiler = ort.ModelCompiler(options, parse(AFFINE), embed_compiled_data_into_model=True)
    model = compiler.compile_to_bytes()
    np.testing.assert_array_equal(run_affine(model), Y)
    metadata = {entry.key: entry.value for entry in onnx.load_from_string(model).metadata_props}
    assert metadata[f"ep_compatibility_info.{NAME}"].startswith("adze;version=")
    # Modules in files lie beside the model.
    path = tmp_path / "out_ctx.onnx"
    ort.ModelCompiler(options, parse(AFFINE)).compile_to_file(str(path))
    (module,) = get_files(tmp_path, ".so")
    assert module.name.startswith(f"out_ctx_{NAME}")
    np.testing.assert_array_equal(run_affine(path), Y)
    with pytest.raises(Exception, match="expected ep.context_file_path"):
        ort.ModelCompiler(make_options(), parse(AFFINE)).compile_to_bytes()


# The library alone: a machine that runs compiled models needs no compiler.
def test_context_models_without_the_compiler(tmp_path):
    path, library = tmp_path / "ctx.onnx", tmp_path / "alone" / pathlib.Path(LIBRARY).name
    make_context_model(parse(AFFINE), path, True)
    library.parent.mkdir()
    shutil.copy(LIBRARY, library)
    code = f"""
import numpy as np, onnxruntime as ort
ort.register_execution_provider_library({NAME!r}, {str(library)!r})
def run(model):
    options = ort.SessionOptions()
    options.log_severity_level = 2
    options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
    options.add_provider_for_devices(
        [d for d in ort.get_ep_devices() if d.ep_name == {NAME!r}], {{}})
    return ort.InferenceSession(model, options).run(None, {{"x": np.ones((1, 2), np.float32)}})[0]
np.testing.assert_array_equal(run({str(path)!r}), [[3, 3]])
assert "libadze_compiler" not in open("/proc/self/maps").read()
assert "libLLVM" not in open("/proc/self/maps").read()
try:
    run({str(DIGITS / "digits.onnx")!r})
except Exception as error:
    print("refused")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "refused\n"), done.stderr
    assert "expected the compiler's library, but got: " in done.stderr


def change_attribute(path, name, value):
    model = onnx.load(path)
    for attribute in model.graph.node[0].attribute:
        if attribute.name == name:
            attribute.CopyFrom(onnx.helper.make_attribute(name, value))
    onnx.save(model, path)


@pytest.mark.parametrize(
    "name, text",
    [
        ("none.so", "expected the file '.*none.so', but there is none"),
        ("../x.so", "expected a file in the folder of the model, but got '../x.so'"),
        ("/x.so", "expected a file in the folder of the model, but got '/x.so'"),
        ("", "expected an attribute 'ep_cache_context'"),
        ("text.so", "text.so"),
    ],
)
def test_wrong_files_of_context_models(name, text, tmp_path):
    path = tmp_path / "ctx.onnx"
    make_context_model(parse(AFFINE), path, False)
    (tmp_path / "text.so").write_text("no module")
    change_attribute(path, "ep_cache_context", name)
    with pytest.raises(Exception, match=text) as info:
        make_session(path)
    assert NAME in str(info.value)


def test_damaged_context_models(tmp_path):
    path = tmp_path / "ctx.onnx"
    model = make_context_model(parse(AFFINE), path, True)
    (node,) = model.graph.node
    (context,) = [a.s for a in node.attribute if a.name == "ep_cache_context"]
    change_attribute(path, "ep_cache_context", context[: len(context) // 2])
    with pytest.raises(Exception, match=NAME):
        make_session(path)
    # A module of another node.
    other = tmp_path / "other.onnx"
    make_context_model(
        parse(AFFINE.replace("float[N, 2] x)", "float[N, 2] z)").replace("Mul(x,", "Mul(z,")),
        other,
        True,
    )
    (context,) = [
        a.s for a in onnx.load(other).graph.node[0].attribute if a.name == "ep_cache_context"
    ]
    change_attribute(path, "ep_cache_context", context)
    with pytest.raises(Exception, match="to have a value 'z', but it has none"):
        make_session(path)


# Nodes of other providers are not ours.
def test_context_nodes_of_others(tmp_path):
    path = tmp_path / "ctx.onnx"
    make_context_model(parse(AFFINE), path, True)
    change_attribute(path, "source", "OpenVINOExecutionProvider")
    with pytest.raises(Exception, match="EPContext"):
        make_session(path, fallback=True)
