"""How often each feature changes over the answers, and in which direction."""

from __future__ import annotations

import altair as alt
import numpy as np
from altair.typing import ChartType

from pellucid.charts import theme
from pellucid.charts.layout import Row, data, told, tooltips
from pellucid.charts.text import caveat_note
from pellucid.explanations.counterfactual_words import frequencies
from pellucid.explanations.counterfactuals import Counterfactuals
from pellucid.explanations.plot_options import CounterfactualOptions
from pellucid.words import counted, percent

_BAR, _WIDTH = 24.0, 340.0
UP, DOWN, OTHER = "higher", "lower", "another value"
_INKS = {UP: theme.SECOND, DOWN: theme.MAIN, OTHER: theme.CATEGORIES[2]}


def frequency_data(result: Counterfactuals, most: int) -> list[Row]:
    """One row per feature (or group) and direction: in how many answers it changes so, the most frequent first."""
    rows: list[Row] = []
    names = list(result.column_names)
    for name, share in list(result.frequency.items())[:most]:
        if share == 0:
            continue
        times = round(share * len(result))
        ways = _ways(result, names.index(name)) if name in names else {OTHER: times}
        if sum(ways.values()) != times:  # to or from a missing value
            ways[OTHER] = times - ways.get(UP, 0) - ways.get(DOWN, 0)
        for way, n in ways.items():
            if n:
                rows.append({"feature": name, "way": way, "answers": n, "share": percent(share), "times": times})
    return rows


def _ways(result: Counterfactuals, j: int) -> dict[str, int]:
    """In how many answers a column goes up, down or elsewhere."""
    moved = np.flatnonzero(result.changed[:, j])
    if result.scene.observed[j].nominal:
        return {OTHER: len(moved)}
    cells = result.cells[j]
    return {UP: int((cells[moved + 1] > cells[0]).sum()), DOWN: int((cells[moved + 1] < cells[0]).sum())}


def body(result: Counterfactuals, options: CounterfactualOptions) -> ChartType:
    """The Altair chart."""
    rows = frequency_data(result, options.max_features)
    features = list(dict.fromkeys(row["feature"] for row in rows))
    ways = [way for way in _INKS if any(row["way"] == way for row in rows)]
    width, height = options.width or _WIDTH, options.height or max(_BAR * len(features), _BAR)
    n = max(len(result), 1)
    axis = alt.Axis(title=f"answers (of {len(result)})", tickMinStep=1, tickCount=min(n, 6), format="d")
    x = alt.X("answers:Q", axis=axis, scale=alt.Scale(domain=[0, n], nice=False), stack="zero")
    ink = alt.Scale(domain=ways, range=[_INKS[way] for way in ways])
    legend = alt.Legend(title="the feature becomes")
    chart = (
        alt.Chart(data(rows))
        .mark_bar(height=_BAR * 0.62)
        .encode(
            x=x,
            y=alt.Y("feature:N", sort=features, axis=alt.Axis(title=None)),
            color=alt.Color("way:N", scale=ink, legend=legend if ways else None),
            order=alt.Order("way:N"),
            tooltip=tooltips(("feature", "feature"), ("becomes", "way"), ("answers", "answers"), ("in all", "share")),
        )
        .properties(width=width, height=height)
    )
    left_out = int((result.values > 0).sum()) - len(features)
    notes = [
        f"target: {result.target}",
        f"{counted(left_out, 'more feature')}: see .frequency" if left_out else "",
        caveat_note(result),
    ]
    finding = frequencies(result) if len(result) > 1 and result.changed.any() else ""
    what = f"How often each feature changes{result.row_labels.of_row()}"
    return told(chart, result, options, what, notes, width, finding=finding)
