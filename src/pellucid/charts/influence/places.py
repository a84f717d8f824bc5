"""Where influential rows lie: leverage against residual; and what was shown against what refitting gave."""

from __future__ import annotations

import altair as alt
import numpy as np
from altair.typing import ChartType

from pellucid.charts import theme
from pellucid.charts.influence.view import View
from pellucid.charts.layout import Row, data, layered, limits_of, tooltips, value_axis
from pellucid.explanations.plot_options import InfluenceOptions
from pellucid.words import number

_NAMED = 3


def place_data(view: View, most: int) -> list[Row]:
    """The most influential rows, and some of the others, evenly spaced."""
    found = view.found
    first = view.order[: most // 4 + _NAMED]
    rest = view.order[len(first) :]
    some = (
        rest[np.unique(np.linspace(0, max(len(rest) - 1, 0), most - len(first)).astype(np.intp))] if len(rest) else rest
    )
    named = _apart(view)
    return [
        {
            "row": found.name(int(i)),
            "label": found.name(int(i)) if int(i) in named else "",
            "leverage": float(found.leverage[i]),
            "residual": float(found.residual[i]),
            "size": float(abs(view.values[i])),
            "value_text": view.text(float(view.values[i])),
            "leverage_text": number(float(found.leverage[i])),
            "residual_text": number(float(found.residual[i]), sign=True),
        }
        for i in np.append(some, first)
    ]


def _apart(view: View) -> set[int]:
    """The strongest rows whose names do not cover each other."""
    found = view.found
    named: set[int] = set()
    sizes = [max(float(np.ptp(part)), 1e-300) for part in (found.leverage, found.residual)]
    for i in view.order[:_NAMED].tolist():
        near = (
            abs(found.leverage[i] - found.leverage[k]) / sizes[0] < 0.2
            and abs(found.residual[i] - found.residual[k]) / sizes[1] < 0.05
            for k in named
        )
        if not any(near):
            named.add(i)
    return named


def leverage(view: View, options: InfluenceOptions) -> ChartType:
    """A dot for each training row, as large as its influence, with the names of the strongest."""
    width, height = options.width or theme.WIDTH * 0.8, options.height or theme.HEIGHT
    rows = place_data(view, options.max_rows)
    x_limits = limits_of([row["leverage"] for row in rows], zero=True)
    x_limits = (max(x_limits[0], 0.0), x_limits[1] + 0.12 * (x_limits[1] - x_limits[0]))
    x = alt.X("leverage", **value_axis("leverage", x_limits, width))
    y = alt.Y("residual", **value_axis("residual", limits_of([row["residual"] for row in rows], zero=True), height))
    chart = alt.Chart(data(rows))
    size = alt.Size("size:Q", scale=alt.Scale(range=[6, 320]), legend=None)
    tips = tooltips(
        ("training row", "row"),
        ("influence", "value_text"),
        ("leverage", "leverage_text"),
        ("residual", "residual_text"),
    )
    zero = alt.Chart(data([{}])).mark_rule(color=theme.MUTED, strokeDash=[5, 4]).encode(y=alt.YDatum(0))
    dots = chart.mark_circle(opacity=0.45, color=theme.MAIN).encode(x=x, y=y, size=size, tooltip=tips)
    names = chart.transform_filter("datum.label != ''").mark_text(align="left", dx=9, dy=-7, fontSize=11)
    return layered(zero, dots, names.encode(x=x, y=y, text="label:N")).properties(width=width, height=height)


def checked(view: View, options: InfluenceOptions) -> ChartType:
    """The strength that was shown and that by really fitting again, for the rows that were refitted."""
    found, done = view.found, view.found.checked
    top = len(done.units) - done.jolt_rows
    rows = [
        {
            "row": found.name(int(i)),
            "shown": float(a),
            "refitted": float(b),
            "kind": "strongest rows" if k < top else "random rows",
            "shown_text": view.text(float(a)),
            "refitted_text": view.text(float(b)),
        }
        for k, (i, a, b) in enumerate(zip(done.units, done.shown, done.refitted, strict=True))
    ]
    width, height = options.width or theme.WIDTH * 0.8, options.height or theme.HEIGHT
    limits = limits_of(done.shown, done.refitted, zero=True)
    x = alt.X("shown", **value_axis(f"shown ({found.how})", limits, width))
    y = alt.Y("refitted", **value_axis("by really fitting again", limits, height))
    ends = alt.Chart(data([{"shown": end, "refitted": end} for end in limits]))
    line = ends.mark_line(color=theme.MUTED, strokeDash=[5, 4], strokeWidth=1.5).encode(x=x, y=y)
    colour = alt.Color(
        "kind:N",
        scale=alt.Scale(domain=["strongest rows", "random rows"], range=[theme.MAIN, theme.SECOND]),
        legend=alt.Legend(title=None, orient="top"),
    )
    tips = tooltips(("training row", "row"), ("shown", "shown_text"), ("refitted", "refitted_text"))
    dots = alt.Chart(data(rows)).mark_circle(size=90, opacity=0.9).encode(x=x, y=y, color=colour, tooltip=tips)
    return layered(line, dots).properties(width=width, height=height)
