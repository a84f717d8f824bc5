"""How large the trees of an ensemble are, by their players."""

from __future__ import annotations

import numpy as np

from pellucid.arrays import IntArray
from pellucid.trees.ensemble import TreeEnsemble
from pellucid.trees.kernels.measure import TABLES, measure

MOST_PLAYERS = 14  # of a leaf, for tables: 2^14 patterns times 14 players


def tree_measures(ensemble: TreeEnsemble, players: IntArray) -> IntArray:
    """One row per tree, the columns of `kernels.measure`."""
    nodes = ensemble.nodes
    out = np.zeros((len(ensemble.roots), TABLES + MOST_PLAYERS + 2), dtype=np.int64)
    seen = np.zeros(int(players.max(initial=-1)) + 1, dtype=np.int64)
    stack = np.empty(len(nodes.feature) + 3, dtype=np.int64)  # two more for every split above
    measure(nodes.feature, nodes.left, nodes.right, nodes.set_words, players, ensemble.roots, seen, stack, out)
    return out
