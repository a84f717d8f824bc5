"""Nodes and edges: the interactions that a model needs."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
from altair.typing import ChartType

from pellucid.charts import theme
from pellucid.charts.associations import feature_order
from pellucid.charts.layout import Row, data, layered, told, tooltips
from pellucid.charts.text import caveat_note, level_names
from pellucid.explanations import Network
from pellucid.explanations.plot_options import NetworkOptions
from pellucid.words import counted, listed, percent

_SIDE = 360.0
_UPRIGHT = 12  # up to so many names stand upright; more are turned outwards
_TRIPLES = 6  # shaded
_SPACE = 1.2  # half the width of the picture, in radii
_SIZES = (20.0, 900.0)  # area of the smallest and the largest node
_LETTER = 6.4  # pixels
_MIDDLE = 0.35  # names this near to the vertical axis are centred


def node_data(network: Network) -> list[Row]:
    """One row per feature that is needed, on a circle, with features side by side that interact."""
    n = len(network.feature_names)
    labels = level_names(network.feature_names)
    place = {name: k for k, name in enumerate(network.feature_names)}
    near = np.eye(n)
    for (a, b), cost in zip(network.edges, network.values, strict=True):
        near[place[a], place[b]] = near[place[b], place[a]] = cost / (float(network.values.max()) or 1.0)
    rows: list[Row] = []
    for turn, k in enumerate(feature_order(near, "cluster")):
        angle = np.pi / 2 - 2 * np.pi * turn / max(n, 1)
        x, y = float(np.cos(angle)), float(np.sin(angle))
        left = x < -1e-9
        rows.append(
            {
                "feature": labels[k],
                "x": round(x, 6),
                "y": round(y, 6),
                "cost": float(network.sizes[k]),
                "cost_text": percent(float(network.sizes[k])),
                "side": _side(x, y) if n <= _UPRIGHT else "left" if left else "right",
                "turn": 0.0 if n <= _UPRIGHT else float(-np.degrees(angle) - (180.0 if left else 0.0)) % 360.0,
            }
        )
    return rows


def _side(x: float, y: float) -> str:
    if abs(x) < _MIDDLE:
        return "top" if y > 0 else "bottom"
    return "right" if x > 0 else "left"


def edge_data(network: Network, max_display: int = 60) -> list[Row]:
    """One row per pair that is needed, the most costly first: both ends and the cost."""
    nodes = {row["feature"]: row for row in node_data(network)}
    label = dict(zip(network.feature_names, level_names(network.feature_names), strict=True))
    rows: list[Row] = []
    for (a, b), cost, se in list(zip(network.edges, network.values, network.se, strict=True))[:max_display]:
        one, other = nodes[label[a]], nodes[label[b]]
        rows.append(
            {
                "pair": f"{label[a]} × {label[b]}",
                "x": one["x"],
                "y": one["y"],
                "x2": other["x"],
                "y2": other["y"],
                "cost": float(cost),
                "cost_text": f"{percent(float(cost))} (se {percent(float(se))})",
            }
        )
    return rows


def triple_data(network: Network, most: int = _TRIPLES) -> list[Row]:
    """Three rows, the corners, per triple that acts together beyond its pairs."""
    nodes = {row["feature"]: row for row in node_data(network)}
    label = dict(zip(network.feature_names, level_names(network.feature_names), strict=True))
    return [
        {
            "triple": " × ".join(label[name] for name in names),
            "corner": corner,
            "x": nodes[label[name]]["x"],
            "y": nodes[label[name]]["y"],
            "cost_text": percent(float(cost)),
        }
        for names, cost in list(zip(network.triples, network.triple_costs, strict=True))[:most]
        for corner, name in enumerate(names)
    ]


def body(network: Network, options: NetworkOptions) -> ChartType:
    """The Altair chart of a network."""
    wide = options.width or _SIDE
    tall = options.height or wide
    names = _label_data(node_data(network), wide, tall)
    offset = _reach(names, wide)
    layers = [
        _shades(triple_data(network)),
        _edges(edge_data(network, options.max_display), offset),
        _nodes(node_data(network), offset),
        *(_names([row for row in names if row["side"] == side], side) for side in _SIDES),
    ]
    chart = layered(*layers).properties(width=wide, height=tall)
    chart = chart.resolve_scale(size="independent", strokeWidth="independent")
    what = f"Interaction network: the model within {100 * network.loss:g}% of its variance"
    return told(chart, network, options, what, _notes(network, options), wide + 60)


def _label_data(nodes: list[Row], wide: float, tall: float) -> list[Row]:
    """The nodes' names, just outside their circles."""
    most = max((row["cost"] for row in nodes), default=1.0) or 1.0
    rows = []
    for row in nodes:
        area = _SIZES[0] + (_SIZES[1] - _SIZES[0]) * row["cost"] / most
        away = (np.sqrt(area / np.pi) + 8.0) * 2 * _SPACE
        up = 8.0 * 2 * _SPACE / tall if row["side"] in ("top", "bottom") else 0.0  # half a line
        rows.append(row | {"x": row["x"] * (1 + away / wide), "y": row["y"] * (1 + away / tall + up)})
    return rows


