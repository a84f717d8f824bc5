"""Bars or a matrix: how strongly features act together."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
from altair.typing import ChartType

from pellucid.arrays import FloatArray, IntArray
from pellucid.charts import theme
from pellucid.charts.layout import (
    Row,
    by_output,
    data,
    grid,
    layered,
    level_axis,
    limits_of,
    number_format,
    plain,
    told,
    tooltips,
    value_axis,
)
from pellucid.charts.marks import text_layers
from pellucid.charts.text import caveat_note, level_names, scale_words, wrapped
from pellucid.errors import InputError
from pellucid.explanations import Interactions
from pellucid.explanations.network import pooled_additive, pooled_costs
from pellucid.explanations.plot_options import InteractionOptions
from pellucid.words import number, percent

_COLUMNS = 3  # outputs side by side
_STEP = 22.0  # pixels per bar
_PRINTED = 12  # up to so many features the values are printed in the cells
_SIGNIFICANT = 0.05
_NORMALISED = {
    "h": "Friedman's H",
    "greenwell": "Greenwell's strength / sd of predictions",
    "shap": "share of all SHAP attributions",
}
_PLAIN = {
    "h": "unnormalised H, in units of the prediction",
    "greenwell": "Greenwell's strength, in units of the prediction",
    "shap": "mean absolute SHAP interaction",
}


def interaction_data(interactions: Interactions, max_display: int = 20) -> list[Row]:
    """One row per output and set shown, the strongest first."""
    shown = shown_sets(interactions, max_display)
    labels = level_names(" × ".join(interactions.sets[s]) for s in shown)
    costs = _costs(interactions)
    rows: list[Row] = []
    for k, output in enumerate(_outputs(interactions)):
        for s, label in zip(shown, labels, strict=True):
            at = {name: _cell(interactions, name, s, k) for name in _FIELDS}
            value, low, high, strength, p = plain([at[name] for name in _FIELDS])
            known = low is not None and high is not None
            rows.append(
                {
                    "output": output,
                    "set": label,
                    "value": value,
                    "low": low if known else None,
                    "high": high if known else None,
                    "strength": strength,
                    "confirmed": p is not None and p <= _SIGNIFICANT,
                    "value_text": number(at["values"]),
                    "interval_text": f"{number(low)} to {number(high)}" if known else "unknown",
                    "strength_text": number(at["strength"]),
                    "p_text": "unknown" if p is None else f"{p:.2g}",
                    "cost_text": costs.get(s, "unknown"),
                }
            )
    return rows


_FIELDS = ("values", "low", "high", "strength", "adjusted")


def shown_sets(interactions: Interactions, max_display: int) -> IntArray:
    """The strongest sets; those without any interaction only if there are no others."""
    some = interactions.ranking[interactions.overall[interactions.ranking] > 0]
    return (some if len(some) else interactions.ranking)[:max_display]


def matrix_data(interactions: Interactions, max_display: int = 20) -> list[Row]:
    """One row per output and ordered pair of the features shown; pairs that were not asked about are left out."""
    if interactions.against != "pairs":
        raise InputError(
            f"kind='matrix' shows pairs; this result has against={interactions.against!r}, so use kind='bars'."
        )
    names = list(dict.fromkeys(name for pair in interactions.top(len(interactions.sets)) for name in pair))
    names = names[:max_display]
    labels = dict(zip(names, level_names(names), strict=True))
    top = _largest(interactions)
    rows: list[Row] = []
    for k, output in enumerate(_outputs(interactions)):
        for s, (a, b) in enumerate(interactions.sets):
            value = _cell(interactions, "values", s, k)
            for one, other in ((a, b), (b, a)):
                if one in labels and other in labels and np.isfinite(value):
                    rows.append(
                        {
                            "output": output,
                            "feature": labels[one],
                            "other": labels[other],
                            "value": value,
                            "value_text": number(value),
                            "strength_text": number(_cell(interactions, "strength", s, k)),
                            "label": f"{value:.2f}" if value > 0 and top < 10 else number(value),
                            "ink": "white" if value > 0.55 * top else "black",
                        }
                    )
    return rows


def body(interactions: Interactions, options: InteractionOptions) -> ChartType:
    """The Altair chart of interactions."""
    outputs = _outputs(interactions)
    if options.kind == "matrix":
        rows = matrix_data(interactions, options.max_display)
        views = [_matrix(interactions, _of(rows, output), rows, options) for output in outputs]
    elif len(outputs) == 1:
        rows = interaction_data(interactions, options.max_display)
        views = [_beside(interactions, rows, options)]
    else:
        rows = interaction_data(interactions, options.max_display)
        wide = options.width or 200.0
        views = [
            _bars(interactions, _of(rows, output), rows, (wide, options.height), labels=k % _COLUMNS == 0)
            for k, output in enumerate(outputs)
        ]
    notes = [_hidden(interactions, options), _confirmed(interactions), _lost(interactions), caveat_note(interactions)]
    chart = by_output(views, outputs, columns=_COLUMNS, column=16)
    return told(chart, interactions, options, _title(interactions), notes, (options.width or 260.0) + 250)


# -- bars ----------------------------------------------------------------------------------------------


def _beside(interactions: Interactions, rows: list[Row], options: InteractionOptions) -> ChartType:
    """Values, and where they are normalised what they are in the units of the prediction."""
    both = interactions.normalized and any(row["strength"] is not None for row in rows)
    wide = options.width or (260.0 if both else 360.0)
    first = _bars(interactions, rows, rows, (wide, options.height), labels=True)
    if not both:
        return first
    title = f"in units of the prediction{scale_words(interactions)}"
    second = _bars(interactions, rows, rows, (wide / 2, options.height), labels=False, field="strength", title=title)
    return grid([first, second], columns=2, column=14, bounds="flush")


def _bars(
    interactions: Interactions,
    rows: list[Row],
    every: list[Row],
    size: tuple[float, float | None],
    *,
    labels: bool,
    field: str = "value",
    title: str | None = None,
) -> ChartType:
    """Bars of one field, with intervals where they are values; ``every`` row of all views fixes the axis."""
    names = list(dict.fromkeys(row["set"] for row in every))
    wide, tall = size[0], size[1] or max(40.0, _STEP * len(names))
    side: dict[str, Any] = {} if labels else {"labels": False, "ticks": False}
    y = alt.Y("set", **level_axis(None, names, tall, **side))
    fields = ("value", "low", "high") if field == "value" else (field,)
    most = limits_of([row[key] or 0.0 for row in every for key in fields], zero=True)[1]
    few: dict[str, Any] = {} if field == "value" else {"tickCount": 3}
    x = value_axis(title or _axis(interactions), (0.0, most), wide, **few)
    layers = _layers(interactions, rows, field, x, y)
    if field == "value":
        sure = alt.Chart(data([row for row in rows if row["low"] is not None]))
        rules = sure.mark_rule(color=theme.INK, strokeWidth=1.5)
        layers.append(rules.encode(x=alt.X("low", **x), x2=alt.X2("high"), y=y, tooltip=_tips(interactions)))
    return layered(*layers).properties(width=wide, height=tall)


def _layers(interactions: Interactions, rows: list[Row], field: str, x: Any, y: alt.Y) -> list[alt.Chart]:
    """Bars: full where confirmed by the outcome, or where that was not asked; else pale."""
    tested = interactions.adjusted is not None
    layers = []
    for confirmed, opacity in ((True, 0.75), (False, 0.3 if tested else 0.75)):
        some = [row for row in rows if row["confirmed"] is confirmed and row[field] is not None]
        bars = alt.Chart(data(some)).mark_bar(color=theme.MAIN, opacity=opacity)
        layers.append(bars.encode(x=alt.X(field, **x), y=y, tooltip=_tips(interactions)))
    return layers


def _tips(interactions: Interactions) -> list[alt.Tooltip]:
    what = "feature" if interactions.against == "all" else "features"
    pairs = [(what, "set"), (_axis(interactions), "value_text"), ("95% interval", "interval_text")]
    pairs += [("in units of the prediction", "strength_text")] if interactions.normalized else []
    pairs += [("p, adjusted", "p_text")] if interactions.adjusted is not None else []
    return tooltips(
        *pairs,
        *([("cost of leaving it out", "cost_text")] if interactions.parts and interactions.against != "all" else []),
    )


# -- matrix --------------------------------------------------------------------------------------------


def _matrix(interactions: Interactions, rows: list[Row], every: list[Row], options: InteractionOptions) -> ChartType:
    names = list(dict.fromkeys(row["feature"] for row in every))
    printed = len(names) <= _PRINTED
    size = max(80.0, (44.0 if printed else 18.0) * len(names))
    wide, tall = options.width or size, options.height or size * (0.75 if printed else 1.0)
    x = alt.X("other", **level_axis(None, names, wide, cells=True, labelAngle=-45))
    y = alt.Y("feature", **level_axis(None, names, tall, cells=True))
    top = _largest(interactions) or 1.0
    legend = alt.Legend(
        title=wrapped(_axis(interactions), 160, 12), format=number_format((0.0, top)), gradientLength=min(tall, 160.0)
    )
    tips = tooltips(
        ("feature", "feature"),
        ("with", "other"),
        (_axis(interactions), "value_text"),
        ("in units of the prediction", "strength_text"),
    )
    scale = alt.Scale(scheme=theme.STRENGTH, domain=[0, top], nice=False)
    colour = alt.Color("value", type="quantitative", scale=scale, legend=legend)
    layers = [alt.Chart(data(rows)).mark_rect().encode(x=x, y=y, tooltip=tips, color=colour)]
    if printed:
        layers += text_layers(rows, {"x": x, "y": y, "tooltip": tips})
    return layered(*layers).properties(width=wide, height=tall)


# -- words ---------------------------------------------------------------------------------------------


def _title(interactions: Interactions) -> str:
    what = {"pairs": "pairs of features", "triples": "three features", "all": "each feature with all others"}
    return f"Interaction of {what[interactions.against]}"


def _axis(interactions: Interactions) -> str:
    names = _NORMALISED if interactions.normalized else _PLAIN
    return names.get(interactions.method, interactions.measure)


def _hidden(interactions: Interactions, options: InteractionOptions) -> str:
    if options.kind == "matrix":
        return ""
    none = int((interactions.overall == 0).sum())
    if none == len(interactions.sets):
        return "no interaction at all"
    more = len(interactions.sets) - none - options.max_display
    hidden = f"{more} more not shown" if more > 0 else ""
    return "; ".join(note for note in (hidden, f"{none} without interaction" if none else "") if note)


def _confirmed(interactions: Interactions) -> str:
    return "" if interactions.adjusted is None else "pale: not confirmed by the outcome (adjusted p above 5%)"


def _lost(interactions: Interactions) -> str:
    lost = pooled_additive(interactions)
    return f"all interactions together: {percent(lost)} of the variance" if np.isfinite(lost) else ""


def _costs(interactions: Interactions) -> dict[int, str]:
    """The cost of exclusion of each set in words; of several outputs the mean."""
    costs, errors = pooled_costs(interactions)
    said = {
        frozenset(part): f"{percent(float(cost))} of the variance (se {percent(float(error))})"
        for part, cost, error in zip(interactions.parts, costs, errors, strict=True)
    }
    return {s: said.get(frozenset(names), "unknown") for s, names in enumerate(interactions.sets)}


# -- parts ---------------------------------------------------------------------------------------------


def _outputs(interactions: Interactions) -> list[str]:
    return list(interactions.output_names if interactions.values.ndim == 2 else interactions.output_names[:1])


def _of(rows: list[Row], output: str) -> list[Row]:
    return [row for row in rows if row["output"] == output]


def _cell(interactions: Interactions, field: str, s: int, k: int) -> float:
    part: FloatArray | None = getattr(interactions, field)
    if part is None:
        return np.nan
    return float(part[s] if part.ndim == 1 else part[s, k])


def _largest(interactions: Interactions) -> float:
    return float(np.nanmax(interactions.values)) if np.isfinite(interactions.values).any() else 0.0
