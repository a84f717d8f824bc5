"""Coefficients with their intervals: a dot and a line per column, around no effect."""

from __future__ import annotations

import altair as alt
import numpy as np
from altair.typing import ChartType

from pellucid.arrays import FloatArray
from pellucid.charts import theme
from pellucid.charts.layout import (
    Limits,
    Row,
    by_output,
    data,
    layered,
    level_axis,
    limits_of,
    told,
    tooltips,
    value_axis,
)
from pellucid.charts.text import caveat_note, level_names
from pellucid.explanations.coefficients import Coefficients
from pellucid.explanations.plot_options import CoefficientsOptions
from pellucid.words import number, percent

_STEP = 22.0
_COLUMNS = 3  # outputs side by side


def body(found: Coefficients, options: CoefficientsOptions) -> ChartType:
    """One view per output, the strongest columns first; the intercept is left out."""
    first = found.slopes_from
    parts = [found.stacked(name)[first:] for name in ("values", "low", "high")]
    if options.standardised:
        parts = [part * found.scales[first:, None] for part in parts]
    strength = np.abs(found.stacked("values")[first:] * found.scales[first:, None]).max(axis=1)
    # Slopes stay in the order of the levels that they are at.
    order = np.argsort(-strength, kind="stable") if first else np.arange(len(strength))
    shown = order[: options.max_display]
    parts = [part[shown] for part in parts]
    names = level_names([found.feature_names[j + first] for j in shown])
    limits = limits_of(*parts, zero=True)
    outputs = list(found.output_names)
    wide = options.width or (theme.WIDTH - 60 if len(outputs) == 1 else 200.0)
    size = (wide, options.height or max(40.0, _STEP * len(names)))
    views = [
        _view(names, [part[:, k] for part in parts], limits, size, options, labels=k % _COLUMNS == 0)
        for k in range(len(outputs))
    ]
    left = len(strength) - len(shown)
    notes = [
        f"lines: {percent(found.level)} intervals" if np.isfinite(parts[1]).any() else "",
        f"{left} weaker columns not shown" if left else "",
        caveat_note(found),
    ]
    return told(
        by_output(views, outputs, columns=_COLUMNS, column=16),
        found,
        options,
        "Coefficients" if first else "Slopes",
        notes,
        wide + 150,
    )


def _view(
    names: list[str],
    parts: list[FloatArray],
    limits: Limits,
    size: tuple[float, float],
    options: CoefficientsOptions,
    *,
    labels: bool,
) -> ChartType:
    rows: list[Row] = [
        {
            "column": name,
            "value": float(value),
            "low": float(low) if np.isfinite(low) else None,
            "high": float(high) if np.isfinite(high) else None,
            "value_text": number(float(value)),
            "interval_text": f"{number(float(low))} to {number(float(high))}" if np.isfinite(low) else "unknown",
            "unsure": bool(low <= 0 <= high),
        }
        for name, value, low, high in zip(names, *parts, strict=True)
    ]
    title = "change per standard deviation" if options.standardised else "coefficient"
    x = value_axis(title, limits, size[0])
    y = alt.Y("column", **level_axis(None, names, size[1], **({} if labels else {"labels": False, "ticks": False})))
    tips = tooltips(("column", "column"), ("coefficient", "value_text"), ("interval", "interval_text"))
    pale = alt.condition("datum.unsure", alt.value(0.4), alt.value(1.0))
    zero = alt.Chart(data([{}])).mark_rule(color=theme.MUTED).encode(x=alt.XDatum(0.0))
    known = alt.Chart(data([row for row in rows if row["low"] is not None])).mark_rule(color=theme.MAIN, strokeWidth=2)
    dots = alt.Chart(data(rows)).mark_point(filled=True, size=60, color=theme.MAIN, opacity=1)
    lines = known.encode(y=y, x=alt.X("low", **x), x2=alt.X2("high"), opacity=pale, tooltip=tips)
    return layered(zero, lines, dots.encode(y=y, x=alt.X("value", **x), opacity=pale, tooltip=tips)).properties(
        width=size[0], height=size[1]
    )
