# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Modules: calls, outputs, threads, profiles, files, errors."""

from __future__ import annotations

import asyncio
import concurrent.futures
import ctypes
import gc
import json
import subprocess
import sys
import threading

import numpy as np
import onnx
import onnx.parser
import pytest

import adze
from adze._errors import check_status
from adze._values import Value, read_value
from conftest import DIGITS, parse


def test_digits(digits):
    module, samples, reference = digits
    np.testing.assert_allclose(module(samples), reference, rtol=1e-3, atol=1e-5)


def test_signature(digits):
    module, _, _ = digits
    (image,) = module.inputs
    assert (image.name, image.kind, image.dtype) == ("image", "tensor", "float32")
    assert image.shape == ("batch", 1, 8, 8)
    assert module.outputs[0].shape == (None, 10)
    assert module.info["model"] == "digits"
    assert module.info["weights_bytes"] == 27456
    assert "image: float32[batch, 1, 8, 8]" in repr(module)
    assert module.device == "cpu"


def test_ways_to_call(two):
    a, b = np.array([1.5, 2], np.float32), np.array([10, 20], np.int64)
    for total, twice in (two(a, b), two(a=a, b=b), two(a, b=b), two([1.5, 2], [10, 20])):
        np.testing.assert_array_equal(total, [11.5, 22])
        np.testing.assert_array_equal(twice, [20, 40])
        assert twice.dtype == np.int64
    results = two.run({"b": b, "a": a})
    assert list(results) == ["sum", "twice"]
    np.testing.assert_array_equal(results["sum"], [11.5, 22])


def test_calls_that_repeat(two):
    """A context keeps a plan for known shapes; inputs other than dense arrays of the model's type
    use another path, with the same results."""
    context = two.context()
    a, b = np.array([1.5, 2], np.float32), np.array([10, 20], np.int64)
    first = context(a, b)
    for values in (
        (a, b),
        (np.array([3, 0, 4, 0], np.float32)[::2] / 2, b),  # not dense
        (a.astype(">f4"), b),
        ([1.5, 2], b),
        (np.array([1.5, 2], np.float32), np.array([10, 20], np.int64)),
    ):
        total, twice = context(*values)
        np.testing.assert_array_equal(total, np.asarray(values[0], np.float32) + [10, 20])
        np.testing.assert_array_equal(twice, [20, 40])
    assert first[0] is not context(a, b)[0]  # results are the caller's
    np.testing.assert_array_equal(first[0], [11.5, 22])
    wide = np.arange(5, dtype=np.float32), np.arange(5)
    np.testing.assert_array_equal(context(*wide)[0], [0, 2, 4, 6, 8])
    with pytest.raises(adze.ArgumentError, match="'a'"):
        context(a.astype(np.float64), b)
    with pytest.raises(adze.ArgumentError):
        context(a, np.arange(3))
    with pytest.raises(adze.ArgumentError):
        context(a[None], b)
    with context.profile() as profile:
        context(a, b)
    assert len(profile.events) == len(set(map(id, profile.events))) > 0


@pytest.mark.parametrize("labels", ["classlabels_int64s = [3, 1]", 'classlabels_strings = ["x", "y"]'])
def test_maps_are_dicts_of_numbers(labels):
    key = "int64" if "int64" in labels else "string"
    module = adze.compile(
        parse(f"""
        <ir_version: 8, opset_import: ["" : 18, "ai.onnx.ml" : 3]>
        scores (float[N, 2] x) => (seq(map({key}, float)) y) {{
          y = ai.onnx.ml.ZipMap<{labels}>(x)
        }}""")
    )
    names = [3, 1] if key == "int64" else ["x", "y"]
    x = np.array([[0.5, 1], [2, 0.25], [0, -1]], np.float32)
    rows = module(x)
    assert rows == [dict(zip(names, row)) for row in x.tolist()]
    assert all(type(number) is float for row in rows for number in row.values())
    assert module(x[:0]) == []
    assert module(x, like="adze") == rows


