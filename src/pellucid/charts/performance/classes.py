"""Classes at every threshold: ROC, precision-recall, and what each threshold flags."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
from altair.typing import ChartType

from pellucid.charts import theme
from pellucid.charts.layout import Row, data, layered, tooltips
from pellucid.explanations import Performance
from pellucid.explanations.plot_options import PerformanceOptions
from pellucid.words import number, percent

_LISTED = 5  # classes in one column of a legend
_MEASURES = ("precision", "recall", "share flagged")


def curve_data(found: Performance) -> list[Row]:
    """One row per class and threshold kept, in the order of the curve."""
    return [
        {
            "class": one.name,
            "order": order,
            "recall": float(one.recall[order]),
            "precision": float(one.precision[order]),
            "false_alarms": float(one.false_alarms[order]),
            "threshold_text": "none" if not np.isfinite(t) else number(float(t)),
            "recall_text": percent(float(one.recall[order])),
            "precision_text": percent(float(one.precision[order])),
            "false_text": percent(float(one.false_alarms[order])),
            "flagged_text": percent(float(one.flagged[order])),
        }
        for one in found.rankings
        for order, t in enumerate(one.thresholds)
    ]


def threshold_data(found: Performance, points: int = 99) -> list[Row]:
    """One row per threshold and measure, for the only class."""
    (one,) = found.rankings
    rows = []
    for threshold in np.round(np.arange(1, points + 1) / (points + 1), 10):
        there = one.at(float(threshold))
        for measure, key in zip(_MEASURES, ("precision", "recall", "flagged"), strict=True):
            if measure != "precision" or there["flagged"] > 0:
                value = there[key]
                shown = {"threshold_text": number(float(threshold)), "value_text": percent(value)}
                rows.append({"threshold": float(threshold), "measure": measure, "value": value, **shown})
    return rows


def roc(found: Performance, options: PerformanceOptions) -> ChartType:
    """Recall over false alarms; the diagonal is chance."""
    chance = alt.Chart(data([{"x": 0, "y": 0}, {"x": 1, "y": 1}])).mark_line(
        color=theme.MUTED, strokeDash=[5, 4], strokeWidth=1.5
    )
    areas = {one.name: f"{one.name} (AUC {number(one.auc)})" for one in found.rankings}
    x, y = share_axis("false alarms (false positive rate)"), share_axis("recall (true positive rate)")
    views = [
        chance.encode(x=alt.X("x", **x), y=alt.Y("y", **y)),
        *_curves(found, areas, "false_alarms", "recall", x, y),
    ]
    return layered(*views).properties(**panel_size(options))


def precision_recall(found: Performance, options: PerformanceOptions) -> ChartType:
    """Precision over recall; a dashed line of each class is its share, which chance has as its precision."""
    areas = {one.name: f"{one.name} (AP {number(one.average_precision)})" for one in found.rankings}
    x, y = share_axis("recall"), share_axis("precision")
    shares = [{"class": areas[one.name], "share": one.share} for one in found.rankings]
    chance = alt.Chart(data(shares)).mark_rule(strokeDash=[5, 4], strokeWidth=1.5, opacity=0.6)
    views = [
        *_curves(found, areas, "recall", "precision", x, y),
        chance.encode(y=alt.Y("share", **y), color=class_colour(found, areas)),
    ]
    return layered(*views).properties(**panel_size(options))


def thresholds(found: Performance, options: PerformanceOptions) -> ChartType:
    """Precision, recall and the share of rows flagged, over the threshold."""
    (one,) = found.rankings
    scale = alt.Scale(domain=list(_MEASURES), range=[theme.CATEGORIES[2], theme.CATEGORIES[3], theme.CATEGORIES[4]])
    colour = alt.Color("measure", type="nominal", scale=scale, legend=alt.Legend(title=None, orient="top"))
    x = alt.X("threshold", **share_axis(f"flagged as {one.name} from this probability on"))
    y = alt.Y("value", **share_axis(None))
    tips = tooltips(("threshold", "threshold_text"), ("measure", "measure"), ("value", "value_text"))
    base = alt.Chart(data(threshold_data(found)))
    views = [
        base.mark_line(strokeWidth=2).encode(x=x, y=y, color=colour),
        base.mark_point(size=40, opacity=0).encode(x=x, y=y, tooltip=tips),
    ]
    return layered(*views).properties(**panel_size(options))


def _curves(
    found: Performance, labels: dict[str, str], across: str, up: str, x: dict[str, Any], y: dict[str, Any]
) -> list[alt.Chart]:
    rows = [{**row, "class": labels[row["class"]]} for row in curve_data(found)]
    tips = tooltips(
        ("class", "class"),
        ("threshold", "threshold_text"),
        ("recall", "recall_text"),
        ("precision", "precision_text"),
        ("false alarms", "false_text"),
        ("flagged", "flagged_text"),
    )
    base = alt.Chart(data(rows))
    place = {"x": alt.X(across, **x), "y": alt.Y(up, **y), "color": class_colour(found, labels)}
    lines = base.mark_line(strokeWidth=2, interpolate="linear").encode(
        **place, order=alt.Order("order", type="quantitative")
    )
    return [lines, base.mark_point(size=30, opacity=0).encode(**place, tooltip=tips)]


def class_colour(found: Performance, labels: dict[str, str]) -> alt.Color:
    """The fixed colour of each class, with its area in the legend."""
    places = [found.output_names.index(name) for name in labels]
    palette = theme.CATEGORIES
    if len(found.output_names) > len(palette):
        scale = alt.Scale(domain=list(labels.values()), scheme="tableau20")
    else:
        scale = alt.Scale(domain=list(labels.values()), range=[palette[k] for k in places])
    columns, room = (1, 260) if len(labels) <= _LISTED else (2, 120)
    key = alt.Legend(title=None, orient="top", columns=columns, labelLimit=room, symbolType="stroke")
    return alt.Color("class", type="nominal", scale=scale, legend=key)


def share_axis(title: str | None) -> dict[str, Any]:
    """Properties of the x or y channel of a share."""
    axis = alt.Axis(title=title, format="%", values=[0, 0.2, 0.4, 0.6, 0.8, 1])
    return {"type": "quantitative", "scale": alt.Scale(domain=[0, 1], nice=False), "axis": axis}


def panel_size(options: PerformanceOptions) -> dict[str, float]:
    """Width and height of one chart."""
    return {"width": options.width or theme.WIDTH * 0.9, "height": options.height or theme.HEIGHT}
