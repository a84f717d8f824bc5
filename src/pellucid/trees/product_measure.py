"""Exact answers of trees where every player is distributed independently of the others: a product measure.

With v_l the value of leaf l and s_lp the share of player p's own distribution that meets the leaf's conditions on p,

    E f             = base + sum_l v_l prod_p s_lp
    Var E[f | x_T]  = sum over leaves l, m of w_l w_m (prod over p in T of r_lmp - 1),

    w_l = v_l prod_p s_lp,      r_lmp = (share of p that meets both leaves' conditions) / (s_lp s_mp),

where r is one for a player that one of the two leaves asks nothing of. The variance of all (T = everybody), and what is
lost when one player is averaged out (its total effect), take one sum over pairs of leaves; a player's effect alone
(T = that player) is a step function and takes no pairs.

Cost. Shares and step functions: as many steps as nodes, for each player. Variances: pairs of leaves times the depth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.trees.ensemble import TreeEnsemble
from pellucid.trees.leaf_conditions import Conditions, Distribution, Listed, leaf_conditions
from pellucid.trees.plain.choice import can_compile
from pellucid.trees.rows import Alone, Watch, share_out

_CELLS = 1 << 24  # leaves times points, or pairs of leaves, that are held at once
_PLAIN_PAIRS = 4_000_000  # pairs of leaves times players that numpy goes through in a moment


@dataclass(frozen=True, eq=False)
class Shares:
    """The leaves of an ensemble under a product measure.

    Attributes
    ----------
    conditions
        Of the leaves, on each player.
    value
        ``(leaves, outputs)``
    share
        ``(leaves, players)``: the share of each player's own distribution that meets the leaf's conditions on it.
    base
        ``(outputs,)``
    tree
        ``(leaves,)``: the tree of each leaf.
    """

    conditions: tuple[Conditions, ...]
    value: FloatArray
    share: FloatArray
    base: FloatArray
    tree: IntArray

    @classmethod
    def of(cls, ensemble: TreeEnsemble, distributions: Sequence[Distribution]) -> Shares:
        """Of any distributions, one per player; together they have every column that is compared, each once."""
        given = sorted(column for d in distributions for column in d.columns)
        if given != list(range(ensemble.n_features)):
            raise ValueError("every column belongs to one player's distribution, once")
        leaf, conditions = leaf_conditions(ensemble, tuple(distributions))
        share = np.empty((len(leaf), len(conditions)))
        for p, condition in enumerate(conditions):
            share[:, p] = condition.share
        tree = _trees(ensemble, leaf)
        value = ensemble.leaf_values(leaf, ensemble.output[tree])
        return cls(tuple(conditions), value, share, ensemble.base, tree)

    def without(self, players: IntArray) -> FloatArray:
        """``(leaves,)``: the product of the shares of all other players."""
        others = np.delete(self.share, players, axis=1)
        return np.asarray(others.prod(axis=1))

    def centred(self) -> FloatArray:
        """Values less the mean of their tree: the variances are the same, without the rounding of large means."""
        reached = self.share.prod(axis=1)
        mass = np.bincount(self.tree, reached)
        means = [np.bincount(self.tree, reached * value) / np.maximum(mass, 1e-300) for value in self.value.T]
        return np.asarray(self.value - np.stack(means, axis=1)[self.tree])


@dataclass(frozen=True, eq=False)
class VarianceParts:
    """Mean and variance ``(outputs,)`` of the predictions; per player and output the variance of the effect alone, and
    the total.
    """

    mean: FloatArray
    variance: FloatArray
    first: FloatArray
    total: FloatArray


def first_order(shares: Shares) -> FloatArray:
    """``(players, outputs)``: Var E[f | x_p], the variance of each player's effect alone."""
    found = np.zeros((len(shares.conditions), shares.value.shape[1]))
    for p, condition in enumerate(shares.conditions):
        steps, mass = condition.steps(shares.value * shares.without(np.array([p]))[:, None])
        found[p] = mass @ np.square(steps - mass @ steps)
    return found


def pairs_of_leaves(shares: Shares) -> float:
    """How many pairs of leaves the variances of all outputs take, times the players that a leaf asks something of."""
    depth = float((shares.share < 1.0).sum(axis=1).mean()) if len(shares.share) else 0.0
    counts = (shares.value != 0).sum(axis=0).astype(np.float64)
    return float(np.square(counts).sum() / 2 * max(depth, 1.0))


