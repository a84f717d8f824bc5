"""How unusual the values of a row are among the rows of reference.

Reference. Miller 2019, Explanation in artificial intelligence: people name the abnormal cause first.

Definition. The share of reference rows whose value is at least as extreme. Numbers and dates: twice the smaller
tail, ``min(1, 2 min(P(X <= x), P(X >= x)))``, among the rows where the feature is known. Categories (ordered and
boolean ones too): the frequency of the category. Missing: the share of rows in which the feature is missing.
A group of features is as rare as its rarest member.

When it misleads. (1) A number between two humps of a distribution is rare, but not extreme: this does not see
it. (2) Every value of an identifier is a rare category. (3) Features are looked at one by one: an unusual
combination of usual values is not found.

Cost. No model rows; one sort of each column, of at most 20,000 evenly spaced rows of reference (for a few rows, a count
each).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pellucid.arrays import FloatArray, IntArray, freeze
from pellucid.data.schema import Feature
from pellucid.data.table import Data

_MOST = 20_000
_ROUNDING = 1e-12  # of a sum of weights
_FEW = 16  # rows for which counting is quicker than a sort


@dataclass(frozen=True, eq=False)
class Rarity:
    """For each row and player: ``share`` (NaN where unknown) and ``side`` of the values.

    ``side`` is +1 for a number in the upper tail, -1 in the lower (+2 and -2: the highest and lowest of all), 0 for
    whatever has no order: categories, missing values, groups. A number with share s on a side is beyond 1 - s / 2 of
    the known reference values.
    """

    share: FloatArray
    side: FloatArray

    def __post_init__(self) -> None:
        freeze(self)

    def rows(self, which: IntArray) -> Rarity:
        """Those of some rows."""
        return Rarity(self.share[which], self.side[which])

    def taken(self, places: Sequence[int], unknown: int = 0) -> Rarity:
        """Those of some players, and of so many more that have no value."""
        blank = np.full((len(self.share), unknown), np.nan)
        share = np.concatenate([self.share[:, list(places)], blank], axis=1)
        return Rarity(share, np.concatenate([self.side[:, list(places)], 0 * np.isnan(blank)], axis=1))

    def merged(self, groups: Sequence[Sequence[int]]) -> Rarity:
        """Those of groups of players: as rare as the rarest member, with a side only if there is no other."""
        share = np.stack([np.fmin.reduce(self.share[:, list(members)], axis=1) for members in groups], axis=1)
        sides = [self.side[:, members[0]] * (len(members) == 1) for members in groups]
        return Rarity(share, np.stack(sides, axis=1))


def rarity(reference: Data, rows: Data, players: Mapping[str, tuple[int, ...]], most: int = _MOST) -> Rarity:
    """The rarity of every player's value in ``rows`` among the weighted rows of ``reference``."""
    chosen = reference.spread(most)
    chosen = chosen[reference.weights[chosen] > 0]
    weights = reference.weights[chosen]
    shape = (len(rows), len(players))
    share, side = np.full(shape, np.nan), np.zeros(shape)
    for k, members in enumerate(players.values()):
        found = [
            _of_feature(reference.schema.features[j], reference.codes(j)[chosen], weights, rows.codes(j))
            for j in members
        ]
        share[:, k] = np.fmin.reduce([each for each, _ in found])
        if len(found) == 1:
            side[:, k] = found[0][1]
    return Rarity(share, side)


def _of_feature(
    feature: Feature, known: FloatArray, weights: FloatArray, values: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Share and side of each value of one feature."""
    if not (whole := weights.sum()) > 0:
        return np.full(len(values), np.nan), np.zeros(len(values))
    here, there = np.isnan(values), np.isnan(known)
    below, upto = _shares(known[~there], weights[~there], values)
    missing = float(weights[there].sum() / whole)
    if feature.nominal:
        present = float(weights[~there].sum() / whole)
        share, side = np.nan_to_num(upto - below) * present, np.zeros(len(values))
    else:
        tail = np.fmin(upto, 1.0 - below)
        share, side = np.minimum(1.0, 2.0 * tail), np.sign(below - (1.0 - upto))
        side[share == 1.0] = 0.0
        side *= 1.0 + ((side > 0) & (upto >= 1.0 - _ROUNDING) | (side < 0) & (below <= _ROUNDING))
    return np.where(here, missing, share), np.where(here, 0.0, side)


def _shares(known: FloatArray, weights: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Weighted shares of the known values that are below, and at most, each value; NaN if none is known."""
    if not known.size:
        return np.full(len(values), np.nan), np.full(len(values), np.nan)
    if len(values) <= _FEW and (weights == 1.0).all():  # counted: whole numbers, so the same to the bit
        below, upto = (
            np.array([np.count_nonzero(compare(known, value)) for value in values], dtype=np.float64)
            for compare in (np.less, np.less_equal)
        )
        return below / len(known), upto / len(known)
    order = np.argsort(known)
    mass = np.concatenate([[0.0], np.cumsum(weights[order])])
    below, upto = (mass[np.searchsorted(known[order], values, side)] for side in ("left", "right"))
    return np.asarray(below / mass[-1]), np.asarray(upto / mass[-1])
