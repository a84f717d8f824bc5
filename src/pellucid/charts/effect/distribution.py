"""Where the data are: a histogram strip below a curve, or a rug on its axis."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import numpy as np
from altair.typing import ChartType

from pellucid.arrays import FloatArray
from pellucid.charts import theme
from pellucid.charts.effect.log_axis import log_axes
from pellucid.charts.layout import (
    FEW_INTEGERS,
    Limits,
    Row,
    data,
    feature_axis,
    layered,
    number_format,
    positions,
    tooltips,
)
from pellucid.charts.marks import output_colour, output_tip
from pellucid.explanations import Effect
from pellucid.explanations.plot_options import EffectOptions
from pellucid.words import number, percent, value_name


def histogram_data(effect: Effect, limits: Limits, *, log: bool = False) -> list[Row]:
    """Share of the rows in each of thirty equal bins between the limits (one bin per integer if fewer)."""
    values = _within(positions(effect.rug[0]), limits)
    if values.size == 0:
        return []
    edges = np.geomspace(*limits, 31) if log else _edges(limits, effect.kinds[0] == "integer")
    counts, _ = np.histogram(values, bins=edges)
    name = _bound_names(effect, edges)
    shares = counts / counts.sum()
    return [
        {
            "from": float(max(edges[b], limits[0])),
            "to": float(min(edges[b + 1], limits[1])),
            "share": float(shares[b]),
            "range_text": f"{name[b]} to {name[b + 1]}",
            "share_text": f"{percent(float(shares[b]))} of rows",
        }
        for b in np.flatnonzero(counts)
    ]


def rug_data(effect: Effect, limits: Limits) -> list[Row]:
    """One row per different feature value of the data shown."""
    return [{"x": float(x)} for x in np.unique(_within(positions(effect.rug[0]), limits))]


def rug_layer(effect: Effect, limits: Limits, width: float, height: float, *, log: bool = False) -> alt.Chart:
    """Short rules at the bottom of the main view."""
    mark = alt.Chart(data(rug_data(effect, limits))).mark_rule(color=theme.INK, strokeOpacity=0.35, strokeWidth=1)
    x = feature_axis(effect.feature_names[0], effect.kinds[0], limits, width, log=log)
    return mark.encode(x=alt.X("x", **x), y=alt.value(height - 7), y2=alt.value(height))


def histogram_view(rows: list[Row], effect: Effect, limits: Limits, width: float, *, log: bool = False) -> ChartType:
    """The strip below the main view; it carries the feature axis."""
    top = float(np.ceil(100 * max(row["share"] for row in rows)) / 100)
    x = feature_axis(effect.feature_names[0], effect.kinds[0], limits, width, log=log)
    y_axis = alt.Axis(title=["share", "of rows"], titleFontSize=11, values=[0, top], format=".0%", grid=False)
    y = alt.Y("share", type="quantitative", axis=y_axis, scale=alt.Scale(domain=[0, top], nice=False))
    tips = tooltips((effect.feature_names[0], "range_text"), ("data", "share_text"))
    bars = alt.Chart(data(rows)).mark_rect(color=theme.FAINT, stroke="white", strokeWidth=0.5)
    encoded = bars.encode(x=alt.X("from", **x), x2=alt.X2("to"), y=y, y2=alt.Y2Datum(0), tooltip=tips)
    return encoded.properties(width=width, height=theme.STRIP)


def _edges(limits: Limits, integer: bool) -> FloatArray:
    low, high = limits
    if integer and high - low <= FEW_INTEGERS:
        return np.arange(np.floor(low + 0.5) - 0.5, high + 1.0)
    return np.linspace(low, high, 31)


def _bound_names(effect: Effect, edges: FloatArray) -> list[str]:
    if effect.kinds[0] == "date":
        dates = np.round(edges * 1000.0).astype("int64").astype("datetime64[us]")
        return [value_name(date) for date in dates]
    return [value_name(float(edge)) for edge in edges]


def _within(values: FloatArray, limits: Limits) -> FloatArray:
    return values[(values >= limits[0]) & (values <= limits[1])]


# -- The spread of slopes --------------------------------------------------------------------------


def spread_data(effect: Effect, outputs: Sequence[str]) -> list[Row]:
    """One row per output and grid point whose spread is known, in increasing order of the feature."""
    x = positions(effect.grids[0])
    order = np.argsort(x, kind="stable")
    return [
        {
            "output": output,
            "x": float(x[i]),
            "value": float(spread),
            "x_text": value_name(effect.grids[0][i]),
            "value_text": number(float(spread)),
        }
        for output in outputs
        for i in order
        if np.isfinite(spread := effect.stacked("spread")[i, effect.output_names.index(output)])
    ]


def spread_view(
    effect: Effect, outputs: Sequence[str], limits: Limits, options: EffectOptions, *, labels: bool
) -> ChartType:
    """A low chart for below the slopes; ``labels`` says whether it carries the feature axis."""
    rows = spread_data(effect, outputs)
    width = options.width or theme.WIDTH
    top = max([row["value"] for row in rows], default=0.0) * 1.08 or 1.0
    (log,) = log_axes(effect, options)
    x = feature_axis(effect.feature_names[0], effect.kinds[0], limits, width, labels=labels, log=log)
    axis = alt.Axis(title=["SD of", "slopes"], titleFontSize=11, tickCount=3, format=number_format((0.0, top)))
    y = alt.Y("value", type="quantitative", axis=axis, scale=alt.Scale(domain=[0, top], nice=False))
    tips = tooltips((effect.feature_names[0], "x_text"), *output_tip(effect), ("SD of slopes", "value_text"))
    colour = output_colour(effect, options) if len(outputs) > 1 else alt.ColorValue(theme.SECOND)
    base = alt.Chart(data(rows)).encode(x=alt.X("x", **x), y=y, color=colour)
    dots = base.mark_point(filled=True, opacity=0).encode(tooltip=tips)
    return layered(base.mark_line(strokeWidth=2), dots).properties(width=width, height=70)


# -- What stands below a curve ---------------------------------------------------------------------


def lower_views(
    effect: Effect, options: EffectOptions, limits: Limits, outputs: Sequence[str]
) -> tuple[list[ChartType], list[alt.Chart]]:
    """Views for below the main one, of which the last carries the feature axis, and layers for on it."""
    width, height = options.width or theme.WIDTH, options.height or theme.HEIGHT
    (log,) = log_axes(effect, options)
    bars = histogram_data(effect, limits, log=log) if options.distribution == "histogram" else []
    below: list[ChartType] = []
    if effect.derivative:
        below.append(spread_view(effect, outputs, limits, options, labels=not bars))
    if bars:
        below.append(histogram_view(bars, effect, limits, width, log=log))
    rug = [rug_layer(effect, limits, width, height, log=log)] if options.distribution == "rug" else []
    return below, rug
