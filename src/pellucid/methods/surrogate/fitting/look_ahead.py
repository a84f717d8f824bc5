"""Large trees with different first splits: for each size the one whose best subtree fits best.

CART takes the first split that gains most at once. A split that gains little and makes room for better ones below (a
feature that is rarely above zero, but then decides) never comes first. So for each of the features that the large tree
gains most from, another tree is grown whose first split is the best one of that feature. Where its best subtree of some
size has 5% less squared error than CART's, it is taken for that size; one that is hardly better is not, as it says no
more and changes with the rows. A small tree tells first which first splits are worth a large one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.methods.surrogate.fitting.growing import Grown

FEATURES = 8  # whose best split is tried first
_SMALL = 16  # leaves of the trees that tell whether a large one is worth it
_PAYS = 0.05
_ROWS = 100  # for each leaf, for the error on them to say which tree is better


@dataclass(frozen=True, eq=False)
class LookAhead:
    """The large trees, CART's first, and of how many rows."""

    trees: tuple[Grown, ...]
    rows: int

    @classmethod
    def of(
        cls,
        matrix: FloatArray,
        target: FloatArray,
        weights: FloatArray,
        *,
        least: float,
        most: int,
        first: Sequence[int] | None = None,
    ) -> LookAhead:
        """Grown as `Grown.of`; ``first`` are the features whose split is tried first, else those with most gain."""
        greedy = Grown.of(matrix, target, weights, least=least, most=most)
        tried = _most_used(greedy, matrix.shape[1])[:FEATURES] if first is None else np.asarray(first, dtype=np.intp)
        of_rows, found = (matrix, target, weights), [greedy]
        sizes = range(2, min(_SMALL, len(target) // _ROWS) + 1)
        for k in (int(j) for j in tried if sizes and j != greedy.feature[0]):
            small = Grown.after(*of_rows, k, least=least, most=min(most, _SMALL))
            if small is None or not any(_pays(small, greedy, size) for size in sizes if size <= small.most):
                continue
            large = small if most <= _SMALL else Grown.after(*of_rows, k, least=least, most=most)
            found += [large] if large is not None else []
        return cls(tuple(found), len(target))

    @property
    def largest(self) -> int:
        """The largest size that CART's tree has."""
        return self.trees[0].largest

    def best(self, size: int) -> Grown:
        """The large tree with the best subtree of so many leaves."""
        greedy, size = self.trees[0], min(size, self.largest)
        if size * _ROWS > self.rows:
            return greedy
        found = min(self.trees, key=lambda tree: tree.error(size))
        return found if _pays(found, greedy, size) else greedy

    def roots(self, size: int, count: int) -> list[int]:
        """The features of the first splits with the least errors at a size."""
        order = sorted(self.trees, key=lambda tree: tree.error(min(size, self.largest)))
        return [int(tree.feature[0]) for tree in order[:count] if tree.left[0] >= 0]


def _pays(tree: Grown, greedy: Grown, size: int) -> bool:
    """Whether a tree has so much less error than CART's."""
    return tree.error(size) < (1.0 - _PAYS) * greedy.error(min(size, greedy.largest))


def _most_used(grown: Grown, features: int) -> IntArray:
    """Features by how much their splits in a large tree lower the squared error, those that are used alone."""
    inner = np.flatnonzero(grown.left >= 0)
    gained = grown.cost[inner] - grown.cost[grown.left[inner]] - grown.cost[grown.right[inner]]
    total = np.bincount(grown.feature[inner], gained, minlength=features)
    order = np.argsort(-total, kind="stable")
    return order[total[order] > 0]
