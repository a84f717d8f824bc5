"""A beeswarm (SHAP summary plot): one strip per feature, one dot per row, coloured by the value of the feature.

Numbers and dates run from low to high in one colour scale; a category has the colour of its level. ``by_level`` gives
every category a strip of its own. Where rows crowd, a dot stands for several: what is drawn is the shape of all rows.
"""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
from altair.typing import ChartType

from pellucid.arrays import FloatArray, IntArray
from pellucid.charts import theme
from pellucid.charts.attribution.entries import (
    axis_title,
    evenly,
    fold,
    has_legend,
    not_shown,
    short_names,
    shortened,
    told_apart,
)
from pellucid.charts.layout import Row, data, layered, level_axis, limits_of, positions, tooltips, value_axis
from pellucid.charts.marks import zero_line
from pellucid.data.natural import in_order
from pellucid.explanations import Attribution
from pellucid.explanations.attribution import shown_value
from pellucid.explanations.attribution_words import grouped
from pellucid.explanations.plot_options import AttributionOptions

_MOST_POINTS = 2400
_BINS = 60
_STRIPS, _FEW_STRIPS = (5, 3)  # categories with a strip of their own, if few or many categorical features are shown
_KEYS, _LEVELS = (3, 4)  # categorical features with a legend, and levels in each
_CATEGORY = theme.CATEGORIES[3]  # not in the colours from low to high
_FIELDS = {"value": ("rank",), "level": ("level",)}  # what gives a dot its colour


def notes(attribution: Attribution, options: AttributionOptions) -> list[str]:
    """What is left out, and what the colours leave open."""
    rows = swarm_data(attribution, attribution.output_names[0], options.max_display, options.by_level)
    features = min(options.max_display, len(attribution.feature_names))
    crowd = len(rows) < features * len(attribution)
    said = {row["sort"] for row in rows if row["rank"] is None}
    pink = {True: "pink: categories, one strip each", False: "pink: categories (by_level=True tells them apart)"}
    grey = [word for word in ("missing, constant or without order", "other categories") if word in said]
    return [
        *not_shown(attribution, options.max_display),
        *([f"all {len(attribution):,} rows; where they crowd, a dot stands for several"] if crowd else []),
        *([pink[options.by_level]] if "category" in said else []),
        *([f"grey: {' or '.join(grey)}"] if grey else []),
    ]


def swarm_data(attribution: Attribution, output: str, max_display: int = 20, by_level: bool = False) -> list[Row]:
    """The dots, each on the ``strip`` of its feature or category: one per row and feature, or fewer where rows crowd.

    ``rank`` is the place of the value among the rows, 0 low to 1 high; where there is no order it is null, and ``sort``
    says what the colour means: a level that has one, categories without, or none.
    """
    one, shown_features = attribution.for_output(output), attribution.ranking[:max_display]
    names = short_names(attribution.feature_names[j] for j in shown_features)
    span = float(np.nan_to_num(np.ptp(one.values))) or 1.0
    nominal = [int(j) for j in shown_features if _nominal(attribution, j)]
    levels_shown = _FEW_STRIPS if len(nominal) > 4 else _STRIPS
    every = np.arange(len(one))
    rows: list[Row] = []
    for name, j in zip(names, shown_features, strict=True):
        places, levels = ranks(attribution, j), level_colours(attribution, j) if j in nominal[:_KEYS] else []
        parts = strips(one, j, name, every, levels_shown) if by_level else [(name, every)]
        for strip, members in parts:
            share = len(members) / len(every) / len(attribution.output_names)
            most = max(int(_MOST_POINTS / len(shown_features) * share), 20)
            chosen, offset = swarm(one.values[members, j], places[members], span, most)
            for i, up in zip(members[chosen], offset, strict=True):
                text = shown_value(attribution.data[j][i])
                known = bool(np.isfinite(places[i]))
                rows.append(
                    {
                        "feature": name,
                        "strip": strip,
                        "contribution": float(one.values[i, j]),
                        "offset": round(float(up), 3),
                        "rank": round(float(places[i]), 3) if known else None,
                        "sort": "value" if known else _sort(text, levels, j in nominal, by_level),
                        "level": text,
                        "row": attribution.row_labels.name(i),
                        "value_text": text,
                    }
                )
    return rows


def _sort(text: str, levels: list[str], nominal: bool, by_level: bool) -> str:
    if not nominal:
        return "missing, constant or without order"
    if by_level or not levels:
        return "category"
    return "level" if text in levels else "other categories"


def level_colours(attribution: Attribution, j: int) -> list[str]:
    """The levels of a categorical feature that have a colour: those with most of the absolute contributions, sorted."""
    words = np.array([shown_value(value) for value in attribution.data[j]], dtype=object)
    sizes = np.abs(np.nan_to_num(attribution.stacked()[:, j])).reshape(len(words), -1).sum(axis=1)
    totals = {word: float(sizes[words == word].sum()) for word in dict.fromkeys(words)}
    return in_order(sorted(totals, key=lambda word: -totals[word])[:_LEVELS])


