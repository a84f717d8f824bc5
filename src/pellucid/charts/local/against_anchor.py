"""LIME beside anchors, for rows of a model of two features: a line that holds near a row, and a box that fixes its
prediction.

Reference. Ribeiro, Singh and Guestrin 2018, "Anchors: high-precision model-agnostic explanations", whose first figure
is of this kind.

Left, the line on which the local model passes the boundary, drawn out where samples count for more than 1/e (the
ellipse of the kernel's width): how far the line may be followed is a choice. Right, the box of the rule: it says to
which rows it applies, and how often it is right there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np
from altair.typing import ChartType

from pellucid.arrays import FloatArray
from pellucid.charts import theme
from pellucid.charts.chart import Chart
from pellucid.charts.layout import Row, data, feature_axis, grid, layered, limits_of, titled, tooltips
from pellucid.charts.local.boundary import line_data, raster_data
from pellucid.charts.text import scale_words
from pellucid.errors import InputError
from pellucid.explanations import Anchor, Boundary, LocalAttribution
from pellucid.words import number, percent

_SIZE = 330.0
_CORNERS = 120  # of an ellipse
_TEXT = 13
_SHADES = ["#8FBFE0", "#F7F7F7", "#F5BE82"]  # pale, because much is drawn upon them


@dataclass(frozen=True, eq=False)
class Pair:
    """A local model with its boundary, and a rule, of the same row."""

    local: LocalAttribution
    rule: Anchor
    boundary: Boundary

    @property
    def axes(self) -> FloatArray:
        """Half the axes of the ellipse within which samples count for more than 1/e."""
        places = [self.local.terms.index(name) for name in self.boundary.names]
        return np.asarray(self.local.width[0] * self.local.scales[0, places])


def lime_against_anchor(*explained: tuple[LocalAttribution, Anchor], title: str = "LIME and anchors") -> Chart:
    """The model's regions, with a local model and a rule for each of some rows.

    Local models come from ``lime(row, boundary=(first, second))``, rules from ``anchor(row)``; the model of the first
    is shown.
    """
    pairs = [_pair(local, rule) for local, rule in explained]
    if not pairs:
        raise InputError("there is nothing to show; give pairs of a local model and a rule.")
    first = pairs[0]
    names, grids = first.boundary.names, first.boundary.grids
    if any(pair.boundary.names != names for pair in pairs):
        raise InputError(
            f"the local models have boundaries in different features; explain all with boundary={names!r}."
        )
    x = feature_axis(names[0], "numeric", limits_of(grids[0]), _SIZE)
    y = feature_axis(names[1], "numeric", limits_of(grids[1]), _SIZE)
    regions = _regions(first, x, y)
    marks = [{"x": float(pair.boundary.row[0]), "y": float(pair.boundary.row[1])} for pair in pairs]
    cross = alt.Chart(data(marks)).mark_point(
        shape="cross", size=130, filled=True, color="black", stroke="white", opacity=1
    )
    rows = cross.encode(x=alt.X("x", **x), y=alt.Y("y", **y))
    views: list[ChartType] = [
        _panel("LIME: a line that holds nearby", [*regions, *_lines(pairs, x, y), rows]),
        _panel("Anchors: a box that fixes the prediction", [*regions, *_boxes(pairs, x, y), rows]),
    ]
    notes = [
        "ellipse: samples count for more than 1/e; the line is drawn out there",
        "box: rows to which the rule applies",
        "shades and thin line: the model",
    ]
    return Chart(titled(grid(views, columns=2), title, notes, 2 * _SIZE + 150))


def _pair(local: LocalAttribution, rule: Anchor) -> Pair:
    found = local.boundary
    if found is None or len(local.terms) != 2 or local.settings.get("distance") != "euclidean":
        raise InputError(
            "the local model has no boundary in its two features; explain one row of a model of two numeric features"
            " with lime(row, boundary=('first', 'second'))."
        )
    if any(condition.feature not in found.names or condition.kind != "interval" for condition in rule.conditions):
        raise InputError(f"the rule is not about {found.names[0]} and {found.names[1]} alone; explain the same row.")
    return Pair(local, rule, found)


# -- data --------------------------------------------------------------------------------------------


def ellipse_data(pair: Pair, number_: int) -> list[Row]:
    """Corners of the neighbourhood."""
    angles = np.linspace(0.0, 2.0 * np.pi, _CORNERS + 1)
    (x, y), (a, b) = pair.boundary.row, pair.axes
    return [
        {"x": float(x + a * np.cos(t)), "y": float(y + b * np.sin(t)), "line": number_, "at": k}
        for k, t in enumerate(angles)
    ]


def near_line_data(pair: Pair, number_: int) -> list[Row]:
    """The points of the local model's boundary inside the neighbourhood."""
    rows = line_data(pair.boundary, pair.boundary.local)
    centre, axes = pair.boundary.row, pair.axes
    inside = [
        row for row in rows if (((row["x"] - centre[0]) / axes[0]) ** 2 + ((row["y"] - centre[1]) / axes[1]) ** 2) <= 1
    ]
    return [{**row, "line": f"{number_}-{row['line']}"} for row in inside]


