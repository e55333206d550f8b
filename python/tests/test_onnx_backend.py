# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""ONNX's own backend tests through adze.backend.

A part of them by default; ADZE_ONNX_TESTS=all runs all node tests. What the
compiler says it does not support is skipped, as ONNX's runner provides.
"""

from __future__ import annotations

import os

import pytest

pytest.importorskip("onnx")
import onnx.backend.test  # noqa: E402
from onnx.backend.test.runner import BackendIsNotSupposedToImplementIt  # noqa: E402

import adze  # noqa: E402
from adze.backend import AdzeBackend  # noqa: E402


class Tested(AdzeBackend):
    @classmethod
    def prepare(cls, model, device="CPU", **kwargs):
        try:
            return super().prepare(model, device, **kwargs)
        except adze.CompileError as error:
            if error.status == "unsupported":
                raise BackendIsNotSupposedToImplementIt(str(error)) from error
            raise

    @classmethod
    def supports_device(cls, device):
        return device == "CPU"


SOME = (
    "add|conv|gemm|matmul|relu|softmax|layer_normalization|max_pool_2d|gather|concat|split|"
    "reduce_sum|reshape|cast_FLOAT_to|cast_BFLOAT16|lstm|resize_upsample|where|topk|sequence_"
    "|optional_|if_|loop|string_|attention_4d|quantizelinear"
)

runner = onnx.backend.test.BackendTest(Tested, __name__)
if os.environ.get("ADZE_ONNX_TESTS") != "all":
    runner.include(f"test_({SOME})[a-z0-9_A-Z]*_cpu")
else:
    runner.include("test_[a-z0-9_A-Z]*_cpu")
cases = runner.test_cases
OnnxNodeTests = cases["OnnxBackendNodeModelTest"]
