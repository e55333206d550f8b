#!/usr/bin/env python3
"""Trains the digits example: a small CNN on scikit-learn's digits (1,797 scans of handwritten digits, 8x8), in NumPy.

  train.py        writes digits.onnx, samples.npy, labels.npy and reference.npy to its own folder

Needs: numpy, scikit-learn, onnx, onnxruntime. Not part of `make demo`: its results are shipped. The samples are the sixth of
the data that is held out from training; reference.npy has ONNX Runtime's logits.
"""
import os
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

rng = np.random.default_rng(7)


def patches(x):
    """Returns the 3x3 patches of a zero-padded NCHW batch: [N, H, W, C*9]."""
    n, c, h, w = x.shape
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    view = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    return view.transpose(0, 2, 3, 1, 4, 5).reshape(n, h, w, c * 9)


class Conv:
    """A 3x3 convolution with padding 1 and without bias, as a batch normalisation follows."""
    def __init__(self, cin, cout):
        self.w = (rng.standard_normal((cout, cin, 3, 3)) * np.sqrt(2 / (cin * 9))).astype(np.float32)
        self.params = {"w": self.w}

    def forward(self, x, train):
        self.shape, self.cols = x.shape, patches(x)
        return (self.cols @ self.w.reshape(len(self.w), -1).T).transpose(0, 3, 1, 2)

    def backward(self, dy):
        dy = dy.transpose(0, 2, 3, 1)
        cout = dy.shape[-1]
        self.grads = {"w": (dy.reshape(-1, cout).T @ self.cols.reshape(-1, self.cols.shape[-1])).reshape(self.w.shape)}
        n, c, h, w = self.shape
        dcols = (dy @ self.w.reshape(cout, -1)).reshape(n, h, w, c, 3, 3)
        dx = np.zeros((n, c, h + 2, w + 2), np.float32)
        for i in range(3):
            for j in range(3):
                dx[:, :, i:i + h, j:j + w] += dcols[..., i, j].transpose(0, 3, 1, 2)
        return dx[:, :, 1:-1, 1:-1]


class BatchNorm:
    def __init__(self, c):
        self.gamma, self.beta = np.ones(c, np.float32), np.zeros(c, np.float32)
        self.mean, self.var = np.zeros(c, np.float32), np.ones(c, np.float32)
        self.params = {"gamma": self.gamma, "beta": self.beta}

    def forward(self, x, train):
        mean, var = self.mean, self.var
        if train:
            mean, var = x.mean((0, 2, 3)), x.var((0, 2, 3))
            self.mean += 0.05 * (mean - self.mean)
            self.var += 0.05 * (var - self.var)
        self.scale = 1 / np.sqrt(var + 1e-5)
        self.norm = (x - mean[:, None, None]) * self.scale[:, None, None]
        return self.norm * self.gamma[:, None, None] + self.beta[:, None, None]

    def backward(self, dy):
        axes, count = (0, 2, 3), dy[:, 0].size
        self.grads = {"gamma": (dy * self.norm).sum(axes), "beta": dy.sum(axes)}
        inner = dy - (self.grads["beta"] / count)[:, None, None] - self.norm * (self.grads["gamma"] / count)[:, None, None]
        return inner * (self.gamma * self.scale)[:, None, None]


class Relu:
    params = {}

    def forward(self, x, train):
        self.mask = x > 0
        return x * self.mask

    def backward(self, dy):
        return dy * self.mask


