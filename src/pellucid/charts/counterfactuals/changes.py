"""What to change: one panel per changed feature, one strip per answer, from the own value to the answer's.

Each panel spans what the data hold of its feature, in its own units, so that the length of a move says how large it is.
Categories, and values that are missing, are written out. The first panel has the predictions and the target.
"""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
from altair.typing import ChartType

from pellucid.charts import theme
from pellucid.charts.counterfactuals.columns import (
    Column,
    answer_name,
    class_text,
    column,
    cut,
    notes,
    output,
    outputs_drawn,
    predicted,
    shown,
    used,
)
from pellucid.charts.layout import (
    Limits,
    Row,
    bounds,
    data,
    feature_axis,
    grid,
    layered,
    limits_of,
    told,
    tooltips,
    value_axis,
)
from pellucid.charts.text import scale_words, wrapped
from pellucid.explanations.counterfactuals import Counterfactuals
from pellucid.explanations.plot_options import CounterfactualOptions

_PANEL, _STRIP, _ACROSS = 150.0, 34.0, 4  # pixels of a panel and of a strip, panels in a line
_NOW, _LETTER = "#8A8A8A", 6.3


def move_data(one: Column, names: list[str]) -> list[Row]:
    """One row per answer: from where to where the feature moves, as places and in words."""
    low, high = one.limits
    rows: list[Row] = []
    for i, name in enumerate(names, start=1):
        at = float(one.places[i]) if np.isfinite(one.places[i]) else None
        rows.append(
            {
                "answer": name,
                "now": float(one.places[0]) if np.isfinite(one.places[0]) else None,
                "at": at,
                "now_text": one.texts[0],
                "text": one.texts[i],
                "changed": one.changed[i],
                "label": f"{cut(one.texts[0])} → {cut(one.texts[i])}" if one.changed[i] else cut(one.texts[0]),
                "side": _side(at, low, high),
            }
        )
    return rows


def prediction_data(result: Counterfactuals, names: list[str]) -> list[Row]:
    """One row per answer: the prediction of the row and that of the answer; without answers that of the row.

    Where answers reach several classes, each has the probability of its own, before and after.
    """
    low_high, drawn = prediction_limits(result, len(names)), outputs_drawn(result, len(names))
    several = len(set(drawn.tolist())) > 1
    rows: list[Row] = []
    for i, name in enumerate(names or ["now"]):
        k = int(drawn[i]) if len(result) else output(result)
        own = float(result.prediction[k])
        at = float(result.predictions[i, k]) if len(result) else own
        rows.append(
            {
                "answer": name,
                "now": own,
                "at": at,
                "now_text": class_text(result, own, k) if several else predicted(result, -1),
                "text": class_text(result, at, k) if several else predicted(result, i if len(result) else -1),
                "changed": len(result) > 0,
                "side": _side(at, *low_high),
            }
        )
    return rows


def prediction_limits(result: Counterfactuals, answers: int) -> Limits:
    """What the axis of predictions covers: those that are drawn, and the near end of the target."""
    drawn = outputs_drawn(result, answers)
    own = result.prediction[drawn] if answers else result.prediction[[output(result)]]
    ends = [end for end in result.scene.aim or () if np.isfinite(end)]
    within = bounds(result.scale, change=False)
    low, high = limits_of(own, result.predictions[np.arange(answers), drawn], ends, within=within)
    room = 0.08 * (high - low)
    return low - room, high + room


def body(result: Counterfactuals, options: CounterfactualOptions) -> ChartType:
    """The Altair chart."""
    answers = shown(result, options.max_display)
    names = [answer_name(result, i) for i in range(answers)]
    places, left_out = used(result, answers, options.max_features)
    columns = [column(result, int(j), answers) for j in places]
    width = options.width or _PANEL
    height = options.height or _STRIP * max(len(names), 1)
    views: list[ChartType] = [_prediction_panel(result, names, width, height)]
    for place, one in enumerate(columns, start=1):
        first = options.every_name or place % _ACROSS == 0
        views.append((_number_panel if one.complete else _word_panel)(one, names, width, height, first))
    across = min(len(views), _ACROSS)
    flush = len(views) <= _ACROSS and not options.every_name  # a page may put panels below each other
    chart = grid(views, columns=across, row=14, column=22, bounds="flush" if flush else "full")
    where = result.row_labels.of_row()
    what = f"What would have to change{where}: from the own value (grey) to that of each answer (blue)"
    what = what if columns else f"Counterfactuals{where}"
    return told(chart, result, options, what, notes(result, answers, left_out), across * (width + 22))


