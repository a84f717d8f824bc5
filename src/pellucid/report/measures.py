"""Importance by several measures: where they agree, the answer does not hang on the way of asking.

Permutation importance is there already, and so are the contributions that the mean absolute contribution is made of.
Conditional importance is measured where it costs little; Sobol indices, which take features as independent, where no
feature is correlated with others.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.errors import PellucidError
from pellucid.explanations import Importance, ImportanceComparison, changed
from pellucid.report.cards import Plain, card
from pellucid.report.why import Why
from pellucid.report.work import Work
from pellucid.words import listed, percent

if TYPE_CHECKING:
    from pellucid.explainer import Explainer

_ROWS = 150_000  # model rows for conditional importance
_LOOKED = 5_000  # rows of the data it looks at, at most
_REPEATS = (2, 5)
_SOBOL = 50_000  # model rows, where the model has to be asked
_WIDEST = 50  # features, where the model has to be asked
_BARS = 15
_AGREE = 0.8  # of Kendall's tau
_QUESTIONS = {
    "permutation": "how much changes when its values are given to other rows",
    "conditional": "what it adds to the other features",
    "shap": "how far it moves single predictions",
    "sobol": "what share of the variance of the predictions it is behind",
}


def measure_card(explainer: Explainer, importance: Importance, why: Why, work: Work) -> tuple[Plain | None, list[str]]:
    """The card that compares measures, if there are at least two, and why some are missing."""
    parts, missing = [importance], []
    for name, found in _others(explainer, importance, why, work):
        if isinstance(found, Importance):
            parts.append(found)
        else:
            missing.append(f"Importance by {name} is not shown: {found}")
    if len(parts) < 2 or len(importance.feature_names) < 2:
        return None, missing if len(importance.feature_names) > 1 else []
    compared = explainer._side_by_side(parts, work.run)
    if not np.nansum(compared.excess) > 0:
        return None, ["By no measure does any feature matter."]
    asks = [f"{part.method} asks {_QUESTIONS[part.method]}" for part in parts]
    made = card(
        "measures",
        "The same question asked in other ways",
        _without_known(compared, importance),
        subtitle="Share of all importance that a feature has by each measure",
        sentences=[*compared.findings(), _advice(compared)],
        more=[f"Of a feature, {'; '.join(asks)}.", *missing],
        full=True,
        max_display=_BARS,
    )
    return made, []


def _others(
    explainer: Explainer, importance: Importance, why: Why, work: Work
) -> Iterator[tuple[str, Importance | str]]:
    """Each further measure, or the reason why it is missing."""
    players = len(importance.feature_names)
    rows = min(int(np.count_nonzero(explainer.data.weights)), _LOOKED)
    repeats = min(work.affordable(_ROWS) // max(rows * players, 1), _REPEATS[1])
    if repeats < _REPEATS[0]:
        needed = f"{rows * players * _REPEATS[0]:,} model rows"
        yield ("conditional", f"it takes at least {needed}; explainer.importance(method='conditional') has it.")
    else:
        loss = None if importance.measure != "share of prediction variance" else "variance"
        if importance.measure == "error":
            loss = "error"
        yield "conditional", _tried(explainer, work, method="conditional", loss=loss, repeats=repeats)
    if why.overall is not None and why.overall[1].feature_names == importance.feature_names:
        yield "shap", explainer._importance_of(*why.overall)
    if any(item.code == "off-data" for item in importance.caveats):
        return  # an index of independent features says nothing about these
    if why.read(explainer, "tree"):
        yield "sobol", _tried(explainer, work, method="sobol")
    elif players <= _WIDEST:
        yield "sobol", _tried(explainer, work, method="sobol", budget=work.affordable(_SOBOL))


def _tried(explainer: Explainer, work: Work, **options: Any) -> Importance | str:
    try:
        found: Importance = work.keep(explainer.importance(**options))
    except PellucidError as error:
        return str(error)
    return found


def _without_known(compared: ImportanceComparison, importance: Importance) -> ImportanceComparison:
    """Without the caveats that stand beside the first chart of the chapter."""
    known = {(item.code, item.feature) for item in importance.caveats}
    kept = tuple(item for item in compared.caveats if (item.code, item.feature) not in known)
    return changed(compared, caveats=kept)


def _advice(compared: ImportanceComparison) -> str:
    """What to make of it."""
    disputed = [str(item.feature) for item in compared.caveats if item.code == "measures-disagree"]
    if disputed:
        return (
            f"Before you rely on how much {listed(disputed)} {'matters' if len(disputed) == 1 else 'matter'}, read"
            " beside the chart why the measures differ."
        )
    tau = compared.agreement
    if np.nanmin(tau, initial=1.0) >= _AGREE:
        return "The order of the features does not hang on the measure."
    shares = np.nan_to_num(compared.shares)
    j = int(np.argmax(np.ptp(shares, axis=1)))
    high, low = int(shares[j].argmax()), int(shares[j].argmin())
    return (
        f"They differ most about {compared.feature_names[j]}: {percent(float(shares[j, high]))} of all importance by "
        f"{compared.methods[high]} ({_QUESTIONS[compared.methods[high]]}), {percent(float(shares[j, low]))} by "
        f"{compared.methods[low]} ({_QUESTIONS[compared.methods[low]]})."
    )
