# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Tensors of other libraries, in and out, without copies."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import adze

X = np.array([[1, -1], [0.5, -0.25]], np.float32)
Y = np.array([[3, 0], [2, 0.5]], np.float32)


class Producer:
    """Counts the references to a tensor that DLPack exports."""

    def __init__(self, array, versioned):
        self.array = array
        self.versioned = versioned
        self.calls = 0

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **kwargs):
        if not self.versioned and "max_version" in kwargs:
            raise TypeError("max_version")
        capsule = self.array.__dlpack__(**kwargs)  # an older numpy knows no max_version
        self.calls += 1
        return capsule


@pytest.mark.parametrize("versioned", [False, True])
def test_any_producer(affine, versioned):
    producer = Producer(X.copy(), versioned)
    alive = weakref.ref(producer.array)
    result = affine(producer, like="numpy")
    np.testing.assert_array_equal(result, Y)
    assert producer.calls == 1
    # No reference remains after the call.
    producer.array = None
    gc.collect()
    assert alive() is None


@pytest.mark.parametrize("max_version", [None, (1, 0)])
def test_unconsumed_capsules(affine, max_version):
    from adze import _tensor

    tensor = affine(X, like="adze")
    view = tensor.numpy()
    for _ in range(100):
        tensor.__dlpack__(max_version=max_version)
    del tensor
    gc.collect()
    assert not _tensor._given
    np.testing.assert_array_equal(view, Y)


def test_old_consumers(affine):
    """A capsule of DLPack's first form is consumed, and released by its consumer."""
    from adze import _tensor

    class Old:
        def __init__(self, tensor):
            self.tensor = tensor

        def __dlpack__(self, **kwargs):
            return self.tensor.__dlpack__()

        def __dlpack_device__(self):
            return self.tensor.__dlpack_device__()

    array = np.from_dlpack(Old(affine(X, like="adze")))
    gc.collect()
    np.testing.assert_array_equal(array, Y)
    assert len(_tensor._given) == 1
    del array
    gc.collect()
    assert not _tensor._given


def test_refused_exports(affine):
    tensor = affine(X, like="adze")
    with pytest.raises(BufferError):
        tensor.__dlpack__(copy=True)
    with pytest.raises(BufferError):
        tensor.__dlpack__(dl_device=(2, 0))


def test_torch(affine):
    torch = pytest.importorskip("torch")
    x = torch.from_numpy(X)
    y = affine(x)
    assert isinstance(y, torch.Tensor)
    np.testing.assert_array_equal(y.numpy(), Y)
    # Transposed, and with gradients.
    np.testing.assert_array_equal(affine(x.t().contiguous().t()), Y)
    np.testing.assert_array_equal(affine(x.clone().requires_grad_()), Y)
    out = torch.empty(2, 2)
    affine(x, out=out)
    np.testing.assert_array_equal(out.numpy(), Y)
    with pytest.raises(adze.ArgumentError, match="dense"):
        affine(x, out=torch.empty(2, 4)[:, ::2])
    # The output's memory is that of the tensor, shared in both directions.
    tensor = affine(x, like="adze")
    shared = torch.from_dlpack(tensor)
    shared[0, 0] = 9
    assert tensor.numpy()[0, 0] == 9


def test_torch_bfloat16():
    torch = pytest.importorskip("torch")
    from conftest import parse

    module = adze.compile(
        parse(
            '<ir_version: 8, opset_import: ["" : 18]> f (bfloat16[2] x) => (bfloat16[2] y) '
            "{ y = Add(x, x) }"
        )
    )
    y = module(torch.tensor([1.5, 2], dtype=torch.bfloat16))
    assert y.dtype == torch.bfloat16 and y.tolist() == [3.0, 4.0]


def test_jax(affine):
    jax = pytest.importorskip("jax")
    y = affine(jax.numpy.asarray(X))
    assert isinstance(y, jax.Array)
    np.testing.assert_array_equal(np.asarray(y), Y)


def test_cupy(affine):
    cupy = pytest.importorskip("cupy")
    if not cupy.cuda.is_available():
        pytest.skip("no GPU")
    with pytest.raises(adze.AdzeError):
        affine(cupy.asarray(X))


def test_mixed(two):
    torch = pytest.importorskip("torch")
    total, twice = two(np.ones(2, np.float32), torch.tensor([1, 2]))
    assert isinstance(total, np.ndarray) and isinstance(twice, np.ndarray)
    total, _ = two(torch.ones(2), [1, 2])
    assert isinstance(total, torch.Tensor)
