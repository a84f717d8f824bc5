"""Bars of effects, one panel per row, all with the same limits so that rows compare."""

from __future__ import annotations

import altair as alt
from altair.typing import ChartType

from pellucid.charts import theme
from pellucid.charts.attribution.entries import DOWN, UP, change, half_widths, short_names
from pellucid.charts.layout import Limits, Row, grid, layered, level_axis, limits_of, told, tooltips, value_axis
from pellucid.charts.local.bars import signed_bars
from pellucid.charts.text import caveat_note, shown, wrapped
from pellucid.explanations.attribution_words import labels_of, scale_of, sequence, starting_point
from pellucid.explanations.local_attribution import LocalModel
from pellucid.explanations.plot_options import LocalOptions
from pellucid.words import number

_STEP = 24.0


def effect_data(one: LocalModel, i: int, max_display: int = 12) -> list[Row]:
    """One bar per feature with an effect in a row, largest first."""
    order = [int(j) for j in sequence(one, i) if one.values[i, j] != 0][:max_display]
    labels, halves = labels_of(one, i), half_widths(one)[i]
    rows: list[Row] = []
    for name, j in zip(short_names(labels[j] for j in order), order, strict=True):
        value, half = float(one.values[i, j]), float(halves[j])
        rows.append(
            {
                "feature": name,
                "full": labels[j],
                "value": value,
                "sort": UP if value >= 0 else DOWN,
                "low": value - half if half > 0 else None,
                "high": value + half if half > 0 else None,
                "label": change(value, one.scale, half),
                "weight": number(one.weight_of(j, i), sign=True),
            }
        )
    return rows


def body(result: LocalModel, options: LocalOptions) -> ChartType:
    """A panel for each of the first rows and outputs."""
    outputs, n = result.output_names, min(len(result), options.max_rows)
    tables = {
        (i, name): effect_data(result.for_output(name), i, options.max_display) for i in range(n) for name in outputs
    }
    every = [row for rows in tables.values() for row in rows]
    ends = [row[end] for row in every for end in ("value", "low", "high") if row[end] is not None]
    limits = limits_of(ends, zero=True)
    width = options.width or (theme.WIDTH if len(outputs) == 1 else 240.0)
    views = [_panel(result, i, name, rows, limits, width, options) for (i, name), rows in tables.items()]
    chart = views[0] if len(views) == 1 else grid(views, columns=len(outputs) if len(outputs) > 1 else 1)
    more = [f"the first {n} of {len(result)} rows"] if n < len(result) else []
    thin = ["thin lines: 95% intervals"] if (result.se > 0).any() else []
    alone = [numbers(result.for_output(outputs[0]), 0)] if len(views) == 1 else []
    notes = [*alone, f"effects start from {starting_point(result)}", *more, *thin, caveat_note(result)]
    what = "Effects in the local surrogate (LIME)" if n == 1 else "Effects in the local surrogates (LIME)"
    return told(chart, result, options, what, notes, len(outputs) * (width + 150))


def numbers(one: LocalModel, i: int) -> str:
    """The prediction of a row, that of its local model, and how well this fits."""
    predicted, local = float(one.prediction[i]), float(one.local_prediction[i])
    return (
        f"prediction {shown(predicted, one.scale, change=False)}, local model {shown(local, one.scale, change=False)}, "
        f"R² {number(float(one.fidelity[i]))}"
    )


def _panel(
    result: LocalModel, i: int, output: str, rows: list[Row], limits: Limits, width: float, options: LocalOptions
) -> ChartType:
    one = result.for_output(output)
    height = options.height or max(40.0, _STEP * len(rows))
    what = f"effect on the prediction{scale_of(one, output)}"
    x = value_axis(what, limits, width, scale=one.scale, change=True, tickCount=5)
    y = alt.Y("feature", **level_axis(None, [row["feature"] for row in rows], height))
    tips = tooltips(("", "full"), ("effect", "label"), ("weight", "weight"))
    layers = signed_bars(rows, x, y, tips, limits)
    words = [
        f"row {result.row_labels.name(i)}" if len(result) > 1 else "",
        output if len(result.output_names) > 1 else "",
        numbers(one, i),
    ]
    name = ": ".join(word for word in words if word)
    return layered(*layers).properties(
        width=width, height=height, title=alt.TitleParams(wrapped(name, width + 20, 12), fontSize=12, frame="group")
    )
