"""What rules cannot be trusted for: a precision that was not reached, imbalance, boundaries, bins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.explanations import Anchor, Caveat
from pellucid.explanations.rule_words import REASONS, at_boundary, where_predictions_change
from pellucid.words import percent

_ADVICE = {
    "budget": "Raise budget=, or accept less precision.",
    "interrupted": "Run it again to the end.",
    "most": "Allow more conditions (max_conditions=), or accept less precision.",
}
_OTHERWISE = "Widen the beam (beams=), or accept less precision."
_COMMON = 0.9
_SPECIFIC = 3  # conditions
_THIN = 0.05
_CHANGE = 0.05  # of the precision
_AS_GOOD = 0.01


def unreached(
    settings: Mapping[str, Any],
    reason: str,
    words: str,
    precision: float,
    interval: FloatArray | tuple[float, float],
    advice: Mapping[str, str],
) -> Caveat:
    """``reason`` is the code of why, ``words`` say it; ``advice`` by reason comes before that for all kinds of
    rules.
    """
    wanted = float(settings["precision"])
    return Caveat(
        code="anchor-unreached",
        message=(
            f"No rule is known to reach a precision of {percent(wanted)}: {words}. The precision of this one is"
            f" {percent(precision)}, with a lower bound of {percent(float(interval[0]))}."
        ),
        value=1.0 - float(interval[0]),
        threshold=1.0 - wanted,
        advice={**_ADVICE, **advice}.get(reason, _OTHERWISE),
    )


@dataclass(frozen=True)
class Checked:
    """What was measured beside a rule: how common its prediction is, and its precision with half and double the
    bins.
    """

    common: float
    half: float
    double: float


def unreached_rule(rule: Anchor) -> Iterator[Caveat]:
    """The precision asked for was not reached."""
    advice = {
        "unreachable": "Give narrower bins=, or leave bins='auto', which halves them where needed.",
        "screened": "Make related columns one group (groups=): rules of fewer features are searched more thoroughly.",
        "rows": "Use perturb='data', wider bins or more rows of data.",
    }
    if not rule.reached:
        yield unreached(
            rule.settings, rule.reason, REASONS.get(rule.reason, rule.reason), rule.precision, rule.interval, advice
        )


_ALL_KINDS = {False: "all predicted classes", True: "rows with and without this prediction"}


def imbalance(rule: Anchor, common: float) -> Iterator[Caveat]:
    """A prediction that is very common or very rare."""
    if rule.settings["perturb"] != "data" or np.isnan(common):
        return
    if common > _COMMON and len(rule.players) <= 1:
        found = "that needs hardly any condition"
    elif common < 1 - _COMMON and (len(rule.players) >= _SPECIFIC or rule.coverage < _THIN):
        found = f"that needs {len(rule.players)} conditions and covers {percent(rule.coverage)} of the rows"
    else:
        return
    yield Caveat(
        code="anchor-imbalance",
        message=(
            f"{percent(common)} of the rows, and as many perturbed rows, get this prediction, which leads to a"
            f" rule {found}."
        ),
        value=max(common, 1.0 - common),
        threshold=_COMMON,
        advice=(
            "Give rows with other predictions as X: the model predicts the same for all of these."
            if common == 1.0
            else f"Use perturb='balanced', which draws {_ALL_KINDS[bool(len(rule.same))]} equally often."
        ),
    )


def boundary(rule: Anchor) -> Iterator[Caveat]:
    """A row near a decision boundary, or where predictions change fast."""
    if at_boundary(rule):
        yield Caveat(
            code="anchor-boundary",
            message=(
                f"The row lies {where_predictions_change(rule)}: its rule has {len(rule.conditions)} conditions and"
                f" covers {percent(rule.coverage)} of the data; without them the precision is {percent(rule.base)}."
            ),
            value=1.0 - rule.coverage,
            threshold=1.0 - _THIN,
            advice="Do not use the rule for other rows; counterfactuals or shap say more about such a row.",
        )


def rule_bins(rule: Anchor, checked: Checked) -> Iterator[Caveat]:
    """With half or double the bins the rule would be another."""
    wanted = float(rule.settings["precision"])
    if not rule.reached:
        return
    as_it_is = f"as it is, {percent(rule.precision)}"
    if checked.double < rule.precision - _CHANGE and checked.double < wanted:
        what = (
            f"With twice as many bins its precision is only {percent(checked.double)} ({as_it_is}): the bins include"
            " places near this row with other predictions."
        )
        value, threshold = rule.precision - checked.double, _CHANGE
    elif checked.half >= max(wanted, rule.precision - _AS_GOOD):
        what = (
            f"With half as many bins its precision is still {percent(checked.half)} ({as_it_is}): wider bins would"
            " cover more rows."
        )
        value, threshold = checked.half, wanted - float(rule.settings["epsilon"])
    else:
        return
    yield Caveat(
        code="anchor-bins",
        message=f"The rule depends on its bins. {what}",
        value=float(value),
        threshold=threshold,
        advice="Try other bins=, as a number or as edges that mean something.",
    )
