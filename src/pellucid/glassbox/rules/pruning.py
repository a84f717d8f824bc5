"""Pruning a tree to an exact number of leaves, with the smallest loss of all its prunings (Bohanec and Bratko 1994).

For a node t and a number of leaves m, R(t, m) is the smallest loss of the part of the tree at t with exactly m leaves:

    R(t, 1) = loss of t as a leaf,      R(t, m) = min over i of R(left, i) + R(right, m - i)

A tree grown best first to k leaves is one of the prunings of the larger tree, so this one is never worse. One table
holds the best tree of every size.
"""

from __future__ import annotations

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.glassbox.rules.growing import Grown

_TIE = 1e-12  # of the loss at the root


class Prunings:
    """The best prunings of a tree by their number of leaves, up to ``most``."""

    def __init__(self, tree: Grown, most: int) -> None:
        self._tree = tree
        self._loss: list[FloatArray] = [np.empty(0)] * len(tree)
        self._split: list[IntArray] = [np.empty(0, np.intp)] * len(tree)
        tie = _TIE * float(tree.loss[0])
        for node in range(len(tree) - 1, -1, -1):
            alone = np.array([tree.loss[node]])
            if tree.feature[node] < 0:
                self._loss[node], self._split[node] = alone, np.zeros(1, np.intp)
                continue
            both, left = _least(self._loss[tree.left[node]], self._loss[tree.right[node]], most, tie)
            self._loss[node] = np.concatenate([alone, both])
            self._split[node] = np.concatenate([[0], left])

    @property
    def loss(self) -> FloatArray:
        """The smallest loss with 1, 2, ... leaves."""
        return self._loss[0]

    def leaves(self, size: int) -> IntArray:
        """The nodes that are the leaves of the best pruning with so many leaves, or with all there are."""
        found, open_ = [], [(0, min(size, len(self.loss)))]
        while open_:
            node, m = open_.pop()
            if m == 1:
                found.append(node)
                continue
            i = int(self._split[node][m - 1])
            open_ += [(int(self._tree.right[node]), m - i), (int(self._tree.left[node]), i)]
        return np.array(found, dtype=np.intp)


def _least(left: FloatArray, right: FloatArray, most: int, tie: float) -> tuple[FloatArray, IntArray]:
    """For 2, 3, ... leaves the smallest sum, and how many of them are on the left."""
    sizes = range(2, min(len(left) + len(right), most) + 1)
    best, where = np.empty(len(sizes)), np.empty(len(sizes), dtype=np.intp)
    for place, m in enumerate(sizes):
        i = np.arange(max(1, m - len(right)), min(len(left), m - 1) + 1)
        total = left[i - 1] + right[m - i - 1]
        first = int(np.argmax(total <= total.min() + tie))
        best[place], where[place] = total[first], i[first]
    return best, where


def pruned(tree: Grown, leaves: IntArray) -> Grown:
    """The tree that ends at the given nodes, in order of depth and from left to right."""
    ends = set(leaves.tolist())
    kept, at = [0], 0
    while at < len(kept):
        node = kept[at]
        if node not in ends:
            kept += [int(tree.left[node]), int(tree.right[node])]
        at += 1
    order = np.array(kept)
    place = np.full(len(tree), -1)
    place[order] = np.arange(len(order))
    inner = ~np.isin(order, leaves)
    return Grown(
        feature=np.where(inner, tree.feature[order], -1),
        threshold=np.where(inner, tree.threshold[order], np.nan),
        goes_left=tree.goes_left[order] & inner[:, None],
        missing_left=tree.missing_left[order] & inner,
        other_left=tree.other_left[order] & inner,
        left=np.where(inner, place[tree.left[order]], -1),
        right=np.where(inner, place[tree.right[order]], -1),
        depth=tree.depth[order],
        weight=tree.weight[order],
        value=tree.value[order],
        loss=tree.loss[order],
    )
