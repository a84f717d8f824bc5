"""Single texts and images: their contributions (SHAP), and a local surrogate (LIME) and an anchor beside them.

What is known against several of them is said once, in the chapter at the top; a card that it touches has a chip.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pellucid.errors import PellucidError
from pellucid.explanations import Caveat
from pellucid.explanations.attribution_words import amount, short
from pellucid.explanations.caveat import worst_first
from pellucid.parts.attribution import PartAttribution
from pellucid.parts.local import LocalPartAttribution
from pellucid.parts.rule import PartRule, reason
from pellucid.report.cards import Plain, card, caveats, section, table
from pellucid.report.wholes import Reasons, Seen
from pellucid.report.work import Work
from pellucid.words import listed, percent

TOP = "care"
_BARS = 8  # parts of a waterfall and of the table below it
_BESIDE = 4_000  # model rows for a local surrogate and an anchor
_SAMPLES, _BUDGET = 1_000, 3_000
_IN_WORDS = ("anchor-unreached", "anchor-imbalance")  # said in place of the anchor


@dataclass(frozen=True, eq=False)
class Single:
    """All that is known of one text or image, number ``i`` of those that were looked at."""

    i: int
    why: tuple[str, ...]
    found: PartAttribution
    lime: LocalPartAttribution | None
    rule: PartRule | None

    @property
    def caveats(self) -> list[tuple[str, Caveat]]:
        """Those of all three, each with the method that it is about."""
        named = (("SHAP", self.found), ("LIME", self.lime), ("anchor", self.rule))
        told = [(name, item) for name, result in named if result is not None for item in result.caveats]
        return [(name, item) for name, item in told if item.code not in _IN_WORDS]


def explain(explainer: Any, wholes: Sequence[Any], seen: Seen, reasons: Reasons, work: Work) -> list[Single]:
    """Contributions of each, and LIME and an anchor beside them where the model is quick enough."""
    singles = []
    for i, why in reasons.items():
        whole = wholes[int(seen.places[i])]
        found = work.keep(explainer.shap(whole))
        if not found.players:  # an empty text
            continue
        cheap = work.affordable(_BESIDE) == _BESIDE
        lime = _had(work, explainer.lime, whole, samples=_SAMPLES) if cheap else None
        rule = _had(work, explainer.anchor, whole, budget=_BUDGET) if cheap else None
        singles.append(Single(i, tuple(why), found, lime, rule))
    return singles


def _had(work: Work, ask: Callable[..., Any], whole: Any, **options: Any) -> Any:
    """An explanation of a text or an image; None where it cannot be had (too short, too small)."""
    try:
        return work.keep(ask(whole, **options))
    except PellucidError:
        return None


def single_section(
    seen: Seen, singles: Sequence[Single], draw: Callable[[Any], dict[str, Any]], intro: Sequence[str]
) -> Plain:
    """One card for each; ``draw`` gives what its picture adds to a card, and the options of its chart."""
    title = f"Single {seen.noun}s: SHAP, LIME and anchors"
    return section("singles", title, intro, cards=[_card(seen, one, draw) for one in singles])


def _card(seen: Seen, single: Single, draw: Callable[[Any], dict[str, Any]]) -> Plain:
    place = int(seen.places[single.i])
    name = seen.output(single.i)
    one = single.found.for_output(name)
    shown = draw(one)
    made = card(
        f"{seen.noun}-{place}",
        f"{seen.noun.capitalize()} {place}: {', '.join(single.why)}",
        one,
        subtitle=seen.outcome(single.i),
        sentences=[*short(one), *_rule_words(single, seen.noun)],
        values=_values(single, name),
        more=one.findings(),
        **shown["options"],
    )
    return made | shown["adds"] | {"caveats": [], "chips": _chips(single)}


def _rule_words(single: Single, whole: str) -> list[str]:
    """The anchor, or why there is none."""
    rule = single.rule
    if rule is None:
        return []
    if not rule.reached:
        return [f"No anchor reaches a precision of {percent(float(rule.settings['precision']))}: {reason(rule)}."]
    if not rule.kept:
        return [f"No anchor is needed: {percent(rule.base)} of the perturbed {whole}s get this prediction anyway."]
    return [f"Anchor: {rule.findings()[0]}"]


def _values(single: Single, output: str) -> Plain | None:
    """A line for each of the largest contributions, with its weight in the local surrogate and whether the anchor has
    it.
    """
    one, lime = single.found.for_output(output), single.lime
    rule = single.rule if single.rule is not None and single.rule.reached and single.rule.kept else None
    low, high = one.interval()
    order = [int(j) for j in np.argsort(-np.abs(one.values[0]), kind="stable")[:_BARS] if one.values[0, j] != 0]
    if not order:
        return None
    weights = None if lime is None else lime.for_output(output).values[0]
    rows = []
    for j in order:
        row = [one.feature_names[j], amount(float(one.values[0, j]), float(high[0, j] - low[0, j]) / 2, one.scale)]
        if weights is not None:
            row.append(amount(float(weights[j]), 0.0, one.scale) if weights[j] else "")
        if rule is not None:
            row.append("yes" if j in rule.kept else "")
        rows.append(row)
    head = [one.vocabulary.part.capitalize(), "SHAP"]
    return table([*head, *([] if lime is None else ["LIME"]), *([] if rule is None else ["Anchor"])], rows)


# -- what is known against them ----------------------------------------------------------------------


def _chips(single: Single) -> list[Plain]:
    labels = dict.fromkeys(item.code.replace("-", " ") for _, item in single.caveats)
    return [{"label": label, "id": TOP} for label in labels]


def care_section(seen: Seen, singles: Sequence[Single], absence: str, general: Sequence[Caveat] = ()) -> Plain:
    """What is known against this report, each once: the worst case, and where else it holds."""
    kinds = dict.fromkeys((name, item.code) for one in singles for name, item in one.caveats)
    facts = [*general, *(_gathered(seen, singles, *kind) for kind in kinds)]
    intro = [absence] if facts else [absence, "The checks found nothing against these explanations."]
    return section(TOP, "Read with care", intro, caveats=caveats(worst_first(facts)))


def _gathered(seen: Seen, singles: Sequence[Single], method: str, code: str) -> Caveat:
    """One caveat for all: the worst one, in which text or image that is, and which others have it."""
    found = [(one, item) for one in singles for name, item in one.caveats if (name, item.code) == (method, code)]
    worst, item = max(found, key=lambda each: each[1].severity)
    others = [str(int(seen.places[one.i])) for one in dict.fromkeys(one for one, _ in found) if one is not worst]
    many = f" The same holds for {seen.noun}{'s' if len(others) > 1 else ''} {listed(others)}." if others else ""
    place = f"{seen.noun.capitalize()} {int(seen.places[worst.i])}, {method}"
    return replace(item, message=f"{place}: {item.message}{many}")
