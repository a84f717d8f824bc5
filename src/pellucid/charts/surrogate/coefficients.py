"""Coefficients of a linear surrogate: how much the prediction varies with each feature, up or down."""

from __future__ import annotations

import altair as alt
import numpy as np
from altair.typing import ChartType

from pellucid.charts import theme
from pellucid.charts.layout import Row, data, layered, level_axis, limits_of, tooltips, value_axis
from pellucid.charts.text import level_names, scale_words
from pellucid.explanations import Surrogate
from pellucid.explanations.plot_options import SurrogateOptions
from pellucid.explanations.surrogate import LinearTerms
from pellucid.explanations.surrogate_words import amount
from pellucid.words import number, quantity

_ROW = 24


def coefficients(found: Surrogate, options: SurrogateOptions, output: int) -> tuple[ChartType, float]:
    """A bar for each feature: what it adds varies by so much, to the right where more of it raises the prediction."""
    terms = found.terms
    assert terms is not None
    rows = bar_data(found, terms, output, options.top)
    width, height = options.width or theme.WIDTH, options.height or _ROW * max(len(rows), 2)
    low, high = limits_of([row["value"] for row in rows], zero=True)
    room = 0.45 * (high - low)
    ends = (low - (room if low < 0 and any(row["value"] < 0 for row in rows) else 0.0), high + room)
    title = f"standard deviation of what the feature adds{scale_words(found, found.output_names[output])}"
    x = alt.X("value", **value_axis(title, ends, width, scale=found.scale, change=True))
    y = alt.Y("feature", **level_axis(None, [row["feature"] for row in rows], height))
    chart = alt.Chart(data(rows))
    shade = alt.condition("datum.value >= 0", alt.value(theme.MAIN), alt.value(theme.SECOND))
    tips = tooltips(("feature", "feature"), ("adds, standard deviation", "value_text"), ("coefficient", "words"))
    views: list[ChartType] = [chart.mark_bar().encode(x=x, y=y, color=shade, tooltip=tips)]
    for side, align, dx in (("datum.value >= 0", "left", 4), ("datum.value < 0", "right", -4)):
        beside = chart.transform_filter(side)
        text = beside.mark_text(align=align, dx=dx, fontSize=11)  # type: ignore[arg-type]  # words
        views.append(text.encode(x=x, y=y, text="words:N"))
    return layered(*views).properties(width=width, height=height), width


def bar_data(found: Surrogate, terms: LinearTerms, output: int, top: int) -> list[Row]:
    """One line per feature, the strongest first."""
    order = np.argsort(-terms.strengths[:, output], kind="stable")[:top]
    names = level_names([terms.features[k] for k in order])
    return [_line(found, terms, int(k), output, name) for k, name in zip(order, names, strict=True)]


def _line(found: Surrogate, terms: LinearTerms, k: int, output: int, name: str) -> Row:
    own = [c for c, owner in enumerate(terms.owners) if owner == terms.features[k]]
    values = terms.coefficients[own, output]
    strength = float(terms.strengths[k, output])
    plain = [c for c in own if terms.names[c] == terms.features[k]]
    if plain:
        slope = float(terms.coefficients[plain[0], output])
        said = f"{quantity(slope, found.scale, change=True)} per unit"
        signed = strength if slope >= 0 else -strength
    else:
        high, low = own[int(np.argmax(values))], own[int(np.argmin(values))]
        ends = [(terms.names[c].partition(": ")[2], float(terms.coefficients[c, output])) for c in (high, low)]
        said = ", ".join(f"{level} {quantity(value, found.scale, change=True)}" for level, value in ends)
        signed = strength
    return {
        "feature": name,
        "value": signed,
        "value_text": amount(found, strength) if strength else number(0.0),
        "words": said,
    }
