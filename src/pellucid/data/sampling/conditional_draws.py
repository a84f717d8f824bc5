"""New values for some columns of every row, drawn given the other columns of that row.

Two estimators (see `pellucid.data.sampling.neighbours`): where all columns are numbers, none is missing and they are
associated by trends alone, a Gaussian copula of the columns; otherwise other rows that are near in the columns
associated with the drawn ones (Strobl et al. 2008 condition on those alone: what is not associated says nothing and
makes near rows rare). In a wide table only the columns most associated with the drawn ones are given.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.data.association import mid_ranks, rank_association, slice_association
from pellucid.data.sampling.copula import Copula
from pellucid.data.sampling.margin import count_rows, nominal_features
from pellucid.data.sampling.neighbours import Neighbours
from pellucid.data.sampling.normal_scores import POINT, step_by_step
from pellucid.data.table import Data

Columns = tuple[int, ...]
_TOGETHER = 40  # columns that one estimator holds; a wider table gets one for each player
_GIVEN = 15  # other columns given to a player of a wide table
_ASSOCIATED = 0.15  # columns below it are not looked at for near rows
_REFERENCE = 1500  # rows from which a near one is picked
_LOOKED_AT = 1000  # rows, for dependence without a trend
_NO_TREND = 0.3  # how much stronger it is than the trend
_FEWEST = 5.0  # rows to pick from
_NEIGHBOURHOOD = 2_000  # rows among which neighbours are looked for
_CANDIDATES = 8  # of which one is picked where a value is known to lie in an interval


@dataclass(frozen=True, eq=False)
class Part:
    """Some columns of the table, and the players whose values are drawn given the rest of them."""

    columns: IntArray
    players: Mapping[str, Columns]


@dataclass(frozen=True, eq=False)
class Draws:
    """Drawn codes ``(repeats, rows, its columns)`` of each player, which estimator drew them, and how strongly columns
    are associated.
    """

    codes: Mapping[str, FloatArray]
    estimator: str
    strength: FloatArray


def conditional_draws(
    data: Data,
    players: Mapping[str, Columns],
    rows: IntArray,
    generators: tuple[np.random.Generator, np.random.Generator],
    repeats: int,
) -> Draws:
    """Values of each player for some rows, given the other columns of the row; near rows come from the second
    generator.

    Columns are taken in the order of their names, so that the numbers drawn do not depend on the order of the table.
    """
    trend = np.abs(rank_association(data, _LOOKED_AT))
    strength = np.maximum(trend, _without_trend(data))
    codes = np.stack([data.codes(j)[rows] for j in range(len(data.schema.features))], axis=1)
    parts = _parts(data, players, strength)
    if _numbers(data) and not (strength > trend + _NO_TREND).any():
        return Draws(_by_copula(data, parts, codes, generators[0], repeats), "copula", strength)
    drawn = _by_neighbours(data, parts, strength, codes, generators, repeats)
    return Draws(drawn, "neighbours", strength)


def _numbers(data: Data) -> bool:
    """No categories, nothing missing."""
    columns = range(len(data.schema.features))
    return not nominal_features(data).any() and not any(np.isnan(data.codes(j)).any() for j in columns)


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


def _parts(data: Data, players: Mapping[str, Columns], strength: FloatArray) -> list[Part]:
    names = np.array(data.schema.columns, dtype=object)
    if len(names) <= _TOGETHER:
        return [Part(np.argsort(names, kind="stable"), players)]
    parts = []
    for name, members in players.items():
        most = strength[list(members)].max(axis=0)
        most[list(members)] = -1.0
        others = np.lexsort((names, -most))[: min(_GIVEN, len(names) - len(members))]
        kept = np.array([*members, *others], dtype=np.intp)
        parts.append(Part(kept[np.argsort(names[kept], kind="stable")], {name: members}))
    return parts


def _masks(part: Part, strength: FloatArray | None = None) -> BoolArray:
    """Which columns of the part are given, for each of its players."""
    known = np.ones((len(part.players), len(part.columns)), dtype=np.bool_)
    for i, members in enumerate(part.players.values()):
        if strength is not None:
            known[i] = strength[list(members)][:, part.columns].max(axis=0) >= _ASSOCIATED
        known[i, np.isin(part.columns, members)] = False
    return known


def _places(part: Part, members: Columns) -> IntArray:
    return np.array([int(np.flatnonzero(part.columns == j)[0]) for j in members], dtype=np.intp)


def _by_copula(
    data: Data, parts: list[Part], codes: FloatArray, generator: np.random.Generator, repeats: int
) -> dict[str, FloatArray]:
    whole, seed = Copula.of(data), int(generator.integers(2**62))
    drawn = {}
    for part in parts:
        c = part.columns
        copula = Copula(tuple(whole.margins[j] for j in c), (), whole.correlation[np.ix_(c, c)])
        known, source = _masks(part), np.random.default_rng(seed)
        found = copula.draw_each(codes[:, c], known, repeats, source)
        for i, (name, members) in enumerate(part.players.items()):
            drawn[name] = found[i][..., _places(part, members)]
    return drawn


def _by_neighbours(
    data: Data,
    parts: list[Part],
    strength: FloatArray,
    codes: FloatArray,
    generators: tuple[np.random.Generator, np.random.Generator],
    repeats: int,
) -> dict[str, FloatArray]:
    counting = np.flatnonzero(data.weights > 0)
    if len(counting) > _REFERENCE:
        counting = np.sort(generators[1].choice(counting, _REFERENCE, replace=False))
    reference = data.take(counting)
    # Narrow, because one value is drawn and no mean taken; it widens where fewer than a few rows are near.
    width = float(count_rows(reference.weights) ** (-1 / 3) / np.sqrt(12))
    whole = Neighbours.of(reference, width=width, least=_FEWEST)
    marks = generators[0].random((len(codes), repeats))
    drawn = {}
    for part in parts:
        c = part.columns
        near = Neighbours(
            whole.codes[c], whole.ranks[c], whole.mass, tuple(whole.margins[j] for j in c), width, _FEWEST
        )
        known = _masks(part, strength)
        picked = np.stack([_picked(near, row[c], known, u) for row, u in zip(codes, marks, strict=True)], axis=2)
        for i, (name, members) in enumerate(part.players.items()):
            drawn[name] = np.stack([whole.codes[j][picked[i]] for j in members], axis=-1)
    return drawn


def _picked(near: Neighbours, row: FloatArray, known: BoolArray, marks: FloatArray) -> IntArray:
    """Reference rows ``(players, repeats)``, picked by how near they are; not the row itself."""
    total = np.cumsum(near.weights(row, known, own=False), axis=1)
    return np.stack(
        [np.minimum(np.searchsorted(line / line[-1], marks, side="right"), len(line) - 1) for line in total]
    )


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
