"""Poisoning: how few changed labels of training rows turn one prediction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.arrays import AnyArray, FloatArray, IntArray
from pellucid.explanations.explanation import Explanation
from pellucid.explanations.plot_options import PoisoningOptions
from pellucid.explanations.store import stored
from pellucid.words import counted, listed, number, percent

_NAMED = 6


@stored
@dataclass(frozen=True, eq=False, kw_only=True)
class Poisoning(Explanation, options=PoisoningOptions):
    """The training rows whose changed outcomes turn the prediction from ``present`` to ``target``.

    ``needed`` is the number that was seen to work by refitting, an upper bound (None: no number that was tried did);
    ``least`` the proven minimum (None: not known); ``impossible`` says that no change of outcomes is enough, proven.
    ``rows`` are the places of the changed rows, ``given`` and ``changed`` their outcomes. For each of ``counts``,
    ``refitted`` has the prediction of the model fitted with so many outcomes changed: of a number one column, of
    classes the present one and the target. ``at_random`` is the same with as many random
    rows changed (empty where that could not be fitted). ``values`` has
    for every row of X what changing its outcome alone adds to the score of the target.
    """

    how: str
    present: str
    target: str
    needed: int | None
    least: int | None
    impossible: bool
    rows: IntArray
    given: tuple[str, ...]
    changed: tuple[str, ...]
    counts: IntArray
    refitted: FloatArray
    at_random: FloatArray

    def __len__(self) -> int:
        return len(self.rows)

    def columns(self) -> dict[str, AnyArray]:
        """One line per changed row, the most effective first: ``row``, ``given``, ``changed`` and ``gain``."""
        return {
            "row": self.row_labels.column_of(len(self.values))[self.rows],
            "given": np.array(self.given, dtype=object),
            "changed": np.array(self.changed, dtype=object),
            "gain": self.values[self.rows],
        }

    def findings(self) -> list[str]:
        if self.needed == 0:
            return [
                f"Fitted again to these rows, the model already predicts {self.target}: no label has to be changed."
            ]
        if self.needed is None:
            return [self._not_found()]
        return [self._first(), self._bound(), *self._random(), self._who()]

    def _not_found(self) -> str:
        what = "outcomes" if self.settings["limits"] else "labels"
        if self.impossible:
            low, high = self.settings["limits"]
            return (
                f"No change of outcomes between {number(low)} and {number(high)} takes the prediction of {self._row()}"
                f" from {self.present} to {self.target}: proven, as it is linear in the outcomes."
            )
        most = int(self.counts.max())
        return (
            f"Changing up to {most:,} {what} did not take the prediction of {self._row()} from {self.present} to"
            f" {self.target}; other rows, or more of them, might."
        )

    def _first(self) -> str:
        n, k = len(self.values), self.needed or 0
        what = "outcome" if self.settings["limits"] else "label"
        after = self._level(self.refitted[int(np.searchsorted(self.counts, k))])
        verb = "is" if k == 1 else "are"
        return (
            f"{counted(k, f'changed {what}')} of {n:,} ({percent(k / n)}) {verb} enough to take the prediction of"
            f" {self._row()} from {self.present} to {self.target}: fitted again with {'it' if k == 1 else 'them'}, the"
            f" model gives {after}."
        )

    def _bound(self) -> str:
        if self.needed == 1:
            return "Fewer are not enough: refitted without a change, the model predicts what it did."
        if self.least is not None and self.least == self.needed:
            low, high = self.settings["limits"]
            return (
                "Fewer are not enough: the prediction is linear in the outcomes, so this is the proven minimum (for"
                f" outcomes between {number(low)} and {number(high)})."
            )
        fewer = self.counts[(self.counts < (self.needed or 0)) & (self.counts > 0)]
        tried = (
            f" ({int(fewer.max()):,} in this order {'is' if fewer.max() == 1 else 'are'} not enough)"
            if len(fewer)
            else ""
        )
        return f"This is an upper bound, confirmed by refitting{tried}; other rows might need fewer changes."

    def _random(self) -> list[str]:
        if not len(self.at_random):
            return []
        what = "A random row instead of this one gives" if self.needed == 1 else "The same number of random rows gives"
        turned = len(self.at_random) == 2 and self.at_random[1] > self.at_random[0]
        same = ", which turns it as well: it is the prediction that is fragile" if turned else ""
        return [f"{what} {self._level(self.at_random)}{same}."]

    def _who(self) -> str:
        names = [self.row_labels.name(int(i)) for i in self.rows]
        more = len(names) - _NAMED
        said = f"{', '.join(names[:_NAMED])} and {more:,} more" if more > 0 else listed(names)
        if len(names) == 1:
            said = f"{said} itself" if self.settings["own"] else said
        elif self.settings["own"]:
            said = f"{said} (the explained row is one of them)"
        return f"{'It is row' if len(names) == 1 else 'They are rows'} {said}, chosen by {_HOW[self.how]}."

    def _row(self) -> str:
        return "the given row" if self.settings["row"] == "given" else f"row {self.settings['row']}"

    def _level(self, shown: FloatArray) -> str:
        if len(shown) == 1:
            return number(float(shown[0]))
        low = shown.min() >= 0 and shown.max() <= 1
        said = [f"{number(100 * float(value))}%" if low else number(float(value)) for value in shown]
        return f"{said[1]} for {self.target} and {said[0]} for {self.present}"


_HOW = {
    "closed form": "what each outcome adds to the prediction (closed form, exact)",
    "Newton steps": "a Newton step of the coefficients for each label",
    "trees kept": "what each label does to the leaf values with the splits kept; the refits grow the trees anew",
    "near rows": "nearness to the explained row, as the model's own dependence on labels is not read",
}
