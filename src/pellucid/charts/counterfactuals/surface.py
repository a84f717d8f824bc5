"""The prediction over two features, the others as in the row, with the row, its answers and the edge of the target.

An answer that changes other features, too, is hollow: where it stands, the surface is not its own prediction. Between
two numbers the edge is a line; beside levels it is a tick across the band; between two levels cells that reach the
target are framed. An answer that changes neither of the two stands where the row does: its place is left to the cross.
"""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
from altair.typing import ChartType

from pellucid.arrays import AnyArray, FloatArray
from pellucid.charts import theme
from pellucid.charts.contour import contour_lines
from pellucid.charts.counterfactuals.columns import notes, predicted, shown, text_of
from pellucid.charts.counterfactuals.pareto import runs
from pellucid.charts.layout import (
    Row,
    data,
    feature_axis,
    layered,
    level_axis,
    limits_of,
    positions,
    told,
    tooltips,
    value_labels,
)
from pellucid.charts.marks import channel
from pellucid.charts.text import scale_words, wrapped
from pellucid.charts.text import shown as value_text
from pellucid.errors import InputError
from pellucid.explanations.counterfactual_scene import Surface
from pellucid.explanations.counterfactuals import Counterfactuals
from pellucid.explanations.plot_options import CounterfactualOptions

_SIZE, _BAND = 330.0, 40.0
_POINT = 15.0  # pixels of a point: what is nearer than that is one


def kinds(result: Counterfactuals, found: Surface) -> tuple[str, str]:
    """The kinds of the two features."""
    first, second = (result.scene.observed[result.column_names.index(name)].kind for name in found.names)
    return first, second


def nominal(kind: str) -> bool:
    """Whether a kind of feature has levels."""
    return kind in ("categorical", "boolean", "ordered")


def cell_data(result: Counterfactuals, found: Surface) -> list[Row]:
    """One row per point of the grid: its cell (or level), the prediction, and whether it reaches the target."""
    sides = [_sides(grid, kind) for grid, kind in zip(found.grids, kinds(result, found), strict=True)]
    return [
        {f"x_{key}": value for key, value in sides[0][i].items()}
        | {f"y_{key}": value for key, value in sides[1][j].items()}
        | {
            "value": float(found.values[i, j]),
            "label": value_text(float(found.values[i, j]), result.scale, change=False),
            "reached": bool(found.margin[i, j] >= 0),
        }
        for i, j in np.ndindex(found.values.shape)
    ]


def _sides(grid: AnyArray, kind: str) -> list[Row]:
    if nominal(kind):
        return [{"level": text_of(value, kind), "text": text_of(value, kind)} for value in grid]
    edges = cell_edges(positions(grid), kind)
    return [
        {"from": float(edges[i]), "to": float(edges[i + 1]), "text": text_of(value, kind)}
        for i, value in enumerate(grid)
    ]


def cell_edges(at: FloatArray, kind: str) -> FloatArray:
    """Half-way between neighbouring points; whole numbers have half a unit around the first and the last."""
    if len(at) == 1:
        return np.array(limits_of(at))
    half = 0.5 if kind == "integer" else 0.0
    return np.concatenate([at[:1] - half, (at[1:] + at[:-1]) / 2, at[-1:] + half])


def edge_data(result: Counterfactuals, found: Surface) -> list[Row]:
    """Where the target begins: points of lines, or places within a band."""
    sorts = [nominal(kind) for kind in kinds(result, found)]
    if not any(sorts):
        at = [positions(grid) for grid in found.grids]
        if min(len(each) for each in at) < 2:
            return []
        lines = contour_lines(at[0], at[1], found.margin, 0.0)
        return [
            {"x": x, "y": y, "line": n, "order": m} for n, line in enumerate(lines) for m, (x, y) in enumerate(line)
        ]
    if all(sorts):
        return [row for row in cell_data(result, found) if row["reached"]]
    across = sorts.index(False)  # the continuous one
    place, band = ("x", "y_level") if across == 0 else ("y", "x_level")
    margins = found.margin if across == 0 else found.margin.T
    along, levels = positions(found.grids[across]), found.grids[1 - across]
    kind = kinds(result, found)[1 - across]
    rows: list[Row] = []
    for k, level in enumerate(levels):
        rows += [{place: spot, band: text_of(level, kind)} for spot in _crossings(along, margins[:, k])]
    return rows


def _crossings(at: FloatArray, margin: FloatArray) -> list[float]:
    """Where a margin passes 0 between neighbours, by linear interpolation."""
    reached = margin >= 0
    found = []
    for i in np.flatnonzero(reached[1:] != reached[:-1]):
        gap = margin[i + 1] - margin[i]
        share = -margin[i] / gap if np.isfinite(gap) and gap else 0.5
        found.append(float(at[i] + share * (at[i + 1] - at[i])))
    return found


