"""The data of a heat map: cells, contour lines and rows of data."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from pellucid.arrays import AnyArray, FloatArray
from pellucid.charts.contour import contour_lines, nice_levels
from pellucid.charts.scales import Limits, Row, limits_of, positions
from pellucid.charts.text import is_change, level_names, rows_text, shown
from pellucid.explanations import Effect
from pellucid.words import number, value_name

_POINTS = 300  # rows of data shown on top


def cell_data(effect: Effect, output: str) -> list[Row]:
    """One row per cell: bounds ``x_from`` to ``x_to`` or a level, the value, and the rows of data in it."""
    k = effect.output_names.index(output)
    values = cell_values(effect)[..., k]
    counts = cell_counts(effect, values.shape)
    first, second = (cell_places(effect, axis) for axis in (0, 1))
    rows: list[Row] = []
    for i, j in np.ndindex(values.shape):
        value = float(values[i, j])
        rows.append(
            {f"x_{key}": place for key, place in first[i].items()}
            | {f"y_{key}": place for key, place in second[j].items()}
            | {
                "value": value if np.isfinite(value) else None,
                "value_text": shown(value, effect.scale, change=is_change(effect)),
                "rows_text": rows_text(float(counts[i, j])) if np.isfinite(counts[i, j]) else "unknown",
                "empty": bool(counts[i, j] == 0),
            }
        )
    return rows


def cell_values(effect: Effect) -> FloatArray:
    """Value per cell and output: of its grid point, or for ALE the mean over its edges along numeric features."""
    values = effect.stacked("average")
    for axis in range(len(effect.grids)):
        values = cells_along(effect, axis, values)
    return values


def cells_along(effect: Effect, axis: int, values: FloatArray) -> FloatArray:
    """Values at the grid points as values of cells, along one feature."""
    values = np.take(values, _order(effect, axis), axis=axis)
    if not _at_edges(effect, axis):
        return values
    with np.errstate(invalid="ignore"):  # log-odds may be infinite
        return np.asarray((np.delete(values, 0, axis=axis) + np.delete(values, -1, axis=axis)) / 2)


def cell_counts(effect: Effect, shape: tuple[int, ...]) -> FloatArray:
    """Rows of data per cell; NaN when the result does not say."""
    if effect.counts.shape != shape:
        return np.full(shape, np.nan)
    counts = np.asarray(effect.counts, dtype=np.float64)
    for axis in range(len(effect.grids)):
        if not _at_edges(effect, axis):
            counts = np.take(counts, _order(effect, axis), axis=axis)
    return counts


def cell_places(effect: Effect, axis: int) -> list[Row]:
    """Per cell along one feature its ``from`` and ``to``, or its ``level``, and a text."""
    points = effect.grids[axis][_order(effect, axis)]
    if effect.nominal[axis]:
        return [{"level": label, "text": label} for label in level_names(points)]
    if _at_edges(effect, axis):
        edges = positions(points)
        texts = [f"{value_name(a)} to {value_name(b)}" for a, b in pairwise(points)]
    else:
        edges = between(positions(points))
        texts = [value_name(point) for point in points]
    return [{"from": float(edges[i]), "to": float(edges[i + 1]), "text": text} for i, text in enumerate(texts)]


def between(points: FloatArray) -> FloatArray:
    """Edges half-way between neighbouring points, the outermost at the first and last point."""
    if len(points) == 1:
        low, high = limits_of(points)
        return np.array([low, high])
    return np.concatenate([points[:1], (points[1:] + points[:-1]) / 2, points[-1:]])


def contour_data(effect: Effect, output: str) -> list[Row]:
    """Points of the contour lines of two numeric features: ``line`` names the line, ``order`` the point on it."""
    if any(effect.nominal) or min(len(points) for points in effect.grids) < 2:
        return []
    first, second = (_order(effect, axis) for axis in (0, 1))
    x, y = positions(effect.grids[0])[first], positions(effect.grids[1])[second]
    z = effect.stacked("average")[np.ix_(first, second)][..., effect.output_names.index(output)]
    known = z[np.isfinite(z)]
    levels = nice_levels(float(known.min()), float(known.max())) if known.size else []
    rows: list[Row] = []
    for level in levels:
        for n, line in enumerate(contour_lines(x, y, z, level)):
            fixed = {"line": f"{level} {n}", "level_text": number(level)}
            rows += [{**fixed, "x": a, "y": b, "order": m} for m, (a, b) in enumerate(line)]
    return rows


def point_data(effect: Effect) -> list[Row]:
    """At most 300 rows of data, evenly spaced."""
    columns: dict[str, list[Any]] = {}
    for axis, letter in enumerate("xy"):
        if effect.nominal[axis]:
            names = dict(zip((str(v) for v in effect.grids[axis]), level_names(effect.grids[axis]), strict=True))
            columns[f"{letter}_level"] = [names.get(str(value)) for value in effect.rug[axis]]
        else:
            low, high = extent(effect, axis)
            places = positions(effect.rug[axis])
            columns[letter] = [float(place) if low <= place <= high else None for place in places]
    rows = [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=False)]
    inside = [row for row in rows if None not in row.values()]
    kept = np.unique(np.linspace(0, len(inside) - 1, min(len(inside), _POINTS)).round().astype(int))
    return [inside[i] for i in kept]


def extent(effect: Effect, axis: int) -> Limits:
    """What the axis of a continuous feature covers."""
    places = cell_places(effect, axis)
    return places[0]["from"], places[-1]["to"]


def _at_edges(effect: Effect, axis: int) -> bool:
    return effect.method == "ale" and not effect.nominal[axis] and len(effect.grids[axis]) > 1


def _order(effect: Effect, axis: int) -> AnyArray:
    """Positions of the grid in drawing order: numbers and dates increase, levels stay as they are."""
    points = effect.grids[axis]
    return np.arange(len(points)) if effect.nominal[axis] else np.argsort(positions(points), kind="stable")
