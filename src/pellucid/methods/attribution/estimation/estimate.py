"""What an estimator of Shapley values gives, and how long it samples: up to a number of draws, or until the intervals
are narrow enough.

With a tolerance there are several looks at the data, each with about twice the draws of the one before, and a row is
finished at the first look at which all its intervals are narrow enough. Looking R times is taken into account by
widening the intervals that decide: each look has an error of 5% / R, so that over all looks together a finished
interval misses its value in at most 5% of cases (Bonferroni's union bound).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from statistics import NormalDist
from typing import Any

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.explanations import InteractionValues, squeeze_outputs
from pellucid.runner import Run

LEVEL = 0.95
_LONG = 256  # draws


@dataclass(frozen=True, eq=False)
class Estimate:
    """Shapley values ``(rows, players, outputs)`` with their standard errors, zero where they are exact.

    ``interactions`` is ``(rows, players, players, outputs)`` and ``triples`` has a third axis of players, where asked
    for. ``settings`` say how it was done.
    """

    method: str
    values: FloatArray
    se: FloatArray
    interactions: FloatArray | None = None
    interactions_se: FloatArray | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    triples: FloatArray | None = None

    @classmethod
    def exact(cls, method: str, values: FloatArray, interactions: FloatArray | None, **settings: Any) -> Estimate:
        """Values that are no estimate."""
        zero = None if interactions is None else np.zeros(interactions.shape)
        return cls(method, values, np.zeros(values.shape), interactions, zero, settings)

    def pairs(self, index: str) -> InteractionValues | None:
        """The interactions as part of a result."""
        if self.interactions is None:
            return None
        errors, triples = (
            None if part is None else squeeze_outputs(part) for part in (self.interactions_se, self.triples)
        )
        return InteractionValues(squeeze_outputs(self.interactions), errors, index, triples)

    def ordered(self, order: IntArray) -> Estimate:
        """The same with players in another order: the i-th is the one that was at ``order[i]``."""
        pairs, pairs_se = (
            None if part is None else part[:, order][:, :, order] for part in (self.interactions, self.interactions_se)
        )
        return replace(
            self, values=self.values[:, order], se=self.se[:, order], interactions=pairs, interactions_se=pairs_se
        )

    def for_outputs(self, keep: list[int]) -> Estimate:
        """The same for some of the outputs."""
        names = ("values", "se", "interactions", "interactions_se", "triples")
        parts = {name: getattr(self, name) for name in names}
        return replace(self, **{name: part[..., keep] for name, part in parts.items() if part is not None})

    def put(self, part: Estimate, rows: IntArray, players: IntArray) -> None:
        """Write the values of some players in some rows into this estimate's own arrays."""
        self.values[np.ix_(rows, players)] = part.values
        self.se[np.ix_(rows, players)] = part.se
        if self.interactions is not None and part.interactions is not None:
            self.interactions[np.ix_(rows, players, players)] = part.interactions
        if self.interactions_se is not None and part.interactions_se is not None:
            self.interactions_se[np.ix_(rows, players, players)] = part.interactions_se


@dataclass(frozen=True, eq=False)
class Solved:
    """Contributions and the predictions that they lead from and to, before they become an `Attribution`: arrays with
    rows first and outputs last, also where there is only one.
    """

    estimate: Estimate
    base: FloatArray
    prediction: FloatArray
    scale: str
    background: int
    base_se: FloatArray | None = None  # of a background that is a sample


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
        with run.until_interrupted(made.all) as work:
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
        if work.cut and not seen:
            estimate(int(made[unfinished[0]]), unfinished)
        return made
