"""Contributions: a waterfall for one row, a swarm of dots or bars for several."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
from altair.typing import ChartType

from pellucid.arrays import FloatArray, IntArray
from pellucid.charts import theme
from pellucid.charts.layout import by_output, titled
from pellucid.charts.marks import zero_line
from pellucid.charts.options import AttributionOptions
from pellucid.charts.scales import Limits, Row, data, level_axis, limits_of, positions, tooltips, value_axis
from pellucid.charts.text import caveat_note, level_names, shown
from pellucid.explanations import Attribution
from pellucid.explanations.attribution import shown_value

BASE, PREDICTION = "average prediction", "prediction"
_MOST_POINTS = 2000
_BINS = 50
_COLUMNS = 2  # outputs side by side
_UP, _DOWN = theme.SECOND, theme.MAIN


def body(attribution: Attribution, options: AttributionOptions) -> ChartType:
    """The Altair chart of contributions."""
    kind = options.kind
    if kind == "auto":
        kind = "waterfall" if len(attribution) == 1 else "beeswarm"
    parts = [attribution.for_output(name) for name in attribution.output_names]
    draw = {"waterfall": _waterfall, "beeswarm": _beeswarm, "bar": _bars}[kind]
    width = options.width or (theme.WIDTH if len(parts) == 1 else 280.0)
    chart = by_output(
        [draw(part, options, width) for part in parts], attribution.output_names, columns=_COLUMNS
    )
    return titled(
        chart, options.title or _title(attribution, kind), _notes(attribution, kind, options), width + 150
    )


def _title(attribution: Attribution, kind: str) -> str:
    if kind == "waterfall":
        return "From the average prediction to this prediction"
    return f"Contributions to {len(attribution):,} prediction{'s' if len(attribution) != 1 else ''}"


def _notes(attribution: Attribution, kind: str, options: AttributionOptions) -> list[str]:
    bases = [shown(float(base), attribution.scale, change=False) for base in np.ravel(attribution.base)]
    notes = [f"average prediction {', '.join(bases[:4])}{', ...' if len(bases) > 4 else ''}"]
    if attribution.game:
        notes.append(f"{attribution.game} game")
    hidden = len(attribution.feature_names) - options.max_display
    if kind != "waterfall" and hidden > 0:
        notes.append(f"{hidden} more feature{'s' if hidden > 1 else ''} not shown")
    drawn = len(rows_shown(attribution, options.max_display))
    if kind == "beeswarm" and drawn < len(attribution):
        notes.append(f"dots: {drawn:,} of {len(attribution):,} rows")
    return [*notes, caveat_note(attribution)]


# -- one row -----------------------------------------------------------------------------------------


def waterfall_data(attribution: Attribution, max_display: int = 10, row: int = 0) -> list[Row]:
    """One bar per step from the base to the prediction, largest contribution first, the small ones together."""
    values, labels = attribution.values[row], attribution.labels(row)
    order = np.argsort(-np.abs(values), kind="stable")
    kept, rest = (
        (order, order[:0])
        if len(order) <= max_display
        else (order[: max_display - 1], order[max_display - 1 :])
    )
    steps = [(labels[j], float(values[j])) for j in kept]
    if len(rest):
        steps.append((f"{len(rest)} others", float(values[rest].sum())))
    names = level_names([BASE, *(name for name, _ in steps), PREDICTION])
    at, scale = float(attribution.base), attribution.scale
    rows = [_total(names[0], at, scale)]
    for name, (_, value) in zip(names[1:-1], steps, strict=True):
        end = at + value
        rows.append(
            {
                "step": name,
                "start": at,
                "end": end,
                "low": min(at, end),
                "high": max(at, end),
                "sort": "up" if value >= 0 else "down",
                "label": shown(value, scale, change=True).replace(" percentage points", " pp"),
            }
        )
        at = end
    return [*rows, _total(names[-1], float(attribution.prediction[row]), scale)]


def _total(name: str, at: float, scale: str) -> Row:
    label = shown(at, scale, change=False)
    return {"step": name, "start": at, "end": at, "low": at, "high": at, "sort": "total", "label": label}


def _waterfall(attribution: Attribution, options: AttributionOptions, width: float) -> ChartType:
    views = [_steps(attribution, options, width, row) for row in range(min(len(attribution), 4))]
    return views[0] if len(attribution) == 1 else alt.vconcat(*views)


def _steps(attribution: Attribution, options: AttributionOptions, width: float, row: int) -> ChartType:
    rows = waterfall_data(attribution, options.max_display, row)
    names = [each["step"] for each in rows]
    height = options.height or 24.0 * len(rows)
    low, high = limits_of([each["start"] for each in rows], [each["end"] for each in rows])
    limits = (
        low - 0.05 * (high - low),
        high + (70.0 / width) * (high - low),
    )  # room for the numbers beside the bars
    x = value_axis(f"prediction{attribution.scale_of(attribution.output_names[0])}", limits, width)
    y = alt.Y("step", **level_axis(None, names, height))
    colour = alt.Color(
        "sort",
        type="nominal",
        scale=alt.Scale(domain=["up", "down", "total"], range=[_UP, _DOWN, theme.INK]),
        legend=None,
    )
    tips = tooltips(("", "step"), ("contribution", "label"))
    parts = [each for each in rows if each["sort"] != "total"]
    bars = alt.Chart(data(parts)).mark_bar(opacity=0.85).encode(
        x=alt.X("start", **x), x2="end", y=y, color=colour, tooltip=tips
    )  # fmt: skip
    totals = alt.Chart(data([rows[0], rows[-1]])).mark_tick(thickness=3, size=18).encode(
        x=alt.X("end", **x), y=y, color=colour
    )  # fmt: skip
    words = alt.Chart(data(rows)).mark_text(align="left", dx=5, fontSize=11, color=theme.INK).encode(
        x=alt.X("high", **x), y=y, text=alt.Text("label", type="nominal")
    )  # fmt: skip
    start = alt.Chart(data([{}])).mark_rule(color=theme.FAINT, strokeDash=[4, 4])
    return alt.layer(start.encode(x=alt.datum(rows[0]["end"])), bars, totals, words).properties(
        width=width, height=height
    )


# -- several rows ------------------------------------------------------------------------------------


def rows_shown(attribution: Attribution, max_display: int) -> IntArray:
    """Positions of the rows that are drawn as dots: all, or evenly spaced ones."""
    n, features = len(attribution), min(max_display, len(attribution.feature_names))
    most = max(_MOST_POINTS // features, 20)
    return np.unique(np.linspace(0, n - 1, min(n, most)).round().astype(np.intp))


def swarm_data(attribution: Attribution, max_display: int = 20) -> list[Row]:
    """One dot per row and feature shown; ``rank`` is the place of its value among the rows, 0 low to 1 high."""
    chosen = rows_shown(attribution, max_display)
    shown_features = attribution.ranking[:max_display]
    names = level_names([attribution.feature_names[j] for j in shown_features])
    span = float(np.ptp(attribution.values)) or 1.0
    rows: list[Row] = []
    for name, j in zip(names, shown_features, strict=True):
        values = attribution.values[chosen, j]
        ranks, offsets = _ranks(attribution, j)[chosen], _offsets(values, span)
        for i, value, rank, offset in zip(chosen, values, ranks, offsets, strict=True):
            rows.append(
                {
                    "feature": name,
                    "contribution": float(value),
                    "offset": float(offset),
                    "rank": float(rank) if np.isfinite(rank) else None,
                    "row": f"{i}",
                    "value_text": shown_value(attribution.data[j][i]),
                    "label": shown(float(value), attribution.scale, change=True),
                }
            )
    return rows


def _ranks(attribution: Attribution, j: int) -> FloatArray:
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


def _offsets(values: FloatArray, span: float) -> FloatArray:
    """Dots with almost the same value lie above and below each other, -1 to 1."""
    bins = np.floor(values / span * _BINS).astype(np.intp)
    offsets = np.zeros(len(values))
    for each in np.unique(bins):
        members = np.flatnonzero(bins == each)
        turn = np.arange(len(members))
        offsets[members] = np.where(turn % 2 == 0, -1, 1) * ((turn + 1) // 2)
    largest = float(np.abs(offsets).max(initial=0.0))
    return offsets / max(largest, 6.0)


def _beeswarm(attribution: Attribution, options: AttributionOptions, width: float) -> ChartType:
    rows = swarm_data(attribution, options.max_display)
    names = list(dict.fromkeys(row["feature"] for row in rows))
    height = options.height or max(60.0, 30.0 * len(names))
    limits = limits_of([row["contribution"] for row in rows], zero=True)
    x = alt.X("contribution", **value_axis(_axis_title(attribution), limits, width))
    y = alt.Y("feature", **level_axis(None, names, height))
    offset = alt.YOffset("offset", type="quantitative", scale=alt.Scale(domain=[-1.15, 1.15]))
    key = alt.Legend(
        title=["value of", "the feature"],
        values=[0, 1],
        labelExpr="datum.value == 0 ? 'low' : 'high'",
        gradientLength=80,
    )
    colour = alt.Color(
        "rank", type="quantitative", scale=alt.Scale(scheme=theme.SEQUENTIAL_LINES, domain=[0, 1]), legend=key
    )  # fmt: skip
    tips = tooltips(
        ("row", "row"), ("feature", "feature"), ("value", "value_text"), ("contribution", "label")
    )
    place: dict[str, Any] = {"x": x, "y": y, "yOffset": offset, "tooltip": tips}
    mark: dict[str, Any] = {"size": 22, "opacity": 0.75}
    layers = [*zero_line(limits, True, "x")]
    for known in (False, True):
        some = [row for row in rows if (row["rank"] is not None) == known]
        if some:
            dots = alt.Chart(data(some)).mark_circle(**mark)
            layers.append(dots.encode(**place, color=colour if known else alt.value(theme.MUTED)))
    return alt.layer(*layers).properties(width=width, height=height)


def bar_data(attribution: Attribution, max_display: int = 20) -> list[Row]:
    """One bar per feature shown: its mean absolute contribution."""
    order = attribution.ranking[:max_display]
    names, sizes = level_names([attribution.feature_names[j] for j in order]), attribution.mean_abs
    return [
        {"feature": name, "size": float(sizes[j]), "label": shown(float(sizes[j]), "", change=False)}
        for name, j in zip(names, order, strict=True)
    ]


def _bars(attribution: Attribution, options: AttributionOptions, width: float) -> ChartType:
    rows = bar_data(attribution, options.max_display)
    height = options.height or max(40.0, 22.0 * len(rows))
    limits: Limits = (0.0, limits_of([row["size"] for row in rows], zero=True)[1])
    x = alt.X("size", **value_axis(f"mean absolute {_axis_title(attribution)}", limits, width))
    y = alt.Y("feature", **level_axis(None, [row["feature"] for row in rows], height))
    tips = tooltips(("feature", "feature"), ("mean absolute contribution", "label"))
    bars = alt.Chart(data(rows)).mark_bar(color=theme.MAIN, opacity=0.75)
    return bars.encode(x=x, y=y, tooltip=tips).properties(width=width, height=height)


def _axis_title(attribution: Attribution) -> str:
    return f"contribution to the prediction{attribution.scale_of(attribution.output_names[0])}"
