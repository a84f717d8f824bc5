"""The leaves of a surrogate tree: their rules, the distribution of predictions and, of a classifier, its classes."""

from __future__ import annotations

import altair as alt
from altair.typing import ChartType

from pellucid.charts import theme
from pellucid.charts.layout import Row, data, hconcat, layered, tooltips, value_axis
from pellucid.charts.surrogate.leaf_rows import condition_lines, distributions, leaf_facts, row_axis, words
from pellucid.explanations import Surrogate
from pellucid.explanations.plot_options import SurrogateOptions
from pellucid.explanations.surrogate import SurrogateTree
from pellucid.words import percent

_ROW, _LETTERS = 52, 46


def leaves(found: Surrogate, options: SurrogateOptions, output: int) -> tuple[ChartType, float]:
    """One row for each leaf."""
    tree = found.tree
    assert tree is not None
    height = options.height or _ROW * len(tree.leaves)
    width = options.width or theme.WIDTH * 0.7
    parts = [
        _rules(found, tree, output, height),
        distributions(found, tree, output, width, height),
        words(found, tree, output, height),
    ]
    if tree.classes.shape[1] > 1:
        parts.append(_classes(found, tree, height))
    return hconcat(*parts, spacing=8).resolve_scale(color="independent"), width + 420


def _rules(found: Surrogate, tree: SurrogateTree, output: int, height: float) -> ChartType:
    """The conditions of each leaf, in up to three lines."""
    y = row_axis(len(tree.leaves))
    lines: list[Row] = []
    for k in range(len(tree.leaves)):
        wrapped = condition_lines(tree.rules[k], _LETTERS)
        facts = leaf_facts(found, tree, k, output)
        lines += [
            {**facts, "row": k + (place - (len(wrapped) - 1) / 2) * 0.27, "text": text}
            for place, text in enumerate(wrapped)
        ]
    chart = alt.Chart(data(lines)).mark_text(align="right", fontSize=11, x=_LETTERS * 6, baseline="middle")
    return chart.encode(y=y, text="text:N", tooltip=tooltips(("leaf", "rule"))).properties(
        width=_LETTERS * 6, height=height
    )


def _classes(found: Surrogate, tree: SurrogateTree, height: float) -> ChartType:
    """Of the rows in each leaf, the share of each class that the model predicts."""
    names = list(found.header.classes)
    rows: list[Row] = []
    for k in range(len(tree.leaves)):
        start = 0.0
        for name, share in zip(names, tree.classes[k].tolist(), strict=True):
            rows.append(
                {
                    "row": k - 0.32,
                    "bottom": k + 0.4,
                    "from": start,
                    "to": start + share,
                    "class": name,
                    "text": f"{name}: {percent(share)} of the leaf",
                    "rule": tree.rules[k],
                }
            )
            start += share
    x = alt.X("from", **value_axis("predicted class, share of the leaf", (0.0, 1.0), 160, scale="probability"))
    ordered = names[::-1] if len(names) == 2 else names  # the second of two has the first colour, as in other charts
    shades = alt.Color(
        "class:N",
        scale=alt.Scale(domain=ordered, **theme.category_range(len(names))),
        legend=alt.Legend(title="class", orient="right"),
    )
    bars = (
        alt.Chart(data(rows))
        .mark_rect()
        .encode(
            x=x,
            x2="to",
            y=row_axis(len(tree.leaves)),
            y2="bottom",
            color=shades,
            tooltip=tooltips(("class", "text"), ("leaf", "rule")),
        )
    )
    return layered(bars).properties(width=160, height=height)
