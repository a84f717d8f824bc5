"""Shapley values of the marginal (interventional) game.

An absent player takes its values from the background rows, all columns of the player together: v(S) is the mean
over the background of f(x on S, b elsewhere). This is the game of the model as a function; it asks the function
about rows that mix two real ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from math import comb

import numpy as np

from pellucid.arrays import AnyArray, BoolArray, FloatArray, IntArray
from pellucid.runner.limits import USUAL, Limits
from pellucid.trees.ensemble import Nodes, TreeEnsemble
from pellucid.trees.kernels import marginal_program, path_program
from pellucid.trees.kernels.blocks import ROWS, aligned, empty_blocks, from_blocks, into_blocks, lanes_of
from pellucid.trees.kernels.marginal import fill_tables, read_tables
from pellucid.trees.predict import columns_of, predict
from pellucid.trees.quadrature import Index, quadrature
from pellucid.trees.rows import Alone, Watch, dense, portions, share_out, shares_of

MOST_PLAYERS = 12  # of a leaf, for tables: 2^12 patterns times 12 players
# Measured, in nanoseconds: to fill a cell of a table at one quadrature point, to read a cell, to count a background row
# in a table, and to walk a tree with one background row (times its inner nodes to the power 0.6).
_NS_CELL, _NS_READ, _NS_COUNT, _NS_WALK = 3.0, 3.0, 7.0, 8.0
_USUAL_ROWS = 32
_TRIFLE = 5e5  # below this, per tree, tables are taken without comparing


@dataclass(frozen=True, eq=False)
class Tables:
    """What a row needs of the background, for some trees of one output."""

    output: int
    steps: IntArray
    numbers: FloatArray
    starts: IntArray
    tables: IntArray
    names: IntArray
    values: FloatArray
    depth: int

    @property
    def nbytes(self) -> int:
        """Memory held."""
        arrays = (self.steps, self.numbers, self.starts, self.tables, self.names, self.values)
        return sum(each.nbytes for each in arrays)


@dataclass(frozen=True, eq=False)
class Background:
    """Background rows in blocks, with weights that add up to one."""

    X: FloatArray
    weights: FloatArray

    @classmethod
    def of(cls, X: AnyArray, weights: FloatArray | None, fill: float) -> Background:
        n = X.shape[0]
        blocked = into_blocks(dense(X, slice(0, n), fill), spare=1)
        counted = np.zeros((len(blocked), ROWS))  # rows that fill up a block do not count
        counted.ravel()[:n] = shares_of(n, weights)
        return cls(blocked, counted)


def marginal_tables(
    ensemble: TreeEnsemble,
    background: AnyArray,
    weights: FloatArray | None,
    players: IntArray,
    *,
    index: Index = "shapley",
    order: int = 1,
    fill: float = 0.0,
    watch: Watch | None = None,
) -> Iterator[Tables]:
    """What every row needs of the trees and the background, some trees at a time.

    Every leaf may have at most `MOST_PLAYERS` players; `fits` tells which trees are like that.
    """
    count = int(players.max(initial=-1)) + 1
    against = Background.of(background, weights, fill)
    return _tables(ensemble, players, count, against, index, order, Alone() if watch is None else watch)


def marginal_values(
    ensemble: TreeEnsemble,
    X: AnyArray,
    background: AnyArray,
    weights: FloatArray | None,
    players: IntArray,
    *,
    index: Index = "shapley",
    order: int = 1,
    fill: float = 0.0,
    watch: Watch | None = None,
    tables: Callable[[], Iterable[Tables]] | None = None,
) -> FloatArray:
    """``(rows, players, outputs)``; with ``order=2`` or 3 one column per pair or triple (see `coalitions`) instead.

    ``tables`` gives what `marginal_tables` would, where it has been kept.
    """
    watch = Alone() if watch is None else watch
    players = np.asarray(players, dtype=np.int64)
    columns = comb(int(players.max(initial=-1)) + 1, order)
    values = np.zeros((X.shape[0], columns, ensemble.n_outputs))
    made = (
        marginal_tables(ensemble, background, weights, players, index=index, order=order, fill=fill, watch=watch)
        if tables is None
        else tables()
    )
    for some in made:
        for rows in portions(X.shape[0], len(players) + columns, watch.limits):
            values[rows, :, some.output] += _read(ensemble, some, dense(X, rows, fill), columns, watch)
        del some  # before the next are filled
    return values


def marginal_base(
    ensemble: TreeEnsemble, background: AnyArray, weights: FloatArray | None, *, fill: float = 0.0
) -> FloatArray:
    """The value of the game without players: the mean prediction over the background."""
    n = background.shape[0]
    weights = np.ones(n) if weights is None else np.asarray(weights, dtype=np.float64)
    total = np.zeros(ensemble.n_outputs)
    for rows in portions(n, ensemble.n_features):
        total += weights[rows] @ predict(ensemble, dense(background, rows, fill))
    return np.asarray(total / weights.sum())


def fits(
    ensemble: TreeEnsemble,
    players: IntArray,
    background: int,
    order: int = 1,
    *,
    rows: int = _USUAL_ROWS,
    limits: Limits = USUAL,
) -> BoolArray:
    """For each tree, whether tables are the cheaper way, by counting operations; within `MOST_PLAYERS` and the memory.

    Not by how many rows are explained, but for a usual number of ``rows``: tables and walks agree to rounding only, and
    a row's numbers must not depend on the others it is explained with.
    """
    players = np.asarray(players, dtype=np.int64)
    count = int(players.max(initial=-1)) + 1
    inner, _, tables, columns, patterns, cells = _sizes(ensemble, players, count, order).T.astype(np.float64)
    points = (_measured(ensemble, players, count)[:, path_program.MOST] + 1) // 2
    by_tables = _NS_CELL * cells * points + _NS_READ * rows * columns + _NS_COUNT * background * tables
    by_walks = _NS_WALK * np.maximum(inner, 1.0) ** 0.6 * order * float(rows) * background
    room = (patterns >= 0) & (8 * (patterns + cells) <= limits.table_bytes)
    return room & (by_tables <= np.maximum(by_walks, _TRIFLE))


def _measured(ensemble: TreeEnsemble, players: IntArray, count: int) -> IntArray:
    nodes = ensemble.nodes
    measured: IntArray = path_program.measure(
        nodes.feature, nodes.left, nodes.right, nodes.set_words, players, ensemble.roots, count
    )
    return measured


def _sizes(ensemble: TreeEnsemble, players: IntArray, count: int, order: int) -> IntArray:
    nodes = ensemble.nodes
    sizes: IntArray = marginal_program.sizes(
        nodes.feature, nodes.left, nodes.right, nodes.set_words, players, ensemble.roots, count, order, MOST_PLAYERS
    )
    return sizes


def _read(ensemble: TreeEnsemble, tables: Tables, X: FloatArray, count: int, watch: Watch) -> FloatArray:
    blocked = into_blocks(X, spare=1)
    phi = empty_blocks(len(X), count)
    size, lanes = marginal_program.workspace_bytes(tables.depth) // 8 + ROWS, lanes_of(len(X))

    def work(first: int, end: int) -> None:
        read_tables(
            tables.steps,
            tables.numbers,
            tables.starts,
            ensemble.nodes.sets,
            tables.tables,
            tables.names,
            tables.values,
            blocked[first:end],
            phi[first:end],
            aligned(size),
            lanes,
        )

    share_out(work, len(blocked), watch)
    return from_blocks(phi, len(X))


def _tables(
    ensemble: TreeEnsemble, players: IntArray, count: int, against: Background, index: Index, order: int, watch: Watch
) -> Iterator[Tables]:
    """Tables of the trees, as many as fit the memory at once."""
    nodes = ensemble.nodes
    measured = _measured(ensemble, players, count)
    depths = measured[:, path_program.DEPTH]
    sizes = _sizes(ensemble, players, count, order)
    for output in range(ensemble.n_outputs):
        column = output if ensemble.width > 1 else 0
        mine = np.arange(len(ensemble.roots)) if ensemble.width > 1 else np.flatnonzero(ensemble.output == output)
        part = np.cumsum(8 * (sizes[mine, 4] + sizes[mine, 5])) // watch.limits.table_bytes
        for p in np.unique(part):
            some = mine[part == p]
            depth = int(depths[some].max())
            total = sizes[some].sum(axis=0)
            yield _fill(
                nodes, ensemble.roots[some], output, column, depth, total, players, against, index, order, watch
            )


def _fill(
    nodes: Nodes,
    roots: IntArray,
    output: int,
    column: int,
    depth: int,
    total: IntArray,
    players: IntArray,
    against: Background,
    index: Index,
    order: int,
    watch: Watch,
) -> Tables:
    inner, categorical, count, named, patterns, cells = (int(size) for size in total)
    steps = np.zeros((inner + categorical + count, marginal_program.STEP), dtype=np.int64)
    numbers = aligned(2 * len(steps)).reshape(-1, 2)
    starts, table_starts = (np.empty(len(roots) + 1, dtype=np.int64) for _ in range(2))
    tables = np.empty((count, marginal_program.TABLE_COLUMNS), dtype=np.int64)
    names, leaf_values = np.empty(named, dtype=np.int64), np.empty((count, 2))
    marginal_program.write(
        columns_of(nodes),
        players,
        np.ascontiguousarray(nodes.value[:, column]),
        roots,
        depth,
        order,
        steps,
        numbers,
        starts,
        tables,
        names,
        leaf_values,
        table_starts,
    )
    n_points, points, node_weights = _rules(index, order)
    histogram, values = np.zeros(patterns), aligned(cells)
    size = marginal_program.workspace_bytes(depth) // 8 + ROWS
    shared = watch.threads > 1 and categorical > 0  # categorical splits write into the spare column

    def work(first: int, end: int) -> None:
        fill_tables(
            steps,
            numbers,
            starts,
            nodes.sets,
            tables,
            table_starts,
            leaf_values,
            against.X.copy() if shared else against.X,
            against.weights,
            n_points,
            points,
            node_weights,
            aligned(size),
            histogram,
            values,
            order,
            first,
            end,
        )

    share_out(work, len(roots), watch)
    return Tables(output, steps, numbers, starts, tables, names, values, depth)


def _rules(index: Index, order: int) -> tuple[IntArray, FloatArray, FloatArray]:
    """Quadrature for every number of players up to the most, row by row."""
    rules = [quadrature(index, order, d) for d in range(MOST_PLAYERS + 1)]
    count = np.array([len(rule) for rule in rules], dtype=np.int64)
    points, weights = np.full((2, len(rules), int(count.max())), 0.5)
    for d, rule in enumerate(rules):
        points[d, : len(rule)], weights[d, : len(rule)] = rule.points, rule.weights
    return count, points, weights
