"""Is a rule an anchor? Draw until its precision is known well enough.

Definition (Ribeiro, Singh and Guestrin 2018). A rule is an anchor when its precision, the probability that the model
predicts the same for a perturbed row which obeys the rule, is at least tau, with probability 1 - delta.

Estimator. Look after ``batch``, twice, four times as many draws. A rule is accepted when the share of draws with the
same prediction is at least tau and its lower bound at least tau - epsilon, refused when the share is below tau and its
upper bound below tau plus a tolerance, and else drawn for until the next look. Where draws would be as many as the rows
they can give, these are gone through instead, and the precision is exact. The bounds' errors add up to delta over all
looks, all rules of an episode and all episodes (`bandit.spent`), and an episode has draws of its own, so which rules
are looked at does not depend on the draws by which they are judged. Hence a rule that is returned has a true precision
below tau - epsilon with probability at most delta.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.checks import bounded, flag, fraction, optional, settle, whole
from pellucid.methods.rules.search.bandit import Arms, Asking, both, spent
from pellucid.methods.rules.search.predicates import Space

ROUNDING = 1e-12  # of a precision that is a sum of shares


@dataclass(frozen=True)
class Goal:
    """What is asked of an anchor, and how it is looked for."""

    tau: float = 0.95
    delta: float = 0.05
    epsilon: float = 0.05
    beams: int = 4
    batch: int = 32
    most: int | None = None
    suboptimal: bool = True
    empty: int = 1000

    def __post_init__(self) -> None:
        settle(
            self,
            tau=bounded("precision", self.tau, above=0, most=1),
            delta=fraction("delta", self.delta),
            epsilon=fraction("epsilon", self.epsilon),
            beams=whole("beams", self.beams),
            batch=whole("batch", self.batch),
            most=optional(whole, "max_conditions", self.most),
            suboptimal=flag("suboptimal", self.suboptimal),
            empty=whole("empty_evaluations", self.empty),
        )

    @property
    def patience(self) -> int:
        """Draws in a round after which rules that hardly differ are no longer told apart."""
        return 32 * self.batch

    @property
    def above(self) -> float:
        """How far above tau a rule may still be refused: as epsilon, but not so far that nothing is above it."""
        return min(self.epsilon, (1 - self.tau) / 2)


@dataclass(frozen=True, eq=False)
class Verdicts:
    """Which arms are anchors, which are not (the others were no longer of interest), and bounds of their precisions."""

    accepted: BoolArray
    refused: BoolArray
    low: FloatArray
    high: FloatArray


def certify(arms: Arms, goal: Goal, space: Space) -> Asking[Verdicts]:
    """Judge every arm, except those that cover no more rows than an arm which is accepted already."""
    accepted, refused = np.zeros(len(arms), dtype=np.bool_), np.zeros(len(arms), dtype=np.bool_)
    low, high = np.zeros(len(arms)), np.ones(len(arms))
    open_, look = np.ones(len(arms), dtype=np.bool_), 0
    countable = space.enumerable(arms.bits)
    while open_.any():
        which, draws = np.flatnonzero(open_), goal.batch * 2**look
        if draws >= len(space.shares) and countable[which].any():
            yield from arms.enumerate(which[countable[which]], space.shares)
        yield from arms.draw(which, np.full(len(which), draws))
        look += 1
        level = spent(arms.episode, len(arms), look, goal.delta)
        low[which], high[which] = interval(arms, which, level)
        share, reached = arms.mean[which], (arms.n[which] > 0) | ~np.isnan(arms.exact[which])
        accepted[which] = reached & (share >= goal.tau - ROUNDING) & (low[which] >= goal.tau - goal.epsilon)
        refused[which] = ~accepted[which] & (share < goal.tau) & (high[which] < goal.tau + goal.above)
        open_ &= ~(accepted | refused | arms.ended)
        open_ &= arms.coverage > arms.coverage[accepted].max(initial=-1.0)
    return Verdicts(accepted, refused, low, high)


def interval(arms: Arms, which: IntArray, level: float) -> tuple[FloatArray, FloatArray]:
    """Bounds of the precisions of some arms; an exact precision is its own bounds."""
    share, n = arms.mean[which], np.maximum(arms.n[which], 1)
    chance = np.isnan(arms.exact[which])
    low, high = both(share, level / n)
    return np.where(chance, low, share), np.where(chance, high, share)
