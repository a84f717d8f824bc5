"""Calibration: of the rows that are given a probability, how many turn out that way?"""

from __future__ import annotations

import altair as alt
from altair.typing import ChartType

from pellucid.charts import theme
from pellucid.charts.layout import Row, data, layered, tooltips
from pellucid.charts.performance.classes import class_colour, panel_size, share_axis
from pellucid.explanations import Performance
from pellucid.explanations.plot_options import PerformanceOptions
from pellucid.words import number, percent


def calibration_data(found: Performance) -> list[Row]:
    """One row per class and bin of probabilities."""
    return [
        {
            "class": name,
            "predicted": float(f),
            "observed": float(y),
            "low": float(low),
            "high": float(high),
            "predicted_text": percent(float(f)),
            "observed_text": f"{percent(float(y))} (95% interval {percent(float(low))} to {percent(float(high))})",
            "rows_text": number(float(rows)),
        }
        for name, bins in zip(found.output_names, found.bins, strict=True)
        for f, y, low, high, rows in zip(bins.predicted, bins.observed, bins.low, bins.high, bins.rows, strict=True)
    ]


def calibration(found: Performance, options: PerformanceOptions) -> ChartType:
    """The share of each class over its mean probability, bin by bin, with intervals; the diagonal is right."""
    x, y = share_axis("predicted probability"), share_axis("share observed")
    right = alt.Chart(data([{"x": 0, "y": 0}, {"x": 1, "y": 1}])).mark_line(
        color=theme.MUTED, strokeDash=[5, 4], strokeWidth=1.5
    )
    base = alt.Chart(data(calibration_data(found)))
    colour = class_colour(found, {name: name for name in found.output_names})
    tips = tooltips(
        ("class", "class"), ("predicted", "predicted_text"), ("observed", "observed_text"), ("rows", "rows_text")
    )
    place = {"x": alt.X("predicted", **x), "color": colour}
    views = [
        right.encode(x=alt.X("x", **x), y=alt.Y("y", **y)),
        base.mark_line(strokeWidth=1.5).encode(**place, y=alt.Y("observed", **y)),
        base.mark_rule(strokeWidth=2).encode(**place, y=alt.Y("low", **y), y2=alt.Y2("high")),
        base.mark_point(filled=True, size=45, opacity=1).encode(**place, y=alt.Y("observed", **y), tooltip=tips),
    ]
    return layered(*views).properties(**panel_size(options))
