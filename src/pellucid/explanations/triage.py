"""Triage: the rows to check first for wrong outcomes, and what such a list is worth on these data."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from pellucid.arrays import AnyArray, FloatArray, IntArray
from pellucid.checks import whole
from pellucid.explanations.explanation import Explanation
from pellucid.explanations.plot_options import TriageOptions
from pellucid.explanations.store import stored
from pellucid.words import number, percent, quantity


@stored
@dataclass(frozen=True, eq=False, kw_only=True)
class Triage(Explanation, options=TriageOptions):
    """Rows to check, by how suspicious they are (`values`, one per row of X; `ranking` has the first).

    ``given`` is each row's outcome, ``expected`` what models fitted without the row's fold predict, ``belief`` their
    probability of the given class (of a number, the residual), ``loss`` the out-of-fold loss, ``influence`` what
    the row adds to the model's loss by being there (empty where only refits would tell). For each of the
    ``measures``, ``curves`` has the share of ``changed`` outcomes that the first 0, 1, ..., 100% of the list held when
    outcomes were changed on purpose; the list is by the ``chosen`` one, of which the first tenth held ``found``.

    Of new rows (``triage(new=...)``) everything is about the given model, which has not seen them: ``surprise`` is the
    share of training rows whose loss is smaller when they are held out, ``influence`` how much predictions would
    change on average with the row among the training rows (NaN: not tried), ``standing`` the share of training rows
    that do less; the last three are empty for the rows of X and where only refits would tell.
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
    surprise: FloatArray = field(default_factory=lambda: np.empty(0))
    standing: FloatArray = field(default_factory=lambda: np.empty(0))

    @property
    def new(self) -> bool:
        """Whether these are rows that the model has not been fitted to."""
        return self.settings.get("method") == "new rows"

    def __len__(self) -> int:
        return len(self.given)

    def ranking(self, n: int | None = None) -> IntArray:
        """Places of the rows, the most suspicious first."""
        order = np.argsort(-self.values, kind="stable")
        return order if n is None else order[: whole("n", n)]

    def columns(self) -> dict[str, AnyArray]:
        """One line per row, the most suspicious first: ``row``, ``given``, ``expected``, ``belief``, ``loss``
        and, where known, ``surprise`` (of new rows) and ``influence``."""
        order = self.ranking()
        some = {"surprise": self.surprise, "influence": self.influence, "standing": self.standing}
        known = {name: part[order] for name, part in some.items() if len(part) == len(self)}
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
        gives = "the model gives" if self.new else "models fitted without it give"
        predicts = "the model predicts" if self.new else "models fitted without it predict"
        if self.header.classes:
            what = f"its class is {self.given[i]}, to which {gives} {percent(float(self.belief[i]))}"
        else:
            what = f"its outcome is {self.given[i]}, where {predicts} {self.expected[i]}"
        others = [self.row_labels.name(int(k)) for k in self.ranking(6)[1:]]
        rest = f"; then row{'s' if len(others) > 1 else ''} {', '.join(others)}" if others else ""
        return [
            f"Check {'new ' if self.new else ''}row {name} first: {what}{rest}.",
            *self._surprising(i),
            self.worth(),
            f"Listed by {_LISTED[self.chosen]}{', which has not seen them' if self.new else ''}. A row"
            " high on the list is hard to predict or wrong: look at it, and do not drop it before measuring the effect"
            " on held-out rows.",
        ]

    def worth(self) -> str:
        """What share of wrong outcomes the first tenth of such a list would hold, in a sentence."""
        share = f"{number(100 * float(self.settings['changed']))}%"
        times = number(self.found / 0.1)
        return (
            f"If {share} of the outcomes were wrong at random, the first tenth of this list would hold"
            f" {percent(self.found)} of them, {times} times as many as a random tenth (measured by changing"
            f" {self.changed:,} on purpose)."
        )

    def _surprising(self, i: int) -> list[str]:
        """Of new rows: how unusual the first of the list is, and which would change the model most."""
        if not self.new:
            return []
        lines = [f"Its loss is larger than that of {percent(float(self.surprise[i]))} of the training rows held out."]
        if np.isfinite(self.influence).any():
            k = int(np.nanargmax(self.influence))
            most = (
                f", more than {percent(float(self.standing[k]))} of the training rows do" if len(self.standing) else ""
            )
            tried = int(np.isfinite(self.influence).sum())
            of = "" if tried == len(self) else f" of the {tried:,} that were tried"
            which = (
                f"New row {self.row_labels.name(k)} would change the model most{of}: with" if len(self) > 1 else "With"
            )
            by = quantity(float(self.influence[k]), str(self.settings["predictions"]), change=True, sign=False)
            lines.append(f"{which} it among the training rows predictions change by {by} on average{most}.")
        return lines


_LISTED = {
    "both": "the mean of their out-of-fold losses and their loss under the model",
    "out-of-fold loss": "their out-of-fold loss",
    "loss of the model": "their loss under the model",
}
