"""One draw of the unknown features for each of many rows and coalitions, given the known ones.

The estimators are those of `pellucid.data.conditional`, for many rows with one draw each instead of one row with many. All
coalitions of a row use the same random numbers, so that their differences are not noise. Known features keep the
row's own values.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from pellucid.arrays import BoolArray, FloatArray
from pellucid.data import Data
from pellucid.data.conditional import Copula, Neighbours

_REFERENCE = 2_000  # rows among which neighbours are looked for
_POINT = 0.05  # a value held by at most this share of the rows is known by the middle of its ranks
_CANDIDATES = 8  # of which one is picked where a value is known to lie in an interval


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
        sides = [
            margin.intervals(column) for margin, column in zip(self._copula.margins, rows.T, strict=True)
        ]
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
    """Normal scores ``(lines, q)`` of which the ``known`` ones lie between the shares ``low`` and ``high`` of each line.

    In the order point, interval, unknown and with L the Cholesky factor of the correlation, the k-th score is sum_i L_ki e_i. Each
    e_k in an interval is drawn given those before; of several candidates, drawn with the ``uniforms`` (lines, candidates, q), one is
    picked at its ``marks`` by what the intervals say.
    """
    from scipy.special import ndtri

    stage = np.where(known, np.where(high - low <= _POINT, 0, 1), 2)
    stage = np.where(high - low >= 1.0, 2, stage)  # an interval that says nothing
    order = np.argsort(stage, axis=1, kind="stable")
    stage = np.take_along_axis(stage, order, axis=1)
    if not (stage == 1).any():
        uniforms = uniforms[:, :1]
    middle, a, b = (np.take_along_axis(ndtri(s), order, axis=1) for s in ((low + high) / 2, low, high))
    u = np.take_along_axis(uniforms, order[:, None], axis=2)
    L = np.linalg.cholesky(correlation[order[:, :, None], order[:, None, :]])
    e, log_weight = ndtri(u), np.zeros(u.shape[:2])
    for k in range(stage.shape[1]):
        rest = np.einsum("mi,mni->mn", L[:, k, :k], e[:, :, :k])
        point, bounded = stage[:, k] == 0, stage[:, k] == 1
        e[point, :, k] = (middle[point, k, None] - rest[point]) / L[point, k, k, None]
        if bounded.any():
            sides = [(side[bounded, k, None] - rest[bounded]) / L[bounded, k, k, None] for side in (a, b)]
            e[bounded, :, k], mass = _between(u[bounded, :, k], *sides)
            log_weight[bounded] += np.log(np.maximum(mass, 1e-300))
    weight = np.cumsum(np.exp(log_weight - log_weight.max(axis=1, keepdims=True)), axis=1)
    picked = np.minimum((weight <= weight[:, -1:] * marks[:, None]).sum(axis=1), weight.shape[1] - 1)
    scores = np.empty(stage.shape)
    best = e[np.arange(len(e)), picked]
    np.put_along_axis(scores, order, np.einsum("mki,mi->mk", L, best), axis=1)
    return scores


def _between(u: FloatArray, a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Standard normal numbers between a and b, at the share u of what lies there, and how much does."""
    from scipy.special import ndtr, ndtri

    flipped = a > 0  # the lower tail is where small shares are exact
    a, b = np.where(flipped, -b, a), np.where(flipped, -a, b)
    below = ndtr(a)
    mass = ndtr(b) - below
    z = np.clip(ndtri(below + np.where(flipped, 1.0 - u, u) * mass), a, b)
    z = np.where(np.isfinite(z), z, np.where(np.isfinite(b), b, a))
    return np.where(flipped, -z, z), mass


class NeighbourDraw:
    """Reference rows, each picked as often as it is near in the known features."""

    name = "neighbours"
    walks = 2_000

    def __init__(self, data: Data, generator: np.random.Generator) -> None:
        if len(data) > _REFERENCE:
            data = data.take(np.sort(generator.choice(len(data), _REFERENCE, replace=False)))
        self._neighbours = Neighbours.of(data)
        self._codes = np.stack([data.codes(j) for j in range(len(data.schema.features))], axis=1)

    def __call__(self, rows: FloatArray, known: BoolArray, generator: np.random.Generator) -> FloatArray:
        marks = generator.random(len(rows))
        return np.stack([self._one(row, k, mark) for row, k, mark in zip(rows, known, marks, strict=True)])

    def _one(self, row: FloatArray, known: BoolArray, mark: float) -> FloatArray:
        upper = np.cumsum(self._neighbours.weights(row, known, own=False), axis=1)
        picked = (upper <= mark * upper[:, -1:]).sum(axis=1)
        return np.where(known, row, self._codes[np.minimum(picked, len(self._codes) - 1)])


def draws_for(data: Data, generator: np.random.Generator) -> Draw:
    """A copula where all features are numbers and none is missing, else neighbours."""
    features = range(len(data.schema.features))
    numbers = all(data.schema.features[j].kind not in ("categorical", "boolean") for j in features)
    if numbers and not any(np.isnan(data.codes(j)).any() for j in features):
        return CopulaDraw(data)
    return NeighbourDraw(data, generator)
