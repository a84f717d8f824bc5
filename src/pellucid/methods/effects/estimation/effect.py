"""What all effects share: the data behind a grid, the shape of a curve, and the finished result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.arrays import AnyArray, FloatArray, IntArray
from pellucid.data import Data, Feature, is_missing
from pellucid.explanations import Caveat, Effect, Header, squeeze_outputs
from pellucid.models import Predictor
from pellucid.runner import Run

_RUG = 400


def nearest_point(codes: FloatArray, points: FloatArray) -> AnyArray:
    """For each code the position of the nearest grid point; -1 for missing."""
    order = np.argsort(points)
    ascending = points[order]
    nearest = np.searchsorted((ascending[1:] + ascending[:-1]) / 2, codes)
    if (order[1:] < order[:-1]).any():
        nearest = order[nearest]
    missing = np.isnan(codes)
    return np.where(missing, -1, nearest) if missing.any() else nearest


def grid_counts(data: Data, features: tuple[int, ...], codes: tuple[FloatArray, ...]) -> FloatArray:
    """Weight of the rows whose values lie nearest to each grid point."""
    shape = tuple(len(points) for points in codes)
    cells = [nearest_point(data.codes(j), points) for j, points in zip(features, codes, strict=True)]
    flat, weights = cells[0], data.weights
    for cell, size in zip(cells[1:], shape[1:], strict=True):
        flat = np.where((flat >= 0) & (cell >= 0), flat * size + cell, -1)
    if flat.min(initial=0) < 0:
        flat, weights = flat[flat >= 0], weights[flat >= 0]
    mass = np.bincount(flat, weights=weights, minlength=int(np.prod(shape)))
    return np.asarray(mass, dtype=np.float64).reshape(shape)


def rug(data: Data, features: tuple[int, ...]) -> tuple[AnyArray, ...]:
    """Feature values of evenly spaced rows, to show where the data are."""
    rows = data.spread(_RUG)
    codes = [data.codes(j)[rows] for j in features]
    present = ~np.any([np.isnan(column) for column in codes], axis=0)
    return tuple(data.schema.features[j].decode(column[present]) for j, column in zip(features, codes, strict=True))


def curve_shape(points: FloatArray, curve: FloatArray, counts: FloatArray, nominal: bool) -> str:
    """Flat, linear, increasing, decreasing or complex; nominal features have levels.

    Linear: a straight line explains at least 99% of the variance along the grid. Monotone: less than 5% of
    the way travelled goes against the direction. Grid points weigh by the rows near them, plus one.
    """
    known = np.isfinite(curve)
    points, curve, weights = points[known], curve[known], counts[known] + 1.0
    if curve.size < 2 or np.ptp(curve) <= 1e-9 * max(1.0, float(np.abs(curve).max())):
        return "flat"
    if nominal:
        return "levels"
    order = np.argsort(points)
    points, curve, weights = points[order], curve[order], weights[order]
    x = points - np.average(points, weights=weights)
    y = curve - np.average(curve, weights=weights)
    slope = (weights * x) @ y / ((weights * x) @ x)
    if float(weights @ np.square(y - slope * x)) <= 0.01 * float(weights @ np.square(y)):
        return "linear"
    steps = np.diff(curve)
    up, down = steps[steps > 0].sum(), -steps[steps < 0].sum()
    if min(up, down) <= 0.05 * (up + down):
        return "increasing" if up > down else "decreasing"
    return "complex"


def shapes(
    features: list[Feature], codes: tuple[FloatArray, ...], average: FloatArray, counts: FloatArray
) -> tuple[str, ...]:
    """Shape per output of a 1-D effect; surfaces have none."""
    outputs = average.shape[-1]
    if len(features) != 1:
        return ("surface",) * outputs
    weights = counts if len(counts) == len(codes[0]) else np.ones(len(codes[0]))
    return tuple(curve_shape(codes[0], average[:, k], weights, features[0].nominal) for k in range(outputs))


@dataclass(frozen=True, eq=False)
class Estimate:
    """An effect at the ``points`` (codes) of some ``features``, as a method estimates it; outputs last.

    ``low`` and ``high`` are the ends of 95% intervals, ``average`` is the curve whose shape is named, ``counts`` the
    weight of the rows at each point, ``spread`` the standard deviation between rows.
    """

    features: tuple[int, ...]
    points: tuple[FloatArray, ...]
    values: FloatArray
    se: FloatArray
    low: FloatArray
    high: FloatArray
    average: FloatArray
    counts: FloatArray
    spread: FloatArray


def build_effect(
    method: str,
    predictor: Predictor,
    data: Data,
    run: Run,
    found: Estimate,
    *,
    caveats: tuple[Caveat, ...],
    settings: Mapping[str, Any],
    rows: Data | None = None,
    **fields: Any,
) -> Effect:
    """An `Effect` from an estimate, of single ``rows`` if there are any; features come first in its settings."""
    described = [data.schema.features[j] for j in found.features]
    names = tuple(feature.name for feature in described)
    plain = {key: plain_setting(value) for key, value in {"features": names, **settings}.items()}
    return Effect(
        method=method,
        values=squeeze_outputs(found.values),
        se=squeeze_outputs(found.se),
        low=squeeze_outputs(found.low),
        high=squeeze_outputs(found.high),
        average=squeeze_outputs(found.average),
        counts=found.counts,
        spread=squeeze_outputs(found.spread),
        header=Header.of(
            predictor,
            data,
            run,
            {"method": method, "random_state": run.seed, **plain},
            feature_names=names,
            caveats=caveats,
            row_labels=None if rows is None else rows.row_labels,
        ),
        rows=None if rows is None else places_of(rows),
        kinds=tuple(feature.kind for feature in described),
        grids=tuple(feature.decode(points) for feature, points in zip(described, found.points, strict=True)),
        rug=rug(data, found.features),
        shape=shapes(described, found.points, found.average, found.counts),
        level=fields.pop("level", np.full(found.average.shape[-1], np.nan)),
        **fields,
    )


def places_of(rows: Data) -> IntArray:
    """Positions in X of rows of X, or a running number for rows from outside."""
    positions = rows.row_labels.positions
    return np.arange(len(rows)) if positions is None else positions


def plain_setting(value: Any) -> Any:
    """A setting as plain Python data, so that it can be written down and read back."""
    if isinstance(value, np.ndarray | list | tuple):
        return [plain_setting(item) for item in value]
    if isinstance(value, np.generic):
        return plain_setting(value.item())
    if value is None or isinstance(value, bool | int | float | str):
        return None if is_missing(value) else value
    return str(value)
