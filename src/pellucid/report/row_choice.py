"""Which rows are worth showing one by one.

Definitions. The distance of two rows is the sum of the absolute differences of their numbers.
- typical: among the tenth of the rows with the most central predictions (least distance to those of all rows, which is
  least at the median), the one with the most central contributions: a medoid;
- extreme: the highest and the lowest prediction;
- unusual: of the others than the typical one, the row whose contributions are farthest from those of its fifth nearest
  row, so that hardly any other row is predicted for the same reasons.

When it misleads: typical and unusual are so among the rows looked at, and no row stands for all of them.
"""

from __future__ import annotations

import numpy as np

from pellucid.arrays import FloatArray, IntArray

_NEAR = 0.1  # share of rows with central predictions among which a typical one is looked for
_NEIGHBOUR = 5
_ROUNDING = 1e-9  # relative; differences below this are noise of the arithmetic


def typical(values: FloatArray, prediction: FloatArray, weights: FloatArray) -> int:
    """Place of the typical row, given contributions and predictions with rows first."""
    away = _to_all(_flat(prediction), np.arange(len(values)), weights)
    near = np.argsort(away, kind="stable")[: int(np.ceil(_NEAR * len(values)))]
    return int(near[int(np.argmin(_to_all(_flat(values), near, weights)))])


def unusual(values: FloatArray, other_than: int) -> int | None:
    """Place of the row with the most unusual contributions; None if no row differs from the others."""
    flat = _flat(values)
    if len(flat) < 3:
        return None
    place = min(_NEIGHBOUR, len(flat) - 1)
    lonely = np.array([np.partition(np.abs(flat - row).sum(axis=1), place)[place] for row in flat])
    lonely[other_than] = 0.0
    if lonely.max() <= _ROUNDING * np.abs(flat).sum(axis=1).max():
        return None
    return int(np.argmax(lonely))


def extremes(score: FloatArray) -> tuple[int, int] | None:
    """Places of the highest and the lowest; None if all are the same."""
    if np.ptp(score) <= _ROUNDING * np.abs(score).max():
        return None
    return int(np.argmax(score)), int(np.argmin(score))


def _flat(numbers: FloatArray) -> FloatArray:
    return numbers.reshape(len(numbers), -1)


def _to_all(flat: FloatArray, rows: IntArray, weights: FloatArray) -> FloatArray:
    """The weighted sum of the distances from each of these rows to all rows."""
    return np.array([np.abs(flat - flat[i]).sum(axis=1) @ weights for i in rows])
