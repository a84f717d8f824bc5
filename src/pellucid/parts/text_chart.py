"""The text itself, every word coloured by its contribution."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import altair as alt
import numpy as np
from altair.typing import ChartType

from pellucid.charts import attribution as contributions
from pellucid.charts import theme
from pellucid.charts.attribution.entries import change, half_widths, others_note, part_name
from pellucid.charts.layout import Row, data, layered, told, tooltips, vconcat
from pellucid.charts.text import caveat_note, wrapped
from pellucid.parts.attribution import TextAttribution
from pellucid.parts.chart_style import colour_scales, ends_note, panel_name, signed_colour, what_it_is
from pellucid.parts.local import LocalTextAttribution
from pellucid.parts.options import TextOptions
from pellucid.parts.text_layout import OUTSIDE, Fragment, set_lines
from pellucid.words import counted, percent

FONT = 15.0
LINE = 1.7  # font sizes from line to line
PAD = 0.12  # font sizes of colour beside a word
_WIDTH = 640.0

TextResult = TextAttribution | LocalTextAttribution


def body(attribution: TextResult, options: TextOptions) -> ChartType:
    """The text, once for every output; or another chart of contributions."""
    if options.kind != "auto":
        return contributions.body(attribution, options)
    width = options.width or _WIDTH
    outputs = attribution.leading(options.panels)
    fragments = set_lines(attribution.source, [(a, b) for a, b in attribution.spans.tolist()], width / FONT - 2 * PAD)
    drawn = [fragment for fragment in fragments if fragment.line < options.max_lines]
    views = [_view(attribution, output, drawn, width, named=len(attribution.output_names) > 1) for output in outputs]
    chart = views[0] if len(views) == 1 else vconcat(*views, spacing=18).resolve_scale(color=colour_scales(attribution))
    notes = [
        *_notes(attribution, outputs),
        others_note(attribution, outputs),
        _left_out(attribution, fragments, drawn),
        caveat_note(attribution),
    ]
    return told(chart, attribution, options, what_it_is(attribution, attribution.unit), notes, width)


def _notes(attribution: TextResult, outputs: tuple[str, ...]) -> list[str]:
    hidden = len(attribution.output_names) - len(outputs)
    units = f"{len(attribution.players)} {attribution.unit}s"
    words = attribution.settings.get("words")
    joined = f"{words:,} words joined to {units}" if attribution.unit == "phrase" and isinstance(words, int) else ""
    lower = f"{counted(hidden, 'output')} with lower predictions not shown" if hidden else ""
    return [ends_note(attribution), joined, lower]


def _left_out(attribution: TextResult, fragments: list[Fragment], drawn: list[Fragment]) -> str:
    """What the lines that are not drawn hold."""
    if len(drawn) == len(fragments):
        return ""
    seen = {fragment.word for fragment in drawn}
    entry = attribution.entry_of
    sizes = (np.abs(attribution.stacked()[0]).sum(axis=1) / np.bincount(entry))[entry]
    missing = [word for word in range(len(attribution.players)) if word not in seen]
    share = float(sizes[missing].sum() / (sizes.sum() or 1.0))
    lines = fragments[-1].line - drawn[-1].line
    return f"{lines:,} more lines, with {percent(share)} of the absolute contributions, not shown (max_lines=)"


def box_data(attribution: TextResult, output: str, fragments: list[Fragment]) -> list[Row]:
    """One row per word and line: the box in pixels, and what the word contributes; no value inside a sum of others."""
    one = attribution.for_output(output)
    entry, halves = one.entry_of, half_widths(one)[0]
    rows: list[Row] = []
    for box in word_boxes(fragments):
        j = int(entry[box.pop("number")])
        value = float(one.values[0, j])
        rows.append(
            {
                **box,
                "value": None if j == one.entries.others else value,
                "label": change(value, one.scale, float(halves[j])),
                "word": part_name(one, j),
            }
        )
    return rows


def word_boxes(fragments: list[Fragment]) -> list[Row]:
    """The box in pixels of every word, by its number, once for each line it is on."""
    rows: list[Row] = []
    for (word, line), run in groupby(fragments, lambda each: (each.word, each.line)):
        if word == OUTSIDE:
            continue
        some = list(run)
        rows.append(
            {
                "number": word,
                "x": FONT * min(each.left for each in some),
                "x2": FONT * (max(each.left + each.width for each in some) + 2 * PAD),
                "y": FONT * LINE * line + 1,
                "y2": FONT * LINE * (line + 1) - 1,
            }
        )
    return rows


def letter_data(fragments: list[Fragment]) -> list[Row]:
    """One row per fragment of text: the middle of its place in pixels."""
    return [
        {
            "middle": FONT * (each.left + PAD + each.width / 2),
            "baseline": FONT * LINE * (each.line + 0.5),
            "text": each.text,
            "ink": theme.MUTED if each.word == OUTSIDE else theme.INK,
        }
        for each in fragments
    ]


def page(fragments: list[Fragment], width: float) -> tuple[float, dict[str, Any], dict[str, Any]]:
    """The height of a text of these fragments, and the channels of places on it, from the upper left corner."""
    height = FONT * LINE * (1 + max((each.line for each in fragments), default=0))
    plain: dict[str, Any] = {"type": "quantitative", "axis": None}
    x = {**plain, "scale": alt.Scale(domain=[0, width], nice=False)}
    y = {**plain, "scale": alt.Scale(domain=[height, 0], nice=False)}
    return height, x, y


def _view(attribution: TextResult, output: str, fragments: list[Fragment], width: float, *, named: bool) -> ChartType:
    boxes, letters = box_data(attribution, output, fragments), letter_data(fragments)
    height, x, y = page(fragments, width)
    tips = tooltips((attribution.unit, "word"), ("contribution", "label"))
    colour = signed_colour(attribution, output, width)
    place: dict[str, Any] = {"x": alt.X("x", **x), "x2": "x2", "y": alt.Y("y", **y), "y2": "y2"}
    own, folded = ([row for row in boxes if (row["value"] is None) == none] for none in (False, True))
    layers: list[ChartType] = [
        alt.Chart(data(own)).mark_rect(cornerRadius=3).encode(**place, color=colour, tooltip=tips)
    ]
    if folded:
        layers.append(alt.Chart(data(folded)).mark_rect(cornerRadius=3, color=theme.EMPTY, opacity=0.5).encode(**place))
    for ink in sorted({row["ink"] for row in letters}):
        some = alt.Chart(data([row for row in letters if row["ink"] == ink]))
        layers.append(
            some.mark_text(fontSize=FONT, color=ink).encode(
                x=alt.X("middle", **x), y=alt.Y("baseline", **y), text=alt.Text("text", type="nominal")
            )
        )
    # A box without colour on top: letters would hide the tooltip of their word.
    layers.append(alt.Chart(data(boxes)).mark_rect(opacity=0).encode(**place, tooltip=tips))
    view = layered(*layers).properties(width=width, height=height)
    if not named:
        return view
    return view.properties(title=alt.TitleParams(wrapped(panel_name(attribution, output), width), fontSize=13))
