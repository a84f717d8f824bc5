"""Bars of how much each check speaks against explanations of a model, with what was found."""

from __future__ import annotations

import altair as alt
from altair.typing import ChartType

from pellucid.charts import theme
from pellucid.charts.layout import Row, data, layered, level_axis, told, tooltips
from pellucid.charts.text import level_names
from pellucid.explanations.audit import Audit
from pellucid.explanations.option import PlotOptions
from pellucid.words import number

_STEP = 34.0
_GOOD, _BAD = "nothing against it", "speaks against explanations"


def audit_data(result: Audit) -> list[Row]:
    """One row per check, in the order of the audit."""
    names = level_names(line.topic for line in result.lines)
    return [
        {
            "topic": name,
            "severity": line.severity,
            "verdict": _BAD if line.bad else _GOOD,
            "label": (
                f"{number(line.value)} (bad {'below' if line.code == 'training-data' else 'above'}"
                f" {number(line.threshold)})"
            ),
            "finding": line.finding,
            "advice": line.advice if line.bad else "",
        }
        for name, line in zip(names, result.lines, strict=True)
    ]


def body(result: Audit, options: PlotOptions) -> ChartType:
    """The Altair chart of an audit."""
    rows = audit_data(result)
    labels = [row["topic"] for row in rows]
    width, height = options.width or 420.0, options.height or _STEP * max(len(labels), 1)
    y = alt.Y("topic", **level_axis(None, labels, height, cells=True))
    x = alt.X(
        "severity",
        type="quantitative",
        scale=alt.Scale(domain=[0, 1]),
        axis=alt.Axis(title="severity (0 nothing, 1 do not trust)", values=[0, 0.5, 1]),
    )
    tips = tooltips(("check", "topic"), ("finding", "finding"), ("what to do", "advice"))
    base = alt.Chart(data(rows))
    bars = base.mark_bar(height=10, yOffset=-6, color=theme.SECOND).encode(x=x, y=y, tooltip=tips)
    marks = base.mark_point(filled=True, size=60, yOffset=-6, opacity=1).encode(
        x=x,
        y=y,
        tooltip=tips,
        color=alt.Color(
            "verdict",
            type="nominal",
            scale=alt.Scale(domain=[_GOOD, _BAD], range=[theme.CATEGORIES[2], theme.SECOND]),
            legend=alt.Legend(title=None, orient="top"),
        ),
    )
    words = base.mark_text(align="left", dx=4, yOffset=8, fontSize=10, color=theme.MUTED).encode(
        x=alt.value(0), y=y, text=alt.Text("label", type="nominal"), tooltip=tips
    )
    chart = layered(bars, marks, words).properties(width=width, height=height)
    return told(chart, result, options, "Can explanations of this model be trusted?", [], width)
