"""Contributions: how one prediction comes about, or what is seen in many; one file per picture."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from altair.typing import ChartType

from pellucid.charts import theme
from pellucid.charts.attribution import (
    bar,
    beeswarm,
    decision,
    dependence,
    force,
    heatmap,
    interactions,
    stacked,
    violin,
    waterfall,
)
from pellucid.charts.attribution.entries import COLUMNS, title, view_name, who_and_where
from pellucid.charts.layout import by_output, told
from pellucid.charts.text import caveat_note
from pellucid.errors import InputError
from pellucid.explanations import Attribution
from pellucid.explanations.dependence_words import of_feature, of_pairs
from pellucid.explanations.plot_options import AttributionOptions


@dataclass(frozen=True)
class Picture:
    """How a kind is drawn for one output, what to say below its title, and its width beside other outputs."""

    view: Callable[[Attribution, str, AttributionOptions, float], ChartType]
    notes: Callable[[Attribution, AttributionOptions], list[str]]
    width: float = theme.WIDTH
    narrow: float = 280.0


_PICTURES = {
    "waterfall": Picture(waterfall.view, waterfall.notes),
    "force": Picture(force.view, force.notes, 640.0, 520.0),
    "bar": Picture(bar.view, bar.notes),
    "beeswarm": Picture(beeswarm.view, beeswarm.notes),
    "stacked": Picture(stacked.view, stacked.notes, 560.0, 400.0),
    "dependence": Picture(dependence.view, dependence.notes),
    "interactions": Picture(interactions.view, interactions.notes),
    "decision": Picture(decision.view, decision.notes, 360.0),
    "heatmap": Picture(heatmap.view, heatmap.notes, 520.0, 400.0),
    "violin": Picture(violin.view, violin.notes),
}


def body(attribution: Attribution, options: AttributionOptions) -> ChartType:
    """The Altair chart of contributions."""
    if not attribution.feature_names:
        raise InputError("there is nothing to draw: no part contributed; plot() without kind= shows the whole.")
    kind = options.kind
    if kind == "auto":
        kind = "waterfall" if len(attribution) == 1 else "beeswarm"
    picture, outputs = _PICTURES[kind], attribution.output_names
    width = options.width or (picture.width if len(outputs) == 1 else picture.narrow)
    views = [picture.view(attribution, output, options, width) for output in outputs]
    columns = 1 if kind in ("force", "stacked", "heatmap") else min(COLUMNS, len(outputs))
    chart = by_output(views, [view_name(attribution, output) for output in outputs], columns=columns)
    notes = [*who_and_where(attribution), *picture.notes(attribution, options), caveat_note(attribution)]
    what, finding = title(attribution, kind), of_pairs(attribution) if kind == "interactions" else ""
    if kind == "dependence":
        j = dependence.feature_of(attribution, options)
        what, finding = f"Contribution of {attribution.feature_names[j]} and its value", of_feature(attribution, j)
    return told(chart, attribution, options, what, notes, columns * (width + 150), finding=finding)
