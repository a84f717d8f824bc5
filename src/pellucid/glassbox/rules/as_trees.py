"""A grown tree as a `TreeEnsemble`, so that whatever reads trees reads it."""

from __future__ import annotations

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.glassbox.rules.growing import Grown
from pellucid.trees.ensemble import Nodes, TreeEnsemble


def ensemble(tree: Grown, value: FloatArray, levels: list[int]) -> TreeEnsemble:
    """The tree with the given ``value`` (nodes, outputs) at its leaves; ``levels`` as in `clauses.paths`."""
    inner = tree.feature >= 0
    nominal = np.array([bool(j >= 0 and levels[j]) for j in tree.feature.tolist()])
    words = max(1, -(-(max(levels, default=0) + 1) // 64))
    sets = np.zeros((int(nominal.sum()), words), dtype=np.uint64)
    for place, node in enumerate(np.flatnonzero(nominal)):
        known = levels[tree.feature[node]]
        bits = np.full(64 * words, bool(tree.other_left[node]))  # a level that was not seen is one more than the last
        bits[:known] = tree.goes_left[node, :known]
        for word in range(words):
            sets[place, word] = sum(1 << int(k) for k in np.flatnonzero(bits[64 * word : 64 * word + 64]))
    start = np.full(len(tree), -1)
    start[nominal] = words * np.arange(len(sets))
    nodes = Nodes(
        feature=tree.feature,
        threshold=tree.threshold,
        left=tree.left,
        right=tree.right,
        missing_left=tree.missing_left,
        cover=tree.weight,
        value=np.where(inner[:, None], 0.0, value),
        set_start=start,
        set_words=np.where(nominal, words, 0),
        other_left=tree.other_left,
        sets=sets.ravel(),
    )
    outputs = value.shape[1]
    return TreeEnsemble(nodes, np.array([0]), np.array([0]), np.zeros(outputs), len(levels))
