"""Shapley values and other indices of the marginal game, for trees whose leaves have many players.

In this game absent players are drawn from background rows: v(S) is the weighted mean over background rows b of the
prediction for the row that has the players S from x and the others from b. The cost grows with the number of
background rows, but not with two to the number of players of a leaf, as tables over coalitions do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from pellucid.arrays import AnyArray, BoolArray, FloatArray, IntArray
from pellucid.trees.ensemble import TreeEnsemble
from pellucid.trees.kernels.marginal_deep import deep_marginal
from pellucid.trees.kernels.path_program import DEPTH, MOST, measure
from pellucid.trees.quadrature import Index, quadrature
from pellucid.trees.rows import Alone, Watch, dense, share_out

_BACKGROUND_ROWS = 1024  # walked together: the lists and sums of a thread stay in the cache
_OWN_BYTES = 16 * 2**20  # of the table that says for which background rows a player is own
_LEAST_ROWS = 64
_NODES = 1 << 18  # per call of the kernel: Ctrl-C is heard between two
_SHARE_ROWS = 4


def deep_marginal_values(
    ensemble: TreeEnsemble,
    X: AnyArray,
    background: AnyArray,
    weights: FloatArray | None,
    players: IntArray,
    *,
    index: Index = "shapley",
    fill: float = 0.0,
    watch: Watch | None = None,
) -> FloatArray:
    """``(rows, players, outputs)`` for every row."""
    count = int(np.max(players, initial=-1)) + 1
    values = np.zeros((X.shape[0], count, 1, ensemble.n_outputs))
    _add(ensemble, X, background, weights, players, index, 1, fill, watch, values)
    return values[:, :, 0]


def deep_marginal_interactions(
    ensemble: TreeEnsemble,
    X: AnyArray,
    background: AnyArray,
    weights: FloatArray | None,
    players: IntArray,
    *,
    index: Index = "shapley",
    fill: float = 0.0,
    watch: Watch | None = None,
) -> FloatArray:
    """``(rows, players, players, outputs)``: the index of each pair at both its places, zero on the diagonal."""
    count = int(np.max(players, initial=-1)) + 1
    values = np.zeros((X.shape[0], count, count, ensemble.n_outputs))
    _add(ensemble, X, background, weights, players, index, 2, fill, watch, values)
    for k in range(len(values)):  # a pair was added at one of its places
        values[k] = values[k] + values[k].swapaxes(0, 1)
    return values


def _add(
    ensemble: TreeEnsemble,
    X: AnyArray,
    background: AnyArray,
    weights: FloatArray | None,
    players: IntArray,
    index: Index,
    order: int,
    fill: float,
    watch: Watch | None,
    phi: FloatArray,
) -> None:
    """Adds the values of all trees to `phi`, see the kernel."""
    nodes = ensemble.nodes
    players = np.asarray(players, dtype=np.int64)
    sizes = measure(nodes.feature, nodes.left, nodes.right, nodes.set_words, players, ensemble.roots, phi.shape[1])
    depths, most = sizes[:, DEPTH], sizes[:, MOST]
    coefficients = _coefficients(index, order, int(most.max(initial=0)))
    columns = (
        nodes.feature,
        nodes.threshold,
        nodes.left,
        nodes.right,
        nodes.missing_left,
        nodes.set_words,
        nodes.set_start,
        nodes.other_left,
    )
    for some, share in _background(background, weights, phi.shape[1], fill):
        gaps: BoolArray = np.any(np.isnan(some), axis=1)
        plain = (nodes.set_words == 0) & ~gaps[nodes.feature]
        for trees in _batches(ensemble):
            which = (ensemble.roots[trees], ensemble.output[trees], players)
            rest = (some, plain, share, coefficients, int(depths[trees].max()))

            def work(rows: slice, which: Any = which, rest: Any = rest) -> None:
                part = dense(X, rows, fill)
                deep_marginal(columns, nodes.sets, nodes.value, *which, part, *rest, phi[rows])

            _share_rows(work, X.shape[0], Alone() if watch is None else watch)


def _share_rows(work: Callable[[slice], None], n: int, watch: Watch) -> None:
    """Calls ``work(rows)`` for a few rows at a time; a row is far more work than a block of rows is elsewhere."""
    steps = -(-n // _SHARE_ROWS) * watch.limits.share_blocks
    if n > 0:
        share_out(lambda first, end: work(slice(first * n // steps, end * n // steps)), steps, watch)


def _coefficients(index: Index, order: int, players: int) -> FloatArray:
    """``[kind][others][owns]``, see the kernel: integrals of t^own (1 - t)^other without the players of the index."""
    rule = quadrature(index, order, players)
    t, w = rule.points, rule.weights
    table = np.zeros((order + 1, players + 1, players + 1))
    for kind in range(order + 1):  # so many of the index's players are other
        for others in range(kind, players + 1):
            for owns in range(order - kind, players + 1 - others):
                powers = t ** (owns - order + kind) * (1 - t) ** (others - kind)
                table[kind, others, owns] = (-1) ** kind * (w @ powers)
    return table


def _background(
    background: AnyArray, weights: FloatArray | None, players: int, fill: float
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """The background in portions, columns first, with the rows' shares of the weight; without rows of no weight."""
    n = background.shape[0]
    share = np.ones(n) if weights is None else np.asarray(weights, dtype=np.float64)
    if not share.sum() > 0:
        raise ValueError("the background has no weight")
    share = share / share.sum()
    counts = np.flatnonzero(share)
    step = int(np.clip(_OWN_BYTES // max(players, 1), _LEAST_ROWS, _BACKGROUND_ROWS))
    for start in range(0, len(counts), step):
        some = counts[start : start + step]
        part = dense(background[some], slice(None), fill)
        yield np.ascontiguousarray(part.T), share[some]


def _batches(ensemble: TreeEnsemble, most: int = _NODES) -> Iterator[IntArray]:
    """Trees, by number, some nodes at a time."""
    sizes = np.abs(np.diff(np.append(ensemble.roots, len(ensemble.nodes.feature))))
    part = np.cumsum(sizes) // most
    for p in np.unique(part):
        yield np.flatnonzero(part == p)
