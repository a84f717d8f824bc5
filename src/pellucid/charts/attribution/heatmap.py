"""A heat map of contributions: one column per row, one line per feature, and the predictions above.

Rows stand in the order of a hierarchical clustering of their contributions, as in `stacked`, so that rows explained
alike stand together; or by prediction, or as given.
"""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
from altair.typing import ChartType

from pellucid.charts import theme
from pellucid.charts.attribution.entries import axis_title, fold, prediction_title, rows_note, short_names
from pellucid.charts.attribution.stacked import MOST_ROWS, ORDERS, Arrangement, arranged
from pellucid.charts.layout import (
    Row,
    bounds,
    data,
    grid,
    layered,
    level_axis,
    limits_of,
    tooltips,
    value_axis,
    value_labels,
)
from pellucid.charts.text import brief, shown, wrapped
from pellucid.explanations import Attribution
from pellucid.explanations.attribution import shown_value
from pellucid.explanations.plot_options import AttributionOptions

_FULL = 0.99  # quantile of the absolute contributions that has the full colour


def notes(attribution: Attribution, _: AttributionOptions) -> list[str]:
    """How many rows are drawn, and what the line is."""
    return [
        *rows_note(min(len(attribution), MOST_ROWS), attribution, "drawn: "),
        "line: prediction; dashed: what the contributions start from",
    ]


def cell_data(attribution: Attribution, output: str, options: AttributionOptions, order: Arrangement) -> list[Row]:
    """One cell per row and feature; features with small contributions share the last line."""
    one = attribution.for_output(output)
    kept, rest = fold(attribution.ranking, options.max_display)
    names = short_names([*(attribution.feature_names[j] for j in kept), *([f"{len(rest)} others"] * bool(len(rest)))])
    rows: list[Row] = []
    for at, i in enumerate(order.rows):
        parts = [(float(one.values[i, j]), shown_value(attribution.data[j][i])) for j in kept]
        parts += [(float(one.values[i, rest].sum()), "")] if len(rest) else []
        rows += [
            {
                "at": at,
                "to": at + 1,
                "feature": name,
                "contribution": value,
                "label": brief(value, one.scale, change=True),
                "value_text": text,
                "row": one.row_labels.name(i),
            }
            for name, (value, text) in zip(names, parts, strict=True)
        ]
    return rows


def view(attribution: Attribution, output: str, options: AttributionOptions, width: float) -> ChartType:
    """The predictions of one output above their contributions."""
    order = arranged(attribution, options)
    cells = cell_data(attribution, output, options, order)
    names = list(dict.fromkeys(row["feature"] for row in cells))
    height = options.height or max(60.0, 20.0 * len(names))
    title = ORDERS[options.order]
    axis = alt.Axis(title=title, labels=False, ticks=False, grid=False)
    x: dict[str, Any] = {
        "type": "quantitative",
        "axis": axis,
        "scale": alt.Scale(domain=[0, len(order.rows)], nice=False),
    }
    far = float(np.quantile(np.abs(attribution.values), _FULL)) or 1.0
    named = axis_title(attribution, output) if len(attribution.output_names) == 1 else "contribution"
    labels = value_labels((-far, far), attribution.scale, change=True)
    colour = alt.Color(
        "contribution",
        type="quantitative",
        scale=alt.Scale(scheme=theme.DIVERGING, domain=[-far, far], domainMid=0, clamp=True, nice=False),
        legend=alt.Legend(title=wrapped(named, 150, 12), gradientLength=min(height, 160.0), **labels),
    )
    tips = tooltips(("row", "row"), ("feature", "feature"), ("value", "value_text"), ("contribution", "label"))
    lines = alt.Y("feature", **level_axis(None, names, height, cells=True))
    squares = alt.Chart(data(cells)).mark_rect(x2Offset=0.5)
    main = squares.encode(x=alt.X("at", **x), x2=alt.X2("to"), y=lines, color=colour, tooltip=tips)
    above = _predictions(attribution, output, order, {**x, "axis": None})
    return grid([above.properties(width=width), main.properties(width=width, height=height)], columns=1, row=4)


def _predictions(attribution: Attribution, output: str, order: Arrangement, x: Any) -> ChartType:
    """The prediction of each row, level across its column."""
    one = attribution.for_output(output)
    totals = [float(one.prediction[i]) for i in order.rows]
    points = [
        {
            "x": at + edge,
            "prediction": total,
            "label": shown(total, one.scale, change=False),
            "row": one.row_labels.name(i),
        }
        for at, (i, total) in enumerate(zip(order.rows, totals, strict=True))
        for edge in (0, 1)
    ]
    limits = limits_of(totals, [float(one.base)], within=bounds(one.scale, change=False))
    y = value_axis(prediction_title(attribution, output), limits, 60.0, scale=one.scale, tickCount=3, titleFontSize=11)
    tips = tooltips(("row", "row"), ("prediction", "label"))
    line = alt.Chart(data(points)).mark_line(color=theme.INK, strokeWidth=1.2)
    start = alt.Chart(data([{}])).mark_rule(color=theme.INK, strokeDash=[4, 4])
    layers = [
        line.encode(x=alt.X("x", **x), y=alt.Y("prediction", **y), tooltip=tips),
        start.encode(y=alt.YDatum(float(one.base))),
    ]
    return layered(*layers).properties(height=60)
