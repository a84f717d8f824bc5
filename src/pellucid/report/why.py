"""Why the model predicts what it predicts: contributions over many rows and in individual rows, and other ways to
explain these.

No chapter can make the report fail: where contributions cannot be had, it says why and what to call instead.

Local models (LIME) and rules (anchors) stand beside the contributions, with how far they agree. Local models share one
set of samples; rules share what the model was asked, up to a number of model rows. A slow model is asked for less, and
for nothing where that would be too little to learn from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pellucid import agreement
from pellucid.arrays import IntArray
from pellucid.errors import PellucidError
from pellucid.explanations import Agreement, Anchor, Attribution
from pellucid.explanations.agreement import AGREE, IN_PART
from pellucid.report import contributions, rows
from pellucid.report.cards import Plain, card, section, table
from pellucid.report.rows import Look, explained_name
from pellucid.report.work import Asking, Work, find_asking
from pellucid.words import listed, number, percent

if TYPE_CHECKING:
    from pellucid.explainer import Explainer


@dataclass(frozen=True, eq=False)
class Chosen:
    """Rows that are worth a look: why each is, what is predicted for them, and their contributions, in one order."""

    reasons: rows.Reasons
    seen: Look
    found: Attribution


@dataclass(frozen=True, eq=False)
class Why:
    """Contributions over a sample of rows (and which these are), and in rows that were chosen; or the ``reason`` why
    they cannot be had.
    """

    overall: tuple[IntArray, Attribution] | None
    chosen: Chosen | None
    reason: str

    def read(self, explainer: Explainer, *methods: str) -> bool:
        """Whether the model was read, as trees or as a sum of terms, and no link stands between these and what is
        explained.
        """
        if self.overall is None:
            return False
        found = self.overall[1]
        return found.method in methods and found.scale == explainer.predictor.scale and "linked" not in found.settings


def find_why(explainer: Explainer, asked: Sequence[int], work: Work) -> Why:
    """Contributions over many rows and in individual ones."""
    work.step("computing contributions (SHAP)")
    asking, reason = _asking(explainer, work)
    overall: tuple[IntArray, Attribution] | None = None
    if asking is not None:
        try:
            overall = asking.overall()
            work.keep(overall[1])
        except PellucidError as error:
            reason = str(error)
    work.step("explaining individual rows")
    chosen: Chosen | None = None
    if asking is not None:
        try:
            chosen = _choose(explainer, asking, asked, overall, work)
        except PellucidError as error:
            reason = str(error)
    return Why(overall, chosen, reason)


def contributions_of(explainer: Explainer, why: Why) -> Plain:
    """The chapter on many rows."""
    if why.overall is None:
        return contributions.no_contributions("contributions", contributions.TITLE, why.reason)
    return contributions.contribution_section(explainer, why.overall[1])


def row_sections(explainer: Explainer, why: Why, work: Work) -> list[Plain]:
    """The chapters on individual rows, by contributions and by other methods."""
    work.step("explaining these rows by LIME and anchors")
    if why.chosen is None:
        return [contributions.no_contributions("rows", rows.TITLE, why.reason)]
    chosen, sample = why.chosen, 0 if why.overall is None else len(why.overall[0])
    shown = rows.row_section(explainer, chosen.reasons, chosen.seen, chosen.found, sample=sample)
    return [shown, _ways_section(explainer, chosen.seen, chosen.found, work)]


def _asking(explainer: Explainer, work: Work) -> tuple[Asking | None, str]:
    """How contributions can be had, or why they cannot."""
    try:
        return find_asking(explainer, work), ""
    except PellucidError as error:
        return None, str(error)


def _choose(
    explainer: Explainer, asking: Asking, asked: Sequence[int], overall: tuple[IntArray, Attribution] | None, work: Work
) -> Chosen:
    sample, found = overall or (np.empty(0, dtype=np.intp), None)
    reasons = rows.choose(explainer, asked, rows.look(explainer, work.run), sample, found)
    places = np.array(list(reasons), dtype=np.intp)
    explained = work.keep(asking.of(places))
    return Chosen(reasons, rows.predicted(explainer, places, work.run), explained)


OTHER_TITLE = "The same rows by LIME and anchors"
_SAMPLES, _FEWEST = 5_000, 500  # of local models
_RULES, _ALL_RULES = 20_000, 120_000  # model rows for one rule, and for all of them
_BARS, _PANEL = 8, 150.0  # features of a chart, pixels of each of its panels
_MEANING = (
    "A local surrogate (LIME) is a simple model of at most six features that imitates the model near a row; an effect"
    " is its weight times the distance of the row from an average one. A rule (anchor) fixes the prediction: nearly all"
    " rows that satisfy it get the same prediction, whatever their other values. Contributions explain the difference"
    " from the average prediction. Where the three agree, an explanation is on firmer ground; where they do not, they"
    " answer different questions, or one of them fails."
)


def _ways_section(explainer: Explainer, seen: Look, found: Attribution, work: Work) -> Plain:
    """One card per row; ``seen`` and ``found`` hold the predictions and contributions of these rows, in this order."""
    samples = work.affordable(_SAMPLES)
    if samples < _FEWEST:
        slow = (
            f"The model is too slow for this: it predicts about {number(1 / work.seconds_per_row)} rows a second."
            " explainer.lime and explainer.anchor explain single rows."
        )
        return section("ways", OTHER_TITLE, [_MEANING, slow])
    places = seen.rows.tolist()
    try:
        local = work.keep(explainer.lime(places, samples=samples))
    except PellucidError as error:
        return section("ways", OTHER_TITLE, [_MEANING, f"Local surrogates are not available: {error}"])
    rules, reason = _rules(explainer, places, work)
    compared = [
        agreement(found.row(k), local.row(k), rule, output=explained_name(explainer, seen, k), checks=explainer._checks)
        for k, rule in enumerate(rules)
    ]
    names = [local.row_labels.name(k) for k in range(len(places))]
    cards = [_way_card(*each) for each in zip(places, names, compared, strict=True)]
    intro = [_MEANING, _overall(compared), *([f"Rules are not available: {reason}"] if reason else [])]
    return section("ways", OTHER_TITLE, intro, cards=cards, table=_table(names, compared))


def _rules(explainer: Explainer, places: list[int], work: Work) -> tuple[Sequence[Anchor | None], str]:
    """A rule for each row, or none and the reason."""
    budget = work.affordable(min(_RULES * len(places), _ALL_RULES))
    try:
        found = work.keep(explainer.anchor(places, budget=budget))
    except PellucidError as error:
        return [None] * len(places), str(error)
    return found.rules, ""


def _way_card(place: int, name: str, one: Agreement) -> Plain:
    return card(
        f"ways-{place}",
        f"Row {name} by several methods",
        one,
        sentences=one.findings(),
        more=[] if one.rule is None or one.rule.reached else [f"The rule: {one.rule.reason}"],
        full=True,
        width=_PANEL,
        every_name=True,
        max_display=_BARS,
    )


def _overall(compared: Sequence[Agreement]) -> str:
    """How many rows the ways agree on."""
    known = [one.likeness for one in compared if np.isfinite(one.likeness)]
    if not known:
        return "No feature contributes in any of these rows, so there is nothing to compare."
    alike, apart = sum(x >= AGREE for x in known), sum(x < IN_PART for x in known)
    parts = [
        f"they agree in {alike}" if alike else "",
        f"partly in {len(known) - alike - apart}" if len(known) > alike + apart else "",
        f"hardly or not at all in {apart}" if apart else "",
    ]
    some = f"Of {len(known)} rows" if len(known) > 1 else "Of one row"
    return f"{some} where contributions and local model can be compared, {listed([part for part in parts if part])}."


def _table(names: Sequence[str], compared: Sequence[Agreement]) -> Plain:
    """One line per row: what each way finds first, and how alike they are."""
    lines = [[name, *_cells(one)] for name, one in zip(names, compared, strict=True)]
    return table(
        [
            "Row",
            "Largest contributions",
            "Largest effects",
            "Cosine similarity",
            "In the rule",
            "Contributions of these",
        ],
        lines,
    )


def _cells(one: Agreement) -> list[str]:
    rule = "none" if one.rule is None else ", ".join(one.rule.players) or "no condition"
    share = percent(one.on_rule) if np.isfinite(one.on_rule) else ""
    alike = number(one.likeness) if np.isfinite(one.likeness) else ""
    return [", ".join(one.first(0)), ", ".join(one.first(1)), alike, rule, share]
