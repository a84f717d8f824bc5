"""A large regression tree, and the best subtree of every size.

The tree is CART's, grown best first. Of all its subtrees with k leaves that with the least squared error is found by
dynamic programming from the leaves up (Bohanec and Bratko 1994): E_t(k) = min over l of E_left(l) + E_right(k - l),
E_t(1) being the error of node t as a leaf. One growth thus gives the tree of every size, exactly k leaves each.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray

_TIMES = 4  # leaves of the large tree, for each of the largest size that is asked for


@dataclass(frozen=True, eq=False)
class Grown:
    """A large tree over a matrix: ``left`` is -1 at a leaf; ``cost`` is the squared error of a node as a leaf."""

    feature: IntArray
    threshold: FloatArray
    left: IntArray
    right: IntArray
    missing_left: BoolArray
    value: FloatArray
    cost: FloatArray
    most: int

    @classmethod
    def of(
        cls,
        matrix: FloatArray,
        target: FloatArray,
        weights: FloatArray,
        *,
        least: float,
        most: int,
        depth: int | None = None,
    ) -> Grown:
        """Grown to rows of a matrix (NaN: missing), in leaves of at least the weight ``least``; ``most`` is the largest
        size that will be asked for.
        """
        from sklearn.tree import DecisionTreeRegressor

        share = min(least / float(weights.sum()), 0.5)
        grower = DecisionTreeRegressor(
            max_leaf_nodes=_TIMES * most, min_weight_fraction_leaf=share, max_depth=depth, random_state=0
        )
        tree: Any = grower.fit(matrix.astype(np.float32), target, sample_weight=weights).tree_
        return cls(
            feature=tree.feature.astype(np.intp),
            threshold=tree.threshold,
            left=tree.children_left.astype(np.intp),
            right=tree.children_right.astype(np.intp),
            missing_left=tree.missing_go_to_left.astype(bool),
            value=tree.value[:, :, 0],
            cost=tree.impurity * tree.weighted_n_node_samples,
            most=most,
        )

    @classmethod
    def after(
        cls, matrix: FloatArray, target: FloatArray, weights: FloatArray, k: int, *, least: float, most: int
    ) -> Grown | None:
        """The large tree whose first split is the best one of feature ``k``; None where it has none."""
        stump = cls.of(matrix[:, [k]], target, weights, least=least, most=2, depth=1)
        if stump.left[0] < 0:
            return None
        on_left = stump.reach(matrix[:, [k]], stump.left < 0) == stump.left[0]
        halves = [
            cls.of(matrix[rows], target[rows], weights[rows], least=least, most=most) for rows in (on_left, ~on_left)
        ]
        starts = 1, 1 + len(halves[0].left)

        def joined(root: Any, name: str) -> Any:
            return np.concatenate([[root], *(getattr(half, name) for half in halves)])

        def children(name: str, root: int) -> IntArray:
            moved = [
                np.where(getattr(half, name) < 0, -1, getattr(half, name) + start)
                for half, start in zip(halves, starts, strict=True)
            ]
            return np.concatenate([[root], *moved]).astype(np.intp)

        return cls(
            feature=joined(k, "feature").astype(np.intp),
            threshold=joined(stump.threshold[0], "threshold"),
            left=children("left", starts[0]),
            right=children("right", starts[1]),
            missing_left=joined(stump.missing_left[0], "missing_left").astype(bool),
            value=joined(stump.value[0], "value"),
            cost=joined(stump.cost[0], "cost"),
            most=most,
        )

    def error(self, size: int) -> float:
        """The squared error of the best subtree with so many leaves; infinite where there is none."""
        errors = self._subtrees[0][0]
        return float(errors[size - 1]) if size <= len(errors) else float("inf")

    @cached_property
    def _subtrees(self) -> tuple[list[FloatArray], list[IntArray]]:
        """For each node the least error with 1, 2, ... leaves, and how many of these are on the left."""
        n = len(self.left)
        errors: list[FloatArray] = [self.cost[:0]] * n
        lefts: list[IntArray] = [self.left[:0]] * n
        for t in range(n - 1, -1, -1):  # children come after their parents
            if self.left[t] < 0:
                errors[t], lefts[t] = self.cost[t : t + 1], np.zeros(1, dtype=np.intp)
            else:
                errors[t], lefts[t] = _joined(
                    float(self.cost[t]), errors[self.left[t]], errors[self.right[t]], self.most
                )
        return errors, lefts

    @property
    def largest(self) -> int:
        """The largest size that it has."""
        return len(self._subtrees[0][0])

    def leaves(self, size: int) -> BoolArray:
        """Which nodes are the leaves of the best subtree with so many leaves (fewer where there are not as many)."""
        errors, lefts = self._subtrees
        ends = np.zeros(len(self.left), dtype=bool)
        open_nodes = [(0, min(size, len(errors[0])))]
        while open_nodes:
            t, k = open_nodes.pop()
            if k == 1:
                ends[t] = True
                continue
            on_left = int(lefts[t][k - 1])
            open_nodes += [(int(self.left[t]), on_left), (int(self.right[t]), k - on_left)]
        return ends

    def reach(self, matrix: FloatArray, ends: BoolArray) -> IntArray:
        """The leaf that each row of a matrix ends in."""
        node = np.zeros(len(matrix), dtype=np.intp)
        moving = np.arange(len(matrix))
        while True:
            moving = moving[~ends[node[moving]]]
            if not len(moving):
                return node
            at = node[moving]
            x = matrix[moving, self.feature[at]]
            left = np.where(np.isnan(x), self.missing_left[at], x <= self.threshold[at])
            node[moving] = np.where(left, self.left[at], self.right[at])


def _joined(alone: float, left: FloatArray, right: FloatArray, most: int) -> tuple[FloatArray, IntArray]:
    """The least errors of a node from those of its children."""
    size = min(len(left) + len(right), most)
    errors = np.full(size, np.inf)
    errors[0] = alone
    on_left = np.zeros(size, dtype=np.intp)
    few, many, turned = (left, right, False) if len(left) <= len(right) else (right, left, True)
    for a in range(1, min(len(few), size - 1) + 1):
        stop = min(len(many), size - a)
        tried = few[a - 1] + many[:stop]
        place = np.arange(a, a + stop)
        better = tried < errors[place]
        errors[place[better]] = tried[better]
        on_left[place[better]] = (place[better] + 1 - a) if turned else a
    return errors, on_left
