"""Parts of charts that several kinds share: the zero line, dashes, and one colour per output."""

from __future__ import annotations

from typing import Any

import altair as alt

from pellucid.charts import theme
from pellucid.charts.layout import Limits, Row, data
from pellucid.explanations import Effect
from pellucid.explanations.plot_options import EffectOptions


def dash() -> alt.StrokeDash:
    """Solid lines, dashed where few rows support them."""
    scale = alt.Scale(domain=[False, True], range=[[1, 0], [4, 4]])
    return alt.StrokeDash("few", type="nominal", scale=scale, legend=None)


def zero_line(limits: Limits, wanted: bool, channel: str = "y") -> list[alt.Chart]:
    """A rule at zero where values are changes."""
    if not wanted or not limits[0] <= 0 <= limits[1]:
        return []
    place: dict[str, Any] = {channel: alt.XDatum(0) if channel == "x" else alt.YDatum(0)}
    return [alt.Chart(data([{}])).mark_rule(color=theme.MUTED, strokeWidth=1).encode(**place)]


def output_colour(effect: Effect, options: EffectOptions) -> Any:
    """One colour per output, or the one colour asked for; a class has the same in every chart, drawn with others or
    alone.
    """
    names = list(effect.output_names)
    if len(names) == 1 and options.colour not in ("auto", None):
        return alt.ColorValue(options.colour)
    known = coloured_outputs(effect)
    if len(known) == 1:
        return alt.ColorValue(theme.MAIN)
    scale = alt.Scale(domain=known, **theme.category_range(len(known)))
    title = "class" if effect.scale in ("probability", "log-odds") else "output"
    key = alt.Legend(title=title, values=names) if len(names) > 1 else None
    return alt.Color("output", type="nominal", scale=scale, legend=key)


def coloured_outputs(effect: Effect) -> list[str]:
    """The outputs that have a colour, in its order: all classes, of two the second first, which is drawn by default."""
    names, classes = list(effect.output_names), list(effect.header.classes)
    if not set(names) <= set(classes):
        return names
    return classes[::-1] if len(classes) == 2 else classes


def output_tip(effect: Effect) -> list[tuple[str, str]]:
    """A tooltip line for the output where there are several."""
    return [("output", "output")] if len(effect.output_names) > 1 else []


def channel(name: str, field: str, properties: dict[str, Any]) -> Any:
    """The encoding of a position channel by its name."""
    kinds = {"x": alt.X, "y": alt.Y, "xOffset": alt.XOffset, "yOffset": alt.YOffset}
    return kinds[name](field, **properties)


def text_layers(rows: list[Row], place: dict[str, Any]) -> list[alt.Chart]:
    """The ``label`` of each row in its ``ink``, one layer per ink: text has no part in the colour scale."""
    layers: list[alt.Chart] = []
    for ink in sorted({row["ink"] for row in rows}):
        chart = alt.Chart(data([row for row in rows if row["ink"] == ink])).mark_text(fontSize=11, color=ink)
        layers.append(chart.encode(**place, text=alt.Text("label", type="nominal")))
    return layers
