"""Dots: the shares of every feature by several measures, and how far the measures agree on the order."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
from altair.typing import ChartType

from pellucid.arrays import FloatArray
from pellucid.charts import theme
from pellucid.charts.layout import Row, data, grid, layered, level_axis, limits_of, plain, told, tooltips, value_axis
from pellucid.charts.marks import text_layers
from pellucid.charts.text import caveat_note, level_names
from pellucid.explanations import ImportanceComparison
from pellucid.explanations.plot_options import ComparisonOptions
from pellucid.stats import Z95
from pellucid.words import counted, number, percent

_STEP = 9.0  # pixels for each method


def share_data(result: ImportanceComparison, max_display: int = 15) -> list[Row]:
    """One row per feature shown and method: the share with its 95% interval, the value as it is, the rank."""
    shown = result.order[:max_display]
    names = level_names(result.feature_names[j] for j in shown)
    shares, ranks = result.shares, result.ranks
    low, high = (_shares_at(result, side) for side in (-Z95, Z95))
    rows: list[Row] = []
    for name, j in zip(names, shown, strict=True):
        for m, method in enumerate(result.methods):
            share, lower, upper = plain([shares[j, m], low[j, m], high[j, m]])
            sure = lower is not None and upper is not None
            rows.append(
                {
                    "feature": name,
                    "method": method,
                    "share": share,
                    "low": lower if sure else None,
                    "high": upper if sure else None,
                    "share_text": "unknown" if share is None else percent(share),
                    "value_text": f"{number(float(result.values[j, m]))} ({result.parts[m].measured})",
                    "rank_text": number(float(ranks[j, m])),
                }
            )
    return rows


def _shares_at(result: ImportanceComparison, errors: float) -> FloatArray:
    """The shares if a value were so many standard errors away, the sum being what it is."""
    neutral = np.array([part.neutral for part in result.parts])
    moved, own = np.maximum(result.values + errors * result.se - neutral, 0.0), result.excess
    moved, own = (np.where(result.squared, np.sqrt(part), part) for part in (moved, own))
    total = np.nansum(own, axis=0)
    return np.asarray(moved / np.where(total > 0, total, 1.0))


def agreement_data(result: ImportanceComparison) -> list[Row]:
    """One row per pair of methods: Kendall's tau and the overlap of the three most important features."""
    tau, common = result.agreement, result.overlap(3)
    return [
        {
            "method": a,
            "other": b,
            "value": float(tau[i, j]) if np.isfinite(tau[i, j]) else None,
            "label": f"{tau[i, j]:.2f}" if np.isfinite(tau[i, j]) else "?",
            "ink": "white" if np.isfinite(tau[i, j]) and abs(tau[i, j]) > 0.6 else "black",
            "value_text": number(float(tau[i, j])),
            "overlap_text": f"{percent(float(common[i, j]))} of the first three",
        }
        for i, a in enumerate(result.methods)
        for j, b in enumerate(result.methods)
    ]


def body(result: ImportanceComparison, options: ComparisonOptions) -> ChartType:
    """The Altair chart of compared importances."""
    rows = share_data(result, options.max_display)
    width = options.width or theme.WIDTH - 60.0
    dots = _dots(result, rows, width, options.height)
    more = len(result.feature_names) - min(options.max_display, len(result.feature_names))
    notes = [f"{counted(more, 'more feature')} not shown" if more else "", _scale_note(result)]
    views = [dots, _heat_map(result)] if options.agreement and len(result.methods) > 1 else [dots]
    chart = grid(views, columns=2, column=32, one_legend=False) if len(views) > 1 else dots
    words = [note for note in (*notes, caveat_note(result)) if note]
    return told(chart, result, options, "Feature importance by several measures", words, width + 150)


def _scale_note(result: ImportanceComparison) -> str:
    rooted = [method for method, squared in zip(result.methods, result.squared, strict=True) if squared]
    return f"shares of the roots: {', '.join(rooted)}" if rooted else ""


def _dots(result: ImportanceComparison, rows: list[Row], width: float, height: float | None) -> ChartType:
    names = list(dict.fromkeys(row["feature"] for row in rows))
    methods = list(result.methods)
    tall = height or max(60.0, (_STEP * len(methods) + 10.0) * len(names))
    limits = limits_of([row[k] for row in rows for k in ("share", "low", "high") if row[k] is not None], zero=True)
    limits = (min(limits[0], 0.0), min(limits[1], 1.02) if limits[1] > 0 else 1.0)
    x = value_axis("share of all importance by the measure", limits, width, format="%")
    colour = alt.Color(
        "method",
        type="nominal",
        scale=alt.Scale(domain=methods, **theme.category_range(len(methods))),
        legend=alt.Legend(title=None, orient="bottom", columns=4),
    )
    place: dict[str, Any] = {
        "y": alt.Y("feature", **level_axis(None, names, tall, tickBand="extent", grid=True)),
        "yOffset": alt.YOffset("method", type="nominal", sort=methods),
        "color": colour,
        "tooltip": tooltips(
            ("feature", "feature"),
            ("method", "method"),
            ("share", "share_text"),
            ("value", "value_text"),
            ("rank", "rank_text"),
        ),
    }
    sure = alt.Chart(data([row for row in rows if row["low"] is not None])).encode(**place)
    known = alt.Chart(data([row for row in rows if row["share"] is not None])).encode(**place)
    return layered(
        sure.mark_rule(strokeWidth=1.5, opacity=0.6, clip=True).encode(x=alt.X("low", **x), x2=alt.X2("high")),
        known.mark_point(filled=True, size=55, opacity=1).encode(x=alt.X("share", **x)),
    ).properties(width=width, height=tall)


def _heat_map(result: ImportanceComparison) -> ChartType:
    rows, methods = agreement_data(result), list(result.methods)
    size = max(90.0, 44.0 * len(methods))
    x = alt.X("other", **level_axis(None, methods, size, cells=True, labelAngle=-45))
    y = alt.Y("method", **level_axis(None, methods, size, cells=True))
    scale = alt.Scale(scheme=theme.DIVERGING, domain=[-1, 1], domainMid=0, reverse=True)
    tips = tooltips(
        ("method", "method"), ("with", "other"), ("Kendall's tau", "value_text"), ("in common", "overlap_text")
    )
    cells = alt.Chart(data([row for row in rows if row["value"] is not None])).mark_rect()
    colour = alt.Color("value", type="quantitative", scale=scale, legend=None)
    layers = [cells.encode(x=x, y=y, tooltip=tips, color=colour)]
    layers += text_layers(rows, {"x": x, "y": y, "tooltip": tips})
    title = alt.TitleParams(["agreement of the rankings", "(Kendall's tau)"], fontSize=12, fontWeight="normal")
    return layered(*layers).properties(width=size, height=size, title=title)
