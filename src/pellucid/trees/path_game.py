"""Shapley values and other indices of the path-dependent game.

In this game a split on an absent player sends the row both ways, weighted by the training weight that went
each way. It needs no background data, but it is a game about the trees, not about the model as a function:
two ensembles that predict the same everywhere can have different values.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import comb

import numpy as np

from pellucid.arrays import AnyArray, FloatArray, IntArray
from pellucid.trees.ensemble import Nodes, TreeEnsemble
from pellucid.trees.kernels import path_pairs, path_program
from pellucid.trees.kernels.blocks import aligned, empty_blocks, from_blocks, into_blocks
from pellucid.trees.kernels.path import path_shapley
from pellucid.trees.kernels.path_triples import path_triples
from pellucid.trees.kernels.predict import expectations
from pellucid.trees.predict import columns_of
from pellucid.trees.quadrature import Index, Quadrature, quadrature
from pellucid.trees.rows import Alone, Watch, dense, portions, share_out

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
    size: IntArray  # the sum of what path_program.measure tells of the trees


def path_values(
    ensemble: TreeEnsemble,
    X: AnyArray,
    players: IntArray,
    *,
    index: Index = "shapley",
    order: int = 1,
    fill: float = 0.0,
    watch: Watch | None = None,
) -> FloatArray:
    """``(rows, players, outputs)``; with ``order=2`` or 3 one column per pair or triple of players instead."""
    watch = Alone() if watch is None else watch
    players = np.asarray(players, dtype=np.int64)
    count = int(players.max(initial=-1)) + 1
    if order == 3:
        return _triples(ensemble, X, players, count, index, fill, watch)
    columns = comb(count, order)
    batches = list(_batches(ensemble, players, count, index, order))
    add = _add if order == 1 else _add_pairs
    values = np.zeros((X.shape[0], columns, ensemble.n_outputs))
    for rows in portions(X.shape[0], len(players) + columns * ensemble.n_outputs):
        blocked = into_blocks(dense(X, rows, fill), spare=1)
        n = rows.stop - rows.start
        phi = [empty_blocks(n, columns) for _ in range(ensemble.n_outputs)]
        for batch in batches:
            add(ensemble.nodes, batch, players, blocked, phi[batch.output], watch)
        for k, part in enumerate(phi):
            values[rows, :, k] = from_blocks(part, n)
    return values


def path_base(ensemble: TreeEnsemble) -> FloatArray:
    """The value of the game without players: every leaf weighted by the training weight that reached it."""
    nodes = ensemble.nodes
    mean = expectations(nodes.feature, nodes.left, nodes.right, nodes.cover, nodes.value)
    base = ensemble.base.copy()
    for v in range(ensemble.width):
        np.add.at(base, ensemble.output + v, mean[ensemble.roots, v])
    return base


def _batches(ensemble: TreeEnsemble, players: IntArray, count: int, index: Index, order: int) -> Iterator[_Batch]:
    """The trees by output and number of quadrature points, as many as fit the memory at once."""
    nodes = ensemble.nodes
    sizes = path_program.measure(
        nodes.feature, nodes.left, nodes.right, nodes.set_words, players, ensemble.roots, count
    )
    most = sizes[:, path_program.MOST]
    for output in range(ensemble.n_outputs):
        column = output if ensemble.width > 1 else 0
        everywhere = ensemble.width > 1
        mine = np.flatnonzero(everywhere | (ensemble.output == output))
        points = np.array([len(quadrature(index, order, int(d))) for d in most[mine]], dtype=np.int64)
        for k in np.unique(points):
            trees = mine[points == k]
            rule = quadrature(index, order, int(most[trees].max()))
            split, link = path_pairs.STEP + 6 * k + 6, (3 + k) * (order == 2)
            program = 8 * (split * sizes[trees, path_program.NODES] + link * sizes[trees, path_program.PARTNERS])
            part = np.cumsum(program) // _PROGRAM_BYTES
            for p in np.unique(part):
                some = trees[part == p]
                depth = int(sizes[some, path_program.DEPTH].max())
                yield _Batch(ensemble.roots[some], output, column, depth, rule, sizes[some].sum(axis=0))


def _add(nodes: Nodes, batch: _Batch, players: IntArray, X: FloatArray, phi: FloatArray, watch: Watch) -> None:
    """Adds the values of some trees to those of a portion of rows."""
    steps, constants, starts = _program(nodes, batch, players)
    k = len(batch.rule)
    size = path_program.workspace_bytes(batch.depth, k) // 8
    points = tuple(range(k)) if k <= _UNROLLED else np.arange(k)

    def work(first: int, end: int) -> None:
        weights, workspace = batch.rule.weights, aligned(size)
        path_shapley(steps, starts, constants, nodes.sets, weights, X[first:end], phi[first:end], workspace, points)

    share_out(work, len(X), watch)


def _program(nodes: Nodes, batch: _Batch, players: IntArray) -> tuple[IntArray, FloatArray, IntArray]:
    inner, sets = batch.size[path_program.INNER], batch.size[path_program.SETS]
    steps = np.empty((2 * inner + sets, path_program.STEP), dtype=np.int64)
    constants = aligned((path_program.POINTS // 8 + 6 * len(batch.rule)) * inner)
    starts = np.empty(len(batch.roots) + 1, dtype=np.int64)
    value = np.ascontiguousarray(nodes.value[:, batch.column])
    path_program.write(
        columns_of(nodes), players, value, batch.roots, batch.rule.points, batch.depth, steps, constants, starts
    )
    return steps, constants, starts


def _add_pairs(nodes: Nodes, batch: _Batch, players: IntArray, X: FloatArray, out: FloatArray, watch: Watch) -> None:
    """Adds the indices of all pairs, of some trees, to those of a portion of rows."""
    k = len(batch.rule)
    n_nodes, n_links = batch.size[path_program.NODES], batch.size[path_program.PARTNERS]
    steps = np.zeros((3 * n_nodes, path_pairs.STEP), dtype=np.int64)
    constants = aligned((2 + 4 * k) * n_nodes + k * n_links)
    links = np.empty((n_links, path_pairs.PARTNER), dtype=np.int64)
    starts = np.empty(len(batch.roots) + 1, dtype=np.int64)
    value = np.ascontiguousarray(nodes.value[:, batch.column])
    path_pairs.write(
        columns_of(nodes), players, value, batch.roots, batch.rule.points, batch.depth, steps, constants, links, starts
    )
    size = path_pairs.workspace_bytes(batch.depth, k) // 8
    outside = -1 / (1 - batch.rule.points)
    weights, points = batch.rule.weights, np.arange(k)

    def work(first: int, end: int) -> None:
        path_pairs.path_pairs(
            steps,
            starts,
            constants,
            links,
            outside,
            nodes.sets,
            weights,
            X[first:end],
            out[first:end],
            aligned(size),
            points,
        )

    share_out(work, len(X), watch)


def _triples(
    ensemble: TreeEnsemble, X: AnyArray, players: IntArray, count: int, index: Index, fill: float, watch: Watch
) -> FloatArray:
    values = np.zeros((X.shape[0], comb(count, 3), ensemble.n_outputs))
    for batch in _batches(ensemble, players, count, index, 3):
        for rows in portions(X.shape[0], len(players) + values.shape[1]):
            part = np.ascontiguousarray(dense(X, rows, fill))
            values[rows, :, batch.output] += _some_triples(ensemble.nodes, batch, players, part, values.shape[1], watch)
    return values


def _some_triples(
    nodes: Nodes, batch: _Batch, players: IntArray, X: FloatArray, columns: int, watch: Watch
) -> FloatArray:
    value = np.ascontiguousarray(nodes.value[:, batch.column])
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
