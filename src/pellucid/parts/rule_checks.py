"""Checks of anchors of texts and images: not reached, needless, long, and dependent on what stands for absence."""

from __future__ import annotations

from collections.abc import Iterator

from pellucid.diagnostics.general import interrupted, unsteady
from pellucid.diagnostics.rules import unreached
from pellucid.explanations.caveat import Caveat
from pellucid.parts.rule import MaskedRule
from pellucid.parts.rule_words import reason
from pellucid.runner import Run
from pellucid.words import percent

_COMMON = 0.9
_LONG = 0.5  # of all parts
_MANY = 6
_CHANGE = 0.1  # of the precision


def masked_rule_caveats(
    rule: MaskedRule, run: Run, *, instability: float, other: tuple[str, float] | None
) -> tuple[Caveat, ...]:
    """Everything known against a rule; ``other`` is another absence, and the precision with it."""
    return (
        *interrupted(run),
        *unsteady(instability),
        *_unreached(rule),
        *_imbalance(rule),
        *_long(rule),
        *_absence(rule, other),
    )


def _unreached(rule: MaskedRule) -> Iterator[Caveat]:
    advice = {
        "budget": "Raise budget=, take fewer, larger parts, or ask for less precision.",
        "unreachable": "Make the model steady: fix its random state, or switch off dropout.",
    }
    if not rule.reached:
        yield unreached(rule.settings, rule.reason, reason(rule), rule.precision, rule.interval, advice)


def _imbalance(rule: MaskedRule) -> Iterator[Caveat]:
    """The prediction is that of nearly everything."""
    corpus = rule.settings["perturb"] == "corpus"
    if rule.base >= _COMMON and len(rule.kept) <= 1:
        yield Caveat(
            code="anchor-imbalance",
            message=(
                f"{percent(rule.base)} of the perturbed {rule.whole}s get this prediction anyway: hardly any"
                f" {rule.part} is needed, and the rule says little about this {rule.whole}."
            ),
            value=rule.base,
            threshold=_COMMON,
            advice=(
                f"Use {'another' if corpus else 'perturb=' + repr('corpus') + ' with a'} corpus= of {rule.whole}s that"
                " get other predictions, or shap, which says what moves the prediction at all."
            ),
        )


def _long(rule: MaskedRule) -> Iterator[Caveat]:
    """The rule is nearly the whole."""
    n, k = len(rule.feature_names), len(rule.kept)
    if k >= _MANY and k > _LONG * n:
        yield Caveat(
            code="anchor-long",
            message=(
                f"The rule needs {k} of {n} {rule.part}s: the {rule.whole} lies near a decision boundary, or the"
                f" {rule.part}s only work together."
            ),
            value=k / n,
            threshold=_LONG,
            advice="Do not use the rule for others; take larger parts, or use shap.",
        )


def _absence(rule: MaskedRule, other: tuple[str, float] | None) -> Iterator[Caveat]:
    """Another thing in place of the absent breaks the rule."""
    if other is None or not rule.reached:
        return
    name, precision = other
    wanted = float(rule.settings["precision"])
    if rule.precision - precision > _CHANGE and precision < wanted:
        yield Caveat(
            code="absence",
            message=(
                f"The rule depends on what stands for absence: with {name} its precision is {percent(precision)}, not"
                f" {percent(rule.precision)}."
            ),
            value=rule.precision - precision,
            threshold=_CHANGE,
            advice=f"Explain with {name} as well, or with perturb='corpus'; trust what both agree on.",
        )
