"""A tree of features: which join at which association, and where the threshold cuts it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt
import numpy as np
from altair.typing import ChartType

from pellucid.charts import theme
from pellucid.charts.layout import Row, data, hconcat, layered, level_axis, limits_of, plain, told, tooltips, value_axis
from pellucid.charts.text import caveat_note, level_names
from pellucid.explanations import Clusters, Importance
from pellucid.explanations.plot_options import ClusterOptions
from pellucid.words import counted, number, percent

_STEP = 20.0
_THICK = 0.7  # of a step, a bar
_BARS = 180.0
_LEAF = 1.0  # a feature is completely correlated with itself


def shown_features(result: Clusters, most: int) -> list[int]:
    """Features drawn, from top to bottom: in the order of the tree, those of the largest clusters if there are too
    many.
    """
    sizes = np.bincount(result.labels)[result.labels]
    kept = set(np.argsort(-sizes, kind="stable")[:most].tolist())
    return [j for j in _leaves(result) if j in kept]


def _leaves(result: Clusters) -> list[int]:
    inside: list[list[int]] = [[j] for j in range(len(result.labels))]
    for a, b, _, _ in result.merges:
        inside.append([*inside[int(a)], *inside[int(b)]])
    return inside[-1]


def branch_data(result: Clusters, shown: list[int]) -> list[Row]:
    """The lines of the tree between the features shown: along the association, and across at each join."""
    position = {j: i + 0.5 for i, j in enumerate(shown)}
    n = len(result.labels)
    place: dict[int, tuple[float, float]] = {j: (position[j], _LEAF) for j in position}
    first: dict[int, int] = {j: j for j in position}
    rows: list[Row] = []
    for step, (a, b, distance, _) in enumerate(result.merges):
        children = [int(child) for child in (a, b) if int(child) in place]
        node, at = n + step, 1.0 - float(distance)
        if len(children) == 1:  # the other branch is not shown
            place[node], first[node] = place[children[0]], first[children[0]]
        if len(children) < 2:
            continue
        (ya, ha), (yb, hb) = place[children[0]], place[children[1]]
        joined = bool(distance <= 1.0 - result.threshold + 1e-9)
        cluster = f"cluster {result.labels[first[children[0]]] + 1}" if joined else ""
        said = {"cluster": cluster, "joined": joined, "value_text": number(at)}
        rows += [
            {"x": ha, "x2": at, "y": ya, "y2": ya, **said},
            {"x": hb, "x2": at, "y": yb, "y2": yb, **said},
            {"x": at, "x2": at, "y": ya, "y2": yb, **said},
        ]
        place[node], first[node] = ((ya + yb) / 2, at), first[children[0]]
    return rows


def leaf_data(result: Clusters, shown: list[int], labels: list[str]) -> list[Row]:
    """One row per feature shown; representatives are marked."""
    chosen = set(result.representatives.tolist())
    return [
        {
            "feature": label,
            "y": i + 0.5,
            "x": _LEAF,
            "stands": j in chosen,
            "cluster_text": ", ".join(result.members[int(result.labels[j])][:12]),
            "kept_text": percent(float(result.kept[result.labels[j]])),
        }
        for i, (j, label) in enumerate(zip(shown, labels, strict=True))
    ]


def joint_data(result: Clusters, shown: list[int]) -> list[Row]:
    """One row per cluster shown: its importance as a whole, beside its features."""
    found = result.importance
    if found is None:
        return []
    rows: list[Row] = []
    for c in dict.fromkeys(int(result.labels[j]) for j in shown):
        middle = float(np.mean([i + 0.5 for i, j in enumerate(shown) if result.labels[j] == c]))
        value, low, high = plain([part[c] for part in (found.values, found.low, found.high)])
        known = low is not None and high is not None
        rows.append(
            {
                "y": middle - _THICK / 2,
                "y2": middle + _THICK / 2,
                "middle": middle,
                "value": value,
                "low": low if known else None,
                "high": high if known else None,
                "neutral": found.neutral,
                "cluster_text": ", ".join(result.members[c][:12]),
                "value_text": number(np.nan if value is None else value),
                "interval_text": f"{number(low)} to {number(high)}" if known else "unknown",
            }
        )
    return rows


def body(result: Clusters, options: ClusterOptions) -> ChartType:
    """The Altair chart of clusters."""
    shown = shown_features(result, options.max_display)
    labels = level_names(result.feature_names[j] for j in shown)
    width, height = options.width or theme.WIDTH, options.height or max(60.0, _STEP * len(shown))
    # Names on a scale of levels, lines on one of numbers; both count the features from the top.
    band = {"scale": alt.Scale(domain=labels, paddingInner=0, paddingOuter=0)}
    names = alt.Y("feature", **{**level_axis(None, labels, height, ticks=False), **band})
    y: dict[str, Any] = {
        "type": "quantitative",
        "axis": None,
        "scale": alt.Scale(domain=[0, len(shown)], reverse=True, nice=False),
    }
    x = alt.X(
        "x",
        type="quantitative",
        scale=alt.Scale(domain=[0, 1.03], reverse=True, nice=False),
        axis=alt.Axis(title="mean association of the features joined", values=[0, 0.2, 0.4, 0.6, 0.8, 1], format=".1f"),
    )
    leaves = leaf_data(result, shown, labels)
    tips = tooltips(("feature", "feature"), ("cluster", "cluster_text"), ("variance kept", "kept_text"))
    named = alt.Chart(data(leaves)).mark_point(opacity=0).encode(x=x, y=names, tooltip=tips)
    standing = alt.Chart(data([leaf for leaf in leaves if leaf["stands"]]))
    dots = standing.mark_point(filled=True, size=60, color=theme.INK, opacity=1).encode(
        x=x, y=alt.Y("y", **y), tooltip=tips
    )
    tree = layered(*_branches(branch_data(result, shown), x, y), _threshold(result), dots)
    chart: ChartType = layered(tree, named).resolve_scale(y="independent").properties(width=width, height=height)
    if result.importance is not None:
        beside = _importances(joint_data(result, shown), result.importance, y, height)
        chart = hconcat(chart, beside, spacing=14).resolve_scale(color="independent")
    more = len(result.labels) - len(shown)
    notes = [
        f"cut at {number(result.threshold)}; dot: stands for its cluster",
        f"{counted(more, 'more feature')} not shown" if more else "",
        caveat_note(result),
    ]
    return told(chart, result, options, "Correlated features", notes, width)


def _branches(rows: list[Row], x: alt.X, y: Mapping[str, Any]) -> list[alt.Chart]:
    """Joins within clusters in one colour each, the others pale."""
    tips = tooltips(("association", "value_text"))
    clusters = list(dict.fromkeys(row["cluster"] for row in rows if row["joined"]))
    place = {"x": x, "x2": alt.X2("x2"), "y": alt.Y("y", **y), "y2": alt.Y2("y2"), "tooltip": tips}
    apart = alt.Chart(data([row for row in rows if not row["joined"]]))
    joined = alt.Chart(data([row for row in rows if row["joined"]]))
    scale = alt.Scale(domain=clusters, range=[theme.CATEGORIES[i % 6] for i in range(len(clusters))])
    colour = alt.Color("cluster", type="nominal", scale=scale, legend=None)
    return [
        apart.mark_rule(color=theme.FAINT, strokeWidth=1.5).encode(**place),
        joined.mark_rule(strokeWidth=2.2, strokeCap="round").encode(**place, color=colour),
    ]


def _importances(rows: list[Row], found: Importance, y: Mapping[str, Any], height: float) -> ChartType:
    """A bar for every cluster, in the middle of its features."""
    tips = tooltips(("cluster", "cluster_text"), ("importance", "value_text"), ("95% interval", "interval_text"))
    limits = limits_of(found.values, found.low, found.high, [found.neutral])
    x = value_axis(f"importance as a whole: {found.measured}", limits, _BARS)
    known = alt.Chart(data([row for row in rows if row["value"] is not None]))
    bars = known.mark_rect(color=theme.MAIN, opacity=0.75).encode(
        x=alt.X("value", **x), x2=alt.X2("neutral"), y=alt.Y("y", **y), y2=alt.Y2("y2"), tooltip=tips
    )
    sure = alt.Chart(data([row for row in rows if row["low"] is not None]))
    lines = sure.mark_rule(color=theme.INK, strokeWidth=1.5).encode(
        x=alt.X("low", **x), x2=alt.X2("high"), y=alt.Y("middle", **y), tooltip=tips
    )
    return layered(bars, lines).properties(width=_BARS, height=height)


def _threshold(result: Clusters) -> alt.Chart:
    rule = alt.Chart(data([{}])).mark_rule(color=theme.MUTED, strokeDash=[5, 4])
    return rule.encode(x=alt.XDatum(float(result.threshold)))
