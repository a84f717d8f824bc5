"""Violins of contributions: one per feature, as thick as rows are many, coloured by the mean value of the feature
there.

The density is that of a normal kernel with Silverman's width, at 80 places between the ends; every violin is as thick
at its thickest as the others, so that thickness compares within a feature only.
"""

from __future__ import annotations

import json
from typing import Any

import altair as alt
import numpy as np
from altair.typing import ChartType

from pellucid.arrays import AnyArray, FloatArray
from pellucid.charts import theme
from pellucid.charts.attribution.beeswarm import by_rank, ranks
from pellucid.charts.attribution.entries import axis_title, has_legend, not_shown, short_names
from pellucid.charts.layout import Row, data, layered, limits_of, tooltips, value_axis
from pellucid.charts.marks import zero_line
from pellucid.charts.text import brief
from pellucid.explanations import Attribution
from pellucid.explanations.plot_options import AttributionOptions

_PLACES = 80
_HALF = 0.42  # of the room between two features
_LEAST = 0.002  # of the thickest place: thinner ones are left out


def notes(attribution: Attribution, options: AttributionOptions) -> list[str]:
    """What thickness, dots and colours mean."""
    rows = violin_data(attribution, attribution.output_names[0], options.max_display)
    grey = ["grey: categories, or values without order"] if any(row["rank"] is None for row in rows) else []
    return [
        *not_shown(attribution, options.max_display),
        f"thickness: how many of the {len(attribution):,} rows; white dots: medians",
        *grey,
    ]


def density(values: FloatArray, places: FloatArray) -> FloatArray:
    """A normal kernel with Silverman's width: 0.9 n^(-1/5) times the spread."""
    quartiles = np.quantile(values, [0.25, 0.75])
    spread = min(float(values.std()), float(quartiles[1] - quartiles[0]) / 1.34) or float(values.std())
    width = max(0.9 * spread * len(values) ** -0.2, float(np.ptp(places)) / len(places)) or 1.0
    kernel = np.exp(-0.5 * ((places[:, None] - values[None, :]) / width) ** 2)
    return np.asarray(kernel.sum(axis=1))


def violin_data(attribution: Attribution, output: str, max_display: int = 12) -> list[Row]:
    """One slice per feature and place: from ``x`` to ``x2``, as thick as rows are many, and the ``rank`` of values."""
    one, shown_features = attribution.for_output(output), attribution.ranking[:max_display]
    names = short_names(attribution.feature_names[j] for j in shown_features)
    rows: list[Row] = []
    for at, (name, j) in enumerate(zip(names, shown_features, strict=True)):
        values, places = np.nan_to_num(one.values[:, j]), ranks(attribution, j)
        edges = np.linspace(values.min(), values.max(), _PLACES + 1)
        if not edges[-1] > edges[0]:
            edges = np.array([edges[0] - 1e-9, edges[0] + 1e-9])
        middles = (edges[1:] + edges[:-1]) / 2
        thick = density(values, middles)
        bins = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, len(middles) - 1)
        for b in np.flatnonzero(thick > _LEAST * thick.max()):
            rank = _mean_rank(places, bins, int(b))
            half = _HALF * float(thick[b] / thick.max())
            rows.append(
                {
                    "feature": name,
                    "x": float(edges[b]),
                    "x2": float(edges[b + 1]),
                    "y": at - half,
                    "y2": at + half,
                    "rank": rank,
                    "label": brief(float(middles[b]), one.scale, change=True),
                }
            )
    return rows


def _mean_rank(places: FloatArray, bins: AnyArray, b: int) -> float | None:
    """The mean place of the values near a slice, of the nearest slices that have any."""
    known = np.isfinite(places)
    if not known.any():
        return None
    away = np.abs(bins[known] - b)
    return round(float(places[known][away <= max(int(away.min()), 1)].mean()), 3)


def view(attribution: Attribution, output: str, options: AttributionOptions, width: float) -> ChartType:
    """The violins of one output; the legend stands at the right of the first line."""
    rows = violin_data(attribution, output, options.max_display)
    names = list(dict.fromkeys(row["feature"] for row in rows))
    height = options.height or max(60.0, 34.0 * len(names))
    limits = limits_of([row["x"] for row in rows], [row["x2"] for row in rows], zero=True)
    x = value_axis(axis_title(attribution, output), limits, width, scale=attribution.scale, change=True)
    named = alt.Axis(
        title=None,
        values=list(range(len(names))),
        labelExpr=f"{json.dumps(names)}[datum.value]",
        grid=False,
        labelOverlap=False,
    )
    y: dict[str, Any] = {
        "type": "quantitative",
        "axis": named,
        "scale": alt.Scale(domain=[-0.5, len(names) - 0.5], reverse=True, nice=False),
    }
    last = has_legend(attribution, output)
    tips = tooltips(("feature", "feature"), ("contribution", "label"))
    layers = [*zero_line(limits, True, "x")]
    for known, colour in ((True, by_rank(last)), (False, alt.ColorValue(theme.MUTED))):
        some = [row for row in rows if (row["rank"] is not None) == known]
        if some:
            slices = alt.Chart(data(some)).mark_rect(opacity=1, x2Offset=0.6)
            place = {"x": alt.X("x", **x), "x2": alt.X2("x2"), "y": alt.Y("y", **y), "y2": alt.Y2("y2")}
            layers.append(slices.encode(**place, color=colour, tooltip=tips))
    middles = np.median(attribution.for_output(output).values, axis=0)
    medians = [
        {
            "feature": name,
            "x": float(middles[j]),
            "y": at,
            "label": brief(float(middles[j]), attribution.scale, change=True),
        }
        for at, (name, j) in enumerate(zip(names, attribution.ranking, strict=False))
    ]
    dots = alt.Chart(data(medians)).mark_circle(size=26, color="white", stroke=theme.INK, strokeWidth=1, opacity=1)
    dots = dots.encode(
        x=alt.X("x", **x), y=alt.Y("y", **y), tooltip=tooltips(("feature", "feature"), ("median", "label"))
    )
    return layered(*layers, dots).properties(width=width, height=height).resolve_scale(color="independent")
