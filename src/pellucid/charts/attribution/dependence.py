"""The contribution of a feature against its value, coloured by the feature that changes it most."""

from __future__ import annotations

from collections import Counter
from typing import Any

import altair as alt
import numpy as np
from altair.typing import ChartType

from pellucid.arrays import IntArray
from pellucid.charts import layout, theme
from pellucid.charts.attribution.beeswarm import offsets
from pellucid.charts.attribution.entries import axis_title, evenly, rows_note, shortened
from pellucid.charts.colouring import OTHER, categories, colour_encoding, is_nominal
from pellucid.charts.marks import zero_line
from pellucid.charts.text import shown
from pellucid.data.frames.frame import is_missing
from pellucid.data.natural import in_order
from pellucid.errors import InputError
from pellucid.explanations import Attribution, Colouring
from pellucid.explanations.attribution import shown_value
from pellucid.explanations.attribution_partner import partner, position
from pellucid.explanations.plot_options import AttributionOptions

_MOST_POINTS = 1500
_MOST_LEVELS = 20
MISSING = "missing"


def notes(attribution: Attribution, options: AttributionOptions) -> list[str]:
    """The colour and how it was chosen, and what is left out."""
    colouring = colour_of(attribution, options)
    chosen = options.colour == "auto"
    how = "strongest interaction" if attribution.interaction_values is not None else "explains most of the spread"
    said = f"colour: {shortened(colouring.feature)}" if colouring else ""
    if chosen:
        said = f"{said} ({how})" if colouring else "no colour: no other feature explains the spread"
    grey = colouring is not None and any(is_missing(value) for value in colouring.values)
    return [
        said,
        *(["grey: its value is missing"] if grey else []),
        *rows_note(len(evenly(len(attribution), _MOST_POINTS)), attribution, "dots: "),
    ]


def feature_of(attribution: Attribution, options: AttributionOptions) -> int:
    """The position of the feature asked for, or of the one that contributes most."""
    return int(attribution.ranking[0]) if options.feature is None else position(attribution, options.feature)


def colour_of(attribution: Attribution, options: AttributionOptions) -> Colouring | None:
    """The feature that gives the colours: named, or found by `attribution_partner`."""
    if options.colour is None:
        return None
    name: str | None = options.colour
    if name == "auto" and "auto" not in attribution.feature_names:
        name = partner(attribution, attribution.feature_names[feature_of(attribution, options)])
    if name is None:
        return None
    values = attribution.data[position(attribution, name)]
    if all(is_missing(value) for value in values):
        return None
    return Colouring(name, values, float("nan"))


def dependence_data(attribution: Attribution, output: str, options: AttributionOptions) -> list[layout.Row]:
    """One dot per row drawn: ``x`` (or ``level``) the value of the feature, null if missing, and its contribution."""
    one, j = attribution.for_output(output), feature_of(attribution, options)
    chosen = evenly(len(one), _MOST_POINTS)
    column, values = attribution.data[j], one.values[:, j]
    levels = _levels(attribution, j)
    colouring = colour_of(attribution, options)
    colours = _colours(colouring, chosen)
    numbers = None if levels else layout.positions(column)
    span = float(np.nan_to_num(np.ptp(values))) or 1.0
    rows: list[layout.Row] = []
    for i, colour in zip(chosen, colours, strict=True):
        missing = is_missing(column[i])
        text = shown_value(column[i])
        rows.append(
            {
                "x": None if missing or numbers is None else float(numbers[i]),
                "level": MISSING if missing else (text if text in levels else OTHER),
                "contribution": float(values[i]),
                "missing": bool(missing),
                "row": one.row_labels.name(i),
                "x_text": text,
                "label": shown(float(values[i]), one.scale, change=True),
                **colour,
            }
        )
    places = np.array([row["level"] if levels or row["missing"] else "" for row in rows], dtype=object)
    for level in set(places.tolist()):
        members = np.flatnonzero(places == level)
        for k, offset in zip(members, offsets(values[chosen][members], span), strict=True):
            rows[k]["offset"] = float(offset)
    return rows


def _levels(attribution: Attribution, j: int) -> list[str]:
    """The levels of a feature without distances, the frequent ones if there are many; none for numbers and dates."""
    if attribution.data[j].dtype.kind in "iufM":
        return []
    counts = Counter(shown_value(value) for value in attribution.data[j] if not is_missing(value))
    return in_order(name for name, _ in counts.most_common(_MOST_LEVELS))


