"""Shapley values from some of the coalitions: regression on pairs.

Lundberg and Lee 2017 (KernelSHAP); Covert and Lee 2021 (pairs); Musco and Witter 2025 (sampling by size); Witter et al.
2025 (trees). What is added here: strata without replacement (`estimation.pairs`), a regression that learns interactions
and who takes part in them, whose Shapley values are worked out exactly (`estimation.hypercube_process`), and standard
errors.

Definition. Shapley values are the weighted least-squares fit of an additive game to v, under the constraint that it
is right for nobody and everybody, with the kernel ``(p-1) / (C(p,s) s (p-s))`` for coalitions of size s. They depend on
v only through ``d(S) = v(S) - v(complement)``:

    phi_i = sum over pairs of  d(S) / (s C(p,s))  where i is in S,  -d(S) / ((p-s) C(p,s))  where not

Estimator. d is asked for a sample of the pairs and predicted for all others by a game g fitted to the sample; phi(g) is
exact and adds up to v(everybody) - v(nobody). Its variance is that of the Shapley values of the Gaussian process, given
the sample (`shapley_variance`), at the scale of the errors that fits make on pairs they lack, and larger where other
processes fit about as well (`Choice.doubt`), where a player's value moves more when pairs are held out (`misfit`), and
where few pairs carry what is missed (`_carried_by_few`): a rule of few players moves theirs alone. It is never less
than a third of that of a stratified sample of residuals, summed over the players: a game may be like no process. For
interactions, for trees as stand-ins, for hardly more pairs than players and for more than one regression takes, the
sample alone is: with e(S) what a fit that lacks S misses of d(S), and pi(S) the share of its stratum that was asked,

    variance of phi_i = n / (n - p)  sum over the asked of (1 - pi) (weight_i(S) e(S) / pi)^2

with the degrees of freedom that n pairs leave after p players (after 2 p / 3 for interactions, by trial); interactions
have the jackknife variance of pairs held out at least (`moved`). If all coalitions are asked, either is zero and phi is
exact.

When it misleads: as `shapley_exact`. 95% intervals held the exact value of 92% to 99% of all players in trials, from 8
coalitions per player on, and of the player that they held least often in 80% or more, but for products of heavy tails
and rules with exceptions, asked about few coalitions (docs/intervals.md). What no asked coalition shows is not known:
where one coalition in thousands is like no other, the interval does not say so.
Rows that are explained together share what is learned of who takes part; where that differs much from row to row, each
row alone is answered somewhat better.

Cost. Two coalitions per pair and row, at the game's price; the regression costs (pairs)^3, once for all rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.games import Game
from pellucid.methods.attribution.estimation import hypercube_process
from pellucid.methods.attribution.estimation.estimate import Estimate, Rounds
from pellucid.methods.attribution.estimation.hypercube_kernel import Parity, interaction_weights, pair_weights
from pellucid.methods.attribution.estimation.pairs import PairDesign, PairSample, by_row
from pellucid.runner import Run
from pellucid.stats import Z95, student

Proxy = Literal["curve", "trees"]
_ROUNDING = 1e-12  # of the largest worth: smaller errors are none
_ENOUGH = 8  # pairs beyond the players, from which the scale of the process is known
_AT_LEAST = 1 / 3  # of the variance that a sample of the errors has, that of the process
_MOST = 2048  # pairs in one regression; more are shared out among several
_FOLDS = 4  # of the pairs that trees learn from


def shapley_kernel(
    game: Game, rounds: Rounds, run: Run, *, interactions: bool = False, proxy: Proxy = "curve", in_one: int = _MOST
) -> Estimate:
    """Contributions of the players in each row, from as many pairs as ``rounds`` allow.

    ``proxy="trees"`` lets boosted trees learn the game first, and the curves what these miss. It pays where the game
    itself is made of thresholds and rules and pairs are many (some 15% less error in trials with 60 players and 2,000
    coalitions); on smooth models the curve alone does better, and sooner.
    """
    sample = PairSample(game, PairDesign(game.players, run.generator("shapley.pairs")))
    values = np.zeros((game.rows, game.players, game.outputs))
    se = np.zeros(values.shape)
    pairs = np.zeros((game.rows, game.players, *values.shape[1:])) if interactions else None
    pairs_se = None if pairs is None else np.zeros(pairs.shape)

    def estimate(n: int, rows: IntArray) -> FloatArray:
        folding = run.generator("shapley.proxy") if proxy == "trees" else None
        values[rows], se[rows] = _values(sample, n, rows, folding, in_one)
        if pairs is not None and pairs_se is not None:
            pairs[rows], pairs_se[rows] = _interactions(sample, n, rows, values[rows], se[rows], in_one)
            return np.concatenate([se[rows][:, None], pairs_se[rows]], axis=1)
        return se[rows]

    made = rounds.run(game.rows, sample.ask, estimate, run)
    return Estimate("kernel", values, se, pairs, pairs_se, {"coalitions": int(2 * made.max(initial=0) + 2)})


def _values(
    sample: PairSample, n: int, rows: IntArray, folding: np.random.Generator | None, in_one: int
) -> tuple[FloatArray, FloatArray]:
    """Shapley values and standard errors ``(rows, players, outputs)`` from the first ``n`` pairs."""
    halves, worth = sample.pairs(rows)
    total = worth[0, 0] - worth[1, 0]
    learned, odd = (0.0, (worth[0] - worth[1]) / 2) if folding is None else tree_proxy(halves, worth, folding)
    active = hypercube_process.activity(halves, worth.sum(axis=0) / 2)
    values, errors, fits = _fitted(halves, odd, "odd", hypercube_process.shapley_of, in_one, active)
    values += learned
    values += (total - values.sum(axis=0)) / len(values)  # rounding
    errors[np.abs(errors) < _ROUNDING * np.abs(odd).max(axis=0)] = 0.0
    weights = pair_weights(halves[1:], of_stratum=True)
    left = n / max(n - len(values), 1)
    # Trees that have not seen a pair are wrong about it even though it was asked: all pairs are then uncertain.
    variance = left * _variance(sample, n, halves[1:], np.square(weights), errors, certain=folding is None)
    if folding is None and len(fits) == 1 and n >= len(values) + _ENOUGH:
        learning = errors.any(axis=0) & (n < sample.design.total)
        process = hypercube_process.shapley_variance(fits[0], halves) * learning
        variance = process * _wider(process, variance)
        if learning.any():
            variance = variance * hypercube_process.misfit(fits[0], halves) * _carried_by_few(errors)
    return by_row(values, rows), by_row(np.sqrt(variance), rows)


def _wider(process: FloatArray, sampled: FloatArray) -> FloatArray:
    """What the variances of a process are to be multiplied by, so that they are a share of what the sample says at
    least.
    """
    ours, theirs = process.sum(axis=0), sampled.sum(axis=0)
    return np.maximum(_AT_LEAST * theirs / np.where(ours > 0, ours, np.inf), 1.0)


def _carried_by_few(errors: FloatArray) -> FloatArray:
    """What variances are to be multiplied by where few pairs carry the squared errors: Student's intervals instead of
    normal ones, with as many degrees of freedom as there are pairs that count, ``(sum e^2)^2 / sum e^4``.
    """
    squares = np.square(errors / np.maximum(np.abs(errors).max(axis=0), np.finfo(float).tiny))
    count = np.square(squares.sum(axis=0)) / np.maximum(np.square(squares).sum(axis=0), np.finfo(float).tiny)
    return np.array([(student(max(float(each), 2.0)) / Z95) ** 2 for each in count])


def _interactions(
    sample: PairSample, n: int, rows: IntArray, main: FloatArray, main_se: FloatArray, in_one: int
) -> tuple[FloatArray, FloatArray]:
    """Interaction values and standard errors ``(rows, players, players, outputs)``; rows sum to ``main``."""
    halves, worth = sample.pairs(rows)
    p = halves.shape[1]
    even = worth.sum(axis=0) / 2
    values, errors, fits = _fitted(halves, even, "even", hypercube_process.interactions_of, in_one)
    # A pair of players that no asked coalition has apart from others would seem certain by its own weights alone:
    # they count half, and half those of all pairs of players.
    size = halves[1:].sum(axis=1)
    usual = _mean_squares(p)[size][:, None]
    by_size = np.square(np.stack(interaction_weights(p, of_stratum=True)[::-1]))[:, size]
    variance = np.zeros(values.shape)
    left = n / max(n - 2 * p / 3, 1)
    for i in range(p):
        together = halves[1:, i : i + 1].astype(np.intp) + halves[1:]
        own = np.take_along_axis(by_size, together.T, axis=0).T
        variance[i] = left * _variance(sample, n, halves[1:], (own + usual) / 2, errors)
    if len(fits) == 1 and n < sample.design.total:
        variance = np.maximum(variance, hypercube_process.moved(fits[0], halves, sample.spread(n, halves[1:])[1]))
    variance *= _carried_by_few(errors)
    pairs, squared = by_row(values, rows), by_row(variance, rows)
    own_place = np.arange(p)
    squared[:, own_place, own_place] = 0.0
    pairs[:, own_place, own_place] = main - pairs.sum(axis=2)
    squared[:, own_place, own_place] = main_se**2 + squared.sum(axis=2)
    return pairs, np.sqrt(squared)


def _variance(
    sample: PairSample,
    n: int,
    halves: BoolArray,
    squared_weights: FloatArray,
    errors: FloatArray,
    *,
    certain: bool = True,
) -> FloatArray:
    """The variance of a weighted sum over all pairs, of which ``n`` were asked and are ``certain``; weights are
    relative to the stratum.
    """
    stands_for, unasked = sample.spread(n, halves)
    unasked = unasked if certain else np.ones(len(unasked))
    return np.asarray(((np.square(2 * stands_for) * unasked)[:, None] * squared_weights).T @ np.square(errors))


def _mean_squares(p: int) -> FloatArray:
    """The mean square of the interaction weights over all pairs of players, by the size of the coalition."""
    s = np.arange(p + 1)
    inside, outside = s * (s - 1) / (p * (p - 1)), (p - s) * (p - s - 1) / (p * (p - 1))
    both, one, none = (np.square(weight) for weight in interaction_weights(p, of_stratum=True))
    return np.asarray(inside * both + (1 - inside - outside) * one + outside * none)


def _fitted(
    halves: BoolArray,
    part: FloatArray,
    parity: Parity,
    values_of: Callable[[hypercube_process.Regression, BoolArray], FloatArray],
    in_one: int,
    active: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray, list[hypercube_process.Regression]]:
    """The values of the games fitted to one part of the pairs, the error of each pair when it is left out, and the
    fits.

    Many pairs are shared out among several regressions, whose values are averaged; everybody and nobody are in all of
    them, and in each clearly more pairs than players.
    """
    n, p = halves.shape[0] - 1, halves.shape[1]
    enough = p + max(p // 4, in_one // 8)  # fewer leave what is missed unseen: the players alone would fit them
    count = max(min(-(-n // in_one), n // enough), 1)
    errors, values, fits = np.zeros((n, part.shape[1])), [], []
    for g in range(count):
        members = np.append(0, np.arange(g, n, count) + 1)
        fit = hypercube_process.regress(halves[members], part[members], parity, active)
        errors[members[1:] - 1] = fit.errors[1:]
        values.append(values_of(fit, halves[members]))
        fits.append(fit)
    return np.mean(values, axis=0), errors, fits


# -- trees as a stand-in for the game ----------------------------------------------------------------


def tree_proxy(halves: BoolArray, worth: FloatArray, generator: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """The Shapley values ``(players, games)`` of the stand-ins, and what they miss of the odd parts ``(pairs, games)``.

    An ensemble of small trees is fitted to what coalitions are worth, as a function of who is in them; its Shapley
    values come exactly from the tree engine (present is 1, absent 0), and what it misses is left to the process. Each
    pair is corrected by trees that have not seen it: the pairs are dealt into folds, and the trees of a fold learn from
    all the others. What is missed is then an honest sample of the errors, and the sum of both parts is right on average
    however bad the trees are.
    ``worth`` is ``(2, pairs, games)``, everybody and nobody first.
    """
    n, p = halves.shape
    fold = generator.permutation(np.arange(n - 1) % _FOLDS)
    odd = (worth[0] - worth[1]) / 2
    values, missed = np.zeros((p, worth.shape[2])), odd.copy()
    for game in range(worth.shape[2]):
        for k in range(_FOLDS):
            seen, unseen = np.append(0, np.flatnonzero(fold != k) + 1), np.flatnonzero(fold == k) + 1
            stand_in = _StandIn(halves[seen], worth[:, seen, game])
            missed[unseen, game] -= (stand_in(halves[unseen]) - stand_in(~halves[unseen])) / 2
            values[:, game] += stand_in.values() / _FOLDS
    missed[0] = odd[0] - values.sum(axis=0) / 2  # so that everything adds up
    return values, missed


class _StandIn:
    """A linear function of the members, and boosted trees for the rest."""

    def __init__(self, halves: BoolArray, worth: FloatArray) -> None:
        from sklearn.ensemble import GradientBoostingRegressor  # on use: slow to import

        members = np.concatenate([halves, ~halves]).astype(np.float64)
        design = np.column_stack([members, np.ones(len(members))])
        both = worth.ravel()
        self._slopes = np.asarray(np.linalg.lstsq(design, both, rcond=None)[0], dtype=np.float64)
        self._trees: Any = GradientBoostingRegressor(
            n_estimators=100, max_depth=4, max_features=0.5, subsample=0.7, random_state=0
        ).fit(members, both - design @ self._slopes)

    def __call__(self, coalitions: BoolArray) -> FloatArray:
        members = coalitions.astype(np.float64)
        return np.asarray(self._trees.predict(members) + members @ self._slopes[:-1] + self._slopes[-1])

    def values(self) -> FloatArray:
        """The exact Shapley values: everybody against nobody."""
        from pellucid.trees.convert import convert
        from pellucid.trees.engine import attribute  # on use: it loads a compiler

        p = len(self._slopes) - 1
        trees = convert(self._trees)
        everybody, nobody = (trees.encode(np.full((1, p), there)) for there in (1.0, 0.0))
        players: IntArray = np.asarray(trees.source, dtype=np.intp)
        present, numbers = np.unique(players, return_inverse=True)
        found = attribute(trees.ensemble, everybody, game="marginal", background=nobody, players=numbers).values
        values = self._slopes[:-1].copy()
        values[present] += found[0, :, 0]
        return values
