"""Medoids: the rows from which all rows are least far in sum (k-medoids).

Reference. Kaufman and Rousseeuw 1990 (PAM); Schubert and Rousseeuw 2021, "Fast and eager k-medoids clustering"
(FasterPAM).

Definition. The m rows z that minimise the sum over rows of w_i min_j d(x_i, z_j), with d the Euclidean distance of rows
as points, or Gower's.

Estimator. From the greedy prototypes of MMD, swaps of a medoid for another row while the sum falls. For a candidate c
the change is that of adding it, sum_i w_i min(d(i, c) - d1(i), 0), plus the least over medoids of removing one, both
from the distances d1 and d2 of every row to its nearest and second nearest medoid. Candidates are looked at in blocks,
whose distances are worked out when needed: never all pairs at once.

When it misleads. (1) Each row counts by its distance: outliers attract medoids. (2) Clusters of unlike size are cut.
(3) The swaps end in a local optimum.

Cost. No model row; all n^2 distances once for each round of swaps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.data.similarity import Rows

_BLOCK = 16
_ROUNDS = 10
_GAIN = 1e-9  # of the whole sum


@dataclass(frozen=True, eq=False)
class _State:
    """For every row: how far its nearest medoid is, how far the second is, and its weight with its own (n, m)."""

    first: FloatArray
    second: FloatArray
    member: FloatArray

    @classmethod
    def of(cls, apart: FloatArray, weights: FloatArray) -> _State:
        """From the distances ``(n, m)``."""
        rows, member = np.arange(len(apart)), np.zeros(apart.shape)
        owner = np.argmin(apart, axis=1)
        member[rows, owner] = weights
        second = np.partition(apart, 1, axis=1)[:, 1] if apart.shape[1] > 1 else np.full(len(apart), np.inf)
        return cls(apart[rows, owner], second, member)


def medoids(rows: Rows, start: IntArray, weights: FloatArray, allowed: BoolArray) -> tuple[IntArray, float]:
    """The medoids that swaps lead to, and their weighted mean distance from all rows."""
    chosen = start.copy()
    apart = distances(rows, slice(None), chosen)
    state, loss = _State.of(apart, weights), np.inf
    for _ in range(_ROUNDS):
        before, loss = loss, float(weights @ state.first)
        if before - loss <= _GAIN * loss:
            break
        for candidates in np.array_split(np.flatnonzero(allowed), -(-int(allowed.sum()) // _BLOCK)):
            block = distances(rows, slice(None), candidates).T
            while True:
                best, out, gain = _best_swap(block, state, weights)
                if gain >= -_GAIN * loss or candidates[best] in chosen:
                    break
                chosen[out], apart[:, out] = candidates[best], block[best]
                state = _State.of(apart, weights)
    return chosen, float(weights @ state.first / weights.sum())


def _best_swap(block: FloatArray, state: _State, w: FloatArray) -> tuple[int, int, float]:
    """Of candidates with their distances ``(b, n)``: the best one, the medoid that it takes the place of, the change."""
    second = np.where(np.isinf(state.second), block, state.second)
    added = np.minimum(block - state.first, 0.0) @ w
    lost = np.minimum(block, second) - np.minimum(block, state.first)
    change = added[:, None] + lost @ state.member
    best, out = np.unravel_index(int(np.argmin(change)), change.shape)
    return int(best), int(out), float(change[best, out])


def distances(rows: Rows, some: IntArray | slice, others: IntArray) -> FloatArray:
    """Distances of some rows from others."""
    found = np.maximum(rows.apart(some, others).astype(np.float64), 0.0)
    return np.sqrt(found) if rows.squared else found
