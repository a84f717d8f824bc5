"""Pictures that teach how methods work; they need no model and no data of yours.

``densities``: what a partial dependence averages over and what it should. ``interval_arrows``: the differences that ALE
averages. ``cell_corners``: the second-order difference in a cell of two features. ``lines_and_boxes``: what LIME and
what anchors say of the same rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import altair as alt
import numpy as np
from altair.typing import ChartType

from pellucid.arrays import AnyArray, FloatArray
from pellucid.charts import theme
from pellucid.charts.chart import Chart
from pellucid.charts.layout import Row, data, grid, layered, titled
from pellucid.charts.local.against_anchor import lime_against_anchor
from pellucid.data import Data
from pellucid.explanations.rule import Anchor
from pellucid.methods.local.lime import lime
from pellucid.methods.rules.anchor import anchor
from pellucid.models import Predictor
from pellucid.runner import Run

_SIZE = 300
_EDGES = np.linspace(0, 1, 6)


def correlated_pair(n: int, random_state: int) -> tuple[FloatArray, FloatArray]:
    """x1 uniform on 0 to 1, x2 = x1 plus normal noise with standard deviation 0.1."""
    generator = np.random.default_rng(random_state)
    x1 = generator.uniform(0, 1, n)
    return x1, x1 + generator.normal(0, 0.1, n)


def density_data(x1: FloatArray, x2: FloatArray, at: float = 0.75, window: float = 0.1) -> list[Row]:
    """Kernel densities of x2: over all rows, and over the rows whose x1 lies within ``window`` of ``at``."""
    from scipy.stats import gaussian_kde

    points = np.linspace(-0.3, 1.3, 121)
    near = np.abs(x1 - at) <= window
    parts = {"marginal: all rows": x2, f"conditional: x1 near {at:g}": x2[near]}
    return [
        {"curve": name, "x2": float(x), "density": float(y)}
        for name, values in parts.items()
        for x, y in zip(points, gaussian_kde(values)(points), strict=True)
    ]


def densities(*, at: float = 0.75, random_state: int = 1) -> Chart:
    """Marginal and conditional density of x2 at x1 = 0.75: partial dependence averages over the marginal one.

    >>> densities().save("densities.png")  # doctest: +SKIP
    """
    x1, x2 = correlated_pair(100, random_state)
    x, y = _x(), _y()
    window = alt.Chart(data([{"from": at - 0.1, "to": at + 0.1}])).mark_rect(color=theme.SECOND, opacity=0.18)
    line = alt.Chart(data([{"x1": at}])).mark_rule(color=theme.SECOND, strokeWidth=2)
    scatter = layered(
        window.encode(x=_x("from"), x2=alt.X2("to")), line.encode(x=x), _dots(_rows(x1, x2)).encode(x=x, y=y)
    ).properties(width=_SIZE, height=_SIZE)
    rows = density_data(x1, x2, at)
    names = list(dict.fromkeys(row["curve"] for row in rows))
    colour = alt.Color(
        "curve:N",
        scale=alt.Scale(domain=names, range=[theme.MAIN, theme.SECOND]),
        legend=alt.Legend(title="density of x2", orient="right"),
    )
    curves = alt.Chart(data(rows)).mark_area(fillOpacity=0.3, opacity=1, line=True, orient="horizontal")
    beside = curves.encode(
        y=_y("x2"),
        x=alt.X("density:Q", stack=None, title="density"),
        color=colour,
        order=alt.Order("x2:Q"),
        tooltip=["curve:N", alt.Tooltip("x2:Q", format=".2f"), alt.Tooltip("density:Q", format=".2f")],
    )
    notes = [f"With x1 at {at:g}, partial dependence still uses every x2, also those that never occur there."]
    return _chart([scatter, beside.properties(width=180, height=_SIZE)], "Marginal and conditional density", notes)


def arrow_data(x1: FloatArray, x2: FloatArray, low: float = 0.6, high: float = 0.8) -> list[Row]:
    """One row per point of the interval (low, high]: where it is and the two ends it is moved to."""
    return [
        {"x1": float(a), "x2": float(b), "low": low, "high": high}
        for a, b in zip(x1, x2, strict=True)
        if low < a <= high
    ]


def interval_arrows(*, random_state: int = 4) -> Chart:
    """ALE moves the rows of one interval to both of its ends and averages the differences of the predictions."""
    x1, x2 = correlated_pair(25, random_state)
    x, y = _x(), _y()
    moved = alt.Chart(data(arrow_data(x1, x2))).encode(y=y)
    edges = [{"x1": float(edge), "x2": 1.22, "label": f"z{k}"} for k, edge in enumerate(_EDGES)]
    walls = alt.Chart(data(edges)).encode(x=x)
    ends = [
        moved.mark_point(shape=shape, filled=True, size=70, color=theme.SECOND, opacity=1).encode(x=_x(field))
        for field, shape in (("low", "triangle-left"), ("high", "triangle-right"))
    ]
    picture = layered(
        walls.mark_rule(color=theme.FAINT, strokeDash=[4, 3]),
        walls.mark_text(fontSize=12, color=theme.MUTED, dx=10).encode(y=y, text=alt.Text("label:N")),
        _dots(_rows(x1, x2)).encode(x=x, y=y),
        moved.mark_rule(color=theme.SECOND, strokeWidth=1.5).encode(x=_x("low"), x2=alt.X2("high")),
        *ends,
        moved.mark_point(filled=True, size=50, color=theme.INK, opacity=1).encode(x=x),
    ).properties(width=420, height=_SIZE)
    notes = ["In the interval from z3 to z4 every row is moved to both ends; its other features stay as they are."]
    return _chart([picture], "The intervals of ALE", notes)


def corner_data(low: tuple[float, float] = (0.4, 0.4), high: tuple[float, float] = (0.6, 0.6)) -> list[Row]:
    """The corners a, b, c, d of a cell with the sign each has in (d - c) - (b - a)."""
    (x_low, y_low), (x_high, y_high) = low, high
    return [
        {"x1": x_low, "x2": y_low, "label": "a (+)"},
        {"x1": x_high, "x2": y_low, "label": "b (−)"},
        {"x1": x_low, "x2": y_high, "label": "c (−)"},
        {"x1": x_high, "x2": y_high, "label": "d (+)"},
    ]


def cell_corners(*, random_state: int = 12) -> Chart:
    """The rows of a cell are moved to its corners: (d - c) - (b - a) is what the features do only together."""
    x1, x2 = correlated_pair(60, random_state)
    x, y = _x(), _y()
    corners = corner_data()
    walls = alt.Chart(data([{"at": float(edge)} for edge in _EDGES])).mark_rule(color=theme.FAINT)
    cell = {"x1": corners[0]["x1"], "right": corners[3]["x1"], "x2": corners[0]["x2"], "top": corners[3]["x2"]}
    marks = alt.Chart(data(corners)).encode(x=x, y=y)
    picture = layered(
        walls.encode(x=_x("at")),
        walls.encode(y=_y("at")),
        alt.Chart(data([cell]))
        .mark_rect(color=theme.SECOND, fillOpacity=0.2, opacity=1, stroke=theme.SECOND)
        .encode(x=x, x2=alt.X2("right"), y=y, y2=alt.Y2("top")),
        _dots(_rows(x1, x2)).encode(x=x, y=y),
        marks.mark_point(filled=True, size=110, color=theme.SECOND, opacity=1),
        *[
            alt.Chart(data(corners[half]))
            .mark_text(fontSize=15, fontWeight=600, dy=shift)
            .encode(x=x, y=y, text=alt.Text("label:N"))
            for half, shift in ((slice(0, 2), 16), (slice(2, 4), -14))
        ],
    ).properties(width=380, height=380)
    notes = ["Rows in the cell are moved to its corners; (d − c) − (b − a) leaves what the two features do together."]
    return _chart([picture], "A cell of the second-order ALE", notes)


class _Curved:
    """Two classes with a wave between them."""

    classes_ = np.array(["below", "above"])

    def predict_proba(self, X: FloatArray) -> FloatArray:
        """Steep, but no step."""
        above = 1.0 / (1.0 + np.exp(-8.0 * (X[:, 1] - np.sin(1.6 * X[:, 0]) + 0.35 * X[:, 0])))
        return np.column_stack([1.0 - above, above])

    def predict(self, X: FloatArray) -> AnyArray:
        """The likelier class."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])


