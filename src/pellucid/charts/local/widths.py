"""How the width of the neighbourhood changes the weights, and how well each width holds."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
from altair.typing import ChartType

from pellucid.charts import theme
from pellucid.charts.layout import Row, data, grid, layered, limits_of, told, tooltips, value_axis, vconcat
from pellucid.charts.marks import zero_line
from pellucid.charts.text import caveat_note, level_names
from pellucid.errors import InputError
from pellucid.explanations.attribution_words import scale_of
from pellucid.explanations.local_attribution import LocalModel
from pellucid.explanations.plot_options import LocalOptions
from pellucid.stats import Z95
from pellucid.words import number

_MOST = 8  # as many colours as can be told apart
_MEASURES = {"near": "R² near the row", "fidelity": "R² in its neighbourhood", "agreement": "stability of the weights"}


def weight_data(one: LocalModel, i: int, max_display: int = _MOST) -> list[Row]:
    """Weights per standard deviation over the widths, for the features that have the largest at any width."""
    tried = one.width_search
    weights, spread = tried.weights[i] * one.term_scales[i], tried.spread[i] * one.term_scales[i]
    sizes = np.nanmax(np.abs(weights), axis=0)
    order = [int(j) for j in np.argsort(-sizes, kind="stable") if sizes[j] > 0][:max_display]
    names = level_names(one.terms[j] for j in order)
    return [
        {
            "feature": name,
            "width": float(width),
            "weight": float(weights[w, j]),
            "low": float(weights[w, j] - Z95 * spread[w, j]),
            "high": float(weights[w, j] + Z95 * spread[w, j]),
            "label": f"{number(float(weights[w, j]), sign=True)} ± {number(Z95 * float(spread[w, j]))}",
            "effective": number(float(tried.effective[i, w])),
        }
        for name, j in zip(names, order, strict=True)
        for w, width in enumerate(tried.widths[i])
        if np.isfinite(width)
    ]


def measure_data(one: LocalModel, i: int) -> list[Row]:
    """Fidelity and stability over the widths; R² below zero is drawn at zero."""
    return [
        {
            "measure": words,
            "width": float(width),
            "value": max(float(getattr(one.width_search, name)[i, w]), 0.0),
            "label": number(float(getattr(one.width_search, name)[i, w])),
        }
        for name, words in _MEASURES.items()
        for w, width in enumerate(one.width_search.widths[i])
        if np.isfinite(width)
    ]


def body(result: LocalModel, options: LocalOptions) -> ChartType:
    """Weights above, fidelity and stability below, for the first row and every output."""
    if not result.width_search.any:
        raise InputError("kind='widths' needs a kernel with a width; kernel='shap' has none.")
    width = options.width or (theme.WIDTH if len(result.output_names) == 1 else 300.0)
    views = [_view(result.for_output(name), name, width, options) for name in result.output_names]
    chart = views[0] if len(views) == 1 else grid(views, columns=min(2, len(views)), one_legend=False)
    which = [f"row {result.row_labels.name(0)}, the first of {len(result)}"] if len(result) > 1 else []
    notes = [
        *which,
        f"dashed: the width used, {number(float(result.width[0]))}",
        "bands: 95% of repeats",
        caveat_note(result),
    ]
    return told(chart, result, options, "Weights over the width of the neighbourhood", notes, width + 150)


def _view(one: LocalModel, output: str, width: float, options: LocalOptions) -> ChartType:
    rows, measures = weight_data(one, 0, min(options.max_display, _MOST)), measure_data(one, 0)
    names = list(dict.fromkeys(row["feature"] for row in rows))
    limits = limits_of([row["low"] for row in rows], [row["high"] for row in rows], zero=True)
    ends = [float(np.nanmin(one.width_search.widths[0])), float(np.nanmax(one.width_search.widths[0]))]
    ends = ends if ends[1] > ends[0] else [ends[0] * 0.9, ends[0] * 1.1]
    x: dict[str, Any] = {
        "type": "quantitative",
        "scale": alt.Scale(type="log", domain=ends, nice=False),
        "axis": alt.Axis(title="kernel width", format="~g", grid=False, tickCount=6),
    }
    used = alt.Chart(data([{}])).mark_rule(strokeDash=[5, 4], color=theme.MUTED)
    used = used.encode(x=alt.XDatum(float(one.width[0])))
    colour = alt.Color(
        "feature",
        type="nominal",
        scale=alt.Scale(domain=names, **theme.category_range(len(names))),
        legend=alt.Legend(title=None),
    )
    y = value_axis(f"weight (numbers: per standard deviation){scale_of(one, output)}", limits, 200.0)
    lines = alt.Chart(data(rows))
    tips = tooltips(("feature", "feature"), ("weight", "label"), ("effective samples", "effective"))
    place = {"x": alt.X("width", **x), "color": colour}
    upper = layered(
        lines.mark_area(opacity=0.15).encode(**place, y=alt.Y("low", **y), y2=alt.Y2("high")),
        lines.mark_line(strokeWidth=2.2).encode(**place, y=alt.Y("weight", **y)),
        lines.mark_point(filled=True, size=34, opacity=1).encode(**place, y=alt.Y("weight", **y), tooltip=tips),
        *zero_line(limits, True),
        used,
    ).properties(width=width, height=options.height or 220.0)
    kinds = alt.Scale(domain=list(_MEASURES.values()), range=[[1, 0], [6, 3], [2, 2]])
    legend = alt.Legend(title=None, symbolType="stroke", symbolSize=300, symbolStrokeColor=theme.INK)
    curves = alt.Chart(data(measures)).encode(
        x=alt.X("width", **x), y=alt.Y("value", **value_axis("share", (0.0, 1.05), 90.0, values=[0, 0.5, 1]))
    )
    dashed = alt.StrokeDash("measure", type="nominal", legend=legend, scale=kinds)
    tips = tooltips(("", "measure"), ("", "label"))
    lower = layered(
        curves.mark_line(strokeWidth=1.8, color=theme.INK).encode(strokeDash=dashed),
        curves.mark_point(filled=True, size=24, color=theme.INK, opacity=1).encode(tooltip=tips),
        used,
    ).properties(width=width, height=90.0)
    return vconcat(upper, lower).resolve_scale(color="independent", strokeDash="independent")
