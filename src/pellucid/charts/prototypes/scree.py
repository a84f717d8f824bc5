"""The scree plot: MMD² over the number of prototypes, with the elbow and the number chosen."""

from __future__ import annotations

import altair as alt
from altair.typing import ChartType

from pellucid.charts import theme
from pellucid.charts.layout import Row, data, grid, layered, limits_of, told, tooltips
from pellucid.charts.text import caveat_note
from pellucid.errors import InputError
from pellucid.explanations.plot_options import PrototypeOptions
from pellucid.explanations.prototypes import Discrepancy, Prototypes
from pellucid.words import counted, number


def scree_data(found: Discrepancy) -> list[Row]:
    """One row per number of prototypes."""
    return [{"m": m + 1, "mmd2": float(value), "words": number(float(value))} for m, value in enumerate(found.curve)]


def scree(result: Prototypes, options: PrototypeOptions) -> ChartType:
    """MMD² and, below, the silhouette."""
    found = result.discrepancy
    if found is None:
        raise InputError("kind='scree' needs prototypes; neighbours have none.")
    width, height = options.width or theme.WIDTH, options.height or theme.HEIGHT
    rows, m = scree_data(found), len(result.values)
    most = max(len(rows), m, 2)
    x = alt.X(
        "m",
        type="quantitative",
        scale=alt.Scale(domain=[1, most], nice=False, zero=False),
        axis=alt.Axis(title="number of prototypes", tickMinStep=1, format="d", tickCount=min(most, 12), grid=False),
    )
    limits = limits_of([row["mmd2"] for row in rows], found.mmd2, zero=True)
    y = alt.Y(
        "mmd2", type="quantitative", scale=alt.Scale(domain=[0, limits[1]], nice=False), axis=alt.Axis(title="MMD²")
    )
    tips = tooltips(("prototypes", "m"), ("MMD²", "words"))
    base = alt.Chart(data(rows)).encode(x=x, y=y, tooltip=tips)
    chosen = [{"m": m, "mmd2": found.mmd2, "words": number(found.mmd2), "label": f"chosen: {number(found.mmd2)}"}]
    mark = alt.Chart(data(chosen)).encode(x=x, y=y, tooltip=tips)
    near = m > 0.7 * most
    layers = [
        base.mark_line(color=theme.MUTED, strokeWidth=1.5),
        base.mark_point(color=theme.MUTED, filled=True, size=36, opacity=1),
        mark.mark_point(color=theme.SECOND, filled=True, size=110, shape="diamond", opacity=1),
        mark.mark_text(
            color=theme.SECOND, align="right" if near else "left", dx=-8 if near else 8, dy=-12, fontSize=12
        ).encode(text=alt.Text("label", type="nominal")),
    ]
    if found.elbow != m and result.settings.get("method") != "given":
        at = alt.Chart(data([{"m": found.elbow, "words": f"elbow: {found.elbow}"}]))
        layers.append(at.mark_rule(color=theme.FAINT, strokeDash=[4, 4]).encode(x=x))
        right = found.elbow < 0.6 * most
        layers.append(
            at.mark_text(
                color=theme.MUTED, align="left" if right else "right", dx=5 if right else -5, baseline="top"
            ).encode(x=x, y=alt.value(2), text=alt.Text("words", type="nominal"))
        )
    notes = [
        "points: greedy choice; diamond: after exchanges"
        if result.settings.get("method") in ("mmd", "weighted")
        else "",
        caveat_note(result),
    ]
    finding = f"{counted(m, 'prototype')} reach an MMD² of {number(found.mmd2)}"
    parts: list[ChartType] = [layered(*layers).properties(width=width, height=height)]
    if len(found.silhouettes) > 2:
        parts.append(_silhouettes(found, x, width, most))
    chart = grid(parts, columns=1, row=10)
    return told(
        chart,
        result,
        options,
        "Scree plot: how well so many prototypes stand for all rows",
        notes,
        width,
        finding=finding,
    )


def _silhouettes(found: Discrepancy, x: alt.X, width: float, most: int) -> ChartType:
    rows = [
        {"m": m + 1, "silhouette": float(value), "words": number(float(value))}
        for m, value in enumerate(found.silhouettes[:most])
        if m
    ]
    y = alt.Y("silhouette", type="quantitative", axis=alt.Axis(title="silhouette", tickCount=3))
    base = alt.Chart(data(rows)).encode(x=x, y=y, tooltip=tooltips(("prototypes", "m"), ("silhouette", "words")))
    return layered(
        base.mark_line(color=theme.MAIN, strokeWidth=1.5), base.mark_point(color=theme.MAIN, filled=True, size=24)
    ).properties(width=width, height=80)
