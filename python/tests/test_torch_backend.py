# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""torch.compile(model, backend="adze")."""

from __future__ import annotations

import logging

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxscript")
from adze.torch_backend import adze as backend  # noqa: E402


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    torch.manual_seed(0)


@pytest.fixture
def said(caplog):
    """Returns the log of the backend: the reasons why graphs run without it."""
    caplog.set_level(logging.WARNING, "adze.torch")
    return lambda: [r.getMessage() for r in caplog.records if r.name == "adze.torch"]


def make_net():
    net = torch.nn.Sequential(
        torch.nn.Conv2d(3, 4, 3),
        torch.nn.BatchNorm2d(4),
        torch.nn.ReLU(),
        torch.nn.Flatten(),
        torch.nn.Linear(144, 5),
    ).eval()
    return net


def test_network(said):
    net = make_net()
    compiled = torch.compile(net, backend=backend)
    with torch.no_grad():
        for batch in (1, 2, 3, 7):  # the second one makes the batch dynamic
            x = torch.randn(batch, 3, 8, 8)
            torch.testing.assert_close(compiled(x), net(x), rtol=1e-4, atol=1e-5)
    assert said() == []


def test_attention(said):
    layer = torch.nn.TransformerEncoderLayer(32, 4, 64, batch_first=True).eval()
    x = torch.randn(2, 9, 32)
    with torch.no_grad():
        torch.testing.assert_close(torch.compile(layer, backend=backend)(x), layer(x))
        (text,) = said()
        assert "set_fastpath_enabled" in text
        torch._dynamo.reset()
        torch.backends.mha.set_fastpath_enabled(False)
        try:
            compiled = torch.compile(layer, backend=backend)
            for rows in (9, 5, 12):
                x = torch.randn(2, rows, 32)
                torch.testing.assert_close(compiled(x), layer(x), rtol=1e-4, atol=1e-5)
        finally:
            torch.backends.mha.set_fastpath_enabled(True)
    assert len(said()) == 1


def test_recurrent_network(said):
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = torch.nn.Embedding(100, 32)
            self.lstm = torch.nn.LSTM(32, 48, batch_first=True)
            self.out = torch.nn.Linear(48, 10)

        def forward(self, ids):
            hidden, _ = self.lstm(self.embed(ids))
            return self.out(hidden[:, -1]), None

    net = Net().eval()
    ids = torch.randint(0, 100, (2, 7))
    with torch.no_grad():
        scores, nothing = torch.compile(net, backend=backend)(ids)
        torch.testing.assert_close(scores, net(ids)[0], rtol=1e-4, atol=1e-5)
    assert nothing is None


def test_inference_mode(said):
    x = torch.randn(3, 4)
    with torch.inference_mode():
        net = torch.nn.Linear(4, 2).eval()
        torch.testing.assert_close(torch.compile(net, backend=backend)(x), net(x))
    assert said() == []


def test_dynamic_sizes(said):
    """One module supports all sizes other than 0 and 1, also if sizes are computed."""
    import adze.torch_backend

    compiled = []
    original = adze.torch_backend.compile

    def count(*args, **kwargs):
        compiled.append(args)
        return original(*args, **kwargs)

    def f(x):
        return x.reshape(x.shape[0] * 2, -1) + x.shape[0]

    adze.torch_backend.compile = count
    try:
        g = torch.compile(f, backend=backend, dynamic=True)
        with torch.no_grad():
            for rows in (3, 4, 9, 1, 5):
                x = torch.randn(rows, 6)
                torch.testing.assert_close(g(x), f(x))
    finally:
        adze.torch_backend.compile = original
    assert len(compiled) <= 2
    assert said() == []


def test_new_parameters_count(said):
    net = torch.nn.Linear(4, 2).eval()
    compiled = torch.compile(net, backend=backend)
    x = torch.randn(3, 4)
    with torch.no_grad():
        torch.testing.assert_close(compiled(x), net(x))
        net.weight.mul_(-2)
        torch.testing.assert_close(compiled(x), net(x))
    assert said() == []


def test_gradients_run_without(said):
    net = torch.nn.Linear(4, 2)
    torch.compile(net, backend=backend)(torch.randn(3, 4)).sum().backward()
    assert net.weight.grad is not None
    assert any("gradients" in text for text in said())


def test_graph_breaks(said):
    def f(x):
        y = x.sin() + 1
        torch._dynamo.graph_break()
        return y * 2, torch.linalg.eigvals(y)

    x = torch.randn(4, 4)
    with torch.no_grad():
        doubled, values = torch.compile(f, backend=backend)(x)
    torch.testing.assert_close(doubled, (x.sin() + 1) * 2)
    expected = torch.linalg.eigvals(x.sin() + 1)
    torch.testing.assert_close(values.abs().sort()[0], expected.abs().sort()[0])
    (text,) = said()
    assert "linalg_eig" in text


def test_writes_run_without(said):
    def f(x):
        x.add_(1)
        return x * 2

    x = torch.zeros(3)
    with torch.no_grad():
        result = torch.compile(f, backend=backend)(x)
    assert x.tolist() == [1, 1, 1] and result.tolist() == [2, 2, 2]
    assert any("writes to its inputs" in text for text in said())


def test_views_run_without(said):
    x = torch.zeros(3, 2)
    with torch.no_grad():
        view, _ = torch.compile(lambda x: (x.t(), x + 1), backend=backend)(x)
    view.add_(5)
    assert x[0, 0] == 5
    assert any("shares memory" in text for text in said())


def test_training_statistics(said):
    norm, same = torch.nn.BatchNorm1d(3), torch.nn.BatchNorm1d(3)
    x = torch.randn(8, 3)
    with torch.no_grad():
        torch.compile(norm, backend=backend)(x)
        same(x)
    torch.testing.assert_close(norm.running_mean, same.running_mean)
    assert int(norm.num_batches_tracked) == 1


def test_options(said):
    def f(x):
        return x * 3

    x = torch.ones(2)
    with torch.no_grad():
        assert torch.compile(f, backend=backend, options={"optimize": 1})(x).tolist() == [3, 3]
        assert said() == []
        torch._dynamo.reset()
        wrong = torch.compile(f, backend=backend, options={"precision": "f9"})
        assert wrong(x).tolist() == [3, 3]
    assert any("--precision" in text for text in said())


def test_registered_name():
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        distribution("adze")
    except PackageNotFoundError:
        pytest.skip("the package is not installed")
    assert "adze" in torch._dynamo.list_backends()
    with torch.no_grad():
        assert torch.compile(lambda x: x + 1, backend="adze")(torch.ones(2)).tolist() == [2, 2]


def test_models_beyond_protobuf(said, monkeypatch):
    """Weights that exceed a serialized model are passed in files."""
    import adze.torch_backend

    monkeypatch.setattr(adze.torch_backend, "_MAX_BYTES_IN_MEMORY", 16)
    net = torch.nn.Linear(64, 8).eval()
    x = torch.randn(3, 64)
    with torch.no_grad():
        torch.testing.assert_close(torch.compile(net, backend=backend)(x), net(x))
    assert said() == []
