"""What each step of a rule adds to its precision."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.methods.rules.search import Candidate


def gains(
    players: int, steps: Sequence[int], trace: Sequence[Candidate], running: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """For each player what it adds when it joins, and the standard error of that; 0 for those that do not.

    ``steps`` are the players of the rule, ``trace`` and ``running`` start with the empty rule.
    """
    values, se = np.zeros(players), np.zeros(players)
    before, error = running[0], _error(trace[0])
    for player, precision, step in zip(steps, running[1:].tolist(), trace[1:], strict=True):
        if np.isfinite(precision):  # unknown where a search was stopped: the next known step has it all
            own = _error(step)
            values[player], se[player] = precision - before, np.hypot(own, error)
            before, error = precision, own
    return values, se


def _error(step: Candidate) -> float:
    """The standard error of a share, of which both sides have been seen once more (never 0); 0 of an exact one."""
    if step.exact is not None or not step.n:
        return 0.0
    share = (step.hits + 1) / (step.n + 2)
    return float(np.sqrt(share * (1 - share) / step.n))
