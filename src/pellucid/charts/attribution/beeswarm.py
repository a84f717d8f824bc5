"""A beeswarm: one dot per row and feature, coloured by the value of the feature, one strip per category."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
from altair.typing import ChartType

from pellucid.arrays import FloatArray, IntArray
from pellucid.charts import theme
from pellucid.charts.attribution.entries import axis_title, evenly, fold, not_shown, rows_note, short_names, shortened
from pellucid.charts.layout import Row, data, layered, level_axis, limits_of, positions, tooltips, value_axis
from pellucid.charts.marks import zero_line
from pellucid.charts.text import shown
from pellucid.explanations import Attribution
from pellucid.explanations.attribution import shown_value
from pellucid.explanations.attribution_words import grouped
from pellucid.explanations.plot_options import AttributionOptions

_MOST_POINTS = 2000
_BINS = 50
_STRIPS, _FEW_STRIPS = (5, 3)  # categories with a strip of their own, if few or many categorical features are shown
_CATEGORY = theme.CATEGORIES[3]  # not in the colours from low to high


def notes(attribution: Attribution, options: AttributionOptions) -> list[str]:
    """What is left out, and what the colours leave open."""
    shown_features = attribution.ranking[: options.max_display]
    drawn = len(rows_shown(attribution, options.max_display))
    plain = any(not _nominal(attribution, j) and np.isnan(ranks(attribution, j)).any() for j in shown_features)
    strips = any(_nominal(attribution, j) for j in shown_features)
    return [
        *not_shown(attribution, options.max_display),
        *rows_note(drawn, attribution, "dots: "),
        *(["pink: categories, one strip each"] if strips else []),
        *(["grey: missing, constant or without order"] if plain else []),
    ]


def rows_shown(attribution: Attribution, max_display: int) -> IntArray:
    """Positions of the rows that are drawn as dots: all, or evenly spaced ones."""
    features = min(max_display, len(attribution.feature_names))
    return evenly(len(attribution), max(_MOST_POINTS // features, 20))


def swarm_data(attribution: Attribution, output: str, max_display: int = 20) -> list[Row]:
    """One dot per row and feature shown, on the ``strip`` of its feature or category.

    ``rank`` is the place of the value among the rows, 0 low to 1 high; null for what has no order.
    """
    one, chosen = attribution.for_output(output), rows_shown(attribution, max_display)
    shown_features = attribution.ranking[:max_display]
    names = short_names(attribution.feature_names[j] for j in shown_features)
    span = float(np.nan_to_num(np.ptp(one.values))) or 1.0
    many = sum(_nominal(attribution, j) for j in shown_features) > 4
    most = _FEW_STRIPS if many else _STRIPS
    rows: list[Row] = []
    for name, j in zip(names, shown_features, strict=True):
        places = ranks(attribution, j)
        for strip, members in strips(one, j, name, chosen, most):
            values = one.values[members, j]
            for i, value, offset in zip(members, values, offsets(values, span), strict=True):
                rows.append(
                    {
                        "feature": name,
                        "strip": strip,
                        "contribution": float(value),
                        "offset": float(offset),
                        "rank": float(places[i]) if np.isfinite(places[i]) else None,
                        "sort": "category" if _nominal(attribution, j) else "value",
                        "row": attribution.row_labels.name(i),
                        "value_text": shown_value(attribution.data[j][i]),
                        "label": shown(float(value), attribution.scale, change=True),
                    }
                )
    return rows


def strips(one: Attribution, j: int, name: str, rows: IntArray, most: int) -> list[tuple[str, IntArray]]:
    """The strips of a feature with their rows: one, or one per category from high to low contribution.

    Categories that hold little of the absolute contributions share the last strip.
    ."""
    if not _nominal(one, j):
        return [(name, rows)]
    words = np.array([shown_value(one.data[j][i]) for i in rows], dtype=object)
    sizes = {word: float(np.abs(one.values[rows[words == word], j]).sum()) for word in dict.fromkeys(words)}
    ranked = sorted(sizes, key=lambda word: -sizes[word])
    kept, rest = fold(np.arange(len(ranked)), most)
    parts = [(f"{shortened(name, 26)} = {shortened(ranked[k], 16)}", rows[words == ranked[k]]) for k in kept]
    parts.sort(key=lambda part: -float(one.values[part[1], j].mean()))
    if len(rest):
        folded = np.isin(words.astype(str), [ranked[k] for k in rest])
        parts.append((f"{shortened(name, 26)} = {len(rest)} others", rows[folded]))
    return [(label, members) for label, (_, members) in zip(short_names(p[0] for p in parts), parts, strict=True)]


def _nominal(attribution: Attribution, j: int) -> bool:
    """Whether a feature is drawn as categories; a group's values are words, but all different."""
    return attribution.data[j].dtype.kind not in "iufbM" and not grouped(attribution, j)


