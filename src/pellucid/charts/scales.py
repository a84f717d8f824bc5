"""Axes and scales: limits that fit the data, formats that fit the limits, positions of feature values."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np

from pellucid.arrays import AnyArray, FloatArray
from pellucid.charts.text import wrapped

FEW_INTEGERS = 30
Limits = tuple[float, float]
Row = dict[str, Any]


def limits_of(*arrays: Any, zero: bool = False) -> Limits:
    """Least and greatest finite number of the arrays, with a margin; never of zero width."""
    parts = [np.asarray(array, dtype=np.float64).ravel() for array in arrays]
    numbers = np.concatenate([*parts, [0.0]] if zero else parts) if parts or zero else np.empty(0)
    numbers = numbers[np.isfinite(numbers)]
    if numbers.size == 0:
        return (0.0, 1.0)
    low, high = float(numbers.min()), float(numbers.max())
    size = max(abs(low), abs(high))
    margin = 0.04 * (high - low) if high - low > 1e-9 * size else 0.1 * size or 1.0
    return low - margin, high + margin


def number_format(limits: Limits) -> Any:
    """Vega's own adaptive format, but powers of ten where zeros would fill the axis."""
    size = max(abs(limits[0]), abs(limits[1]))
    return alt.Undefined if 1e-3 <= size < 1e7 else ".3~g"


def positions(grid: AnyArray) -> FloatArray:
    """Feature values as numbers on a continuous axis: dates as milliseconds since 1970."""
    if grid.dtype.kind == "M":
        return np.asarray(grid.astype("datetime64[us]").astype(np.int64) / 1000.0)
    return grid.astype(np.float64)


def span(grid: FloatArray, data: FloatArray, kind: str) -> Limits:
    """What a continuous feature axis covers: the grid, or the data when the grid is one point.

    A few integers get half a unit on both sides, so that the histogram has a whole bar for each.
    """
    known = grid[np.isfinite(grid)]
    if known.size and known.max() > known.min():
        half = 0.5 if kind == "integer" and known.max() - known.min() < FEW_INTEGERS else 0.0
        return float(known.min()) - half, float(known.max()) + half
    return limits_of(np.concatenate([known, data]))


def plain(array: Any) -> list[Any]:
    """Numbers as JSON can hold them: unknown and infinite ones are null."""
    numbers = np.asarray(array, dtype=np.float64)
    return [float(x) if np.isfinite(x) else None for x in numbers.ravel()]


def data(rows: list[Row]) -> alt.InlineData:
    """Rows as the data of a chart."""
    inline = alt.InlineData(values=[])
    # Set afterwards, because the constructor would check every row; a tuple, because a list would be copied
    # row by row at each step of composing.
    inline.values = tuple(rows)
    return inline


def feature_axis(name: str, kind: str, limits: Limits, pixels: float, *, labels: bool = True) -> dict[str, Any]:
    """Properties of the x or y channel of a continuous feature."""
    axis: dict[str, Any] = {"title": wrapped(name, pixels), "tickCount": max(2, round(pixels / 70))}
    if kind == "integer":
        axis["tickMinStep"] = 1
    if kind != "date":
        axis["format"] = number_format(limits)
    if not labels:
        axis |= {"title": None, "labels": False, "ticks": False}
    # Dates are shown as they were given, not in the reader's time zone.
    scale = {"type": "utc"} if kind == "date" else {"zero": False}
    return {
        "type": "temporal" if kind == "date" else "quantitative",
        "axis": alt.Axis(**axis),
        "scale": alt.Scale(domain=list(limits), nice=False, **scale),
    }


def value_axis(title: str | None, limits: Limits, pixels: float, **more: Any) -> dict[str, Any]:
    """Properties of the x or y channel of the explained quantity."""
    words = None if title is None else wrapped(title, pixels)
    axis = alt.Axis(
        **{"title": words, "format": number_format(limits), "tickCount": max(3, round(pixels / 50)), **more}
    )
    return {"type": "quantitative", "axis": axis, "scale": alt.Scale(domain=list(limits), zero=False, nice=False)}


def level_axis(
    name: str | None, levels: list[str], pixels: float, *, cells: bool = False, **more: Any
) -> dict[str, Any]:
    """Properties of the x or y channel of levels, in the order given; ``cells`` lets them touch, nearly."""
    words = None if name is None else wrapped(name, pixels)
    axis = alt.Axis(**{"title": words, "grid": False, "labelOverlap": False, **more})
    gaps: dict[str, Any] = {"paddingInner": 0.04, "paddingOuter": 0} if cells else {}
    return {"type": "nominal", "axis": axis, "scale": alt.Scale(domain=levels, **gaps), "sort": None}


def tooltips(*pairs: tuple[str, str]) -> list[alt.Tooltip]:
    """Tooltip lines ``(title, field)``; titles become keys of an expression, so they are cleaned and kept apart."""
    lines: list[alt.Tooltip] = []
    seen: set[str] = set()
    for title, field in pairs:
        key = " ".join(title.replace("\\", "\u2216").split())
        while key in seen:
            key += " "
        seen.add(key)
        lines.append(alt.Tooltip(field, type="nominal", title=key))
    return lines
