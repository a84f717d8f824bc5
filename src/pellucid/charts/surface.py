"""A heat map: the effect of two features.

A cell is coloured by the effect at its grid point (PDP; cells meet half-way between points) or, for ALE,
whose values stand at the edges of the bins, by the mean of the values at its corners. Contour lines run
through the values themselves. ALE cells without a single row are grey: their value is borrowed from neighbours.
"""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
from altair.typing import ChartType

from pellucid.charts import theme
from pellucid.charts.cells import cell_data, cell_places, cell_values, contour_data, extent, point_data
from pellucid.charts.layout import grid
from pellucid.charts.marks import channel, text_layers
from pellucid.charts.options import EffectOptions
from pellucid.charts.scales import (
    Limits,
    Row,
    data,
    feature_axis,
    level_axis,
    limits_of,
    number_format,
    tooltips,
)
from pellucid.charts.text import is_change, value_title, wrapped
from pellucid.explanations import Effect
from pellucid.explanations.words import number

_STEP = 24  # pixels per level
_TEXT_CELLS = 150  # up to so many cells of two nominal features have their value printed


def draw_surface(effect: Effect, options: EffectOptions) -> ChartType:
    """The chart without its title; several outputs get a view each, with one colour scale."""
    views = [_view(effect, output, options) for output in effect.output_names]
    if len(views) == 1:
        return views[0]
    named = [
        view.properties(title=alt.TitleParams(wrapped(output, 300), fontSize=13))
        for view, output in zip(views, effect.output_names, strict=True)
    ]
    return grid(named, columns=2)


def surface_notes(effect: Effect, options: EffectOptions) -> list[str]:
    """What the marks mean."""
    notes: list[str] = []
    if effect.method == "ale" and any(row["empty"] for row in cell_data(effect, effect.output_names[0])):
        notes.append("grey cells: no rows of data there")
    if options.show_data and not all(effect.nominal) and point_data(effect):
        notes.append("dots: rows of data")
    return ["; ".join(notes)]


def _view(effect: Effect, output: str, options: EffectOptions) -> ChartType:
    size = _sizes(effect, options)
    x, y = _channel(effect, 0, size[0]), _channel(effect, 1, size[1])
    rows = cell_data(effect, output)
    place = _cell_place(effect, x, y)
    tips = tooltips(
        (effect.feature_names[0], "x_text"), (effect.feature_names[1], "y_text"), ("effect", "value_text"),
        ("data", "rows_text"),
    )  # fmt: skip
    known = [row for row in rows if row["value"] is not None]
    scale, title = colour_scale(effect), wrapped(value_title(effect), 190, 12)
    legend = alt.Legend(
        title=title, format=number_format(_value_range(effect)), gradientLength=min(size[1], 200)
    )  # type: ignore[arg-type]
    colour = alt.Color("value", type="quantitative", scale=scale, legend=legend)
    # The stroke has the colour of the cell: without it, seams show between cells.
    stroke = alt.Stroke("value", type="quantitative", scale=scale, legend=None)
    cells = (
        alt.Chart(data(known))
        .mark_rect(strokeWidth=0.7)
        .encode(**place, color=colour, stroke=stroke, tooltip=tips)
    )
    layers = [cells, *_contour_layers(effect, output, x, y), *_empty_layers(effect, rows, place, tips)]
    if options.show_data and not all(effect.nominal):
        layers.append(_points_layer(effect, x, y))
    if all(effect.nominal) and len(rows) <= _TEXT_CELLS:
        layers += _text_layers(effect, known, place)
    return alt.layer(*layers).properties(width=size[0], height=size[1])


def colour_scale(effect: Effect) -> alt.Scale:
    """Diverging round zero for changes, sequential otherwise; the same for all outputs."""
    low, high = _value_range(effect)
    if is_change(effect):
        far = max(abs(low), abs(high))
        return alt.Scale(scheme=theme.DIVERGING, domain=[-far, far], domainMid=0, nice=False)
    return alt.Scale(scheme=theme.SEQUENTIAL, domain=[low, high], zero=False, nice=False)


