"""Games given as tables, the textbook's weights and kernels, and break-down, each by its definition.

A table is ``v[mask]`` over all coalitions of p players, as in `indices`; `TableGame` offers such tables to an
estimator and counts what is asked.
"""

from itertools import permutations
from math import comb, factorial

import numpy as np

from pellucid.games import Game
from reference.indices import n_players


class TableGame(Game):
    """Games ``v[row, donor, mask, output]``; a coalition's worth is the mean over the donors.

    ``asked`` counts the coalitions asked, over all rows and in units of ``price``.
    """

    def __init__(self, v, price=1):
        self.tables = np.asarray(v, dtype=float)
        self.rows, self.donors, _, self.outputs = self.tables.shape
        self.players = n_players(self.tables[0, 0])
        self.means = self.tables.mean(axis=1)
        self.price = price
        self.asked, self.asked_single = 0, 0
        self.requests = []

    @classmethod
    def of(cls, *tables):
        """One table of one output for each row."""
        return cls(np.array(tables, dtype=float)[:, None, :, None])

    def masks(self, coalitions):
        return coalitions.astype(np.int64) @ (1 << np.arange(self.players))

    def worth(self, coalitions, rows=None):
        rows = np.arange(self.rows) if rows is None else rows
        self.asked += len(rows) * len(coalitions)
        self.requests.append(coalitions.copy())
        return self.means[np.ix_(rows, self.masks(coalitions))]

    def ends(self):
        return self.means[:, 0], self.means[:, -1]

    def single(self, coalitions, donors, rows=None):
        rows = np.arange(self.rows) if rows is None else rows
        self.asked_single += len(rows) * len(coalitions)
        return self.tables[rows[:, None], donors[None, :], self.masks(coalitions)[None, :]]

    def draw_donors(self, n, generator):
        return generator.integers(self.donors, size=n)


def model_table(f, rows, background, players=None):
    """``v[row, donor, mask, output]`` of a model: the known columns from the row, the others from the donor."""
    rows, background = np.asarray(rows, dtype=float), np.asarray(background, dtype=float)
    players = np.arange(rows.shape[1]) if players is None else np.asarray(players)
    p = int(players.max()) + 1
    known = (np.arange(2**p)[:, None] >> players & 1) == 1
    return np.array(
        [[np.asarray(f(np.where(known, row, donor))).reshape(2**p, -1) for donor in background] for row in rows]
    )


def additive_table(effects, base=0.0):
    """The game in which everybody brings the same, whoever is there."""
    p = len(effects)
    return np.array([base + sum(effects[i] for i in range(p) if mask >> i & 1) for mask in range(2**p)])


# -- textbook forms ------------------------------------------------------------------------------------


def shapley_by_orders(v):
    """The mean over all p! orders of what the worth gains when a player enters."""
    p = n_players(v)
    total = np.zeros((p, *v.shape[1:]))
    for order in permutations(range(p)):
        known = 0
        for i in order:
            total[i] += v[known | 1 << i] - v[known]
            known |= 1 << i
    return total / factorial(p)


def factorial_weight(p, s):
    """The weight of a coalition of s others, by factorials."""
    return factorial(s) * factorial(p - s - 1) / factorial(p)


def binomial_weight(p, s):
    """The weight of a coalition of s others, by a binomial coefficient."""
    return 1 / (p * comb(p - 1, s))


def kernel_by_binomial(p, s):
    """The SHAP kernel of a coalition of s players: (p-1) / (C(p,s) s (p-s))."""
    return (p - 1) / (comb(p, s) * s * (p - s))


def kernel_by_factorials(p, s):
    """The same by factorials: (p-1) (s-1)! (p-s-1)! / p!."""
    return (p - 1) * factorial(s - 1) * factorial(p - s - 1) / factorial(p)


def kernel_least_squares(v):
    """The additive game nearest to v by the SHAP kernel, right for nobody and everybody (Lundberg and Lee 2017)."""
    p = n_players(v)
    masks = np.arange(1, 2**p - 1)
    z = (masks[:, None] >> np.arange(p) & 1).astype(float)
    w = np.array([kernel_by_binomial(p, int(mask).bit_count()) for mask in masks])
    gap = v[-1] - v[0]
    free, target = z[:, :-1] - z[:, -1:], v[masks] - v[0] - z[:, -1] * gap
    root = np.sqrt(w)
    first = np.linalg.lstsq(free * root[:, None], target * root, rcond=None)[0]
    return np.append(first, gap - first.sum())


# -- break-down ------------------------------------------------------------------------------------------


def walk(v, order):
    """What the worth gains as the players of an order enter one by one."""
    gains, known = {}, 0
    for i in order:
        gains[i] = v[known | 1 << i] - v[known]
        known |= 1 << i
    return gains


def greedy_order(v):
    """Of those who are left, the one who changes the worth most enters next."""
    p, known, order = n_players(v), 0, []
    while len(order) < p:
        left = [i for i in range(p) if i not in order]
        best = max(left, key=lambda i: abs(v[known | 1 << i] - v[known]))
        order.append(best)
        known |= 1 << best
    return order


def steps_with_pairs(v):
    """Players and pairs by size of effect and interaction; each player enters once, alone or in a pair."""
    p = n_players(v)
    sizes = {(i,): abs(v[1 << i] - v[0]) for i in range(p)}
    for i in range(p):
        for j in range(i + 1, p):
            sizes[i, j] = abs(v[1 << i | 1 << j] - v[1 << i] - v[1 << j] + v[0])
    steps, used = [], set()
    for step in sorted(sizes, key=lambda step: -sizes[step]):
        if not used & set(step):
            steps.append(step)
            used |= set(step)
    return steps


def ranges_over_orders(v):
    """The smallest and largest gain of each player over all p! orders."""
    walks = [walk(v, order) for order in permutations(range(n_players(v)))]
    return [(min(w[i] for w in walks), max(w[i] for w in walks)) for i in range(n_players(v))]
