"""A heat map of how strongly features are associated."""

from __future__ import annotations

import altair as alt
import numpy as np
from altair.typing import ChartType

from pellucid.arrays import FloatArray, IntArray
from pellucid.charts import theme
from pellucid.charts.layout import Row, data, layered, level_axis, told, tooltips
from pellucid.charts.marks import text_layers
from pellucid.charts.text import caveat_note, level_names
from pellucid.explanations import Associations
from pellucid.explanations.plot_options import AssociationsOptions
from pellucid.words import number

_PRINTED = 15  # up to so many features the values are printed in the cells


def associations_data(associations: Associations, order: str = "given") -> list[Row]:
    """One row per pair of features, in drawing order; unknown associations are null."""
    sequence = feature_order(associations.values, order)
    labels = level_names(associations.feature_names[j] for j in sequence)
    rows: list[Row] = []
    for a, i in enumerate(sequence):
        for b, j in enumerate(sequence):
            value = float(associations.values[i, j])
            known = bool(np.isfinite(value))
            rows.append(
                {
                    "feature": labels[a],
                    "other": labels[b],
                    "value": value if known else None,
                    "value_text": number(value),
                    "label": f"{value:.2f}" if known else "?",
                    "ink": "white" if known and value > 0.55 else "black",
                }
            )
    return rows


def feature_order(association: FloatArray, order: str) -> IntArray:
    """Features as given, or with associated ones side by side (average linkage of 1 - association)."""
    n = len(association)
    if order != "cluster" or n < 3:
        return np.arange(n)
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    distance = 1.0 - np.nan_to_num((association + association.T) / 2)
    np.fill_diagonal(distance, 0.0)
    tree = linkage(squareform(distance, checks=False), method="average", optimal_ordering=n <= 200)
    return np.asarray(leaves_list(tree), dtype=np.intp)


def body(associations: Associations, options: AssociationsOptions) -> ChartType:
    """The Altair chart of associations."""
    rows = associations_data(associations, options.order)
    labels = list(dict.fromkeys(row["feature"] for row in rows))
    printed = len(labels) <= _PRINTED
    size = max(80.0, (36.0 if printed else 18.0) * len(labels))
    width, height = options.width or size, options.height or size * (0.8 if printed else 1.0)
    x = alt.X("other", **level_axis(None, labels, width, cells=True, labelAngle=-45))
    y = alt.Y("feature", **level_axis(None, labels, height, cells=True))
    scale = alt.Scale(scheme=theme.STRENGTH, domain=[0, 1])
    tips = tooltips(("feature", "feature"), ("with", "other"), ("association", "value_text"))
    legend = alt.Legend(title=["association", "0 none, 1 complete"], gradientLength=min(height, 160))
    cells = alt.Chart(data([row for row in rows if row["value"] is not None])).mark_rect()
    colour = alt.Color("value", type="quantitative", scale=scale, legend=legend)
    layers = [cells.encode(x=x, y=y, tooltip=tips, color=colour)]
    if printed:
        layers += text_layers(rows, {"x": x, "y": y, "tooltip": tips})
    chart = layered(*layers).properties(width=width, height=height)
    return told(chart, associations, options, "Associations between features", [caveat_note(associations)], width)
