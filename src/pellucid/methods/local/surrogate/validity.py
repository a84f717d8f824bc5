"""How far a local model holds, and its picture in two features.

- the *range* of a number: how far it alone may move, the other features as in the row, until the local model misses by
  more than a tenth of the spread of the predictions. Asked of the model on 21 points of the feature's own distribution;
- the *boundary*: the model and the local model over a grid of two features, with the samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from pellucid.arrays import BoolArray, FloatArray
from pellucid.data import Data
from pellucid.data.distance import kernels
from pellucid.data.grid import snap
from pellucid.explanations.local_attribution import Boundary
from pellucid.methods.local.surrogate.local_fit import LocalFit
from pellucid.methods.local.surrogate.neighbourhood import Distributions, draw
from pellucid.methods.local.surrogate.options import Options
from pellucid.methods.local.surrogate.representation import Representation
from pellucid.methods.local.surrogate.samples import Explained
from pellucid.runner import Run

_POINTS = 21
_SIDE = 61
_SHOWN = 500


def ranges_of(
    explained: Explained, space: Representation | None, fits: Sequence[LocalFit], run: Run
) -> tuple[FloatArray, FloatArray]:
    """Ranges ``(rows, columns, 2, outputs)``, NaN for what is no chosen number, and the tolerance ``(rows,
    outputs)``.
    """
    within = np.stack([one.within for one in fits])
    shape = (len(fits), fits[0].coefficients.shape[0], 2, within.shape[1])
    ranges = np.full(shape, np.nan)
    if space is None or space.own is not None:
        return ranges, within
    codes = space.values(explained.rows)
    asked = [
        _Move(i, int(j), _points(explained.known, int(j), codes[i, j]))
        for i, one in enumerate(fits)
        for j in np.flatnonzero(one.chosen.any(axis=1) & ~space.binary(codes[i]))
    ]
    if not asked:
        return ranges, within
    table = np.concatenate([one.moved(codes[one.row]) for one in asked])
    answers = run.predict(explained.predictor, explained.data.of_codes(table))
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


def boundary_of(explained: Explained, space: Representation, fit: LocalFit, options: Options, run: Run) -> Boundary:
    """The neighbourhood of the row in two features; of several outputs, that with the highest prediction."""
    predictor, data, rows = explained.predictor, explained.data, explained.rows
    a, b = options.boundary or (0, 1)
    row = space.values(rows)[0]
    sample = next(iter(draw(explained.known, data, rows, options.samples, options.sampler, run))).codes
    every = max(1, len(sample) // _SHOWN)
    sample = sample[::every]
    grids = tuple(_grid(data, j, row[j], sample[:, j]) for j in (a, b))
    table = np.tile(row, (len(grids[0]) * len(grids[1]), 1))
    table[:, a], table[:, b] = np.tile(grids[0], len(grids[1])), np.repeat(grids[1], len(grids[0]))
    answers = run.predict(predictor, data.of_codes(table))
    prediction = run.predict(explained.model, explained.originals)[0]
    k = int(np.argmax(prediction)) if len(prediction) > 1 else 0
    shape = (len(grids[1]), len(grids[0]))
    apart = space.apart(sample, row)
    counts = kernels(options.weigh, options.distances(apart, space, row), np.array([fit.width]))[0]
    probability = predictor.scale == "probability"
    return Boundary(
        names=(data.schema.names[a], data.schema.names[b]),
        output=predictor.output_names[k],
        grids=(grids[0], grids[1]),
        model=answers[:, k].reshape(shape),
        local=fit.predict(space.apart(table, row))[:, k].reshape(shape),
        points=sample[:, [a, b]],
        answers=run.predict(predictor, data.of_codes(sample))[:, k],
        counts=counts,
        row=row[[a, b]],
        level=0.5 if probability else float(prediction[k]),
    )


def _grid(data: Data, j: int, value: float, sample: FloatArray) -> FloatArray:
    """Evenly from the least to the greatest of the data, the samples and the row."""
    feature = data.schema.features[j]
    ends = [feature.low, feature.high, float(value), float(np.nanmin(sample)), float(np.nanmax(sample))]
    return np.unique(snap(feature, np.linspace(np.nanmin(ends), np.nanmax(ends), _SIDE)))
