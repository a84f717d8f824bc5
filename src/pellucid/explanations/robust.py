"""Robust fits: how far the model is from fits on which its strongest rows have less say."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.arrays import AnyArray, FloatArray, IntArray
from pellucid.explanations.explanation import Explanation
from pellucid.explanations.plot_options import RobustFitOptions
from pellucid.explanations.store import stored
from pellucid.words import counted, listed, number, percent, quantity

_HALF = 0.5
_SURE = 2.0  # standard errors


@stored
@dataclass(frozen=True, eq=False, kw_only=True)
class RobustFit(Explanation, options=RobustFitOptions):
    """What predictions are if the most influential ``rows`` (places) are left out, or outliers weighed down.

    `values` has for each of the ``variants`` the mean absolute change of predictions against the model fitted to all
    rows; the last variant leaves out as many random rows. Of the others ``largest`` is the largest change, at the rows
    ``largest_at``; ``better`` by how much the loss of ordinary held-out rows (not left out, not weighed down) is lower
    on average, with ``error``; ``loss`` the held-out loss of all rows, of the model as it is first. ``weights`` is what
    each row counts where outliers are weighed down (empty: the model's fit takes no weights). ``predictions`` (of the
    model fitted to all rows, then of each variant) are of the rows ``shown``, the first output.
    """

    variants: tuple[str, ...]
    largest: FloatArray
    largest_at: IntArray
    loss: FloatArray
    better: FloatArray
    error: FloatArray
    rows: IntArray
    weights: FloatArray
    shown: IntArray
    predictions: FloatArray

    def columns(self) -> dict[str, AnyArray]:
        """One line per fit: by how much predictions ``change`` on average, the ``largest`` change, the held-out
        ``loss`` of all rows, and by how much that of ordinary rows is ``better``.
        """
        nan = np.array([np.nan])
        return {
            "fit": np.array(["as it is", *self.variants], dtype=object),
            "change": np.concatenate([[0.0], self.values]),
            "largest": np.concatenate([[0.0], self.largest, nan]),
            "loss": np.concatenate([self.loss, nan]),
            "better": np.concatenate([[0.0], self.better, nan]),
            "error": np.concatenate([[0.0], self.error, nan]),
        }

    def findings(self) -> list[str]:
        named = listed([self.row_labels.name(int(i)) for i in self.rows], 5)
        one = len(self.rows) == 1
        most = {"influence": f"most influential row{'' if one else 's'}", "name": f"given row{'' if one else 's'}"}
        which = most.get(str(self.settings["by"]), f"row{'' if one else 's'} of the largest held-out loss")
        count = "" if one else f"{len(self.rows):,} "
        lines = [
            f"Without the {count}{which} ({named}) predictions change by {self._moved(self.values[0])} on average;"
            f" without {'a random row' if one else 'as many random rows'} by {self._moved(self.values[-1])}.",
            self._spread(0),
        ]
        if len(self.weights):
            less = int((self.weights < _HALF).sum())
            lines.append(
                f"With outliers weighed down ({counted(less, 'row')} count{'s' if less == 1 else ''} less than half)"
                f" predictions change by {self._moved(self.values[1])}."
            )
        lines += [self._held_out(k) for k in range(len(self.better))]
        lines.append("Look at the rows before choosing a fit: rows that are rare and right should keep their say.")
        return lines

    def _moved(self, change: float) -> str:
        """By how much predictions change: of probabilities in points."""
        return quantity(float(change), self.scale, change=True, sign=False)

    def _spread(self, k: int) -> str:
        size = float(self.settings["spread"])
        share = (
            f"is {percent(float(self.values[k]) / size)} of the standard deviation of predictions" if size > 0 else ""
        )
        row, most = self.row_labels.name(int(self.largest_at[k])), self._moved(self.largest[k])
        return f"That {share}; row {row} changes most, by {most}." if share else f"Row {row} changes most, by {most}."

    def _held_out(self, k: int) -> str:
        """Whether ordinary rows are predicted better by it."""
        gain, error = float(self.better[k]), float(self.error[k])
        how = "as well" if abs(gain) <= _SURE * error else "better" if gain > 0 else "worse"
        name = str(self.settings["loss"]).replace("_", " ")
        fit = {"without the rows": "the fit without them"}.get(self.variants[k], "the fit with outliers weighed down")
        by = f"{number(abs(gain))} {'lower' if gain >= 0 else 'higher'}, give or take {number(_SURE * error)}"
        return f"Held out, ordinary rows are predicted {how} by {fit} ({name} {by})."
