"""What to change: one line per feature, the row's own value first, then what each answer puts in its place."""

from __future__ import annotations

import altair as alt
from altair.typing import ChartType

from pellucid.charts import theme
from pellucid.charts.counterfactuals.columns import answer_name, column, notes, predicted, shown, used
from pellucid.charts.layout import Row, data, layered, told, tooltips
from pellucid.explanations.counterfactuals import Counterfactuals
from pellucid.explanations.plot_options import CounterfactualOptions

_CELL, _LINE = 110.0, 30.0


def change_data(result: Counterfactuals, most: int, features: int) -> list[Row]:
    """One row per changed feature and column of the picture: the row's own value, then those of the answers; last what
    the model says of each.
    """
    answers = shown(result, most)
    heads = ["now", *(answer_name(result, i) for i in range(answers))]
    rows: list[Row] = []
    for j in used(result, answers, features)[0]:
        one = column(result, int(j), answers)
        rows += [
            {
                "feature": one.name,
                "answer": head,
                "value": one.texts[i] if i == 0 or one.changed[i] else "",
                "changed": one.changed[i],
                "shade": theme.MAIN if one.changed[i] else "#F2F2F2",
                "ink": "white" if one.changed[i] else theme.INK,
            }
            for i, head in enumerate(heads)
        ]
    last = {"feature": "prediction", "changed": False, "shade": "white", "ink": theme.INK}
    return rows + [{**last, "answer": head, "value": predicted(result, i - 1)} for i, head in enumerate(heads)]


def body(result: Counterfactuals, options: CounterfactualOptions) -> ChartType:
    """The Altair chart."""
    rows = change_data(result, options.max_display, options.max_features)
    columns = list(dict.fromkeys(row["answer"] for row in rows))
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
    answers = shown(result, options.max_display)
    left_out = used(result, answers, options.max_features)[1]
    where = result.row_labels.of_row()
    return told(chart, result, options, f"What would have to change{where}", notes(result, answers, left_out), width)
