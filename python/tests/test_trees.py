# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Tree ensembles against a traversal in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import adze

onnx = pytest.importorskip("onnx")

MODES = {
    "BRANCH_LEQ": np.less_equal,
    "BRANCH_LT": np.less,
    "BRANCH_GTE": np.greater_equal,
    "BRANCH_GT": np.greater,
    "BRANCH_EQ": np.equal,
    "BRANCH_NEQ": np.not_equal,
}
FEATURES = 5


class Forest:
    """Returns trees of random shapes, whose thresholds are among the values of rows."""

    def __init__(self, rng, trees, depth, targets, modes, shared):
        self.rng, self.targets, self.modes = rng, targets, modes
        self.nodes, self.weights = [], []  # rows of attributes
        for tree in range(trees):
            self.tree, self.count = tree, 0
            self.target = None if shared else int(rng.integers(targets))
            self.grow(depth)

    def grow(self, depth):
        place, self.count = self.count, self.count + 1
        if depth == 0 or self.rng.random() < 0.1:
            self.nodes.append((self.tree, place, 0, "LEAF", 0.0, 0, 0, 0))
            for target in range(self.targets) if self.target is None else [self.target]:
                self.weights.append((self.tree, place, target, float(self.rng.integers(-8, 9))))
            return place
        yes, no = self.grow(depth - 1), self.grow(depth - 1)
        mode = str(self.rng.choice(self.modes))
        self.nodes.append(
            (
                self.tree,
                place,
                int(self.rng.integers(FEATURES)),
                mode,
                float(self.rng.integers(-2, 3)),
                yes,
                no,
                int(self.rng.random() < 0.3),
            )
        )
        return place

    def make_model(self, dtype, aggregate):
        order = np.argsort([(tree * 10**6 + place) for tree, place, *_ in self.nodes])
        columns = list(zip(*[self.nodes[i] for i in order]))
        weights = list(zip(*self.weights))
        names = "treeids nodeids featureids modes values truenodeids falsenodeids missing_value_tracks_true"
        attributes = {f"nodes_{name}": list(column) for name, column in zip(names.split(), columns)}
        attributes |= {f"target_{name}": list(column) for name, column in zip("treeids nodeids ids weights".split(), weights)}
        node = onnx.helper.make_node(
            "TreeEnsembleRegressor", ["x"], ["y"], domain="ai.onnx.ml", n_targets=self.targets, aggregate_function=aggregate, **attributes
        )
        kind = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        graph = onnx.helper.make_graph(
            [node],
            "forest",
            [onnx.helper.make_tensor_value_info("x", kind, ["rows", FEATURES])],
            [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, ["rows", self.targets])],
        )
        opsets = [onnx.helper.make_opsetid("", 17), onnx.helper.make_opsetid("ai.onnx.ml", 3)]
        return onnx.helper.make_model(graph, opset_imports=opsets, ir_version=8)

    def walk(self, x, aggregate):
        nodes = {(tree, place): rest for tree, place, *rest in self.nodes}
        weights = {}
        for tree, place, target, weight in self.weights:
            weights.setdefault((tree, place), []).append((target, weight))
        trees = 1 + max(tree for tree, *_ in self.nodes)
        seen = [[[] for _ in range(self.targets)] for _ in x]
        for row, values in enumerate(x):
            for tree in range(trees):
                place = 0
                while nodes[tree, place][1] != "LEAF":
                    feature, mode, threshold, yes, no, tracks = nodes[tree, place]
                    value = values[feature]
                    holds = MODES[mode](value, threshold) or (tracks and np.isnan(value))
                    place = yes if holds else no
                for target, weight in weights.get((tree, place), []):
                    seen[row][target].append(weight)
        combine = {"SUM": sum, "AVERAGE": lambda w: sum(w) / trees, "MIN": min, "MAX": max}[aggregate]
        return np.array([[combine(weights) for weights in row] for row in seen], np.float32)


@pytest.mark.parametrize("aggregate", ["SUM", "AVERAGE", "MIN", "MAX"])
@pytest.mark.parametrize(
    "trees, depth, targets, shared, dtype",
    [
        (1, 3, 1, False, np.float32),
        (40, 6, 1, False, np.float32),
        (40, 6, 1, False, np.float64),
        (90, 4, 3, False, np.float32),  # grouped by target and filled up
        (33, 5, 4, True, np.float64),  # every leaf says something of all targets
    ],
)
def test_forests(aggregate, trees, depth, targets, shared, dtype):
    rng = np.random.default_rng(trees * 10 + depth)
    for modes in (["BRANCH_LEQ"], list(MODES)):
        forest = Forest(rng, trees, depth, targets, modes, shared)
        module = adze.compile(forest.make_model(dtype, aggregate))
        for rows in (1, 37):
            x = rng.integers(-3, 4, (rows, FEATURES)).astype(dtype)
            x[rng.random(x.shape) < 0.1] = np.nan
            expected = forest.walk(x, aggregate)
            assert np.allclose(module(x), expected, rtol=1e-6, atol=0)
