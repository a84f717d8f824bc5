"""R² against the size of a surrogate: on held-out rows with its interval, and on the fitted rows, which flatter."""

from __future__ import annotations

import altair as alt
import numpy as np
from altair.typing import ChartType

from pellucid.arrays import IntArray
from pellucid.charts import theme
from pellucid.charts.layout import Row, data, layered, level_axis, tooltips, value_axis
from pellucid.explanations import Surrogate
from pellucid.explanations.plot_options import SurrogateOptions
from pellucid.explanations.surrogate_words import r2
from pellucid.stats import interval

_GOOD = 0.9
_LINES = ("held-out rows", "rows it was fitted to")


def curve_data(found: Surrogate) -> list[Row]:
    """One line per size and kind of rows."""
    curve = found.curve
    low, high = interval(curve.held_out, curve.se, most=1.0)
    rows: list[Row] = []
    for k, size in enumerate(curve.sizes.tolist()):
        held, own = float(curve.held_out[k]), float(curve.fitted[k])
        words = f"{r2(held)} on held-out rows, {r2(own)} on fitted rows"
        rows.append(
            {"size": size, "r2": held, "low": float(low[k]), "high": float(high[k]), "kind": _LINES[0], "words": words}
        )
        rows.append({"size": size, "r2": own, "low": None, "high": None, "kind": _LINES[1], "words": words})
    return rows


def size_curve(found: Surrogate, options: SurrogateOptions, _: int) -> tuple[ChartType, float]:
    """The curve, or bars by output for a surrogate that has no sizes."""
    width, height = options.width or theme.WIDTH, options.height or theme.HEIGHT
    if len(found.curve.sizes) < 2:
        return _bars(found, width), width
    rows = curve_data(found)
    values = np.array([part for row in rows for part in (row["r2"], row["low"]) if part is not None])
    ends = (min(0.0, float(values.min()) - 0.03) if values.min() < 0.3 else 0.0, 1.0)
    sizes = found.curve.sizes
    many = sizes[-1] > 30
    axis = alt.Axis(
        title="leaves" if found.kind == "tree" else "features",
        values=[int(s) for s in sizes],
        format="d",
        labelOverlap="greedy",
        grid=False,
    )
    scale = alt.Scale(type="log" if many else "linear", domain=_span(sizes, many), nice=False, zero=False)
    x = alt.X("size:Q", axis=axis, scale=scale)
    y = alt.Y("r2", **value_axis("R² against the model", ends, height))
    shades = alt.Color(
        "kind:N",
        scale=alt.Scale(domain=list(_LINES), range=[theme.MAIN, theme.FAINT]),
        legend=alt.Legend(title=None, orient="top"),
    )
    chart = alt.Chart(data(rows))
    held = chart.transform_filter(f"datum.kind == '{_LINES[0]}'")
    band = held.mark_area(opacity=0.18, color=theme.MAIN).encode(x=x, y=alt.Y("low:Q"), y2="high")
    tips = tooltips(("size", "size"), ("R²", "words"))
    lines = chart.mark_line(strokeWidth=2, point=alt.OverlayMarkDef(size=30)).encode(
        x=x, y=y, color=shades, tooltip=tips
    )
    goal = alt.Chart(data([{"r2": _GOOD}])).mark_rule(color=theme.MUTED, strokeDash=[5, 4]).encode(y=y)
    mark = alt.Chart(data([{"size": found.size, "r2": found.overall}])).mark_point(
        size=140, color=theme.MAIN, filled=False, strokeWidth=2
    )
    return layered(band, goal, lines, mark.encode(x=x, y=y)).properties(width=width, height=height), width


def _span(sizes: IntArray, many: bool) -> list[float]:
    """From the smallest to the largest size, with some room."""
    low, high = float(sizes[0]), float(sizes[-1])
    return [0.93 * low, 1.09 * high] if many else [low - 0.03 * (high - low), high + 0.03 * (high - low)]


def _bars(found: Surrogate, width: float) -> ChartType:
    """R² of each output with its interval."""
    low, high = interval(found.values, found.se, most=1.0)
    rows: list[Row] = [
        {"output": name, "r2": float(value), "low": float(low[k]), "high": float(high[k]), "text": r2(float(value))}
        for k, (name, value) in enumerate(zip(found.output_names, found.values, strict=True))
    ]
    height = 30 * max(len(rows), 2)
    ends = (min(0.0, *(row["low"] for row in rows)), 1.12)
    x = alt.X("r2", **value_axis("R² against the model on held-out rows", ends, width))
    y = alt.Y("output", **level_axis(None, [row["output"] for row in rows], height))
    chart = alt.Chart(data(rows))
    bars = chart.mark_bar(color=theme.MAIN).encode(x=x, y=y, tooltip=tooltips(("output", "output"), ("R²", "text")))
    whisker = chart.mark_rule(strokeWidth=1.5).encode(x=alt.X("low:Q"), x2="high", y=y)
    words = chart.mark_text(align="left", dx=6, fontSize=11).encode(x=alt.X("high:Q"), y=y, text="text:N")
    return layered(bars, whisker, words).properties(width=width, height=height)
