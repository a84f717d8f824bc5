"""Where the model is mistaken: its error on every prototype and criticism, beside that on all rows."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
from altair.typing import ChartType

from pellucid.charts import theme
from pellucid.charts.layout import Row, data, layered, limits_of, told, tooltips
from pellucid.charts.prototypes.cells import LINE, line_names
from pellucid.charts.text import caveat_note
from pellucid.errors import InputError
from pellucid.explanations.counterfactual_words import in_full
from pellucid.explanations.plot_options import PrototypeOptions
from pellucid.explanations.prototype_words import prediction_words
from pellucid.explanations.prototypes import Prototypes
from pellucid.words import number, percent


def error_data(result: Prototypes, most: int) -> list[Row]:
    """One bar per example."""
    places = [int(i) for role in ("prototype", "criticism") for i in result.places(role)[:most]]
    return [
        {
            "line": line,
            "role": result.roles[i],
            "error": float(result.errors[i]),
            "prediction": prediction_words(result, i),
            "outcome": in_full(result.outcomes[i]),
            "words": f"predicted {prediction_words(result, i)}, was {in_full(result.outcomes[i])}",
        }
        for line, i in zip(line_names(result, places), places, strict=True)
    ]


def errors(result: Prototypes, options: PrototypeOptions) -> ChartType:
    """Bars of the errors."""
    if not len(result.outcomes) or np.isnan(result.errors).all():
        raise InputError("kind='errors' compares predictions with the outcome; give y to the Explainer.")
    rows = error_data(result, options.max_display)
    lines = [row["line"] for row in rows]
    width, height = options.width or theme.WIDTH, options.height or LINE * len(rows)
    classes = bool(result.header.classes)
    high = 1.0 if classes else limits_of(result.errors, result.usual_error, zero=True)[1]
    ends: dict[str, Any] = {"values": [0, 1], "labelExpr": "datum.value ? 'wrong' : 'right'"} if classes else {}
    axis = alt.Axis(title="wrong class" if classes else "absolute error", **ends)
    x = alt.X("error", type="quantitative", scale=alt.Scale(domain=[0, high], nice=False), axis=axis)
    y = alt.Y("line", type="nominal", sort=None, scale=alt.Scale(domain=lines), axis=alt.Axis(title=None))
    scale = alt.Scale(domain=["prototype", "criticism"], range=[theme.MAIN, theme.SECOND])
    colour = alt.Color("role", type="nominal", scale=scale, legend=None)
    tips = tooltips(("", "line"), ("prediction", "prediction"), ("outcome", "outcome"))
    base = alt.Chart(data(rows))
    layers: list[ChartType] = [
        base.mark_bar(height=14).encode(x=x, y=y, color=colour, tooltip=tips),
        base.mark_text(align="left", dx=5, fontSize=11, color=theme.MUTED).encode(
            x=x if not classes else alt.value(6), y=y, text=alt.Text("words", type="nominal"), tooltip=tips
        ),
    ]
    if np.isfinite(result.usual_error):
        rule = alt.Chart(data([{"error": result.usual_error}])).mark_rule(color=theme.INK, strokeDash=[4, 3])
        layers.insert(0, rule.encode(x=x))
    usual = percent(result.usual_error) if classes else number(result.usual_error)
    notes = [
        f"dashed: all rows ({usual})" if np.isfinite(result.usual_error) else "",
        "blue: prototypes, orange: criticisms" if len(result.places("criticism")) else "",
        caveat_note(result),
    ]
    chart = layered(*layers).properties(width=width, height=height)
    finding = next((line for line in result.findings() if line.startswith("The model is")), result.headline())
    return told(
        chart, result, options, "The model's errors on typical and odd rows", notes, width + 200, finding=finding
    )
