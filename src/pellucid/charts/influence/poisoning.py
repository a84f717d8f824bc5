"""Poisoning: the prediction by the number of changed labels, as refitted."""

from __future__ import annotations

from typing import Any

import altair as alt
from altair.typing import ChartType

from pellucid.charts import theme
from pellucid.charts.layout import Row, data, layered, titled, tooltips, value_axis
from pellucid.charts.text import caveat_note
from pellucid.explanations import Poisoning
from pellucid.explanations.plot_options import PoisoningOptions
from pellucid.words import counted, number


def body(found: Poisoning, options: PoisoningOptions) -> ChartType:
    """Refitted predictions, a line for each of the two classes, and where the prediction turns."""
    width, height = options.width or theme.WIDTH * 0.9, options.height or theme.HEIGHT
    classes = found.refitted.shape[1] == 2
    what = "outcome" if found.settings["limits"] else "label"
    names = (found.present, found.target) if classes else ("prediction",)
    rows: list[Row] = [
        {
            "labels": int(count),
            "value": float(value),
            "class": name,
            "words": f"{counted(int(count), f'changed {what}')}: {name} {number(float(value))}",
        }
        for count, shown in zip(found.counts, found.refitted, strict=True)
        for name, value in zip(names, shown, strict=True)
    ]
    low, high = float(found.refitted.min()), float(found.refitted.max())
    share = classes and low >= 0 and high <= 1
    margin = 0.08 * max(high - low, 1e-12)
    limits = (0.0, 1.0) if share else (low - margin, high + margin)
    most = max(float(found.counts.max()), 1.0)
    x = alt.X("labels", **value_axis(f"changed {what}s", (0.0, most * 1.02), width, **_whole(most)))
    title = "probability, fitted again" if share else "prediction, fitted again"
    y = alt.Y("value", **value_axis(title, limits, height, scale="probability" if share else "response"))
    legend = alt.Legend(title=None, orient="top") if classes else None
    scale = alt.Scale(domain=list(names), range=[theme.SECOND, theme.MAIN] if classes else [theme.MAIN])
    chart = alt.Chart(data(rows))
    colour = alt.Color("class:N", scale=scale, legend=legend)
    line = chart.mark_line(strokeWidth=2).encode(x=x, y=y, color=colour)
    dots = chart.mark_point(filled=True, size=50).encode(x=x, y=y, color=colour, tooltip=tooltips(("", "words")))
    layers = [*_turn(found, x), line, dots]
    first = options.title or found.findings()[0].removesuffix(".")
    return titled(
        layered(*layers).properties(width=width, height=height),
        first,
        [caveat_note(found)],
        options.width or theme.WIDTH,
    )


def _whole(most: float) -> dict[str, Any]:
    """Ticks at whole numbers, where there are few."""
    return {"values": list(range(int(most) + 1))} if most <= 10 else {}


def _turn(found: Poisoning, x: alt.X) -> list[alt.Chart]:
    if found.needed is None:
        return []
    mark = alt.Chart(data([{"labels": int(found.needed)}]))
    return [mark.mark_rule(color=theme.MUTED, strokeDash=[5, 4], strokeWidth=1.2).encode(x=x)]