def point_data(result: Counterfactuals, found: Surface, answers: int) -> list[Row]:
    """The row and the answers that change one of the two features, those that change nothing else as ``own``; a missing
    value has no place.
    """
    places = _places(result, found)
    others = [j for j in range(len(result.column_names)) if j not in places]
    rows: list[Row] = []
    for i in [-1, *np.flatnonzero(result.changed[:answers, places].any(axis=1)).tolist()]:
        row: Row = {
            "answer": "" if i < 0 else str(i + 1),
            "what": "the row" if i < 0 else f"answer {i + 1}",
            "said": predicted(result, i),
            "own": i < 0 or not result.changed[i, others].any(),
        }
        for letter, j, kind in zip("xy", places, kinds(result, found), strict=True):
            cell = result.cells[j][i + 1]
            row[f"{letter}_text"] = text_of(cell, kind)
            if nominal(kind):
                row[f"{letter}_level"] = text_of(cell, kind)
            elif row[f"{letter}_text"] != "missing":
                row[letter] = float(positions(np.asarray(result.cells[j][[i + 1]]))[0])
        if "missing" not in (row["x_text"], row["y_text"]):
            rows.append(row)
    reach = {
        letter: 0.0 if nominal(kind) else float(np.ptp(positions(grid))) * _POINT / _SIZE
        for letter, grid, kind in zip("xy", found.grids, kinds(result, found), strict=True)
    }
    return [row for row in rows if not row["answer"]] + _together([row for row in rows if row["answer"]], reach)


def _places(result: Counterfactuals, found: Surface) -> list[int]:
    return [result.column_names.index(name) for name in found.names]


def _together(rows: list[Row], reach: dict[str, float]) -> list[Row]:
    """Answers at nearly the same place as one point, named by the first of them."""
    found: list[Row] = []
    for row in rows:
        near = [k for k, other in enumerate(found) if _covers(row, other, reach)]
        if not near:
            found.append(row)
            continue
        other = found[near[0]]
        what = f"{other['what'].replace('answer ', 'answers ')}, {row['answer']}"
        first = other["answer"].removesuffix("+")
        said = f"{other['said']}, {row['said']}"
        found[near[0]] = {
            **other, "answer": f"{first}+", "what": what, "said": said, "own": other["own"] and row["own"],
        }  # fmt: skip
    return found


def _covers(one: Row, other: Row, reach: dict[str, float]) -> bool:
    """Whether two points would cover each other."""
    return all(
        abs(one[letter] - other[letter]) <= far if letter in one else one[f"{letter}_text"] == other[f"{letter}_text"]
        for letter, far in reach.items()
    )


def body(result: Counterfactuals, options: CounterfactualOptions) -> ChartType:
    """The Altair chart."""
    found = result.scene.surface
    if found is None:
        raise InputError(
            "kind='surface' needs predictions over two features; ask for them with counterfactuals(...,"
            " surface=True) or surface=('first', 'second')."
        )
    sorts, answers = kinds(result, found), shown(result, options.max_display)
    sizes = [
        given or (max(120.0, _BAND * len(grid)) if nominal(kind) else _SIZE)
        for given, grid, kind in zip((options.width, options.height), found.grids, sorts, strict=True)
    ]
    x, y = (_axis(found, axis, sorts[axis], sizes[axis]) for axis in (0, 1))
    layers = [*_cells(result, found, sorts, x, y, sizes[1]), *_edges(result, found, sorts, x, y, sizes)]
    layers += _points(point_data(result, found, answers), found, sorts, x, y)
    chart = layered(*layers).properties(width=sizes[0], height=sizes[1])
    points = point_data(result, found, answers)
    legend = ["cross: the row", _edge_words(result, found)]
    legend += ["hollow: answers that change other features, too"] if not all(row["own"] for row in points) else []
    legend += ["+: several answers there"] if any(row["answer"].endswith("+") for row in points) else []
    elsewhere = np.flatnonzero(~result.changed[:answers, _places(result, found)].any(axis=1)) + 1
    legend += [f"not drawn: answers that change neither ({runs(elsewhere.tolist())})"] if len(elsewhere) else []
    what = f"The prediction over {found.names[0]} and {found.names[1]}, everything else as in the row"
    said = ["; ".join(legend), *(note for note in notes(result, answers) if not note.startswith("unchanged"))]
    return told(chart, result, options, what, said, sizes[0] + 120)


def _edge_words(result: Counterfactuals, found: Surface) -> str:
    if (found.margin < 0).all():
        return "the target is reached nowhere here"
    if (found.margin >= 0).all():
        return "the target is reached everywhere here"
    levels = [nominal(kind) for kind in kinds(result, found)]
    if all(levels):
        return "framed cells reach the target"
    return f"white {'ticks' if any(levels) else 'line'}: edge of the target"


