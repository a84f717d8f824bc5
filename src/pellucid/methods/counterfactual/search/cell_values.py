"""What features may become, cell by cell, and which value stands for a cell: of the allowed values in it, the one
nearest to the row's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.methods.counterfactual.search.constraints import Choices
from pellucid.methods.counterfactual.search.problem import Problem


class NotInCells(Exception):
    """Why a problem has no cells."""


@dataclass(frozen=True, eq=False)
class Player:
    """What one feature, or group, may become: the codes ``(cells, features)`` that stand for its cells, what they cost
    (infinite: not allowed) and the own cell.
    """

    features: tuple[int, ...]
    codes: FloatArray
    cost: FloatArray
    own: int


@dataclass(frozen=True, eq=False)
class Cells:
    """The problem of one row in cells."""

    problem: Problem
    players: tuple[Player, ...]

    def row(self, cells: Sequence[int] | IntArray) -> FloatArray:
        """The codes of a row of cells."""
        row = self.problem.x.copy()
        for player, cell in zip(self.players, cells, strict=True):
            if cell != player.own:
                row[list(player.features)] = player.codes[cell]
        return row


def player_at(problem: Problem, features: tuple[int, ...], codes: FloatArray) -> Player:
    """The player of some features whose cells are combinations ``(n, features)`` of codes, the own one among them."""
    x = problem.x[list(features)]
    same = ((codes == x) | (np.isnan(codes) & np.isnan(x))).all(axis=1)
    allowed = np.all([problem.choices[j].allows(codes[:, k]) for k, j in enumerate(features)], axis=0)
    rows = np.repeat(problem.x[None], len(codes), axis=0)
    rows[:, list(features)] = codes
    parts = problem.cost.parts(rows)[:, list(features)]
    cost = parts.max(axis=1) if problem.cost.norm == "max" else parts.sum(axis=1)
    cost = np.where(allowed, cost, np.inf)
    cost[same] = 0.0
    return Player(features, codes, cost, int(np.flatnonzero(same)[0]))


def listed_codes(problem: Problem, j: int) -> FloatArray:
    """The codes that a feature may have, whatever the row allows of them: the same ones for every row."""
    feature, choices = problem.data.schema.features[j], problem.choices[j]
    if feature.categories is not None:
        codes = np.append(np.arange(len(feature.categories)), [choices.own] if np.isnan(choices.own) else [])
    elif choices.values is not None:
        codes = choices.values
    elif choices.fixed or not problem.free[j]:
        codes = np.array([choices.own])
    else:
        raise NotInCells(
            f"{feature.name!r} goes through an encoder that neither rises nor falls with it, and has too many values to"
            " list; give those allowed in ranges="
        )
    return np.asarray(codes)[:, None]


def nearest_values(choices: Choices, edges: FloatArray, at: float, *, single: bool = False) -> FloatArray:
    """Of each interval between the edges, ``(edges[i - 1], edges[i]]``, the allowed value nearest to ``at``; NaN where
    it has none. ``single``: values are stored in single precision.
    """
    after, upto = np.concatenate([[-np.inf], edges]), np.concatenate([edges, [np.inf]])
    if choices.values is not None:
        values = choices.values[~np.isnan(choices.values)]
        first, last = _listed(values, after, upto)
        inside = values
    else:
        first, last = _stepped(choices, after, upto, single)
        inside = choices.snap(np.array([at]))
    found = np.where(after >= at, first, last)
    here = int(np.searchsorted(edges, at, side="left"))
    mine = inside[(inside > after[here]) & (inside <= upto[here])]
    if len(mine):
        found[here] = mine[np.argmin(np.abs(mine - at))]
    elif not np.isnan(first[here]):
        found[here] = first[here]
    return np.asarray(found)


def _listed(values: FloatArray, after: FloatArray, upto: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The first and last of some sorted values in each interval."""
    if not len(values):
        nothing = np.full(len(after), np.nan)
        return nothing, nothing
    start, end = np.searchsorted(values, after, side="right"), np.searchsorted(values, upto, side="right")
    some = start < end
    first = np.where(some, values[np.minimum(start, len(values) - 1)], np.nan)
    return first, np.where(some, values[np.maximum(end - 1, 0)], np.nan)


def _stepped(choices: Choices, after: FloatArray, upto: FloatArray, single: bool) -> tuple[FloatArray, FloatArray]:
    """The first and last value of each interval between ``low`` and ``high``, by the step of the feature."""
    low, high, step = choices.low, choices.high, choices.step
    upto, after = np.minimum(upto, high), np.maximum(after, np.nextafter(low, -np.inf))
    if step == 0.0:
        first, last = _next(after, single), _last(upto, single)
    else:
        k = np.floor(after / step + 1e-9)
        first = np.round(k * step, choices.decimals)
        for _ in range(2):
            first = np.where(first <= after, np.round((k + 1) * step, choices.decimals), first)
            k = np.where(first <= after, k + 1, k)
        k = np.floor(upto / step + 1e-9)
        last = np.round(k * step, choices.decimals)
        last = np.where(last > upto, np.round((k - 1) * step, choices.decimals), last)
    some = (first <= upto) & (last > after)
    return np.where(some, first, np.nan) + 0.0, np.where(some, last, np.nan) + 0.0


def _next(after: FloatArray, single: bool) -> FloatArray:
    if not single:
        return np.asarray(np.nextafter(after, np.inf))
    near = after.astype(np.float32)
    return np.where(near > after, near, np.nextafter(near, np.float32(np.inf))).astype(np.float64)


def _last(upto: FloatArray, single: bool) -> FloatArray:
    if not single:
        return upto
    near = upto.astype(np.float32)
    return np.where(near <= upto, near, np.nextafter(near, np.float32(-np.inf))).astype(np.float64)
