"""Checks of anchors: imbalance, boundaries, bins, precision not reached, and rows that do not occur."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from pellucid.data import Data
from pellucid.diagnostics.off_data import OffData, associations, off_data
from pellucid.diagnostics.unreached import unreached
from pellucid.explanations.caveat import Caveat
from pellucid.explanations.rule import Rule
from pellucid.explanations.rule_words import REASONS, at_boundary
from pellucid.runner import Run
from pellucid.words import number, percent

_COMMON = 0.9
_SPECIFIC = 3  # conditions
_THIN = 0.05
_CHANGE = 0.05  # of the precision
_SHARE, _ASSOCIATED = 0.12, 0.3  # as for other methods that ask about rows which do not occur


@dataclass(frozen=True)
class Checked:
    """What was measured beside a rule: how common its prediction is, and its precision with half and double the
    bins.
    """

    common: float
    half: float
    double: float


def anchor_caveats(rule: Rule, data: Data, checked: Checked, run: Run) -> tuple[Caveat, ...]:
    """All caveats of one rule."""
    return (
        *_unreached(rule),
        *_imbalance(rule, checked.common),
        *_boundary(rule),
        *_bins(rule, checked),
        *_off_data(rule, data, run),
    )


def _unreached(rule: Rule) -> Iterator[Caveat]:
    advice = {
        "unreachable": "Give narrower bins=, or leave bins='auto', which halves them where needed.",
        "rows": "Use perturb='data', wider bins or more rows of data.",
    }
    if not rule.reached:
        yield unreached(
            rule.settings, rule.reason, REASONS.get(rule.reason, rule.reason), rule.precision, rule.interval, advice
        )


def _imbalance(rule: Rule, common: float) -> Iterator[Caveat]:
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
            f"{percent(common)} of the data get this prediction: perturbed rows are as unbalanced, hence a rule"
            f" {found}."
        ),
        value=max(common, 1.0 - common),
        threshold=_COMMON,
        advice=(
            "Give rows as X that get other predictions: the model predicts the same for all of these."
            if common == 1.0
            else "Use perturb='balanced', which draws all predicted classes equally often."
        ),
    )


def _boundary(rule: Rule) -> Iterator[Caveat]:
    if at_boundary(rule):
        yield Caveat(
            code="anchor-boundary",
            message=(
                f"The row lies near a decision boundary: its rule has {len(rule.conditions)} conditions and covers"
                f" {percent(rule.coverage)} of the data; without them the precision is {percent(rule.base)}."
            ),
            value=1.0 - rule.coverage,
            threshold=1.0 - _THIN,
            advice="Do not use the rule for other rows; counterfactuals or shap say more about such a row.",
        )


def _bins(rule: Rule, checked: Checked) -> Iterator[Caveat]:
    wanted = float(rule.settings["precision"])
    if not rule.reached:
        return
    if checked.double < rule.precision - _CHANGE and checked.double < wanted:
        what = (
            f"With double as many bins its precision is only {percent(checked.double)}: the bins reach across a"
            " boundary, close to this row"
        )
        value, threshold = rule.precision - checked.double, _CHANGE
    elif checked.half >= wanted:
        what = (
            f"With half as many bins its precision is still {percent(checked.half)}: wider bins would cover more rows"
        )
        value, threshold = checked.half, wanted - float(rule.settings["epsilon"])
    else:
        return
    yield Caveat(
        code="anchor-bins",
        message=f"The rule depends on where its bins are cut. {what} (precision {percent(rule.precision)} as it is).",
        value=float(value),
        threshold=threshold,
        advice="Try other bins=, as a number or as edges that mean something.",
    )


def _off_data(rule: Rule, data: Data, run: Run) -> Iterator[Caveat]:
    """Features of the rule are changed without those they go together with."""
    strengths = associations(data, run) if rule.settings["perturb"] in ("data", "balanced") else None
    if strengths is None:
        return
    worst: tuple[OffData, str] | None = None
    for name in {condition.feature for condition in rule.conditions}:
        j = data.schema.index(name)
        if np.delete(strengths[j], j).max(initial=0.0) < _ASSOCIATED:
            continue
        found: OffData | None = run.remember(f"off-data {j}", partial(off_data, data, j, run))
        if found is not None and (worst is None or (found.share, name) > (worst[0].share, worst[1])):
            worst = (found, name)
    if worst is None or worst[0].share < _SHARE or worst[0].association < _ASSOCIATED:
        return
    found, name = worst
    yield Caveat(
        code="off-data",
        message=(
            f"{name} goes together with {found.partner} (association {number(found.association)}):"
            f" {percent(found.share)} of the combinations that the anchor asks the model about are unlike any row of"
            " the data."
        ),
        value=found.share,
        threshold=_SHARE,
        advice="Use perturb='conditional', or treat the two features as one group.",
        feature=name,
    )