def _value_range(effect: Effect) -> Limits:
    values = cell_values(effect)
    known = values[np.isfinite(values)]
    if known.size and np.ptp(known) > 1e-9 * np.abs(known).max():
        return float(known.min()), float(known.max())
    return limits_of(known)


def _cell_place(effect: Effect, x: Any, y: Any) -> dict[str, Any]:
    place: dict[str, Any] = {}
    for axis, (letter, properties) in enumerate((("x", x), ("y", y))):
        if effect.nominal[axis]:
            place[letter] = channel(letter, f"{letter}_level", properties)
        else:
            place[letter] = channel(letter, f"{letter}_from", properties)
            place[f"{letter}2"] = f"{letter}_to"
    return place


def _contour_layers(effect: Effect, output: str, x: Any, y: Any) -> list[alt.Chart]:
    rows = contour_data(effect, output)
    if not rows:
        return []
    colour = theme.MUTED if is_change(effect) else "white"
    lines = alt.Chart(data(rows)).mark_line(color=colour, strokeWidth=1, strokeOpacity=0.8)
    tips = tooltips(("contour at", "level_text"))
    return [
        lines.encode(x=alt.X("x", **x), y=alt.Y("y", **y), detail="line:N", order="order:Q", tooltip=tips)
    ]


def _empty_layers(effect: Effect, rows: list[Row], place: Any, tips: Any) -> list[alt.Chart]:
    empty = [row for row in rows if row["empty"]] if effect.method == "ale" else []
    if not empty:
        return []
    mark = alt.Chart(data(empty)).mark_rect(color=theme.EMPTY, stroke=theme.EMPTY, strokeWidth=0.7)
    return [mark.encode(**place, tooltip=tips)]


def _points_layer(effect: Effect, x: Any, y: Any) -> alt.Chart:
    place: dict[str, Any] = {}
    for axis, (letter, properties) in enumerate((("x", x), ("y", y))):
        nominal = effect.nominal[axis]
        place[letter] = channel(letter, f"{letter}_level" if nominal else letter, properties)
        if nominal:
            within = {"type": "quantitative", "scale": alt.Scale(domain=[-0.15, 1.15])}
            place[f"{letter}Offset"] = channel(f"{letter}Offset", f"{letter}_offset", within)
    dots = alt.Chart(data(point_data(effect)))
    return dots.mark_point(
        filled=True, size=9, color="black", opacity=1, fillOpacity=0.4
    ).encode(**place)


def _text_layers(effect: Effect, rows: list[Row], place: dict[str, Any]) -> list[alt.Chart]:
    low, high = _value_range(effect)

    def ink(value: float) -> str:
        return "white" if not is_change(effect) and value < low + 0.6 * (high - low) else "black"

    return text_layers(
        [row | {"label": number(row["value"]), "ink": ink(row["value"])} for row in rows], place
    )


def _channel(effect: Effect, axis: int, pixels: float) -> dict[str, Any]:
    name = effect.feature_names[axis]
    if not effect.nominal[axis]:
        return feature_axis(name, effect.kinds[axis], extent(effect, axis), pixels)
    labels = [place["level"] for place in cell_places(effect, axis)]
    properties = level_axis(name, labels, pixels, **({"labelAngle": -40} if axis == 0 else {}))
    properties["scale"] = alt.Scale(domain=labels, padding=0)
    return properties


def _sizes(effect: Effect, options: EffectOptions) -> tuple[float, float]:
    given = (options.width, options.height)
    usual = (theme.WIDTH - 80, theme.HEIGHT + 20)
    sizes = [
        given[axis]
        or (
            max(_STEP * (2 - axis), 60, _STEP * (1.8 - 0.8 * axis) * len(effect.grids[axis]))
            if effect.nominal[axis]
            else usual[axis]
        )
        for axis in (0, 1)
    ]
    return float(sizes[0]), float(sizes[1])
