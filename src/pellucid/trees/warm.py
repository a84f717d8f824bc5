"""Compiling the kernels before anybody waits for them: for images, servers and impatient people."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pellucid.trees.cells import find_boxes
from pellucid.trees.engine import TreeGame
from pellucid.trees.ensemble import Nodes, TreeEnsemble
from pellucid.trees.linked_game import Draws, Leaves, LinkedGame
from pellucid.trees.nearest import ACCEPT, REJECT, Nearest, Verdict, Wanted
from pellucid.trees.predict import predict


def warm() -> Iterator[str]:
    """Compiles what `shap` and `counterfactuals` of trees need, where it is not compiled yet; says what is next."""
    trees, rows = _example()
    many = np.repeat(rows, 32, axis=0)  # a few rows and many go through versions of their own
    yield "predictions"
    predict(trees, rows)
    yield "Shapley values and pairs in the path game"
    for some in (rows, many):
        TreeGame(trees, "path").attribute(some, interactions="shapley")
    yield "Shapley values and pairs in the marginal game"
    for some in (rows, many):
        TreeGame(trees, "marginal", rows).attribute(some, interactions="shapley")
    yield "Shapley values of probabilities"
    players = np.arange(trees.n_features)
    leaves = Leaves.of(trees, players)
    assert leaves is not None
    game = LinkedGame(trees, leaves, "logistic", rows)
    game.exact(rows)
    game.drawn(rows, Draws.of(len(rows), 2, trees.n_features, np.random.default_rng(0)))
    yield "nearest counterfactuals"
    boxes = find_boxes(trees, players, [None, None])
    above = Wanted(np.ones((1, 1)), np.ones(1), np.full(1, np.inf))
    verdicts = iter([Verdict(REJECT)])  # of the first row that is found; the others are taken
    costs, own = [np.array([0.0, 1.0, np.inf])] * 2, np.zeros(2, dtype=np.int64)
    Nearest(boxes, costs, own, above, judge=lambda *_: next(verdicts, Verdict(ACCEPT))).run()


def _example() -> tuple[TreeEnsemble, np.ndarray]:
    """Two stumps, one on each of two columns."""
    nodes = Nodes(
        feature=np.array([0, -1, -1, 1, -1, -1]),
        threshold=np.array([0.5, 0.0, 0.0, 0.5, 0.0, 0.0]),
        left=np.array([1, -1, -1, 4, -1, -1]),
        right=np.array([2, -1, -1, 5, -1, -1]),
        missing_left=np.zeros(6, dtype=np.bool_),
        cover=np.array([2.0, 1.0, 1.0, 2.0, 1.0, 1.0]),
        value=np.array([0.0, -1.0, 1.0, 0.0, -1.0, 1.0]),
    )
    trees = TreeEnsemble(nodes, np.array([0, 3]), np.array([0, 0]), np.zeros(1), 2)
    return trees, np.array([[0.0, 1.0], [1.0, 0.0]])
