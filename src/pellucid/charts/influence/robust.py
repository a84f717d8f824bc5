"""Robust fits: by how much the prediction of each row changes, over what the model predicts."""

from __future__ import annotations

import altair as alt
from altair.typing import ChartType

from pellucid.charts import theme
from pellucid.charts.layout import Row, data, layered, limits_of, titled, tooltips, value_axis
from pellucid.charts.text import caveat_note
from pellucid.explanations import RobustFit
from pellucid.explanations.plot_options import RobustFitOptions
from pellucid.words import number


def body(found: RobustFit, options: RobustFitOptions) -> ChartType:
    """A dot for each row and fit; on the line at 0 nothing changes."""
    width, height = options.width or theme.WIDTH * 0.9, options.height or theme.HEIGHT
    names, now = found.variants[:-1], found.predictions[0]
    change = found.predictions[1:] - now
    rows: list[Row] = [
        {
            "now": float(a),
            "change": float(d),
            "fit": name,
            "words": f"row {found.row_labels.name(int(i))}: {number(float(a))}, {name} {number(float(a + d))}",
        }
        for name, line in zip(names, change, strict=True)
        for i, a, d in zip(found.shown, now, line, strict=True)
    ]
    across, along = limits_of(now), limits_of(change, 0.0)
    x = alt.X("now", **value_axis("prediction, fitted to all rows", across, width, scale=found.scale))
    y = alt.Y("change", **value_axis("change by the other fit", along, height, scale=found.scale, change=True))
    colours = [theme.SECOND, theme.MAIN][: len(names)]
    colour = alt.Color(
        "fit:N", scale=alt.Scale(domain=list(names), range=colours), legend=alt.Legend(title=None, orient="top")
    )
    none = alt.Chart(data([{"change": 0.0}]))
    line = none.mark_rule(color=theme.MUTED, strokeDash=[5, 4], strokeWidth=1.2).encode(y=y)
    dots = alt.Chart(data(rows)).mark_circle(size=22, opacity=0.6)
    dots = dots.encode(x=x, y=y, color=colour, tooltip=tooltips(("", "words")))
    first = options.title or found.findings()[0].removesuffix(".")
    chart = layered(line, dots).properties(width=width, height=height)
    return titled(chart, first, [caveat_note(found)], options.width or theme.WIDTH)
