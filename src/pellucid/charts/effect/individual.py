"""Individual curves (ICE): one thin line per row, the average on top, coloured by what tells the rows apart."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
from altair.typing import ChartType

from pellucid.arrays import IntArray
from pellucid.charts import layout, theme
from pellucid.charts.colouring import colour_encoding, row_colours
from pellucid.charts.effect.curve import (
    curve_data,
    curve_notes,
    limits_with_missing,
    line_data,
    missing_data,
    missing_view,
)
from pellucid.charts.effect.distribution import lower_views
from pellucid.charts.effect.levels import extents, level_data, level_labels, level_order
from pellucid.charts.effect.log_axis import log_axes
from pellucid.charts.marks import dash, zero_line
from pellucid.charts.text import is_change, level_names, value_title
from pellucid.data.frames.frame import is_missing
from pellucid.explanations import Effect
from pellucid.explanations.plot_options import EffectOptions
from pellucid.words import counted, percent


def lines_shown(effect: Effect, max_lines: int) -> IntArray:
    """Positions of the curves that are drawn: all, or evenly spaced ones."""
    n = len(effect.values)
    return np.unique(np.linspace(0, n - 1, min(n, max_lines)).round().astype(np.intp))


def individual_data(effect: Effect, output: str, options: EffectOptions) -> list[layout.Row]:
    """One row per drawn curve and grid point: ``row`` names the curve, ``x`` or ``level`` the place."""
    k = effect.output_names.index(output)
    nominal = effect.nominal[0]
    places = level_labels(effect) if nominal else layout.positions(effect.grids[0])
    order = range(len(effect.grids[0])) if nominal else np.argsort(layout.positions(effect.grids[0]), kind="stable")
    colours = row_colours(effect, options)
    rows: list[layout.Row] = []
    lines = lines_shown(effect, options.max_lines)
    names = level_names(f"row {effect.row_labels.name(i)}" for i in lines)
    for i, name in zip(lines, names, strict=True):
        values = layout.plain(effect.stacked()[i, :, k])
        fixed = {"row": name, **colours[i]}
        rows += [
            {**fixed, ("level" if nominal else "x"): places[g] if nominal else float(places[g]), "value": values[g]}
            for g in order
        ]
    return rows


def individual_limits(effect: Effect, options: EffectOptions) -> layout.Limits:
    """Value limits of the curves that are drawn, their average and its value at missing."""
    drawn = effect.values[lines_shown(effect, options.max_lines)]
    return limits_with_missing(effect, [drawn, effect.average])


def draw_individual(effect: Effect, options: EffectOptions, limits: layout.Limits | None = None) -> ChartType:
    """The chart without its title; several outputs get a view each."""
    limits = limits or individual_limits(effect, options)
    draw = _levels_view if effect.nominal[0] else _curves_view
    views = [draw(effect, output, options, limits) for output in effect.output_names]
    return layout.by_output(views, effect.output_names)


def individual_notes(effect: Effect, options: EffectOptions) -> list[str]:
    """How many curves are drawn, and what their colour explains."""
    n, drawn = len(effect.values), len(lines_shown(effect, options.max_lines))
    mark = "dots" if effect.nominal[0] else "line"
    curves = f"{drawn} of {n:,} rows" if drawn < n else counted(n, "row")
    notes = [f"{curves}; thick dark {mark}: average"]
    if effect.colouring is not None and options.colour == "auto":
        share = percent(effect.colouring.explained)
        notes.append(f"colour: {effect.colouring.feature}, explains {share} of how the curves differ")
        notes += (
            [f"grey: {effect.colouring.feature} is missing"] if any(map(is_missing, effect.colouring.values)) else []
        )
    return notes + ([] if effect.nominal[0] else curve_notes(effect))


def _curves_view(effect: Effect, output: str, options: EffectOptions, limits: layout.Limits) -> ChartType:
    width, height = options.width or theme.WIDTH, options.height or theme.HEIGHT
    x_limits = layout.span(layout.positions(effect.grids[0]), layout.positions(effect.rug[0]), effect.kinds[0])
    below, rug = lower_views(effect, options, x_limits, [output])
    (log,) = log_axes(effect, options)
    place = layout.feature_axis(effect.feature_names[0], effect.kinds[0], x_limits, width, labels=not below, log=log)
    x = alt.X("x", **place)
    y = alt.Y("value", **_values(effect, output, limits, height))
    one_point = len(effect.grids[0]) == 1
    faint = line_opacity(effect, options)
    mark: dict[str, Any] = {"type": "line", "strokeWidth": 1, "strokeOpacity": faint}
    if one_point:
        mark = {"type": "point", "filled": True, "fillOpacity": faint, "opacity": 1}
    lines = _coloured_layers(effect, output, options, mark, {"x": x, "y": y})
    average = [row for row in curve_data(effect) if row["output"] == output]
    stroke = alt.Chart(layout.data(line_data(average))).encode(x=x, y=y, detail=alt.Detail("run:N"))
    tips = layout.tooltips((effect.feature_names[0], "x_text"), ("average", "value_text"), ("data nearby", "rows_text"))
    dots = alt.Chart(layout.data(average)).mark_point(
        filled=True, color=theme.INK, opacity=1.0 if one_point else 0.0, size=70
    )
    main = layout.layered(
        *zero_line(limits, is_change(effect)),
        *lines,
        stroke.mark_line(strokeWidth=5, color="white", strokeOpacity=0.8),
        stroke.mark_line(strokeWidth=3, color=theme.INK).encode(strokeDash=dash()),
        dots.encode(x=x, y=y, tooltip=tips),
        *rug,
    ).properties(width=width, height=height)
    ink = alt.ColorValue(theme.INK)
    at_missing = [row for row in missing_data(effect) if row["output"] == output]
    return layout.assemble(main, missing_view(at_missing, effect, limits, options, ink), below)


def _levels_view(effect: Effect, output: str, options: EffectOptions, limits: layout.Limits) -> ChartType:
    labels, _ = level_order(effect, options.order)
    height, width = extents(len(labels), 1, options, upright=False)
    x = alt.X("value", **_values(effect, output, limits, width))
    y = alt.Y("level", **layout.level_axis(effect.feature_names[0], labels, height))
    mark = {"type": "tick", "thickness": 1.5, "opacity": 1, "fillOpacity": line_opacity(effect, options)}
    ticks = _coloured_layers(effect, output, options, mark, {"x": x, "y": y})
    average = [row for row in level_data(effect) if row["output"] == output and row["value"] is not None]
    tips = layout.tooltips((effect.feature_names[0], "level"), ("average", "value_text"), ("data", "rows_text"))
    dots = alt.Chart(layout.data(average)).mark_point(
        filled=True, size=90, color=theme.INK, opacity=1, stroke="white", strokeWidth=1.5
    )
    layers = [*zero_line(limits, is_change(effect), "x"), *ticks, dots.encode(x=x, y=y, tooltip=tips)]
    return layout.layered(*layers).properties(width=width, height=height)


def _values(effect: Effect, output: str, limits: layout.Limits, pixels: float) -> dict[str, Any]:
    title = value_title(effect, output)
    return layout.value_axis(title, limits, pixels, scale=effect.scale, change=is_change(effect))


def line_opacity(effect: Effect, options: EffectOptions) -> float:
    """Fainter the more lines there are."""
    return float(np.clip(6.0 / np.sqrt(len(lines_shown(effect, options.max_lines))), 0.3, 0.9))


def _coloured_layers(
    effect: Effect, output: str, options: EffectOptions, mark: dict[str, Any], place: dict[str, Any]
) -> list[alt.Chart]:
    """Curves without a colour of their own in grey, then the coloured ones."""
    rows = individual_data(effect, output, options)
    detail: dict[str, Any] = {} if mark["type"] == "tick" else {"detail": alt.Detail("row:N")}
    grey = [row for row in rows if "colour" not in row]
    coloured = [row for row in rows if "colour" in row]

    def layer(part: list[layout.Row], colour: Any, *tips: tuple[str, str]) -> alt.Chart:
        chart = alt.Chart(layout.data(part), mark=mark)  # type: ignore[arg-type]  # the dict form of a mark
        return chart.encode(**place, **detail, color=colour, tooltip=layout.tooltips(("curve", "row"), *tips))

    layers: list[alt.Chart] = []
    if grey:
        only = options.colour if options.colour not in ("auto", None) else theme.CATEGORIES[5]
        layers.append(layer(grey, alt.ColorValue(theme.FAINT if coloured else only)))
    if coloured and effect.colouring is not None:
        named = (effect.colouring.feature, "colour_text")
        layers.append(layer(coloured, colour_encoding(effect.colouring), named))
    return layers
