"""Where an effect is evaluated: grids of values and quantile bins, all in codes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.checks import whole
from pellucid.data.cells import objects
from pellucid.data.frames.frame import is_missing
from pellucid.data.schema import DAY, Feature, Schema
from pellucid.errors import InputError
from pellucid.stats import weighted_quantiles


def grid_codes(feature: Feature, codes: FloatArray, size: int) -> FloatArray:
    """The distinct values if there are at most ``size``, else ``size`` equally spaced from least to greatest."""
    size = whole("grid", size)
    if feature.empty:
        raise InputError(f"feature {feature.name!r} is missing in every row; there is nothing to vary.")
    if feature.nominal or _at_most(feature, codes, size):
        return np.unique(codes[~np.isnan(codes)])
    return np.unique(snap(feature, np.linspace(feature.low, feature.high, size)))


def _at_most(feature: Feature, codes: FloatArray, size: int) -> bool:
    """Whether the feature has at most so many distinct values; mostly the first rows show that it has more."""
    first = codes[: 4 * size]
    return np.unique(first[~np.isnan(first)]).size <= size and feature.distinct <= size


def snap(feature: Feature, codes: FloatArray) -> FloatArray:
    """Values the feature can take: whole numbers for integers, whole days for dates without a time."""
    if feature.kind == "integer":
        return np.round(codes)
    if feature.kind == "date":
        step = DAY if feature.whole_days else 1.0
        return np.round(codes / step) * step
    return codes


def given_codes(feature: Feature, at: Any) -> FloatArray:
    """A grid given by the user, as codes in the order given."""
    values = list(at) if isinstance(at, Iterable) and not isinstance(at, str | bytes) else [at]
    if not values:
        raise InputError(f"at= has no values for feature {feature.name!r}; give at least one.")
    if any(is_missing(value) for value in values):
        raise InputError(
            f"at= has a missing value for feature {feature.name!r}; leave it out: the effect at missing is reported by"
            " itself."
        )
    return feature.encode(objects(values))


def given_grids(schema: Schema, at: Any) -> dict[int, FloatArray]:
    """Grids of several features, as codes: ``{"temp": [0, 10], "hum": [30, 60, 90]}``, or one list for each feature."""
    if at is None:
        return {}
    if not isinstance(at, Mapping):
        lists = list(at) if isinstance(at, Iterable) and not isinstance(at, str | bytes) else []
        if len(lists) != len(schema.features) or any(
            isinstance(own, str) or not isinstance(own, Iterable) for own in lists
        ):
            raise InputError(
                f"at= must be a dict of lists, such as at={{{schema.names[0]!r}: [...]}}, or one list for each of the"
                f" {len(schema.features)} features, got {at!r}."
            )
        at = dict(zip(range(len(lists)), lists, strict=True))
    found = {schema.index(name): values for name, values in at.items()}
    return {j: np.unique(given_codes(schema.features[j], values)) for j, values in found.items()}


def given_ranges(schema: Schema, ranges: Any) -> dict[int, tuple[float, float]]:
    """Low and high ends of several features, as codes: ``{"temp": (0, 30)}``."""
    if ranges is None:
        return {}
    if not isinstance(ranges, Mapping):
        raise InputError(f"ranges= must be a dict, such as ranges={{{schema.names[0]!r}: (0, 1)}}, got {ranges!r}.")
    found = {}
    for name, ends in ranges.items():
        feature = schema.features[schema.index(name)]
        if feature.nominal:
            raise InputError(f"ranges: {feature.name!r} has levels, not a range; leave it out.")
        pair = list(ends) if isinstance(ends, Iterable) and not isinstance(ends, str | bytes) else []
        codes = feature.encode(objects(pair)) if len(pair) == 2 else np.array([np.nan, np.nan])
        if not codes[0] < codes[1]:
            raise InputError(f"ranges[{feature.name!r}] must be (low, high) with low below high, got {ends!r}.")
        found[schema.index(name)] = float(codes[0]), float(codes[1])
    return found


def quantile_edges(codes: FloatArray, bins: int, weights: FloatArray) -> FloatArray:
    """Bin edges at the quantiles of the data (inverse of the empirical distribution), ties merged.

    Bins are [e0, e1], (e1, e2], ...: every edge is an observed value, so heavily tied or skewed
    features get fewer, honest bins rather than empty ones.
    """
    bins = whole("bins", bins)
    return np.unique(weighted_quantiles(codes, np.linspace(0.0, 1.0, bins + 1), weights))


def bin_index(codes: FloatArray, edges: FloatArray) -> IntArray:
    """Bin of each code: 0 for [e0, e1], 1 for (e1, e2], ...; -1 for missing or outside."""
    index = np.searchsorted(edges[1:-1], codes, side="left")
    inside = (codes >= edges[0]) & (codes <= edges[-1])
    return index if inside.all() else np.where(inside, index, -1)
