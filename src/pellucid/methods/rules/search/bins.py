"""What a rule may ask of a feature: intervals around the row's value, its category, or that it is missing.

Numbers and dates are cut at the quartiles of the data, at other quantiles (``bins=8``) or at edges of the caller's own;
an interval is open below and closed above, (a, b], and the outer ones reach to infinity. A number with no more values
than bins is taken value by value. Categories, ordered ones too, and booleans are their values. Where even a condition
on every feature does not fix the prediction, the intervals are halved, again and again, down to single values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.arrays import BoolArray, FloatArray
from pellucid.checks import whole
from pellucid.data import Data, Feature, is_missing
from pellucid.data.grid import given_codes
from pellucid.errors import InputError
from pellucid.explanations.condition import Condition
from pellucid.stats import weighted_quantiles
from pellucid.words import number, value_name

AUTO = 4
_ROUNDED = 0.02  # of an interval, or of a feature's range: as much may an edge be rounded in words


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
            raise InputError(f"bins={bins!r} is not known; give 'auto', a number of bins or {{name: edges}}.")
        return {}
    if isinstance(bins, Mapping):
        return {
            data.schema.index(name): _of_feature(data, data.schema.index(name), given) for name, given in bins.items()
        }
    if isinstance(bins, Iterable):
        raise InputError(f"bins={bins!r} are edges, but not whose; give 'auto', a number of bins or {{name: edges}}.")
    return dict.fromkeys(range(len(data.schema.features)), _count(bins, "bins", "'auto' or {name: edges}"))


def _of_feature(data: Data, j: int, given: Any) -> Any:
    feature = data.schema.features[j]
    if isinstance(given, str) or not isinstance(given, Iterable):
        return _count(given, f"bins for {feature.name!r}", "a list of edges")
    if feature.nominal:
        raise InputError(f"feature {feature.name!r} has levels, not numbers; leave it out of bins=.")
    given = [edge for edge in given if not _infinite(edge)]  # the outer intervals reach to infinity anyway
    if not given:
        raise InputError(f"bins for {feature.name!r} has no edges; give at least one, or leave it out.")
    if any(is_missing(edge) for edge in given):
        raise InputError(f"bins for {feature.name!r} has a missing edge; give numbers or dates only.")
    return np.unique(given_codes(feature, given))


def _infinite(edge: Any) -> bool:
    return isinstance(edge, float | np.floating) and bool(np.isinf(edge))


def _count(given: Any, name: str, otherwise: str) -> int:
    return whole(name, given, also=otherwise)


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
    return _between(_quantile_edges(codes, data.weights, bins), code)


def _quantile_edges(codes: FloatArray, weights: FloatArray, bins: int) -> FloatArray:
    """Edges between the bins; where most rows have the greatest value, the edge lies below it and not beyond all
    rows.
    """
    known = codes[(weights > 0) & ~np.isnan(codes)]
    below = known[known < known.max(initial=-np.inf)]
    if bins < 2 or not len(below):
        return np.empty(0)
    edges = weighted_quantiles(codes, np.arange(1, bins) / bins, weights)
    return np.unique(np.minimum(edges, below.max()))


def _between(edges: FloatArray, code: float) -> Cell:
    at = int(np.searchsorted(edges, code, side="left"))
    return Cell(float(edges[at - 1]) if at > 0 else -np.inf, float(edges[at]) if at < len(edges) else np.inf)


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
    at = int(np.argmin(np.abs(mass[:-1] - mass[-1] / 2)))  # a cut behind this value leaves some on both sides
    cut = float(values[at])
    return Cell(cell.low, cut) if code <= cut else Cell(cut, cell.high)


def opened_cells(data: Data, j: int, cell: Cell) -> list[Cell]:
    """An interval without its lower and without its upper end; none where it has no ends, or is no interval."""
    if cell.missing or data.schema.features[j].nominal:
        return []
    low = cell.low
    if cell == only(cell.high):  # from the value below on, so that the edge is one that can be read
        codes = data.codes(j)
        low = float(codes[codes < cell.high].max(initial=-np.inf))
    ends = [(-np.inf, cell.high), (low, np.inf)]
    return [Cell(*pair) for pair in ends if pair != (-np.inf, np.inf) and Cell(*pair) != cell]


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
        return Condition(feature.name, "missing", f"{feature.name} is missing", player=player)
    wide = max(np.nan_to_num(feature.high - feature.low), 0.0)
    if cell.low == np.nextafter(cell.high, -np.inf):
        value = feature.decode(np.array([cell.high]))[0]
        level = float(cell.high) if feature.kind == "date" else value
        plain = level.item() if isinstance(level, np.generic) else level
        words = (
            _edge(feature, cell.high, _ROUNDED * (wide / 20 or 1e-3 * abs(cell.high)))
            if feature.kind in ("numeric", "date")
            else value_name(value)
        )
        return Condition(feature.name, "level", f"{feature.name} = {words}", levels=(plain,), player=player)
    off = _ROUNDED * min(cell.high - cell.low, wide)
    low = "" if np.isinf(cell.low) else _edge(feature, cell.low, off)
    high = "" if np.isinf(cell.high) else _edge(feature, cell.high, off)
    if feature.kind == "integer" and cell.high == cell.low + 1:
        words = f"{feature.name} = {high}"
    elif low and high:
        words = f"{low} < {feature.name} ≤ {high}"
    elif low:
        words = f"{feature.name} > {low}"
    else:
        words = f"{feature.name} ≤ {high}" if high else f"{feature.name} is known"
    return Condition(feature.name, "interval", words, low=cell.low, high=cell.high, player=player)


def _edge(feature: Feature, code: float, off: float) -> str:
    """An edge in as many digits as it takes to be wrong by no more than ``off``, at least in those of other numbers."""
    if feature.kind == "date":
        return value_name(feature.decode(np.array([code]))[0])
    if code == round(code) and abs(code) < 1e15:
        return value_name(int(code))
    usual = f"{code:.4g}" if 1e-3 <= abs(code) < 1e4 else number(code)
    longer = (f"{code:.{digits}g}" for digits in range(5, 18))  # seventeen digits are exact
    return next(said for said in (usual, *longer) if abs(float(said.replace(",", "")) - code) <= off)
