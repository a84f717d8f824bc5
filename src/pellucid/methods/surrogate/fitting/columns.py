"""Features as a tree sees them: numbers by their rank, levels of a category in the order of their mean prediction.

Ranks are whole numbers, which the trees' single precision holds exactly where the values themselves (dates, large
numbers) would be rounded. For one output the best of all ways to part the levels of a category in two is a cut in the
order of their means (Breiman, Friedman, Olshen and Stone 1984, 4.2.2); the order is that over all fitted rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray, group_sums
from pellucid.data import Data
from pellucid.methods.surrogate.fitting.task import by_content
from pellucid.words import value_name


@dataclass(frozen=True, eq=False)
class Columns:
    """Ranks or level codes ``(rows, features)``, NaN where missing, of the features in an order that does not depend on
    names.

    ``places`` are their positions in the table, ``known`` the distinct values of each in ascending order.
    """

    data: Data
    places: IntArray
    ranks: FloatArray
    known: tuple[FloatArray, ...]
    nominal: BoolArray

    @classmethod
    def of(cls, data: Data) -> Columns:
        """Those of a table."""
        places, _ = by_content(data)
        ranks = np.empty((len(data), len(places)))
        known = []
        for k, j in enumerate(places.tolist()):
            codes = data.codes(j)
            values, place = np.unique(codes, return_inverse=True)  # what is missing comes last
            levels = values[~np.isnan(values)]
            ranks[:, k] = np.where(np.isnan(codes), np.nan, place)
            known.append(levels)
        nominal = np.array([data.schema.features[j].kind == "categorical" for j in places.tolist()])
        return cls(data, places, ranks, tuple(known), nominal)

    def orders(self, rows: IntArray, target: FloatArray, weights: FloatArray) -> dict[int, IntArray]:
        """For each category the rank of its levels by the mean target over ``rows``, of several outputs along the
        direction in which the means differ most.
        """
        found = {}
        for k in np.flatnonzero(self.nominal).tolist():
            place = self.ranks[rows, k]
            seen = ~np.isnan(place)
            n = len(self.known[k])
            groups = place[seen].astype(np.intp)
            mass = np.bincount(groups, weights=weights[rows][seen], minlength=n).astype(np.float64)
            sums = group_sums(groups, n, target[rows][seen] * weights[rows][seen, None])
            centre = sums.sum(axis=0) / max(mass.sum(), 1e-300)
            means = np.where(mass[:, None] > 0, sums / np.maximum(mass, 1e-300)[:, None], centre) - centre
            order = np.argsort(_along(means, mass), kind="stable")
            rank = np.empty(n, dtype=np.intp)
            rank[order] = np.arange(n)
            found[k] = rank
        return found

    def ordered(self, orders: dict[int, IntArray]) -> FloatArray:
        """The matrix in which the levels of categories stand in these orders."""
        matrix = self.ranks.copy()
        for k, rank in orders.items():
            seen = ~np.isnan(matrix[:, k])
            matrix[seen, k] = rank[matrix[seen, k].astype(np.intp)]
        return matrix

    def threshold(self, k: int, rank: float) -> float:
        """A cut between two ranks as a value of the feature, the roundest one between the two values."""
        below = math.floor(rank)
        low, high = float(self.known[k][below]), float(self.known[k][below + 1])
        kind = self.data.schema.features[int(self.places[k])].kind
        return roundest(low, high) if kind == "numeric" else low

    def levels(self, k: int, rank: float, orders: dict[int, IntArray]) -> tuple[int, ...]:
        """Codes of the levels up to a rank."""
        order = orders.get(k, np.arange(len(self.known[k])))
        return tuple(int(self.known[k][place]) for place in np.flatnonzero(order <= rank))


def _along(means: FloatArray, mass: FloatArray) -> FloatArray:
    if means.shape[1] == 1 or not means.any():
        return means[:, 0]
    direction = np.linalg.svd(means * np.sqrt(mass)[:, None], full_matrices=False)[2][0]
    return means @ (direction * np.sign(direction[np.argmax(np.abs(direction))]))


def roundest(low: float, high: float) -> float:
    """The number with the fewest digits that is at least ``low`` and below ``high``, of several the nearest to the
    middle.

    >>> roundest(12.96, 13.04), roundest(3.1, 9.2), roundest(0.7311, 0.7313)
    (13.0, 6.0, 0.7312)
    """
    middle = low / 2 + high / 2
    for power in range(math.floor(math.log10(max(high - low, 1e-300))) + 1, -320, -1):
        step = 10.0**power
        if step <= 0 or not math.isfinite(middle / step):
            break
        found = float(np.round(middle / step) * step) if power > 0 else round(middle, -power)
        if low < found < high:
            return found
    return low


def level_words(data: Data, j: int, levels: tuple[int, ...]) -> list[str]:
    """Names of levels of a feature."""
    feature = data.schema.features[j]
    return [value_name(value) for value in feature.decode(np.array(levels, dtype=np.float64)).tolist()]
