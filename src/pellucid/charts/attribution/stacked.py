"""Many rows side by side, each a force plot turned upright: what pushes up lies below the prediction, what pushes down
above.

Rows stand in the order of a hierarchical clustering of their contributions (Ward's linkage of Euclidean distances,
leaves ordered so that neighbours are close), so that rows explained alike stand together; cut into groups where asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np
from altair.typing import ChartType

from pellucid.arrays import IntArray
from pellucid.charts import theme
from pellucid.charts.attribution.entries import DOWN, UP, change, evenly, fold, prediction_title, rows_note, short_names
from pellucid.charts.attribution.waterfall import COLOURS
from pellucid.charts.layout import Limits, Row, bounds, data, layered, limits_of, tooltips, value_axis
from pellucid.charts.text import shown
from pellucid.explanations import Attribution
from pellucid.explanations.attribution_words import labels_of
from pellucid.explanations.plot_options import AttributionOptions

MOST_ROWS = 200
_MOST_FEATURES = 6
_SAID = 4  # features in a tooltip
ORDERS = {
    "cluster": "rows by similarity of their contributions",
    "prediction": "rows by prediction",
    "given": "rows as given",
}


@dataclass(frozen=True)
class Arrangement:
    """The rows drawn, in drawing order, and the number of the group that each is in (all 0 if not cut)."""

    rows: IntArray
    groups: IntArray


def notes(attribution: Attribution, _: AttributionOptions) -> list[str]:
    """What the lines are, and how many rows are drawn."""
    return [
        *rows_note(min(len(attribution), MOST_ROWS), attribution, "drawn: "),
        "black line: prediction; dashed: what the contributions start from",
    ]


def arranged(attribution: Attribution, options: AttributionOptions) -> Arrangement:
    """Rows evenly spaced among all if there are many, then ordered."""
    rows = evenly(len(attribution), MOST_ROWS)
    values = np.nan_to_num(attribution.stacked()[rows]).reshape(len(rows), -1)
    groups = np.zeros(len(rows), dtype=np.intp)
    if options.order == "prediction":
        totals = attribution.stacked("prediction")[rows].reshape(len(rows), -1)[:, 0]
        return Arrangement(rows[np.argsort(-totals, kind="stable")], groups)
    if options.order == "given" or len(rows) < 2:
        return Arrangement(rows, groups)
    from scipy.cluster.hierarchy import fcluster, leaves_list, linkage

    tree = linkage(values, method="ward", optimal_ordering=True)
    leaves = np.asarray(leaves_list(tree), dtype=np.intp)
    if options.clusters is not None:
        groups = np.asarray(fcluster(tree, options.clusters, criterion="maxclust"), dtype=np.intp)[leaves]
        turns = np.concatenate([[True], groups[1:] != groups[:-1]])
        groups = np.cumsum(turns) - 1  # from left to right
    return Arrangement(rows[leaves], groups)


def stacked_data(attribution: Attribution, output: str, options: AttributionOptions, order: Arrangement) -> list[Row]:
    """Two points (left and right edge) per row, feature and direction: ``low`` to ``high``, starting at the
    prediction.
    """
    one, kept, rest, names = _features(attribution, output, options)
    rows: list[Row] = []
    for at, i in enumerate(order.rows):
        parts = [one.values[i, [j]] for j in kept] + ([one.values[i, rest]] if len(rest) else [])
        for sort, sign in ((UP, -1.0), (DOWN, 1.0)):
            near = float(one.prediction[i])
            for name, part in zip(names, parts, strict=True):
                far = near + sign * float(np.abs(part[part * -sign > 0]).sum())
                fixed = {"near": near, "far": far, "sort": sort, "feature": name}
                rows += [{"x": at + edge, **fixed} for edge in (0, 1)]
                near = far
    return rows


def _features(
    attribution: Attribution, output: str, options: AttributionOptions
) -> tuple[Attribution, IntArray, IntArray, list[str]]:
    """The features with an area of their own, the rest, and their names."""
    kept, rest = fold(attribution.ranking, min(options.max_display, _MOST_FEATURES))
    folded = [f"{len(rest)} others"] if len(rest) else []
    names = short_names([*(attribution.feature_names[j] for j in kept), *folded])
    return attribution.for_output(output), kept, rest, names


def column_data(attribution: Attribution, output: str, order: Arrangement) -> list[Row]:
    """One row per row drawn: its place, its prediction and what to say about it."""
    one = attribution.for_output(output)
    n_groups = int(order.groups.max(initial=0)) + 1
    rows: list[Row] = []
    for at, (i, group) in enumerate(zip(order.rows, order.groups, strict=True)):
        values, labels = one.values[i], labels_of(one, i)
        top = np.argsort(-np.abs(values), kind="stable")[:_SAID]
        rows.append(
            {
                "left": at,
                "right": at + 1,
                "row": one.row_labels.name(i),
                "group": int(group),
                "group_text": f"{group + 1} of {n_groups}",
                "prediction": float(one.prediction[i]),
                "prediction_text": shown(float(one.prediction[i]), one.scale, change=False),
                **{f"said{k}": f"{labels[j]} ({change(float(values[j]), one.scale)})" for k, j in enumerate(top)},
            }
        )
    return rows


def view(attribution: Attribution, output: str, options: AttributionOptions, width: float) -> ChartType:
    """The areas of one output; the order of the rows is that of all outputs together."""
    order = arranged(attribution, options)
    areas, columns = (stacked_data(attribution, output, options, order), column_data(attribution, output, order))
    names = _features(attribution, output, options)[3]
    height = options.height or theme.HEIGHT
    base = float(attribution.for_output(output).base)
    ends = [[row[end] for row in areas] for end in ("near", "far")]
    limits = limits_of([base], *ends, within=bounds(attribution.scale, change=False))
    y = value_axis(prediction_title(attribution, output), limits, height, scale=attribution.scale)
    x: dict[str, Any] = {
        "type": "quantitative",
        "axis": alt.Axis(title=ORDERS[options.order], labels=False, ticks=False, grid=False),
        "scale": alt.Scale(domain=[0, len(columns)], nice=False),
    }
    layers = [
        *_areas(areas, names, x, y),
        alt.Chart(data([{}])).mark_rule(color=theme.INK, strokeDash=[4, 4]).encode(y=alt.YDatum(base)),
        _line(columns, x, y),
        *_separators(columns, limits, x, y),
        _tips(columns, limits, x, y),
    ]
    stack = layered(*layers).resolve_scale(color="independent")
    return stack.properties(width=width, height=height)


def _areas(areas: list[Row], names: list[str], x: Any, y: Any) -> list[alt.Chart]:
    """One area per feature and direction, the most important feature strongest."""
    layers = []
    for sort in (UP, DOWN):
        key = alt.Legend(title=f"pushes {sort}", symbolType="square", symbolStrokeWidth=0, symbolOpacity=1)
        scale = alt.Scale(domain=names, range=shades(COLOURS[sort], len(names)))
        chart = alt.Chart(data([row for row in areas if row["sort"] == sort]))
        layers.append(
            chart.mark_area(opacity=1, strokeWidth=0).encode(
                x=alt.X("x", **x),
                y=alt.Y("near", **y, stack=None),
                y2=alt.Y2("far"),
                color=alt.Color("feature", type="nominal", scale=scale, legend=key),
            )
        )
    return layers


def shades(colour: str, n: int) -> list[str]:
    """``n`` shades of a colour, from itself towards white."""
    parts = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)])
    mixed = [parts + (255 - parts) * share for share in np.linspace(0.0, 0.75, n)]
    return ["#" + "".join(f"{round(float(part)):02X}" for part in each) for each in mixed]


def _line(columns: list[Row], x: Any, y: Any) -> alt.Chart:
    """The predictions, level across each row."""
    points = [{"x": at, "prediction": row["prediction"]} for row in columns for at in (row["left"], row["right"])]
    line = alt.Chart(data(points)).mark_line(color=theme.INK, strokeWidth=1.5)
    return line.encode(x=alt.X("x", **x), y=alt.Y("prediction", **y))


def _separators(columns: list[Row], limits: Limits, x: Any, y: Any) -> list[alt.Chart]:
    """A rule between groups and their numbers above; nothing for one group."""
    n_groups = columns[-1]["group"] + 1
    if n_groups == 1:
        return []
    starts = [next(row["left"] for row in columns if row["group"] == group) for group in range(n_groups)]
    ends = [*starts[1:], len(columns)]
    names = [
        {"x": (start + end) / 2, "y": limits[1], "label": f"{group + 1}"}
        for group, (start, end) in enumerate(zip(starts, ends, strict=True))
    ]
    rules = alt.Chart(data([{"x": start} for start in starts[1:]]))
    words = alt.Chart(data(names)).mark_text(fontSize=12, fontWeight="bold", dy=-8, color=theme.INK)
    return [
        rules.mark_rule(color=theme.INK, strokeWidth=1.5).encode(x=alt.X("x", **x)),
        words.encode(x=alt.X("x", **x), y=alt.Y("y", **y), text=alt.Text("label", type="nominal")),
    ]


def _tips(columns: list[Row], limits: Limits, x: Any, y: Any) -> alt.Chart:
    """An unseen column per row that tells its story."""
    said = [(f"{k + 1}", f"said{k}") for k in range(_SAID) if f"said{k}" in columns[0]]
    group = [("group", "group_text")] if columns[-1]["group"] else []
    tips = tooltips(("row", "row"), *group, ("prediction", "prediction_text"), *said)
    rows = [{**row, "bottom": limits[0], "top": limits[1]} for row in columns]
    unseen = alt.Chart(data(rows)).mark_rect(opacity=0)
    return unseen.encode(
        x=alt.X("left", **x), x2=alt.X2("right"), y=alt.Y("bottom", **y), y2=alt.Y2("top"), tooltip=tips
    )
