"""The distribution that variance-based importance asks the model about: units that are independent of each other.

A unit is a feature, or a group of features that keep the company they have in the data. Its distribution is a list of
values with their shares: those in the data (weighted), or evenly spaced ones over the feature's range. Numbers between
0 and 1 become values through the cumulated shares, so that evenly spread numbers give evenly spread values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.data import Data
from pellucid.data.schema import DAY, Feature
from pellucid.errors import InputError
from pellucid.methods.importance.estimation.donors import joint_codes
from pellucid.models import Predictor
from pellucid.runner import Intervention, Run

Ranges = Mapping[int, tuple[float, float]]

GRID = 8192  # values that stand for a uniform distribution: variances are right to one in 10 million


@dataclass(frozen=True, eq=False)
class Unit:
    """The values of one or more columns that vary together, ascending.

    ``codes`` is ``(values, columns)``, ``pools`` hold the same values as native columns, ``mass`` adds up to one;
    ``even`` is the range of values that stand for a uniform distribution.
    """

    columns: tuple[int, ...]
    codes: FloatArray
    mass: FloatArray
    pools: tuple[Any, ...]
    nominal: bool
    even: tuple[float, float] | None = None

    @cached_property
    def _upper(self) -> FloatArray:
        return np.cumsum(self.mass)

    @property
    def varies(self) -> bool:
        """Whether there is more than one value."""
        return len(self.mass) > 1

    def at(self, shares: FloatArray) -> IntArray:
        """The positions of the values at given shares of the distribution."""
        place = np.searchsorted(self._upper, shares, side="right")
        return np.asarray(np.minimum(place, len(self.mass) - 1))


@dataclass(frozen=True, eq=False)
class Inputs:
    """Independent units, and the players: each a list of units that are varied together."""

    data: Data
    units: tuple[Unit, ...]
    players: tuple[tuple[int, ...], ...]
    measure: str

    @classmethod
    def of_rows(cls, data: Data, players: Sequence[tuple[int, ...]], ranges: Ranges) -> Inputs:
        """Each player as it is distributed in the data, its columns together; evenly over a range that is given."""
        for j in ranges:
            if (j,) not in players:
                name = data.schema.names[j]
                raise InputError(
                    f"ranges: {name!r} belongs to a group, which keeps its rows; leave it out, or groups=."
                )
        units = tuple(
            _even(data, player[0], ranges) if player[0] in ranges else _observed(data, player) for player in players
        )
        return cls(data, units, tuple((u,) for u in range(len(units))), "data")

    @classmethod
    def uniform(cls, data: Data, players: Sequence[tuple[int, ...]], ranges: Ranges) -> Inputs:
        """Each column evenly over its range or levels, independently of the others."""
        columns = [j for player in players for j in player]
        units = tuple(_even(data, j, ranges) for j in columns)
        place = {j: u for u, j in enumerate(columns)}
        return cls(data, units, tuple(tuple(place[j] for j in player) for player in players), "uniform")

    @property
    def varying(self) -> list[int]:
        """The players that can change anything."""
        return [p for p, units in enumerate(self.players) if any(self.units[u].varies for u in units)]

    def belongs(self) -> BoolArray:
        """``(players, units)``"""
        member = np.zeros((len(self.players), len(self.units)), dtype=np.bool_)
        for p, units in enumerate(self.players):
            member[p, list(units)] = True
        return member

    def predict(self, run: Run, predictor: Predictor, positions: IntArray) -> FloatArray:
        """Predictions ``(rows, outputs)`` at positions ``(rows, units)`` of the units' values."""
        owner = [u for u, unit in enumerate(self.units) for _ in unit.columns]
        columns = tuple(j for unit in self.units for j in unit.columns)
        pools = tuple(pool for unit in self.units for pool in unit.pools)
        anywhere = np.zeros(len(positions), dtype=np.intp)  # every feature of the row is replaced
        return run.collect(
            predictor, self.data, Intervention(columns, pools, positions[None][:, :, owner], rows=anywhere)
        )[0]


def _observed(data: Data, player: tuple[int, ...]) -> Unit:
    columns = tuple(sorted(player, key=lambda j: data.schema.columns[j]))
    numbers, examples = joint_codes(data, columns)
    mass = np.bincount(numbers, weights=data.weights)
    examples, mass = examples[mass > 0], mass[mass > 0]
    codes = np.stack([data.codes(j)[examples] for j in columns], axis=1)
    pools = tuple(data.frame.gather(data.frame.native_column(j), examples) for j in columns)
    nominal = len(columns) == 1 and data.schema.features[columns[0]].nominal
    return Unit(columns, codes, mass / mass.sum(), pools, nominal)


def _even(data: Data, j: int, ranges: Ranges) -> Unit:
    feature = data.schema.features[j]
    if j in ranges:
        feature = replace(feature, low=ranges[j][0], high=ranges[j][1], missing=0.0)
    codes = even_codes(feature)
    mass = np.full(len(codes), 1.0 / len(codes))
    return Unit((j,), codes[:, None], mass, (data.pool(j, codes),), feature.nominal, (feature.low, feature.high))


def even_codes(feature: Feature) -> FloatArray:
    """Levels or whole numbers of a range each once; of any other range `GRID` values in the middle of equal parts."""
    if feature.empty:
        return np.array([np.nan])
    if feature.categories is not None:
        return np.arange(len(feature.categories), dtype=np.float64)
    step = {"integer": 1.0, "boolean": 1.0, "date": DAY if feature.whole_days else 1.0}.get(feature.kind)
    if step is not None and (feature.high - feature.low) / step < GRID:
        return np.arange(feature.low, feature.high + step / 2, step)
    if not feature.low < feature.high:
        return np.array([feature.low])
    middles = feature.low + (np.arange(GRID) + 0.5) / GRID * (feature.high - feature.low)
    return middles if step is None else np.asarray(feature.low + np.round((middles - feature.low) / step) * step)
