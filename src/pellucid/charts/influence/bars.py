"""The most influential training rows as bars: to the right they raise what is asked, to the left they lower it."""

from __future__ import annotations

import altair as alt
from altair.typing import ChartType

from pellucid.charts import theme
from pellucid.charts.influence.view import View
from pellucid.charts.layout import Row, data, layered, level_axis, limits_of, tooltips, value_axis
from pellucid.explanations.plot_options import InfluenceOptions
from pellucid.words import number

_ROW = 22


def bar_data(view: View, top: int) -> list[Row]:
    """One line per bar, the strongest first."""
    found = view.found
    rows: list[Row] = []
    for i in view.order[:top]:
        value = float(view.values[i])
        row = {"row": found.name(int(i)), "value": value, "value_text": view.text(value), "raises": value >= 0}
        for part in ("leverage", "residual"):
            array = getattr(found, part)
            row[part] = number(float(array[i])) if len(array) == len(found) else "unknown"
        rows.append(row)
    return rows


def bars(view: View, options: InfluenceOptions) -> ChartType:
    """Bars with their numbers; a line at the jolt of random rows where that was measured."""
    rows = bar_data(view, options.top)
    width, height = options.width or theme.WIDTH * 0.9, options.height or _ROW * max(len(rows), 3)
    limits = limits_of([row["value"] for row in rows], zero=True)
    room = 0.16 * (limits[1] - limits[0])
    ends = (limits[0] - (room if limits[0] < 0 and view.signed else 0.0), limits[1] + room)
    scale = view.found.scale if view.found.on == "predictions" and view.found.method != "cook" else "response"
    x = alt.X("value", **value_axis(view.title, ends, width, scale=scale, change=True))
    y = alt.Y("row", **level_axis(None, [row["row"] for row in rows], height))
    tips = tooltips(
        ("training row", "row"), ("influence", "value_text"), ("leverage", "leverage"), ("residual", "residual")
    )
    chart = alt.Chart(data(rows))
    colour = alt.condition("datum.raises", alt.value(theme.MAIN), alt.value(theme.SECOND))
    views: list[ChartType] = [chart.mark_bar().encode(x=x, y=y, color=colour, tooltip=tips)]
    for side, align, dx in (("datum.value >= 0", "left", 4), ("datum.value < 0", "right", -4)):
        beside = chart.transform_filter(side)
        words = beside.mark_text(align=align, dx=dx, fontSize=11)  # type: ignore[arg-type]  # words
        views.append(words.encode(x=x, y=y, text="value_text:N"))
    jolt = view.found.checked.jolt
    if 0 < jolt < limits[1] and not view.signed:
        rule = alt.Chart(data([{"jolt": jolt}])).mark_rule(color=theme.MUTED, strokeDash=[5, 4], strokeWidth=1.5)
        views.append(rule.encode(x=alt.X("jolt:Q", title=None)))
    return layered(*views).properties(width=width, height=height)
