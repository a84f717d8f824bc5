"""Pick: a few rows that show, between them, what the model uses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.arrays import AnyArray, BoolArray, FloatArray, IntArray
from pellucid.explanations.attribution import Attribution
from pellucid.explanations.explanation import Explanation
from pellucid.explanations.plot_options import PickOptions
from pellucid.explanations.store import stored
from pellucid.words import listed, number, percent


@stored
@dataclass(frozen=True, eq=False, kw_only=True)
class Pick(Explanation, options=PickOptions):
    """Rows picked for what they show. ``values`` (features) is the importance I_j = sqrt(sum_i |W_ij|) over all rows
    looked at.

    ``rows`` are places among the explained rows, ``positions`` among those of X (the same where the caller gave the
    rows), in the order in which they were picked; ``gains`` is the importance that each shows first, ``covered`` the
    share of all importance shown so far. ``shows`` and ``sizes`` (rows, features) say what each row shows, and its
    absolute effects; ``explanations`` explain them.
    """

    rows: IntArray
    positions: IntArray
    gains: FloatArray
    covered: FloatArray
    shows: BoolArray
    sizes: FloatArray
    explanations: tuple[Attribution, ...]
    looked_at: int

    def __len__(self) -> int:
        return len(self.rows)

    def top(self, n: int) -> list[str]:
        """Names of the ``n`` most important features."""
        return [self.feature_names[j] for j in np.argsort(-self.values, kind="stable")[:n]]

    def columns(self) -> dict[str, AnyArray]:
        """One row per picked row and feature: its effect, and whether the row shows it."""
        k, p = self.sizes.shape
        return {
            "pick": np.repeat(np.arange(1, k + 1), p),
            "row": np.repeat(self.row_labels.column_of(k), p),
            "feature": np.tile(np.array(self.feature_names, dtype=object), k),
            "effect": self.sizes.ravel(),
            "shown": self.shows.ravel(),
            "covered": np.repeat(self.covered, p),
        }

    def findings(self) -> list[str]:
        k = len(self)
        lines = [
            f"Of {self.looked_at:,} rows, {k} show {percent(float(self.covered[-1]))} of all feature importance: "
            f"{listed([f'row {self.row_labels.name(i)}' for i in range(k)], 10)}."
        ]
        seen = np.zeros(len(self.feature_names), dtype=np.bool_)
        for i, shown in enumerate(self.shows):
            new = [j for j in np.argsort(-self.values, kind="stable") if shown[j] and not seen[j]]
            seen |= shown
            if new:
                lines.append(
                    f"Row {self.row_labels.name(i)} shows {listed([self.feature_names[j] for j in new])}"
                    f" ({percent(float(self.covered[i]))} so far)."
                )
        again = k - sum(gain > 0 for gain in self.gains)
        if again:
            lines.append(f"{again} more show{'s' if again == 1 else ''} features already shown by others.")
        told = [j for j in np.argsort(-self.values, kind="stable")[:5] if self.values[j] > 0]
        best = [f"{self.feature_names[j]} ({number(float(self.values[j]))})" for j in told] or ["none"]
        lines.append(f"Feature importance here is the square root of the summed absolute effects: {listed(best)}.")
        return lines
