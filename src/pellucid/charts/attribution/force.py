"""A force plot: arrows that push up and down along one line, and meet at the prediction.

Arrows up end at the prediction, arrows down start there; the base lies where the sum of both leads from.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
from altair.typing import ChartType

from pellucid.charts import theme
from pellucid.charts.attribution.folding import DOWN, UP, Step, steps
from pellucid.charts.attribution.force_words import GAP, Axis, axis_of, hung, named
from pellucid.charts.attribution.single_rows import below_each_other
from pellucid.charts.attribution.waterfall import COLOURS, MOST_ROWS
from pellucid.charts.attribution.words import change, prediction_title, rows_note, start_name
from pellucid.charts.scales import Row, data, tooltips, value_axis
from pellucid.charts.text import shown
from pellucid.explanations import Attribution
from pellucid.explanations.plot_options import AttributionOptions

_BOLD = 6.6  # pixels of a letter
_LINE = 17.0  # height of a line of words
_ARROW = 26.0  # height of the arrows


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
    x = value_axis(prediction_title(one, output), axis.limits, width, grid=False, tickCount=max(3, round(width / 90)))
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
    return alt.layer(*layers).properties(width=width, height=options.height or bottom)


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
    return [strings.mark_rule(**mark).encode(x=alt.X("x", **x), y=y, y2="y2")]


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
        layers.append(mark.encode(x=alt.X("x", **x), y=y, detail="arrow:N", order="order:Q", tooltip=tips))
    return layers


def _outline(start: float, end: float) -> list[tuple[float, float]]:
    """The corners of an arrow with a notched tail, in pixels."""
    tip = min(6.0, abs(end - start) / 2) * (1 if end > start else -1)
    middle = _ARROW / 2
    return [(start, 0), (end - tip, 0), (end, middle), (end - tip, _ARROW), (start, _ARROW), (start + tip, middle)]
