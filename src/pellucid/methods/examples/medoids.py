"""Medoids: the rows from which all rows are least far in sum (k-medoids).

Reference. Kaufman and Rousseeuw 1990 (PAM); Schubert and Rousseeuw 2021, "Fast and eager k-medoids clustering"
(FasterPAM).

Definition. The m rows z that minimise the sum over rows of w_i min_j d(x_i, z_j), with d the Euclidean distance of rows
as points, or Gower's.

Estimator. From the greedy prototypes of MMD, swaps of a medoid for another row while the sum falls. For a candidate c
the change is that of adding it, sum_i w_i min(d(i, c) - d1(i), 0), plus the least over medoids of removing one, both
from the distances d1 and d2 of every row to its nearest and second nearest medoid; a swap that lowers the sum is made
at once (a compiled loop). Distances are worked out for blocks of candidates: never all pairs at once.

When it misleads. (1) Each row counts by its distance: outliers attract medoids. (2) Clusters of unlike size are cut.
(3) The swaps end in a local optimum.

Cost. No model row; all n^2 distances once for each round of swaps.
"""

from __future__ import annotations

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.data.similarity import Rows

_BLOCK = 256  # candidates whose distances are held at once
_ROUNDS = 10
_GAIN = 1e-9  # of the whole sum


def medoids(rows: Rows, start: IntArray, weights: FloatArray, allowed: BoolArray) -> tuple[IntArray, float]:
    """The medoids that swaps lead to, and their weighted mean distance from all rows."""
    from pellucid.trees.kernels.swap_medoids import swap

    candidates = np.flatnonzero(allowed)
    parts = np.array_split(candidates, -(-len(candidates) // _BLOCK))
    if len(start) == 1:
        sums = np.concatenate([distances(rows, some) @ weights for some in parts])
        return candidates[[int(np.argmin(sums))]], float(sums.min() / weights.sum())
    chosen = start.astype(np.intp)
    apart = np.ascontiguousarray(distances(rows, chosen).T)
    first, second, place, other = _two_nearest(apart)
    for _ in range(_ROUNDS):
        loss = float(weights @ first)
        fallen = 0.0
        for some in parts:
            block = rows.apart(some, slice(None))
            fallen += swap(block, rows.squared, some, chosen, apart, first, second, place, other, weights, _GAIN * loss)
        if fallen <= _GAIN * loss:
            break
    return chosen, float(weights @ first / weights.sum())


def _two_nearest(apart: FloatArray) -> tuple[FloatArray, FloatArray, IntArray, IntArray]:
    """For every row how far the nearest medoid is and the second, and which these are."""
    rows, place = np.arange(len(apart)), np.argmin(apart, axis=1)
    first, others = apart[rows, place], apart.copy()
    others[rows, place] = np.inf
    other = np.argmin(others, axis=1)
    return first, others[rows, other], place, other


def distances(rows: Rows, some: IntArray) -> FloatArray:
    """Distances of some rows from all rows."""
    found = np.maximum(rows.apart(some, slice(None)).astype(np.float64), 0.0)
    return np.sqrt(found) if rows.squared else found