def lines_and_boxes(
    rows: Sequence[tuple[float, float]] = ((-0.45, 0.25), (1.3, -0.25)), *, random_state: int = 0
) -> Chart:
    """A curved boundary with two rows: the line of a local model leaves the boundary soon, a box stays on one side of
    it.

    >>> lines_and_boxes().save("lines_and_boxes.png")  # doctest: +SKIP
    """
    X = np.random.default_rng(random_state).uniform(-2, 2, size=(2000, 2))
    model, run = Predictor(_Curved(), X, feature_names=["x1", "x2"]), Run(seed=random_state)
    table = Data.of(X, feature_names=["x1", "x2"])
    explained = []
    for row in rows:
        asked = {"x1": float(row[0]), "x2": float(row[1])}
        local = lime(model, table, asked, boundary=("x1", "x2"), width=0.7, run=run)
        explained.append((local, cast(Anchor, anchor(model, table, asked, run=run))))  # one row, one rule
    return lime_against_anchor(*explained)


def _x(field: str = "x1") -> alt.X:
    scale = alt.Scale(domain=[-0.02, 1.02], nice=False)
    return alt.X(field, type="quantitative", scale=scale, axis=alt.Axis(title="x1", grid=False))


def _y(field: str = "x2") -> alt.Y:
    scale = alt.Scale(domain=[-0.3, 1.3], nice=False)
    return alt.Y(field, type="quantitative", scale=scale, axis=alt.Axis(title="x2", grid=False))


def _rows(x1: FloatArray, x2: FloatArray) -> list[Row]:
    return [{"x1": float(a), "x2": float(b)} for a, b in zip(x1, x2, strict=True)]


def _dots(rows: list[Row]) -> alt.Chart:
    tips = [alt.Tooltip("x1:Q", format=".2f"), alt.Tooltip("x2:Q", format=".2f")]
    return alt.Chart(data(rows)).mark_circle(size=36, color=theme.MAIN, opacity=1, fillOpacity=0.6).encode(tooltip=tips)


def _chart(views: list[ChartType], title: str, notes: list[str]) -> Chart:
    body = views[0] if len(views) == 1 else grid(views, columns=2)
    return Chart(titled(body, title, notes, 520))
