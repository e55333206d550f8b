# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""ONNX's own node tests through ONNX Runtime, with the execution provider first.

Runs a part of them by default; ADZE_ONNX_TESTS=all runs all. Models that ONNX Runtime cannot load
are skipped. The last test prints the share of nodes that the provider has taken.
"""

from __future__ import annotations

import os
import re

os.environ.setdefault("ALLOW_RELEASED_ONNX_OPSET_ONLY", "0")

import numpy as np  # noqa: E402
import pytest  # noqa: E402

onnx = pytest.importorskip("onnx")
ml_dtypes = pytest.importorskip("ml_dtypes")
from onnx.backend.test.loader import load_model_tests  # noqa: E402
from onnx.backend.test.runner import Runner  # noqa: E402

from ort_sessions import NAME, VERSION, get_assignment, make_options, make_reference, ort  # noqa: E402

SOME = (
    "test_(add|conv|gemm_all|matmul|relu|softmax_axis|layer_normalization_2d|maxpool_2d_default|"
    "gather_|concat_1d|split_equal|reduce_sum_keepdims|reshape_|cast_FLOAT_to|lstm|where|top_k|"
    "sequence_insert|sequence_map_(add_2|identity_1)|split_to_sequence|optional_|if_|loop|string_concat|attention_4d|affine_grid|"
    "quantizelinear_axis|dequantizelinear_u?int4|nonzero|unique|range|tile|resize_down)"
)
ALL = os.environ.get("ADZE_ONNX_TESTS") == "all"

#: Names of cases that differ from the expected values for a known reason.
LEFT_OUT = {
    "test_bernoulli": "expected values of another random generator",
    "test_dft_inverse": "rounding noise of f32 below the tolerance",
    "test_loop16_seq_none": "the runner cannot compare a sequence of scalars",
    "test_attention_4d_causal_fp16_expanded": "each step rounds to f16: one bit of 2 elements",
}

#: Types that NumPy lacks: ONNX's number, and the storage of one element.
STORAGE = {
    np.dtype(ml_dtypes.bfloat16): (onnx.TensorProto.BFLOAT16, np.uint16),
    np.dtype(ml_dtypes.float8_e4m3fn): (onnx.TensorProto.FLOAT8E4M3FN, np.uint8),
    np.dtype(ml_dtypes.float8_e4m3fnuz): (onnx.TensorProto.FLOAT8E4M3FNUZ, np.uint8),
    np.dtype(ml_dtypes.float8_e5m2): (onnx.TensorProto.FLOAT8E5M2, np.uint8),
    np.dtype(ml_dtypes.float8_e5m2fnuz): (onnx.TensorProto.FLOAT8E5M2FNUZ, np.uint8),
}

CASES = {
    case.name: case for case in load_model_tests(kind="node") if ALL or re.match(SOME, case.name)
}
taken = {"models": 0, "whole": 0, "nodes": 0, "ours": 0, "unsupported": 0}


def count_nodes(session):
    assignment = get_assignment(session)
    if assignment is None:
        return
    ours = sum(len(nodes) for name, nodes in assignment if name == NAME)
    count = sum(len(nodes) for _, nodes in assignment)
    taken["models"] += 1
    taken["whole"] += ours == count
    taken["nodes"] += count
    taken["ours"] += ours


def to_arrays(values):
    return [
        onnx.numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else value
        for value in values
    ]


def is_plain(values):
    """Returns True if NumPy has the types of all values."""
    return all(
        is_plain(value) if isinstance(value, list) else is_plain_type(np.asarray(value).dtype)
        for value in values
        if value is not None
    )


def is_plain_type(dtype):
    return dtype.isbuiltin == 1 or dtype.kind in "SUO"


def run_bound(session, inputs, expected):
    """Runs with memory of types that NumPy lacks bound to inputs and outputs."""
    binding, held, results = session.io_binding(), [], []
    for value, array in zip(session.get_inputs(), inputs):
        number, storage = STORAGE.get(array.dtype, (None, array.dtype))
        array = np.array(array, order="C").view(storage)
        element = number or array.dtype.type
        binding.bind_input(value.name, "cpu", 0, element, array.shape, array.ctypes.data)
        held.append(array)
    for value, array in zip(session.get_outputs(), expected):
        number, storage = STORAGE.get(array.dtype, (None, array.dtype))
        result = np.zeros(array.shape, storage)
        element = number or result.dtype.type
        binding.bind_output(value.name, "cpu", 0, element, result.shape, result.ctypes.data)
        results.append(result.view(array.dtype))
    session.run_with_iobinding(binding)
    return results


def run_case(session, inputs, expected):
    if is_plain(inputs) and is_plain(expected):
        feeds = {}
        for value, array in zip(session.get_inputs(), inputs):
            is_list = isinstance(array, list) or array is None
            feeds[value.name] = array if is_list else np.asarray(array)
        return session.run(None, feeds)
    arrays = [*inputs, *expected]
    if not all(
        isinstance(a, np.ndarray) and (a.dtype in STORAGE or a.dtype.isbuiltin == 1) for a in arrays
    ):
        pytest.skip("values that cannot be given to ONNX Runtime from Python")
    return run_bound(session, [np.asarray(a) for a in inputs], [np.asarray(a) for a in expected])


def load(case):
    model = case.model.SerializeToString()
    try:
        return ort.InferenceSession(model, make_options(fallback=True), enable_fallback=0)
    except Exception as error:  # noqa: BLE001
        try:
            make_reference(model)
        except Exception as reason:  # noqa: BLE001
            taken["unsupported"] += 1
            pytest.skip(f"ONNX Runtime: {reason}")
        raise error


@pytest.mark.parametrize("name", CASES)
def test_node(name):
    for prefix, reason in LEFT_OUT.items():
        if name.startswith(prefix):
            pytest.skip(reason)
    case = CASES[name]
    session = load(case)
    count_nodes(session)
    for inputs, expected in case.data_sets:
        inputs, expected = to_arrays(inputs), to_arrays(expected)
        got = run_case(session, inputs, expected)
        Runner.assert_similar_outputs(expected, got, case.rtol, case.atol, case.model)


def test_share_of_nodes(capsys):
    if VERSION < (1, 24) or not taken["models"]:
        pytest.skip("ONNX Runtime does not say which nodes a provider has")
    with capsys.disabled():
        print(
            f"\nAdzeExecutionProvider: {taken['ours']} of {taken['nodes']} nodes, "
            f"{taken['whole']} of {taken['models']} models as a whole; "
            f"{taken['unsupported']} models ONNX Runtime cannot load"
        )
    assert taken["ours"] >= 0.9 * taken["nodes"]