def _reach(names: list[Row], wide: float) -> float:
    """How far the names at the right stand out of the picture: the legend keeps clear of them."""
    ends = [
        row["x"] * wide / (2 * _SPACE) + _LETTER * len(row["feature"]) * abs(np.cos(np.radians(row["turn"])))
        for row in names
        if row["side"] == "right"
    ]
    return float(max(18.0, max(ends, default=0.0) - wide / 2 + 18.0))


def _x(field: str = "x") -> alt.X:
    return alt.X(field, type="quantitative", axis=None, scale=alt.Scale(domain=[-_SPACE, _SPACE], nice=False))


def _y(field: str = "y") -> alt.Y:
    return alt.Y(field, type="quantitative", axis=None, scale=alt.Scale(domain=[-_SPACE, _SPACE], nice=False))


def _shades(rows: list[Row]) -> alt.Chart:
    tips = tooltips(("three together", "triple"), ("cost of leaving it out", "cost_text"))
    marks = alt.Chart(data(rows)).mark_line(
        interpolate="linear-closed", filled=True, fill=theme.SECOND, fillOpacity=0.16, stroke=None
    )
    order = alt.Order("corner", type="quantitative")
    return marks.encode(x=_x(), y=_y(), order=order, detail=alt.Detail("triple", type="nominal"), tooltip=tips)


def _edges(rows: list[Row], offset: float) -> alt.Chart:
    most = max((row["cost"] for row in rows), default=1.0) or 1.0
    width = alt.StrokeWidth(
        "cost",
        type="quantitative",
        scale=alt.Scale(type="sqrt", domain=[0, most], range=[0.5, 10], nice=False),
        legend=alt.Legend(
            title="cost of a pair",
            format=".1~%",
            values=_marks(most),
            symbolStrokeColor=theme.MAIN,
            symbolType="stroke",
            symbolSize=300,
            offset=offset,
        ),
    )
    tips = tooltips(("pair", "pair"), ("cost of leaving it out", "cost_text"))
    marks = alt.Chart(data(rows)).mark_rule(color=theme.MAIN, opacity=0.6, strokeCap="round")
    return marks.encode(x=_x(), y=_y(), x2=alt.X2("x2"), y2=alt.Y2("y2"), strokeWidth=width, tooltip=tips)


def _nodes(rows: list[Row], offset: float) -> alt.Chart:
    most = max((row["cost"] for row in rows), default=1.0) or 1.0
    size = alt.Size(
        "cost",
        type="quantitative",
        scale=alt.Scale(domain=[0, most], range=list(_SIZES), nice=False),
        legend=alt.Legend(
            title="cost of a feature",
            format=".1~%",
            values=_marks(most),
            symbolFillColor=theme.INK,
            symbolStrokeWidth=0,
            offset=offset,
        ),
    )
    tips = tooltips(("feature", "feature"), ("cost of leaving it out", "cost_text"))
    marks = alt.Chart(data(rows)).mark_circle(color=theme.INK, opacity=1)
    return marks.encode(x=_x(), y=_y(), size=size, tooltip=tips)


_SIDES = ("left", "right", "top", "bottom")


def _names(rows: list[Row], side: str) -> alt.Chart:
    """Names outside the circle, turned outwards where ``turn`` says so."""
    align: Any = {"left": "right", "right": "left"}.get(side, "center")
    marks = alt.Chart(data(rows)).mark_text(align=align, baseline="middle", fontSize=12, color=theme.INK)
    angle = alt.Angle("turn", type="quantitative", scale=None, legend=None)
    return marks.encode(x=_x(), y=_y(), text=alt.Text("feature", type="nominal"), angle=angle)


def _marks(most: float) -> list[float]:
    """Sizes shown in a legend: the largest rounded down to one digit, and a quarter of it."""
    digit = 10.0 ** np.floor(np.log10(most))
    top = float(np.floor(most / digit) * digit)
    return [top / 4, top]


def _notes(network: Network, options: NetworkOptions) -> list[str]:
    pairs = f"{len(network.edges)} of {network.examined} pairs"
    lost = f"an additive model loses about {percent(network.additive)}" if np.isfinite(network.additive) else ""
    more = len(network.edges) - options.max_display
    shaded = f"shaded: {_count(network)} act together beyond their pairs" if network.triples else ""
    return [
        pairs,
        lost,
        shaded,
        f"{counted(more, 'edge')} not shown" if more > 0 else "",
        f"not needed: {listed(network.left_out)}" if network.left_out else "",
        caveat_note(network),
    ]


def _count(network: Network) -> str:
    n = len(network.triples)
    return "three features" if n == 1 else f"{n} triples" + (f" ({_TRIPLES} drawn)" if n > _TRIPLES else "")
