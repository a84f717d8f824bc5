"""Rows that are alike in what matters for a target: those that share a leaf with it in a forest.

Meinshausen 2006 (quantile regression forests); Cevid et al. 2022 (distributional random forests). Trees split by how
well they tell the target's distribution function, at several of its quantiles at once. A row is only ever compared in
trees that did not see it (out of bag).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.data.forest import Forest

_LEVELS = 12  # quantiles of the target at which its distribution is told
_IN_A_LEAF = 5
_MOST_SEEN = 2_000  # rows that a tree sees
_FEW_COLUMNS = 3


@dataclass(frozen=True, eq=False)
class LikeRows:
    """A forest, and where the learning rows fall in it."""

    forest: Forest
    leaves: IntArray
    weights: FloatArray
    columns: tuple[int, ...]

    @classmethod
    def of(
        cls,
        blocks: list[FloatArray],
        target: FloatArray,
        weights: FloatArray,
        generator: np.random.Generator,
        trees: int = 60,
        leaf: int = _IN_A_LEAF,
    ) -> LikeRows:
        """Grow trees for a target ``(n, q)``: indicators of categories, or `distribution` of a number."""
        X, n = np.hstack(blocks), len(weights)
        forest = Forest.grown(
            X,
            target,
            None if bool((weights == weights[0]).all()) else weights,
            trees=trees,
            leaf=leaf,
            tried=1.0 if X.shape[1] <= _FEW_COLUMNS else 0.6,
            seed=int(generator.integers(2**31)),
            rows=_MOST_SEEN if n > _MOST_SEEN else None,
        )
        return cls(forest, forest.leaves(X), weights, tuple(block.shape[1] for block in blocks))

    def relevance(self) -> FloatArray:
        """How much each block of columns tells, from 0 to 1 (the most)."""
        ends = np.cumsum(self.columns)[:-1]
        shares = np.array([part.sum() for part in np.split(self.forest.importances(), ends)])
        return shares / shares.max() if shares.max() > 0 else np.ones(len(shares))

    def draw(self, n: int, generator: np.random.Generator, blocks: list[FloatArray] | None = None) -> IntArray:
        """``n`` like rows ``(rows, n)`` for every learning row, or for other rows."""
        count, trees = len(self.weights), len(self.forest.seen)
        inside = np.zeros((count if blocks is None else len(blocks[0]), trees), dtype=np.bool_)
        if blocks is None:
            for t, rows in enumerate(self.forest.seen):
                inside[rows, t] = True
        leaves = self.leaves if blocks is None else self.forest.leaves(np.hstack(blocks))
        order = np.argsort(inside, axis=1, kind="stable")  # unseen first
        outside = np.maximum(trees - inside.sum(axis=1), 1)
        marks = generator.random((2, len(inside), n))
        tree = np.take_along_axis(order, (marks[0] * outside[:, None]).astype(np.intp), axis=1)
        found = np.empty(tree.shape, dtype=np.intp)
        for t, rows in enumerate(self.forest.seen):
            who, which = np.nonzero(tree == t)
            if len(who):
                found[who, which] = self._members(t, rows, leaves[who, t], marks[1][who, which])
        return found

    def _members(self, t: int, rows: IntArray, leaves: IntArray, marks: FloatArray) -> IntArray:
        """For each leaf one of the rows in it, each as often as it counts."""
        own = self.leaves[rows, t]
        order = np.argsort(own, kind="stable")
        rows, own = rows[order], own[order]
        total = np.concatenate([[0.0], np.cumsum(self.weights[rows])])
        low, high = total[np.searchsorted(own, leaves, side="left")], total[np.searchsorted(own, leaves, side="right")]
        place = np.searchsorted(total, low + marks * (high - low), side="right") - 1
        return np.asarray(rows[np.minimum(place, len(rows) - 1)])


def distribution(values: FloatArray, levels: int = _LEVELS) -> FloatArray:
    """Whether each value is at most each of some quantiles, ``(n, quantiles)``."""
    at = np.unique(np.quantile(values, (np.arange(levels) + 0.5) / levels))
    return np.asarray(values[:, None] <= at, dtype=np.float64)
