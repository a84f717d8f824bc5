"""Partial dependence and individual curves of trees, exactly, without asking for a prediction per row and point.

With T some of the columns, b the background rows and w their weights, the partial dependence is

    PD_T(x) = sum_b w_b f(x on T, b elsewhere) / sum_b w_b
            = base + sum over leaves l of value_l [x satisfies l's conditions on T] g_l,
    g_l     = share of the weight of the background that satisfies l's conditions on the other columns.

One walk of the background over the trees, which goes both ways at splits on T, gives every g_l; after that
the number of background rows plays no part. The individual curve of a row along points of T is, tree by tree, a
step function: the row reaches a few leaves, and each is valid for some runs of the sorted points. Steps
are added up as differences between neighbouring points and summed at the end.

Everything is exact up to rounding. Work is cut into portions of rows and of trees that fit the memory; where they
are cut, and how many threads there are, changes no bit of the results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from pellucid.arrays import AnyArray, BoolArray, FloatArray, IntArray
from pellucid.runner.limits import Limits
from pellucid.trees.ensemble import TreeEnsemble
from pellucid.trees.kernels import partial_dependence as walk
from pellucid.trees.kernels.row_bits import WORD
from pellucid.trees.rows import Alone, Watch, dense, portions, share_out

T = TypeVar("T")

_CHUNK = 2048  # rows that go through a tree together, when values are added to them
_MASS_CHUNK = 16384  # and when they are counted
_MANY_COLUMNS = 256  # with more of them, chunks to be counted are smaller


def partial_dependence(
    ensemble: TreeEnsemble,
    columns: int | Sequence[int] | IntArray,
    points: AnyArray,
    background: Any,
    weights: FloatArray | None = None,
    *,
    fill: float = 0.0,
    watch: Watch | None = None,
) -> FloatArray:
    """Mean over the background of f with the columns set to each point: ``(points, outputs)``.

    ``points`` is ``(points, columns)``, or ``(points,)`` for one column. The background may be sparse, with
    ``fill`` in the cells it does not store.
    """
    watch = Alone() if watch is None else watch
    chosen, points = _points(ensemble, columns, points)
    if len(chosen) == 1:
        return _step_function(ensemble, chosen, points[:, 0], background, weights, fill, watch)
    others = ~np.isin(np.arange(ensemble.n_features), chosen)
    reached = _reached(ensemble, chosen, points, watch.limits)
    shares = _shares(ensemble, others, background, weights, fill, watch, reached)
    return _weighted_leaves(ensemble, chosen, points, np.arange(len(chosen)), shares, 0.0, watch)


def partial_dependence_without(
    ensemble: TreeEnsemble,
    columns: int | Sequence[int] | IntArray,
    points: Any,
    background: Any,
    weights: FloatArray | None = None,
    *,
    fill: float = 0.0,
    watch: Watch | None = None,
) -> FloatArray:
    """PD of all columns but the given: mean over the background of f at each point with these columns from there.

    ``points`` are whole rows, ``(points, ensemble.n_features)``; the result is ``(points, outputs)``.
    """
    watch = Alone() if watch is None else watch
    averaged = np.isin(np.arange(ensemble.n_features), _columns(ensemble, columns))
    shares = _shares(ensemble, averaged, background, weights, fill, watch)
    kept = np.flatnonzero(~averaged)
    return _weighted_leaves(ensemble, kept, points, kept, shares, fill, watch)


def curve_blocks(
    ensemble: TreeEnsemble,
    columns: int | Sequence[int] | IntArray,
    points: AnyArray,
    X: Any,
    *,
    fill: float = 0.0,
    watch: Watch | None = None,
) -> Iterator[tuple[slice, FloatArray]]:
    """The individual curves of consecutive rows, ``(points, rows, outputs)``, a portion of memory at a time."""
    watch = Alone() if watch is None else watch
    chosen, points = _points(ensemble, columns, points)
    points, inverse = _sorted(points)
    others = ~np.isin(np.arange(ensemble.n_features), chosen)
    used = _used(ensemble, others)
    size = len(points) * ensemble.n_outputs
    stepped = _Again(lambda: _stepped(ensemble, used, chosen, points, watch.limits))
    for rows in portions(X.shape[0], len(used) + 2 * size, watch.limits, WORD):
        part = _columns_first(X, rows, used, fill, watch.limits)
        sums = np.zeros((ensemble.n_outputs, len(points), part.shape[1]))
        for trees, steps in stepped:
            _add_leaves(trees, steps, trees.values, part, rows, sums, watch)
        yield rows, _curves(sums, ensemble.base, inverse, rows.stop - rows.start)


def _curves(sums: FloatArray, base: FloatArray, inverse: IntArray | None, n: int) -> FloatArray:
    """Values ``(points, rows, outputs)`` from differences ``(outputs, sorted points, rows)``."""
    sums[:, :1] += base[:, None, None]
    for p in range(1, sums.shape[1]):
        sums[:, p] += sums[:, p - 1]
    curves = np.moveaxis(sums[:, :, :n], 0, 2)
    return curves if inverse is None else curves[inverse]


# -- what is asked -------------------------------------------------------------------------------


def _columns(ensemble: TreeEnsemble, columns: int | Sequence[int] | IntArray) -> IntArray:
    chosen = np.atleast_1d(np.asarray(columns, dtype=np.int64))
    if len(np.unique(chosen)) < len(chosen):
        raise ValueError("a column is named twice")
    if len(chosen) and not (chosen.min() >= 0 and chosen.max() < ensemble.n_features):
        raise ValueError(f"columns are 0 to {ensemble.n_features - 1}")
    return chosen


def _points(
    ensemble: TreeEnsemble, columns: int | Sequence[int] | IntArray, points: AnyArray
) -> tuple[IntArray, FloatArray]:
    chosen = _columns(ensemble, columns)
    points = np.asarray(points, dtype=np.float64)
    points = points[:, None] if points.ndim == 1 and len(chosen) == 1 else points
    if points.ndim != 2 or points.shape[1] != len(chosen):
        raise ValueError(f"points have {len(chosen)} columns, one for each named")
    return chosen, points


def _sorted(points: FloatArray) -> tuple[FloatArray, IntArray | None]:
    """Points in an order in which few runs fill a leaf, and for each given point its place in it."""
    order = np.lexsort(points.T[::-1]) if points.shape[1] else np.arange(len(points))
    if (order == np.arange(len(order))).all():
        return points, None
    inverse = np.empty_like(order)
    inverse[order] = np.arange(len(order))
    return points[order], inverse


# -- rows and trees in portions --------------------------------------------------------------------


def _used(ensemble: TreeEnsemble, followed: BoolArray) -> IntArray:
    """The followed columns that occur in splits."""
    present = np.zeros(ensemble.n_features, dtype=np.bool_)
    present[ensemble.nodes.feature[ensemble.nodes.feature >= 0]] = True
    return np.flatnonzero(present & followed)


def _columns_first(X: Any, rows: slice, used: IntArray, fill: float, limits: Limits) -> FloatArray:
    """Some columns of some rows, each column in one piece; rows are filled up to whole words."""
    n = rows.stop - rows.start
    out = np.zeros((len(used), -(-n // WORD) * WORD))
    step = max(1, limits.portion_bytes // (8 * max(X.shape[1], 1)))
    for start in range(rows.start, rows.stop, step):
        some = slice(start, min(start + step, rows.stop))
        out[:, start - rows.start : some.stop - rows.start] = dense(X, some, fill)[:, used].T
    return out


@dataclass(frozen=True, eq=False)
class _Trees:
    """Some trees as the kernels see them; positions of nodes count from the first of them."""

    table: IntArray
    sets: AnyArray
    roots: IntArray
    outputs: IntArray
    depth: int
    values: FloatArray
    nodes: slice

    @property
    def thresholds(self) -> FloatArray:
        return self.table.view(np.float64)


def _batches(ensemble: TreeEnsemble, used: IntArray, limits: Limits, bytes_per_node: int = 0) -> Iterator[_Trees]:
    """Consecutive trees, as many as the memory allows; splits on the used columns are followed."""
    place = np.full(ensemble.n_features, walk.BOTH_WAYS)
    place[used] = np.arange(len(used))
    order = np.argsort(ensemble.roots, kind="stable")
    starts = ensemble.roots[order]
    ends = np.append(starts, len(ensemble.nodes.feature))[1:]
    part = (ends * (8 * walk.FIELDS + bytes_per_node)) // limits.tree_bytes
    for p in np.unique(part):
        mine = np.flatnonzero(part == p)
        span = slice(int(starts[mine[0]]), int(ends[mine[-1]]))
        yield _prepared(ensemble, place, order[mine], span)


def _prepared(ensemble: TreeEnsemble, place: IntArray, trees: IntArray, span: slice) -> _Trees:
    nodes, first = ensemble.nodes, span.start
    table = np.empty((span.stop - first, walk.FIELDS), dtype=np.int64)
    depth = walk.fill_table(
        nodes.feature,
        nodes.left,
        nodes.right,
        nodes.missing_left,
        nodes.set_start,
        nodes.set_words,
        nodes.other_left,
        place,
        first,
        table,
    )
    table.view(np.float64)[:, walk.THRESHOLD] = nodes.threshold[span]
    roots, outputs = ensemble.roots[trees] - first, ensemble.output[trees]
    return _Trees(table, nodes.sets, roots, outputs, int(depth), nodes.value[span].copy(), span)


@dataclass(frozen=True, eq=False)
class _Steps:
    """Along the sorted points, where each leaf begins and ceases to be valid."""

    starts: IntArray
    ends: IntArray
    steps: IntArray

    @property
    def reached(self) -> BoolArray:
        return self.ends > self.starts


def _steps(trees: _Trees, points: FloatArray, limits: Limits, size: int | None = None) -> _Steps:
    """Steps of trees whose used columns are those of the points; with ``size=0`` only their numbers."""
    starts, ends = np.zeros((2, len(trees.table)), dtype=np.int64)
    part = _columns_first(points, slice(0, len(points)), np.arange(points.shape[1]), 0.0, limits)
    size = 2 * len(trees.table) if size is None else size
    while True:
        steps = np.empty(size, dtype=np.int64)
        found = walk.leaf_steps(
            trees.table,
            trees.thresholds,
            trees.sets,
            trees.roots,
            trees.depth,
            part,
            len(points),
            len(points) // limits.listed_rows,
            starts,
            ends,
            steps,
        )
        if found <= size or size == 0:
            return _Steps(starts, ends, steps[:found])
        size = found


def _reached(ensemble: TreeEnsemble, columns: IntArray, points: FloatArray, limits: Limits) -> BoolArray | None:
    """Which leaves any point can reach; None where finding out costs more than it saves."""
    if not 0 < len(points) <= limits.pruning_points:
        return None
    reached = np.zeros(len(ensemble.nodes.feature), dtype=np.bool_)
    for trees in _batches(ensemble, columns, limits):
        reached[trees.nodes] = _steps(trees, points, limits, size=0).reached
    return reached


def _at_points(
    ensemble: TreeEnsemble, columns: IntArray, points: FloatArray, limits: Limits
) -> Iterator[tuple[_Trees, _Steps]]:
    """Trees that follow the points, with the steps of their leaves."""
    for trees in _batches(ensemble, columns, limits, _step_bytes(columns, points)):
        yield trees, _steps(trees, points, limits)


def _stepped(
    ensemble: TreeEnsemble, used: IntArray, columns: IntArray, points: FloatArray, limits: Limits
) -> Iterator[tuple[_Trees, _Steps]]:
    """Trees that follow the other columns, with the steps of their leaves along the points."""
    ours = _batches(ensemble, used, limits, _step_bytes(columns, points))
    for trees, (_, steps) in zip(ours, _at_points(ensemble, columns, points, limits), strict=True):
        walk.contract(trees.table, trees.roots, steps.reached)
        yield trees, steps


def _step_bytes(columns: IntArray, points: FloatArray) -> int:
    """The most that a node is likely to need besides itself."""
    return 8 * (walk.FIELDS + 2 + (4 if len(columns) == 1 else len(points)))


class _Again(Generic[T]):
    """What an iterator gives, once more each time; only a single thing is kept, others are made anew."""

    def __init__(self, make: Callable[[], Iterator[T]]) -> None:
        self._make = make
        self._only: list[T] = []

    def __iter__(self) -> Iterator[T]:
        if self._only:
            yield from self._only
            return
        count = 0
        for thing in self._make():
            self._only = [thing] if count == 0 else []
            count += 1
            yield thing
        self._only = self._only if count == 1 else []


# -- the walks ---------------------------------------------------------------------------------------


def _shares(
    ensemble: TreeEnsemble,
    followed: BoolArray,
    background: Any,
    weights: FloatArray | None,
    fill: float,
    watch: Watch,
    reached: BoolArray | None = None,
) -> FloatArray:
    """For each leaf the share of the background that satisfies its conditions on the followed columns.

    Only leaves that are `reached` need one.
    """
    n, used = background.shape[0], _used(ensemble, followed)
    mass = np.zeros(len(ensemble.nodes.feature))
    given = np.empty(0) if weights is None else np.asarray(weights, dtype=np.float64)
    total = float(n if weights is None else given.sum())
    if total == 0:
        raise ValueError("the background has no rows that count")
    chunk = _MASS_CHUNK if len(used) <= _MANY_COLUMNS else _CHUNK
    for rows in portions(n, len(used), watch.limits, chunk):  # sums over rows are always cut at the same places
        part = _columns_first(background, rows, used, fill, watch.limits)
        for trees in _batches(ensemble, used, watch.limits):
            if reached is not None:
                walk.contract(trees.table, trees.roots, reached[trees.nodes])
            _add_mass(trees, part, rows.stop - rows.start, given[rows], weights is not None, chunk, mass, watch)
    return mass / total


def _add_mass(
    trees: _Trees,
    part: FloatArray,
    n: int,
    weights: FloatArray,
    weighted: bool,
    chunk: int,
    mass: FloatArray,
    watch: Watch,
) -> None:
    """Threads share the trees: every leaf belongs to one of them."""

    def work(first: int, end: int) -> None:
        for start in range(0, n, chunk):
            stop = min(start + chunk, n)
            walk.leaf_mass(
                trees.table,
                trees.thresholds,
                trees.sets,
                trees.roots[first:end],
                trees.depth,
                part,
                start,
                stop - start,
                weights[start:stop],
                weighted,
                chunk // watch.limits.listed_rows,
                mass[trees.nodes],
            )

    share_out(work, len(trees.roots), watch)


def _add_leaves(
    trees: _Trees, steps: _Steps, values: FloatArray, part: FloatArray, rows: slice, sums: FloatArray, watch: Watch
) -> None:
    """Threads share the rows."""
    n = rows.stop - rows.start

    def work(first: int, end: int) -> None:
        for start in range(first * WORD, min(end * WORD, n), _CHUNK):
            stop = min(start + _CHUNK, end * WORD, n)
            walk.add_leaves(
                trees.table,
                trees.thresholds,
                trees.sets,
                trees.roots,
                trees.outputs,
                trees.depth,
                part,
                start,
                stop - start,
                steps.starts,
                steps.ends,
                steps.steps,
                values,
                _CHUNK // watch.limits.listed_rows,
                sums,
            )

    share_out(work, -(-n // WORD), watch)


def _step_function(
    ensemble: TreeEnsemble,
    column: IntArray,
    points: FloatArray,
    background: Any,
    weights: FloatArray | None,
    fill: float,
    watch: Watch,
) -> FloatArray:
    """Partial dependence on one column: leaf values times shares along the points, added up once for all."""
    distinct, inverse = np.unique(points, return_inverse=True)
    at_points = _Again(lambda: _at_points(ensemble, column, distinct[:, None], watch.limits))
    reached = np.zeros(len(ensemble.nodes.feature), dtype=np.bool_)
    for trees, steps in at_points:
        reached[trees.nodes] = steps.reached
    others = np.arange(ensemble.n_features) != column
    shares = _shares(ensemble, others, background, weights, fill, watch, reached)
    sums = np.zeros((ensemble.n_outputs, len(distinct)))
    for trees, steps in at_points:
        values = trees.values * shares[trees.nodes, None]
        sizes = np.diff(np.append(trees.roots, len(trees.table)))
        outputs = np.repeat(trees.outputs, sizes)
        walk.step_sums(trees.table, outputs, steps.starts, steps.ends, steps.steps, values, sums)
    return (ensemble.base[:, None] + np.cumsum(sums, axis=1)).T[inverse]


def _weighted_leaves(
    ensemble: TreeEnsemble,
    columns: IntArray,
    points: Any,
    where: IntArray,
    shares: FloatArray,
    fill: float,
    watch: Watch,
) -> FloatArray:
    """Sum of leaf values times shares over the leaves whose conditions on the columns each point satisfies.

    ``where`` says which column of the points each of the columns is.
    """
    used = np.isin(columns, _used(ensemble, np.ones(ensemble.n_features, dtype=np.bool_)))
    result = np.empty((points.shape[0], ensemble.n_outputs))
    for rows in portions(points.shape[0], int(used.sum()) + 2 * ensemble.n_outputs, watch.limits, WORD):
        part = _columns_first(points, rows, where[used], fill, watch.limits)
        sums = np.zeros((ensemble.n_outputs, 1, part.shape[1]))
        for trees in _batches(ensemble, columns[used], watch.limits):
            values = trees.values * shares[trees.nodes, None]
            walk.collapse(trees.table, values)
            size = len(trees.table)
            once = _Steps(np.zeros(size, np.int64), np.ones(size, np.int64), np.zeros(1, np.int64))
            _add_leaves(trees, once, values, part, rows, sums, watch)
        result[rows] = _curves(sums, ensemble.base, None, rows.stop - rows.start)[0]
    return result
