"""Averaged trees (single trees, forests) with every split kept: leaf means without a training row.

A leaf that has lost its only row takes the mean of the smallest part of the tree around it that still has rows.
"""

from __future__ import annotations

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.trees.ensemble import TreeEnsemble


def leaf_means(ensemble: TreeEnsemble, leaves: IntArray, Y: FloatArray, mass: FloatArray) -> FloatArray:
    """``(nodes, outputs)`` means of the rows in every node, from the rows' leaves ``(rows, trees)`` and their mass
    ``(trees, rows)``.
    """
    counts, sums = _sums(ensemble, leaves, Y, mass)
    return np.asarray(sums / np.where(counts > 0, counts, 1.0)[:, None])


def without_each(ensemble: TreeEnsemble, leaves: IntArray, Y: FloatArray, mass: FloatArray, at: IntArray) -> FloatArray:
    """Change of other rows' predictions, whose leaves are ``at``, without each row: ``(rows, others, outputs)``."""
    counts, sums = _sums(ensemble, leaves, Y, mass)
    parents = _parents(ensemble)
    trees = len(ensemble.roots)
    out = np.zeros((len(Y), len(at), Y.shape[1]))
    for t in range(trees):
        m, own = mass[t], leaves[:, t]
        node = own.copy()
        rest = np.flatnonzero((m > 0) & (counts[node] - m <= 1e-9 * counts[node]))
        while len(rest):
            up = parents[node[rest]]
            node[rest] = np.where(up < 0, node[rest], up)
            rest = rest[(up >= 0) & (counts[node[rest]] - m[rest] <= 1e-9 * counts[node[rest]])]
        left = counts[node] - m
        fresh = (sums[node] - m[:, None] * Y) / np.where(left > 0, left, 1.0)[:, None]
        old = sums[own] / np.where(counts[own] > 0, counts[own], 1.0)[:, None]
        change = np.where(((m > 0) & (left > 0))[:, None], fresh - old, 0.0) / trees
        same = own[:, None] == at[None, :, t]
        for k in range(Y.shape[1]):
            out[:, :, k] += same * change[:, k, None]
    return out


def leaf_mass(leaves: IntArray, mass: FloatArray, at: IntArray) -> FloatArray:
    """The weight of each training row in the prediction of another, whose leaves are ``at``: means over trees of its
    share of the mass of the common leaf.
    """
    same = (leaves == at).T * mass  # (trees, rows)
    total = same.sum(axis=1, keepdims=True)
    return np.asarray((same / np.where(total > 0, total, 1.0)).mean(axis=0))


def _sums(ensemble: TreeEnsemble, leaves: IntArray, Y: FloatArray, mass: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mass and sums of outcomes in every node; children come after their parents."""
    n_nodes = len(ensemble.nodes.feature)
    counts, sums = np.zeros(n_nodes), np.zeros((n_nodes, Y.shape[1]))
    for t in range(len(ensemble.roots)):
        np.add.at(counts, leaves[:, t], mass[t])
        for k in range(Y.shape[1]):
            sums[:, k] += np.bincount(leaves[:, t], weights=mass[t] * Y[:, k], minlength=n_nodes)
    parents = _parents(ensemble)
    for node in range(n_nodes - 1, -1, -1):
        if parents[node] >= 0:
            counts[parents[node]] += counts[node]
            sums[parents[node]] += sums[node]
    return counts, sums


def _parents(ensemble: TreeEnsemble) -> IntArray:
    nodes = ensemble.nodes
    parents = np.full(len(nodes.feature), -1, dtype=np.int64)
    inner = np.flatnonzero(nodes.feature >= 0)
    parents[nodes.left[inner]] = inner
    parents[nodes.right[inner]] = inner
    return parents
