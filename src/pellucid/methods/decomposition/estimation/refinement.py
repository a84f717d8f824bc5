"""More knots where straight lines between them miss the average prediction.

Half way between two knots, at a value that rows have, the average is asked for and compared with the line. Where the
difference matters, both halves are looked at in the same way, until lines are good enough or no value of the data is
left between the knots: a jump is found between two neighbouring values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.data import Data
from pellucid.methods.decomposition.estimation.axes import Grid, entries

_GOOD = 1e-6  # of the variance of the predictions: the mean squared error of the line between two knots
_ROUNDS = 16
_MOST = 512  # knots along one feature

Ask = Callable[[FloatArray], FloatArray]  # codes -> the average prediction there (codes, outputs)


@dataclass(frozen=True, eq=False)
class Refined:
    """A grid with its averages, and the mean squared error over the rows that lines may still have, per output."""

    grid: Grid
    table: FloatArray
    error: FloatArray

    @property
    def grids(self) -> tuple[Grid, ...]:
        """As that of a component of one feature."""
        return (self.grid,)


def line_error(variance: FloatArray, error: FloatArray) -> FloatArray:
    """How far the variance of a component may be off where its values are off by so much (a mean square)."""
    return 2.0 * np.sqrt(variance * error) + error


def refined(data: Data, j: int, grid: Grid, ask: Ask, variance: FloatArray) -> Refined:
    """A grid of one feature with as many more knots as lines between them need; levels and cells stay.

    ``variance`` (outputs) is that of the predictions.
    """
    table = ask(grid.codes)
    error = np.zeros(table.shape[-1])
    if grid.axis.kind != "knots" or grid.axis.present < 2:
        return Refined(grid, table, error)
    values, share = _distinct(data, j)
    knots, at = grid.codes[: grid.axis.present], table[: grid.axis.present]
    open_, left = np.ones(len(knots) - 1, dtype=np.bool_), error
    bound = _GOOD * np.where(variance > 0, variance, np.inf)
    for _ in range(_ROUNDS):
        where, middle = _middles(knots, values, open_)
        if not len(where) or len(knots) + len(where) > _MOST:
            break
        found = ask(middle)
        part = ((middle - knots[where]) / (knots[where + 1] - knots[where]))[:, None]
        missed = np.square(found - (at[where] + part * (at[where + 1] - at[where])))
        mass = _mass(values, share, knots)[where, None]
        matters = np.any(missed * mass > bound, axis=1, keepdims=True)
        error = error + (missed * mass * ~matters).sum(axis=0) / 4  # both halves are shorter
        left = (missed * mass * matters).sum(axis=0) / 4
        open_ = np.zeros(len(knots) - 1, dtype=np.bool_)
        open_[where] = matters[:, 0]
        open_ = np.insert(open_, where + 1, matters[:, 0])
        knots, at = np.insert(knots, where + 1, middle), np.insert(at, where + 1, found, axis=0)
    if len(_middles(knots, values, open_)[0]):
        error = error + left
    axis = replace(grid.axis, points=knots)
    return Refined(entries(axis, knots), np.concatenate([at, table[grid.axis.present :]]), error)


def _distinct(data: Data, j: int) -> tuple[FloatArray, FloatArray]:
    """The values that rows have, with the share of the rows that have them."""
    codes, weights = data.codes(j), data.weights
    counted = ~np.isnan(codes) & (weights > 0)
    values, place = np.unique(codes[counted], return_inverse=True)
    return values, np.bincount(place, weights=weights[counted]) / weights.sum()


def _middles(knots: FloatArray, values: FloatArray, open_: BoolArray) -> tuple[IntArray, FloatArray]:
    """The open stretches that have a value of the data inside, and the one in the middle of these."""
    first, end = np.searchsorted(values, knots[:-1], side="right"), np.searchsorted(values, knots[1:], side="left")
    where = np.flatnonzero(open_ & (end > first))
    return where, values[(first[where] + end[where] - 1) // 2]


def _mass(values: FloatArray, share: FloatArray, knots: FloatArray) -> FloatArray:
    """The share of the rows between each two neighbouring knots."""
    below = np.append(0.0, np.cumsum(share))
    first, end = np.searchsorted(values, knots[:-1], side="right"), np.searchsorted(values, knots[1:], side="left")
    return np.asarray(below[np.maximum(end, first)] - below[first])
