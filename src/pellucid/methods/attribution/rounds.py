"""How long to sample: up to a number of draws, or until the intervals are narrow enough.

With a tolerance there are several looks at the data, each with about twice the draws of the one before, and a row is
finished at the first look at which all its intervals are narrow enough. Looking R times is taken into account by
widening the intervals that decide: each look has an error of 5% / R, so that over all looks together a finished
interval misses its value in at most 5% of cases (Bonferroni's union bound).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.runner import Run

LEVEL = 0.95
_LONG = 256  # draws


@dataclass(frozen=True)
class Rounds:
    """At least ``fewest`` and at most ``most`` draws per row; ``tolerance`` is the half width of a 95% interval."""

    fewest: int
    most: int
    tolerance: float | None = None

    @property
    def looks(self) -> tuple[int, ...]:
        """The numbers of draws after which there is something to see."""
        if self.tolerance is None:  # one, and an earlier place to stop at when interrupted
            return (self.most // 4, self.most) if self.most >= max(4 * self.fewest, _LONG) else (self.most,)
        sizes = [self.most]
        while sizes[-1] >= 2 * self.fewest:
            sizes.append(max(sizes[-1] // 2, self.fewest))
        return tuple(reversed(sizes))

    def reached(self, se: FloatArray) -> bool:
        """Whether all intervals are as narrow as they should be."""
        return self.tolerance is None or bool((self._widened * se <= self.tolerance).all())

    @property
    def _widened(self) -> float:
        """Standard errors on either side of an estimate, at each of the looks."""
        return NormalDist().inv_cdf(1 - (1 - LEVEL) / 2 / len(self.looks))

    def run(
        self, rows: int, ask: Callable[[int, IntArray], None], estimate: Callable[[int, IntArray], FloatArray], run: Run
    ) -> IntArray:
        """Draws made for each row.

        ``ask(n, rows)`` makes draws until there are ``n`` in these rows; ``estimate(n, rows)`` works out their
        answers and gives the standard errors, rows first.
        """
        made, unfinished, seen = np.zeros(rows, dtype=np.intp), np.arange(rows), True
        widened = self._widened
        try:
            for n in self.looks:
                ask(n, unfinished)
                made[unfinished], seen = n, False
                if self.tolerance is not None or n == self.most:
                    se, seen = estimate(n, unfinished), True
                    if self.tolerance is not None:
                        wide = widened * se.reshape(len(se), -1).max(axis=1, initial=0.0) > self.tolerance
                        unfinished = unfinished[wide]
                if not len(unfinished):
                    break
        except KeyboardInterrupt:
            if not made.all():
                raise
            run.interrupted = True
            if not seen:
                estimate(int(made[unfinished[0]]), unfinished)
        return made
