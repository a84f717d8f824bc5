"""Associations: how strongly the features are associated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.arrays import AnyArray
from pellucid.explanations.explanation import Explanation
from pellucid.explanations.plot_options import AssociationsOptions
from pellucid.explanations.store import stored
from pellucid.words import number


@stored
@dataclass(frozen=True, eq=False, kw_only=True)
class Associations(Explanation, options=AssociationsOptions):
    """Association of every pair of features, 0 to 1 (`values`, features x features)."""

    def strongest(self, n: int = 5) -> list[tuple[str, str, float]]:
        """The ``n`` pairs with the strongest association."""
        rows, columns = np.triu_indices(len(self.feature_names), k=1)
        order = np.argsort(-self.values[rows, columns], kind="stable")[:n]
        return [
            (self.feature_names[rows[i]], self.feature_names[columns[i]], float(self.values[rows[i], columns[i]]))
            for i in order
        ]

    def columns(self) -> dict[str, AnyArray]:
        names = np.array(self.feature_names, dtype=object)
        return {
            "feature": np.repeat(names, len(names)),
            "other": np.tile(names, len(names)),
            "association": self.values.ravel(),
        }

    def findings(self) -> list[str]:
        pairs = self.strongest(3)
        if not pairs:
            return ["There is only one feature."]
        said = "; ".join(f"{a} and {b} ({number(value)})" for a, b, value in pairs)
        return [f"Strongest associations (0 none, 1 complete): {said}."]
