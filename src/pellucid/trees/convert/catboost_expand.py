"""Symmetric trees whose splits look at several columns, written out as trees whose splits look at one.

A split of a tree is a table of yes and no over a few columns, each of which has finitely many classes: the intervals
between the borders that this tree knows, or the sets of categories that no split of this tree tells apart. From the
root down, a split whose answer the conditions so far do not decide is asked about by one of its columns, as often as
needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from pellucid.arrays import BoolArray, IntArray
from pellucid.trees.convert.tree_model import Unsupported

Classes = tuple[int, ...]  # of every column the classes that are left, as bits
Question = tuple[int, int, int, tuple[int, float, tuple[int, ...]]]


@dataclass(frozen=True, eq=False)
class Axis:
    """How a split looks at a column: a number against a border, a category by its code, or whether it has one code."""

    column: int
    border: float | None = None
    code: int | None = None

    def entries(self, borders: Sequence[float], codes: int) -> IntArray:
        """Of every interval, or every code, the entry of the table."""
        if self.border is not None:
            return np.asarray(np.arange(len(borders) + 1) > list(borders).index(self.border), dtype=np.intp)
        every = np.arange(codes)
        return every if self.code is None else np.asarray(every == self.code, dtype=np.intp)


@dataclass(frozen=True, eq=False)
class Decision:
    """A split: a table of yes (right) and no, one axis per look at a column."""

    axes: tuple[Axis, ...]
    table: BoolArray


@dataclass(eq=False)
class Written:
    """Nodes as lists, parents first: what is compared, where to go, and of a leaf its number in its tree."""

    most: int
    column: list[int] = field(default_factory=list)
    border: list[float] = field(default_factory=list)
    right_codes: list[tuple[int, ...]] = field(default_factory=list)
    left: list[int] = field(default_factory=list)
    right: list[int] = field(default_factory=list)
    leaf: list[int] = field(default_factory=list)

    def add(self, column: int = -1, border: float = np.nan, codes: tuple[int, ...] = (), leaf: int = -1) -> int:
        if len(self.column) >= self.most:
            raise Unsupported(
                f"CatBoost ctr splits on combinations of columns that take more than {self.most:,} nodes to write out;"
                " max_ctr_complexity=1 fits a model without them"
            )
        self.column.append(column)
        self.border.append(border)
        self.right_codes.append(codes)
        self.leaf.append(leaf)
        self.left.append(-1)
        self.right.append(-1)
        return len(self.column) - 1


class _Tree:
    """One tree over the classes of its columns."""

    def __init__(self, decisions: Sequence[Decision], codes: dict[int, int], into: Written) -> None:
        self._into = into
        looks = [axis for decision in decisions for axis in decision.axes]
        self._columns = sorted({axis.column for axis in looks})
        self._borders = {
            column: sorted({axis.border for axis in looks if axis.column == column and axis.border is not None})
            for column in self._columns
        }
        tables = [self._by_column(decision, codes) for decision in decisions]
        self._members: dict[int, list[IntArray]] = {}  # of every class of a categorical column its codes
        for column in self._columns:
            if not self._borders[column]:
                tables = self._merged(column, tables)
        # those that look at one column first: what they exclude need not be asked again
        self._order = sorted(range(len(decisions)), key=lambda k: (len(tables[k][0]), tables[k][1].size))
        self._tables = tables
        self._answers: dict[tuple[int, ...], bool | Question] = {}

    def _by_column(self, decision: Decision, codes: dict[int, int]) -> tuple[tuple[int, ...], BoolArray]:
        """The table with one axis per column."""
        columns = tuple(sorted({axis.column for axis in decision.axes}))
        index = []
        for axis in decision.axes:
            entries = axis.entries(self._borders[axis.column], codes.get(axis.column, 0))
            index.append(entries.reshape([-1 if column == axis.column else 1 for column in columns]))
        return columns, decision.table[tuple(index)]

    def _merged(
        self, column: int, tables: list[tuple[tuple[int, ...], BoolArray]]
    ) -> list[tuple[tuple[int, ...], BoolArray]]:
        """Codes that no table tells apart become one class."""
        looking = [np.moveaxis(table, columns.index(column), 0) for columns, table in tables if column in columns]
        rows = np.concatenate([table.reshape(len(table), -1) for table in looking], axis=1)
        _, first, which = np.unique(np.packbits(rows, axis=1), axis=0, return_index=True, return_inverse=True)
        which = which.ravel()
        self._members[column] = [np.flatnonzero(which == k) for k in range(len(first))]
        return [
            (columns, np.take(table, first, axis=columns.index(column)) if column in columns else table)
            for columns, table in tables
        ]

    def write(self) -> int:
        """The node of the root."""
        sizes: dict[int, int] = {}
        for columns, table in self._tables:
            sizes.update(zip(columns, table.shape, strict=True))
        return self._grow(0, tuple((1 << sizes[column]) - 1 for column in self._columns), 0)

    def _grow(self, k: int, allowed: Classes, leaf: int) -> int:
        """The node for the classes that are left (bits, for every column), from the k-th decision on."""
        while k < len(self._order):
            answer = self._answer(k, allowed)
            if not isinstance(answer, bool):
                place, low, high, (column, border, codes) = answer
                at = self._into.add(column, border, codes)
                self._into.left[at] = self._grow(k, (*allowed[:place], low, *allowed[place + 1 :]), leaf)
                self._into.right[at] = self._grow(k, (*allowed[:place], high, *allowed[place + 1 :]), leaf)
                return at
            leaf |= answer << self._order[k]
            k += 1
        return self._into.add(leaf=leaf)

    def _answer(self, k: int, allowed: Classes) -> bool | Question:
        """The decision, where it is made; else what to ask: a column, the classes to either side, and the node."""
        columns, table = self._tables[self._order[k]]
        places = [self._columns.index(column) for column in columns]
        key = (k, *(allowed[place] for place in places))
        if key not in self._answers:
            classes = [
                np.array([c for c in range(n) if allowed[at] >> c & 1])
                for at, n in zip(places, table.shape, strict=True)
            ]
            part = table[np.ix_(*classes)]
            decided = part.any() == part.all()
            self._answers[key] = bool(part.flat[0]) if decided else self._ask(columns, places, classes, part)
        return self._answers[key]

    def _ask(self, columns: tuple[int, ...], places: list[int], classes: list[IntArray], part: BoolArray) -> Question:
        """The column with the fewest different answers, cut between them."""
        which = [_groups(part, axis) for axis in range(len(columns))]
        counts = [int(each.max()) + 1 for each in which]
        axis = min((a for a in range(len(columns)) if counts[a] > 1), key=lambda a: counts[a])
        column, mine = columns[axis], classes[axis]
        borders = self._borders[column]
        if borders:
            edges = np.flatnonzero(np.diff(which[axis])) + 1
            goes = np.arange(len(mine)) >= edges[len(edges) // 2]
            node = (column, borders[int(mine[goes][0]) - 1], ())
        else:
            goes = which[axis] >= counts[axis] // 2
            codes = np.sort(np.concatenate([self._members[column][c] for c in mine[goes]]))
            node = (column, np.nan, tuple(codes.tolist()))
        low, high = (sum(1 << int(c) for c in side) for side in (mine[~goes], mine[goes]))
        return places[axis], low, high, node


def _groups(part: BoolArray, axis: int) -> IntArray:
    """Numbers of the different rows along an axis, in the order in which they occur."""
    rows = np.moveaxis(part, axis, 0).reshape(part.shape[axis], -1)
    seen: dict[bytes, int] = {}
    return np.array([seen.setdefault(row.tobytes(), len(seen)) for row in rows])


def expand(decisions: Sequence[Decision], codes: dict[int, int], into: Written) -> int:
    """Writes a symmetric tree out; its root. Leaves are numbered by the bits of the decisions, the first the lowest;
    ``codes`` says how many categories a column has, the unknown one included.
    """
    return _Tree(decisions, codes, into).write()
