"""Trees as steps that lead to tables of the marginal game, and how much room these take."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.trees.ensemble import Nodes
from pellucid.trees.kernels import marginal_program
from pellucid.trees.kernels.blocks import aligned
from pellucid.trees.kernels.measure import DEPTH, INNER, SETS, TABLES
from pellucid.trees.plain import coalitions
from pellucid.trees.plain.levels import column_of
from pellucid.trees.predict import columns_of
from pellucid.trees.sizes import MOST_PLAYERS


@dataclass(frozen=True, eq=False)
class TableSizes:
    """Of each tree what its tables need: how many there are, their columns (coalitions of the order), the patterns of
    their players, and columns times patterns. ``room`` says whether every leaf has few enough players.
    """

    tables: IntArray
    columns: IntArray
    patterns: IntArray
    cells: IntArray
    members: IntArray
    room: BoolArray

    @classmethod
    def of(cls, measures: IntArray, order: int) -> TableSizes:
        counts = measures[:, TABLES:]  # by number of players; the last are too many
        d = np.arange(counts.shape[1])
        columns = np.array([comb(int(n), order) for n in d])
        wide, patterns, cells, members = (counts @ each for each in (columns, 1 << d, columns << d, d))
        return cls(counts.sum(axis=1), wide, patterns, cells, members, counts[:, -1] == 0)


@dataclass(frozen=True, eq=False)
class TableProgram:
    """Some trees as steps, and the tables that they lead to."""

    depth: int
    categorical: bool
    steps: IntArray
    numbers: FloatArray
    starts: IntArray
    tables: IntArray
    table_starts: IntArray
    names: IntArray
    leaf_values: FloatArray

    @classmethod
    def of(
        cls, nodes: Nodes, roots: IntArray, column: int, measures: IntArray, players: IntArray, order: int
    ) -> TableProgram:
        """Of the trees with these roots, one column of their leaves' values."""
        inner, categorical = (int(measures[:, which].sum()) for which in (INNER, SETS))
        need = TableSizes.of(measures, order)
        count, depth = int(need.tables.sum()), int(measures[:, DEPTH].max())
        steps = np.zeros((inner + categorical + count, marginal_program.STEP), dtype=np.int64)
        numbers = aligned(2 * len(steps)).reshape(-1, 2)
        starts, table_starts = (np.empty(len(roots) + 1, dtype=np.int64) for _ in range(2))
        tables = np.zeros((count, marginal_program.TABLE_COLUMNS), dtype=np.int64)
        members, leaf_values = np.empty(int(need.members.sum()), dtype=np.int64), np.empty((count, 2))
        value = nodes.value[:, column].copy()  # never a read-only view, for which it would be compiled again
        program = (steps, numbers, starts, tables, members, leaf_values, table_starts)
        marginal_program.write(
            columns_of(nodes), players, value, roots, np.zeros((5, depth + 2), dtype=np.int64), *program
        )
        names = _laid_out(tables, members, order)
        return cls(depth, categorical > 0, steps, numbers, starts, tables, table_starts, names, leaf_values)


def _laid_out(tables: IntArray, members: IntArray, order: int) -> IntArray:
    """Fills where the parts of each table begin; which coalitions of that order its columns are, table after table."""
    d = tables[:, marginal_program.PLAYERS]
    columns = np.array([comb(n, order) for n in range(MOST_PLAYERS + 1)])[d]
    tables[:, marginal_program.COUNT] = columns
    for place, sizes in (
        (marginal_program.HISTOGRAM, 1 << d),
        (marginal_program.VALUES, columns << d),
        (marginal_program.NAMES, columns),
    ):
        tables[:, place] = np.cumsum(sizes) - sizes
    if order == 1:
        return members
    names = np.empty(int(columns.sum()), dtype=np.int64)
    starts = np.cumsum(d) - d
    for n in np.unique(d):
        mine = np.flatnonzero(d == n)
        found = members[starts[mine, None, None] + coalitions(int(n), order)]
        names[tables[mine, marginal_program.NAMES, None] + np.arange(found.shape[1])] = column_of(
            [*np.moveaxis(found, 2, 0)]
        )
    return names
