"""Why the model predicts what it predicts: contributions over many rows and in individual rows, and other ways to
explain these.

No chapter can make the report fail: where contributions cannot be had, it says why and what to call instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pellucid.arrays import IntArray
from pellucid.errors import PellucidError
from pellucid.explanations import Attribution
from pellucid.report import contributions, other_explanations, rows
from pellucid.report.asking import Asking, find_asking
from pellucid.report.cards import Plain
from pellucid.report.work import Work

if TYPE_CHECKING:
    from pellucid.explainer import Explainer


@dataclass(frozen=True, eq=False)
class Why:
    """The chapter on many rows, those on individual rows, and what the first was made of, where it could be had."""

    whole: Plain
    individual: list[Plain]
    overall: tuple[IntArray, Attribution] | None

    def read(self, explainer: Explainer, *methods: str) -> bool:
        """Whether the model was read, as trees or as a sum of terms, on the very scale that is explained."""
        if self.overall is None:
            return False
        found = self.overall[1]
        return found.method in methods and found.scale == explainer.predictor.scale


def why_sections(explainer: Explainer, asked: Sequence[int], work: Work) -> Why:
    """Contributions over many rows and in individual ones."""
    work.step("sharing predictions out among the features")
    asking, reason = _asking(explainer, work)
    found: tuple[IntArray, Attribution] | None = None
    if asking is not None:
        try:
            found = asking.overall()
            work.keep(found[1])
        except PellucidError as error:
            reason = str(error)
    whole = (
        contributions.contribution_section(explainer, found[1])
        if found is not None
        else contributions.no_contributions("contributions", contributions.TITLE, reason)
    )
    work.step("explaining individual rows")
    individual = _individual(explainer, asking, reason, asked, found, work)
    return Why(whole, individual, found)


def _asking(explainer: Explainer, work: Work) -> tuple[Asking | None, str]:
    """How contributions can be had, or why they cannot."""
    try:
        return find_asking(explainer, work), ""
    except PellucidError as error:
        return None, str(error)


def _individual(
    explainer: Explainer,
    asking: Asking | None,
    reason: str,
    asked: Sequence[int],
    overall: tuple[IntArray, Attribution] | None,
    work: Work,
) -> list[Plain]:
    if asking is not None:
        sample, found = overall or (np.empty(0, dtype=np.intp), None)
        try:
            reasons = rows.choose(explainer, asked, rows.look(explainer, work.run), sample, found)
            places = np.array(list(reasons), dtype=np.intp)
            chosen = work.keep(asking.of(places))
            seen = rows.predicted(explainer, places, work.run)
            shown = rows.row_section(explainer, reasons, seen, chosen, sample=len(sample))
            work.step("explaining these rows in other ways")
            return [shown, other_explanations.way_section(explainer, seen, chosen, work)]
        except PellucidError as error:
            reason = str(error)
    work.step("explaining these rows in other ways")
    return [contributions.no_contributions("rows", rows.TITLE, reason)]
