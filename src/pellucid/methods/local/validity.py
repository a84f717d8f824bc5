"""How far a local model holds: within a tenth of the spread of the predictions.

- the *radius*: the largest distance within which at least nine in ten samples are predicted to within it;
- the *range* of a number: how far it alone may move, the other features as in the row, until the local model misses by
  more. Asked of the model on 21 points of the feature's own distribution.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from pellucid.arrays import BoolArray, FloatArray
from pellucid.data import Data
from pellucid.methods.local.neighbourhood import Distributions
from pellucid.methods.local.representation import Representation
from pellucid.models import Predictor
from pellucid.runner import Run

if TYPE_CHECKING:
    from pellucid.methods.local.local_fit import LocalFit

WITHIN = 0.1  # of the range of the middle nine tenths of the predictions
_SHARE = 0.9
_FEWEST = 20
_POINTS = 21


def radius_of(distance: FloatArray, missed: FloatArray, within: FloatArray) -> FloatArray:
    """The distance ``(outputs,)`` up to which nine in ten samples are predicted well enough; zero where not even the nearest are."""
    order = np.argsort(distance, kind="stable")
    good = np.cumsum(missed[order] <= within, axis=0) / np.arange(1, len(order) + 1)[:, None]
    good[: _FEWEST - 1] = 0.0
    found = np.zeros(missed.shape[1])
    for k, line in enumerate(good.T):
        enough = np.flatnonzero(line >= _SHARE)
        found[k] = distance[order[enough[-1]]] if enough.size else 0.0
    return found


def ranges_of(
    predictor: Predictor,
    data: Data,
    rows: Data,
    space: Representation | None,
    fits: Sequence[LocalFit],
    run: Run,
) -> tuple[FloatArray, FloatArray]:
    """Ranges ``(rows, columns, 2, outputs)``, NaN for what is no chosen number, and the tolerance ``(rows, outputs)``."""
    within = np.stack([one.within for one in fits])
    shape = (len(fits), fits[0].coefficients.shape[0], 2, within.shape[1])
    ranges = np.full(shape, np.nan)
    if space is None or space.own is not None:
        return ranges, within
    known, codes = Distributions.of(data, run), space.values(rows)
    asked: list[tuple[int, int, FloatArray]] = []
    for i, one in enumerate(fits):
        numbers = one.chosen.any(axis=1) & ~space.binary(codes[i])
        asked += [(i, int(j), _points(known, int(j), codes[i, j])) for j in np.flatnonzero(numbers)]
    if not asked:
        return ranges, within
    tables = [_moved(codes[i], j, points) for i, j, points in asked]
    answers = run.predict(predictor, data.of_codes(np.concatenate(tables)))
    ends = np.cumsum([len(table) for table in tables])[:-1]
    for (i, j, points), table, told in zip(asked, tables, np.split(answers, ends), strict=True):
        local = fits[i].predict(space.apart(table, codes[i]))
        for a in np.flatnonzero(fits[i].chosen[j]):
            good = np.abs(told[:, a] - local[:, a]) <= within[i, a] + 1e-9 * np.abs(told[:, a])
            ranges[i, j, :, a] = _around(points, float(codes[i, j]), good) / space.unit[j]
    return ranges, within


def _points(known: Distributions, j: int, value: float) -> FloatArray:
    """Values of a feature from its least to its greatest, evenly in its distribution, and the row's own."""
    return np.unique(np.append(known.margins[j].quantile(np.linspace(0.0, 1.0, _POINTS)), value))


def _moved(row: FloatArray, j: int, points: FloatArray) -> FloatArray:
    """The row, with one feature at each of the points."""
    table = np.tile(row, (len(points), 1))
    table[:, j] = points
    return table


def _around(points: FloatArray, value: float, good: BoolArray) -> FloatArray:
    """The ends of the unbroken stretch of good points around a value; the value itself where it is not good."""
    at = int(np.searchsorted(points, value))
    if not good[at]:
        return np.array([value, value])
    bad = np.flatnonzero(~good)
    low = bad[bad < at].max(initial=-1) + 1
    high = bad[bad > at].min(initial=len(points)) - 1
    return np.array([points[low], points[high]])