def _colours(colouring: Colouring | None, rows: IntArray) -> list[layout.Row]:
    if colouring is None:
        return [{} for _ in rows]
    texts = [shown_value(colouring.values[i]) for i in rows]
    known = [not is_missing(colouring.values[i]) for i in rows]
    if is_nominal(colouring):
        kept = categories(colouring)
        found: list[Any] = [
            text if text in kept else OTHER for text in (" ".join(t.split()) or "(empty)" for t in texts)
        ]
    else:
        found = [float(number) for number in layout.positions(colouring.values)[rows]]
    return [
        {"colour": value if there else None, "colour_text": text}
        for value, there, text in zip(found, known, texts, strict=True)
    ]


# -- drawing -----------------------------------------------------------------------------------------


def view(attribution: Attribution, output: str, options: AttributionOptions, width: float) -> ChartType:
    """The dots of one output, those whose value is missing at the right."""
    rows, j = dependence_data(attribution, output, options), feature_of(attribution, options)
    height = options.height or theme.HEIGHT
    limits = layout.limits_of([row["contribution"] for row in rows], zero=True)
    name = attribution.feature_names[j]
    colouring = colour_of(attribution, options)
    coloured = [(colouring.feature, "colour_text")] if colouring is not None else []
    tips = layout.tooltips((name, "x_text"), ("contribution", "label"), *coloured, ("row", "row"))
    y = layout.value_axis(axis_title(attribution, output), limits, height, scale=attribution.scale, change=True)
    known, missing = ([row for row in rows if row["missing"] == there] for there in (False, True))
    apart = {"x": alt.X("level", **layout.level_axis(None, [MISSING], 50, labelAngle=0)), **_JITTER}
    if not known:
        main = _dots(missing, apart, alt.Y("contribution", **y), limits, colouring, tips)
        return main.properties(width=width, height=height)
    place = _value_place(attribution, j, known, width, log=options.log)
    main = _dots(known, place, alt.Y("contribution", **y), limits, colouring, tips).properties(
        width=width, height=height
    )
    if not missing:
        return main
    bare = layout.value_axis(None, limits, height, labels=False, ticks=False, domain=False)
    beside = _dots(missing, apart, alt.Y("contribution", **bare), limits, colouring, tips)
    both = layout.assemble(main, beside.properties(width=50, height=height), [])
    return both.resolve_scale(color="shared", x="independent", y="independent", xOffset="independent")


def _value_place(
    attribution: Attribution, j: int, known: list[layout.Row], width: float, *, log: bool
) -> dict[str, Any]:
    """The channels of a feature's values: an axis of numbers or dates, or levels on which the dots are spread."""
    name, levels, column = attribution.feature_names[j], _levels(attribution, j), attribution.data[j]
    if levels:
        present = [*levels, *([OTHER] if any(row["level"] == OTHER for row in known) else [])]
        turn = -40 if len(levels) > 4 else 0
        return {"x": alt.X("level", **layout.level_axis(name, present, width, labelAngle=turn)), **_JITTER}
    kind = {"M": "date", "i": "integer", "u": "integer"}.get(column.dtype.kind, "numeric")
    limits = layout.limits_of([row["x"] for row in known])
    if log:
        least = min(row["x"] for row in known)
        if kind == "date" or not least > 0:
            raise InputError(f"log=True needs positive numbers, but {name} goes down to {shown_value(column.min())}.")
        limits = (least / 1.05, 1.05 * max(row["x"] for row in known))
    return {"x": alt.X("x", **layout.feature_axis(name, kind, limits, width, log=log))}


_JITTER = {"xOffset": alt.XOffset("offset", type="quantitative", scale=alt.Scale(domain=[-1.4, 1.4]))}


def _dots(
    rows: list[layout.Row], x: dict[str, Any], y: alt.Y, limits: layout.Limits, colouring: Colouring | None, tips: Any
) -> ChartType:
    layers = [*zero_line(limits, True)]
    plain = [row for row in rows if row.get("colour") is None]
    for some, colour in (
        (plain, alt.ColorValue(theme.MAIN if colouring is None else theme.MUTED)),
        ([row for row in rows if row.get("colour") is not None], colouring and colour_encoding(colouring)),
    ):
        if some:
            dots = alt.Chart(layout.data(some)).mark_circle(size=26, opacity=0.7)
            layers.append(dots.encode(**x, y=y, color=colour, tooltip=tips))
    return layout.layered(*layers)