@pytest.mark.parametrize("width", [1, 64, 65])
def test_maps_of_any_width(width):
    labels = ", ".join(map(str, range(width)))
    module = adze.compile(
        parse(f"""
        <ir_version: 8, opset_import: ["" : 18, "ai.onnx.ml" : 3]>
        scores (float[N, {width}] x) => (seq(map(int64, float)) y) {{
          y = ai.onnx.ml.ZipMap<classlabels_int64s = [{labels}]>(x)
        }}""")
    )
    x = np.random.default_rng(width).standard_normal((7, width)).astype(np.float32)
    assert module(x) == [dict(enumerate(row)) for row in x.tolist()]


def test_rows_of_a_table_are_maps(monkeypatch):
    """A sequence of maps that is stored in one table: maps that threads request at once, and the
    table as an input."""
    scores = adze.compile(
        parse("""
        <ir_version: 8, opset_import: ["" : 18, "ai.onnx.ml" : 3]>
        scores (float[N, 3] x) => (seq(map(string, float)) y) {
          y = ai.onnx.ml.ZipMap<classlabels_strings = ["a", "b", "c"]>(x)
        }""")
    )
    x = np.arange(300, dtype=np.float32).reshape(100, 3)
    with monkeypatch.context() as patch:
        patch.setattr(adze._module, "read_value", lambda value, library: value)
        table = scores(x)

    runtime = adze._libraries.runtime()

    def read_map(index):
        element = Value()
        check_status(runtime.adze_value_sequence_get(table.handle, index, ctypes.byref(element.handle)))
        return element.handle.value, read_value(element)

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        maps = list(pool.map(read_map, [*range(100)] * 8))
    assert [read for _, read in maps[:100]] == [dict(zip("abc", row)) for row in x.tolist()]
    assert maps == maps[:100] * 8  # each is made once

    def count(kind):
        return adze.compile(
            parse(f"""
            <ir_version: 8, opset_import: ["" : 18]>
            count ({kind} s) => (int64 n) {{ n = SequenceLength(s) }}""")
        )

    monkeypatch.setattr(adze._module, "make_value", lambda *_: table)
    assert count("seq(map(string, float))")(None) == 100
    for kind in "seq(map(int64, float))", "seq(map(string, double))", "seq(float[2])":
        with pytest.raises(adze.AdzeError, match="expected"):
            count(kind)(None)


def write_linear(path, seed, width=64):
    """Writes a product by random weights and a bias; returns the weights."""
    random = np.random.default_rng(seed)
    weight = random.standard_normal((32, width)).astype(np.float32)
    bias = random.standard_normal(width).astype(np.float32)
    model = onnx.parser.parse_model(
        f"""
        <ir_version: 8, opset_import: ["" : 17]>
        linear (float[N, 32] x) => (float[N, {width}] y) {{ y = Gemm(x, w, b) }}
        """
    )
    model.graph.initializer.extend(
        [onnx.numpy_helper.from_array(weight, "w"), onnx.numpy_helper.from_array(bias, "b")]
    )
    onnx.save(model, path)
    return weight, bias


@pytest.mark.parametrize("weights", ["embed", "file"])
def test_swap_weights(tmp_path, weights):
    numbers = []
    for seed in range(2):
        numbers.append(write_linear(tmp_path / f"{seed}.onnx", seed))
        adze.compile(tmp_path / f"{seed}.onnx", output=tmp_path / f"{seed}.so", options={"weights": weights})
    write_linear(tmp_path / "wide.onnx", 2, width=80)
    adze.compile(tmp_path / "wide.onnx", output=tmp_path / "wide.so")
    x = np.random.default_rng(3).standard_normal((5, 32)).astype(np.float32)
    expected = [x.astype(np.float64) @ w + b for w, b in numbers]
    module = adze.load(tmp_path / "0.so")
    context = module.context()
    np.testing.assert_allclose(context(x), expected[0], atol=1e-4)
    module.swap_weights(tmp_path / "1.so")
    np.testing.assert_allclose(context(x), expected[1], atol=1e-4)
    with pytest.raises(adze.AdzeError, match="wide.so: expected the code of .*0.so' with other weights"):
        module.swap_weights(tmp_path / "wide.so")
    np.testing.assert_allclose(module(x), expected[1], atol=1e-4)
    module.swap_weights(tmp_path / "0.so")
    np.testing.assert_allclose(context(x), expected[0], atol=1e-4)


