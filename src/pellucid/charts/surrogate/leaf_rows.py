"""One row for each leaf: the distribution of the model's predictions, the mean, and how many rows it holds."""

from __future__ import annotations

import altair as alt
from altair.typing import ChartType

from pellucid.charts import theme
from pellucid.charts.layout import Row, bounds, data, layered, limits_of, tooltips, value_axis
from pellucid.charts.text import scale_words
from pellucid.explanations import Surrogate
from pellucid.explanations.surrogate import SurrogateTree
from pellucid.explanations.surrogate_words import amount
from pellucid.words import percent, quantity

_FLOOR, _HIGH = 0.4, 0.78  # of a row: where a histogram stands, and how high the highest is


def condition_lines(text: str, letters: int) -> list[str]:
    """Conditions in up to three lines that break between words, not within an inequality."""
    kept = text
    for sign in (" ≤ ", " > ", " < "):
        kept = kept.replace(sign, sign.replace(" ", "\u00a0"))
    lines = [line.replace("\u00a0", " ") for line in _wrapped(kept, letters)]
    return [*lines[:2], lines[2][: letters - 1] + "…"] if len(lines) > 3 else lines


def _wrapped(text: str, letters: int) -> list[str]:
    """As textwrap does, which would break at spaces that are to hold."""
    lines: list[str] = []
    for word in text.split(" "):
        if lines and len(lines[-1]) + 1 + len(word) <= letters:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def colour(tree: SurrogateTree, output: int) -> alt.Color:
    """One scale for predictions of nodes and leaves."""
    values = tree.predictions[:, output]
    low, high = float(values.min()), float(values.max())
    scale = alt.Scale(domain=[low, high if high > low else low + 1.0], scheme=theme.SEQUENTIAL_LINES)
    return alt.Color("prediction:Q", scale=scale, legend=None)


def row_axis(leaves: int, field: str = "row") -> alt.Y:
    """The axis of leaves, the first at the top, with nothing written on it."""
    return alt.Y(f"{field}:Q", axis=None, scale=alt.Scale(domain=[leaves - 0.5, -0.5], nice=False, zero=False))


def distributions(found: Surrogate, tree: SurrogateTree, output: int, width: float, height: float) -> ChartType:
    """Histograms, one above the other, with the mean of each leaf and its share of the rows."""
    leaves, edges = tree.leaves, tree.edges[output]
    counts = tree.histograms[:, output]
    # Each leaf is as high as its own highest bin, so that small leaves show their shape: the share is in words.
    peak = counts.max(axis=1, keepdims=True)
    heights = counts / (peak + (peak == 0))
    ends = limits_of(edges, within=bounds(found.scale, change=False))
    rows: list[Row] = []
    for k in range(len(leaves)):
        facts = leaf_facts(found, tree, k, output)
        rows += [
            {
                **facts,
                "row": k + _FLOOR,
                "top": k + _FLOOR - _HIGH * float(heights[k, b]),
                "from": float(edges[b]),
                "to": float(edges[b + 1]),
            }
            for b in range(counts.shape[1])
            if counts[k, b] > 0
        ]
    y = row_axis(len(leaves))
    title = f"model's prediction{scale_words(found, found.output_names[output])}"
    x = alt.X("from", **value_axis(title, ends, width, scale=found.scale))
    tips = tooltips(
        ("leaf", "rule"), ("mean prediction", "mean_text"), ("rows", "share_text"), ("missed by", "miss_text")
    )
    bars = (
        alt.Chart(data(rows))
        .mark_rect(stroke=None)
        .encode(x=x, x2="to", y=y, y2="top", color=colour(tree, output), tooltip=tips)
    )
    marks = [
        {**leaf_facts(found, tree, k, output), "row": k + _FLOOR, "top": k - _HIGH / 2} for k in range(len(leaves))
    ]
    means = (
        alt.Chart(data(marks))
        .mark_rule(color=theme.INK, strokeWidth=1.6)
        .encode(x=alt.X("prediction:Q"), y=y, y2="top", tooltip=tips)
    )
    floors = alt.Chart(data(marks)).mark_rule(color=theme.FAINT, strokeWidth=0.7).encode(y=y)
    return layered(floors, bars, means).properties(width=width, height=height)


def words(found: Surrogate, tree: SurrogateTree, output: int, height: float) -> ChartType:
    """What each leaf predicts, and for how many rows."""
    rows = [{**leaf_facts(found, tree, k, output), "row": k + 0.1} for k in range(len(tree.leaves))]
    y = row_axis(len(rows))
    first = alt.Chart(data(rows)).mark_text(align="left", fontSize=12, fontWeight=600, x=0, baseline="bottom", dy=2)
    second = alt.Chart(data(rows)).mark_text(align="left", fontSize=11, color=theme.MUTED, x=0, baseline="top", dy=2)
    return layered(first.encode(y=y, text="mean_text:N"), second.encode(y=y, text="share_text:N")).properties(
        width=90, height=height
    )


def leaf_facts(found: Surrogate, tree: SurrogateTree, k: int, output: int) -> Row:
    """A leaf in numbers and words."""
    leaf = int(tree.leaves[k])
    return {
        "leaf": k,
        "rule": tree.rules[k],
        "prediction": float(tree.predictions[leaf, output]),
        "mean_text": quantity(float(tree.predictions[leaf, output]), found.scale),
        "share_text": f"{percent(float(tree.shares[leaf]))} of rows",
        "miss_text": f"{amount(found, float(tree.misses[k, output]))} (RMSE, held-out rows)",
    }
