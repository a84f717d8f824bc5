"""What an estimator of Shapley values gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pellucid.arrays import FloatArray


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
    def exact(
        cls, method: str, values: FloatArray, interactions: FloatArray | None, **settings: Any
    ) -> Estimate:
        """Values that are no estimate."""
        zero = None if interactions is None else np.zeros(interactions.shape)
        return cls(method, values, np.zeros(values.shape), interactions, zero, settings)
