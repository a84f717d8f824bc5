"""Pictures of single components: a curve, steps or bars for one feature, a heat map with contours for two."""

from __future__ import annotations

from itertools import pairwise
from math import ceil, floor
from typing import Any

import altair as alt
import numpy as np
from altair.typing import ChartType

from pellucid.arrays import AnyArray, FloatArray
from pellucid.charts import theme
from pellucid.charts.contour import contour_lines, nice_levels
from pellucid.charts.layout import (
    Limits,
    Row,
    data,
    feature_axis,
    layered,
    level_axis,
    limits_of,
    positions,
    span,
    tooltips,
    value_axis,
    value_labels,
)
from pellucid.charts.marks import channel, zero_line
from pellucid.charts.text import level_names, shown
from pellucid.explanations.component import Axis, Component
from pellucid.words import number, value_name

_CELLS = 24  # along a numeric feature of a heat map, about
_MOST_CELLS = 60
_MOST_LEVELS = 30
_LABEL = 11  # pixels that the label of a level needs
_FEW_NUMBERS = 6  # whole numbers that are all named on an axis
_USUAL = 0.02  # share of the entries at each end that may lie beyond the colours
Size = tuple[float, float]


# -- data --------------------------------------------------------------------------------------------


def curve_rows(component: Component, k: int, scale: str) -> list[Row]:
    """Points of the line of one feature: at the knots, or at both ends of every cell; values of output ``k``."""
    axis, table = component.axes[0], component.table[: component.axes[0].present, k]
    if axis.kind == "cells":
        codes = np.repeat(_edges(axis), 2)[1:-1]
        values, labels = np.repeat(table, 2), np.repeat(axis.labels[: axis.present], 2)
    else:
        codes, values, labels = axis.points, table, np.array(axis.labels[: axis.present])
    x = _places(axis, codes)
    return [
        {
            "x": float(x[i]),
            "order": i,
            "value": float(values[i]),
            "x_text": str(labels[i]),
            "value_text": shown(float(values[i]), scale, change=True),
        }
        for i in range(len(x))
    ]


def bar_rows(component: Component, k: int, scale: str) -> list[Row]:
    """One row per level, missing last; of very many levels, those with the largest effects."""
    values, names = component.table[:, k], entry_names(component.axes[0])
    return [
        {
            "level": names[i],
            "value": float(values[i]),
            "zero": 0.0,
            "value_text": shown(float(values[i]), scale, change=True),
        }
        for i in drawn_levels(component, 0, k)
    ]


def drawn_levels(component: Component, d: int, k: int) -> list[int]:
    """Entries along a feature's levels, missing last: all, or of very many those where the component is largest."""
    others = tuple(axis for axis in range(component.table.ndim - 1) if axis != d)
    size = np.square(component.table[..., k]).mean(axis=others)
    return sorted(np.argsort(-size, kind="stable")[:_MOST_LEVELS].tolist())


def _level_axis(component: Component, d: int, k: int, pixels: float, **more: Any) -> dict[str, Any]:
    """The axis of the levels that are drawn, which says how many these are if not all."""
    axis, drawn = component.axes[d], drawn_levels(component, d, k)
    names = entry_names(axis)
    some = f" ({len(drawn)} of {len(names):,} levels)" if len(drawn) < len(names) else ""
    crowded = len(drawn) * _LABEL > pixels
    return level_axis(axis.name + some, [names[i] for i in drawn], pixels, labelLimit=90, labelOverlap=crowded, **more)


def entry_names(axis: Axis) -> list[str]:
    """The levels, and missing, with different names."""
    return level_names([*axis.values, *(["missing"] if axis.missing else [])])


def heat_rows(component: Component, k: int, scale: str, fixed: FloatArray | None = None) -> list[Row]:
    """One row per cell of the map of the first two features, with the value in its middle; the third is ``fixed``."""
    first, second = (_cells(component, d, k) for d in (0, 1))
    index = np.indices((len(first[0]), len(second[0]))).reshape(2, -1)
    codes = [first[0][index[0]], second[0][index[1]]]
    if fixed is not None:
        codes.append(np.repeat(fixed, index.shape[1]))
    values = component.at(codes)[:, k]
    return [
        {f"x_{key}": place for key, place in first[1][i].items()}
        | {f"y_{key}": place for key, place in second[1][j].items()}
        | {"value": float(value), "value_text": shown(float(value), scale, change=True)}
        for i, j, value in zip(*index.tolist(), values, strict=True)
    ]


