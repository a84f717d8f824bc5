"""Several objectives at once: which rows no other row beats in all of them, and how much they cover together."""

from __future__ import annotations

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray

DIGITS = 10  # objectives that agree to so many places are the same, so that rounding decides nothing


def fronts(objectives: FloatArray) -> IntArray:
    """The front of each row (0: no row is better in one objective and as good in all others); less is better."""
    f = np.round(objectives, DIGITS)
    beats: BoolArray = np.asarray((f[:, None] <= f[None]).all(axis=2) & (f[:, None] < f[None]).any(axis=2))
    better, rank = beats.sum(axis=0), np.full(len(f), -1, dtype=np.intp)
    front = 0
    while (rank < 0).any():
        now = (rank < 0) & (better == 0)
        rank[now] = front
        better = better - beats[now].sum(axis=0)
        front += 1
    return rank


def non_dominated(objectives: FloatArray) -> BoolArray:
    """Which rows are on the first front."""
    return np.asarray(fronts(objectives) == 0)


def crowding(objectives: FloatArray, rank: IntArray, apart: FloatArray) -> FloatArray:
    """How alone each row is on its front: among the objectives, and among the features (MOC).

    ``apart`` are the distances between rows ``(n, n)``.
    """
    found = np.zeros(len(objectives))
    for front in np.unique(rank):
        own = np.flatnonzero(rank == front)
        if len(own) < 3:
            found[own] = np.inf
            continue
        for column in np.round(objectives[own], DIGITS).T:
            order = own[np.argsort(column, kind="stable")]
            spread = np.sort(column)
            found[order[[0, -1]]] = np.inf
            if spread[-1] > spread[0]:
                found[order[1:-1]] += (spread[2:] - spread[:-2]) / (spread[-1] - spread[0])
        between = apart[np.ix_(own, own)].copy()
        np.fill_diagonal(between, np.inf)
        found[own] += between.min(axis=1)
    return found


def hypervolume(objectives: FloatArray, reference: FloatArray) -> float:
    """The volume that rows dominate within the box from 0 to ``reference``, as a share of the box, exactly.

    By slicing: sorted by the last objective, each slab is a volume of one dimension less.
    """
    inside = objectives[(objectives < reference).all(axis=1)]
    whole = float(np.prod(reference))
    return _volume(np.unique(inside, axis=0), reference) / whole if whole > 0 and len(inside) else 0.0


def _volume(rows: FloatArray, reference: FloatArray) -> float:
    if not len(rows):
        return 0.0
    if rows.shape[1] == 1:
        return float(reference[0] - rows[:, 0].min())
    rows = rows[np.argsort(rows[:, -1], kind="stable")]
    ends = np.append(rows[1:, -1], reference[-1])
    total = 0.0
    for k, (start, end) in enumerate(zip(rows[:, -1], ends, strict=True)):
        if end > start:
            below = rows[: k + 1, :-1]
            total += (end - start) * _volume(below[_lowest(below)], reference[:-1])
    return float(total)


def _lowest(rows: FloatArray) -> BoolArray:
    return non_dominated(rows) if len(rows) > 1 else np.ones(len(rows), dtype=np.bool_)
