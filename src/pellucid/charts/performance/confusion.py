"""The confusion matrix: rows by true and predicted class."""

from __future__ import annotations

import altair as alt
from altair.typing import ChartType

from pellucid.charts import theme
from pellucid.charts.layout import Row, data, layered, level_axis, tooltips
from pellucid.charts.marks import text_layers
from pellucid.charts.text import level_names
from pellucid.explanations import Performance
from pellucid.explanations.plot_options import PerformanceOptions
from pellucid.words import number, percent

_PRINTED = 12  # up to so many classes the numbers are printed in the cells
_BARE = 6  # with more classes than this shares are left to the colour, and empty cells are empty
_DARK = 0.55
_LETTER = 9.0  # pixels for a letter of a class, with the gap to the next


def confusion_data(found: Performance) -> list[Row]:
    """One row per pair of a true and a predicted class; shares are those of the true class."""
    names = level_names(found.classes)
    bare = len(names) > _BARE
    rows: list[Row] = []
    for true, line in zip(names, found.confusion, strict=True):
        total = float(line.sum())
        for taken, weight in zip(names, line, strict=True):
            share = float(weight) / total if total > 0 else 0.0
            rows.append(
                {
                    "true": true,
                    "predicted": taken,
                    "share": share,
                    "label": _label(float(weight), share, bare) if total > 0 else ["no row"],
                    "rows_text": number(float(weight)),
                    "share_text": percent(share),
                    "ink": "white" if share > _DARK else "black",
                }
            )
    return rows


def _label(weight: float, share: float, bare: bool) -> list[str]:
    if bare:
        return [number(weight) if weight else ""]
    return [number(weight), f"({percent(share)})"]


def confusion(found: Performance, options: PerformanceOptions) -> ChartType:
    """Cells coloured by the share of the true class, with the number of rows."""
    rows = confusion_data(found)
    names = level_names(found.classes)
    printed = len(names) <= _PRINTED
    step = 90.0 if len(names) < 4 else 64.0 if printed else 18.0
    width, height = (
        options.width or max(step * len(names), 250.0),
        options.height or max(0.6 * step * len(names), 150.0),
    )
    x = alt.X(
        "predicted",
        **level_axis(
            "predicted class", names, width, cells=True, labelAngle=0 if sum(map(len, names)) * _LETTER < width else -45
        ),
    )
    y = alt.Y("true", **level_axis("true class", names, height, cells=True))
    tips = tooltips(
        ("true class", "true"), ("predicted", "predicted"), ("rows", "rows_text"), ("of the true class", "share_text")
    )
    scale = alt.Scale(scheme=theme.STRENGTH, domain=[0, 1])
    colour = alt.Color("share", type="quantitative", scale=scale, legend=None)
    cells = alt.Chart(data(rows)).mark_rect().encode(x=x, y=y, color=colour, tooltip=tips)
    layers = [cells, *(text_layers(rows, {"x": x, "y": y, "tooltip": tips}) if printed else [])]
    return layered(*layers).properties(width=width, height=height)
