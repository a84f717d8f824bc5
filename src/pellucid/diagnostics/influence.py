"""What influence cannot be trusted for: other rows than the training rows, approximations, and the jolt of any row."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pellucid.data import Data
from pellucid.diagnostics.general import general_caveats
from pellucid.explanations import Caveat, Influence, Poisoning, RobustFit, Triage
from pellucid.models import Predictor
from pellucid.runner import Run
from pellucid.words import number, percent

_APART = 0.02  # of the spread of predictions
_GAP = 0.1
_MISSED = 0.02
_ALONE = 0.5
_WHY = {
    "trees kept": "because the trees then grow differently",
    "influence function": "because the network is trained again",
}
_SHOWN = {"trees kept": "does with the trees kept", "influence function": "does to first order"}


def influence_caveats(predictor: Predictor, data: Data, run: Run, found: Influence) -> tuple[Caveat, ...]:
    """Everything known against this influence."""
    if not run.checks:
        return ()
    said = list(general_caveats(predictor, data, run))
    said.extend(other_rows(found))
    said.extend(_approximate(found))
    said.extend(_jolt(found))
    said.extend(_missed(found))
    said.extend(_leverage(found))
    return tuple(said)


def other_rows(found: Influence | Triage | Poisoning | RobustFit) -> Iterator[Caveat]:
    """The model fitted to these rows is another one."""
    apart = float(found.settings["apart"])
    if apart > _APART:
        yield Caveat(
            code="not-training-rows",
            message=(
                "Refitted to these rows, the model's predictions differ from those of the given model by"
                f" {percent(apart)}"
                " of their spread: these are not its training rows, or not all of its settings are known."
            ),
            value=apart,
            threshold=_APART,
            advice="Give the training rows as X and y; where a fit is random, set its random_state.",
        )


def _approximate(found: Influence) -> Iterator[Caveat]:
    checked = found.checked
    if np.isfinite(checked.gap) and checked.gap > _GAP:
        top = len(checked.units) - checked.jolt_rows
        why = _WHY.get(found.how, "because one step is not enough")
        agree = f" (correlation {number(checked.correlation)})" if np.isfinite(checked.correlation) else ""
        yield Caveat(
            code="not-refitted",
            message=(
                f"Full refits without each of the {top} strongest rows give values that differ from these by"
                f" {percent(checked.gap)} of their size{agree}, {why}."
            ),
            value=checked.gap,
            threshold=_GAP,
            advice="For the actual effect of leaving rows out, use method='deletion'.",
        )


def _jolt(found: Influence) -> Iterator[Caveat]:
    jolt, top = found.checked.jolt, found.ranking(1)
    if np.isfinite(jolt) and len(top) and found.how in _SHOWN and jolt > found.strength[top[0]]:
        ratio = jolt / max(float(found.strength[top[0]]), 1e-300)
        yield Caveat(
            code="any-row",
            message=(
                f"A full refit without a random row changes the result {number(ratio)} times as much as the strongest"
                f" row {_SHOWN[found.how]}: no single row accounts for it."
            ),
            value=float(ratio),
            threshold=1.0,
            advice=(
                "Read the values as which rows matter through shared leaves, not as what would happen without a row."
                if found.how == "trees kept"
                else "Use method='deletion', several times with other seeds."
            ),
        )


def _missed(found: Influence) -> Iterator[Caveat]:
    """Of rows drawn at random, how many reach the tenth place."""
    tried, units = int(found.settings["tried"]), int(found.settings["units"])
    random = int(found.settings["at_random"])
    if tried >= units or random < 1:
        return
    share = max(float(found.settings["reach"]), 1.0 / random)
    if share > _MISSED:
        yield Caveat(
            code="rows-not-tried",
            message=(
                f"{units - tried:,} rows were not tried; up to {percent(share)} of rows drawn at random would be among"
                " the ten strongest, so rows as strong as these may be missing."
            ),
            value=share,
            threshold=_MISSED,
            advice="Raise budget= (the number of refits).",
        )


def _leverage(found: Influence) -> Iterator[Caveat]:
    """A row that some coefficient rests on alone."""
    if len(found.leverage) != len(found) or not len(found):
        return
    most = float(np.nanmax(found.leverage))
    alone = int((found.leverage > _ALONE).sum())
    if most > _ALONE and alone / len(found) < 0.1:
        i = int(np.nanargmax(found.leverage))
        yield Caveat(
            code="high-leverage",
            message=(
                f"{found.name(i)[:1].upper() + found.name(i)[1:]} has a leverage of {number(most)}: the model fits it"
                " nearly whatever its outcome is, so its small residual says nothing."
            ),
            value=most,
            threshold=_ALONE,
            advice="Check the row, merge rare categories, or penalise (ridge).",
        )
