"""Where a surrogate fails: parts of the data by how far it misses the model there."""

from __future__ import annotations

import altair as alt
import numpy as np
from altair.typing import ChartType

from pellucid.charts import theme
from pellucid.charts.layout import Row, data, layered, tooltips, value_axis
from pellucid.charts.surrogate.leaf_rows import condition_lines, row_axis
from pellucid.explanations import Surrogate
from pellucid.explanations.plot_options import SurrogateOptions
from pellucid.explanations.surrogate_words import amount, r2
from pellucid.words import number, percent

_LETTERS, _ROW = 42, 46
_LABEL = 135  # pixels


def group_data(found: Surrogate) -> list[Row]:
    """One line per part of the data, the worst first."""
    return [
        {
            "row": float(k),
            "zero": 0.0,
            "top": k - 0.3,
            "bottom": k + 0.3,
            "words": group.words,
            "miss": group.miss,
            "share": group.share,
            "text": f"{amount(found, group.miss)} · {percent(group.share)} of rows",
            "below": f"R² {r2(group.r2)} within" if np.isfinite(group.r2) else "",
            "ratio": f"{number(group.ratio)} times as much as all rows",
        }
        for k, group in enumerate(found.subgroups)
    ]


def subgroups(found: Surrogate, options: SurrogateOptions, _: int) -> tuple[ChartType, float]:
    """Bars as long as the miss, and a line at that of all rows."""
    rows = group_data(found)
    width, height = options.width or theme.WIDTH, options.height or _ROW * len(rows)
    most = max(row["miss"] for row in rows)
    axis = value_axis("missed by (RMSE, held-out rows)", (0.0, 1.45 * most), width, scale=found.scale, change=True)
    usual = found.subgroups[0].miss / found.subgroups[0].ratio if found.subgroups[0].ratio > 0 else 0.0
    reach = _LABEL * 1.45 * most / width
    for row in rows:  # a label starts behind the line that would cross it
        row["said"] = usual if row["miss"] < usual < row["miss"] + reach else row["miss"]
    x, y = alt.X("miss", **axis), row_axis(len(rows))
    chart = alt.Chart(data(rows))
    tips = tooltips(("rows with", "words"), ("missed by", "text"), ("that is", "ratio"), ("fidelity", "below"))
    bars = chart.mark_rect(color=theme.MAIN).encode(
        x=alt.X("zero", **axis), x2="miss", y=row_axis(len(rows), "top"), y2="bottom", tooltip=tips
    )
    said = alt.X("said", **axis)
    first = chart.mark_text(align="left", dx=6, dy=-7, fontSize=11).encode(x=said, y=y, text="text:N")
    second = chart.mark_text(align="left", dx=6, dy=7, fontSize=11, color=theme.MUTED).encode(
        x=said, y=y, text="below:N"
    )
    rule = alt.Chart(data([{"miss": usual}])).mark_rule(color=theme.FAINT, strokeWidth=1.5).encode(x=x)
    above = alt.Chart(data([{"miss": usual, "text": "all rows"}])).mark_text(y=-8, fontSize=11, color=theme.MUTED)
    names: list[Row] = []
    for row in rows:
        lines = condition_lines(row["words"], _LETTERS)
        names += [
            {"row": row["row"] + (place - (len(lines) - 1) / 2) * 0.29, "text": text, "words": row["words"]}
            for place, text in enumerate(lines)
        ]
    labels = (
        alt.Chart(data(names))
        .mark_text(align="right", x=-8, fontSize=11)
        .encode(y=y, text="text:N", tooltip=tooltips(("rows with", "words")))
    )
    return layered(rule, above.encode(x=x, text="text:N"), bars, first, second, labels).properties(
        width=width, height=height
    ), width
