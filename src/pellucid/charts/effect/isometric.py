"""A surface in space: the effect of two numeric features seen from above a corner, without perspective.

Tiles stand on the grid at the height of the values and are drawn from the back to the front, so that near
ones cover far ones. The first feature runs from the left corner to the front, the second from the right
corner to the front, the values up the left corner. For reading values the heat map is better: nothing hides there.
"""

from __future__ import annotations

import altair as alt
import numpy as np
from altair.typing import ChartType

from pellucid.arrays import FloatArray
from pellucid.charts import theme
from pellucid.charts.contour import nice_levels
from pellucid.charts.effect.surface import colour_scale, value_range
from pellucid.charts.layout import Limits, Row, by_output, data, layered, limits_of, positions, tooltips, value_labels
from pellucid.charts.text import is_change, shown, value_title, wrapped
from pellucid.errors import InputError
from pellucid.explanations import Effect
from pellucid.explanations.plot_options import EffectOptions
from pellucid.words import number, value_name

_ACROSS, _DOWN, _UP = 0.87, 0.42, 0.75  # how far a unit of each direction moves a point on the page
_GAP = 0.05  # between the surface and the words around it


def draw_isometric(effect: Effect, options: EffectOptions) -> ChartType:
    """The chart without its title; several outputs get a view each, with one colour scale."""
    if len(effect.grids) != 2 or any(effect.nominal) or min(len(grid) for grid in effect.grids) < 2:
        raise InputError("kind='surface' needs an effect of two numeric features; leave it out.")
    return by_output([_view(effect, output, options) for output in effect.output_names], effect.output_names)


def isometric_notes(effect: Effect) -> list[str]:
    """What grey tiles mean."""
    grey = effect.method == "ale" and bool((effect.counts == 0).any())
    return ["grey: no rows of data there"] if grey else []


def tile_data(effect: Effect, output: str) -> list[Row]:
    """Four corners per tile, from the back to the front; tiles with an unknown corner are left out."""
    first, second = (at.tolist() for at in _places(effect))
    values = _values(effect)[..., effect.output_names.index(output)]
    low, high = _height_limits(effect)
    rows: list[Row] = []
    for i, j in sorted(np.ndindex(len(first) - 1, len(second) - 1), key=lambda ij: _nearness(first, second, *ij)):
        corners = ((i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1))
        value = float(values[i : i + 2, j : j + 2].mean())
        if not np.isfinite(value):
            continue
        words = shown(value, effect.scale, change=is_change(effect))
        tile = {"tile": f"{i} {j}", "value": value, "value_text": words, "empty": _is_empty(effect, i, j)}
        for n, (a, b) in enumerate(corners):
            up = (values[a, b] - low) / (high - low)
            rows.append({**tile, "order": n, **_on_page(first[a], second[b], up)})
    return rows


def edge_data(effect: Effect) -> list[Row]:
    """Words round the surface: values and names of both features, and values on the upright axis."""
    rows: list[Row] = []
    for axis, side in enumerate(("right", "left")):
        points = np.sort(effect.grids[axis])
        marks = [(0.0, value_name(points[0])), (1.0, value_name(points[-1]))]
        if points.dtype.kind != "M":
            ends = float(points[0]), float(points[-1])
            between = [(level, (level - ends[0]) / (ends[1] - ends[0])) for level in nice_levels(*ends, 3)]
            marks += [(place, number(level)) for level, place in between if 0.15 < place < 0.85]
        for place, label in marks:
            spot = (place, 1 + 2 * _GAP) if axis == 0 else (1 + 2 * _GAP, place)
            rows.append({**_on_page(*spot, 0.0), "label": label, "side": side})
        spot = (0.5, 1 + 6 * _GAP) if axis == 0 else (1 + 6 * _GAP, 0.5)
        rows.append({**_on_page(*spot, 0.0), "label": effect.feature_names[axis], "side": side})
    low, high = _height_limits(effect)
    for level in nice_levels(low, high, 4):
        spot_up = _on_page(0.0, 1 + _GAP / 2, (level - low) / (high - low))
        rows.append({**spot_up, "label": number(level), "side": "right"})
    return rows


def _on_page(first: float, second: float, up: float) -> Row:
    return {"h": _ACROSS * (first - second), "v": _UP * float(up) - _DOWN * (first + second)}


def _nearness(first: list[float], second: list[float], i: int, j: int) -> float:
    return first[i] + first[i + 1] + second[j] + second[j + 1]


def _is_empty(effect: Effect, i: int, j: int) -> bool:
    return effect.method == "ale" and bool(effect.counts[i, j] == 0)


def _places(effect: Effect) -> list[FloatArray]:
    """Grid points of both features in increasing order, from 0 to 1."""
    points = [np.sort(positions(grid)) for grid in effect.grids]
    return [(at - at[0]) / (at[-1] - at[0]) for at in points]


def _values(effect: Effect) -> FloatArray:
    order = [np.argsort(positions(grid), kind="stable") for grid in effect.grids]
    return np.asarray(effect.stacked("average")[np.ix_(*order)])


def _height_limits(effect: Effect) -> Limits:
    known = _values(effect)
    known = known[np.isfinite(known)]
    if known.size and np.ptp(known) > 1e-9 * np.abs(known).max():
        return float(known.min()), float(known.max())
    return limits_of(known)


def _view(effect: Effect, output: str, options: EffectOptions) -> ChartType:
    x = alt.X("h", type="quantitative", axis=None, scale=alt.Scale(domain=[-1.1, 1.1], nice=False, zero=False))
    y = alt.Y("v", type="quantitative", axis=None, scale=alt.Scale(domain=[-0.98, 0.76], nice=False, zero=False))
    limits = value_range(effect)
    labels = value_labels(limits, effect.scale, change=is_change(effect))
    legend = alt.Legend(title=wrapped(value_title(effect), 190, 12), **labels)
    colour = alt.Fill("value", type="quantitative", scale=colour_scale(effect, limits), legend=legend)
    fill = alt.condition("datum.empty", alt.value(theme.EMPTY), colour)
    floor = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 0), (0, 1, 0), (0, 1, 1)]
    frame = [{**_on_page(*corner), "order": n} for n, corner in enumerate(floor)]
    layers = [
        alt.Chart(data(frame)).mark_line(color=theme.FAINT, strokeWidth=1).encode(x=x, y=y, order=alt.Order("order:Q")),
        alt.Chart(data(tile_data(effect, output)))
        .mark_line(interpolate="linear-closed", stroke="white", strokeWidth=0.5, strokeJoin="round")
        .encode(
            x=x,
            y=y,
            detail=alt.Detail("tile:N"),
            order=alt.Order("order:Q"),
            fill=fill,
            tooltip=tooltips(("effect", "value_text")),
        ),
    ]
    for side in ("left", "right"):
        words = alt.Chart(data([row for row in edge_data(effect) if row["side"] == side]))
        mark = words.mark_text(align=side, fontSize=12, color=theme.INK)
        layers.append(mark.encode(x=x, y=y, text=alt.Text("label", type="nominal")))
    return layered(*layers).properties(
        width=options.width or theme.WIDTH + 40, height=options.height or theme.HEIGHT + 80
    )
