"""What the leaves of a model's trees ask of each feature, and the cells between whose borders the trees are constant.

A component of the features S is constant where no leaf changes that asks something of every feature in S. So its cuts
are the thresholds on the paths to those leaves, and where no leaf asks something of all of S the component is zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.data import Data, as_frame
from pellucid.errors import InputError
from pellucid.methods.decomposition.estimation import axes
from pellucid.models import Predictor
from pellucid.reading.trees import ExplainedTrees, Refusal, explained_trees
from pellucid.runner import Run, constant_intervention
from pellucid.trees.ensemble import TreeEnsemble

_LARGEST = 30_000_000  # nodes on all paths together
CELLS = 300_000  # entries of all components together
_CUTS = (512, 384, 256, 192, 128, 96, 64, 48, 32, 24, 16, 12, 8, 6, 4, 3, 2)


@dataclass(frozen=True, eq=False)
class Leaves:
    """All leaves: ``values`` (leaves, outputs), the inner nodes above each, -1 beyond, and whether it lies to their
    left.
    """

    values: FloatArray
    path: IntArray
    left: BoolArray


@dataclass(frozen=True, eq=False)
class TreeCells:
    """The trees of a model that add up to what is explained, over the features of the data."""

    predictor: Predictor
    data: Data
    explained: ExplainedTrees
    leaves: Leaves

    @property
    def ensemble(self) -> TreeEnsemble:
        return self.explained.trees.ensemble

    @cached_property
    def owner(self) -> IntArray:
        """The feature that each column is made from."""
        columns = np.asarray(self.predictor.columns, dtype=np.intp)
        return np.asarray(columns[self.explained.trees.source], dtype=np.intp)

    @cached_property
    def asked(self) -> IntArray:
        """The feature of each node on each path, -1 beyond."""
        column = self.ensemble.nodes.feature[self.leaves.path]
        return np.where(self.leaves.path >= 0, self.owner[column], -1)

    def columns(self, j: int) -> IntArray:
        """The columns made from a feature."""
        return np.flatnonzero(self.owner == j)

    def asking(self, subset: axes.Subset) -> BoolArray:
        """Which leaves ask something of every feature in the subset."""
        return np.all([(self.asked == j).any(axis=1) for j in subset], axis=0)

    def grid(self, j: int, leaves: BoolArray) -> axes.Grid:
        """Levels, or cells that are cut wherever one of these leaves asks something of the feature."""
        feature = self.data.schema.features[j]
        if feature.nominal or feature.empty:
            return axes.levels(feature, self.data.codes(j))
        mine = self.leaves.path[leaves][self.asked[leaves] == j]
        nodes = np.unique(mine)
        if not self._plain(j) or (self.ensemble.nodes.set_words[nodes] > 0).any():
            return self._between_values(j, nodes)
        cuts = np.unique(self.ensemble.nodes.threshold[nodes])
        return axes.cells(feature, cuts[(cuts >= feature.low) & (cuts < feature.high)])

    def _plain(self, j: int) -> bool:
        """Whether the trees compare the numbers of the feature as they are."""
        columns = self.columns(j)
        return len(columns) == 1 and np.array_equal(
            self.explained.matrix[:, columns[0]], self.data.codes(j), equal_nan=True
        )

    def _between_values(self, j: int, nodes: IntArray) -> axes.Grid:
        """Cells of a feature that the trees see transformed: cut between values of the data that differ at a node."""
        feature, codes = self.data.schema.features[j], self.data.codes(j)
        known = np.flatnonzero(~np.isnan(codes))
        values, first = np.unique(codes[known], return_index=True)
        seen = self.explained.matrix[known[first]]
        differs = np.zeros(len(values) - 1, dtype=np.bool_)
        for node in nodes:
            goes = self._goes_left(node, seen[:, self.ensemble.nodes.feature[node]])
            differs |= goes[1:] != goes[:-1]
        at = np.flatnonzero(differs)
        cuts = values[at] + (values[at + 1] - values[at]) / 2
        if feature.kind == "integer":
            cuts = np.floor(cuts)
        return axes.entries(axes.make_axis(feature, "cells", cuts), np.append(values[at], values[-1]))

    def _goes_left(self, node: int, x: FloatArray) -> BoolArray:
        return self.ensemble.goes_left(np.full(len(x), node), x)

    def encoded(self, j: int, codes: FloatArray) -> FloatArray:
        """The columns of a feature, as the trees see it at each of the codes."""
        row = self.data.frame.take(np.zeros(1, dtype=np.intp))
        intervention, n = constant_intervention(self.data, (j,), (codes,)), len(codes)
        table = row.scratch(n).fill(intervention.columns(slice(0, n), slice(0, 1)), n)
        frame = as_frame(table, self.data.frame.names)
        return self.explained.trees.encode(self.predictor.dressed(frame))[:, self.columns(j)]

    def allowed(self, j: int, codes: FloatArray, leaves: slice) -> FloatArray:
        """Whether each code of the feature fulfils what each leaf asks of it: 1 or 0, ``(leaves, codes)``."""
        path, asked = self.leaves.path[leaves], self.asked[leaves] == j
        allowed = np.ones((len(path), len(codes)), dtype=np.bool_)
        nodes = np.unique(path[asked])
        if len(nodes):
            seen, columns = self.encoded(j, codes), self.columns(j)
            place = np.searchsorted(columns, self.ensemble.nodes.feature[nodes])
            goes = np.array([self._goes_left(node, seen[:, k]) for node, k in zip(nodes, place, strict=True)])
            for depth in range(path.shape[1]):
                at = np.flatnonzero(asked[:, depth])
                found = goes[np.searchsorted(nodes, path[at, depth])]
                allowed[at] &= found == self.leaves.left[leaves][at, depth][:, None]
        return allowed.astype(np.float64)


def tree_cells(predictor: Predictor, data: Data, run: Run) -> TreeCells | None:
    """The model's trees, where they add up to the explained outputs on the explained scale and are not too many."""
    if data.frame.kind == "sparse":
        return None
    explained = explained_trees(predictor, data, data, run)
    if isinstance(explained, Refusal) or explained.scale != predictor.scale:
        return None
    leaves = walk(explained.trees.ensemble)
    return None if leaves is None else TreeCells(predictor, data, explained, leaves)


