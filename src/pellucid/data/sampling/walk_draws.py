"""One draw of the unknown features for each of many rows and coalitions, given the known ones.

The estimators are a Gaussian copula, near rows (`pellucid.data.sampling.neighbours`) and, where curves show, the
distribution of all columns together (`pellucid.data.sampling.joint`), for many rows with one draw each instead of one
row with many. All coalitions of a row use the same random numbers, so that their differences are not noise. Known
features keep the row's own values.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from pellucid.arrays import BoolArray, FloatArray
from pellucid.data.sampling.conditional_draws import held
from pellucid.data.sampling.copula import Copula
from pellucid.data.sampling.joint import Joint
from pellucid.data.sampling.margin import nominal_features
from pellucid.data.sampling.neighbours import Neighbours
from pellucid.data.sampling.normal_scores import POINT, step_by_step
from pellucid.data.table import Data

_NEIGHBOURHOOD = 2_000  # rows among which neighbours are looked for
_CANDIDATES = 8  # of which one is picked where a value is known to lie in an interval
_PARTICLES = 64


class Draw(Protocol):
    """Draws of unknown features."""

    name: str
    walks: int  # that are followed unless the caller says otherwise

    def __call__(self, rows: FloatArray, known: BoolArray, generator: np.random.Generator) -> FloatArray:
        """Codes ``(rows, coalitions, features)`` for rows ``(rows, features)`` of which ``known`` is kept."""
        ...


class CopulaDraw:
    """A Gaussian copula: normal scores given those of the known features."""

    name = "copula"
    walks = 10_000

    def __init__(self, data: Data) -> None:
        self._copula = Copula.of(data)

    def __call__(self, rows: FloatArray, known: BoolArray, generator: np.random.Generator) -> FloatArray:
        from scipy.special import ndtr

        w, m, q = known.shape
        sides = [margin.intervals(column) for margin, column in zip(self._copula.margins, rows.T, strict=True)]
        low, high = (np.stack(part, axis=1) for part in zip(*sides, strict=True))
        uniforms, marks = generator.random((w, _CANDIDATES, q)), generator.random((w,))
        of_row = np.repeat(np.arange(w), m)
        scores = scores_given(
            self._copula.correlation,
            low[of_row],
            high[of_row],
            known.reshape(w * m, q),
            uniforms[of_row],
            marks[of_row],
        )
        drawn = self._copula.rows(ndtr(scores)).reshape(w, m, q)
        return np.where(known, rows[:, None], drawn)


def scores_given(
    correlation: FloatArray,
    low: FloatArray,
    high: FloatArray,
    known: BoolArray,
    uniforms: FloatArray,
    marks: FloatArray,
) -> FloatArray:
    """Normal scores ``(lines, q)`` of which the ``known`` ones lie between the shares ``low`` and ``high`` of each
    line.

    Of several candidates, drawn with the ``uniforms`` (lines, candidates, q), one is picked at its ``marks`` by what
    the intervals say.
    """
    if not (known & (high - low > POINT)).any():
        uniforms = uniforms[:, :1]
    steps = step_by_step(correlation, low, high, known, uniforms)
    weight = np.cumsum(np.exp(steps.log_weight - steps.log_weight.max(axis=1, keepdims=True)), axis=1)
    picked = np.minimum((weight <= weight[:, -1:] * marks[:, None]).sum(axis=1), weight.shape[1] - 1)
    best = np.take_along_axis(steps.e, picked[:, None, None], axis=1)
    return steps.scores(best)[:, 0]


class NeighbourDraw:
    """Reference rows, each picked as often as it is near in the known features."""

    name = "neighbours"
    walks = 2_000

    def __init__(self, data: Data, generator: np.random.Generator) -> None:
        if len(data) > _NEIGHBOURHOOD:
            data = data.take(np.sort(generator.choice(len(data), _NEIGHBOURHOOD, replace=False)))
        self._neighbours = Neighbours.of(data)
        self._codes = np.stack([data.codes(j) for j in range(len(data.schema.features))], axis=1)

    def __call__(self, rows: FloatArray, known: BoolArray, generator: np.random.Generator) -> FloatArray:
        marks = generator.random(len(rows))
        return np.stack([self._one(row, k, mark) for row, k, mark in zip(rows, known, marks, strict=True)])

    def _one(self, row: FloatArray, known: BoolArray, mark: float) -> FloatArray:
        upper = np.cumsum(self._neighbours.weights(row, known, own=False), axis=1)
        picked = (upper <= mark * upper[:, -1:]).sum(axis=1)
        return np.where(known, row, self._codes[np.minimum(picked, len(self._codes) - 1)])


class CurvesDraw:
    """Particles of the distribution of all columns together, of which one is picked."""

    name = "curves"
    walks = 1_000

    def __init__(self, data: Data, joint: Joint) -> None:
        self._data, self._joint = data, joint

    def __call__(self, rows: FloatArray, known: BoolArray, generator: np.random.Generator) -> FloatArray:
        uniforms = generator.random((_PARTICLES, len(rows), self._joint.uniforms))
        lines = known.reshape(-1, known.shape[2])
        of_row = np.repeat(np.arange(len(rows)), known.shape[1])
        patterns, which = np.unique(lines, axis=0, return_inverse=True)
        drawn = np.empty(lines.shape)
        for k, pattern in enumerate(patterns):
            some = np.flatnonzero(which.ravel() == k)
            drawn[some] = self._joint.draw(rows[of_row[some]], pattern, 1, uniforms[:, of_row[some]]).codes[:, 0]
        return np.where(known, rows[:, None], held(self._data, drawn).reshape(known.shape))


def draws_for(data: Data, generator: np.random.Generator, joint: Joint | None) -> Draw:
    """Of the distribution of all columns together, where there is one; else of a copula where all features are numbers
    and none is missing; else neighbours.
    """
    if joint is not None:
        return CurvesDraw(data, joint)
    return CopulaDraw(data) if numbers(data) else NeighbourDraw(data, generator)


def numbers(data: Data) -> bool:
    """No categories, nothing missing."""
    columns = range(len(data.schema.features))
    return not nominal_features(data).any() and not any(np.isnan(data.codes(j)).any() for j in columns)