def contour_rows(component: Component, k: int, levels: list[float]) -> list[Row]:
    """Points of the contour lines of two features that both run straight between knots."""
    if any(axis.kind != "knots" or axis.present < 2 for axis in component.axes):
        return []
    x, y = (_places(axis, axis.points) for axis in component.axes)
    z = component.table[: len(x), : len(y), k]
    return [
        {"line": f"{level} {n}", "level_text": number(level), "x": a, "y": b, "order": m}
        for level in levels
        for n, line in enumerate(contour_lines(x, y, z, level))
        for m, (a, b) in enumerate(line)
    ]


def curve_limits(components: list[Component], k: int) -> Limits:
    """Value limits that hold all components of one feature."""
    return limits_of(*(component.table[..., k] for component in components), zero=True)


def colour_limit(components: list[Component], k: int) -> float:
    """How far colours reach on both sides of zero: to the values of all components but the outermost few of each."""
    sizes = [
        np.quantile(np.abs(component.table[..., k]), 1 - _USUAL) for component in components if component.table.size
    ]
    return float(max(sizes, default=0.0)) or 1.0


def _edges(axis: Axis) -> FloatArray:
    """Ends of the cells along a numeric axis, in codes."""
    points = axis.points
    if axis.kind == "knots":
        if len(points) < 2:
            return np.array(limits_of(points))
        width = (points[-1] - points[0]) / _CELLS
        pieces = [
            np.linspace(start, end, max(1, round((end - start) / width)), endpoint=False)
            for start, end in pairwise(points)
        ]
        return np.append(np.concatenate(pieces), points[-1])
    low, high = (axis.low, axis.high) if axis.high > axis.low else limits_of([axis.low])
    return np.concatenate([[low], points, [max(high, points[-1]) if len(points) else high]])


def _cells(component: Component, d: int, k: int) -> tuple[FloatArray, list[Row]]:
    """Codes in the middle of cells to colour, and per cell its ``from`` and ``to``, or its ``level``, and a text."""
    axis = component.axes[d]
    if axis.kind == "levels":
        codes = np.append(axis.points, np.nan) if axis.missing else axis.points
        names, drawn = entry_names(axis), drawn_levels(component, d, k)
        return codes[drawn], [{"level": names[i], "text": names[i]} for i in drawn]
    edges = _edges(axis)
    if len(edges) > _MOST_CELLS + 1:
        edges = np.linspace(edges[0], edges[-1], _MOST_CELLS + 1)
    x = _places(axis, edges)
    middles = (edges[1:] + edges[:-1]) / 2
    texts = [value_name(value) for value in axis.feature.decode(_whole(axis, middles))]
    return middles, [{"from": float(x[i]), "to": float(x[i + 1]), "text": text} for i, text in enumerate(texts)]


def _whole(axis: Axis, codes: FloatArray) -> FloatArray:
    return np.round(codes) if axis.feature_kind == "date" else codes


def _places(axis: Axis, codes: FloatArray) -> FloatArray:
    """Codes as positions on a chart; an integer feature may stand between whole numbers."""
    values: AnyArray = axis.feature.decode(codes) if axis.feature_kind == "date" else codes
    return positions(values)


# -- views -------------------------------------------------------------------------------------------


def main_view(component: Component, k: int, scale: str, size: Size, limits: Limits, title: str | None) -> ChartType:
    """The component of one feature, between given value limits."""
    axis, (width, height) = component.axes[0], size
    y = value_axis(title, limits, height, scale=scale, change=True)
    tips = tooltips((axis.name, "x_text"), ("effect", "value_text"))
    if axis.kind == "levels":
        return _bars(component, k, scale, size, y, limits)
    rows = curve_rows(component, k, scale)
    place = np.array([row["x"] for row in rows])
    x = _number_axis(axis, span(place, place, axis.feature_kind), width)
    base = alt.Chart(data(rows)).encode(x=alt.X("x", **x), y=alt.Y("value", **y), order=alt.Order("order:Q"))
    layers: list[Any] = [*zero_line(limits, True), base.mark_line(color=theme.MAIN, strokeWidth=2)]
    layers.append(
        base.mark_point(filled=True, size=60 if len(rows) > 1 else 36, opacity=0 if len(rows) > 1 else 1).encode(
            tooltip=tips
        )
    )
    if axis.kind == "knots":
        ticks = alt.Chart(data(rows)).mark_tick(orient="vertical", color=theme.MUTED, thickness=1, size=5, yOffset=-3)
        layers.append(ticks.encode(x=alt.X("x", **x), y=alt.value(height)))
    return layered(*layers, *_missing(component, k, scale, y)).properties(width=width, height=height)


