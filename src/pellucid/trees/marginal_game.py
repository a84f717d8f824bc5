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
from pellucid.trees.kernels import marginal_program
from pellucid.trees.kernels.blocks import ROWS, aligned, empty_blocks, from_blocks, into_blocks, lanes_of
from pellucid.trees.kernels.marginal import count_background, read_tables
from pellucid.trees.kernels.marginal_tables import fill_pairs, fill_players, fill_triples
from pellucid.trees.kernels.measure import INNER, MOST
from pellucid.trees.predict import predict
from pellucid.trees.quadrature import Index, quadrature
from pellucid.trees.rows import Alone, Places, Watch, blocks_of, dense, portions, share_out, shares_of
from pellucid.trees.sizes import MOST_PLAYERS, tree_measures
from pellucid.trees.table_program import TableProgram, TableSizes

# Measured, in nanoseconds: to fill a cell of a table at one quadrature point, to read a cell, to count a background row
# in a table, and to walk a tree with one background row (times its inner nodes to the power 0.6).
_NS_CELL, _NS_READ, _NS_COUNT, _NS_WALK = 3.0, 3.0, 7.0, 8.0
_USUAL_ROWS = 32
_WORTH_BOTH = 0.125  # share of the walks that tables must spare, where walks are needed too: each is compiled once
_WORTH_WALKS = (
    2.5e8  # nanoseconds that walks must spare, where tables are needed too: compiling them takes ten times that
)
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
    against = Background.of(background, weights, fill)
    return _tables(ensemble, players, against, index, order, Alone() if watch is None else watch)


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
    into: Places | None = None,
) -> FloatArray:
    """``(rows, players, outputs)``; with ``order=2`` or 3 one column per pair or triple (see `coalitions`) instead.

    ``tables`` gives what `marginal_tables` would, where it has been kept; ``into`` says where the results go.
    """
    watch = Alone() if watch is None else watch
    players = np.asarray(players, dtype=np.int64)
    columns = comb(int(players.max(initial=-1)) + 1, order)
    places = Places.of(X.shape[0], columns, ensemble.n_outputs) if into is None else into
    made = (
        marginal_tables(ensemble, background, weights, players, index=index, order=order, fill=fill, watch=watch)
        if tables is None
        else tables()
    )
    for some in made:
        watch.plan(blocks_of(X.shape[0]))
        for rows in portions(X.shape[0], len(players) + columns, most=watch.threads * watch.limits.contribution_bytes):
            places.add(rows, some.output, _read(ensemble, some, dense(X, rows, fill), columns, watch))
        del some  # before the next are filled
    return places.values


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
    worth_both: float = _WORTH_BOTH,
    worth_walks: float = _WORTH_WALKS,
    limits: Limits = USUAL,
) -> BoolArray:
    """For each tree, whether tables are the cheaper way, by counting operations; within `MOST_PLAYERS` and the memory.

    Not by how many rows are explained, but for a usual number of ``rows``: tables and walks agree to rounding only, and
    a row's numbers must not depend on the others it is explained with. Where a few trees would have tables and the
    others walks, all are walked; where the walks of some would spare little, and the memory suffices, all have tables.
    """
    measures = tree_measures(ensemble, np.asarray(players, dtype=np.int64))
    need = TableSizes.of(measures, order)
    points = (measures[:, MOST] + 1) // 2
    by_tables = _NS_CELL * need.cells * points + _NS_READ * rows * need.columns + _NS_COUNT * background * need.tables
    by_walks = _NS_WALK * np.maximum(measures[:, INNER], 1.0) ** 0.6 * order * float(rows) * background
    memory = 8 * (need.patterns + need.cells)
    room = need.room & (memory <= limits.table_bytes)
    few = room & (by_tables <= np.maximum(by_walks, _TRIFLE))
    if few.all() or by_walks[few].sum() < worth_both * by_walks.sum():
        return np.asarray(few & few.all())
    spared = (by_tables - by_walks)[~few].sum()
    return np.asarray(few | (need.room.all() and memory.sum() <= limits.table_bytes and spared <= worth_walks))


def _read(ensemble: TreeEnsemble, tables: Tables, X: FloatArray, count: int, watch: Watch) -> FloatArray:
    blocked = into_blocks(X, spare=1)
    blocked = blocked.reshape(len(blocked), -1)
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

    share_out(work, len(blocked), watch, planned=True)
    return from_blocks(phi, len(X))


def _tables(
    ensemble: TreeEnsemble, players: IntArray, against: Background, index: Index, order: int, watch: Watch
) -> Iterator[Tables]:
    """Tables of the trees, as many as fit the memory at once."""
    measures = tree_measures(ensemble, players)
    need = TableSizes.of(measures, order)
    for output in range(ensemble.n_outputs):
        column = output if ensemble.width > 1 else 0
        mine = np.arange(len(ensemble.roots)) if ensemble.width > 1 else np.flatnonzero(ensemble.output == output)
        part = np.cumsum(8 * (need.patterns[mine] + need.cells[mine])) // watch.limits.table_bytes
        for p in np.unique(part):
            some = mine[part == p]
            program = TableProgram.of(ensemble.nodes, ensemble.roots[some], column, measures[some], players, order)
            yield _fill(ensemble.nodes, program, output, against, index, order, watch)


def _fill(
    nodes: Nodes, program: TableProgram, output: int, against: Background, index: Index, order: int, watch: Watch
) -> Tables:
    steps, numbers, starts, tables = program.steps, program.numbers, program.starts, program.tables
    d = tables[:, marginal_program.PLAYERS]
    rules = _rules(index, order)
    histogram = np.zeros(int((1 << d).sum()))
    values = aligned(int((tables[:, marginal_program.COUNT] << d).sum()))
    size = marginal_program.workspace_bytes(program.depth) // 8 + ROWS
    room = (order, 1 << int(d.max(initial=0)))
    fill = (fill_players, fill_pairs, fill_triples)[order - 1]
    shared = watch.threads > 1 and program.categorical  # categorical splits write into the spare column

    def work(first: int, end: int) -> None:
        rows = against.X.copy() if shared else against.X
        count_background(
            steps,
            numbers,
            starts,
            nodes.sets,
            tables,
            rows.reshape(len(rows), -1),
            against.weights,
            aligned(size),
            histogram,
            first,
            end,
        )
        own = program.table_starts[first], program.table_starts[end]
        fill(tables, program.leaf_values, *rules, histogram, np.empty(room), values, *own)

    share_out(work, len(starts) - 1, watch)
    return Tables(output, steps, numbers, starts, tables, program.names, values, program.depth)


def _rules(index: Index, order: int) -> tuple[IntArray, FloatArray, FloatArray]:
    """Quadrature for every number of players up to the most, row by row."""
    rules = [quadrature(index, order, d) for d in range(MOST_PLAYERS + 1)]
    count = np.array([len(rule) for rule in rules], dtype=np.int64)
    points, weights = np.full((2, len(rules), int(count.max())), 0.5)
    for d, rule in enumerate(rules):
        points[d, : len(rule)], weights[d, : len(rule)] = rule.points, rule.weights
    return count, points, weights
