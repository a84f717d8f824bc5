"""What to change: one line per feature, the row's own value first, then what each answer puts in its place."""

from __future__ import annotations

import altair as alt
import numpy as np
from altair.typing import ChartType

from pellucid.charts import theme
from pellucid.charts.layout import Row, data, layered, told, tooltips
from pellucid.charts.text import caveat_note
from pellucid.explanations.counterfactual_words import in_full
from pellucid.explanations.counterfactuals import Counterfactuals
from pellucid.explanations.plot_options import CounterfactualOptions
from pellucid.words import counted

_CELL, _LINE = 110.0, 30.0


def change_data(result: Counterfactuals, most: int) -> list[Row]:
    """One row per changed feature and column of the picture: the row's own value, then those of the answers."""
    shown = min(len(result), most)
    used = np.flatnonzero(result.changed[:shown].any(axis=0))
    rows: list[Row] = []
    for j in used:
        for i in range(-1, shown):
            moved = i >= 0 and bool(result.changed[i, j])
            rows.append(
                {
                    "feature": result.column_names[j],
                    "answer": "now" if i < 0 else f"answer {i + 1}",
                    "value": in_full(result.cells[j][i + 1]) if moved or i < 0 else "",
                    "changed": moved,
                    "shade": theme.CATEGORIES[0] if moved else "#F2F2F2",
                    "ink": "white" if moved else theme.INK,
                }
            )
    return rows


def body(result: Counterfactuals, options: CounterfactualOptions) -> ChartType:
    """The Altair chart."""
    rows = change_data(result, options.max_display)
    columns = list(dict.fromkeys(row["answer"] for row in rows)) or ["now"]
    features = list(dict.fromkeys(row["feature"] for row in rows))
    width = options.width or _CELL * len(columns)
    height = options.height or max(_LINE * len(features), _LINE)
    x = alt.X("answer", type="nominal", sort=columns, axis=alt.Axis(orient="top", title=None, labelAngle=0))
    y = alt.Y("feature", type="nominal", sort=features, axis=alt.Axis(title=None))
    tips = tooltips(("feature", "feature"), ("answer", "answer"), ("value", "value"))
    base = alt.Chart(data(rows))
    boxes = base.mark_rect(cornerRadius=3, stroke="white", strokeWidth=3).encode(
        x=x, y=y, color=alt.Color("shade", type="nominal", scale=None), tooltip=tips
    )
    words = base.mark_text(fontSize=12, limit=_CELL - 12).encode(
        x=x,
        y=y,
        text=alt.Text("value", type="nominal"),
        color=alt.Color("ink", type="nominal", scale=None),
        tooltip=tips,
    )
    chart = layered(boxes, words).properties(width=width, height=height)
    more = len(result) - options.max_display
    notes = [
        f"target: {result.target}",
        "" if len(result) else "no allowed row reaches it",
        f"{counted(more, 'more answer')} not shown" if more > 0 else "",
        caveat_note(result),
    ]
    where = result.row_labels.of_row()
    return told(chart, result, options, f"What would have to change{where}", notes, width)