def _missing(component: Component, k: int, scale: str, y: Any) -> list[alt.Chart]:
    """A dashed line at the value that the component has where its feature is missing."""
    axis = component.axes[0]
    if not axis.missing:
        return []
    value = float(component.table[-1, k])
    rows = [{"value": value, "value_text": shown(value, scale, change=True), "label": "missing"}]
    base = alt.Chart(data(rows)).encode(y=alt.Y("value", **y), tooltip=tooltips((f"{axis.name} missing", "value_text")))
    return [
        base.mark_rule(color=theme.SECOND, strokeDash=[4, 3]),
        base.mark_text(color=theme.SECOND, align="right", dy=-6, fontSize=10).encode(
            x=alt.value("width"), text=alt.Text("label", type="nominal")
        ),
    ]


def _bars(component: Component, k: int, scale: str, size: Size, y: Any, limits: Limits) -> ChartType:
    axis = component.axes[0]
    x = _level_axis(component, 0, k, size[0], labelAngle=-40)
    tips = tooltips((axis.name, "level"), ("effect", "value_text"))
    bars = alt.Chart(data(bar_rows(component, k, scale))).mark_bar(color=theme.MAIN, opacity=0.75)
    bars = bars.encode(x=channel("x", "level", x), y=alt.Y("value", **y), y2=alt.Y2("zero"), tooltip=tips)
    return layered(bars, *zero_line(limits, True)).properties(width=size[0], height=size[1])


def pair_view(
    component: Component, k: int, scale: str, size: Size, far: float, title: str, fixed: FloatArray | None = None
) -> ChartType:
    """The component of two features (of three, the last at a fixed code), coloured from ``-far`` to ``far``."""
    axes = component.axes[:2]
    x, y = (_map_axis(component, d, k, pixels) for d, pixels in enumerate(size))
    place = _map_place(axes, x, y)
    legend = alt.Legend(title=title, **value_labels((-far, far), scale, change=True), gradientLength=110)
    domain = alt.Scale(scheme=theme.DIVERGING, domain=[-far, far], domainMid=0, nice=False, clamp=True)
    tips = tooltips((axes[0].name, "x_text"), (axes[1].name, "y_text"), ("effect", "value_text"))
    # Cells reach a little under their neighbours: without it, seams of the background show between them.
    cells = alt.Chart(data(heat_rows(component, k, scale, fixed))).mark_rect(x2Offset=1, yOffset=1, clip=True)
    layers: list[Any] = [
        cells.encode(**place, color=alt.Color("value", type="quantitative", scale=domain, legend=legend), tooltip=tips)
    ]
    lines = [] if fixed is not None else contour_rows(component, k, nice_levels(-far, far))
    if lines:
        contours = alt.Chart(data(lines)).mark_line(color=theme.MUTED, strokeWidth=1, strokeOpacity=0.7, clip=True)
        layers.append(
            contours.encode(
                x=alt.X("x", **x),
                y=alt.Y("y", **y),
                detail=alt.Detail("line:N"),
                order=alt.Order("order:Q"),
                tooltip=tooltips(("contour at", "level_text")),
            )
        )
    return layered(*layers).properties(width=size[0], height=size[1])


def _map_axis(component: Component, d: int, k: int, pixels: float) -> dict[str, Any]:
    axis = component.axes[d]
    if axis.kind == "levels":
        return _level_axis(component, d, k, pixels, cells=True, **({} if d else {"labelAngle": -40}))
    edges = _places(axis, _edges(axis))
    return _number_axis(axis, (float(edges[0]), float(edges[-1])), pixels)


def _number_axis(axis: Axis, limits: Limits, pixels: float) -> dict[str, Any]:
    """A numeric feature's axis; a small panel still gets several labels."""
    properties = feature_axis(axis.name, axis.feature_kind, limits, pixels)
    if axis.feature_kind != "date":
        properties["axis"].tickCount = max(4, round(pixels / 70))
    if axis.feature_kind == "integer" and limits[1] - limits[0] < _FEW_NUMBERS:
        properties["axis"].values = list(range(ceil(limits[0]), floor(limits[1]) + 1))
        properties["axis"].format = "d"
    return properties


def _map_place(axes: tuple[Axis, ...], x: Any, y: Any) -> dict[str, Any]:
    place: dict[str, Any] = {}
    for axis, (letter, properties) in zip(axes, (("x", x), ("y", y)), strict=True):
        if axis.kind == "levels":
            place[letter] = channel(letter, f"{letter}_level", properties)
        else:
            place[letter] = channel(letter, f"{letter}_from", properties)
            place[f"{letter}2"] = alt.X2("x_to") if letter == "x" else alt.Y2("y_to")
    return place
