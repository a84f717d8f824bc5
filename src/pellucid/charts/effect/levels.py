"""Bars or dots: the effect of one categorical, ordered or boolean feature, one mark per level.

Predictions are dots with 95% intervals (a bar would tie them to zero); changes are bars from zero. Levels run
down the page, where long names and many levels stay readable, or across it when charts stand side by side.
"""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
from altair.typing import ChartType

from pellucid.arrays import FloatArray
from pellucid.charts import theme
from pellucid.charts.effect.curve import average_row, curve_limits, missing_data
from pellucid.charts.layout import Limits, Row, data, grid, layered, level_axis, tooltips, value_axis
from pellucid.charts.marks import channel, output_colour, output_tip, zero_line
from pellucid.charts.text import is_change, level_names, rows_text, value_title
from pellucid.data.natural import natural_order
from pellucid.explanations import Effect
from pellucid.explanations.plot_options import EffectOptions
from pellucid.words import percent

Channels = tuple[str, str]  # the channel of the levels and that of the values


def level_labels(effect: Effect) -> list[str]:
    """Labels of the levels, and of missing if it occurs, in order and all different."""
    names = level_names(effect.grids[0])
    return level_names([*names, *{row["label"] for row in missing_data(effect)}])


def level_order(effect: Effect, order: str) -> tuple[list[str], str]:
    """The labels from top to bottom, missing last, and how that order came about, where it needs words."""
    labels = level_labels(effect)
    n = len(effect.grids[0])
    if order == "value":
        values = np.nan_to_num(effect.stacked("average")[:, 0])
        return [labels[i] for i in np.argsort(-values, kind="stable")] + labels[n:], "from high to low"
    if order == "name":
        return [*sorted(labels[:n]), *labels[n:]], ""
    if effect.kinds[0] != "categorical" or effect.settings.get("order") is not None:
        return labels, ""
    natural, similar = natural_order(labels[:n]), effect.method == "ale" and n > 2
    if natural is not None:
        how = " (added up from one category to the most similar; ale(order=...) changes that)" if similar else ""
        return [*(labels[i] for i in natural[0]), *labels[n:]], f"{natural[1]}{how}"
    return labels, "categories with similar rows are neighbours" if similar else ""


def level_data(effect: Effect) -> list[Row]:
    """One row per output and level, missing last."""
    labels = level_labels(effect)
    shares = level_shares(effect)
    rows: list[Row] = []
    for k, output in enumerate(effect.output_names):
        for i, label in enumerate(labels[: len(effect.grids[0])]):
            counted = rows_text(float(effect.counts[i])) if len(effect.counts) == len(effect.grids[0]) else "unknown"
            row = {"output": output, "level": label, "zero": 0.0, "rows_text": counted}
            rows.append(row | average_row(effect, i, k))
    for at_missing in missing_data(effect):
        share_text = f"{percent(float(shares[-1]))} of rows" if shares is not None else "unknown"
        rows.append({**at_missing, "level": labels[-1], "zero": 0.0, "rows_text": share_text})
    return rows


def level_shares(effect: Effect) -> FloatArray | None:
    """Share of the rows at each label; None when it is not known."""
    total = float(effect.counts.sum())
    if len(effect.counts) != len(effect.grids[0]) or total <= 0:
        return None
    missing = 0.0 if effect.missing is None else effect.missing.share
    shares = effect.counts / total * (1 - missing)
    return shares if effect.missing is None else np.append(shares, missing)


def draw_levels(
    effect: Effect, options: EffectOptions, limits: Limits | None = None, *, upright: bool = False
) -> ChartType:
    """The chart without its title; ``upright`` puts the levels on the x axis."""
    limits = limits or curve_limits(effect)
    labels, _ = level_order(effect, options.order)
    long, across = extents(len(labels), len(effect.output_names), options, upright)
    channels = ("x", "y") if upright else ("y", "x")
    bare = options.distribution is None or level_shares(effect) is None
    levels = _levels_axis(effect, labels, long, upright, shown=not upright or bare)
    values = value_axis(value_title(effect), limits, across, scale=effect.scale, change=is_change(effect))
    main = layered(*_layers(effect, options, levels, values, limits, channels)).properties(
        **_size(long, across, upright)
    )
    if bare:
        return main
    last = _levels_axis(effect, labels, long, upright, shown=upright)
    strip = _share_view(effect, labels, last, channels).properties(**_size(long, theme.STRIP, upright))
    return grid([main, strip], columns=1 if upright else 2, row=6, column=10)


