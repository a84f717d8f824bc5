"""How good the model is: its scores beside those of a constant, and charts of where it is right and wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.explanations import Performance, changed
from pellucid.explanations.performance_titles import chart_title
from pellucid.explanations.performance_words import in_words
from pellucid.models.outcome import outcome_for
from pellucid.report.cards import Plain, card, section, table
from pellucid.report.work import Work
from pellucid.words import number, percent

if TYPE_CHECKING:
    from pellucid.explainer import Explainer

TITLE = "How good the model is: performance"
_DOTS = 300  # rows drawn one by one
_WIDE: dict[str, Any] = {"width": 340.0, "height": 230.0}
_SMALL: dict[str, Any] = {"width": 220.0, "height": 120.0}
_FEW_CLASSES = 5  # of a confusion matrix beside other charts
_CHARTS = {
    "predicted": (
        "Predicted against actual values",
        "Dots: {noun}s; dashed: perfect predictions; orange: the mean of each bin",
    ),
    "residuals": ("Residuals", "Actual minus predicted; orange: bin means with 95% intervals; shaded: the middle 80%"),
    "confusion": ("Confusion matrix", "{Noun}s, and their share of the true class"),
    "calibration": ("Calibration", "Observed share by predicted probability, with 95% intervals"),
    "roc": ("ROC curve", "Dashed: chance"),
    "thresholds": ("Thresholds", "If {noun}s are flagged from a probability on"),
    "precision-recall": ("Precision-recall curve", "Dashed: chance, the share of the class"),
}


@dataclass(frozen=True)
class Score:
    """One measure of the model and of a constant, each as text, and what it means in a sentence."""

    measure: str
    model: str
    interval: str
    constant: str
    words: str


def can_compare(explainer: Explainer) -> bool:
    """Whether the outcome is known and has the shape of what the model predicts."""
    y = explainer.data.y
    if y is None or len(y) < 2:
        return False
    if explainer.predictor.classes is not None:
        return True
    if explainer.predictor.task == "scores" and y.dtype.kind not in "iuf":
        return False
    return (y.shape[1] if y.ndim == 2 else 1) == explainer.predictor.width


def importance_loss(explainer: Explainer) -> str | None:
    """The loss that importance is measured by: the usual one, or one that fits what the model returns."""
    if not can_compare(explainer):
        return "variance"
    if explainer.predictor.task == "classification" and explainer.predictor.raw_scale != "probability":
        return "error"
    return None


def measured(explainer: Explainer, work: Work) -> Performance | None:
    """The performance, where there is an outcome to compare with."""
    return work.keep(explainer.performance()) if can_compare(explainer) else None


def scores(found: Performance | None) -> list[Score]:
    """The usual measures, most telling first; none without an outcome to compare with."""
    if found is None:
        return []
    made = []
    for name, own, constant in zip(found.measures, found.values, found.constant, strict=True):
        show = percent if name == "error rate" else number
        low, high = found.interval(name)
        between = f"{show(low)} to {show(high)}" if np.isfinite([low, high]).all() else "not known"
        words = in_words(name, float(own), float(constant), found.noun)
        made.append(Score(name[0].upper() + name[1:], show(float(own)), between, show(float(constant)), words))
    return made


def model_section(explainer: Explainer, found: Performance | None, *, brief: bool) -> Plain:
    """The scores of the model beside those of a constant (in words too, unless it is ``brief``), and charts."""
    if found is None:
        missing = "no outcome was given" if explainer.data.y is None else "the outcome does not fit its outputs"
        intro = [
            f"How well the model predicts is unknown: {missing}.",
            "Importance is therefore measured by how much predictions change, not by how much worse they get.",
        ]
        return section("model", TITLE, intro)
    against = f"The model is compared with {_constant(explainer)}, on the {len(explainer.data):,} rows of this report."
    return score_section(found, against, brief=brief)


def score_section(found: Performance, against: str, *, brief: bool) -> Plain:
    """Measures beside those of a constant, and charts; ``against`` says what is compared with what."""
    intro = [
        f"{against} If the model was trained on these {found.noun}s, it looks better here than it is.",
        *(found.findings()[1 : 1 + len(found.output_names)] if found.is_regression else []),  # the rest is in the cards
    ]
    rows = [[score.measure, score.words, score.model, score.interval, score.constant] for score in scores(found)]
    head = ["Measure", "In words: the model …", "Model", "95% interval", "Constant"]
    if brief:
        head, rows = [head[0], *head[2:]], [[row[0], *row[2:]] for row in rows]
    kinds = _kinds(found, brief=brief)
    columns = 2 if len(kinds) == 2 else 3
    cards = _cards(found, kinds)
    fills = brief and columns == 3 and len(cards) % 3 == 2 and all(made["half"] for made in cards)
    beside = "Measures" if fills else ""  # the place that would be empty
    return section("model", TITLE, intro, table=table(head, rows), cards=cards, columns=columns, table_beside=beside)


def _cards(found: Performance, kinds: Sequence[str]) -> list[Plain]:
    several = found.is_regression and len(found.output_names) > 1
    large = {kind: several or (kind == "confusion" and len(found.classes) > _FEW_CLASSES) for kind in kinds}
    size = _WIDE if len(kinds) == 2 else _SMALL
    told = changed(found, caveats=tuple(item for item in found.caveats if item.code != "training-data"))  # the headline
    made = [
        card(
            f"performance-{kind}",
            _CHARTS[kind][0],
            told,
            subtitle=_CHARTS[kind][1].format(noun=found.noun, Noun=found.noun.capitalize()),
            sentences=[f"{chart_title(found, kind)}."],
            full=large[kind],
            half=not large[kind],
            kind=kind,
            max_rows=_DOTS,
            **({} if large[kind] else size),
        )
        for kind in kinds
    ]
    return [{**one, "note": ""} for one in made]  # what the subtitle says


def _kinds(found: Performance, *, brief: bool) -> list[str]:
    """The charts that fit what is predicted; thresholds are chosen where there is one class to flag, and of several
    classes a ``brief`` chapter leaves out the second way to rank them.
    """
    if found.is_regression:
        return ["predicted", "residuals"]
    flagging = len(found.rankings) == 1 and found.scale == "probability"
    there = {
        "confusion": True,
        "roc": bool(found.rankings),
        "calibration": bool(found.bins),
        "precision-recall": len(found.rankings) == 1 or (bool(found.rankings) and not brief),
        "thresholds": flagging,
    }
    return [kind for kind, shown in there.items() if shown]


def _constant(explainer: Explainer) -> str:
    predictor, data = explainer.predictor, explainer.data
    if predictor.classes is not None:
        return "a constant, the class frequencies"
    y = outcome_for(predictor, data)
    if y.shape[1] > 1:
        return "a constant, the means of the outcomes"
    return f"a constant, the mean of the outcome ({number(float(np.average(y[:, 0], weights=data.weights)))})"
