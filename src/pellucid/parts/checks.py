"""What explanations of texts and images cannot be trusted for.

Contributions: how the text or image was cut into parts, and what stands for absence. Local models: as for tables, and
absence. Anchors: not reached, needless, long, and absence. The weaknesses that are not those of a table:

- *cut-dependence*: what the contributions of a few large parts differ from the sums of those of the parts in them;
- *absence*: how far the prediction with everything absent moves when something else stands for absence; of an anchor,
  how much of its precision is lost then.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.diagnostics.general import interrupted, unsteady
from pellucid.diagnostics.local_models import local_miss, low_fidelity, unstable, width_decides
from pellucid.diagnostics.rules import unreached
from pellucid.explanations import Caveat
from pellucid.explanations.rule_words import where_predictions_change
from pellucid.parts.attribution import PartAttribution
from pellucid.parts.local import LocalPartAttribution, exhaustive
from pellucid.parts.rule import PartRule, reason
from pellucid.runner import Run
from pellucid.stats import Z95
from pellucid.words import percent, quantity

_CUT = 0.25
_ABSENCE = 0.5


def shap_caveats(
    result: PartAttribution,
    run: Run,
    *,
    instability: float,
    blocks: IntArray,
    joint: FloatArray | None,
    bases: Mapping[str, FloatArray],
) -> tuple[Caveat, ...]:
    """Everything known against these contributions.

    ``joint`` (blocks, outputs) are the contributions of a few blocks of parts, each block one player; ``bases`` are
    the predictions with everything absent, for what else could stand for absence.
    """
    found = [*interrupted(run), *unsteady(instability)]
    if joint is not None:
        found += _cut(result, blocks, joint)
    found += _absence(np.ravel(result.base), np.ravel(result.prediction), bases, result.scale)
    return tuple(found)


def _cut(result: PartAttribution, blocks: IntArray, joint: FloatArray) -> Iterator[Caveat]:
    """Whether parts contribute the same one by one as together; they do in a model without interactions."""
    values, se = result.stacked()[0], result.stacked("se")[0]
    together = np.stack([values[blocks == b].sum(axis=0) for b in range(len(joint))])
    noise = np.stack([se[blocks == b].sum(axis=0) for b in range(len(joint))]) * Z95
    missed = np.maximum(np.abs(together - joint) - noise, 0.0)
    size = float(np.abs(joint).sum())
    share = float(missed.sum()) / size if size > 0 else 0.0
    if share > _CUT:
        part = result.vocabulary.part
        b, k = np.unravel_index(int(np.argmax(missed)), missed.shape)
        first, last = np.flatnonzero(blocks == b)[[0, -1]]
        output = f" to {result.output_names[k]}" if len(result.output_names) > 1 else ""
        yield Caveat(
            code="cut-dependence",
            message=(
                f"The contributions depend on how the {result.vocabulary.whole} is split into {part}s:"
                f' those from "{result.players[first]}" to "{result.players[last]}" contribute'
                f" {quantity(float(together[b, k]), result.scale, change=True)}{output} one by one, but"
                f" {quantity(float(joint[b, k]), result.scale, change=True)} as one part (over all parts"
                f" {percent(share)} of the contributions differ)."
            ),
            value=share,
            threshold=_CUT,
            advice=(f"The {part}s act together: use interactions=True, or explain larger parts as well and compare."),
        )


def lime_caveats(
    found: LocalPartAttribution,
    run: Run,
    *,
    instability: float,
    ends: tuple[FloatArray, FloatArray],
    bases: Mapping[str, FloatArray],
    tolerance: float | None,
) -> tuple[Caveat, ...]:
    """Everything known against this local model (of many outputs the leading ones); ``ends`` are the predictions with
    nothing and everything there.
    """
    caveats, shown = [*interrupted(run), *unsteady(instability)], found.of_leading()
    caveats += width_decides(shown)
    caveats += low_fidelity(shown)
    caveats += local_miss(shown, [np.ravel(shown.fitted.spread)])
    if not exhaustive(found):
        caveats += unstable(shown, tolerance)
    caveats += _absence(ends[0][0], ends[1][0], bases, found.scale)
    return tuple(caveats)


def _absence(
    nobody: FloatArray, everybody: FloatArray, others: Mapping[str, FloatArray], scale: str
) -> Iterator[Caveat]:
    """Whether something else in place of the absent parts would move the prediction with everything absent."""
    k = int(np.argmax(np.abs(everybody - nobody)))
    away = {name: abs(float(other[k]) - float(nobody[k])) for name, other in others.items()}
    if not away:
        return
    name = max(away, key=lambda each: away[each])
    share = away[name] / max(abs(float(everybody[k] - nobody[k])), 1e-12)
    if away[name] > 1e-9 * abs(float(nobody[k])) and share > _ABSENCE:
        yield Caveat(
            code="absence",
            message=(
                "The contributions depend on what replaces absent segments: with all of them absent the prediction is"
                f" {quantity(float(nobody[k]), scale)} here, {quantity(float(others[name][k]), scale)} with {name};"
                f" that of the image is {quantity(float(everybody[k]), scale)}."
            ),
            value=share,
            threshold=_ABSENCE,
            advice=f"Explain with {name} as well, and trust what both agree on.",
        )


_COMMON = 0.9
_LONG = 0.5  # of all parts
_MANY = 6
_CHANGE = 0.1  # of the precision


def anchor_caveats(
    rule: PartRule, run: Run, *, instability: float, other: tuple[str, float] | None
) -> tuple[Caveat, ...]:
    """Everything known against a rule; ``other`` is another absence, and the precision with it."""
    return (
        *interrupted(run),
        *unsteady(instability),
        *_unreached(rule),
        *_imbalance(rule),
        *_long(rule),
        *_other_absence(rule, other),
    )


def _unreached(rule: PartRule) -> Iterator[Caveat]:
    advice = {
        "budget": "Raise budget=, take fewer, larger parts, or accept less precision.",
        "unreachable": "Make the model steady: fix its random state, or switch off dropout.",
    }
    if not rule.reached:
        yield unreached(rule.settings, rule.reason, reason(rule), rule.precision, rule.interval, advice)


def _imbalance(rule: PartRule) -> Iterator[Caveat]:
    """The prediction is that of nearly everything."""
    corpus, words = rule.settings["perturb"] == "corpus", rule.vocabulary
    if rule.base >= _COMMON and len(rule.kept) <= 1:
        yield Caveat(
            code="anchor-imbalance",
            message=(
                f"{percent(rule.base)} of the perturbed {words.whole}s get this prediction anyway: hardly any"
                f" {words.part} is needed, and the rule says little about this {words.whole}."
            ),
            value=rule.base,
            threshold=_COMMON,
            advice=(
                f"Use {'another' if corpus else 'perturb=' + repr('corpus') + ' with a'} corpus= of {words.whole}s that"
                " get other predictions, or shap, which says what moves the prediction at all."
            ),
        )


def _long(rule: PartRule) -> Iterator[Caveat]:
    """The rule is nearly the whole."""
    n, k, words = len(rule.feature_names), len(rule.kept), rule.vocabulary
    if k >= _MANY and k > _LONG * n:
        yield Caveat(
            code="anchor-long",
            message=(
                f"The rule needs {k} of {n} {words.part}s: the {words.whole} lies {where_predictions_change(rule)}, or"
                f" the {words.part}s only work together."
            ),
            value=k / n,
            threshold=_LONG,
            advice="Do not use the rule for others; take larger parts, or use shap.",
        )


def _other_absence(rule: PartRule, other: tuple[str, float] | None) -> Iterator[Caveat]:
    """Something else in place of the absent parts breaks the rule."""
    if other is None or not rule.reached:
        return
    name, precision = other
    wanted = float(rule.settings["precision"])
    if rule.precision - precision > _CHANGE and precision < wanted:
        yield Caveat(
            code="absence",
            message=(
                f"The rule depends on what replaces absent parts: with {name} its precision is {percent(precision)},"
                f" not {percent(rule.precision)}."
            ),
            value=rule.precision - precision,
            threshold=_CHANGE,
            advice=f"Explain with {name} as well, or with perturb='corpus'; trust what both agree on.",
        )
