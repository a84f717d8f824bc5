"""The short report, two to three printed pages: how good the model is, what matters, how it responds, and any row.

What is known against the explanations stands first; charts stand side by side. All the rest is in the full report.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from pellucid.explanations import Importance, Performance
from pellucid.explanations.importance import in_units
from pellucid.report.cards import Plain, card, section
from pellucid.report.contributions import dots, how_found, main_output
from pellucid.report.performance import model_section
from pellucid.report.rows import TITLE as ROWS
from pellucid.report.rows import row_card
from pellucid.report.sections import importance_meaning
from pellucid.report.why import Why
from pellucid.words import counted

if TYPE_CHECKING:
    from pellucid.explainer import Explainer

ABOUT = "care"
_BARS, _BAR_WIDTH = 8, 250.0
_STANDING = (
    "Every chart describes the model, not the world, and no caveat means that the checks found nothing, not"
    " that nothing"
    " is wrong.",
    'The full report, explainer.report(detail="full") or pellucid report --detail full, has more: the data,'
    " other measures"
    " of importance, interactions, the model in parts, correlated features, typical and extreme rows, local surrogates"
    " (LIME) and anchors.",
)


def short_sections(
    explainer: Explainer,
    performance: Performance | None,
    importance: Importance,
    trust: Plain,
    effects: Sequence[Plain],
    why: Why,
    asked: Sequence[int],
) -> list[Plain]:
    """The chapters in reading order."""
    return [
        {**trust, "title": "Read with care", "table": None},
        model_section(explainer, performance, brief=True),
        _matters(explainer, importance, why),
        _responds(effects),
        *_asked(explainer, why, asked),
    ]


def _asked(explainer: Explainer, why: Why, asked: Sequence[int]) -> list[Plain]:
    """The rows that were asked for; all others can be chosen in the page."""
    if why.chosen is None or not asked:
        return []
    seen, found = why.chosen.seen, why.chosen.found
    cards = [
        row_card(explainer, seen, k, reasons, found, half=True)
        for k, (row, reasons) in enumerate(why.chosen.reasons.items())
        if row in asked
    ]
    return [section("rows", ROWS, [], cards=cards, columns=2)]


def shortened(sections: Sequence[Plain]) -> list[Plain]:
    """Beside each chart its worst caveat, if it is a warning; the others are counted."""
    return [{**part, "cards": [_worst_caveat(made) for made in part["cards"]]} for part in sections]


def _worst_caveat(made: Plain) -> Plain:
    shown = [item for item in made["caveats"][:1] if item["level"] == "warning"]
    more = len(made["caveats"]) - len(shown)
    if not more:
        return made
    what = counted(more, "more caveat" if shown else "caveat")
    return {**made, "caveats": shown, "chips": [*made["chips"], {"label": f"{what} in the full report", "id": ABOUT}]}


def standing_section() -> Plain:
    """What holds for every report, and where to find more."""
    return section(ABOUT, "About this report", _STANDING)


def _matters(explainer: Explainer, importance: Importance, why: Why) -> Plain:
    """Importance beside the contributions of the same features, row by row."""
    first = card(
        "importance",
        "Feature importance",
        importance,
        sentences=[*importance.findings()[:1], *in_units(importance, most=1)],
        half=True,
        max_display=_BARS,
        width=_BAR_WIDTH,
    )
    cards, intro = [first], [importance_meaning(explainer, importance)]
    if why.overall is None:
        intro.append(f"Contributions (SHAP) are not shown: {why.reason}")
    elif np.abs(why.overall[1].values).max(initial=0.0) > 0:
        found = why.overall[1]
        cards.append(dots(found.for_output(main_output(explainer, found)), half=True))
        intro = [" ".join([*intro, *how_found(explainer, found)])]
    return section("matters", "What matters: feature importance", intro, cards=cards, columns=2)


def _responds(effects: Sequence[Plain]) -> Plain:
    intro = [] if effects else ["No feature has more than one value, so there is no effect to show."]
    return section("responds", "How it responds: feature effects", intro, cards=list(effects), columns=3)