def strips(one: Attribution, j: int, name: str, rows: IntArray, most: int) -> list[tuple[str, IntArray]]:
    """The strips of a feature with their rows: one, or one per category from high to low contribution.

    Categories that hold little of the absolute contributions share the last strip.
    """
    if not _nominal(one, j):
        return [(name, rows)]
    words = np.array([shown_value(one.data[j][i]) for i in rows], dtype=object)
    sizes = {word: float(np.abs(one.values[rows[words == word], j]).sum()) for word in dict.fromkeys(words)}
    ranked = sorted(sizes, key=lambda word: -sizes[word])
    kept, rest = fold(np.arange(len(ranked)), most)
    called = dict(zip(kept.tolist(), told_apart([ranked[k] for k in kept], 16), strict=True))
    parts = [(f"{shortened(name, 26)} = {called[int(k)]}", rows[words == ranked[k]]) for k in kept]
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


def swarm(values: FloatArray, places: FloatArray, span: float, most: int) -> tuple[IntArray, FloatArray]:
    """Positions of at most about ``most`` values and how far above or below the middle they lie, -1 to 1.

    Values that are almost the same are spread as wide as they are many. Of those that crowd only some are kept, evenly
    among their ``places``, so that width and colours are those of all.
    """
    bins = np.floor(np.nan_to_num(values) / span * _BINS).astype(np.intp)
    _, each, counts = np.unique(bins, return_inverse=True, return_counts=True)
    room = np.arange(1, counts.max(initial=1) + 1)
    totals = np.minimum(counts[:, None], room).sum(axis=0)
    cap = int(room[np.searchsorted(totals, most, side="right") - 1]) if totals[0] <= most else 1
    kept: list[int] = []
    found: list[float] = []
    for b, count in enumerate(counts):
        members = np.flatnonzero(each == b)
        if count > cap:
            members = np.sort(members[np.argsort(places[members], kind="stable")][evenly(int(count), cap)])
        turn = np.arange(len(members))
        kept += members.tolist()
        found += (np.where(turn % 2 == 0, -1, 1) * ((turn + 1) // 2) * (count / len(members))).tolist()
    order = np.argsort(kept, kind="stable")
    offset = np.array(found)[order] if found else np.empty(0)
    return np.array(kept, dtype=np.intp)[order], offset / max(float(np.abs(offset).max(initial=0.0)), 6.0)


def offsets(values: FloatArray, span: float) -> FloatArray:
    """Dots with almost the same value lie above and below each other, -1 to 1."""
    return swarm(values, np.zeros(len(values)), span, len(values))[1]


def view(attribution: Attribution, output: str, options: AttributionOptions, width: float) -> ChartType:
    """The swarm of one output; legends stand at the right of the first line."""
    rows = swarm_data(attribution, output, options.max_display, options.by_level)
    names = list(dict.fromkeys(row["strip"] for row in rows))
    height = options.height or max(60.0, 28.0 * len(names))
    limits = limits_of([row["contribution"] for row in rows], zero=True)
    axis = value_axis(axis_title(attribution, output), limits, width, scale=attribution.scale, change=True)
    place: dict[str, Any] = {
        "x": alt.X("contribution", **axis),
        "y": alt.Y("strip", **level_axis(None, names, height)),
        "yOffset": alt.YOffset("offset", type="quantitative", scale=alt.Scale(domain=[-1.15, 1.15])),
        "tooltip": tooltips(("row", "row"), ("feature", "strip"), ("value", "value_text"), ("contribution", "label")),
    }
    last = has_legend(attribution, output)
    muted, pink = alt.ColorValue(theme.MUTED), alt.ColorValue(_CATEGORY)
    groups = [
        (muted, [row for row in rows if row["sort"] in ("missing, constant or without order", "other categories")]),
        (pink, [row for row in rows if row["sort"] == "category"]),
        (by_rank(last), [row for row in rows if row["rank"] is not None]),
    ]
    for name in dict.fromkeys(row["feature"] for row in rows if row["sort"] == "level"):
        some = [row for row in rows if row["sort"] == "level" and row["feature"] == name]
        groups.append((_by_level(name, in_order({row["level"] for row in some}), last), some))
    layers = [*zero_line(limits, True, "x")]
    for colour, some in groups:
        if some:
            needed = ("strip", "contribution", "offset", "row", "value_text", *_FIELDS.get(some[0]["sort"], ()))
            drawn = [{key: row[key] for key in needed} for row in some]
            dots = alt.Chart(data(drawn)).mark_circle(size=22, opacity=0.75)
            label = _label(attribution.scale)
            layers.append(dots.transform_calculate(label=label).encode(**place, color=colour))
    return layered(*layers).properties(width=width, height=height).resolve_scale(color="independent")


def _label(scale: str) -> str:
    """The contribution in words, made where it is shown: thousands of texts would fill a notebook."""
    if scale == "probability":
        return "format(100 * datum.contribution, '+.3~g') + ' percentage points'"
    return "format(datum.contribution, abs(datum.contribution) < 1000 ? '+.3~g' : '+,.0f')"


def by_rank(legend: bool) -> alt.Color:
    """The colour channel of values between the lowest and the highest."""
    key = alt.Legend(
        title=["value of", "the feature"],
        values=[0, 1],
        labelExpr="datum.value == 0 ? 'low' : 'high'",
        gradientLength=80,
    )
    colours = alt.Scale(scheme=theme.SEQUENTIAL_LINES, domain=[0, 1])
    return alt.Color("rank", type="quantitative", scale=colours, legend=key if legend else None)


def _by_level(name: str, levels: list[str], legend: bool) -> alt.Color:
    scale = alt.Scale(domain=levels, range=[theme.CATEGORIES[k] for k in (1, 0, 2, 4)][: len(levels)])
    key = alt.Legend(title=shortened(name, 22), labelLimit=150) if legend else None
    return alt.Color("level", type="nominal", scale=scale, legend=key)
