"""A force plot: arrows that push up and down along one line, and meet at the prediction.

Arrows up end at the prediction, arrows down start there; the base lies where the sum of both leads from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
from altair.typing import ChartType

from pellucid.charts import theme
from pellucid.charts.attribution.entries import DOWN, UP, Step, change, prediction_title, rows_note, short_label, steps
from pellucid.charts.attribution.waterfall import COLOURS, MOST_ROWS, below_each_other
from pellucid.charts.layout import Limits, Row, data, layered, limits_of, tooltips, value_axis
from pellucid.charts.text import shown
from pellucid.explanations import Attribution
from pellucid.explanations.attribution_words import start_name
from pellucid.explanations.plot_options import AttributionOptions

_BOLD = 6.6  # pixels of a letter
_LINE = 17.0  # height of a line of words
_ARROW = 26.0  # height of the arrows
LETTER = 6.1  # pixels
GAP = 10.0  # between words on a line
_SIDE = 5  # arrows named on each side
_LEAST = 0.015  # of all arrows together: smaller ones have no name
_LETTERS = 36  # of the label of a feature
_MARGIN, _MOST_MARGIN = 14.0, 0.3  # pixels, and share of the width


def notes(attribution: Attribution, _: AttributionOptions) -> list[str]:
    """Which rows, what the colours are, and why not every arrow has a name."""
    return [
        *rows_note(min(MOST_ROWS, len(attribution)), attribution, "the first "),
        "orange pushes up, blue down; only the largest arrows are named",
    ]


def force_data(one: Attribution, max_display: int = 10, row: int = 0) -> list[Row]:
    """One arrow per contribution that is not zero: ``start`` to ``end``, those up from the left, those down from the
    right.

    The largest are next to the prediction; beyond ``max_display`` the small ones are together, up and down apart.
    """
    found = [step for step in steps(one, row, len(one.feature_names)) if step.value != 0]
    kept = found if len(found) <= max_display else found[: max_display - 1]
    at = {UP: float(one.prediction[row]), DOWN: float(one.prediction[row])}
    rows: list[Row] = []
    for step in [*kept, *_together(found[len(kept) :])]:
        sort = UP if step.value > 0 else DOWN
        rows.append(
            {
                "start": at[sort] - step.value,
                "end": at[sort],
                "sort": sort,
                "full": step.label,
                "label": change(step.value, one.scale, step.half),
            }
        )
        at[sort] -= step.value
    return rows


def _together(rest: Sequence[Step]) -> list[Step]:
    """The small contributions as one arrow up and one down."""
    found = []
    for sign in (1, -1):
        some = [step for step in rest if step.value * sign > 0]
        if len(some) == 1:
            found += some
        elif some:
            found.append(Step(f"{len(some)} others", sum(s.value for s in some), sum(s.half for s in some)))
    return found


# -- drawing -----------------------------------------------------------------------------------------


def view(attribution: Attribution, output: str, options: AttributionOptions, width: float) -> ChartType:
    """The arrows of the row, or of the first rows below each other."""
    return below_each_other(_of_row, attribution.for_output(output), output, options, width, MOST_ROWS)


def _of_row(one: Attribution, output: str, options: AttributionOptions, width: float, row: int) -> ChartType:
    arrows = force_data(one, options.max_display, row)
    base, prediction = float(one.base), float(one.prediction[row])
    words = named(arrows)
    axis = axis_of([base, prediction, *(each["start"] for each in arrows)], words, width)
    words = hung(words, axis)
    totals = total_words(one, row, axis)
    top = _LINE * (1 + max(each["line"] for each in totals)) + 8
    bottom = top + _ARROW + _LINE * (1 + max((each["line"] for each in words), default=-1)) + 8
    ticks = max(3, round(width / 90))
    x = value_axis(prediction_title(one, output), axis.limits, width, scale=one.scale, grid=False, tickCount=ticks)
    y = alt.Y("y", type="quantitative", axis=None, scale=alt.Scale(domain=[bottom, 0], nice=False))
    totals = [{**each, "y": _LINE * each["line"] + 8, "y2": top + _ARROW} for each in totals]
    words = [{**each, "y": top + _ARROW + _LINE * each["line"] + 13, "y2": top + _ARROW} for each in words]
    layers = [
        *(_strings(totals, x, y, color=theme.INK, strokeDash=[3, 3])),
        *_arrows(arrows, axis, top, x, y),
        *_strings(words, x, y, color=theme.FAINT),
        *_words(totals, x, y),
        *_words(words, x, y),
    ]
    return layered(*layers).properties(width=width, height=options.height or bottom)


def total_words(one: Attribution, row: int, axis: Axis) -> list[Row]:
    """The prediction and the base above their places: in the middle, or away from each other if they are close."""
    ends = [("prediction", float(one.prediction[row])), (start_name(one), float(one.base))]
    texts = [f"{name} {shown(at, one.scale, change=False)}" for name, at in ends]
    places, halves = [axis.pixel(at) for _, at in ends], [_BOLD * len(text) / 2 for text in texts]
    if abs(places[0] - places[1]) >= sum(halves) + GAP:
        centres, lines = places, [0, 0]
    else:
        away = 1 if places[0] >= places[1] else -1
        centres = [places[0] + away * (halves[0] + GAP / 2), places[1] - away * (halves[1] + GAP / 2)]
        lines = [0, 0] if sum(halves) * 2 + GAP < min(axis.width, 2 * axis.width - 2 * max(places)) else [0, 1]
    centres = [
        min(max(centre, half), max(axis.width - half, half)) for centre, half in zip(centres, halves, strict=True)
    ]
    return [
        {"text": text, "at": at, "centre": axis.value(centre), "sort": "total", "line": line}
        for (_, at), text, centre, line in zip(ends, texts, centres, lines, strict=True)
    ]


def _strings(rows: list[Row], x: dict[str, Any], y: alt.Y, **mark: Any) -> list[alt.Chart]:
    """From the words to what they name."""
    if not rows:
        return []
    strings = alt.Chart(data([{"x": each["at"], "y": each["y"] + 6, "y2": each["y2"]} for each in rows]))
    return [strings.mark_rule(**mark).encode(x=alt.X("x", **x), y=y, y2=alt.Y2("y2"))]


def _words(rows: list[Row], x: dict[str, Any], y: alt.Y) -> list[alt.Chart]:
    """Words in the colour of their arrow, to the left or right of their string; the ends are bold and centred."""
    layers = []
    for sort in dict.fromkeys(row["sort"] for row in rows):
        align, dx, ink, weight = _LOOK[sort]
        some = [
            {"x": row.get("centre", row["at"]), "y": row["y"], "text": row["text"]}
            for row in rows
            if row["sort"] == sort
        ]
        mark = alt.Chart(data(some)).mark_text(fontSize=11, align=align, dx=dx, color=ink, fontWeight=weight)
        layers.append(mark.encode(x=alt.X("x", **x), y=y, text=alt.Text("text", type="nominal")))
    return layers


# Alignment, shift, colour (dark enough to read) and weight of words.
_LOOK: dict[str, tuple[Any, float, str, Any]] = {
    UP: ("right", 2, "#A34700", "normal"),
    DOWN: ("left", -2, "#005A8C", "normal"),
    "total": ("center", 0, theme.INK, "bold"),
}


def _arrows(arrows: list[Row], axis: Axis, top: float, x: dict[str, Any], y: alt.Y) -> list[alt.Chart]:
    layers = []
    for sort in dict.fromkeys(each["sort"] for each in arrows):
        corners = [
            {
                "arrow": f"{k}",
                "order": n,
                "x": axis.value(px),
                "y": top + py,
                "full": each["full"],
                "label": each["label"],
            }
            for k, each in enumerate(arrows)
            if each["sort"] == sort
            for n, (px, py) in enumerate(_outline(axis.pixel(each["start"]), axis.pixel(each["end"])))
        ]
        mark = alt.Chart(data(corners)).mark_line(
            interpolate="linear-closed", stroke="white", strokeWidth=1, fill=COLOURS[sort], fillOpacity=0.85
        )
        tips = tooltips(("", "full"), ("contribution", "label"))
        layers.append(
            mark.encode(x=alt.X("x", **x), y=y, detail=alt.Detail("arrow:N"), order=alt.Order("order:Q"), tooltip=tips)
        )
    return layers


def _outline(start: float, end: float) -> list[tuple[float, float]]:
    """The corners of an arrow with a notched tail, in pixels."""
    tip = min(6.0, abs(end - start) / 2) * (1 if end > start else -1)
    middle = _ARROW / 2
    return [(start, 0), (end - tip, 0), (end, middle), (end - tip, _ARROW), (start, _ARROW), (start + tip, middle)]


# -- Where words stand -----------------------------------------------------------------------------
#
# Where the words of a force plot go: below their arrows like flags, so that none is on another or on its string.


@dataclass(frozen=True)
class Axis:
    """The line the arrows are on: data limits and pixels."""

    limits: Limits
    width: float

    def pixel(self, value: float) -> float:
        """Where a value is, in pixels from the left."""
        return (value - self.limits[0]) / (self.limits[1] - self.limits[0]) * self.width

    def value(self, pixel: float) -> float:
        """The value at a pixel."""
        return self.limits[0] + pixel / self.width * (self.limits[1] - self.limits[0])


def named(arrows: list[Row]) -> list[Row]:
    """The largest arrows of each side with their words, and the middle where the string hangs."""
    least = _LEAST * sum(abs(each["end"] - each["start"]) for each in arrows)
    order = sorted(arrows, key=lambda each: -abs(each["end"] - each["start"]))
    worth = [each for n, each in enumerate(order) if n == 0 or abs(each["end"] - each["start"]) >= least]
    sides = [[each for each in worth if (each["sort"] == UP) == up][:_SIDE] for up in (True, False)]
    return [
        {**each, "at": (each["start"] + each["end"]) / 2, "text": _label(each, _LETTERS)}
        for side in sides
        for each in side
    ]


def _label(arrow: Row, most: int) -> str:
    """What an arrow stands for, at most about so long, and its contribution in full."""
    return f"{short_label(arrow['full'], most)} ({arrow['label']})"


def axis_of(values: Sequence[float], words: list[Row], width: float) -> Axis:
    """An axis with room at the left for the words of arrows up, which reach left, and at the right for the others."""
    low, high = min(values), max(values)
    if not high - low > 1e-9 * max(abs(low), abs(high)):
        return Axis(limits_of(values), width)
    left = right = _MARGIN
    for _ in range(8):  # the margins take from the room between them
        inner = width - left - right
        need = {True: _MARGIN, False: _MARGIN}
        for each in words:
            up, share = each["sort"] == UP, (each["at"] - low) / (high - low)
            need[up] = max(need[up], LETTER * (len(each["text"]) + 1) - inner * (share if up else 1 - share))
        left, right = (min(need[side], _MOST_MARGIN * width) for side in (True, False))
    per_pixel = (high - low) / (width - left - right)
    return Axis((low - left * per_pixel, high + right * per_pixel), width)


def hung(words: list[Row], axis: Axis) -> list[Row]:
    """The words with their line; names are cut where the margin is not enough, numbers never."""
    found: list[Row] = []
    for up in (True, False):
        side = [each for each in words if (each["sort"] == UP) == up]
        places = [axis.pixel(each["at"]) if up else axis.width - axis.pixel(each["at"]) for each in side]
        texts = [
            (
                each["text"]
                if LETTER * len(each["text"]) <= place
                else _label(each, min(_LETTERS, max(int(place / LETTER) - len(each["label"]) - 3, 6)))
            )
            for each, place in zip(side, places, strict=True)
        ]
        lines = flags(places, [LETTER * len(text) for text in texts])
        found += [{**each, "text": text, "line": line} for each, text, line in zip(side, texts, lines, strict=True)]
    return found


def flags(places: Sequence[float], lengths: Sequence[float]) -> list[int]:
    """The line of words that hang on strings at ``places`` (pixels) and reach from there to the left.

    From left to right each takes the first line on which it touches no other words and covers no string. Its own
    string only passes words that end further left, so there always is a line.
    """
    order = sorted(range(len(places)), key=lambda k: places[k])
    lines = [0] * len(places)
    for n, k in enumerate(order):
        start, line = places[k] - lengths[k] - GAP, 0
        # Words on the same line end at their string; strings of lower lines pass this one.
        while any(lines[other] >= line and start < places[other] for other in order[:n]):
            line += 1
        lines[k] = line
    return lines
