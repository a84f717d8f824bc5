"""Surrogate trees: one regression tree for all explained outputs of the model.

References. Craven and Shavlik 1996, "Extracting tree-structured representations of trained networks"; Breiman,
Friedman, Olshen and Stone 1984; Bohanec and Bratko 1994 for the best subtree of every size.

Definition. Let f(x) be the model's predictions for the rows. The tree with k leaves is the subtree with k leaves and
the least squared error sum w (f - g)^2 of a large tree grown to f, best split first, in leaves of at least five rows;
of several large trees with different first splits the one whose subtree is best (`look_ahead`). g of a leaf is the mean
of f there. Several outputs (classes) share one tree: their squared errors are added up. Categories are split by their
levels, in the order of mean predictions; missing values go to the side where they fit better.

When it misleads. (1) On the rows it was fitted to, a large tree looks far better than it is: all R2 are of held-out
rows. (2) Trees are unstable: other rows of the same kind may give other splits that predict as well. (3) It says what
the model does, not what is true of the world. (4) Steps stand for smooth effects: many leaves may say one line. (5) It
can be good overall and bad in a part of the data: see the subgroups.

Cost. One model row for each row, and trees for each fold and once for all rows: n log n for each feature and level.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.explanations.surrogate import SurrogateTree
from pellucid.methods.surrogate.fitting.columns import Columns
from pellucid.methods.surrogate.fitting.conditions import path_words, walk
from pellucid.methods.surrogate.fitting.growing import Grown
from pellucid.methods.surrogate.fitting.look_ahead import LookAhead
from pellucid.methods.surrogate.fitting.task import Task
from pellucid.models import Predictor
from pellucid.runner import Run
from pellucid.stats import weighted_mean, weighted_quantiles

LEAVES = 8
SIZES = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_BINS = 40
_RESAMPLED = 20
_ROOTS = 2  # first splits that are tried when rows are drawn again


@dataclass(frozen=True, eq=False)
class TreeFitter:
    """Trees of every size over the rows of a task."""

    task: Task
    columns: Columns
    sizes: Sequence[int]

    @classmethod
    def of(cls, task: Task, size: int | None) -> TreeFitter:
        """Sizes up to 128 leaves, or to twice the wanted one, as far as the rows allow."""
        most = max(SIZES[-1], 2 * (size or 0))
        fits = int(task.weights.sum() / task.least)
        sizes = {one for one in (*SIZES, most, size or LEAVES) if one <= max(fits, 2, size or 0)}
        return cls(task, Columns.of(task.data), tuple(sorted(sizes)))

    def fit(self, rows: IntArray) -> FittedTree:
        """The large tree of these rows."""
        task = self.task
        orders = self.columns.orders(rows, task.scaled, task.weights)
        matrix = self.columns.ordered(orders)
        of_rows = matrix[rows], task.scaled[rows], task.weights[rows]
        trees = LookAhead.of(*of_rows, least=task.least, most=max(self.sizes))
        return FittedTree(task, trees, matrix, orders)


@dataclass(frozen=True, eq=False)
class FittedTree:
    """Large trees and the matrix in which they read rows."""

    task: Task
    trees: LookAhead
    matrix: FloatArray
    orders: dict[int, IntArray]

    @property
    def largest(self) -> int:
        """So many leaves of at least five rows there are."""
        return self.trees.largest

    def predict(self, rows: IntArray, size: int) -> FloatArray:
        """The mean prediction in the leaf of each row."""
        grown = self.trees.best(size)
        return np.asarray(grown.value[grown.reach(self.matrix[rows], grown.leaves(size))] * self.task.unit)


# -- the tree in words and numbers -------------------------------------------------------------------


def described(
    fitter: TreeFitter, fitted: FittedTree, size: int, held: FloatArray, predictor: Predictor
) -> SurrogateTree:
    """The tree of one size: nodes from the root down, left before right; distributions of the model's predictions."""
    task, grown = fitter.task, fitted.trees.best(size)
    ends = grown.leaves(size)
    nodes, sides, paths = walk(fitter.columns, grown, fitted.orders, ends)
    number = {node: place for place, node in enumerate(nodes)}
    inner = [not ends[node] for node in nodes]
    reached = grown.reach(fitted.matrix, ends)
    leaves = [node for node in nodes if ends[node]]
    mass = np.zeros(len(grown.left))
    np.add.at(mass, reached, task.weights)
    for node in reversed(nodes):
        if not ends[node]:
            mass[node] = mass[grown.left[node]] + mass[grown.right[node]]
    data = task.data
    return SurrogateTree(
        features=tuple(
            data.schema.names[sides[node][0].feature] if inside else ""
            for node, inside in zip(nodes, inner, strict=True)
        ),
        yes=tuple(sides[node][0].words(data) if inside else "" for node, inside in zip(nodes, inner, strict=True)),
        no=tuple(sides[node][1].words(data) if inside else "" for node, inside in zip(nodes, inner, strict=True)),
        left=np.array([number[int(grown.left[node])] if not ends[node] else -1 for node in nodes], dtype=np.int64),
        right=np.array([number[int(grown.right[node])] if not ends[node] else -1 for node in nodes], dtype=np.int64),
        predictions=grown.value[nodes] * task.unit,
        shares=mass[nodes] / task.weights.sum(),
        rules=tuple(path_words(paths[node], data) for node in leaves),
        **_distributions(task, [reached == node for node in leaves], held, predictor),
    )


