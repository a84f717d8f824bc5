"""Caveats: one measured weakness each, how bad it is, and the few that are said first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from pellucid.explanations.store import stored

SAID = 3  # caveats on the first view of a result
_LEAST = 0.1  # the severity of what only just fired
_CAUTION, _WARNING = 1 / 3, 2 / 3
# Told for completeness: no number makes them a reason to distrust the result.
_REMARKS = frozenset({"not-trees", "rows-sampled", "not-shapley", "conditional-game", "many-small", "budget-spent"})
# From which value on it could not be worse; a share of everything, 1, where nothing is said.
_WORST = {
    "unsteady-model": 0.1,
    "poor-model": 1.05,
    "logit-clipped": 0.5,
    "off-data": 0.8,
    "draws-off-data": 0.8,
    "outside-bins": 0.5,
    "left-over": 0.5,
    "merged-cells": 0.2,
    "not-additive": 0.1,
    "local-miss": 2.0,
    "lossy-space": 1.0,
    "above-one": 2.0,
    "turned-effects": 0.5,
    "fooled": 0.7,
    "not-training-rows": 0.5,
    "rows-not-tried": 0.5,
    "borrowed-share": 0.5,
    "too-many-coefficients": 1.0,
    "flattered": 0.5,
}
# The same as a multiple of the threshold, for ratios and for what is measured in the units of the data.
_TIMES = {
    "any-row": 5.0,
    "fails-in-part": 2.0,
    "shared-importance": 3.0,
    "rashomon": 5.0,
    "overfitted": 2.0,
    "other-model": 2.0,
    "measures-disagree": 5.0,
    "few-rows": 5.0,
    "rare-class": 5.0,
    "nothing-near": 10.0,
    "tolerance-missed": 5.0,
    "rough-shares": 5.0,
    "imprecise": 5.0,
    "coarse-p-values": 5.0,
}
_BELOW = frozenset({"training-data"})  # the smaller, the worse


def severity(code: str, value: float, threshold: float) -> float:
    """How bad a measured number is: 0 up to its threshold, a tenth just beyond it, 1 where it could not be worse."""
    if np.isnan(value):
        return 1.0
    if code in _BELOW:
        return _between(-value, -threshold, 0.0)
    worst = _TIMES[code] * threshold if code in _TIMES else _WORST.get(code, 1.0)
    found = _between(value, threshold, worst)
    return min(found, _LEAST) if code in _REMARKS else found


def _between(value: float, threshold: float, worst: float) -> float:
    if not value > threshold:
        return 0.0
    beyond = (value - threshold) / (worst - threshold) if worst > threshold else 1.0
    return float(min(_LEAST + (1 - _LEAST) * beyond, 1.0))


@stored
@dataclass(frozen=True)
class Caveat:
    """One measured weakness: what was found, the number that fired it, and what to do instead."""

    code: str
    message: str
    value: float
    threshold: float
    advice: str
    feature: str | None = None

    @property
    def severity(self) -> float:
        """From 0.1, only just beyond the threshold, to 1, where it could not be worse."""
        return max(severity(self.code, self.value, self.threshold), _LEAST)

    @property
    def level(self) -> str:
        """The severity in a word: "note", "caution" or "warning"."""
        return "warning" if self.severity > _WARNING else "caution" if self.severity > _CAUTION else "note"

    def __str__(self) -> str:
        return f"{self.message} {self.advice}"


PARTIAL = Caveat(
    code="partial",
    message=(
        "The calculation was interrupted: the result is based on what was computed until then; the rest is missing."
    ),
    value=1.0,
    threshold=0.0,
    advice="Run it again to the end.",
)


def worst_first(caveats: Iterable[Caveat]) -> tuple[Caveat, ...]:
    """In the order of their severity; those that are as bad stay as they were."""
    return tuple(sorted(caveats, key=lambda caveat: -caveat.severity))


def said_first(caveats: Sequence[Caveat]) -> list[str]:
    """The worst few as sentences, of each kind one, and how many more there are."""
    first = _worst_few(caveats)
    return [*(str(caveat) for caveat in first), *_how_many_more(len(caveats) - len(first))]


def in_short(caveats: Sequence[Caveat]) -> list[str]:
    """The same as lines without advice."""
    first = _worst_few(caveats)
    said = [*(caveat.message for caveat in first), *_how_many_more(len(caveats) - len(first))]
    return ["Read with care:", *(f"- {line}" for line in said)] if said else []


def _worst_few(caveats: Sequence[Caveat]) -> list[Caveat]:
    kinds = {caveat.code: caveat for caveat in reversed(caveats)}
    return [caveat for caveat in caveats if kinds[caveat.code] is caveat][:SAID]


def _how_many_more(n: int) -> list[str]:
    return [] if not n else [f"{n} more {'caveat' if n == 1 else 'caveats'}: see .caveats."]
