"""Shapley values of the loss, from some of the coalitions, each known with an error.

Pairs of a coalition and its complement are drawn as for `shapley_kernel` (`estimation.pairs`), and the coalitions that
were not asked are predicted by the same regression (`estimation.hypercube_process`). Each pair is asked with rows and
donors of its own, so that their errors are independent and average out. With d what a pair differs by, w its weight in
a player's value, pi the share of its stratum that was asked, e what a fit without the pair misses, and s^2 the variance
from rows and donors,

    variance = sum over the asked of (w / pi)^2 ((1 - pi) e^2 + pi s^2)

The first part is that of a sample of coalitions; e has the noise in it, and the second part is what is left of that.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.arrays import BoolArray, FloatArray
from pellucid.games.loss import LossGame, SampleSize
from pellucid.methods.attribution.estimation.estimate import Rounds
from pellucid.methods.attribution.estimation.hypercube_kernel import pair_weights
from pellucid.methods.attribution.estimation.hypercube_process import regress, shapley_of
from pellucid.methods.attribution.estimation.pairs import PairDesign
from pellucid.runner import Run

_DONORS, _FEWEST_DONORS = 16, 4  # for each row, measured: the loss of a mean is curved
_FEWEST_ROWS = 20
_MOST_PAIRS = 512  # a regression costs their cube; more model rows go into donors
_STEPS = 32


@dataclass(frozen=True)
class Plan:
    """How many pairs to ask, and with what effort; ``fewest`` pairs are enough for an answer."""

    pairs: int
    effort: SampleSize
    fewest: int


def few_pairs(players: int) -> int:
    """Pairs that an answer needs at least."""
    return min(max(2 * players, 16), 2 ** (players - 1) - 1)


def fewest_rows(players: int, rows: int, donors: int, *, read: bool) -> int:
    """Model rows for the smallest answer."""
    m = min(rows, _FEWEST_ROWS)
    return 2 * few_pairs(players) * (m + donors if read else m * min(donors, _FEWEST_DONORS))


def plan(budget: int, players: int, rows: int, donors: int, *, read: bool) -> Plan:
    """What to ask for a budget of model rows: all rows first, then some donors, then pairs, then more donors.

    Trees that are ``read`` use all donors, at the price of a row each.
    """
    few = few_pairs(players)
    everything = min(2 ** (players - 1) - 1, max(_MOST_PAIRS, few))
    each = rows + donors if read else rows * min(donors, _DONORS)
    pairs = min(max(budget // 2 // each, few), everything)
    each = budget // 2 // pairs
    if read:
        return Plan(pairs, SampleSize(max(min(rows, each - donors), 1), donors), few)
    k = min(max(each // rows, _FEWEST_DONORS), donors)
    return Plan(pairs, SampleSize(min(rows, each // k), k), few)


class PairSample:
    """The pairs that were asked so far; more can be added."""

    def __init__(self, game: LossGame, effort: SampleSize, run: Run) -> None:
        self._game, self._effort, self._run = game, effort, run
        self.design = PairDesign(game.players, run.generator("sage.pairs"))
        nobody, everybody = (float(end[0, 0]) for end in game.ends())
        self.n = 0
        self._halves = [np.ones((1, game.players), dtype=np.bool_)]
        self._worth = [np.array([[everybody], [nobody]])]
        self._noise = [np.zeros(1)]

    def ask(self, n: int) -> None:
        """Ask until there are n pairs, in steps, each of which leaves a sample that can be used."""
        step = max(1, n // _STEPS)
        while self.n < n:
            until = min(self.n + step, n)
            halves = self.design.between(self.n, until)
            generators = [self._run.generator("sage.draws", t) for t in range(self.n, until)]
            worth, noise = self._game.pairs(halves, self._effort, generators)
            self._halves.append(halves)
            self._worth.append(worth)
            self._noise.append(noise)
            self.n = until

    def values(self) -> tuple[FloatArray, FloatArray]:
        """Shapley values, which add up, and their standard errors."""
        halves, worth, noise = (np.concatenate(self._halves), np.hstack(self._worth), np.concatenate(self._noise))
        differences = worth[0] - worth[1]
        if self.n == self.design.total:
            weights = pair_weights(halves)
            return weights.T @ differences, np.sqrt(np.square(weights).T @ noise)
        values, variance = self._fitted(halves, differences, noise)
        values += (differences[0] - values.sum()) / len(values)  # rounding
        return values, np.sqrt(variance)

    def _fitted(self, halves: BoolArray, differences: FloatArray, noise: FloatArray) -> tuple[FloatArray, FloatArray]:
        fit = regress(halves, differences[:, None] / 2, "odd")
        weights, share = standing_for(self.design, self.n, halves[1:])
        missed = np.square(2 * fit.errors[1:, 0])
        left = self.n / max(self.n - halves.shape[1], 1)
        variance = np.square(weights).T @ (left * (1 - share) * missed + share * noise[1:])
        return shapley_of(fit, halves)[:, 0], variance


def standing_for(design: PairDesign, n: int, halves: BoolArray) -> tuple[FloatArray, FloatArray]:
    """The weights ``w / pi`` of pairs that stand for their strata, and the shares pi of these that are among the first
    n.
    """
    asked, share = design.asked(n, halves)
    equal = 2 * halves.sum(axis=1) == halves.shape[1]  # such a pair is two coalitions of its size
    weights = pair_weights(halves, of_stratum=True) * (np.where(equal, 0.5, 1.0) / asked)[:, None]
    return weights, share


def sage_pairs(game: LossGame, made: Plan, tolerance: float | None, run: Run) -> tuple[FloatArray, FloatArray, int]:
    """Values, standard errors, and the number of pairs, as far as the plan or the tolerance goes."""
    sample = PairSample(game, made.effort, run)
    rounds = Rounds(min(made.fewest, made.pairs), made.pairs, tolerance)
    with run.until_interrupted(lambda: sample.n >= made.fewest):
        for n in rounds.looks if tolerance is not None else (made.pairs,):
            sample.ask(n)
            if tolerance is not None and rounds.reached(sample.values()[1]):
                break
    return *sample.values(), sample.n
