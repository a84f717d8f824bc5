"""All rows in the plane, coloured by the witness, with prototypes, criticisms and, of two features, densities."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
from altair.typing import ChartType

from pellucid.arrays import FloatArray
from pellucid.charts import theme
from pellucid.charts.contour import contour_lines
from pellucid.charts.layout import Limits, Row, data, layered, limits_of, told, tooltips
from pellucid.charts.text import caveat_note
from pellucid.errors import InputError
from pellucid.explanations.plot_options import PrototypeOptions
from pellucid.explanations.prototypes import Prototypes, RowMap
from pellucid.words import number

_GRID = 45
_LEVELS = (0.15, 0.35, 0.55, 0.75, 0.95)  # of the highest density
_SIDE = 400.0


def mean_kernel(points: FloatArray, x: FloatArray, y: FloatArray, reach: FloatArray) -> FloatArray:
    """The mean Gaussian kernel of points with the nodes of a grid."""
    across, along = (
        np.exp(-0.5 * np.square((points[:, k, None] - axis[None]) / reach[k])) for k, axis in ((0, x), (1, y))
    )
    return np.asarray(np.einsum("ni,nj->ij", across, along) / len(points))


def contour_data(found: RowMap, points: FloatArray, width: float, limits: tuple[Limits, Limits], of: str) -> list[Row]:
    """Lines of equal density."""
    x, y = (np.linspace(*each, _GRID) for each in limits)
    z = mean_kernel(points, x, y, width * found.unit)
    rows: list[Row] = []
    for level in _LEVELS:
        for k, line in enumerate(contour_lines(x, y, z, level * float(z.max()))):
            rows += [{"x": a, "y": b, "line": f"{of}{level}{k}", "step": n, "of": of} for n, (a, b) in enumerate(line)]
    return rows


def row_map(result: Prototypes, options: PrototypeOptions) -> ChartType:
    """The map."""
    found, kernel = result.map, result.discrepancy
    if found is None or kernel is None:
        raise InputError("kind='map' needs prototypes; neighbours have none.")
    limits = tuple(limits_of(found.points[:, k], found.places[:, k]) for k in (0, 1))
    width, height = options.width or _SIDE, options.height or _SIDE
    x = _axis(found.axes[0], limits[0], labels=found.plain)
    y = _axis(found.axes[1], limits[1], labels=found.plain)
    places = {"x": alt.X("x", **x), "y": alt.Y("y", **y)}
    layers: list[ChartType] = []
    if found.plain and kernel.kernel == "rbf":
        layers.append(_contours(result, found, kernel.width, (limits[0], limits[1]), places))
    layers += [_points(found, places), *_examples(result, found, places, options.max_display)]
    finding = f"{len(result.values)} prototypes reach an MMD² of {number(kernel.mmd2)}"
    notes = [
        "orange: too few prototypes (witness above 0), blue: too many",
        "grey lines: density of all rows, black: of the prototypes" if found.plain and kernel.kernel == "rbf" else "",
        caveat_note(result),
    ]
    chart = layered(*layers).properties(width=width, height=height)
    return told(chart, result, options, "All rows, prototypes and criticisms", notes, width, finding=finding)


def _axis(name: str, limits: Limits, *, labels: bool) -> dict[str, Any]:
    return {
        "type": "quantitative",
        "scale": alt.Scale(domain=list(limits), nice=False, zero=False),
        "axis": alt.Axis(title=name, labels=labels, ticks=labels, grid=False),
    }


def _points(found: RowMap, places: dict[str, Any]) -> ChartType:
    most = float(np.abs(found.witness).max(initial=1e-12))
    rows = [
        {"x": float(a), "y": float(b), "witness": float(w), "words": number(float(w), sign=True)}
        for (a, b), w in zip(found.points, found.witness, strict=True)
    ]
    colour = alt.Color(
        "witness",
        type="quantitative",
        scale=alt.Scale(scheme=theme.DIVERGING, domain=[-most, most]),
        legend=alt.Legend(title="witness", gradientLength=120),
    )
    mark = alt.Chart(data(rows)).mark_circle(size=24, opacity=0.7)
    return mark.encode(**places, color=colour, tooltip=tooltips(("witness", "words")))


def _contours(
    result: Prototypes, found: RowMap, width: float, limits: tuple[Limits, Limits], places: dict[str, Any]
) -> ChartType:
    chosen = found.places[result.places()]
    unit = found.unit if result.settings.get("features") is None else np.ones(2)
    scaled = RowMap(
        points=found.points, places=found.places, witness=found.witness, axes=found.axes, unit=unit, plain=True
    )
    rows = [
        *contour_data(scaled, found.points, width, limits, "all rows"),
        *contour_data(scaled, chosen, width, limits, "prototypes"),
    ]
    drawn = [
        alt.Chart(data([row for row in rows if row["of"] == of]))
        .mark_line(color=colour, strokeWidth=1.2, strokeDash=dash, opacity=0.9)
        .encode(**places, detail="line:N", order="step:Q")
        for of, colour, dash in (("all rows", theme.FAINT, [1, 0]), ("prototypes", theme.INK, [4, 3]))
    ]
    return layered(*drawn)


def _examples(result: Prototypes, found: RowMap, places: dict[str, Any], most: int) -> list[ChartType]:
    looks = (("prototype", "diamond", theme.INK), ("criticism", "cross", theme.CATEGORIES[2]))
    layers: list[ChartType] = []
    for role, shape, colour in looks:
        chosen = result.places(role)
        rows = [
            {
                "x": float(found.places[i, 0]),
                "y": float(found.places[i, 1]),
                "role": role,
                "row": result.row_labels.name(int(i)),
                "label": result.row_labels.name(int(i))
                + (f" ({number(float(result.witness[i]), sign=True)})" if role == "criticism" else ""),
            }
            for i in chosen
        ]
        tips = tooltips(("", "role"), ("row", "row"))
        mark = alt.Chart(data(rows)).mark_point(shape=shape, filled=True, size=130, color=colour, opacity=1)
        layers.append(mark.encode(**places, tooltip=tips))
        layers += [_words(rows[:most], places, colour, tips, left=left) for left in (True, False)]
    return layers


def _words(rows: list[Row], places: dict[str, Any], colour: str, tips: Any, *, left: bool) -> ChartType:
    """Labels at the right of examples in the left half, and at the left of the others: none leaves the chart."""
    middle = float(np.mean(places["x"]["scale"]["domain"]))
    some = data([row for row in rows if (row["x"] <= middle) is left])
    words = alt.Chart(some).mark_text(
        dx=9 if left else -9, dy=-6, align="left" if left else "right", color=colour, fontSize=11
    )
    return words.encode(**places, text=alt.Text("label", type="nominal"), tooltip=tips)
