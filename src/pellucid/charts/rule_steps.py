"""One rule, condition by condition: how far each raises the precision, and how many rows are left."""

from __future__ import annotations

from typing import Any

import altair as alt
from altair.typing import ChartType

from pellucid.charts import theme
from pellucid.charts.attribution.entries import short_names
from pellucid.charts.layout import Row, data, layered, level_axis, tooltips
from pellucid.explanations.rule import Anchor
from pellucid.explanations.rule_words import marks, predicted
from pellucid.words import counted, percent

_STEP = 26.0
_BASE = "#9A9A9A"
_FIRST = "without conditions"


def step_rows(steps: list[Row]) -> list[Row]:
    """One bar per condition, from the precision without it to that with it, and what to write beside it."""
    names = short_names(
        [_FIRST if row["step"] == 0 else f"{'IF' if row['step'] == 1 else 'AND'} {row['condition']}" for row in steps]
    )
    return [
        {
            **row,
            "name": name,
            "left": min(row["x"], row["x2"]),
            "right": max(row["x"], row["x2"]),
            "label": f"{row['precision_text']}, covers {row['coverage_text']}",
            "sort": "before" if row["step"] == 0 else "raises" if row["x2"] >= row["x"] else "lowers",
        }
        for name, row in zip(names, steps, strict=True)
    ]


def finding(rule: Anchor) -> str:
    """What the rule does, without its conditions, which stand beside the bars."""
    n = len(rule.conditions)
    if not n:
        return f"No condition is needed: {percent(rule.precision)} of the perturbed rows get {predicted(rule)}"
    verb = "fixes" if n == 1 else "fix"
    return (
        f"{counted(n, 'condition')} {verb} the prediction {predicted(rule)} with a precision of"
        f" {percent(rule.precision)} and a coverage of {percent(rule.coverage)}"
    )


def notes(rule: Anchor) -> list[str]:
    """What the numbers and lines are, and what to beware of."""
    goal = rule.settings.get("precision")
    return [
        "at the right: precision and share of rows covered with the conditions so far",
        "black line: interval of the precision",
        f"dashed: precision asked for ({percent(float(goal))})" if goal is not None else "",
        *marks(rule),
    ]


def view(rule: Anchor, steps: list[Row], width: float, height: float | None) -> ChartType:
    """A bar for each condition below the others."""
    rows = step_rows(steps)
    names = [row["name"] for row in rows]
    tall = height or _STEP * len(rows)
    axis = alt.Axis(title="precision", format=".0%", values=[0, 0.25, 0.5, 0.75, 1], grid=True)
    x: dict[str, Any] = {"type": "quantitative", "axis": axis, "scale": alt.Scale(domain=[0, 1], nice=False)}
    y = alt.Y("name", **level_axis(None, names, tall))
    colours = {"before": _BASE, "raises": theme.MAIN, "lowers": theme.SECOND}
    scale = alt.Scale(domain=list(colours), range=list(colours.values()))
    tips = tooltips(
        ("condition", "condition"), ("precision with it", "precision_text"), ("coverage with it", "coverage_text")
    )
    base = alt.Chart(data(rows))
    bars = base.mark_bar(opacity=0.85, height=14).encode(
        x=alt.X("left", **x),
        x2=alt.X2("right"),
        y=y,
        tooltip=tips,
        color=alt.Color("sort", type="nominal", scale=scale, legend=None),
    )
    words = base.mark_text(align="left", dx=10, fontSize=11, color=theme.INK)  # in a column, clear of lines and bars
    layers = [bars, words.encode(x=alt.value(width), y=y, text=alt.Text("label", type="nominal"))]
    low, high = rule.interval
    if rows and high > low:
        ends = alt.Chart(data([{"name": names[-1], "low": float(low), "high": float(high)}]))
        line = ends.mark_rule(strokeWidth=1.5, color=theme.INK, yOffset=10)
        layers.append(line.encode(x=alt.X("low", **x), x2=alt.X2("high"), y=y))
    goal = rule.settings.get("precision")
    if goal is not None:
        dashed = alt.Chart(data([{}])).mark_rule(strokeDash=[4, 4], color=theme.MUTED)
        layers.append(dashed.encode(x=alt.XDatum(float(goal))))
    return layered(*layers).properties(width=width, height=tall)
