"""Which rows are meant: their labels (an index, a column of ids) and their positions in X, kept from X to the chart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

import numpy as np

from pellucid.arrays import AnyArray, IntArray, freeze
from pellucid.checks import is_position
from pellucid.data.cells import objects
from pellucid.data.frames.doorway import as_frame, is_series
from pellucid.data.frames.frame import Frame
from pellucid.errors import InputError, nearest
from pellucid.words import listed, value_name

_COMPARED = 2_000  # labels among which the nearest to an unknown one is looked for


@dataclass(frozen=True, eq=False)
class RowLabels:
    """What rows are called: ``labels``, whole numbers or text, and ``positions`` in X where the rows are rows of X.

    Without either, rows are counted from 0. ``column`` is the column of ids that the labels come from, if they do.
    """

    labels: AnyArray | None = None
    positions: IntArray | None = None
    column: str = ""

    def __post_init__(self) -> None:
        freeze(self)

    def name(self, i: int) -> str:
        """What row ``i`` is called: its label, with its position where that is another number."""
        label = i if self.labels is None else self.labels[i]
        if isinstance(label, str) or self.positions is None or label == self.positions[i]:
            return f"{label}"
        return f"{label} (position {self.positions[i]})"

    def of_row(self, i: int = 0) -> str:
        """`` for row cust7``, or nothing where the row has no name."""
        return "" if self.labels is None else f" for row {self.name(i)}"

    def listed(self, n: int, most: int = 4) -> str:
        """``rows 7 and 9``, or how many they are where they are many."""
        if self.labels is None or n > most:
            return f"{n:,} rows"
        return f"rows {listed([self.name(i) for i in range(n)], most)}" if n > 1 else f"row {self.name(0)}"

    def column_of(self, n: int) -> AnyArray:
        """The labels of ``n`` rows as a column of a table."""
        return np.arange(n) if self.labels is None else self.labels

    def take(self, rows: Any) -> RowLabels:
        """Those of some of the rows, by their places."""
        if self.labels is None:  # counted from 0, which the places that are left no longer are
            return replace(self, labels=np.atleast_1d(rows))
        return replace(
            self, labels=self.labels[rows], positions=None if self.positions is None else self.positions[rows]
        )

    def places(self, wanted: Sequence[Any]) -> IntArray:
        """Where rows with some labels are; an unknown label, or one that several rows have, is an error."""
        cells = [] if self.labels is None else self.labels.tolist()
        last = {label: place for place, label in enumerate(cells)}
        first = {label: len(cells) - 1 - place for place, label in enumerate(reversed(cells))}
        asked = [label_of(label) for label in wanted]
        for label in asked:
            if label not in last:
                raise InputError(f"there is no row {label!r}{self._remedy(str(label))}")
            if first[label] != last[label]:
                raise InputError(
                    f"several rows of X are called {label!r}, the first at position {first[label]}; give positions."
                )
        return np.array([last[label] for label in asked], dtype=np.intp)

    def _remedy(self, label: str) -> str:
        if self.labels is None or self.labels.dtype.kind == "i":
            return (
                "; the rows of X are numbered: give positions (whole numbers from 0), rows of your own, or labels as"
                " Explainer(..., row_labels=)."
            )
        known = self.labels.tolist()
        if len(known) > _COMPARED:
            known = [other for other in known if other[:2] == label[:2]][:_COMPARED] or known[:_COMPARED]
        return nearest(label, known)


def label_of(value: Any) -> int | str:
    """A label as a whole number or as text; a date without an idle midnight."""
    if is_position(value):
        return int(value)
    if isinstance(value, np.datetime64):
        return value_name(value)
    if isinstance(value, date):  # pandas' and Python's times too
        return str(value).removesuffix(" 00:00:00")
    if isinstance(value, tuple):
        return ", ".join(str(label_of(part)) for part in value)
    return str(value)


def is_label(value: Any) -> bool:
    """Whether a value can only be the label of a row: text or a date."""
    return isinstance(value, str | date | np.datetime64)


def labels_from(cells: AnyArray) -> AnyArray:
    """Labels as an array of their own: of whole numbers if all are, else of text."""
    if cells.dtype.kind in "iu":
        return cells.astype(np.int64, copy=False)  # those of an index never change
    labels = [label_of(cell) for cell in cells]
    if all(isinstance(label, int) for label in labels):
        return np.array(labels, dtype=np.int64)
    return objects([str(label) for label in labels])


def own_labels(frame: Frame, rows: Any = None, column: str = "") -> AnyArray | None:
    """The labels that a table brings along: its column of ids, its index, the name of a Series; None without any."""
    if column and column in frame.names:
        return labels_from(np.asarray(frame.native_column(frame.names.index(column)), dtype=object))
    if is_series(rows) and rows.name is not None:
        return labels_from(objects([rows.name]))
    index = frame.row_index()
    return None if index is None else labels_from(index)


def split_labels(table: Any, row_labels: Any) -> tuple[Any, RowLabels | None]:
    """A table without its column of ids, and what its rows are called where ``row_labels`` says so."""
    if row_labels is None:
        return table, None
    frame = as_frame(table)
    if isinstance(row_labels, str):
        if row_labels not in frame.names:
            raise InputError(f"row_labels={row_labels!r} is not a column of X{nearest(row_labels, frame.names)}")
        others = [j for j, other in enumerate(frame.names) if other != row_labels]
        labels, table = own_labels(frame, column=row_labels), frame.select(others).native
        return table, RowLabels(labels, np.arange(len(frame)), row_labels)
    cells = np.asarray(row_labels, dtype=object)
    if cells.shape != (len(frame),):
        raise InputError(f"row_labels has {cells.size} labels but X has {len(frame)} rows; give one label per row.")
    return table, RowLabels(labels_from(cells), np.arange(len(frame)))
