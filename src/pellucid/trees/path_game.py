"""Shapley values and other indices of the path-dependent game.

In this game a split on an absent player sends the row both ways, weighted by the training weight that went
each way. It needs no background data, but it is a game about the trees, not about the model as a function:
two ensembles that predict the same everywhere can have different values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from math import comb

import numpy as np

from pellucid.arrays import AnyArray, FloatArray, IntArray
from pellucid.trees.ensemble import Nodes, TreeEnsemble
from pellucid.trees.kernels import path_pairs, path_program
from pellucid.trees.kernels.blocks import aligned, empty_blocks, from_blocks, into_blocks, lanes_of
from pellucid.trees.kernels.measure import DEPTH, INNER, MOST, NODES, PARTNERS, SETS
from pellucid.trees.kernels.path import path_shapley
from pellucid.trees.kernels.path_pairs import path_triples
from pellucid.trees.kernels.predict import expectations
from pellucid.trees.predict import columns_of
from pellucid.trees.quadrature import Index, Quadrature, quadrature
from pellucid.trees.rows import Alone, Places, Watch, blocks_of, dense, portions, share_out
from pellucid.trees.sizes import tree_measures

_PROGRAM_BYTES = 32 * 2**20  # of steps and constants held at once
_UNROLLED = 4  # up to so many quadrature points are known to the compiler


@dataclass(frozen=True, eq=False)
class _Batch:
    """Trees of one output whose programs are held at once."""

    roots: IntArray
    output: int
    column: int
    depth: int
    rule: Quadrature
    size: IntArray  # the sum of what `measure` tells of the trees

    @property
    def points(self) -> AnyArray | tuple[int, ...]:
        """One entry per quadrature point; the length of a tuple is known when compiling."""
        k = len(self.rule)
        return tuple(range(k)) if k <= _UNROLLED else np.arange(k)


@dataclass(frozen=True, eq=False)
class Program:
    """The steps and constants of some trees of one output: all that a row needs."""

    batch: _Batch
    steps: IntArray
    constants: FloatArray
    starts: IntArray
    links: IntArray | None = None  # for pairs: the other players of the path at each split

    @property
    def nbytes(self) -> int:
        """Memory held."""
        arrays = (self.steps, self.constants, self.starts, self.links)
        return sum(each.nbytes for each in arrays if each is not None)

    def add(self, nodes: Nodes, X: FloatArray, out: FloatArray, n: int, watch: Watch, *, planned: bool = False) -> None:
        """Adds the indices of ``n`` rows, in blocks, to ``out`` (blocks, players or pairs, ROWS)."""
        rule, points, lanes = self.batch.rule, self.batch.points, lanes_of(n)
        pairs = self.links is not None
        size = (path_pairs if pairs else path_program).workspace_bytes(self.batch.depth, len(rule)) // 8
        outside = -1 / (1 - rule.points)

        def work(first: int, end: int) -> None:
            rest = (nodes.sets, rule.weights, X[first:end], out[first:end], aligned(size), points, lanes)
            if pairs:
                path_pairs.path_pairs(self.steps, self.starts, self.constants, self.links, outside, *rest)
            else:
                path_shapley(self.steps, self.starts, self.constants, *rest)

        share_out(work, len(X), watch, planned=planned)


def path_programs(ensemble: TreeEnsemble, players: IntArray, index: Index, order: int) -> Iterator[Program]:
    """What every row needs of the trees, some trees at a time."""
    write = partial(_pair_program if order == 2 else _program, ensemble.nodes, players)
    return map(write, _batches(ensemble, players, index, order))


def path_values(
    ensemble: TreeEnsemble,
    X: AnyArray,
    players: IntArray,
    *,
    index: Index = "shapley",
    order: int = 1,
    fill: float = 0.0,
    watch: Watch | None = None,
    programs: Callable[[], Iterable[Program]] | None = None,
    into: Places | None = None,
) -> FloatArray:
    """``(rows, players, outputs)``; with ``order=2`` or 3 one column per pair or triple of players instead.

    ``programs`` gives what `path_programs` would, where it has been kept; ``into`` says where the results go.
    """
    watch = Alone() if watch is None else watch
    players = np.asarray(players, dtype=np.int64)
    count = int(players.max(initial=-1)) + 1
    columns, rows_in_all = comb(count, order), X.shape[0]
    places = Places.of(rows_in_all, columns, ensemble.n_outputs) if into is None else into
    if order == 3:
        _triples(ensemble, X, players, columns, index, fill, watch, places)
        return places.values
    if programs is None:
        programs = partial(path_programs, ensemble, players, index, order)
    cells = len(players) + columns * ensemble.n_outputs
    most = watch.threads * watch.limits.contribution_bytes
    for rows in portions(rows_in_all, cells, most=most):
        blocked = into_blocks(dense(X, rows, fill), spare=1)
        n, first = rows.stop - rows.start, rows.start == 0
        phi = [empty_blocks(n, columns) for _ in range(ensemble.n_outputs)]
        for program in programs():
            if first:  # for all portions: how many programs there are is known only when they have been made
                watch.plan(blocks_of(rows_in_all))
            program.add(ensemble.nodes, blocked, phi[program.batch.output], n, watch, planned=True)
        for k, part in enumerate(phi):
            places.add(rows, k, from_blocks(part, n))
    return places.values


def path_base(ensemble: TreeEnsemble) -> FloatArray:
    """The value of the game without players: every leaf weighted by the training weight that reached it."""
    nodes = ensemble.nodes
    mean = expectations(nodes.feature, nodes.left, nodes.right, nodes.cover, nodes.value)
    base = ensemble.base.copy()
    for v in range(ensemble.width):
        np.add.at(base, ensemble.output + v, mean[ensemble.roots, v])
    return base


def _batches(ensemble: TreeEnsemble, players: IntArray, index: Index, order: int) -> Iterator[_Batch]:
    """The trees by output and number of quadrature points, as many as fit the memory at once."""
    sizes = tree_measures(ensemble, players)
    most = sizes[:, MOST]
    for output in range(ensemble.n_outputs):
        column = output if ensemble.width > 1 else 0
        everywhere = ensemble.width > 1
        mine = np.flatnonzero(everywhere | (ensemble.output == output))
        points = np.array([len(quadrature(index, order, int(d))) for d in most[mine]], dtype=np.int64)
        for k in np.unique(points):
            trees = mine[points == k]
            rule = quadrature(index, order, int(most[trees].max()))
            split, link = path_pairs.STEP + 6 * k + 6, (3 + k) * (order == 2)
            program = 8 * (split * sizes[trees, NODES] + link * sizes[trees, PARTNERS])
            part = np.cumsum(program) // _PROGRAM_BYTES
            for p in np.unique(part):
                some = trees[part == p]
                depth = int(sizes[some, DEPTH].max())
                yield _Batch(ensemble.roots[some], output, column, depth, rule, sizes[some].sum(axis=0))


def _program(nodes: Nodes, players: IntArray, batch: _Batch) -> Program:
    inner, sets = batch.size[INNER], batch.size[SETS]
    steps = np.empty((2 * inner + sets, path_program.STEP), dtype=np.int64)
    constants = aligned((path_program.POINTS // 8 + 6 * len(batch.rule)) * inner)
    starts = np.empty(len(batch.roots) + 1, dtype=np.int64)
    value = nodes.value[:, batch.column].copy()  # of one output too: a view would be read-only, and compiled for again
    path_program.write(
        columns_of(nodes), players, value, batch.roots, batch.rule.points, batch.depth, steps, constants, starts
    )
    return Program(batch, steps, constants, starts)


def _pair_program(nodes: Nodes, players: IntArray, batch: _Batch) -> Program:
    k = len(batch.rule)
    n_nodes, n_links = batch.size[NODES], batch.size[PARTNERS]
    steps = np.zeros((3 * n_nodes, path_pairs.STEP), dtype=np.int64)
    constants = aligned((2 + 4 * k) * n_nodes + k * n_links)
    links = np.empty((n_links, path_pairs.PARTNER), dtype=np.int64)
    starts = np.empty(len(batch.roots) + 1, dtype=np.int64)
    value = nodes.value[:, batch.column].copy()
    path_pairs.write(
        columns_of(nodes), players, value, batch.roots, batch.rule.points, batch.depth, steps, constants, links, starts
    )
    return Program(batch, steps, constants, starts, links)


def _triples(
    ensemble: TreeEnsemble,
    X: AnyArray,
    players: IntArray,
    columns: int,
    index: Index,
    fill: float,
    watch: Watch,
    places: Places,
) -> None:
    for batch in _batches(ensemble, players, index, 3):
        for rows in portions(X.shape[0], len(players) + columns, most=watch.threads * watch.limits.contribution_bytes):
            part = np.ascontiguousarray(dense(X, rows, fill))
            places.add(rows, batch.output, _some_triples(ensemble.nodes, batch, players, part, columns, watch))


def _some_triples(
    nodes: Nodes, batch: _Batch, players: IntArray, X: FloatArray, columns: int, watch: Watch
) -> FloatArray:
    value = nodes.value[:, batch.column].copy()
    rule, out = batch.rule, np.zeros((len(X), columns))

    def work(first: int, end: int) -> None:
        path_triples(
            columns_of(nodes),
            nodes.sets,
            value,
            players,
            batch.roots,
            rule.points,
            rule.weights,
            batch.depth,
            X[first:end],
            out[first:end],
        )

    share_out(work, len(X), watch)
    return out
