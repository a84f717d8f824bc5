"""What a change costs: a sum (or the largest) of what each feature costs, in the units of `data.distance`.

- *gower*: mean over features of |difference| / observed range, 1 for another level;
- *manhattan*: sum over features of |difference| / median absolute deviation;
- *l1*, *l2*, *linf*: the norms of the differences in units of the ranges (1 for another level);
- *changes*: the number of changed features, and Gower's distance among answers with as many;
- costs of the user's own: per unit of a number, per change of a category.

`Cost.of` is the cost of one feature's values, so that searches can bound and order what they try; a cost that is a
function of whole rows has no such parts (``separable`` is False).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from pellucid.arrays import AnyArray, BoolArray, FloatArray
from pellucid.checks import bounded, one_of
from pellucid.data import Data
from pellucid.data.distance import RowDistance
from pellucid.errors import InputError

_FREE = 1e-9  # what costs nothing is still changed no more than needed
DISTANCES = ("gower", "manhattan", "changes", "l1", "l2", "linf")


@dataclass(frozen=True, eq=False)
class Cost:
    """What rows of codes cost against the row ``x``: weights times the differences of ``distance``, per feature."""

    x: FloatArray
    distance: RowDistance
    weights: FloatArray
    per_change: float = 0.0
    norm: Literal["sum", "max"] = "sum"
    power: int = 1
    levels: Mapping[int, Mapping[float, float]] | None = None
    function: Callable[[FloatArray], FloatArray] | None = None

    @property
    def separable(self) -> bool:
        """Whether the cost is that of its features, each by itself."""
        return self.function is None

    def changed(self, rows: FloatArray) -> BoolArray:
        """Which cells differ from those of the row; a missing value is the same as a missing value."""
        return np.asarray((rows != self.x) & ~(np.isnan(rows) & np.isnan(self.x)))

    def of(self, j: int, values: FloatArray) -> FloatArray:
        """What each value of feature ``j`` costs: 0 for the row's own."""
        rows = np.repeat(self.x[None], len(values), axis=0)
        rows[:, j] = values
        return self.parts(rows)[:, j]

    def parts(self, rows: FloatArray) -> FloatArray:
        """What each feature of each row costs."""
        apart = self.distance.apart(rows, self.x)
        for j, prices in (self.levels or {}).items():
            apart[:, j] = [0.0 if code == self.x[j] else prices.get(code, 1.0) for code in rows[:, j].tolist()]
        return np.asarray(apart**self.power * self.weights + self.per_change * self.changed(rows))

    def shown(self, cost: FloatArray) -> FloatArray:
        """Costs as people read them: the root of a sum of squares, nothing for what costs nothing."""
        told = np.round(cost, 7) if (self.weights == _FREE).any() else cost
        return np.asarray(np.sqrt(told) if self.power == 2 else told)

    def total(self, rows: FloatArray) -> FloatArray:
        """What each row costs."""
        if self.function is not None:
            return self.function(rows)
        parts = self.parts(rows)
        return np.asarray(parts.max(axis=1) if self.norm == "max" else parts.sum(axis=1))


def read_cost(
    data: Data,
    x: FloatArray,
    distance: Any = "gower",
    costs: Mapping[Any, Any] | None = None,
    table: Callable[[FloatArray], Any] | None = None,
) -> Cost:
    """The cost that a user asks for; ``table`` makes the caller's own table of rows of codes, for a function of his."""
    p = len(data.schema.features)
    gower = RowDistance.learn(data, "gower")
    if callable(distance):
        if table is None or costs is not None:
            raise InputError("costs= are added to a distance by name; leave them out where distance= is a function.")
        return Cost(x, gower, np.full(p, 1.0 / p), function=lambda rows: _own(distance, table(rows), len(rows)))
    one_of("distance", distance, DISTANCES)
    learnt = RowDistance.learn(data, "manhattan") if distance == "manhattan" else gower
    weights = np.full(p, 1.0 / p) if distance in ("gower", "changes") else np.ones(p)
    levels: dict[int, dict[float, float]] = {}
    for name, price in _prices(costs).items():
        j = data.schema.index(name)
        if isinstance(price, Mapping):
            levels[j] = _levels(data, j, price)
            weights[j] = 1.0
        else:
            weights[j] = max(bounded(f"costs[{name!r}]", price, least=0) * learnt.unit[j], _FREE)
    return Cost(
        x,
        learnt,
        weights,
        1.0 if distance == "changes" else 0.0,
        "max" if distance == "linf" else "sum",
        2 if distance == "l2" else 1,
        levels=levels,
    )


def _prices(costs: Any) -> Mapping[Any, Any]:
    if costs is None or isinstance(costs, Mapping):
        return costs or {}
    raise InputError(f"costs must be a dict, such as {{'age': 2.0}} (per unit of the feature), got {costs!r}.")


def _levels(data: Data, j: int, prices: Mapping[Any, Any]) -> dict[float, float]:
    feature = data.schema.features[j]
    if not feature.nominal:
        raise InputError(f"costs[{feature.name!r}] must be a number, the cost per unit; only categories have levels.")
    codes = feature.encode(np.array([*prices, None], dtype=object)[:-1])
    return {
        float(code): bounded(f"costs[{feature.name!r}][{level!r}]", price, least=0)
        for code, (level, price) in zip(codes, prices.items(), strict=True)
    }


def _own(function: Callable[[Any], Any], table: Any, n: int) -> FloatArray:
    found: AnyArray = np.asarray(function(table), dtype=np.float64)
    if found.shape != (n,) or not np.isfinite(found).all() or (found < 0).any():
        raise InputError(
            f"distance= gave the shape {found.shape} for {n} rows, or numbers below 0; return one cost of at"
            " least 0 per"
            " row."
        )
    return found
