"""The distribution of one feature by itself, as the conditional estimators need it: ranks, scores and quantiles."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.data.table import Data
from pellucid.errors import InputError
from pellucid.stats import effective_size


@dataclass(frozen=True, eq=False)
class Margin:
    """The distribution of one feature: its values in the order of its scores, and the share of rows up to each.

    ``levels``: the values are categories, which are equal or not; missing is one of them. Otherwise the values ascend.
    """

    values: FloatArray
    upper: FloatArray
    levels: bool = False

    @classmethod
    def of(cls, codes: FloatArray, weights: FloatArray, *, levels: bool = False) -> Margin:
        """The values that occur, in ascending order."""
        counted = weights > 0 if levels else (weights > 0) & ~np.isnan(codes)
        if not counted.any():
            return cls(np.array([np.nan]), np.array([1.0]), levels)
        values, place = np.unique(codes[counted], return_inverse=True)
        return cls(values, _cumulated(np.bincount(place, weights[counted]).astype(np.float64)), levels)

    # Worked out once: a margin of many values is asked for one code at a time.

    @cached_property
    def _sorted(self) -> tuple[IntArray, FloatArray]:
        """The order in which the values ascend, NaN last, and the values in it."""
        ascending = np.argsort(self.values)
        return ascending, self.values[ascending]

    @cached_property
    def _edges(self) -> FloatArray:
        """The shares of rows at the ends of the values' intervals."""
        return np.concatenate([[0.0], self.upper])

    @cached_property
    def _half(self) -> float:
        """Half of the smallest share that a value has."""
        return float(np.diff(self._edges).min() / 2)

    def ordered(self, order: IntArray) -> Margin:
        """The same levels in another order."""
        return Margin(self.values[order], _cumulated(np.diff(self.upper, prepend=0.0)[order]), self.levels)

    def intervals(self, codes: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The shares of rows below, and up to, each code; from 0 to 1 for what says nothing (missing, or a level never
        seen).
        """
        edges, place = self._edges, self.places(codes)
        low, high = edges[np.maximum(place, 0)], edges[np.maximum(place, 0) + 1]
        if not self.levels:  # between two values that occur, or beyond them
            between = np.searchsorted(self.values, codes, side="left")
            point = np.clip(edges[np.minimum(between, len(self.values))], self._half, 1.0 - self._half)
            low, high = np.where(place < 0, point, low), np.where(place < 0, point, high)
        unknown = (place < 0) if self.levels else np.isnan(codes) | np.isnan(self.values[0])
        return np.where(unknown, 0.0, low), np.where(unknown, 1.0, high)

    def places(self, codes: FloatArray) -> IntArray:
        """Position of each code among the values, -1 where it is none of them; missing may be a value."""
        ascending, values = self._sorted
        place = np.minimum(np.searchsorted(values, codes), len(values) - 1)
        found = ascending[place]
        same = (self.values[found] == codes) | (np.isnan(self.values[found]) & np.isnan(codes))
        return np.where(same, found, -1)

    def quantile(self, shares: FloatArray) -> FloatArray:
        """The value at each share of the rows: always one that occurs."""
        place = np.searchsorted(self.upper, shares, side="left")
        return self.values[np.minimum(place, len(self.values) - 1)]

    def scores(self) -> FloatArray:
        """The mean of a standard normal variable within the interval of each value."""
        edges = normal_edges(self.upper)
        return -np.diff(normal_density(edges)) / np.diff(self.upper, prepend=0.0)


def _cumulated(mass: FloatArray) -> FloatArray:
    upper = np.cumsum(mass) / mass.sum()
    upper[-1] = 1.0
    return upper


def normal_edges(upper: FloatArray) -> FloatArray:
    """The normal quantiles of the shares, from minus infinity on."""
    from scipy.special import ndtri

    return np.asarray(ndtri(np.concatenate([[0.0], upper])))


def normal_density(z: FloatArray) -> FloatArray:
    """phi(z)."""
    return np.asarray(np.exp(-np.square(z) / 2) / np.sqrt(2 * np.pi))


def count_rows(weights: FloatArray) -> float:
    """How many rows the weights stand for: their sum if they are whole numbers, else their effective number."""
    whole = bool((weights == np.floor(weights)).all())
    return float(weights.sum()) if whole else effective_size(weights)


def nominal_features(data: Data) -> BoolArray:
    """Which features have levels without an order."""
    return np.array([feature.kind in ("categorical", "boolean") for feature in data.schema.features])


def check_known(row: FloatArray, known: BoolArray, p: int) -> None:
    """Refuse a row or coalitions that do not fit the features."""
    if row.shape != (p,) or known.ndim != 2 or known.shape[1] != p:
        raise InputError(
            f"row has shape {row.shape} and known {known.shape}; with {p} features give ({p},) and (coalitions, {p})."
        )
