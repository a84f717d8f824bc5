"""The tree from left to right: a dot for each node, its condition on the line that leads to it, leaves with
distributions.
"""

from __future__ import annotations

import textwrap
from typing import Any

import altair as alt
import numpy as np
from altair.typing import ChartType

from pellucid.arrays import FloatArray
from pellucid.charts import theme
from pellucid.charts.layout import Row, data, hconcat, layered, tooltips
from pellucid.charts.surrogate.leaf_rows import colour, distributions, row_axis, words
from pellucid.explanations import Surrogate
from pellucid.explanations.plot_options import SurrogateOptions
from pellucid.explanations.surrogate import SurrogateTree
from pellucid.words import percent, quantity

_ROW, _SMALL_ROW, _MANY = 46, 32, 16
_LETTER, _WIDEST, _NARROWEST = 5.9, 26, 70  # pixels of a letter, letters of a line, pixels of a step


def tree(found: Surrogate, options: SurrogateOptions, output: int) -> tuple[ChartType, float]:
    """The tree and, beside its leaves, what the model predicts there."""
    shown = found.tree
    assert shown is not None
    n = len(shown.leaves)
    height = options.height or n * (_ROW if n <= _MANY else _SMALL_ROW)
    height = max(height, 60)
    lines = 2 if height / n >= _ROW - 4 else 1
    rows, across = node_data(found, shown, output, lines)
    picture = _picture(shown, output, rows, across, height)
    width = options.width or theme.WIDTH * 0.6
    parts = [picture, distributions(found, shown, output, width, height), words(found, shown, output, height)]
    body = hconcat(*parts, spacing=8).resolve_scale(color="independent")
    return body, across + width + 100


def node_data(found: Surrogate, tree: SurrogateTree, output: int, lines: int) -> tuple[list[Row], float]:
    """Where each node is, in pixels and rows, what leads to it, and how wide all of it is."""
    depth, heights = tree.depth, rows_of(tree)
    parent = np.full(len(tree.left), -1)
    said = [""] * len(tree.left)
    for node in np.flatnonzero(tree.left >= 0).tolist():
        for side, condition in ((tree.left[node], tree.yes[node]), (tree.right[node], tree.no[node])):
            parent[side], said[side] = node, condition
    labels = [_lines(text, lines) for text in said]
    steps = [
        max([_NARROWEST, *(_LETTER * max(map(len, labels[node])) + 18 for node in np.flatnonzero(depth == d).tolist())])
        for d in range(1, int(depth.max()) + 1)
    ]
    start = np.concatenate([[8.0], 8.0 + np.cumsum(steps)])
    rows = [
        {
            "node": node,
            "x": float(start[depth[node]]),
            "row": float(heights[node]),
            "from_x": float(start[depth[node] - 1]) if parent[node] >= 0 else None,
            "from_row": float(heights[parent[node]]) if parent[node] >= 0 else None,
            "label": labels[node],
            "condition": said[node] or "all rows",
            "prediction": float(tree.predictions[node, output]),
            "mean_text": quantity(float(tree.predictions[node, output]), found.scale),
            "share": float(tree.shares[node]),
            "share_text": f"{percent(float(tree.shares[node]))} of rows",
            "leaf": bool(tree.left[node] < 0),
        }
        for node in range(len(tree.left))
    ]
    return rows, float(start[-1]) + 24.0


def rows_of(tree: SurrogateTree) -> FloatArray:
    """Leaves in rows from the top, each other node halfway between the two below it."""
    place = np.zeros(len(tree.left))
    place[tree.leaves] = np.arange(len(tree.leaves))
    for node in range(len(tree.left) - 1, -1, -1):
        if tree.left[node] >= 0:
            place[node] = (place[tree.left[node]] + place[tree.right[node]]) / 2
    return place


def _lines(text: str, lines: int) -> list[str]:
    """A condition in one or two lines, cut where it is longer: tooltips have all of it."""
    if not text:
        return [""]
    if lines == 1 and len(text) > _WIDEST + 6:
        return [text[: _WIDEST + 5] + "…"]
    wrapped = (
        textwrap.wrap(text, width=_WIDEST, break_long_words=False) if len(text) > _WIDEST + 4 and lines > 1 else [text]
    )
    if len(wrapped) > lines:
        wrapped = [*wrapped[: lines - 1], wrapped[lines - 1][: _WIDEST - 1].rstrip(", ") + "…"]
    return wrapped


def _picture(tree: SurrogateTree, output: int, rows: list[Row], width: float, height: float) -> ChartType:
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[0, width], nice=False, zero=False))
    y = row_axis(len(tree.leaves))
    reached = [row for row in rows if row["from_x"] is not None]
    up = [{"x": row["from_x"], "row": row["from_row"], "to": row["row"]} for row in reached]
    along = [{"x": row["from_x"], "row": row["row"], "to": row["x"]} for row in reached]
    out = [{"x": row["x"], "row": row["row"], "to": width} for row in rows if row["leaf"]]
    line: dict[str, Any] = {"color": theme.MUTED, "opacity": 0.7, "strokeWidth": 1.3}
    views: list[ChartType] = [
        alt.Chart(data(up)).mark_rule(**line).encode(x=x, y=y, y2="to"),
        alt.Chart(data(along)).mark_rule(**line).encode(x=x, x2="to", y=y),
        alt.Chart(data(out)).mark_rule(color=theme.FAINT, strokeDash=[2, 3]).encode(x=x, x2="to", y=y),
    ]
    tips = tooltips(("condition", "condition"), ("mean prediction", "mean_text"), ("rows", "share_text"))
    size = alt.Size("share:Q", scale=alt.Scale(domain=[0, 1], range=[40, 420]), legend=None)
    dots = alt.Chart(data(rows)).mark_circle(opacity=1, stroke="white", strokeWidth=1)
    views.append(dots.encode(x=x, y=y, size=size, color=colour(tree, output), tooltip=tips))
    # Lines of text as layers of their own: the first above the line that it is about, the second below it.
    for place, (baseline, dy) in enumerate((("bottom", -3), ("top", 4))):
        texts = [
            {"x": row["from_x"] + 8, "row": row["row"], "label": row["label"][place]}
            for row in reached
            if len(row["label"]) > place
        ]
        chart = alt.Chart(data(texts)).mark_text(
            align="left",
            baseline=baseline,  # type: ignore[arg-type]  # words
            dy=dy,
            fontSize=11,
            color=theme.INK,
        )
        views.append(chart.encode(x=x, y=y, text="label:N"))
    return layered(*views).properties(width=width, height=height)
