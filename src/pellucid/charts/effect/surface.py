"""A heat map: the effect of two features.

A cell is coloured by the effect at its grid point (PDP; cells meet half-way between points) or, for ALE,
whose values stand at the edges of the bins, in between by linear interpolation; few wide bins are drawn in
several pieces. Contour lines run through the values themselves. ALE cells without a single row are grey: their value
is borrowed from neighbours.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import altair as alt
import numpy as np
from altair.typing import ChartType

from pellucid.arrays import AnyArray, FloatArray
from pellucid.charts import layout, theme
from pellucid.charts.contour import contour_lines, nice_levels
from pellucid.charts.effect.log_axis import log_axes
from pellucid.charts.marks import channel, text_layers
from pellucid.charts.text import is_change, level_names, rows_text, shown, value_title, wrapped
from pellucid.data.natural import in_natural_order
from pellucid.explanations import Effect
from pellucid.explanations.plot_options import EffectOptions
from pellucid.words import number, value_name

# Cells reach a little under their neighbours: without it, seams of the background show between them.
_SEAMLESS: dict[str, Any] = {"x2Offset": 1, "yOffset": 1, "clip": True}
_STEP, _WIDE_STEP = 24, 44  # pixels per level
_TEXT_CELLS = 150  # up to so many cells of two nominal features have their value printed
_PIECES = 18  # along an axis, at least, that the cells of a few bins are drawn in
_POINTS = 300  # rows of data shown on top


# -- Cells -----------------------------------------------------------------------------------------
#
# The data of a heat map: cells, contour lines and rows of data.


def cell_data(effect: Effect, output: str) -> list[layout.Row]:
    """One row per cell: bounds ``x_from`` to ``x_to`` or a level, the value, and the rows of data in it."""
    k = effect.output_names.index(output)
    values = cell_values(effect)[..., k]
    counts = cell_counts(effect, values.shape)
    first, second = (cell_places(effect, axis) for axis in (0, 1))
    rows: list[layout.Row] = []
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
    """Value per cell and output: of its grid point, or for ALE between the edges along numeric features."""
    values = effect.stacked("average")
    for axis in range(len(effect.grids)):
        values = cells_along(effect, axis, values, pieces(effect, axis))
    return values


def pieces(effect: Effect, axis: int) -> int:
    """In how many cells a bin is drawn along one feature: of a few wide ones the middle alone would say too little."""
    bins = len(effect.grids[axis]) - 1
    return max(1, round(_PIECES / bins)) if _at_edges(effect, axis) else 1


def cells_along(effect: Effect, axis: int, values: FloatArray, parts: int = 1) -> FloatArray:
    """Values at the grid points as values of cells, along one feature; of ``parts`` cells from edge to edge."""
    values = np.take(values, _order(effect, axis), axis=axis)
    if not _at_edges(effect, axis):
        return values
    low, high = np.delete(values, -1, axis=axis), np.delete(values, 0, axis=axis)
    with np.errstate(invalid="ignore"):  # log-odds may be infinite
        mixed = [(1 - part) * low + part * high for part in (np.arange(parts) + 0.5) / parts]
    return np.stack(mixed, axis=axis + 1).reshape(*low.shape[:axis], -1, *low.shape[axis + 1 :])


def cell_counts(effect: Effect, shape: tuple[int, ...]) -> FloatArray:
    """Rows of data per cell; NaN when the result does not say."""
    counts = np.asarray(effect.counts, dtype=np.float64)
    for axis in range(counts.ndim):
        counts = np.repeat(counts, pieces(effect, axis), axis=axis)
    if counts.shape != shape:
        return np.full(shape, np.nan)
    for axis in range(len(effect.grids)):
        if not _at_edges(effect, axis):
            counts = np.take(counts, _order(effect, axis), axis=axis)
    return counts


def cell_places(effect: Effect, axis: int) -> list[layout.Row]:
    """Per cell along one feature its ``from`` and ``to``, or its ``level``, and a text."""
    points = effect.grids[axis][_order(effect, axis)]
    if effect.nominal[axis]:
        return [{"level": label, "text": label} for label in level_names(points)]
    if _at_edges(effect, axis):
        parts = pieces(effect, axis) if axis < 2 else 1  # the third stands above its slices
        places, bins = layout.positions(points), len(points) - 1
        edges = np.interp(np.arange(bins * parts + 1) / parts, np.arange(bins + 1), places)
        texts = [f"{value_name(a)} to {value_name(b)}" for a, b in pairwise(points) for _ in range(parts)]
    else:
        edges = between(layout.positions(points))
        texts = [value_name(point) for point in points]
    return [{"from": float(edges[i]), "to": float(edges[i + 1]), "text": text} for i, text in enumerate(texts)]


def between(points: FloatArray) -> FloatArray:
    """Edges half-way between neighbouring points, the outermost at the first and last point."""
    if len(points) == 1:
        low, high = layout.limits_of(points)
        return np.array([low, high])
    return np.concatenate([points[:1], (points[1:] + points[:-1]) / 2, points[-1:]])


def contour_data(effect: Effect, output: str) -> list[layout.Row]:
    """Points of the contour lines of two numeric features: ``line`` names the line, ``order`` the point on it."""
    if any(effect.nominal) or min(len(points) for points in effect.grids) < 2:
        return []
    first, second = (_order(effect, axis) for axis in (0, 1))
    x, y = layout.positions(effect.grids[0])[first], layout.positions(effect.grids[1])[second]
    z = effect.stacked("average")[np.ix_(first, second)][..., effect.output_names.index(output)]
    known = z[np.isfinite(z)]
    levels = nice_levels(float(known.min()), float(known.max())) if known.size else []
    rows: list[layout.Row] = []
    for level in levels:
        for n, line in enumerate(contour_lines(x, y, z, level)):
            fixed = {"line": f"{level} {n}", "level_text": number(level)}
            rows += [{**fixed, "x": a, "y": b, "order": m} for m, (a, b) in enumerate(line)]
    return rows


def point_data(effect: Effect) -> list[layout.Row]:
    """At most 300 rows of data, evenly spaced."""
    columns: dict[str, list[Any]] = {}
    for axis, letter in enumerate("xy"):
        if effect.nominal[axis]:
            names = dict(zip((str(v) for v in effect.grids[axis]), level_names(effect.grids[axis]), strict=True))
            columns[f"{letter}_level"] = [names.get(str(value)) for value in effect.rug[axis]]
        else:
            low, high = extent(effect, axis)
            places = layout.positions(effect.rug[axis])
            columns[letter] = [float(place) if low <= place <= high else None for place in places]
    rows = [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=False)]
    inside = [row for row in rows if None not in row.values()]
    kept = np.unique(np.linspace(0, len(inside) - 1, min(len(inside), _POINTS)).round().astype(int))
    return [inside[i] for i in kept]


def extent(effect: Effect, axis: int) -> layout.Limits:
    """What the axis of a continuous feature covers."""
    places = cell_places(effect, axis)
    return places[0]["from"], places[-1]["to"]


def _at_edges(effect: Effect, axis: int) -> bool:
    return effect.method == "ale" and not effect.nominal[axis] and len(effect.grids[axis]) > 1


def _order(effect: Effect, axis: int) -> AnyArray:
    """Positions of the grid in drawing order: numbers and dates increase, levels stay as they are."""
    points = effect.grids[axis]
    return np.arange(len(points)) if effect.nominal[axis] else np.argsort(layout.positions(points), kind="stable")


def draw_surface(effect: Effect, options: EffectOptions) -> ChartType:
    """The chart without its title; several outputs get a view each, with one colour scale."""
    limits = value_range(effect)
    views = [heat_map(effect, output, options, limits) for output in effect.output_names]
    return layout.by_output(views, effect.output_names)


def surface_notes(effect: Effect, options: EffectOptions) -> list[str]:
    """What the marks mean."""
    notes: list[str] = []
    if effect.method == "ale" and any(row["empty"] for row in cell_data(effect, effect.output_names[0])):
        notes.append("grey cells: no rows of data there")
    if options.show_data and not all(effect.nominal) and point_data(effect):
        notes.append(f"{'ticks' if any(effect.nominal) else 'dots'}: rows of data")
    return ["; ".join(notes)]


def heat_map(
    effect: Effect, output: str, options: EffectOptions, limits: layout.Limits, *, contours: bool = True
) -> ChartType:
    """One view, coloured between the given limits."""
    size = _sizes(effect, options)
    x, y = _channel(effect, 0, size[0], options), _channel(effect, 1, size[1], options)
    rows = cell_data(effect, output)
    place = _cell_place(effect, x, y)
    tips = layout.tooltips(
        (effect.feature_names[0], "x_text"),
        (effect.feature_names[1], "y_text"),
        ("effect", "value_text"),
        ("data", "rows_text"),
    )
    known = [row for row in rows if row["value"] is not None]
    scale, title = colour_scale(effect, limits), wrapped(value_title(effect), 190, 12)
    labels = layout.value_labels(limits, effect.scale, change=is_change(effect))
    legend = alt.Legend(title=title, **labels, gradientLength=min(size[1], 200))
    colour = alt.Color("value", type="quantitative", scale=scale, legend=legend)
    cells = alt.Chart(layout.data(known)).mark_rect(**_SEAMLESS).encode(**place, color=colour, tooltip=tips)
    lines = _contour_layers(effect, output, x, y) if contours else []
    layers = [cells, *lines, *_empty_layers(effect, rows, place, tips)]
    if options.show_data and not all(effect.nominal):
        layers.append(_points_layer(effect, x, y))
    if all(effect.nominal) and len(rows) <= _TEXT_CELLS:
        layers += _text_layers(effect, known, place, limits)
    return layout.layered(*layers).properties(width=size[0], height=size[1])


def colour_scale(effect: Effect, limits: layout.Limits) -> alt.Scale:
    """Diverging round zero for changes, sequential otherwise; the same for all views."""
    low, high = limits
    if is_change(effect):
        far = max(abs(low), abs(high))
        return alt.Scale(scheme=theme.DIVERGING, domain=[-far, far], domainMid=0, nice=False)
    return alt.Scale(scheme=theme.SEQUENTIAL, domain=[low, high], zero=False, nice=False)


def value_range(effect: Effect) -> layout.Limits:
    """Least and greatest value of a cell that shows one, over all outputs."""
    values = cell_values(effect)
    if effect.method == "ale":  # cells without rows are grey
        values = values[cell_counts(effect, values.shape[:-1]) != 0]
    known = values[np.isfinite(values)]
    if known.size and np.ptp(known) > 1e-9 * np.abs(known).max():
        return float(known.min()), float(known.max())
    return layout.limits_of(known)


def _cell_place(effect: Effect, x: Any, y: Any) -> dict[str, Any]:
    place: dict[str, Any] = {}
    for axis, (letter, properties) in enumerate((("x", x), ("y", y))):
        if effect.nominal[axis]:
            place[letter] = channel(letter, f"{letter}_level", properties)
        else:
            place[letter] = channel(letter, f"{letter}_from", properties)
            place[f"{letter}2"] = alt.X2("x_to") if letter == "x" else alt.Y2("y_to")
    return place


def _contour_layers(effect: Effect, output: str, x: Any, y: Any) -> list[alt.Chart]:
    rows = contour_data(effect, output)
    if not rows:
        return []
    colour = theme.MUTED if is_change(effect) else "white"
    lines = alt.Chart(layout.data(rows)).mark_line(color=colour, strokeWidth=1, strokeOpacity=0.8)
    tips = layout.tooltips(("contour at", "level_text"))
    return [
        lines.encode(
            x=alt.X("x", **x), y=alt.Y("y", **y), detail=alt.Detail("line:N"), order=alt.Order("order:Q"), tooltip=tips
        )
    ]


def _empty_layers(effect: Effect, rows: list[layout.Row], place: Any, tips: Any) -> list[alt.Chart]:
    empty = [row for row in rows if row["empty"]] if effect.method == "ale" else []
    if not empty:
        return []
    mark = alt.Chart(layout.data(empty)).mark_rect(color=theme.EMPTY, **_SEAMLESS)
    return [mark.encode(**place, tooltip=tips)]


def _points_layer(effect: Effect, x: Any, y: Any) -> alt.Chart:
    """Dots, or where one feature has levels ticks across their bands."""
    place = {
        letter: channel(letter, f"{letter}_level" if effect.nominal[axis] else letter, properties)
        for axis, (letter, properties) in enumerate((("x", x), ("y", y)))
    }
    chart = alt.Chart(layout.data(point_data(effect)))
    if any(effect.nominal):
        return chart.mark_tick(thickness=1, color="black", opacity=1, fillOpacity=0.45).encode(**place)
    return chart.mark_circle(size=11, color="white", stroke="black", strokeWidth=0.6, opacity=1).encode(**place)


def _text_layers(
    effect: Effect, rows: list[layout.Row], place: dict[str, Any], limits: layout.Limits
) -> list[alt.Chart]:
    low, high = limits

    def ink(value: float) -> str:
        return "white" if not is_change(effect) and value < low + 0.6 * (high - low) else "black"

    return text_layers([row | {"label": number(row["value"]), "ink": ink(row["value"])} for row in rows], place)


def _channel(effect: Effect, axis: int, pixels: float, options: EffectOptions) -> dict[str, Any]:
    name, log = effect.feature_names[axis], log_axes(effect, options)[axis]
    if not effect.nominal[axis]:
        return layout.feature_axis(name, effect.kinds[axis], extent(effect, axis), pixels, log=log)
    labels = [place["level"] for place in cell_places(effect, axis)]
    labels = in_natural_order(labels) if effect.kinds[axis] == "categorical" else labels
    slant = {"labelAngle": -40} if axis == 0 else {}
    return layout.level_axis(name, labels, pixels, cells=True, **slant)


def _sizes(effect: Effect, options: EffectOptions) -> tuple[float, float]:
    """Pixels across and up: given, usual for continuous features, by the number of levels otherwise."""
    sizes = [options.width or theme.WIDTH - 80, options.height or theme.HEIGHT + 20]
    for axis, given in enumerate((options.width, options.height)):
        n = len(effect.grids[axis])
        if effect.nominal[axis] and given is None:
            sizes[axis] = max(60.0, n * (_WIDE_STEP if axis == 0 and n <= 12 else _STEP))
    return float(sizes[0]), float(sizes[1])
