"""A list of rules: for each what it predicts with its interval, or the shares of the classes, and how many rows it
decides.
"""

from __future__ import annotations

import altair as alt
import numpy as np
from altair.typing import ChartType

from pellucid.charts import theme
from pellucid.charts.layout import (
    Limits,
    Row,
    bounds,
    data,
    hconcat,
    layered,
    level_axis,
    limits_of,
    told,
    tooltips,
    value_axis,
)
from pellucid.charts.text import caveat_note
from pellucid.explanations.decision_list import DecisionList
from pellucid.explanations.plot_options import DecisionListOptions
from pellucid.words import counted, percent, quantity

_STEP = 30.0
_ROWS = 110.0  # pixels of the bars of rows
_ROOM = 60  # letters of a rule in one line


def body(found: DecisionList, options: DecisionListOptions) -> ChartType:
    """The rules from the first to the last; of one row the rule that decides it stands out."""
    places = _shown(found, options.max_display)
    names = [_name(found, k) for k in places]
    several = len(found.output_names) > 1
    wide, high = options.width or 300.0, options.height or max(60.0, _STEP * len(names))
    fired = set(found.fired.tolist()) if found.of_rows else set(range(len(found)))
    main = _shares if several else _dots
    left = main(found, places, names, (wide, high), fired)
    right = _support(found, places, names, (_ROWS, high), fired)
    hidden = len(found) - len(places)
    notes = [
        "the first rule that holds decides",
        "pale: rules that decide none of these rows" if len(fired) < len(found) else "",
        "" if several else "lines: 95% intervals",
        f"{counted(hidden, 'rule')} not shown" if hidden else "",
        caveat_note(found),
    ]
    chart = hconcat(left, right, spacing=14).resolve_scale(color="independent")
    return told(chart, found, options, "List of rules", notes, wide + _ROWS + 260)


def _shown(found: DecisionList, most: int) -> list[int]:
    every = list(range(len(found)))
    return every if len(every) <= most + 1 else [*every[:most], every[-1]]


def _name(found: DecisionList, place: int) -> str:
    """``2: age > 30 AND ...``, cut where it is long; tooltips have all of it."""
    words = found.conditions(place)
    words = words if len(words) <= _ROOM else words[: _ROOM - 1] + "…"
    return f"{place + 1}: {words}"


def _rows(found: DecisionList, places: list[int], names: list[str], fired: set[int]) -> list[Row]:
    return [
        {
            "rule": name,
            "words": found.conditions(k),
            "prediction": found.said(k),
            "rows": float(found.support[k]),
            "rows_text": counted(round(float(found.support[k])), "row"),
            "share_text": percent(float(found.coverage[k])),
            "fires": k in fired,
        }
        for k, name in zip(places, names, strict=True)
    ]


_TIPS = (("rule", "words"), ("predicts", "prediction"), ("decides", "rows_text"), ("share of the rows", "share_text"))
_PALE = alt.condition("datum.fires", alt.value(1.0), alt.value(0.25))


def _dots(
    found: DecisionList, places: list[int], names: list[str], size: tuple[float, float], fired: set[int]
) -> ChartType:
    """The probability or the mean with its interval."""
    parts = [np.asarray(part)[places] for part in (found.values, found.low, found.high)]
    within = bounds(found.scale, change=False)
    limits: Limits = within or limits_of(*parts)
    rows: list[Row] = [
        {
            **row,
            "value": float(value),
            "low": float(low),
            "high": float(high),
            "value_text": quantity(float(value), found.scale),
            "interval_text": f"{quantity(float(low), found.scale)} to {quantity(float(high), found.scale)}",
        }
        for row, value, low, high in zip(_rows(found, places, names, fired), *parts, strict=True)
    ]
    title = f"share of {found.output_names[0]}" if found.scale == "probability" else "mean"
    x = value_axis(title, limits, size[0], scale=found.scale)
    y = alt.Y("rule", **level_axis(None, names, size[1]))
    tips = tooltips(*_TIPS, (title, "value_text"), ("interval", "interval_text"))
    lines = alt.Chart(data(rows)).mark_rule(color=theme.MAIN, strokeWidth=2)
    dots = alt.Chart(data(rows)).mark_point(filled=True, size=70, color=theme.MAIN)
    return layered(
        lines.encode(y=y, x=alt.X("low", **x), x2=alt.X2("high"), opacity=_PALE, tooltip=tips),
        dots.encode(y=y, x=alt.X("value", **x), opacity=_PALE, tooltip=tips),
    ).properties(width=size[0], height=size[1])


def _shares(
    found: DecisionList, places: list[int], names: list[str], size: tuple[float, float], fired: set[int]
) -> ChartType:
    """The shares of the classes side by side."""
    rows: list[Row] = []
    for row, k in zip(_rows(found, places, names, fired), places, strict=True):
        ends = np.concatenate([[0.0], np.cumsum(found.values[k])])
        rows += [
            {**row, "class": name, "x": float(a), "x2": float(b), "class_share": percent(float(b - a))}
            for name, a, b in zip(found.output_names, ends[:-1], ends[1:], strict=True)
        ]
    classes = list(found.output_names)
    colour = alt.Color(
        "class",
        type="nominal",
        scale=alt.Scale(domain=classes, **theme.category_range(len(classes))),
        legend=alt.Legend(title=None, orient="top", columns=4),
    )
    x = value_axis("shares of the classes", (0.0, 1.0), size[0], scale="probability")
    y = alt.Y("rule", **level_axis(None, names, size[1]))
    tips = tooltips(*_TIPS, ("class", "class"), ("share", "class_share"))
    bars = alt.Chart(data(rows)).mark_bar(height=14)
    encoded = bars.encode(y=y, x=alt.X("x", **x), x2=alt.X2("x2"), color=colour, opacity=_PALE, tooltip=tips)
    return encoded.properties(width=size[0], height=size[1])


def _support(
    found: DecisionList, places: list[int], names: list[str], size: tuple[float, float], fired: set[int]
) -> ChartType:
    """How many rows each rule decides, as bars with their share."""
    rows = _rows(found, places, names, fired)
    x = value_axis(
        "rows decided", (0.0, 1.35 * float(found.support[places].max())), size[0], labels=False, ticks=False, grid=False
    )
    y = alt.Y("rule", **level_axis(None, names, size[1], labels=False, ticks=False, domain=False))
    tips = tooltips(*_TIPS)
    bars = alt.Chart(data(rows)).mark_bar(height=14, color=theme.FAINT)
    words = alt.Chart(data(rows)).mark_text(align="left", dx=3, color=theme.INK, fontSize=11)
    return layered(
        bars.encode(y=y, x=alt.X("rows", **x), opacity=_PALE, tooltip=tips),
        words.encode(y=y, x=alt.X("rows", **x), text="share_text:N", opacity=_PALE, tooltip=tips),
    ).properties(width=size[0], height=size[1])
