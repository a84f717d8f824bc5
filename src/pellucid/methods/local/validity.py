"""How far a local model holds: within a tenth of the spread of the predictions.

- the *radius*: the largest distance within which at least nine in ten samples are predicted to within it;
- the *range* of a number: how far it alone may move, the other features as in the row, until the local model misses by
  more. Asked of the model on 21 points of the feature's own distribution.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from pellucid.arrays import BoolArray, FloatArray
from pellucid.methods.local.neighbourhood import Distributions
from pellucid.methods.local.representation import Representation
from pellucid.runner import Run

if TYPE_CHECKING:
    from pellucid.methods.local.local_fit import LocalFit
    from pellucid.methods.local.subject import Subject

WITHIN = 0.1  # of the range of the middle nine tenths of the predictions
_SHARE = 0.9
_FEWEST = 20
_POINTS = 21


def radius_of(distance: FloatArray, missed: FloatArray, within: FloatArray) -> FloatArray:
    """The distance ``(outputs,)`` up to which nine in ten samples are predicted well enough; zero where not even the
    nearest are.
    """
    order = np.argsort(distance, kind="stable")
    needed = _SHARE * np.arange(1, len(order) + 1)
    needed[: _FEWEST - 1] = np.inf
    found = np.zeros(missed.shape[1])
    for k, line in enumerate(missed.T):
        enough = np.flatnonzero(np.cumsum(line[order] <= within[k]) >= needed)
        found[k] = distance[order[enough[-1]]] if enough.size else 0.0
    return found


def ranges_of(
    subject: Subject, space: Representation | None, fits: Sequence[LocalFit], run: Run
) -> tuple[FloatArray, FloatArray]:
    """Ranges ``(rows, columns, 2, outputs)``, NaN for what is no chosen number, and the tolerance ``(rows,
    outputs)``.
    """
    within = np.stack([one.within for one in fits])
    shape = (len(fits), fits[0].coefficients.shape[0], 2, within.shape[1])
    ranges = np.full(shape, np.nan)
    if space is None or space.own is not None:
        return ranges, within
    codes = space.values(subject.rows)
    asked = [
        _Move(i, int(j), _points(subject.known, int(j), codes[i, j]))
        for i, one in enumerate(fits)
        for j in np.flatnonzero(one.chosen.any(axis=1) & ~space.binary(codes[i]))
    ]
    if not asked:
        return ranges, within
    table = np.concatenate([one.moved(codes[one.row]) for one in asked])
    answers = run.predict(subject.predictor, subject.data.of_codes(table))
    start = 0
    for i, moves in groupby(asked, key=lambda one: one.row):
        mine = list(moves)
        end = start + sum(len(one.points) for one in mine)
        told, local = answers[start:end], fits[i].predict(space.apart(table[start:end], codes[i]))
        good = np.abs(told - local) <= within[i] + 1e-9 * np.abs(told)
        for one in mine:
            here, good = good[: len(one.points)], good[len(one.points) :]
            for a in np.flatnonzero(fits[i].chosen[one.column]):
                value = float(codes[i, one.column])
                ranges[i, one.column, :, a] = _around(one.points, value, here[:, a]) / space.unit[one.column]
        start = end
    return ranges, within


@dataclass(frozen=True, eq=False)
class _Move:
    """A column of an explained row, moved to some points."""

    row: int
    column: int
    points: FloatArray

    def moved(self, row: FloatArray) -> FloatArray:
        """The row, with this column at each of the points."""
        table = np.tile(row, (len(self.points), 1))
        table[:, self.column] = self.points
        return table


def _points(known: Distributions, j: int, value: float) -> FloatArray:
    """Values of a feature from its least to its greatest, evenly in its distribution, and the row's own."""
    even = known.margins[j].quantile(np.linspace(0.0, 1.0, _POINTS))
    return np.unique(np.append(even, value))


def _around(points: FloatArray, value: float, good: BoolArray) -> FloatArray:
    """The ends of the unbroken stretch of good points around a value; the value itself where it is not good."""
    at = int(np.searchsorted(points, value))
    if not good[at]:
        return np.array([value, value])
    bad = np.flatnonzero(~good)
    low = bad[bad < at].max(initial=-1) + 1
    high = bad[bad > at].min(initial=len(points)) - 1
    return np.array([points[low], points[high]])
