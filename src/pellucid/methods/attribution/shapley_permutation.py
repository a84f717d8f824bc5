"""Shapley values from random orders: the players enter one by one.

Strumbelj and Kononenko 2014; antithetic orders: Lomeli et al. 2019.

Definition. phi_i is the mean, over all orders of the players, of what the worth gains when i enters.

Estimator. A draw is an order and one background row z. The row z turns into the explained row x player by player, in
that order and once more in the reverse order; the mean of the two gains of each player is one draw D_i. All gains of
a draw add up to f(x) - f(z), whose mean over the background is known: R = sum of D_i - (v(everybody) - v(nobody))
has mean zero, and serves as a control variate,

    phi_i = mean of D_i - b_i mean of R,   b_i = cov(D_i, R) / var(R)

The b_i add up to one, so that the contributions add up exactly. Background rows that count alike are taken in turn
instead of at random, so that no more of their differences is left to chance than must be. Where there are draws enough
every row is taken twice in succession: the error then is that of the orders alone, which the difference of its two
draws measures, and after a whole pass a model whose interactions are of two players has none. With m of B rows taken,
s_b^2 the variance between the means of two draws and s_w^2 that of draws with the same row,

    se^2 = (1 - m / B) s_b^2 / m + (m / B) s_w^2 / (2 m)

(two-stage sampling, Cochran 1977, chapter 10). Otherwise it is that of the mean of D_i - b_i R over draws. Few draws
make it a little wider, so that 1.96 of them make a 95% interval.

When it misleads: as `shapley_exact`. An interaction of many players is met in few orders: the interval says so only
once it has been met.

Cost. 2 * players - 1 model rows per draw and row; the whole background once.
"""

from __future__ import annotations

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.games import Game
from pellucid.methods.attribution.estimation.estimate import Estimate, Rounds
from pellucid.runner import Run

_AT_ONCE = 4_000_000  # model rows whose gains are held at a time
_MEMBERS = 64_000_000  # players of coalitions that are held at a time


def shapley_permutation(game: Game, rounds: Rounds, run: Run, *, at_once: int = _AT_ONCE) -> Estimate:
    """Contributions of the players in each row, from as many draws as ``rounds`` allow."""
    draws = _Draws(game, run.generator("shapley.orders"), at_once, rounds.most)
    values = np.zeros((game.rows, game.players, game.outputs))
    se = np.zeros(values.shape)

    def estimate(n: int, rows: IntArray) -> FloatArray:
        del n  # an interruption may have left more
        values[rows], se[rows] = draws.mean(rows)
        return se[rows]

    rounds.run(game.rows, draws.ask, estimate, run)
    return Estimate("permutation", values, se, settings={"orders": 2 * draws.made})


def _student(freedom: FloatArray) -> FloatArray:
    """By how much a 95% interval from few draws is wider than from many (Student's t)."""
    from scipy.special import stdtrit  # on use: scipy is slow to import

    return np.asarray(stdtrit(np.maximum(freedom, 1.0), 0.975) / stdtrit(np.inf, 0.975))


