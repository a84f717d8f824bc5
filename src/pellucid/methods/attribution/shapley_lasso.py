"""Sparse contributions: KernelSHAP with an L1 penalty, for at most so many features.

Lundberg and Lee 2017; Tibshirani 1996 (lasso); Efron et al. 2004 (its path).

Definition. The additive game of at most k players that is nearest to v, in the weighted squares of KernelSHAP, among
those that the lasso path offers; it is right for nobody and everybody. For k = all players these are the Shapley
values. For fewer they are not: the players left out get nothing, and what they do is laid at the door of those that go
on.

Estimator. Pairs of coalitions as in `shapley_kernel`. The path is followed until more than k players have entered;
least squares on the k players, under the constraint that they add up, gives the contributions, and its residuals
(divided by one minus the leverage) the standard errors, by the sandwich formula. The choice of the players is not in
them.

When it misleads:
1. the contributions are not Shapley values: of two players that do the same, one may get everything;
2. what k players cannot say is not said: `settings["explained"]` is the share of the variation between coalitions that
   they reproduce.

Cost. As `shapley_kernel`.
"""

from __future__ import annotations

import warnings

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.games import Game
from pellucid.methods.attribution.estimation.estimate import Estimate, Rounds
from pellucid.methods.attribution.estimation.pairs import PairDesign, PairSample, by_row
from pellucid.runner import Run


def shapley_lasso(game: Game, rounds: Rounds, run: Run, *, features: int) -> Estimate:
    """Contributions of at most ``features`` players in each row and output; all others get exactly nothing."""
    sample = PairSample(game, PairDesign(game.players, run.generator("lasso.pairs")))
    values = np.zeros((game.rows, game.players, game.outputs))
    se, explained = np.zeros(values.shape), np.ones((game.rows, game.outputs))

    def estimate(n: int, rows: IntArray) -> FloatArray:
        halves, worth = sample.pairs(rows)
        odd = (worth[0] - worth[1]) / 2
        stands_for, unasked = sample.spread(n, halves[1:])
        size = halves[1:].sum(axis=1)
        weights = stands_for / (size * (halves.shape[1] - size))
        fits = [_sparse(halves, game_odd, weights, unasked, features) for game_odd in odd.T]
        parts = [np.stack(part, axis=-1) for part in zip(*fits, strict=True)]
        values[rows], se[rows] = by_row(parts[0], rows), by_row(parts[1], rows)
        explained[rows] = by_row(parts[2][None], rows)[:, 0]
        return se[rows]

    made = rounds.run(game.rows, sample.ask, estimate, run)
    settings = {
        "coalitions": int(2 * made.max(initial=0) + 2),
        "sparse": features,
        "explained": float(explained.mean()),
    }
    return Estimate("lasso", values, se, settings=settings)


def _sparse(
    halves: BoolArray, odd: FloatArray, weights: FloatArray, unasked: FloatArray, k: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Values and errors ``(players,)`` of one game, and the share of the odd part's squares that they reproduce."""
    x, y, total = np.where(halves[1:], 0.5, -0.5), odd[1:], 2 * odd[0]
    root = np.sqrt(weights)[:, None]
    chosen = _first_on_the_path(x * root, y * root[:, 0], k)
    z = x[:, chosen]
    inverse = np.linalg.pinv(z.T @ (weights[:, None] * z))
    ones = inverse.sum(axis=1)
    projected = inverse - np.outer(ones, ones) / ones.sum()  # what the constraint leaves free
    phi = projected @ (z.T @ (weights * y)) + ones / ones.sum() * total
    missed = y - z @ phi
    leverage = weights * np.einsum("ni,ij,nj->n", z, projected, z)
    score = projected @ (z.T * (weights * missed / np.maximum(1 - leverage, 0.1) * np.sqrt(unasked)))
    values, se = np.zeros((2, x.shape[1]))
    values[chosen], se[chosen] = phi, np.sqrt(np.square(score).sum(axis=1))
    all_of_it = float(weights @ np.square(y))
    return (values, se, np.asarray(1 - float(weights @ np.square(missed)) / all_of_it if all_of_it > 0 else 1.0))


def _first_on_the_path(x: FloatArray, y: FloatArray, k: int) -> IntArray:
    """The players on the lasso path just before more than ``k`` have entered."""
    from sklearn.linear_model import lars_path  # on use: slow to import

    if k >= x.shape[1]:
        return np.arange(x.shape[1])
    with warnings.catch_warnings(action="ignore"):  # of players that are alike the path drops one, as it should
        coefficients = lars_path(x, y, method="lasso", max_iter=8 * x.shape[1])[2]
    counts = (coefficients != 0).sum(axis=0)
    last = int(np.argmax(counts > k)) - 1 if (counts > k).any() else len(counts) - 1
    chosen = np.flatnonzero(coefficients[:, last])
    return chosen if len(chosen) else np.array([int(np.argmax(np.abs(x.T @ y)))])