def test_wrong_calls(two):
    a, b = np.zeros(2, np.float32), np.zeros(2, np.int64)
    with pytest.raises(adze.ArgumentError, match="expected inputs 'b' too"):
        two(a)
    with pytest.raises(adze.ArgumentError, match="expected 2 inputs, but got 3"):
        two(a, b, b)
    with pytest.raises(adze.ArgumentError, match="but got 'c'"):
        two(a, c=b)
    with pytest.raises(adze.ArgumentError, match="'a' is given twice"):
        two(a, b, a=a)
    with pytest.raises(adze.ArgumentError, match="input 'b': expected i64, but got f32"):
        two(a, a)
    with pytest.raises(adze.ArgumentError, match="input 'a': expected an array of numbers"):
        two(np.array([{}, {}]), b)
    with pytest.raises(ValueError, match="expected 'numpy'"):
        two(a, b, like="abacus")
    with pytest.raises(ValueError):  # an ArgumentError is one
        two(np.zeros(3, np.float32), b)


def test_other_layouts(affine):
    """An array that is not dense is copied; the result is the same."""
    base = np.arange(12, dtype=np.float32).reshape(6, 2)
    expected = base[::2] * 2 + 1
    np.testing.assert_array_equal(affine(base[::2]), expected)
    np.testing.assert_array_equal(affine(np.asfortranarray(base[::2])), expected)
    np.testing.assert_array_equal(affine(base[::2].astype(">f4")), expected)
    readonly = base[::2].copy()
    readonly.flags.writeable = False
    np.testing.assert_array_equal(affine(readonly), expected)
    assert affine(np.zeros((0, 2), np.float32)).shape == (0, 2)


def test_outputs_outlive_everything():
    module = adze.compile(
        parse(
            '<ir_version: 8, opset_import: ["" : 18]> f (float[2] x) => (float[2] y) '
            "{ y = Add(x, x) }"
        )
    )
    y = module(np.array([1, 2], np.float32))
    z = module(np.array([1, 2], np.float32), like="adze")
    view = np.asarray(z)
    del module, z
    gc.collect()
    np.testing.assert_array_equal(y, [2, 4])
    np.testing.assert_array_equal(view, [2, 4])
    y += 1  # and are the caller's own
    np.testing.assert_array_equal(y, [3, 5])


def test_the_interpreters_end(digits):
    """Remaining objects are released without a message."""
    script = (
        "import adze, numpy as np\n"
        f"module = adze.compile({str(DIGITS / 'digits.onnx')!r})\n"
        "context = module.context()\n"
        "x = np.zeros((1, 1, 8, 8), np.float32)\n"
        "y = context(x, like='adze'); z = module.run_async(x).result(); w = y.numpy()\n"
        "cycle = [module, context, y]; cycle.append(cycle)\n"
        "import builtins; builtins.kept = cycle\n"
        "module = context = y = None\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_outputs_share_memory(affine):
    tensor = affine(np.ones((1, 2), np.float32), like="adze")
    assert tensor.shape == (1, 2) and tensor.dtype == "float32" and tensor.device == "cpu"
    assert tensor.nbytes == 8 and len(tensor) == 1
    first, second = tensor.numpy(), np.from_dlpack(tensor)
    first[0, 0] = 7
    assert second[0, 0] == 7


def test_large_outputs_reuse_memory():
    resource = pytest.importorskip("resource")
    module = adze.compile(parse('<ir_version: 8, opset_import: ["" : 18]> relu (float[N] x) => (float[N] y) { y = Relu(x) }'))
    x = np.ones(2 << 20, np.float32)  # 8 MiB
    module(x)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):
        module(x)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before < 20


