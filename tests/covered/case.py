"""A setting of known truth, and how often 95% intervals cover it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Ends = tuple[np.ndarray, np.ndarray, np.ndarray]  # low, high, truth


@dataclass(frozen=True, eq=False)
class Case:
    """``draw(seed)`` gives the intervals of one repetition and what they should cover.

    ``least`` is the coverage that each number should have; ``quick`` repetitions are tried in every test run, 0 where
    that takes too long, and ``often`` in a slow one.
    """

    method: str
    about: str
    name: str
    draw: Callable[[int], Ends]
    quick: int = 0
    least: float = 0.9
    often: int = 300

    def covered(self, repetitions: int, start: int = 0) -> np.ndarray:
        """``(repetitions, numbers)``: whether the truth is inside; NaN where there is no interval."""
        found = []
        for seed in range(start, start + repetitions):
            low, high, truth = (np.atleast_1d(np.asarray(part, dtype=float)) for part in self.draw(seed))
            slack = 1e-9 * (1 + np.abs(truth))
            inside = (low - slack <= truth) & (truth <= high + slack)
            found.append(np.where(np.isnan(low) | np.isnan(high), np.nan, inside))
        return np.array(found, dtype=float)
