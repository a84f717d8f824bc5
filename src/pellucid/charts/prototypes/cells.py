"""A table as a chart: one line per example, one column per feature, cells with words on a shade."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
from altair.typing import ChartType

from pellucid.charts import theme
from pellucid.charts.layout import Row, data, layered, tooltips
from pellucid.charts.text import level_names

LINE = 26.0
_LETTER = 7.2
_LEAST, _MOST = 46.0, 170.0
_TEXT = 420.0  # a column that holds whole texts
PLAIN = "#F4F4F4"


def line_names(result: Any, places: Sequence[int]) -> list[str]:
    """What the lines are called: role and row, no two alike."""
    words = {"prototype": "prototype", "criticism": "criticism", "neighbour": "neighbour"}
    return level_names(
        f"{words.get(result.roles[i], result.roles[i])}: {result.vocabulary.whole} {result.row_labels.name(i)}"
        if result.roles[i] != "row"
        else f"{result.vocabulary.whole} {result.row_labels.name(i)}"
        for i in places
    )


def shade(contrast: float, most: float = 2.0) -> tuple[str, str]:
    """The colour of a cell, blue below and orange above the average, and that of its words."""
    if not np.isfinite(contrast) or abs(contrast) < 0.25:
        return PLAIN, theme.INK
    share = min(abs(contrast) / most, 1.0)
    end = np.array([0, 114, 178] if contrast < 0 else [213, 94, 0])
    mixed = np.rint(255 + (end - 255) * (0.15 + 0.75 * share)).astype(int)
    return "#{:02X}{:02X}{:02X}".format(*mixed.tolist()), "white" if share > 0.6 else theme.INK


def cell_table(
    rows: list[Row], lines: list[str], columns: list[str], width: float | None, whole_texts: str | None = None
) -> tuple[ChartType, float]:
    """The chart of cells ``line``, ``column``, ``value``, ``shade``, ``ink`` and ``tip``, and how wide it is.

    The column of ``whole_texts`` gets more room than others.
    """
    longest = {name: len(name) for name in columns}
    for row in rows:
        longest[row["column"]] = max(longest[row["column"]], len(row["value"]))
    wide = {
        name: float(np.clip(_LETTER * size + 14, _LEAST, _TEXT if name == whole_texts else _MOST))
        for name, size in longest.items()
    }
    factor = 1.0 if width is None else width / sum(wide.values())
    ends = dict(zip(columns, np.cumsum([wide[name] * factor for name in columns]), strict=True))
    placed = [
        {**row, "x1": ends[row["column"]] - wide[row["column"]] * factor, "x2": ends[row["column"]]} for row in rows
    ]
    for row in placed:
        row["middle"], row["room"] = (row["x1"] + row["x2"]) / 2, row["x2"] - row["x1"]
    total, height = float(max(ends.values())), LINE * len(lines)
    scale = alt.Scale(domain=[0, total], nice=False, zero=False)
    x: dict[str, Any] = {"type": "quantitative", "scale": scale, "axis": None}
    axis = alt.Axis(title=None, ticks=False, domain=False, labelPadding=8)
    y = alt.Y("line", type="nominal", sort=None, scale=alt.Scale(domain=lines), axis=axis)
    tips = tooltips(("", "line"), ("feature", "column"), ("value", "value"), ("", "tip"))
    boxes = (
        alt.Chart(data(placed))
        .mark_rect(stroke="white", strokeWidth=2)
        .encode(x=alt.X("x1", **x), x2="x2:Q", y=y, color=alt.Color("shade", type="nominal", scale=None), tooltip=tips)
    )
    words = [
        alt.Chart(data([{**row, "value": _cut(row["value"], row["room"])} for row in placed if row["ink"] == ink]))
        .mark_text(fontSize=12, color=ink)
        .encode(x=alt.X("middle", **x), y=y, text=alt.Text("value", type="nominal"), tooltip=tips)
        for ink in sorted({row["ink"] for row in placed})
    ]
    heads = [
        {"name": _cut(name, wide[name] * factor), "middle": ends[name] - wide[name] * factor / 2} for name in columns
    ]
    names = (
        alt.Chart(data(heads))
        .mark_text(fontSize=12, fontWeight=600, dy=-12, baseline="bottom")
        .encode(x=alt.X("middle", **x), y=alt.value(0.0), text=alt.Text("name", type="nominal"))
    )
    return layered(boxes, *words, names).properties(width=total, height=height), total


def _cut(text: str, room: float) -> str:
    most = max(int((room - 6) / (_LETTER - 0.6)), 3)
    return text if len(text) <= most else text[: most - 1] + "…"