def box_data(pair: Pair) -> Row:
    """The box of the rule, as far as the picture goes, and what it promises."""
    ends = []
    for name, points in zip(pair.boundary.names, pair.boundary.grids, strict=True):
        own = [condition for condition in pair.rule.conditions if condition.feature == name]
        low = max([float(points[0]), *(condition.low for condition in own)])
        high = min([float(points[-1]), *(condition.high for condition in own)])
        ends.append((low, high))
    (x, x2), (y, y2) = ends
    return {
        "x": x,
        "x2": x2,
        "y": y,
        "y2": y2,
        "words": f"precision {percent(pair.rule.precision)}\ncoverage {percent(pair.rule.coverage)}",
        "rule": pair.rule.sentence,
    }


# -- layers ------------------------------------------------------------------------------------------


def _regions(pair: Pair, x: dict[str, Any], y: dict[str, Any]) -> list[alt.Chart]:
    """What the model says everywhere, and its own boundary."""
    found, local = pair.boundary, pair.local
    scale = "probability" if local.settings.get("model") == "logistic" else local.scale
    low, high = limits_of(found.model)
    shade = alt.Scale(range=_SHADES, domain=[low, found.level, high], clamp=True, interpolate="rgb")
    words = scale_words(local, found.output).strip(" ()") or "prediction"
    cells = alt.Chart(data(raster_data(found, found.model, scale))).mark_rect(opacity=1)
    edge = alt.Chart(data(line_data(found, found.model))).mark_line(color=theme.MUTED, strokeWidth=1.2)
    return [
        cells.encode(
            x=alt.X("x", **x),
            x2=alt.X2("x2"),
            y=alt.Y("y", **y),
            y2=alt.Y2("y2"),
            tooltip=tooltips((words, "label")),
            color=alt.Color(
                "value", type="quantitative", scale=shade, legend=alt.Legend(title=words, gradientLength=140)
            ),
        ),
        edge.encode(x=alt.X("x", **x), y=alt.Y("y", **y), detail=alt.Detail("line:N"), order=alt.Order("at:Q")),
    ]


def _lines(pairs: list[Pair], x: dict[str, Any], y: dict[str, Any]) -> list[alt.Chart]:
    """Neighbourhoods, the boundaries of the local models, and how well these hold."""
    whole = [
        {**row, "line": f"{k}-{row['line']}"}
        for k, pair in enumerate(pairs)
        for row in line_data(pair.boundary, pair.boundary.local)
    ]
    near = [row for k, pair in enumerate(pairs) for row in near_line_data(pair, k)]
    round_ = [row for k, pair in enumerate(pairs) for row in ellipse_data(pair, k)]
    said = [
        {
            "x": float(pair.boundary.row[0]),
            "y": float(pair.boundary.row[1] - pair.axes[1]),
            "words": (
                f"R² {number(float(np.ravel(pair.local.fidelity)[0]))}\nwidth {number(float(pair.local.width[0]))}"
            ),
        }
        for pair in pairs
    ]

    def line(rows: list[Row], width: float, dash: list[float], ink: str) -> alt.Chart:
        drawn = alt.Chart(data(rows)).mark_line(color=ink, strokeWidth=width, strokeDash=dash, clip=True)
        return drawn.encode(x=alt.X("x", **x), y=alt.Y("y", **y), detail=alt.Detail("line:N"), order=alt.Order("at:Q"))

    return [
        line(whole, 1.0, [2, 3], theme.INK),
        line(near, 3.0, [1, 0], theme.INK),
        line(round_, 1.6, [1, 0], theme.CATEGORIES[2]),
        *_words(said, x, y),
    ]


def _boxes(pairs: list[Pair], x: dict[str, Any], y: dict[str, Any]) -> list[alt.Chart]:
    """The boxes of the rules and what they promise."""
    rows = [box_data(pair) for pair in pairs]
    boxes = alt.Chart(data(rows)).mark_rect(
        fill=theme.CATEGORIES[2], fillOpacity=0.15, stroke=theme.INK, strokeWidth=2.4, opacity=1
    )
    below: list[Row] = []
    above: list[Row] = []
    for row, pair in zip(rows, pairs, strict=True):
        points = pair.boundary.grids[1]  # the words stand where there is more room
        higher = float(points[-1]) - row["y2"] > row["y"] - float(points[0])
        said = {"x": (row["x"] + row["x2"]) / 2, "y": row["y2"] if higher else row["y"], "words": row["words"]}
        (above if higher else below).append(said)
    return [
        boxes.encode(
            x=alt.X("x", **x), x2=alt.X2("x2"), y=alt.Y("y", **y), y2=alt.Y2("y2"), tooltip=tooltips(("", "rule"))
        ),
        *_words(below, x, y),
        *_words(above, x, y, above=True),
    ]


def _words(rows: list[Row], x: dict[str, Any], y: dict[str, Any], *, above: bool = False) -> list[alt.Chart]:
    """Words of two lines below or above a place."""
    text = alt.Chart(data(rows)).encode(x=alt.X("x", **x), y=alt.Y("y", **y), text=alt.Text("words:N"))
    shift = -2.4 * _TEXT - 6 if above else 6
    return [text.mark_text(fontSize=_TEXT, dy=shift, baseline="top", lineBreak="\n", color=theme.INK)]


def _panel(name: str, layers: list[alt.Chart]) -> ChartType:
    return layered(*layers).properties(width=_SIZE, height=_SIZE, title=alt.TitleParams(name, fontSize=13))
