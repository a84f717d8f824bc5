"""A heat map of interaction values: with their sign for one row, the mean absolute ones of several."""

from __future__ import annotations

import altair as alt
import numpy as np
from altair.typing import ChartType

from pellucid.arrays import FloatArray
from pellucid.charts import theme
from pellucid.charts.attribution.entries import not_shown, short_names
from pellucid.charts.layout import Row, data, layered, level_axis, tooltips, value_labels
from pellucid.charts.marks import text_layers
from pellucid.charts.text import shown, wrapped
from pellucid.errors import InputError
from pellucid.explanations import Attribution
from pellucid.explanations.attribution_words import INDICES, matrix_words, scale_of
from pellucid.explanations.plot_options import AttributionOptions
from pellucid.words import number

_PRINTED = 12  # up to so many features the values are printed in the cells


def notes(attribution: Attribution, options: AttributionOptions) -> list[str]:
    """What the cells hold."""
    return [*not_shown(attribution, options.max_display), matrix_words(attribution)]


def interaction_data(attribution: Attribution, output: str, max_display: int = 12) -> list[Row]:
    """One row per pair of features shown, in the order of their importance."""
    one = attribution.for_output(output)
    if one.interaction_values is None:
        raise InputError(
            "kind='interactions' needs interaction values; compute them with shap(rows, interactions=True), or"
            " shapley(..., order=2)."
        )
    order = attribution.ranking[:max_display]
    names = short_names(attribution.feature_names[j] for j in order)
    sizes = _averaged(one, one.interaction_values)[np.ix_(order, order)]
    largest = _largest(attribution)
    rows: list[Row] = []
    for a, name in enumerate(names):
        for b, other in enumerate(names):
            size = float(sizes[a, b])
            rows.append(
                {
                    "feature": name,
                    "other": other,
                    "sort": "on its own" if a == b else "half of the interaction",
                    "value": size,
                    "value_text": shown(size, one.scale, change=True, sign=len(one) == 1),
                    "label": number(100 * size if one.scale == "probability" else size, sign=len(one) == 1),
                    "ink": "white" if abs(size) > (0.75 if len(one) == 1 else 0.55) * largest else "black",
                }
            )
    return rows


def _averaged(attribution: Attribution, pairs: FloatArray) -> FloatArray:
    """The values of the only row, or the mean absolute ones."""
    return np.asarray(pairs[0] if len(attribution) == 1 else np.abs(pairs).mean(axis=0))


def _largest(attribution: Attribution) -> float:
    """The largest size in any output: they share their colours, so that views compare."""
    averaged = _averaged(attribution, attribution.stacked("interaction_values"))
    return float(np.abs(averaged).max(initial=0.0))


def view(attribution: Attribution, output: str, options: AttributionOptions, _: float) -> ChartType:
    """The matrix of one output."""
    rows = interaction_data(attribution, output, options.max_display)
    names = list(dict.fromkeys(row["feature"] for row in rows))
    printed = len(names) <= _PRINTED
    size = max(80.0, (46.0 if printed else 20.0) * len(names))
    wide, height = options.width or size, options.height or size * (0.7 if printed else 1.0)
    x = alt.X("other", **level_axis(None, names, wide, cells=True, labelAngle=-45))
    y = alt.Y("feature", **level_axis(None, names, height, cells=True))
    top, single = _largest(attribution) or 1.0, len(attribution) == 1
    only = output if len(attribution.output_names) == 1 else "output"
    cells = "; in cells percentage points" if attribution.scale == "probability" and printed else ""
    index = "shapley" if attribution.interactions is None else attribution.interactions.index
    named = "" if index == "shapley" else f"{INDICES[index]} "
    legend = alt.Legend(
        title=wrapped(
            f"{'' if single else 'mean absolute '}{named}interaction value{scale_of(attribution, only)}{cells}", 170, 12
        ),
        **value_labels((-top if single else 0.0, top), attribution.scale, change=True),
        gradientLength=max(60.0, min(height, 160.0)),
    )
    scale = (
        alt.Scale(scheme=theme.DIVERGING, domain=[-top, top], domainMid=0, nice=False)
        if single
        else alt.Scale(scheme=theme.STRENGTH, domain=[0, top], nice=False)
    )
    tips = tooltips(
        ("feature", "feature"), ("with", "other"), ("", "sort"), ("value" if single else "mean size", "value_text")
    )
    squares = alt.Chart(data(rows)).mark_rect()
    colour = alt.Color("value", type="quantitative", scale=scale, legend=legend)
    layers = [squares.encode(x=x, y=y, tooltip=tips, color=colour)]
    if printed:
        layers += text_layers(rows, {"x": x, "y": y, "tooltip": tips})
    return layered(*layers).properties(width=wide, height=height)
