"""New values for some columns of every row, drawn given the other columns of that row.

Several estimators compete for each column: a Gaussian copula of the columns; other rows that are near in the columns
associated with the drawn one, where there are categories or missing values (Strobl et al. 2008 condition on those
alone: what is not associated says nothing and makes near rows rare); and those of `pellucid.data.sampling.candidates`,
which see curves. The best by held-out log score is used, the copula unless it is clearly beaten
(`pellucid.data.sampling.choice`). In a wide table only the columns most associated with the drawn ones are given.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.data.association import mid_ranks, rank_association, slice_association
from pellucid.data.grid import snap
from pellucid.data.sampling.column_draws import DrawnColumn, Known, drawn_column
from pellucid.data.sampling.copula import Copula
from pellucid.data.sampling.margin import nominal_features
from pellucid.data.sampling.neighbours import Neighbours
from pellucid.data.sampling.normal_scores import POINT, step_by_step
from pellucid.data.table import Data

Columns = tuple[int, ...]
_TOGETHER = 40  # columns that one estimator holds; a wider table gets one for each player
_GIVEN = 15  # other columns given to a player of a wide table
_LOOKED_AT = 1000  # rows, for dependence without a trend
_LEARNED = 2000  # rows to learn from, where fewer are asked about
_NEIGHBOURHOOD = 2_000  # rows among which neighbours are looked for
_CANDIDATES = 8  # of which one is picked where a value is known to lie in an interval


@dataclass(frozen=True, eq=False)
class Draws:
    """The draws of each player, and how strongly columns are associated."""

    of: Mapping[str, DrawnColumn]
    strength: FloatArray

    @property
    def estimator(self) -> str:
        """The estimators used, the most frequent first."""
        names = [one.choice.name for one in self.of.values()]
        return ", ".join(sorted(set(names), key=lambda name: (-names.count(name), name)))


def conditional_draws(
    data: Data,
    players: Mapping[str, Columns],
    rows: IntArray,
    generators: tuple[np.random.Generator, np.random.Generator],
    repeats: int,
) -> Draws:
    """Values of each player for some rows, given the other columns of the row.

    Columns are taken in the order of their names, so that the numbers drawn do not depend on the order of the table.
    Values are such as the column can hold: whole numbers, whole days.
    """
    strength = np.maximum(np.abs(rank_association(data, _LOOKED_AT)), _without_trend(data))
    learned = rows if len(rows) >= _LEARNED else np.union1d(rows, data.spread(_LEARNED))
    codes = np.stack([data.codes(j)[learned] for j in range(len(data.schema.features))], axis=1)
    asked = np.searchsorted(learned, rows)
    seed = int(generators[0].integers(2**62))
    shuffled = np.random.default_rng([seed, len(players)]).permutation(len(learned))
    known = Known(codes, nominal_features(data), data.weights[learned], strength, _by_name(data), shuffled)
    drawn = {
        name: drawn_column(
            known,
            players[name],
            _given(data, players[name], strength),
            asked,
            repeats,
            np.random.default_rng([seed, place]),
        )
        for place, name in enumerate(sorted(players))
    }
    return Draws({name: _snapped(data, players[name], drawn[name]) for name in players}, strength)


def _snapped(data: Data, members: Columns, drawn: DrawnColumn) -> DrawnColumn:
    """The draws as values that their columns can hold: whole numbers and whole days."""
    codes = [snap(data.schema.features[j], drawn.codes[..., f]) for f, j in enumerate(members)]
    return replace(drawn, codes=np.stack(codes, axis=-1))


def _by_name(data: Data) -> IntArray:
    """The place of each column among the names of all."""
    return np.argsort(np.argsort(np.array(data.schema.columns, dtype=object), kind="stable"))


def _without_trend(data: Data) -> FloatArray:
    """Association of numbers that also sees parabolas and cycles; not looked for in a wide table."""
    numeric = np.flatnonzero(~nominal_features(data)).tolist()
    matrix = np.zeros((len(data.schema.features),) * 2)
    if len(matrix) > _TOGETHER:
        return matrix
    rows = data.spread(_LOOKED_AT)
    rows = rows[data.weights[rows] > 0]
    weights = data.weights[rows]
    ranks = {j: mid_ranks(data.codes(j)[rows], weights) for j in numeric}
    for j in numeric:
        for k in numeric:
            if j != k:
                found = slice_association(ranks[j], ranks[k], weights)
                matrix[j, k], matrix[k, j] = max(matrix[j, k], found), max(matrix[k, j], found)
    return matrix


def _given(data: Data, members: Columns, strength: FloatArray) -> IntArray:
    """The other columns, in the order of their names; of a wide table those most associated with the drawn ones."""
    names = np.array(data.schema.columns, dtype=object)
    others = np.setdiff1d(np.arange(len(names)), members)
    if len(names) > _TOGETHER:
        most = strength[list(members)].max(axis=0)
        others = others[np.lexsort((names[others], -most[others]))][:_GIVEN]
    return np.asarray(others[np.argsort(names[others], kind="stable")])


def _numbers(data: Data) -> bool:
    """No categories, nothing missing."""
    columns = range(len(data.schema.features))
    return not nominal_features(data).any() and not any(np.isnan(data.codes(j)).any() for j in columns)


# -- one draw of the unknown features for each of many rows and coalitions -------------------------
#
# One draw of the unknown features for each of many rows and coalitions, given the known ones.
#
# The estimators are those of `pellucid.data.sampling.neighbours`, for many rows with one draw each instead of one row
# with many. All coalitions of a row use the same random numbers, so that their differences are not noise. Known
# features keep the row's own values.


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


def draws_for(data: Data, generator: np.random.Generator) -> Draw:
    """A copula where all features are numbers and none is missing, else neighbours."""
    return CopulaDraw(data) if _numbers(data) else NeighbourDraw(data, generator)
