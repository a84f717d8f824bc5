"""Shapley values and other indices of the marginal game, for trees whose leaves have many players.

In this game absent players are drawn from background rows: v(S) is the weighted mean over background rows b of the
prediction for the row that has the players S from x and the others from b. The cost grows with the number of
background rows, but not with two to the number of players of a leaf, as tables over coalitions do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.trees.ensemble import TreeEnsemble
from pellucid.trees.kernels.marginal_deep import deep_marginal, deep_path, deep_room
from pellucid.trees.kernels.measure import DEPTH, MOST
from pellucid.trees.plain import coalitions
from pellucid.trees.quadrature import Index, quadrature
from pellucid.trees.rows import Alone, Watch, share_out, shares_of
from pellucid.trees.sizes import tree_measures

_BACKGROUND_ROWS = 1024  # walked together: the lists and sums of a thread stay in the cache
_OWN_BYTES = 16 * 2**20  # of the table that says for which background rows a player is own
_LEAST_ROWS = 64
_NODES = 1 << 18  # per call of the kernel: Ctrl-C is heard between two
_SHARE_ROWS = 4


def deep_marginal_values(
    ensemble: TreeEnsemble,
    X: FloatArray,
    background: FloatArray,
    weights: FloatArray | None,
    players: IntArray,
    *,
    index: Index = "shapley",
    order: int = 1,
    watch: Watch | None = None,
    planned: bool = False,
) -> FloatArray:
    """``(rows, players, outputs)``; with ``order=2`` one column per pair (see `coalitions`) instead.

    ``planned`` says that the watch knows of this work.
    """
    count = int(np.max(players, initial=-1)) + 1
    phi = np.zeros((len(X), count, count if order == 2 else 1, ensemble.n_outputs))
    nodes = ensemble.nodes
    players = np.asarray(players, dtype=np.int64)
    sizes = tree_measures(ensemble, players)
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
    for some, share in _background(background, weights, count):
        gaps: BoolArray = np.any(np.isnan(some), axis=1)
        plain = (nodes.set_words == 0) & ~gaps[nodes.feature]
        for trees in _batches(ensemble):
            which = (ensemble.roots[trees], ensemble.output[trees], players)
            rest = (some, plain, share, coefficients)
            size = (len(share), count, nodes.value.shape[1], len(coefficients), int(depths[trees].max()))

            def work(rows: slice, which: Any = which, rest: Any = rest, size: Any = size) -> None:
                room, path = deep_room(*size), deep_path(order, size[-1])
                part = np.ascontiguousarray(X[rows])  # compiled for one order in memory
                deep_marginal(columns, nodes.sets, nodes.value, *which, part, *rest, room, path, phi[rows])

            _share_rows(work, len(X), Alone() if watch is None else watch, planned)
    if order == 1:
        return phi[:, :, 0]
    low, high = coalitions(count, 2).T
    return np.asarray(phi[:, low, high] + phi[:, high, low])  # a pair was added at one of its places


def plan_walks(
    ensemble: TreeEnsemble,
    background: FloatArray,
    weights: FloatArray | None,
    count: int,
    portions: Iterable[int],
    watch: Watch,
) -> None:
    """Tells the watch of the work of several portions of rows."""
    batches = len(list(_batches(ensemble))) * len(list(_background(background, weights, count)))
    watch.plan(batches * sum(_steps(n, watch) for n in portions))


def _steps(n: int, watch: Watch) -> int:
    return -(-n // _SHARE_ROWS) * watch.limits.share_blocks


def _share_rows(work: Callable[[slice], None], n: int, watch: Watch, planned: bool) -> None:
    """Calls ``work(rows)`` for a few rows at a time; a row is far more work than a block of rows is elsewhere."""
    steps = _steps(n, watch)
    if n > 0:
        share_out(lambda first, end: work(slice(first * n // steps, end * n // steps)), steps, watch, planned=planned)


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
    background: FloatArray, weights: FloatArray | None, players: int
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """The background in portions, columns first, with the rows' shares of the weight; without rows of no weight."""
    share = shares_of(len(background), weights)
    counts = np.flatnonzero(share)
    step = int(np.clip(_OWN_BYTES // max(players, 1), _LEAST_ROWS, _BACKGROUND_ROWS))
    for start in range(0, len(counts), step):
        some = counts[start : start + step]
        yield np.ascontiguousarray(background[some].T), share[some]


def _batches(ensemble: TreeEnsemble, most: int = _NODES) -> Iterator[IntArray]:
    """Trees, by number, some nodes at a time."""
    sizes = np.abs(np.diff(np.append(ensemble.roots, len(ensemble.nodes.feature))))
    part = np.cumsum(sizes) // most
    for p in np.unique(part):
        yield np.flatnonzero(part == p)
