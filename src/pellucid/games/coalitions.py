"""Coalitions as rows of a boolean matrix."""

from __future__ import annotations

import numpy as np

from pellucid.arrays import BoolArray, IntArray


def all_coalitions(players: int) -> BoolArray:
    """All ``2^players`` coalitions; bit i of a coalition's number says whether player i is in it."""
    return np.asarray((np.arange(2**players)[:, None] >> np.arange(players) & 1) == 1)


def sizes(coalitions: BoolArray) -> IntArray:
    """Members of each coalition."""
    return np.asarray(coalitions.sum(axis=1), dtype=np.intp)