def test_given_outputs(two):
    a, b = np.ones(4, np.float32), np.arange(4)
    total, twice = np.empty(4, np.float32), np.empty(4, np.int64)
    result = two(a, b, out=(total, twice))
    assert result[0] is total and result[1] is twice
    np.testing.assert_array_equal(total, [1, 2, 3, 4])
    np.testing.assert_array_equal(twice, [0, 2, 4, 6])
    two.run({"a": a, "b": b}, out={"twice": twice, "sum": total})
    with pytest.raises(adze.ArgumentError, match="dense, writable"):
        two(a, b, out=(np.empty(8, np.float32)[::2], twice))
    with pytest.raises(adze.ArgumentError, match="expected 2 outputs"):
        two(a, b, out=total)
    with pytest.raises(adze.ArgumentError, match="expected outputs"):
        two(a, b, out={"sum": total})
    with pytest.raises(adze.ArgumentError, match="output 'sum'"):
        two(a, b, out=(np.empty(5, np.float32), twice))


def test_outputs_of_a_device(two, digits):
    """For a run on a device, numpy's outputs are allocated beforehand."""
    context = two.context()
    a, b = np.ones(3, np.float32), np.arange(3)
    total, twice = context._run_to_host([a, b])
    np.testing.assert_array_equal(total, [1, 2, 3])
    np.testing.assert_array_equal(twice, [0, 2, 4])
    module = adze.compile(
        parse(
            '<ir_version: 8, opset_import: ["" : 18]> f (float[4] x) => (int64[1, n] y) '
            "{ y = NonZero(x) }"
        )
    )
    assert module.context()._run_to_host([np.ones(4, np.float32)]) is None


def test_threads(affine):
    failures = []

    def work(seed):
        x = np.random.default_rng(seed).normal(size=(64, 2)).astype(np.float32)
        expected = np.maximum(x * 2 + 1, 0)
        for _ in range(200):
            if not np.array_equal(affine(x), expected):
                failures.append(seed)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_one_context_from_many_threads(affine):
    context = affine.context()
    failures = []

    def work(seed):
        x = np.full((4, 2), seed, np.float32)
        for _ in range(200):
            if not np.array_equal(context(x), x * 2 + 1):
                failures.append(seed)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_run_async(affine):
    x = np.ones((1, 2), np.float32)
    futures = [affine.run_async(x * i) for i in range(10)]
    for i, future in enumerate(futures):
        np.testing.assert_array_equal(future.result(), [[2 * i + 1] * 2])
    with pytest.raises(adze.ArgumentError):
        affine.run_async(np.zeros(3, np.float32)).result()

    async def main():
        return await asyncio.wrap_future(affine.run_async(x))

    np.testing.assert_array_equal(asyncio.run(main()), [[3, 3]])


def test_profile(digits, tmp_path):
    module, samples, _ = digits
    with module.profile() as profile:
        module(samples)
        module(samples)
    kernels = {e["name"] for e in profile.events}
    rows = profile.summary()
    assert {name for name, _, _ in rows} == kernels and len(kernels) > 1
    assert all(count == 2 and micros > 0 for _, micros, count in rows)
    assert rows == sorted(rows, key=lambda row: -row[1])
    assert any("conv1" in e["args"].get("nodes", []) for e in profile.events)
    path = tmp_path / "trace.json"
    profile.save(path)
    assert json.loads(path.read_text()) == profile.trace
    # Not recorded: another context, and later runs.
    with module.context().profile() as other:
        module(samples)
    assert other.summary() == []


