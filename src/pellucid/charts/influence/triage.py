"""Triage: what share of wrong outcomes is found by checking so much of the list."""

from __future__ import annotations

import altair as alt
import numpy as np
from altair.typing import ChartType

from pellucid.charts import theme
from pellucid.charts.layout import Row, data, layered, level_axis, titled, tooltips, value_axis
from pellucid.charts.text import caveat_note
from pellucid.explanations import Triage
from pellucid.explanations.plot_options import TriageOptions
from pellucid.words import number, percent


def body(found: Triage, options: TriageOptions) -> ChartType:
    """The curve of what is found, or the first rows of the list."""
    width = options.width or theme.WIDTH
    chart = _rows(found, options) if options.kind == "rows" else _curves(found, options)
    first, worth = found.findings()[0], found.worth()
    title = options.title or (first if options.kind == "rows" else worth).removesuffix(".")
    return titled(chart, title, [caveat_note(found)], width)


def _curves(found: Triage, options: TriageOptions) -> ChartType:
    width, height = options.width or theme.WIDTH * 0.9, options.height or theme.HEIGHT
    shares = np.linspace(0, 1, found.curves.shape[1])
    rows = [
        {"checked": float(x), "found": float(y), "measure": name, "words": f"{percent(x)} checked: {percent(y)} found"}
        for name, curve in zip(found.measures, found.curves, strict=True)
        for x, y in zip(shares, curve, strict=True)
    ]
    x = alt.X("checked", **value_axis("share of the rows checked", (0.0, 1.0), width, scale="probability"))
    y = alt.Y("found", **value_axis("share of changed outcomes found", (0.0, 1.02), height, scale="probability"))
    colour = alt.Color(
        "measure:N",
        scale=alt.Scale(domain=list(found.measures), range=[theme.MAIN, theme.SECOND, theme.MUTED]),
        legend=alt.Legend(title=None, orient="top"),
    )
    line = alt.Chart(data([{"checked": end, "found": end} for end in (0.0, 1.0)]))
    chance = line.mark_line(color=theme.MUTED, strokeDash=[5, 4], strokeWidth=1.2).encode(x=x, y=y)
    curves = (
        alt.Chart(data(rows)).mark_line(strokeWidth=2).encode(x=x, y=y, color=colour, tooltip=tooltips(("", "words")))
    )
    mark = alt.Chart(data([{"checked": 0.1, "found": found.found}])).mark_point(filled=True, size=70, color=theme.MAIN)
    return layered(chance, curves, mark.encode(x=x, y=y)).properties(width=width, height=height)


def _rows(found: Triage, options: TriageOptions) -> ChartType:
    order = found.ranking(options.top)
    rows: list[Row] = [
        {
            "row": f"row {found.row_labels.name(int(i))}",
            "loss": float(found.loss[i]),
            "words": f"{found.given[i]}, expected {found.expected[i]}",
            "loss_text": number(float(found.loss[i])),
        }
        for i in order
    ]
    width, height = options.width or theme.WIDTH * 0.9, options.height or 22 * max(len(rows), 3)
    most, kind = max(float(found.loss[order].max()), 1e-12), "" if found.new else "out-of-fold "
    x = alt.X("loss", **value_axis(f"{kind}{str(found.settings['loss']).replace('_', ' ')}", (0.0, 1.7 * most), width))
    y = alt.Y("row", **level_axis(None, [row["row"] for row in rows], height))
    tips = tooltips(("row", "row"), ("given", "words"), ("loss", "loss_text"))
    chart = alt.Chart(data(rows))
    bars = chart.mark_bar(color=theme.MAIN).encode(x=x, y=y, tooltip=tips)
    words = chart.mark_text(align="left", dx=4, fontSize=11).encode(x=x, y=y, text="words:N")
    return layered(bars, words).properties(width=width, height=height)
