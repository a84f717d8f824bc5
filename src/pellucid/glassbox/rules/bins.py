"""Columns as bins: what trees and rules compare, in whole numbers.

Every distinct number of a column is a bin of its own unless there are more than ``most``; neighbours are then joined
such that all bins hold about the same weight. A level of a nominal column is a bin, and missing values are in none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pellucid.arrays import AnyArray, BoolArray, FloatArray, IntArray
from pellucid.glassbox.rules.thresholds import readable

MISSING = -1


@dataclass(frozen=True, eq=False)
class Bins:
    """Rows as bins.

    ``of`` (columns, rows) is the bin of each cell, -1 where missing; ``number`` of them each column has. ``low`` and
    ``high`` hold, for each column, the smallest and the largest number of each bin (of a nominal column its levels).
    """

    of: AnyArray  # int32
    number: IntArray
    nominal: BoolArray
    dates: BoolArray
    low: tuple[FloatArray, ...]
    high: tuple[FloatArray, ...]

    def between(self, j: int, below: int, above: int) -> float:
        """The threshold between two bins of a column."""
        return readable(float(self.high[j][below]), float(self.low[j][above]), date=bool(self.dates[j]))

    def take(self, rows: AnyArray) -> Bins:
        """The same bins for some of the rows."""
        return Bins(np.ascontiguousarray(self.of[:, rows]), self.number, self.nominal, self.dates, self.low, self.high)


def binned(codes: FloatArray, kinds: Sequence[str], weight: FloatArray, most: int | None = None) -> Bins:
    """The bins of a table of codes."""
    nominal, dates = (np.array([kind == own for kind in kinds]) for own in ("categorical", "date"))
    of = np.empty((codes.shape[1], len(codes)), dtype=np.int32)
    low, high = [], []
    for j in range(codes.shape[1]):
        column = codes[:, j]
        known = ~np.isnan(column)
        distinct, place = np.unique(column[known], return_inverse=True)
        if nominal[j]:
            distinct = np.arange(int(distinct[-1]) + 1.0) if len(distinct) else distinct
            place = column[known].astype(np.int32)
        group = np.arange(len(distinct))
        if most is not None and len(distinct) > most and not nominal[j]:
            group = _joined(np.bincount(place, weight[known], len(distinct)).astype(np.float64), most)
        first = np.flatnonzero(np.diff(group, prepend=-1))
        last = np.append(first[1:] - 1, len(distinct) - 1) if len(distinct) else first
        of[j] = MISSING
        of[j, known] = group[place]
        low.append(distinct[first])
        high.append(distinct[last])
    number = np.array([len(each) for each in low], dtype=np.int64)
    return Bins(of, number, nominal, dates, tuple(low), tuple(high))


def _joined(mass: FloatArray, most: int) -> IntArray:
    """A bin for each of some sorted values, by the middle of its weight: at most so many, numbered from 0."""
    middle = np.cumsum(mass) - mass / 2
    place = np.minimum((middle / mass.sum() * most).astype(np.int64), most - 1)
    return np.unique(place, return_inverse=True)[1]
