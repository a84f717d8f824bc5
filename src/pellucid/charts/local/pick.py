"""Picked rows: what each of them shows, and how much of what matters is shown so far."""

from __future__ import annotations

import altair as alt
import numpy as np
from altair.typing import ChartType

from pellucid.charts import theme
from pellucid.charts.attribution.entries import short_names
from pellucid.charts.layout import Row, concat, data, layered, level_axis, limits_of, told, tooltips, value_axis
from pellucid.charts.text import caveat_note, level_names
from pellucid.explanations.pick import Pick
from pellucid.explanations.plot_options import PickOptions
from pellucid.words import counted, number, percent

_CELL = 26.0


def shown_features(picked: Pick, max_display: int) -> list[int]:
    """The most important features that have any importance."""
    order = np.argsort(-picked.values, kind="stable")
    return [int(j) for j in order if picked.values[j] > 0][:max_display] or [int(j) for j in order[:1]]


def names_of(picked: Pick, features: list[int]) -> list[str]:
    """Labels of features, none longer than an axis can bear."""
    return short_names(picked.feature_names[j] for j in features)


def cell_data(picked: Pick, features: list[int], names: list[str], rows: list[str]) -> list[Row]:
    """One cell per picked row and feature: its share of the row's absolute effects."""
    whole = picked.sizes.sum(axis=1, keepdims=True)
    shares = picked.sizes / np.where(whole > 0, whole, 1.0)
    return [
        {
            "row": rows[i],
            "feature": name,
            "full": picked.feature_names[j],
            "share": float(shares[i, j]) if picked.shows[i, j] else None,
            "label": percent(float(shares[i, j])),
            "shown": "yes" if picked.shows[i, j] else "no",
        }
        for i in range(len(picked))
        for j, name in zip(features, names, strict=True)
    ]


def body(picked: Pick, options: PickOptions) -> ChartType:
    """A matrix of rows and features, the importance at its right, the share that is shown above it."""
    features = shown_features(picked, options.max_display)
    names = names_of(picked, features)
    rows = level_names(f"row {picked.row_labels.name(i)}" for i in range(len(picked)))
    width = options.width or max(140.0, min(_CELL * 2.2 * len(rows), 460.0))
    height = options.height or max(50.0, _CELL * len(features))
    x = alt.X("row", **level_axis(None, rows, width, cells=True, labelAngle=-40))
    y = alt.Y("feature", **level_axis(None, names, height, cells=True))
    cells = cell_data(picked, features, names, rows)
    tips = tooltips(("", "row"), ("", "full"), ("of the row's effects", "label"), ("shown", "shown"))
    shade = alt.Scale(
        scheme=theme.STRENGTH, domain=[0, max([cell["share"] or 0.0 for cell in cells], default=1.0) or 1.0]
    )
    colour = alt.Color(
        "share",
        type="quantitative",
        scale=shade,
        legend=alt.Legend(title="share of the row's effects", format="%", orient="bottom"),
    )
    matrix = layered(
        alt.Chart(data([cell for cell in cells if cell["share"] is None]))
        .mark_rect(color="#F4F4F4")
        .encode(x=x, y=y, tooltip=tips),
        alt.Chart(data([cell for cell in cells if cell["share"] is not None]))
        .mark_rect()
        .encode(x=x, y=y, color=colour, tooltip=tips),
    ).properties(width=width, height=height)
    bars = [
        {
            "feature": name,
            "full": picked.feature_names[j],
            "importance": float(picked.values[j]),
            "label": number(float(picked.values[j])),
        }
        for j, name in zip(features, names, strict=True)
    ]
    axis = value_axis("importance", (0.0, limits_of([bar["importance"] for bar in bars], zero=True)[1]), 120.0)
    beside = (
        alt.Chart(data(bars))
        .mark_bar(color=theme.MAIN, opacity=0.85)
        .encode(
            x=alt.X("importance", **axis),
            y=alt.Y("feature", **level_axis(None, names, height, cells=True, labels=False, ticks=False)),
            tooltip=tooltips(("", "full"), ("importance", "label")),
        )
        .properties(width=120.0, height=height)
    )
    curve = [
        {"row": row, "covered": float(share), "label": percent(float(share))}
        for row, share in zip(rows, picked.covered, strict=True)
    ]
    above = _curve(curve, rows, width)
    blank = alt.Chart(alt.InlineData(values=[])).mark_point().properties(width=1, height=1)
    chart = concat(above, blank, matrix, beside, columns=2, spacing=10, align="each", bounds="flush")
    more = int((picked.values > 0).sum()) - len(features)
    notes = [
        f"{len(picked)} of {picked.looked_at:,} rows, in the order picked",
        f"{counted(more, 'more feature')} not shown" if more > 0 else "",
        caveat_note(picked),
    ]
    return told(chart, picked, options, "Rows that show what the model uses", notes, width + 220)


def _curve(curve: list[Row], rows: list[str], width: float) -> ChartType:
    """The share of all importance that is shown, row after row."""
    axis = alt.Axis(title=["importance", "shown"], format="%", values=[0, 0.5, 1])
    base = alt.Chart(data(curve)).encode(
        x=alt.X("row", **level_axis(None, rows, width, cells=True, labels=False, ticks=False)),
        y=alt.Y("covered", type="quantitative", scale=alt.Scale(domain=[0, 1.15]), axis=axis),
        tooltip=tooltips(("", "row"), ("shown so far", "label")),
    )
    words = base.mark_text(dy=-8, fontSize=10, color=theme.INK).encode(text=alt.Text("label", type="nominal"))
    return layered(base.mark_line(point=True, color=theme.SECOND), words).properties(width=width, height=70)