def extents(n_levels: int, n_outputs: int, options: EffectOptions, upright: bool) -> tuple[float, float]:
    """Pixels along the levels and along the values."""
    step = max(20.0, 9.0 * n_outputs + 6.0)
    along_levels, along_values = (options.width, options.height) if upright else (options.height, options.width)
    return along_levels or max(60.0, step * n_levels), along_values or (theme.HEIGHT if upright else theme.WIDTH - 80)


def _layers(
    effect: Effect, options: EffectOptions, levels: Any, values: Any, limits: Limits, channels: Channels
) -> list[alt.Chart]:
    at, along = channels
    rows = level_data(effect)
    tips = tooltips(
        (effect.feature_names[0], "level"),
        *output_tip(effect),
        ("effect", "value_text"),
        ("95% interval", "interval_text"),
        ("data", "rows_text"),
    )
    place: dict[str, Any] = {at: channel(at, "level", levels)}
    if len(effect.output_names) > 1:
        place[f"{at}Offset"] = channel(f"{at}Offset", "output", {"type": "nominal", "sort": list(effect.output_names)})
    end = {along: channel(along, "value", values)}
    interval = {along: channel(along, "low", values), f"{along}2": "high"}
    colour = output_colour(effect, options)
    known = alt.Chart(data([row for row in rows if row["value"] is not None]))
    sure = alt.Chart(data([row for row in rows if row["low"] is not None]))
    zero = zero_line(limits, is_change(effect), along)
    if is_change(effect):
        bars = known.mark_bar(opacity=0.75).encode(**place, **end, **{f"{along}2": "zero"}, color=colour, tooltip=tips)
        rules = sure.mark_rule(strokeWidth=1.5, color=theme.INK).encode(**place, **interval, tooltip=tips)
        return [bars, rules, *zero]
    rules = sure.mark_rule(strokeWidth=2).encode(**place, **interval, color=colour, tooltip=tips)
    dots = known.mark_point(filled=True, size=60, opacity=1).encode(**place, **end, color=colour, tooltip=tips)
    return [rules, dots]


def _levels_axis(effect: Effect, labels: list[str], pixels: float, upright: bool, *, shown: bool) -> dict[str, Any]:
    if not shown:
        return level_axis(None, labels, pixels, labels=False, ticks=False)
    slant: dict[str, Any] = {"labelAngle": -40, "labelAlign": "right"} if upright and _crowded(labels, pixels) else {}
    if upright and not slant:
        slant = {"labelAngle": 0}
    return level_axis(effect.feature_names[0], labels, pixels, **slant)


def _crowded(labels: list[str], pixels: float) -> bool:
    return max(len(label) for label in labels) * 7 > pixels / len(labels)


def _share_view(effect: Effect, labels: list[str], levels: Any, channels: Channels) -> ChartType:
    at, along = channels
    shares = level_shares(effect)
    shares = np.zeros(len(labels)) if shares is None else shares
    top = float(np.ceil(100 * max(float(shares.max()), 0.01)) / 100)
    rows = [
        {"level": label, "share": float(share), "share_text": f"{percent(float(share))} of rows"}
        for label, share in zip(level_labels(effect), shares, strict=True)
    ]
    ends = [0, top] if at == "x" else [top]  # along a narrow strip there is no room for both
    axis = alt.Axis(title=["share", "of rows"], titleFontSize=11, values=ends, format=".0%", grid=False)
    size = {"type": "quantitative", "axis": axis, "scale": alt.Scale(domain=[0, top], nice=False)}
    tips = tooltips((effect.feature_names[0], "level"), ("data", "share_text"))
    bars = alt.Chart(data(rows)).mark_bar(color=theme.FAINT)
    return bars.encode(**{at: channel(at, "level", levels), along: channel(along, "share", size)}, tooltip=tips)


def _size(along_levels: float, along_values: float, upright: bool) -> dict[str, float]:
    width, height = (along_levels, along_values) if upright else (along_values, along_levels)
    return {"width": width, "height": height}
