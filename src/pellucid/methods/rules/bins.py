"""What a rule may ask of a feature: intervals around the row's value, its category, or that it is missing.

Numbers and dates are cut at the quartiles of the data, at other quantiles (``bins=8``) or at edges of the caller's own;
an interval is open below and closed above, (a, b], and the outer ones reach to infinity. A number with no more values
than bins is taken value by value. Categories, ordered ones too, and booleans are their values. Where even a
condition on every feature does not fix the prediction, the intervals are halved, again and again, down to single values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.arrays import BoolArray, FloatArray
from pellucid.data import Data
from pellucid.data.grid import given_codes, weighted_quantiles
from pellucid.data.schema import Feature
from pellucid.errors import InputError
from pellucid.explanations.rule import Condition
from pellucid.explanations.words import number, value_name

AUTO = 4


@dataclass(frozen=True)
class Cell:
    """A condition in codes: ``low < code <= high``, or missing."""

    low: float
    high: float
    missing: bool = False

    def holds(self, codes: FloatArray) -> BoolArray:
        return np.isnan(codes) if self.missing else np.asarray((codes > self.low) & (codes <= self.high))


MISSING = Cell(np.nan, np.nan, missing=True)


def only(code: float) -> Cell:
    """The cell of one value."""
    return Cell(float(np.nextafter(code, -np.inf)), code)


def check_bins(bins: Any, data: Data) -> Mapping[int, Any]:
    """Per feature its number of bins or its edges in codes, for those features that have them by the caller's wish."""
    if isinstance(bins, str):
        if bins != "auto":
            raise InputError(
                f"bins={bins!r} is not known; give 'auto', a number of bins or {{name: edges}}."
            )
        return {}
    if isinstance(bins, Mapping):
        return {
            data.schema.index(name): _of_feature(data, data.schema.index(name), given)
            for name, given in bins.items()
        }
    return dict.fromkeys(range(len(data.schema.features)), _count(bins, "bins"))


def _of_feature(data: Data, j: int, given: Any) -> Any:
    feature = data.schema.features[j]
    if isinstance(given, str) or not isinstance(given, Iterable):
        return _count(given, f"bins for {feature.name!r}")
    if feature.nominal:
        raise InputError(f"feature {feature.name!r} has levels, not numbers; leave it out of bins=.")
    given = list(given)
    if not given:
        raise InputError(f"bins for {feature.name!r} has no edges; give at least one, or leave it out.")
    return np.unique(given_codes(feature, given))


def _count(given: Any, name: str) -> int:
    if isinstance(given, bool) or not isinstance(given, int | np.integer) or given < 1:
        raise InputError(f"{name}={given!r}: give a whole number of bins, at least 1, or a list of edges.")
    return int(given)


def first_cell(data: Data, j: int, code: float, wanted: Any = None) -> Cell:
    """The cell of feature ``j`` that a row with this value lies in."""
    feature = data.schema.features[j]
    if np.isnan(code):
        return MISSING
    if feature.nominal:
        return only(code)
    if isinstance(wanted, np.ndarray):
        return _between(wanted, code)
    bins = AUTO if wanted is None else int(wanted)
    codes = data.codes(j)
    if feature.empty:
        return only(code)
    if feature.distinct <= bins and (codes == code).any():
        return only(code)
    levels = np.arange(1, bins) / bins
    inner = np.unique(weighted_quantiles(codes, levels, data.weights)) if bins > 1 else np.empty(0)
    return _between(inner[inner < feature.high], code)


def _between(edges: FloatArray, code: float) -> Cell:
    at = int(np.searchsorted(edges, code, side="left"))
    return Cell(
        float(edges[at - 1]) if at > 0 else -np.inf, float(edges[at]) if at < len(edges) else np.inf
    )


def finer_cell(data: Data, j: int, code: float, cell: Cell) -> Cell | None:
    """The half of a cell in which the value lies, by weight of the rows; None if it holds nothing but the value."""
    if cell.missing or data.schema.features[j].nominal:
        return None
    inside = cell.holds(data.codes(j)) & (data.weights > 0)
    values, where = np.unique(data.codes(j)[inside], return_inverse=True)
    if len(values) < 2:
        exact = only(code)
        return None if cell == exact or (len(values) == 1 and values[0] == code) else exact
    mass = np.cumsum(np.bincount(where, weights=data.weights[inside]))
    at = int(
        np.argmin(np.abs(mass[:-1] - mass[-1] / 2))
    )  # a cut behind this value leaves some on both sides
    cut = float(values[at])
    return Cell(cell.low, cut) if code <= cut else Cell(cut, cell.high)


def wider_or_narrower(data: Data, j: int, code: float, wanted: Any, factor: float) -> Cell:
    """The cell with half or double as many bins, for the check of the bins."""
    if isinstance(wanted, np.ndarray):
        return _between(_thinned(wanted) if factor < 1 else _doubled(wanted), code)
    bins = AUTO if wanted is None else int(wanted)
    return first_cell(data, j, code, max(1, round(bins * factor)))


def _thinned(edges: FloatArray) -> FloatArray:
    return edges[1::2]


def _doubled(edges: FloatArray) -> FloatArray:
    return np.sort(np.append(edges, (edges[1:] + edges[:-1]) / 2))


# -- words -------------------------------------------------------------------------------------------


def condition(feature: Feature, player: str, cell: Cell) -> Condition:
    """A cell as people read it."""
    if cell.missing:
        return Condition(feature.name, player, "missing", f"{feature.name} is missing")
    if cell.low == np.nextafter(cell.high, -np.inf):
        value = feature.decode(np.array([cell.high]))[0]
        level = float(cell.high) if feature.kind == "date" else value
        plain = level.item() if isinstance(level, np.generic) else level
        words = _edge(feature, cell.high) if feature.kind in ("numeric", "date") else value_name(value)
        return Condition(feature.name, player, "level", f"{feature.name} = {words}", level=plain)
    low = "" if np.isinf(cell.low) else _edge(feature, cell.low)
    high = "" if np.isinf(cell.high) else _edge(feature, cell.high)
    if feature.kind == "integer" and cell.high == cell.low + 1:
        words = f"{feature.name} = {high}"
    elif low and high:
        words = f"{low} < {feature.name} ≤ {high}"
    elif low:
        words = f"{feature.name} > {low}"
    else:
        words = f"{feature.name} ≤ {high}" if high else f"{feature.name} is known"
    return Condition(feature.name, player, "interval", words, low=cell.low, high=cell.high)


def _edge(feature: Feature, code: float) -> str:
    if feature.kind == "date":
        return value_name(feature.decode(np.array([code]))[0])
    if code == round(code) and abs(code) < 1e15:
        return value_name(int(code))
    return f"{code:.4g}" if 1e-3 <= abs(code) < 1e4 else number(code)