def test_shapes_and_memory(digits):
    module, samples, _ = digits
    assert module.infer_shapes((5, 1, 8, 8)) == ((5, 10),)
    with pytest.raises(adze.ArgumentError):
        module.infer_shapes((5, 2, 8, 8))
    module(samples[:3])
    memory = module.memory
    assert memory["weights_bytes"] == 27456
    assert memory["arena_bytes"] >= memory["arena_lower_bound_bytes"] > 0


def test_save_and_load(digits, tmp_path):
    module, samples, reference = digits
    path = tmp_path / "digits.so"
    module.save(path)
    loaded = adze.load(path, threads=1)
    np.testing.assert_allclose(loaded(samples), reference, rtol=1e-3, atol=1e-5)
    copy = tmp_path / "copy.so"
    loaded.save(copy)
    assert copy.read_bytes() == path.read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["copy.so", "digits.so"]


def test_wrong_files(tmp_path):
    path = tmp_path / "no.so"
    with pytest.raises(adze.AdzeError, match="no.so"):
        adze.load(path)
    path.write_bytes(b"no module")
    with pytest.raises(adze.AdzeError) as caught:
        adze.load(path)
    assert caught.value.kind == "invalid module"
    with pytest.raises(adze.ArgumentError, match="expected device"):
        adze.compile(
            parse(
                '<ir_version: 8, opset_import: ["" : 18]> f (float[2] x) => (float[2] y) '
                "{ y = Add(x, x) }"
            ),
            device="abacus",
        )
    with pytest.raises(adze.ArgumentError, match="option"):
        adze.load(path, options={"no-such": "1"})


def test_run_error():
    """A data-dependent error of the model: the node is named."""
    module = adze.compile(
        parse(
            '<ir_version: 8, opset_import: ["" : 18]> f (float[4] x, int64[1] i) => (float[1] y)'
            " { [pick] y = Gather(x, i) }"
        )
    )
    x = np.arange(4, dtype=np.float32)
    np.testing.assert_array_equal(module(x, np.array([2])), [2])
    with pytest.raises(adze.AdzeError, match="pick") as caught:
        module(x, np.array([9]))
    assert caught.value.kind == "run"


# ---- Other values ----------------------------------------------------------


def test_strings():
    module = adze.compile(
        parse(
            '<ir_version: 8, opset_import: ["" : 20]> f (string[N] a, string[N] b) => '
            "(string[N] c) { c = StringConcat(a, b) }"
        )
    )
    result = module(np.array(["ab", "ü"]), ["c", "d"])
    assert result.tolist() == ["abc", "üd"]


def test_sequences_and_optionals():
    module = adze.compile(
        parse(
            '<ir_version: 8, opset_import: ["" : 18]> f (seq(float[N]) s, float[N] x) => '
            "(seq(float[N]) t, int64 n) { t = SequenceInsert(s, x) n = SequenceLength(t) }"
        )
    )
    a, b = np.array([1], np.float32), np.array([2, 3], np.float32)
    sequence, length = module([a, a], b)
    assert length == 3
    assert [e.tolist() for e in sequence] == [[1], [1], [2, 3]]
    with pytest.raises(adze.ArgumentError, match="expected a list"):
        module(a, b)


def test_small_types():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    module = adze.compile(
        parse(
            '<ir_version: 10, opset_import: ["" : 21]> f (int4[5] x, bfloat16[2] h) => '
            "(float[5] y, bfloat16[2] g, int4[5] z) "
            "{ y = Cast<to = 1>(x) g = Add(h, h) z = Identity(x) }"
        )
    )
    x = np.array([-8, 7, 0, -1, 3], ml_dtypes.int4)
    h = np.array([1.5, -2], ml_dtypes.bfloat16)
    y, g, z = module(x, h)
    np.testing.assert_array_equal(y, [-8, 7, 0, -1, 3])
    assert g.dtype == ml_dtypes.bfloat16 and g.tolist() == [3.0, -4.0]
    assert z.dtype == ml_dtypes.int4 and z.astype(int).tolist() == [-8, 7, 0, -1, 3]