def variance_parts(
    shares: Shares, watch: Watch | None = None, *, plain_pairs: float = _PLAIN_PAIRS, cells: int = _CELLS
) -> VarianceParts:
    """The exact parts of the variance of the predictions, by pairs of leaves (see `pairs_of_leaves` for the work)."""
    watch = Alone() if watch is None else watch
    reached = shares.share.prod(axis=1)
    mean = shares.base + shares.value.T @ reached
    shares = replace(shares, value=shares.centred())
    first = first_order(shares)
    n_players, n_outputs = first.shape
    variance, total = np.zeros(n_outputs), np.zeros((n_players, n_outputs))
    big = pairs_of_leaves(shares) > plain_pairs and can_compile()
    listed = [found for c in shares.conditions if (found := c.listed()) is not None] if big else []
    try:
        for k in range(n_outputs):
            some = np.flatnonzero((shares.value[:, k] != 0) & (reached > 0))
            w = shares.value[some, k] * reached[some]
            if big and len(listed) == n_players:
                variance[k], total[:, k] = _compiled_pairs(shares, some, w, listed, watch)
            else:
                variance[k], total[:, k] = _plain_pairs(shares, some, w, watch, cells)
    finally:
        watch.close()
    return VarianceParts(mean, np.maximum(variance, 0.0), first, np.maximum(total, 0.0))


# -- pairs of leaves ---------------------------------------------------------------------------------


def _plain_pairs(shares: Shares, some: IntArray, w: FloatArray, watch: Watch, cells: int) -> tuple[float, FloatArray]:
    """Var f, and of each player what is lost when it is averaged out; in numpy, a block of leaves at a time."""
    players = [p for p in range(shares.share.shape[1]) if (shares.share[some, p] < 1.0).any()]
    variance, total = 0.0, np.zeros(shares.share.shape[1])
    step = max(1, cells // max(len(some) * max(len(players), 1), 1))
    watch.plan(len(some))
    for start in range(0, len(some), step):
        block = some[start : start + step]
        ratios = np.empty((len(players), len(block), len(some)))
        for i, p in enumerate(players):
            both = np.outer(shares.share[block, p], shares.share[some, p])
            ratios[i] = shares.conditions[p].overlap(block, some) / both
        ww = np.outer(w[start : start + step], w)
        zeros = (ratios == 0).sum(axis=0)
        product = np.where(ratios == 0, 1.0, ratios).prod(axis=0)
        variance += float((ww * (np.where(zeros == 0, product, 0.0) - 1.0)).sum())
        for i, p in enumerate(players):
            r = ratios[i]
            kept = np.where(r == 0, -1.0 * (zeros == 1), (1.0 - 1.0 / np.where(r == 0, 1.0, r)) * (zeros == 0))
            total[p] += float((ww * product * kept).sum())
        watch.advance(len(block))
    return variance, total


def _compiled_pairs(
    shares: Shares, some: IntArray, w: FloatArray, listed: list[Listed], watch: Watch
) -> tuple[float, FloatArray]:
    """As `_plain_pairs`, pair by pair."""
    from pellucid.trees.kernels.product_measure import add_pairs  # on use: it loads a compiler

    asked = shares.share[some] < 1.0
    leaf, player = np.nonzero(asked)
    at = (some[leaf], player)
    low, high, missing = (
        np.stack([getattr(one, name) for one in listed], axis=1)[at] for name in ("low", "high", "missing")
    )
    start = np.concatenate([[0], np.cumsum(asked.sum(axis=1))]).astype(np.int64)
    program = (start, player, low, high, missing, 1.0 / shares.share[at])
    lengths = np.cumsum([0, *[len(one.table) for one in listed]])
    measure = (
        np.concatenate([one.table for one in listed]),
        lengths[:-1],
        np.array([one.size for one in listed]),
        np.array([one.missing_mass for one in listed]),
    )
    variance, total = np.zeros(len(some)), np.zeros((len(some), len(listed)))

    def work(first: int, end: int) -> None:
        add_pairs(program, measure, w, first, end, variance, total)

    share_out(work, len(some), watch)
    return float(variance.sum()), np.asarray(total.sum(axis=0))


def _trees(ensemble: TreeEnsemble, leaf: IntArray) -> IntArray:
    """The tree of each leaf; trees lie one after another."""
    order = np.argsort(ensemble.roots)
    return np.asarray(order[np.searchsorted(ensemble.roots[order], leaf, side="right") - 1])