def walk(ensemble: TreeEnsemble) -> Leaves | None:
    """Every leaf with the path to it; None where that is too much to hold."""
    nodes = ensemble.nodes
    at, tree = ensemble.roots, np.arange(len(ensemble.roots))
    path, left = np.empty((len(at), 0), np.intp), np.empty((len(at), 0), np.bool_)
    values, paths, lefts = [], [], []
    while len(at):
        if path.size > _LARGEST:
            return None
        inner = nodes.feature[at] >= 0
        values.append(ensemble.leaf_values(at[~inner], ensemble.output[tree[~inner]]))
        paths.append(path[~inner])
        lefts.append(left[~inner])
        at, tree = at[inner], np.tile(tree[inner], 2)
        path = np.tile(np.column_stack([path[inner], at]), (2, 1))
        side = np.repeat([True, False], len(at))
        left = np.column_stack([np.tile(left[inner], (2, 1)), side])
        at = np.concatenate([nodes.left[at], nodes.right[at]])
    if sum(map(len, paths)) * len(paths) > _LARGEST:
        return None
    return Leaves(
        np.concatenate([np.empty((0, ensemble.n_outputs)), *values]), _stacked(paths, -1), _stacked(lefts, False)
    )


def _stacked(parts: Sequence[np.ndarray], fill: int | bool) -> np.ndarray:
    """Paths of all lengths in one array."""
    depth = len(parts) - 1
    padded = [np.pad(p, ((0, 0), (0, depth - p.shape[1])), constant_values=fill) for p in parts]
    return np.concatenate(padded) if padded else np.empty((0, 0))


# -- the grids of all components ---------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class TreeGrids:
    """Cells of every component, which components are zero, and to how many cuts along a feature they were thinned."""

    grids: axes.Grids
    zero: frozenset[axes.Subset]
    thinned: int | None


def cell_grids(trees: TreeCells, wanted: Sequence[axes.Subset], grid: int | None, most: int = CELLS) -> TreeGrids:
    """Cells between the thresholds that matter for each component; where they are too many, fewer, spread over the
    rows.
    """
    full: dict[axes.Subset, tuple[axes.Grid, ...]] = {}
    zero = set()
    for subset in wanted:
        leaves = trees.asking(subset)
        if leaves.any():
            full[subset] = tuple(trees.grid(j, leaves) for j in subset)
        else:
            zero.add(subset)
            full[subset] = tuple(axes.cells(trees.data.schema.features[j], np.empty(0)) for j in subset)
    if grid is None and axes.entries_of(full) <= most:
        return TreeGrids(full, frozenset(zero), None)
    for cuts in _CUTS if grid is None else (max(int(grid) - 1, 1),):
        thinned = {
            subset: (
                own
                if len(subset) == 1
                else tuple(axes.fewer_cuts(trees.data, j, part, cuts) for j, part in zip(subset, own, strict=True))
            )
            for subset, own in full.items()
        }
        if axes.entries_of(thinned) <= most:
            break
    if axes.entries_of(thinned) > 20 * most:
        raise InputError(
            f"{len(wanted):,} components have {axes.entries_of(thinned):,} entries together; give fewer features"
            " (features=[...]) or a lower order."
        )
    return TreeGrids(thinned, frozenset(zero), cuts if axes.entries_of(thinned) < axes.entries_of(full) else None)
