"""What the model and the data are: facts, sentences and tables."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import numpy as np

from pellucid.report.cards import Plain, section, table
from pellucid.words import counted, listed, model_name, percent, value_name

if TYPE_CHECKING:
    from pellucid.data.schema import Feature
    from pellucid.explainer import Explainer


_KINDS = {
    "numeric": "number",
    "integer": "whole number",
    "ordered": "ordered category",
    "categorical": "category",
    "boolean": "yes or no",
    "date": "date",
}
_SHOWN = 30  # features listed before the rest is folded away
_LEVELS = 5
_LONGEST = 60


def facts(explainer: Explainer, rows: int) -> list[Plain]:
    """What stands below the title; ``rows`` are all there are."""
    predictor, data = explainer.predictor, explainer.data
    return [
        {"label": "Model", "value": model_name(predictor.name, predictor.library)},
        {"label": "Task", "value": _task(explainer)},
        {"label": "Explained", "value": _explained(explainer)},
        {"label": "Rows", "value": f"{rows:,}{_some(explainer, rows)}"},
        {"label": "Features", "value": f"{len(data.schema.features):,}"},
    ]


def _some(explainer: Explainer, rows: int) -> str:
    """How many of the rows the report looks at, where that is not all."""
    seen = len(explainer.data)
    return "" if seen == rows else f" ({seen:,} of them, drawn at random, are in this report)"


def data_section(explainer: Explainer, rows: int) -> Plain:
    """A line per feature: what it is, what values it has, how much of it is missing."""
    data = explainer.data
    gaps = [feature.name for feature in data.schema.features if feature.missing > 0]
    still = [feature.name for feature in data.schema.features if feature.distinct < 2]
    intro = [f"{rows:,} rows{_some(explainer, rows)}, {counted(len(data.schema.features), 'feature')}."]
    if gaps:
        intro.append(f"Values are missing in {listed(gaps)}.")
    if still:
        intro.append(
            f"{listed(still)} {'has' if len(still) == 1 else 'have'} only one value and cannot have an effect."
        )
    if data.weighted:
        intro.append("Rows count by their weights.")
    lines = [_row(feature) for feature in data.schema.features]
    head = ["Feature", "Kind", "Values", "Missing", "Distinct values"]
    return section("data", "The data", intro, table=table(head, lines, shown=_SHOWN, what="features"))


def _row(feature: Feature) -> list[str]:
    missing = percent(feature.missing) if feature.missing else "none"
    return [feature.name, _KINDS[feature.kind], _values(feature), missing, f"{feature.distinct:,}"]


def _values(feature: Feature) -> str:
    if feature.distinct == 0:
        return "none"
    if feature.categories is not None:
        return listed([_short(value_name(level)) for level in feature.categories], _LEVELS)
    low, high = feature.decode(np.array([feature.low, feature.high]))
    if feature.distinct == 1:
        return value_name(low)
    joint = " and " if feature.kind == "boolean" else " to "
    return f"{value_name(low)}{joint}{value_name(high)}"


def _short(text: str) -> str:
    return textwrap.shorten(text, _LONGEST, placeholder=" …") if " " in text else text[:_LONGEST]


def _task(explainer: Explainer) -> str:
    classes = explainer.predictor.classes
    if classes is not None:
        return f"classification, {counted(len(classes), 'class', 'classes')}"
    return "regression" if explainer.predictor.task == "regression" else "scores"


def _explained(explainer: Explainer) -> str:
    predictor = explainer.predictor
    names = listed(predictor.output_names)
    if predictor.scale in ("probability", "log-odds"):
        return f"{predictor.scale} of {names}"
    return names if names != "prediction" else "the predicted number"