class MaxPool:
    """2x2 max pooling."""
    params = {}

    def forward(self, x, train):
        n, c, h, w = x.shape
        cells = x.reshape(n, c, h // 2, 2, w // 2, 2)
        y = cells.max((3, 5))
        self.mask = cells == y[:, :, :, None, :, None]
        return y

    def backward(self, dy):
        dx = self.mask * dy[:, :, :, None, :, None]
        n, c, h, _, w, _ = dx.shape
        return dx.reshape(n, c, h * 2, w * 2)


class Dense:
    def __init__(self, cin, cout):
        self.w = (rng.standard_normal((cout, cin)) * np.sqrt(2 / cin)).astype(np.float32)
        self.b = np.zeros(cout, np.float32)
        self.params = {"w": self.w, "b": self.b}

    def forward(self, x, train):
        self.shape, self.x = x.shape, x.reshape(len(x), -1)
        return self.x @ self.w.T + self.b

    def backward(self, dy):
        self.grads = {"w": dy.T @ self.x, "b": dy.sum(0)}
        return (dy @ self.w).reshape(self.shape)


def train(net, x, labels, epochs=40, batch=64):
    """Trains by Adam with a cosine schedule."""
    state = {}
    steps, step = epochs * (len(x) // batch), 0
    for epoch in range(epochs):
        order, total = rng.permutation(len(x)), 0.0
        for start in range(0, len(x) - batch + 1, batch):
            pick = order[start:start + batch]
            y = x[pick]
            for layer in net:
                y = layer.forward(y, True)
            p = np.exp(y - y.max(1, keepdims=True))
            p /= p.sum(1, keepdims=True)
            total -= np.log(p[np.arange(batch), labels[pick]] + 1e-9).mean()
            dy = p
            dy[np.arange(batch), labels[pick]] -= 1
            dy = (dy / batch).astype(np.float32)
            for layer in reversed(net):
                dy = layer.backward(dy)
            step += 1
            rate = 2e-3 * 0.5 * (1 + np.cos(np.pi * step / steps))
            for layer in net:
                for name, value in layer.params.items():
                    m, v = state.get((layer, name), (0.0, 0.0))
                    g = layer.grads[name]
                    m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
                    state[layer, name] = m, v
                    value -= (rate * (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)).astype(np.float32)
        if epoch % 10 == 9:
            print(f"epoch {epoch + 1}: loss {total / (len(x) // batch):.4f}")


def export(net, path):
    conv1, bn1, _, _, conv2, bn2, _, _, dense = net
    inits, nodes = [], []

    def init(name, value):
        inits.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def block(i, conv, bn, x):
        stats = [init(f"bn{i}.{k}", getattr(bn, k)) for k in ("gamma", "beta", "mean", "var")]
        nodes.append(helper.make_node("Conv", [x, init(f"conv{i}.weight", conv.w)], [f"conv{i}.out"], name=f"conv{i}",
                                      kernel_shape=[3, 3], pads=[1, 1, 1, 1]))
        nodes.append(helper.make_node("BatchNormalization", [f"conv{i}.out"] + stats, [f"bn{i}.out"], name=f"bn{i}", epsilon=1e-5))
        nodes.append(helper.make_node("Relu", [f"bn{i}.out"], [f"relu{i}.out"], name=f"relu{i}"))
        nodes.append(helper.make_node("MaxPool", [f"relu{i}.out"], [f"pool{i}.out"], name=f"pool{i}", kernel_shape=[2, 2], strides=[2, 2]))
        return f"pool{i}.out"

    x = block(2, conv2, bn2, block(1, conv1, bn1, "image"))
    nodes.append(helper.make_node("Flatten", [x], ["flat"], name="flatten", axis=1))
    nodes.append(helper.make_node("Gemm", ["flat", init("fc.weight", dense.w), init("fc.bias", dense.b)], ["logits"], name="fc", transB=1))
    graph = helper.make_graph(nodes, "digits",
                              [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", 1, 8, 8])],
                              [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 10])], inits)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name="adze-digits")
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)


def main():
    os.chdir(os.path.dirname(os.path.abspath(__file__)))
    data = load_digits()
    images = (data.images / 16).astype(np.float32)[:, None]
    x, held_x, labels, held_labels = train_test_split(images, data.target, test_size=300, random_state=1, stratify=data.target)
    net = [Conv(1, 16), BatchNorm(16), Relu(), MaxPool(), Conv(16, 32), BatchNorm(32), Relu(), MaxPool(), Dense(128, 10)]
    train(net, x, labels)
    export(net, "digits.onnx")
    np.save("samples.npy", held_x)
    np.save("labels.npy", held_labels.astype(np.int64))
    session = onnxruntime.InferenceSession("digits.onnx", providers=["CPUExecutionProvider"])
    logits = session.run(None, {"image": held_x})[0]
    np.save("reference.npy", logits)
    print(f"held-out accuracy {(logits.argmax(1) == held_labels).mean():.4f} of {len(held_labels)}")


main()