def _axis(found: Surface, axis: int, kind: str, pixels: float) -> dict[str, Any]:
    name, points = found.names[axis], found.grids[axis]
    if nominal(kind):
        levels = [text_of(value, kind) for value in points]
        return level_axis(name, levels, pixels, cells=True, **({"labelAngle": -40} if axis == 0 else {}))
    edges = cell_edges(positions(points), kind)
    return feature_axis(name, kind, (float(edges[0]), float(edges[-1])), pixels)


def _cells(
    result: Counterfactuals, found: Surface, sorts: tuple[str, str], x: Any, y: Any, height: float
) -> list[ChartType]:
    place: dict[str, Any] = {}
    for letter, kind, axis in zip("xy", sorts, (x, y), strict=True):
        if nominal(kind):
            place[letter] = channel(letter, f"{letter}_level", axis)
        else:
            place[letter] = channel(letter, f"{letter}_from", axis)
            place[f"{letter}2"] = alt.X2("x_to") if letter == "x" else alt.Y2("y_to")
    low, high = float(np.nanmin(found.values)), float(np.nanmax(found.values))
    low, high = (low, high) if high > low else limits_of(found.values)
    words = f"prediction{scale_words(result, found.output)}"
    labels = value_labels((low, high), result.scale, change=False)
    colour = alt.Color(
        "value:Q",
        scale=alt.Scale(scheme=theme.SEQUENTIAL, domain=[low, high], nice=False),
        legend=alt.Legend(title=wrapped(words, 150, 12), gradientLength=min(height, 200), **labels),
    )
    tips = tooltips((found.names[0], "x_text"), (found.names[1], "y_text"), ("prediction", "label"))
    marks = alt.Chart(data(cell_data(result, found))).mark_rect(x2Offset=1, yOffset=1, clip=True)
    return [marks.encode(**place, color=colour, tooltip=tips)]


def _edges(
    result: Counterfactuals, found: Surface, sorts: tuple[str, str], x: Any, y: Any, sizes: list[float]
) -> list[ChartType]:
    rows = edge_data(result, found)
    levels = [nominal(kind) for kind in sorts]
    if all(levels):
        frames = alt.Chart(data(rows)).mark_rect(fill=None, stroke="white", strokeWidth=3)
        return [frames.encode(x=channel("x", "x_level", x), y=channel("y", "y_level", y))]
    layers: list[ChartType] = []
    for ink, thick in ((theme.INK, 5.0), ("white", 2.6)):
        chart = alt.Chart(data(rows))
        if not any(levels):
            line = chart.mark_line(color=ink, strokeWidth=thick, strokeJoin="round", clip=True)
            layers.append(
                line.encode(
                    x=channel("x", "x", x),
                    y=channel("y", "y", y),
                    detail=alt.Detail("line:N"),
                    order=alt.Order("order:Q"),
                )
            )
            continue
        band = max(1.0, 0.94 * sizes[levels.index(True)] / len(found.grids[levels.index(True)]))
        tick = chart.mark_tick(color=ink, thickness=thick, size=band, opacity=1, clip=True)
        tick = tick.encode(
            x=channel("x", "x_level" if levels[0] else "x", x), y=channel("y", "y_level" if levels[1] else "y", y)
        )
        layers.append(tick)
    return layers


def _points(rows: list[Row], found: Surface, sorts: tuple[str, str], x: Any, y: Any) -> list[ChartType]:
    place = {
        letter: channel(letter, f"{letter}_level" if nominal(kind) else letter, axis)
        for letter, kind, axis in zip("xy", sorts, (x, y), strict=True)
    }
    tips = tooltips((found.names[0], "x_text"), (found.names[1], "y_text"), ("", "what"), ("prediction", "said"))
    own = [row for row in rows if not row["answer"]]
    cross = alt.Chart(data(own)).mark_point(
        shape="cross", size=170, filled=True, color="white", stroke="black", strokeWidth=1.4, opacity=1
    )
    layers: list[ChartType] = [cross.encode(**place, tooltip=tips)]
    for exact in (False, True):
        some = alt.Chart(data([row for row in rows if row["answer"] and row["own"] is exact]))
        dots = some.mark_point(
            size=170,
            filled=True,
            color=theme.SECOND if exact else "white",
            stroke=theme.SECOND,
            strokeWidth=2,
            opacity=1,
        )
        words = some.mark_text(fontSize=10, fontWeight=600, color="white" if exact else theme.INK)
        layers += [dots.encode(**place, tooltip=tips), words.encode(**place, text=alt.Text("answer:N"), tooltip=tips)]
    return layers
