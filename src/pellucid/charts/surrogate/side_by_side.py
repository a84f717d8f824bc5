"""Several surrogates: how far each stands in for the model, and what it keeps of the model's gain."""

from __future__ import annotations

import altair as alt
from altair.typing import ChartType

from pellucid.charts import theme
from pellucid.charts.layout import Row, data, layered, level_axis, told, tooltips, value_axis
from pellucid.charts.text import caveat_note, level_names
from pellucid.errors import InputError
from pellucid.explanations import Surrogates
from pellucid.explanations.plot_options import SurrogatesOptions
from pellucid.explanations.surrogate_words import r2, sized
from pellucid.stats import Z95
from pellucid.words import percent

_ROW = 34


def bar_data(found: Surrogates, kind: str) -> list[Row]:
    """One line per surrogate, in the order in which they were asked for."""
    names = level_names([sized(one) for one in found.members])
    rows: list[Row] = []
    for name, one in zip(names, found.members, strict=True):
        if kind == "r2":
            value, half, text = one.overall, Z95 * one.overall_se, r2(one.overall)
        else:
            cost = one.replacement
            if cost is None:
                raise InputError("kind='kept' needs the outcome; give y to the Explainer.")
            value, half = cost.kept, Z95 * cost.se / (cost.constant - cost.model)
            text = percent(value) if value >= 0 else "worse than a constant"
        shown = max(value, 0.0)
        rows.append(
            {
                "name": name,
                "value": shown,
                "low": max(value - half, 0.0),
                "high": max(min(value + half, 1.05), shown),
                "text": text,
                "own": r2(one.fitted),
            }
        )
    return rows


def body(found: Surrogates, options: SurrogatesOptions) -> ChartType:
    """Bars with 95% intervals."""
    rows = bar_data(found, options.kind)
    width, height = options.width or theme.WIDTH, options.height or _ROW * max(len(rows), 2)
    fidelity = options.kind == "r2"
    title = "R² against the model on held-out rows" if fidelity else "kept of what the model gains over a constant"
    x = alt.X("value", **value_axis(title, (0.0, 1.2), width, scale="response" if fidelity else "probability"))
    y = alt.Y("name", **level_axis(None, [row["name"] for row in rows], height))
    chart = alt.Chart(data(rows))
    tips = tooltips(("surrogate", "name"), ("held-out rows", "text"), ("R² on fitted rows", "own"))
    bars = chart.mark_bar(color=theme.MAIN).encode(x=x, y=y, tooltip=tips)
    whiskers = chart.mark_rule(strokeWidth=1.5).encode(x=alt.X("low:Q"), x2="high", y=y)
    words = chart.mark_text(align="left", dx=6, fontSize=12).encode(x=alt.X("high:Q"), y=y, text="text:N")
    view = layered(bars, whiskers, words).properties(width=width, height=height)
    finding = "" if fidelity else found.findings()[-1]
    what = "Surrogates side by side, with 95% intervals"
    return told(view, found, options, what, [caveat_note(found)], width, finding=finding)