def ranks(attribution: Attribution, j: int) -> FloatArray:
    """The place of each value between the lowest and the highest; unknown for categories and missing values."""
    column = attribution.data[j]
    if column.dtype.kind not in "iufbM":
        return np.full(len(column), np.nan)
    numbers = positions(column)
    numbers[column != column] = np.nan  # noqa: PLR0124  a missing date
    known = np.unique(numbers[np.isfinite(numbers)])
    if len(known) < 2:
        return np.full(len(column), np.nan)
    place = np.searchsorted(known, numbers) / (len(known) - 1)
    return np.where(np.isnan(numbers), np.nan, place)


def offsets(values: FloatArray, span: float) -> FloatArray:
    """Dots with almost the same value lie above and below each other, -1 to 1."""
    bins = np.floor(np.nan_to_num(values) / span * _BINS).astype(np.intp)
    found = np.zeros(len(values))
    for each in np.unique(bins):
        members = np.flatnonzero(bins == each)
        turn = np.arange(len(members))
        found[members] = np.where(turn % 2 == 0, -1, 1) * ((turn + 1) // 2)
    return found / max(float(np.abs(found).max(initial=0.0)), 6.0)


def view(attribution: Attribution, output: str, options: AttributionOptions, width: float) -> ChartType:
    """The swarm of one output."""
    rows = swarm_data(attribution, output, options.max_display)
    names = list(dict.fromkeys(row["strip"] for row in rows))
    height = options.height or max(60.0, 28.0 * len(names))
    limits = limits_of([row["contribution"] for row in rows], zero=True)
    key = alt.Legend(
        title=["value of", "the feature"],
        values=[0, 1],
        labelExpr="datum.value == 0 ? 'low' : 'high'",
        gradientLength=80,
    )
    colours = alt.Scale(scheme=theme.SEQUENTIAL_LINES, domain=[0, 1])
    by_rank = alt.Color("rank", type="quantitative", scale=colours, legend=key)
    place: dict[str, Any] = {
        "x": alt.X(
            "contribution",
            **value_axis(axis_title(attribution, output), limits, width, scale=attribution.scale, change=True),
        ),
        "y": alt.Y("strip", **level_axis(None, names, height)),
        "yOffset": alt.YOffset("offset", type="quantitative", scale=alt.Scale(domain=[-1.15, 1.15])),
        "tooltip": tooltips(("row", "row"), ("feature", "feature"), ("value", "value_text"), ("contribution", "label")),
    }
    layers = [*zero_line(limits, True, "x")]
    for colour, some in (
        (alt.ColorValue(theme.MUTED), [row for row in rows if row["rank"] is None and row["sort"] == "value"]),
        (alt.ColorValue(_CATEGORY), [row for row in rows if row["sort"] == "category"]),
        (by_rank, [row for row in rows if row["rank"] is not None]),
    ):
        if some:
            dots = alt.Chart(data(some)).mark_circle(size=22, opacity=0.75)
            layers.append(dots.encode(**place, color=colour))
    return layered(*layers).properties(width=width, height=height)
