"""Decision lines: each row's way from the base to its prediction, feature by feature, the same features for all."""

from __future__ import annotations

import altair as alt
import numpy as np
from altair.typing import ChartType

from pellucid.charts import theme
from pellucid.charts.attribution.entries import change, evenly, fold, prediction_title, rows_note, short_names
from pellucid.charts.layout import Row, bounds, data, layered, level_axis, limits_of, tooltips, value_axis, value_labels
from pellucid.charts.text import shown, wrapped
from pellucid.explanations import Attribution
from pellucid.explanations.attribution_words import labels_of, start_name
from pellucid.explanations.plot_options import AttributionOptions

_MOST_LINES = 150


def notes(attribution: Attribution, _: AttributionOptions) -> list[str]:
    """How to read the lines, and how many are left out."""
    drawn = rows_note(min(len(attribution), _MOST_LINES), attribution, "lines: ")
    return ["read upwards: each feature moves the line by its contribution", *drawn]


def decision_data(attribution: Attribution, output: str, max_display: int = 12) -> list[Row]:
    """One row per line and step, from the base at the bottom to the prediction at the top.

    Features stand in the order of their mean absolute contribution, the largest on top; the small ones are one step.
    """
    one = attribution.for_output(output)
    kept, rest = fold(attribution.ranking, max_display)
    names = step_names(attribution, max_display)
    rows: list[Row] = []
    for i in evenly(len(one), _MOST_LINES):
        parts = [*([one.values[i, rest].sum()] if len(rest) else []), *one.values[i, kept[::-1]]]
        ends = float(one.base) + np.cumsum([0.0, *parts])
        said = ["", *(change(float(part), one.scale) for part in parts), ""]
        # The prediction is one more step up, so that the last contribution is seen.
        for n, (name, at) in enumerate(zip(names, [*ends, float(one.prediction[i])], strict=True)):
            rows.append(
                {
                    "line": f"{i}",
                    "row": one.row_labels.name(i),
                    "step": name,
                    "at": float(at),
                    "order": n,
                    "prediction": float(one.prediction[i]),
                    "label": said[n],
                    "at_text": shown(float(at), one.scale, change=False),
                }
            )
    return rows


def step_names(attribution: Attribution, max_display: int) -> list[str]:
    """The levels from bottom to top: the base, the small ones together, the features, the prediction."""
    kept, rest = fold(attribution.ranking, max_display)
    labels = labels_of(attribution, 0) if len(attribution) == 1 else list(attribution.feature_names)
    folded = [f"{len(rest)} others"] if len(rest) else []
    return short_names([start_name(attribution), *folded, *(labels[j] for j in kept[::-1]), "prediction"])


def view(attribution: Attribution, output: str, options: AttributionOptions, width: float) -> ChartType:
    """The lines of one output, coloured by where they end."""
    rows = decision_data(attribution, output, options.max_display)
    names = step_names(attribution, options.max_display)[::-1]
    height = options.height or max(120.0, 26.0 * len(names))
    limits = limits_of([row["at"] for row in rows], within=bounds(attribution.scale, change=False))
    x = alt.X("at", **value_axis(prediction_title(attribution, output), limits, width, scale=attribution.scale))
    y = alt.Y("step", **level_axis(None, names, height, grid=True))
    within = bounds(attribution.scale, change=False)
    ends = limits_of(attribution.prediction, within=within)  # of all outputs, which share their colours
    legend = alt.Legend(
        type="gradient",
        title=wrapped("prediction", 120, 12),
        **value_labels(ends, attribution.scale, change=False),
        gradientLength=100,
    )
    scale = alt.Scale(scheme=theme.SEQUENTIAL_LINES, domain=list(ends), nice=False, zero=False)
    many = len({row["line"] for row in rows}) > 1
    colour = alt.Color("prediction", type="quantitative", scale=scale, legend=legend)
    tips = tooltips(("row", "row"), ("", "step"), ("contribution", "label"), ("leads to", "at_text"))
    base = alt.Chart(data(rows)).encode(x=x, y=y, color=colour if many else alt.ColorValue(theme.MAIN))
    lines = base.mark_line(strokeWidth=1.5, opacity=0.35 if len(attribution) > 40 else 0.7)
    dots = base.mark_point(filled=True, size=30, opacity=0 if many else 1)
    start = alt.Chart(data([{}])).mark_rule(color=theme.FAINT, strokeDash=[4, 4])
    return layered(
        start.encode(x=alt.XDatum(float(attribution.for_output(output).base))),
        lines.encode(detail=alt.Detail("line:N"), order=alt.Order("order:Q")),
        dots.encode(tooltip=tips),
    ).properties(width=width, height=height)