def _prediction_panel(result: Counterfactuals, names: list[str], width: float, height: float) -> ChartType:
    rows, limits = prediction_data(result, names), prediction_limits(result, len(names))
    x = value_axis(None, limits, width, scale=result.scale)
    several = len(set(outputs_drawn(result, len(names)).tolist())) > 1
    drawn = "the class reached" if several else result.output_names[output(result)]
    title = f"prediction{scale_words(result, drawn)}"
    tips = tooltips(("prediction now", "now_text"), ("instead", "text"))
    panel = _moves(rows, x, names or ["now"], tips, labelled=True, ink=theme.SECOND)
    return _framed(layered(*_target_layers(result, limits), panel), title, width, height)


def _target_layers(result: Counterfactuals, limits: Limits) -> list[ChartType]:
    """The target as a shaded part of the axis of predictions."""
    if result.scene.aim is None:
        return []
    low, high = max(result.scene.aim[0], limits[0]), min(result.scene.aim[1], limits[1])
    if not low <= high:
        return []
    area = alt.Chart(data([{"low": low, "high": high, "text": result.target}])).mark_rect(color="#FBE9DC")
    return [area.encode(x=alt.X("low:Q"), x2=alt.X2("high"), tooltip=tooltips(("target", "text")))]


def _number_panel(one: Column, names: list[str], width: float, height: float, labelled: bool) -> ChartType:
    x = feature_axis(one.name, one.kind, one.limits, width)
    x["axis"] = x["axis"].copy()
    x["axis"].title, x["axis"].tickCount = None, 2 if one.kind == "date" else 4
    x["axis"].labelOverlap, x["axis"].labelSeparation = True, 6
    tips = tooltips((one.name, "now_text"), ("instead", "text"))
    panel = _moves(move_data(one, names), x, names, tips, labelled=labelled, ink=theme.MAIN)
    return _framed(panel, one.name, width, height)


def _word_panel(one: Column, names: list[str], width: float, height: float, labelled: bool) -> ChartType:
    """Values without a place on an axis, written out."""
    rows = move_data(one, names)
    width = max(width, min(_LETTER * max(len(row["label"]) for row in rows), 2 * width))
    tips = tooltips((one.name, "now_text"), ("instead", "text"))
    layers = []
    for changed, ink in ((False, theme.FAINT), (True, theme.MAIN)):
        some = [row for row in rows if row["changed"] is changed]
        words = alt.Chart(data(some)).mark_text(color=ink, fontSize=11.5, limit=width, align="center")
        layers.append(
            words.encode(
                x=alt.value(width / 2), y=_strips(names, labelled, lines=False), text=alt.Text("label:N"), tooltip=tips
            )
        )
    return _framed(layered(*layers), one.name, width, height)


def _moves(rows: list[Row], x: dict[str, Any], names: list[str], tips: Any, *, labelled: bool, ink: str) -> ChartType:
    """Per strip a line from the own place to the new one, both as dots, the new value above its dot."""
    y = _strips(names, labelled)
    moved = [row for row in rows if row["changed"]]
    own = alt.Chart(data(rows)).mark_point(size=46, color=_NOW, fill="white", strokeWidth=1.5, opacity=1)
    line = alt.Chart(data(moved)).mark_rule(color=ink, strokeWidth=2.2, opacity=0.55)
    dot = alt.Chart(data(moved)).mark_circle(size=75, color=ink, opacity=1)
    layers: list[ChartType] = [
        line.encode(x=alt.X("now", **x), x2=alt.X2("at"), y=y),
        own.encode(x=alt.X("now", **x), y=y, tooltip=tips),
        dot.encode(x=alt.X("at", **x), y=y, tooltip=tips),
    ]
    for side in ("left", "center", "right"):
        some = [row for row in moved if row["side"] == side]
        words = alt.Chart(data(some)).mark_text(align=side, dy=-11, fontSize=11, color=theme.INK)
        layers.append(words.encode(x=alt.X("at", **x), y=y, text=alt.Text("text:N")))
    return layered(*layers)


def _strips(names: list[str], labelled: bool, *, lines: bool = True) -> alt.Y:
    axis = alt.Axis(title=None, labels=labelled, ticks=False, domain=False, grid=lines, labelPadding=8)
    return alt.Y("answer:N", sort=names, scale=alt.Scale(domain=names), axis=axis)


def _framed(panel: ChartType, name: str, width: float, height: float) -> ChartType:
    title = alt.TitleParams(wrapped(name, width + 16, 12), fontSize=12, fontWeight=600, anchor="middle", offset=6)
    return panel.properties(width=width, height=height, title=title)


def _side(at: float | None, low: float, high: float) -> str:
    """Where the words of a dot stand, so that they stay within the panel."""
    share = 0.5 if at is None or high <= low else (at - low) / (high - low)
    return "left" if share < 0.15 else "right" if share > 0.85 else "center"
