"""A waterfall: one bar per contribution, each starting where the one above it ends."""

from __future__ import annotations

from collections.abc import Callable

import altair as alt
from altair.typing import ChartType

from pellucid.charts import theme
from pellucid.charts.attribution.entries import DOWN, UP, change, prediction_title, rows_note, short_names, steps
from pellucid.charts.layout import Row, bounds, data, layered, level_axis, limits_of, tooltips, value_axis, vconcat
from pellucid.charts.text import shown
from pellucid.explanations import Attribution
from pellucid.explanations.attribution_words import start_name
from pellucid.explanations.plot_options import AttributionOptions

MOST_ROWS = 4
COLOURS = {UP: theme.SECOND, DOWN: theme.MAIN, "total": theme.INK}
Picture = Callable[[Attribution, str, AttributionOptions, float, int], ChartType]


def notes(attribution: Attribution, _: AttributionOptions) -> list[str]:
    """Which rows, and what the thin lines are."""
    thin = ["thin lines: 95% intervals"] if (attribution.se > 0).any() else []
    return [*rows_note(min(MOST_ROWS, len(attribution)), attribution, "the first "), *thin]


def waterfall_data(one: Attribution, max_display: int = 10, row: int = 0) -> list[Row]:
    """One bar per step from the base to the prediction, largest contribution first, the small ones together."""
    found, scale = steps(one, row, max_display), one.scale
    names = short_names([start_name(one), *(step.label for step in found), "prediction"])
    at = float(one.base)
    rows = [_total(names[0], at, scale)]
    for name, step in zip(names[1:-1], found, strict=True):
        end = at + step.value
        rows.append(
            {
                "step": name,
                "start": at,
                "end": end,
                "low": end - step.half if step.half > 0 else None,
                "high": end + step.half if step.half > 0 else None,
                "right": max(at, end + step.half),
                "sort": UP if step.value >= 0 else DOWN,
                "label": change(step.value, scale, step.half),
                "full": step.label,
            }
        )
        at = end
    return [*rows, _total(names[-1], float(one.prediction[row]), scale)]


def _total(name: str, at: float, scale: str) -> Row:
    label = shown(at, scale, change=False)
    return {
        "step": name,
        "start": at,
        "end": at,
        "low": None,
        "high": None,
        "right": at,
        "sort": "total",
        "label": label,
        "full": name,
    }


def view(attribution: Attribution, output: str, options: AttributionOptions, width: float) -> ChartType:
    """The waterfall of the row, or of the first rows."""
    return below_each_other(_of_row, attribution.for_output(output), output, options, width, MOST_ROWS)


def _of_row(one: Attribution, output: str, options: AttributionOptions, width: float, row: int) -> ChartType:
    rows = waterfall_data(one, options.max_display, row)
    names = [each["step"] for each in rows]
    height = options.height or 24.0 * len(rows)
    sure = [each for each in rows if each["low"] is not None]
    low, high = limits_of(
        *([each[end] for each in rows] for end in ("start", "end")),
        *([each[end] for each in sure] for end in ("low", "high")),
        within=bounds(one.scale, change=False),
    )
    room = 7.0 * max(len(each["label"]) for each in rows)  # for the numbers beside the bars
    limits = (low, high + room / max(width - room, 60.0) * (high - low))
    x = value_axis(prediction_title(one, output), limits, width, scale=one.scale)
    y = alt.Y("step", **level_axis(None, names, height))
    scale = alt.Scale(domain=list(COLOURS), range=list(COLOURS.values()))
    colour = alt.Color("sort", type="nominal", scale=scale, legend=None)
    tips = tooltips(("", "full"), ("contribution", "label"))
    bars = alt.Chart(data([each for each in rows if each["sort"] != "total"])).mark_bar(opacity=0.85)
    errors = alt.Chart(data(sure)).mark_rule(color=theme.INK, strokeWidth=1.5)
    totals = alt.Chart(data([rows[0], rows[-1]])).mark_tick(thickness=3, size=18)
    words = alt.Chart(data(rows)).mark_text(align="left", dx=5, fontSize=11, color=theme.INK)
    start = alt.Chart(data([{}])).mark_rule(color=theme.FAINT, strokeDash=[4, 4])
    layers = [
        start.encode(x=alt.XDatum(rows[0]["end"])),
        bars.encode(x=alt.X("start", **x), x2=alt.X2("end"), y=y, color=colour, tooltip=tips),
        *([errors.encode(x=alt.X("low", **x), x2=alt.X2("high"), y=y)] if sure else []),
        totals.encode(x=alt.X("end", **x), y=y, color=colour),
        words.encode(x=alt.X("right", **x), y=y, text=alt.Text("label", type="nominal")),
    ]
    return layered(*layers).properties(width=width, height=height)


# -- Single rows below each other ------------------------------------------------------------------


def below_each_other(
    picture: Picture, one: Attribution, output: str, options: AttributionOptions, width: float, most: int
) -> ChartType:
    """The picture of the only row, or those of the first ``most`` rows, each under its name."""
    if len(one) == 1:
        return picture(one, output, options, width, 0)
    named = [
        picture(one, output, options, width, i).properties(
            title=alt.TitleParams(f"row {one.row_labels.name(i)}", fontSize=12)
        )
        for i in range(min(len(one), most))
    ]
    return vconcat(*named)
