"""Bars to the left and right of zero, with intervals."""

from __future__ import annotations

from typing import Any

import altair as alt
from altair.typing import ChartType

from pellucid.charts import theme
from pellucid.charts.attribution.entries import DOWN, UP
from pellucid.charts.layout import Limits, Row, data
from pellucid.charts.marks import zero_line

_COLOURS = {UP: theme.SECOND, DOWN: theme.MAIN}


def signed_bars(
    rows: list[Row], x: dict[str, Any], y: alt.Y, tips: list[alt.Tooltip], limits: Limits
) -> list[ChartType]:
    """A bar for each row's ``value`` in the colour of its ``sort``, thin lines from ``low`` to ``high`` where these are
    known.
    """
    scale = alt.Scale(domain=list(_COLOURS), range=list(_COLOURS.values()))
    colour = alt.Color("sort", type="nominal", scale=scale, legend=None)
    sure = [row for row in rows if row["low"] is not None]
    bars = alt.Chart(data(rows)).mark_bar(opacity=0.85)
    errors = alt.Chart(data(sure)).mark_rule(color=theme.INK, strokeWidth=1.5)
    return [
        bars.encode(x=alt.X("value", **x), x2=alt.X2Datum(0), y=y, color=colour, tooltip=tips),
        *([errors.encode(x=alt.X("low", **x), x2=alt.X2("high"), y=y)] if sure else []),
        *zero_line(limits, True, "x"),
    ]
