"""Parallel coordinates: the row and its answers as lines over one axis per changed feature, the prediction last.

Every axis spans what the data hold of its feature, in its own units; the levels of a category are evenly spaced.
Missing values stand below the axes.
"""

from __future__ import annotations

import math

import altair as alt
import numpy as np
from altair.typing import ChartType

from pellucid.arrays import FloatArray
from pellucid.charts import theme
from pellucid.charts.counterfactuals.changes import prediction_limits
from pellucid.charts.counterfactuals.columns import (
    Column,
    answer_name,
    column,
    cut,
    notes,
    output,
    predicted,
    shown,
    text_of,
    used,
)
from pellucid.charts.layout import Limits, Row, data, layered, told, tooltips
from pellucid.charts.text import scale_words, wrapped
from pellucid.explanations.counterfactuals import Counterfactuals
from pellucid.explanations.plot_options import CounterfactualOptions
from pellucid.words import number, percent

NOW = "the row"
_STEP, _LEAST, _WIDTH = 125.0, 76.0, 900.0  # pixels between axes at most and at least, and of all of them
_HEIGHT, _BELOW = 260.0, -0.13  # pixels of an axis; where missing values stand
_LABELLED, _LETTERS = 12, 15  # levels with a label, and its letters


def axes(result: Counterfactuals, answers: int, features: int) -> list[Column]:
    """The columns that change and, last, the prediction as one more."""
    places = used(result, answers, features)[0]
    k = output(result)
    said = np.concatenate([result.prediction[[k]], result.predictions[:answers, k]])
    texts = tuple(predicted(result, i) for i in range(-1, answers))
    name = f"prediction{scale_words(result, result.output_names[k])}"
    low, high = prediction_limits(result, answers)
    if result.scale == "probability":
        low, high = 0.0, 1.0
    last = Column(name, "numeric", texts, said, (False, *[True] * answers), (low, high), ())
    return [*(column(result, int(j), answers) for j in places), last]


def line_data(columns: list[Column], lines: list[str], step: float = _STEP) -> list[Row]:
    """One row per line and axis: how high it passes there (0 to 1), and the value in words."""
    rows: list[Row] = []
    for order, one in enumerate(columns):
        for i, (line, share) in enumerate(zip(lines, heights(one.places, one.limits), strict=True)):
            rows.append(
                {
                    "axis": head(one.name, step),
                    "order": order,
                    "line": line,
                    "height": share,
                    "feature": one.name,
                    "text": one.texts[i],
                }
            )
    return rows


def heights(places: FloatArray, limits: Limits) -> list[float]:
    """Places on an axis as shares of its length; missing ones below it."""
    low, high = limits
    return [float((place - low) / (high - low)) if np.isfinite(place) else _BELOW for place in places]


def tick_data(columns: list[Column], scale: str, step: float = _STEP) -> list[Row]:
    """Labels of every axis: round numbers, dates, or levels (where they are many, only those that are used)."""
    rows: list[Row] = []
    for place, one in enumerate(columns):
        last = place == len(columns) - 1
        for at, text in _ticks(one, scale if last else "response"):
            rows.append({"axis": head(one.name, step), "height": heights(np.array([at]), one.limits)[0], "label": text})
    return rows


def _ticks(one: Column, scale: str) -> list[tuple[float, str]]:
    missing = [(math.nan, "missing")] if not np.isfinite(one.places).all() else []
    if one.nominal:
        many = len(one.levels) > _LABELLED
        names = [name for name in one.levels if not many or name in one.texts]
        return missing + [(float(one.levels.index(name)), cut(name, _LETTERS)) for name in names]
    low, high = one.limits
    if one.kind == "date":
        stamps = [np.datetime64(int(at), "ms") for at in np.linspace(low, high, 3)]
        return missing + [
            (float(stamp.astype(np.int64)), text_of(stamp.astype("datetime64[D]"), "date")) for stamp in stamps
        ]
    return missing + [(at, percent(at) if scale == "probability" else number(at)) for at in _round(low, high)]


def _round(low: float, high: float) -> list[float]:
    """About four round numbers within the limits."""
    raw = (high - low) / 4
    power = 10.0 ** math.floor(math.log10(raw))
    step = power * next(m for m in (1.0, 2.0, 2.5, 5.0, 10.0) if m * power >= 0.999 * raw)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{k * step:.12g}") for k in range(first, last + 1)]


def head(name: str, step: float) -> str:
    """The name of an axis in lines that fit above it."""
    return "\n".join(wrapped(name, step - 12, 11.5)[:4])


def body(result: Counterfactuals, options: CounterfactualOptions) -> ChartType:
    """The Altair chart."""
    answers = shown(result, options.max_display)
    lines = [NOW, *(answer_name(result, i) for i in range(answers))]
    columns = axes(result, answers, options.max_features)
    step = min(_STEP, max(_LEAST, _WIDTH / len(columns)))
    width = options.width or step * max(len(columns), 2)
    step = width / len(columns)
    heads = [head(one.name, step) for one in columns]
    height = options.height or _HEIGHT
    axis = alt.Axis(
        title=None,
        orient="top",
        labelAngle=0,
        labelExpr="split(datum.label, '\\n')",
        ticks=False,
        domain=False,
        labelPadding=10 + 14 * max(name.count("\n") for name in heads),
        grid=True,
        gridColor="#999999",
        labelLimit=step,
    )
    x = alt.X("axis:N", sort=heads, scale=alt.Scale(domain=heads), axis=axis)
    rows, ticks = line_data(columns, lines, step), tick_data(columns, result.scale, step)
    low = min([row["height"] for row in rows] + [0.0]) - 0.03
    y = alt.Y("height:Q", axis=None, scale=alt.Scale(domain=[low, 1.03], nice=False))
    inks = [theme.INK, *(theme.CATEGORIES[i % len(theme.CATEGORIES)] for i in range(answers))]
    colour = alt.Color("line:N", sort=lines, scale=alt.Scale(domain=lines, range=inks), legend=alt.Legend(title=None))
    tips = tooltips(("line", "line"), ("feature", "feature"), ("value", "text"))
    base = alt.Chart(data(rows)).encode(x=x, y=y, color=colour, tooltip=tips)
    layers: list[ChartType] = [
        base.mark_line(strokeWidth=2.2, opacity=0.9).encode(
            order=alt.Order("order:Q"),
            detail=alt.Detail("line:N"),
            strokeDash=alt.condition(f"datum.line == '{NOW}'", alt.value([5, 3]), alt.value([1, 0])),
        ),
        base.mark_circle(size=55, opacity=1),
    ]
    for stroke in ("white", None):
        words = alt.Chart(data(ticks)).mark_text(align="right", dx=-7, fontSize=10.5, color=theme.MUTED)
        words = words.encode(x=x, y=y, text=alt.Text("label:N"))
        if stroke:
            words = words.encode(stroke=alt.value(stroke), strokeWidth=alt.value(3))
        layers.append(words)
    chart = layered(*layers).properties(width=width, height=height)
    left_out = used(result, answers, options.max_features)[1]
    what = f"The row (dashed) and its answers in parallel coordinates{result.row_labels.of_row()}"
    return told(chart, result, options, what, notes(result, answers, left_out), width)
