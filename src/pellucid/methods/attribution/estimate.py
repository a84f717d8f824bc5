"""What an estimator of Shapley values gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pellucid.arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Estimate:
    """Shapley values ``(rows, players, outputs)`` with their standard errors, zero where they are exact.

    ``interactions`` is ``(rows, players, players, outputs)`` where asked for. ``settings`` say how it was done.
    """

    method: str
    values: FloatArray
    se: FloatArray
    interactions: FloatArray | None = None
    interactions_se: FloatArray | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def exact(cls, method: str, values: FloatArray, interactions: FloatArray | None, **settings: Any) -> Estimate:
        """Values that are no estimate."""
        zero = None if interactions is None else np.zeros(interactions.shape)
        return cls(method, values, np.zeros(values.shape), interactions, zero, settings)

    def ordered(self, order: IntArray) -> Estimate:
        """The same with players in another order: the i-th is the one that was at ``order[i]``."""
        pairs, pairs_se = (
            None if part is None else part[:, order][:, :, order] for part in (self.interactions, self.interactions_se)
        )
        return replace(
            self, values=self.values[:, order], se=self.se[:, order], interactions=pairs, interactions_se=pairs_se
        )

    def put(self, part: Estimate, rows: IntArray, players: IntArray) -> None:
        """Write the values of some players in some rows into this estimate's own arrays."""
        self.values[np.ix_(rows, players)] = part.values
        self.se[np.ix_(rows, players)] = part.se
        if self.interactions is not None and part.interactions is not None:
            self.interactions[np.ix_(rows, players, players)] = part.interactions
        if self.interactions_se is not None and part.interactions_se is not None:
            self.interactions_se[np.ix_(rows, players, players)] = part.interactions_se
