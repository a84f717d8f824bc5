"""A local model in four pictures: the model, the samples, how much they count, and the local model with its
boundary.
"""

from __future__ import annotations

import altair as alt
import numpy as np
from altair.typing import ChartType

from pellucid.arrays import FloatArray
from pellucid.charts import theme
from pellucid.charts.contour import contour_lines
from pellucid.charts.layout import Row, data, feature_axis, grid, layered, limits_of, told, tooltips
from pellucid.charts.text import caveat_note, scale_words, shown
from pellucid.errors import InputError
from pellucid.explanations import Boundary, LocalAttribution, changed
from pellucid.explanations.plot_options import LocalOptions
from pellucid.words import number

_SIZE = 230.0


def raster_data(found: Boundary, values: FloatArray, scale: str) -> list[Row]:
    """One cell per point of the grid."""
    (left, right), (low, high) = _edges(found.grids[0]), _edges(found.grids[1])
    return [
        {
            "x": float(left[j]),
            "x2": float(right[j]),
            "y": float(low[i]),
            "y2": float(high[i]),
            "value": float(values[i, j]),
            "label": shown(float(values[i, j]), scale, change=False),
        }
        for i in range(len(low))
        for j in range(len(left))
    ]


def line_data(found: Boundary, values: FloatArray) -> list[Row]:
    """Where the predictions pass the level, as points of lines."""
    lines = contour_lines(found.grids[0], found.grids[1], values.T, found.level)
    return [
        {"x": x, "y": y, "line": number_, "at": place}
        for number_, line in enumerate(lines)
        for place, (x, y) in enumerate(line)
    ]


def point_data(found: Boundary, scale: str) -> list[Row]:
    """The samples, what the model says of them and how much they count."""
    return [
        {
            "x": float(x),
            "y": float(y),
            "value": float(answer),
            "count": float(count),
            "label": shown(float(answer), scale, change=False),
            "weight": number(float(count)),
        }
        for (x, y), answer, count in zip(found.points, found.answers, found.counts, strict=True)
    ]


def body(result: LocalAttribution, options: LocalOptions) -> ChartType:
    """Four panels A to D."""
    found = result.boundary
    if found is None:
        raise InputError(
            "kind='boundary' needs the model over two features; explain one row with boundary=('first', 'second')."
        )
    scale = "probability" if result.scale == "log-odds" else result.scale
    size = options.width or _SIZE
    height = options.height or size
    x = feature_axis(found.names[0], "numeric", limits_of(found.grids[0]), size)
    y = feature_axis(found.names[1], "numeric", limits_of(found.grids[1]), height)
    low, high = limits_of(found.model, found.answers)
    shade = alt.Scale(scheme=theme.DIVERGING, domain=[low, found.level, high], clamp=True)
    words = scale_words(changed(result, scale=scale), found.output).strip(" ()") or "prediction"
    colour = alt.Color("value", type="quantitative", scale=shade, legend=alt.Legend(title=words, gradientLength=140))
    points = point_data(found, scale)
    here = [{"x": float(found.row[0]), "y": float(found.row[1])}]

    def raster(values: FloatArray, opacity: float = 1.0) -> alt.Chart:
        cells = alt.Chart(data(raster_data(found, values, scale))).mark_rect(opacity=opacity)
        return cells.encode(
            x=alt.X("x", **x),
            x2=alt.X2("x2"),
            y=alt.Y("y", **y),
            y2=alt.Y2("y2"),
            color=colour,
            tooltip=tooltips((words, "label")),
        )

    def line(values: FloatArray, ink: str, dash: list[float]) -> alt.Chart:
        drawn = alt.Chart(data(line_data(found, values))).mark_line(color=ink, strokeWidth=2.2, strokeDash=dash)
        return drawn.encode(x=alt.X("x", **x), y=alt.Y("y", **y), detail=alt.Detail("line:N"), order=alt.Order("at:Q"))

    def dots(sized: bool) -> alt.Chart:
        marks = alt.Chart(data(points)).mark_point(filled=True, opacity=0.85, stroke=theme.MUTED, strokeWidth=0.3)
        area = alt.Size("count", type="quantitative", scale=alt.Scale(domain=[0, 1], range=[2, 90]), legend=None)
        tips = tooltips((words, "label"), ("weight", "weight"))
        return marks.encode(
            x=alt.X("x", **x), y=alt.Y("y", **y), color=colour, size=area if sized else alt.SizeValue(14), tooltip=tips
        )

    cross = alt.Chart(data(here)).mark_point(
        shape="cross", size=130, filled=True, color="black", stroke="white", opacity=1
    )
    row = cross.encode(x=alt.X("x", **x), y=alt.Y("y", **y))
    panels = [
        ("A: the model", layered(raster(found.model), line(found.model, theme.INK, [1, 0]), row)),
        ("B: samples and their predictions", layered(dots(False), row)),
        ("C: samples by how much they count", layered(dots(True), row)),
        (
            "D: the local model and its boundary",
            layered(
                raster(found.local),
                line(found.model, theme.MUTED, [1, 0]),
                line(found.local, "white", [1, 0]),
                line(found.local, "black", [6, 3]),
                row,
            ),
        ),
    ]
    views = [
        panel.properties(width=size, height=height, title=alt.TitleParams(name, fontSize=13)) for name, panel in panels
    ]
    at = shown(found.level, scale, change=False)
    notes = [
        f"lines: the prediction is {at}; in D dashed for the local model, grey for the model",
        f"kernel width {number(float(result.width[0]))}, R² {number(float(np.ravel(result.fidelity)[0]))}",
        caveat_note(result),
    ]
    return told(grid(views, columns=2), result, options, "A model and its local surrogate", notes, 2 * size + 150)


def _edges(grid_points: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The sides of the cells around the points."""
    middle = (grid_points[1:] + grid_points[:-1]) / 2
    over = 0.05 * np.diff(grid_points).mean() if len(grid_points) > 1 else 0.0  # no hair lines between cells
    return np.concatenate([grid_points[:1], middle]), np.concatenate([middle + over, grid_points[-1:]])
