"""Bars: how large the contributions of each feature are over the rows, or the contributions to one row."""

from __future__ import annotations

import altair as alt
import numpy as np
from altair.typing import ChartType

from pellucid.charts import theme
from pellucid.charts.attribution.entries import DOWN, UP, axis_title, change, half_widths, not_shown, short_names
from pellucid.charts.attribution.waterfall import COLOURS
from pellucid.charts.layout import Row, data, layered, level_axis, limits_of, tooltips, value_axis
from pellucid.charts.marks import zero_line
from pellucid.explanations import Attribution
from pellucid.explanations.attribution_words import labels_of
from pellucid.explanations.plot_options import AttributionOptions


def notes(attribution: Attribution, options: AttributionOptions) -> list[str]:
    """What is left out, and what the thin lines are."""
    several = " (upper bounds)" if len(attribution) > 1 else ""
    thin = [f"thin lines: 95% intervals{several}"] if (attribution.se > 0).any() else []
    return [*not_shown(attribution, options.max_display), *thin]


def bar_data(attribution: Attribution, output: str, max_display: int = 20, aggregate: str = "mean") -> list[Row]:
    """One bar per feature shown: the mean (or sum) of its absolute contributions; of one row the contribution itself.

    The error of a mean or sum over rows is bounded by the mean or sum of the errors.
    """
    one, order = attribution.for_output(output), attribution.ranking[:max_display]
    total = np.sum if aggregate == "sum" else np.mean
    sizes = one.values[0] if len(one) == 1 else total(np.abs(one.values), axis=0)
    halves = total(half_widths(one), axis=0)
    names = labels_of(one, 0) if len(one) == 1 else list(one.feature_names)
    rows: list[Row] = []
    for name, j in zip(short_names(names[j] for j in order), order, strict=True):
        size, half = float(sizes[j]), float(halves[j])
        rows.append(
            {
                "feature": name,
                "full": names[j],
                "size": size,
                "sort": UP if size >= 0 else DOWN,
                "low": size - half if half > 0 else None,
                "high": size + half if half > 0 else None,
                "label": change(size, one.scale, half, sign=len(one) == 1),
            }
        )
    return rows


def view(attribution: Attribution, output: str, options: AttributionOptions, width: float) -> ChartType:
    """Bars from zero, signed and coloured by direction for one row."""
    rows = bar_data(attribution, output, options.max_display, options.aggregate)
    one_row = len(attribution) == 1
    sure = [row for row in rows if row["low"] is not None]
    low, high = limits_of(
        [row["size"] for row in rows], *([row[end] for row in sure] for end in ("low", "high")), zero=True
    )
    limits = (low if one_row else 0.0, high)
    height = options.height or max(40.0, 22.0 * len(rows))
    kind = "" if one_row else {"mean": "mean absolute ", "sum": "sum of absolute "}[options.aggregate]
    noun = "contributions" if options.aggregate == "sum" and not one_row else "contribution"
    what = axis_title(attribution, output, f"{kind}{noun}")
    x = value_axis(what, limits, width, scale=attribution.scale, change=True)
    y = alt.Y("feature", **level_axis(None, [row["feature"] for row in rows], height))
    tips = tooltips(("", "full"), (f"{kind}contribution", "label"))
    scale = alt.Scale(domain=[UP, DOWN], range=[COLOURS[UP], COLOURS[DOWN]])
    signed = alt.Color("sort", type="nominal", scale=scale, legend=None)
    bars = alt.Chart(data(rows)).mark_bar(opacity=0.8)
    errors = alt.Chart(data(sure)).mark_rule(color=theme.INK, strokeWidth=1.5, clip=True)
    layers = [
        bars.encode(
            x=alt.X("size", **x),
            x2=alt.X2Datum(0),
            y=y,
            tooltip=tips,
            color=signed if one_row else alt.ColorValue(theme.MAIN),
        ),
        *([errors.encode(x=alt.X("low", **x), x2=alt.X2("high"), y=y)] if sure else []),
        *zero_line(limits, True, "x"),
    ]
    return layered(*layers).properties(width=width, height=height)
