"""Triage: the rows to check first for wrong outcomes, and what such a list is worth on these data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.arrays import AnyArray, FloatArray, IntArray
from pellucid.checks import whole
from pellucid.explanations.explanation import Explanation
from pellucid.explanations.plot_options import TriageOptions
from pellucid.explanations.store import stored
from pellucid.words import number, percent


@stored
@dataclass(frozen=True, eq=False, kw_only=True)
class Triage(Explanation, options=TriageOptions):
    """Rows to check, by how suspicious they are (`values`, one per row of X; `ranking` has the first).

    ``given`` is each row's outcome, ``expected`` what models fitted without the row's fold predict, ``belief`` their
    probability of the given class (of a number, the residual), ``loss`` the out-of-fold loss, ``influence`` what
    the row adds to the model's loss by being there (empty where only refits would tell). For each of the
    ``measures``, ``curves`` has the share of ``changed`` outcomes that the first 0, 1, ..., 100% of the list held when
    outcomes were changed on purpose; the list is by the ``chosen`` one, of which the first tenth held ``found``.
    """

    measures: tuple[str, ...]
    chosen: str
    curves: FloatArray
    found: float
    changed: int
    loss: FloatArray
    given: tuple[str, ...]
    expected: tuple[str, ...]
    belief: FloatArray
    influence: FloatArray

    def __len__(self) -> int:
        return len(self.given)

    def ranking(self, n: int | None = None) -> IntArray:
        """Places of the rows, the most suspicious first."""
        order = np.argsort(-self.values, kind="stable")
        return order if n is None else order[: whole("n", n)]

    def columns(self) -> dict[str, AnyArray]:
        """One line per row, the most suspicious first: ``row``, ``given``, ``expected``, ``belief``, ``loss``
        and, where known, ``influence``."""
        order = self.ranking()
        known = {"influence": self.influence[order]} if len(self.influence) == len(self) else {}
        return {
            "row": self.row_labels.column_of(len(self))[order],
            "given": np.array(self.given, dtype=object)[order],
            "expected": np.array(self.expected, dtype=object)[order],
            "belief": self.belief[order],
            "loss": self.loss[order],
            **known,
        }

    def findings(self) -> list[str]:
        i = int(self.ranking(1)[0])
        name = self.row_labels.name(i)
        if self.header.classes:
            what = (
                f"its class is {self.given[i]}, to which models fitted without it give {percent(float(self.belief[i]))}"
            )
        else:
            what = f"its outcome is {self.given[i]}, where models fitted without it predict {self.expected[i]}"
        rest = ", ".join(self.row_labels.name(int(k)) for k in self.ranking(6)[1:])
        share = f"{number(100 * float(self.settings['changed']))}%"
        times = number(self.found / 0.1)
        worth = (
            f"If {share} of the outcomes were wrong at random, the first tenth of this list would hold"
            f" {percent(self.found)} of them, {times} times as many as a random tenth (measured by changing"
            f" {self.changed:,} on purpose)."
        )
        return [
            f"Check row {name} first: {what}; then rows {rest}.",
            worth,
            f"Listed by {_LISTED[self.chosen]}. A row"
            " high on the list is hard to predict or wrong: look at it, and do not drop it before measuring the effect"
            " on held-out rows.",
        ]


_LISTED = {
    "both": "the mean of their out-of-fold losses and their loss under the model",
    "out-of-fold loss": "their out-of-fold loss",
    "loss of the model": "their loss under the model",
}