def _distributions(task: Task, members: list[Any], held: FloatArray, predictor: Predictor) -> dict[str, Any]:
    """For each leaf the distribution of the model's predictions, its classes, and the error on held-out rows."""
    f, w = task.target, task.weights
    edges = np.stack([_edges(f[:, c], predictor.scale) for c in range(task.outputs)])
    counts = np.stack(
        [[np.histogram(f[m, c], edges[c], weights=w[m])[0] for c in range(task.outputs)] for m in members]
    )
    spread = np.stack(
        [[weighted_quantiles(f[m, c], np.array(QUANTILES), w[m]) for c in range(task.outputs)] for m in members]
    )
    misses = [np.sqrt(weighted_mean(np.square(f[m] - held[m]), w[m])) for m in members]
    n = len(predictor.classes or ())
    chosen = task.full.argmax(axis=1) if n else np.zeros(len(f), dtype=np.intp)
    classes = [np.bincount(chosen[m], weights=w[m], minlength=n)[:n] / w[m].sum() for m in members]
    return {
        "edges": edges,
        "histograms": counts / w.sum(),
        "quantiles": spread,
        "misses": np.stack(misses),
        "classes": np.stack(classes),
    }


def _edges(f: FloatArray, scale: str) -> FloatArray:
    low, high = (0.0, 1.0) if scale == "probability" else (float(f.min()), float(f.max()))
    return np.linspace(low, high if high > low else low + 1.0, _BINS + 1)


# -- would other rows give the same tree? ------------------------------------------------------------


def other_splits(fitter: TreeFitter, fitted: FittedTree, tree: SurrogateTree, run: Run) -> float:
    """Of the first three splits, the share that use another feature when rows are drawn again (bootstrap, 20 times)."""
    task, columns, size = fitter.task, fitter.columns, len(tree.rules)
    first = fitted.trees.roots(size, _ROOTS)
    wanted = _first(tree.features, tree.left, tree.right)
    orders = columns.orders(np.arange(len(task)), task.scaled, task.weights)
    matrix = columns.ordered(orders)
    others = []
    for b in range(_RESAMPLED):
        draw = run.generator("surrogate.resampled", b).multinomial(len(task), np.full(len(task), 1 / len(task)))
        rows = np.flatnonzero(draw)
        weights = task.weights[rows] * draw[rows]
        of_rows = matrix[rows], task.scaled[rows], weights
        if len(fitted.trees.trees) == 1:  # no other first split is better
            grown = Grown.of(*of_rows, least=task.least, most=4, depth=2)
            features = grown.feature.tolist()
        else:
            grown = LookAhead.of(*of_rows, least=task.least, most=size, first=first).best(size)
            features = np.where(grown.leaves(size), -1, grown.feature).tolist()
        names = tuple(task.data.schema.names[columns.places[k]] if k >= 0 else "" for k in features)
        found = _first(names, grown.left, grown.right)
        others.append(np.mean([found.get(place) != name for place, name in wanted.items()]))
    return float(np.mean(others))


def _first(names: tuple[str, ...], left: Any, right: Any) -> dict[str, str]:
    """The features of the first split and of the two below it, by place."""
    if left[0] < 0:
        return {"": ""}
    below = {"l": int(left[0]), "r": int(right[0])}
    return {"": names[0], **{place: names[node] for place, node in below.items() if names[node]}}
