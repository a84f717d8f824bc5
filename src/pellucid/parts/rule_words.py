"""Rules about words and segments, as sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pellucid.explanations.rule_words import REASONS, anchor_sentence, sureness
from pellucid.words import listed, number, percent

if TYPE_CHECKING:
    from pellucid.parts.rule import MaskedRule


def masked_rule_findings(rule: MaskedRule) -> list[str]:
    """The rule, how sure its precision is, what it covers, and what each part adds."""
    lines = [f"{anchor_sentence(rule)}.", f"{sureness(rule, rule.whole)}."]
    if rule.kept:
        lines.append(coverage_words(rule))
    if not rule.kept and rule.reached:
        lines.append(
            f"No {rule.part} is needed: {percent(rule.base)} of the perturbed {rule.whole}s get this prediction"
            f" whatever is left of the {rule.whole}."
        )
    elif rule.kept:
        lines.append(f"Without any {rule.part} fixed the precision is {percent(rule.base)}; {_steps(rule)}.")
    if not rule.reached:
        wanted = percent(float(rule.settings["precision"]))
        lines.append(f"The precision of {wanted} was not reached: {reason(rule)}.")
    return [*lines, rule.perturbed()]


def reason(rule: MaskedRule) -> str:
    """Why there is no better rule."""
    if rule.reason == "unreachable":
        return f"even the {rule.whole} itself does not always get its prediction"
    return REASONS.get(rule.reason, rule.reason)


def coverage_words(rule: MaskedRule) -> str:
    """What the coverage is a share of."""
    if rule.covers == "corpus":
        return (
            f"The rule applies to {number(rule.coverage * rule.rows)} of the {number(rule.rows)} texts of the corpus."
        )
    return (
        f"The coverage is the share of perturbed {rule.whole}s that keep these {rule.part}s; "
        f"of other {rule.whole}s it says nothing."
    )


def coverage_note(rule: MaskedRule) -> str:
    """The coverage in short."""
    of = "texts of the corpus" if rule.covers == "corpus" else f"perturbed {rule.whole}s"
    return f"coverage {percent(rule.coverage)} (of {of})"


def _steps(rule: MaskedRule) -> str:
    steps = [
        f"{condition.words} brings it to {percent(precision)}"
        for condition, precision in zip(rule.conditions, rule.running_precision[1:].tolist(), strict=True)
        if np.isfinite(precision)
    ]
    return listed(steps, len(steps))
