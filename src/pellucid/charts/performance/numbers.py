"""Numbers: predicted against actual values, and residuals along the prediction."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
from altair.typing import ChartType

from pellucid.arrays import FloatArray
from pellucid.charts import theme
from pellucid.charts.layout import Row, by_output, data, layered, limits_of, tooltips, value_axis
from pellucid.explanations import Performance
from pellucid.explanations.plot_options import PerformanceOptions
from pellucid.words import number


def point_data(found: Performance, k: int, most: int) -> list[Row]:
    """Some rows, evenly spaced: what was predicted for an output, what was true, and the difference."""
    n = len(found.actual)
    some = np.unique(np.linspace(0, n - 1, min(n, most)).astype(np.intp))
    return [
        {
            "predicted": float(f),
            "actual": float(y),
            "residual": float(y - f),
            "predicted_text": number(float(f)),
            "actual_text": number(float(y)),
            "residual_text": number(float(y - f), sign=True),
        }
        for y, f in zip(found.actual[some, k], found.predicted[some, k], strict=True)
    ]


def bin_data(found: Performance, k: int) -> list[Row]:
    """One row per bin of predictions: mean outcome, mean residual with its interval, the middle 80% of residuals."""
    bins = found.bins[k]
    return [
        {
            "predicted": float(f),
            "actual": float(y),
            "residual": float(y - f),
            "low": float(low - f) if np.isfinite(low) else None,
            "high": float(high - f) if np.isfinite(high) else None,
            "tenth": float(tenth),
            "ninetieth": float(ninetieth),
            "predicted_text": number(float(f)),
            "actual_text": number(float(y)),
            "residual_text": number(float(y - f), sign=True),
            "rows_text": number(float(rows)),
        }
        for f, y, low, high, tenth, ninetieth, rows in zip(
            bins.predicted, bins.observed, bins.low, bins.high, bins.tenth, bins.ninetieth, bins.rows, strict=True
        )
    ]


def predicted(found: Performance, options: PerformanceOptions) -> ChartType:
    """A dot for each of some rows, the diagonal of right predictions, and the mean outcome of each bin."""
    return by_output([_predicted(found, k, options) for k in range(len(found.output_names))], found.output_names)


def residuals(found: Performance, options: PerformanceOptions) -> ChartType:
    """A dot for each of some rows, with the mean of each bin, its interval, and the middle 80% of the residuals."""
    return by_output([_residuals(found, k, options) for k in range(len(found.output_names))], found.output_names)


_DOT = (("prediction", "predicted_text"), ("outcome", "actual_text"), ("residual", "residual_text"))
_BIN = (("mean prediction", "predicted_text"), ("mean outcome", "actual_text"), ("rows", "rows_text"))


def _predicted(found: Performance, k: int, options: PerformanceOptions) -> ChartType:
    width, height = options.width or theme.WIDTH * 0.9, options.height or theme.HEIGHT
    limits = limits_of(found.actual[:, k], found.predicted[:, k])
    x, y = (
        {"type": "quantitative", **value_axis(title, limits, pixels)}
        for title, pixels in (("predicted", width), ("actual", height))
    )
    ends = [{"predicted": end, "actual": end} for end in limits]
    line = alt.Chart(data(ends)).mark_line(color=theme.MUTED, strokeDash=[5, 4], strokeWidth=1.5)
    dots = _dots(point_data(found, k, options.max_rows))
    bins = alt.Chart(data(bin_data(found, k)))
    place: dict[str, Any] = {"x": alt.X("predicted", **x), "y": alt.Y("actual", **y)}
    views = [
        dots.encode(**place, tooltip=tooltips(*_DOT)),
        line.encode(**place),
        bins.mark_line(color=theme.SECOND, strokeWidth=2).encode(**place),
        bins.mark_point(color=theme.SECOND, filled=True, size=45, opacity=1).encode(**place, tooltip=tooltips(*_BIN)),
    ]
    return layered(*views).properties(width=width, height=height)


def _residuals(found: Performance, k: int, options: PerformanceOptions) -> ChartType:
    width, height = options.width or theme.WIDTH * 0.9, options.height or theme.HEIGHT
    rest: FloatArray = found.actual[:, k] - found.predicted[:, k]
    across = limits_of(found.predicted[:, k])
    x = alt.X("predicted", **value_axis("predicted", across, width))
    axis = value_axis("residual (actual minus predicted)", limits_of(rest, zero=True), height)
    bins = alt.Chart(data(bin_data(found, k)))
    zero = alt.Chart(data([{}])).mark_rule(color=theme.MUTED, strokeDash=[5, 4], strokeWidth=1.5)
    middle = bins.mark_area(color=theme.SECOND, opacity=0.12)
    sure = bins.transform_filter(alt.FieldValidPredicate("low", valid=True)).mark_rule(
        color=theme.SECOND, strokeWidth=2
    )
    tips = tooltips(*_BIN, ("mean residual", "residual_text"))
    views = [
        middle.encode(x=x, y=alt.Y("tenth", **axis), y2=alt.Y2("ninetieth")),
        _dots(point_data(found, k, options.max_rows)).encode(x=x, y=alt.Y("residual", **axis), tooltip=tooltips(*_DOT)),
        zero.encode(y=alt.YDatum(0)),
        bins.mark_line(color=theme.SECOND, strokeWidth=2).encode(x=x, y=alt.Y("residual", **axis)),
        sure.encode(x=x, y=alt.Y("low", **axis), y2=alt.Y2("high")),
        bins.mark_point(color=theme.SECOND, filled=True, size=45, opacity=1).encode(
            x=x, y=alt.Y("residual", **axis), tooltip=tips
        ),
    ]
    return layered(*views).properties(width=width, height=height)


def _dots(rows: list[Row]) -> alt.Chart:
    return alt.Chart(data(rows)).mark_circle(size=22, opacity=0.35, color=theme.MAIN)