class _Draws:
    """Sums of the gains, their squares and products, per row; gains are taken relative to an equal share.

    Gains are those of one draw, or the mean of the two with the same background row where every row is taken ``twice``;
    half the squares of their differences are kept too.
    """

    def __init__(self, game: Game, generator: np.random.Generator, at_once: int, most: int) -> None:
        self._game, self._generator, self._at_once = game, generator, at_once
        self._each = 2 if game.alike and 1 < game.donors <= most // 2 else 1
        self._turn = np.empty(0, dtype=np.intp)
        nobody, everybody = game.ends()
        self._share = ((everybody - nobody) / game.players)[:, None]
        self._everybody = everybody
        shape = (game.rows, game.players, game.outputs)
        self._sum, self._squares, self._products = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        self._within = np.zeros(shape)
        self._control, self._control_squares = np.zeros((2, game.rows, 1, game.outputs))
        self._made = np.zeros((game.rows, 1, 1))

    @property
    def made(self) -> int:
        """Draws made, of the row with most."""
        return self._each * int(self._made.max(initial=0))

    def ask(self, n: int, rows: IntArray) -> None:
        """Draws until there are ``n``, or as many whole passes through the background as these have."""
        game, each = self._game, self._each
        n //= each
        if each > 1 and n > game.donors:
            n -= n % game.donors
        steps = 2 * max(game.players, 1) * each
        size = max(1, min(self._at_once // (len(rows) * steps), _MEMBERS // (steps * game.players or 1)))
        for start in range(int(self._made[rows[0], 0, 0]), n, size):
            count = min(size, n - start)
            orders = self._generator.random((count * each, game.players)).argsort(axis=1)
            donors = np.repeat(self._donors(start, count), each)
            gains = _gains(game, orders, donors, self._everybody, rows) - self._share[rows][:, None]
            if each > 1:
                self._within[rows] += np.square(gains[:, ::2] - gains[:, 1::2]).sum(axis=1) / 2
                gains = (gains[:, ::2] + gains[:, 1::2]) / 2
            control = gains.sum(axis=2, keepdims=True)
            self._sum[rows] += gains.sum(axis=1)
            self._squares[rows] += np.square(gains).sum(axis=1)
            self._products[rows] += (gains * control).sum(axis=1)
            self._control[rows] += control.sum(axis=1)
            self._control_squares[rows] += np.square(control).sum(axis=1)
            self._made[rows] += count

    def _donors(self, start: int, count: int) -> IntArray:
        """Background rows in turn, in another random order in every pass; at random where they count unequally."""
        if self._game.donors == 1 or not self._game.alike:
            return self._game.draw_donors(count, self._generator)
        while len(self._turn) < start + count:
            self._turn = np.append(self._turn, self._generator.permutation(self._game.donors))
        return self._turn[start : start + count]

    def mean(self, rows: IntArray) -> tuple[FloatArray, FloatArray]:
        """The controlled means of the draws made so far and their standard errors."""
        n = self._made[rows]
        first, second = self._sum[rows] / n, self._squares[rows] / n
        control, squares = self._control[rows] / n, self._control_squares[rows] / n
        spread = squares - control**2
        together = self._products[rows] / n - first * control
        negligible = spread <= 1e-20 * (np.square(self._share[rows]) + second.mean(axis=1, keepdims=True))
        slope = np.where(negligible, 1 / self._game.players, together / np.where(negligible, 1.0, spread))
        own = np.maximum(second - first**2 - slope * together * ~negligible, 0.0)
        values = self._share[rows] + first - slope * control
        variance = own / np.maximum(n - 2, 1) * np.square(_student(n - 2))
        if self._each > 1:
            taken = np.minimum(n / self._game.donors, 1.0)
            variance = (1 - taken) * variance + taken * self._within[rows] / n / (2 * n) * np.square(_student(n))
        return values, np.sqrt(variance)


def _gains(game: Game, orders: IntArray, donors: IntArray, everybody: FloatArray, rows: IntArray) -> FloatArray:
    """``(rows, draws, players, outputs)``: the mean of what each player gains forwards and backwards."""
    place = orders.argsort(axis=1)
    entered = np.arange(game.players)[None, :, None] > place[:, None, :]  # [draw, step, player]: who is in before step
    backwards = np.arange(1, game.players)[None, :, None] > (game.players - 1 - place)[:, None, :]
    walks: BoolArray = np.concatenate([entered, backwards], axis=1)
    steps = walks.shape[1]
    worth = game.single(walks.reshape(-1, game.players), np.repeat(donors, steps), rows)
    worth = worth.reshape(len(rows), len(orders), steps, -1)
    end = np.broadcast_to(everybody[rows][:, None, None], (*worth.shape[:2], 1, worth.shape[3]))
    nobody, up, down = worth[:, :, :1], worth[:, :, 1 : game.players], worth[:, :, game.players :]
    forward = np.diff(np.concatenate([nobody, up, end], axis=2), axis=2)
    backward = np.diff(np.concatenate([nobody, down, end], axis=2), axis=2)[:, :, ::-1]
    both = (forward + backward) / 2
    return np.take_along_axis(both, place[None, :, :, None], axis=2)
