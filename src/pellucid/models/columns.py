"""From the caller's columns to the model's: which, in what order, under what names, and which as categories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.data import Frame, as_frame, is_missing
from pellucid.errors import InputError, nearest
from pellucid.models.adapter import Adapter


@dataclass(frozen=True)
class Columns:
    """What is done to a table before the model sees it; an empty one does nothing.

    ``order`` are positions in the caller's table. ``names`` replace those of a table that has none of its
    own. ``categories`` gives the levels of columns (by position after ordering) that become categories.
    """

    width: int
    order: tuple[int, ...] | None
    names: tuple[str, ...] | None
    categories: Mapping[int, tuple[Any, ...]]

    def dress(self, table: Any) -> Any:
        """A native table as the model knows it."""
        if self.order is not None:
            table = as_frame(table).select(self.order).native
        frame = as_frame(table) if self.names is not None or self.categories else None
        if frame is None or frame.kind != "pandas":
            return table
        if self.names is not None:
            table = table.set_axis(list(self.names), axis=1)
        return _with_categories(table, self.categories) if self.categories else table

    def undress(self, gradient: FloatArray) -> FloatArray:
        """Derivatives by the model's columns as derivatives by the caller's: zero for what is not used."""
        if self.order is None:
            return gradient
        full = np.zeros((gradient.shape[0], self.width, gradient.shape[2]))
        full[:, list(self.order)] = gradient
        return full


def _with_categories(table: Any, categories: Mapping[int, tuple[Any, ...]]) -> Any:
    import pandas as pd

    table = table.copy(deep=False)
    for position, levels in categories.items():
        column = table.iloc[:, position]
        unseen = [value for value in pd.unique(column.dropna()) if value not in levels]
        table.isetitem(position, pd.Categorical(column, categories=[*levels, *unseen]))
    return table


def match_columns(adapter: Adapter, X: Any, feature_names: Sequence[str] | None) -> tuple[Frame, Columns]:
    """The caller's table under its names, and how its columns become the model's."""
    frame = as_frame(X, feature_names)
    named = feature_names is not None or frame.kind not in ("numpy", "sparse")
    wanted = adapter.feature_names
    if wanted is None or (not named and len(wanted) != len(frame.names)):
        _check_count(adapter, frame)
        return frame, Columns(len(frame.names), None, None, {})
    if not named:
        frame = as_frame(frame.native, wanted)
    order = _order(wanted, frame, adapter)
    levels = {
        k: adapter.categories[name]
        for k, name in enumerate(wanted)
        if name in adapter.categories and _needs_cast(frame, order[k], adapter.categories[name])
    }
    if frame.kind == "numpy" and frame.native.dtype.kind != "O":
        levels = {}  # a matrix of numbers holds the codes of categories, as the libraries read it
    same = order == tuple(range(len(frame.names)))
    return frame, Columns(len(frame.names), None if same else order, None if named else wanted, levels)


def _check_count(adapter: Adapter, frame: Frame) -> None:
    count = adapter.n_features
    if count is not None and count != len(frame.names):
        raise InputError(
            f"the model was trained on {count} features but X has {len(frame.names)} columns; give exactly the model's"
            " columns."
        )


def _order(wanted: tuple[str, ...], frame: Frame, adapter: Adapter) -> tuple[int, ...]:
    """Positions of the model's columns in the frame."""
    position = {name: j for j, name in enumerate(frame.names)}
    if adapter.canonical is not None:
        rewritten = {adapter.canonical(name): j for j, name in enumerate(frame.names)}
        position = rewritten | position
    for name in wanted:
        if name not in position:
            raise InputError(
                f"the model was trained with the column {name!r}, which X lacks{nearest(name, frame.names)}"
            )
    return tuple(position[name] for name in wanted)


def _needs_cast(frame: Frame, j: int, levels: tuple[Any, ...]) -> bool:
    """Text where the model knows categories, or numbers that are its levels (and not the codes of them)."""
    kind = frame.column_type(j)
    if kind.levels is not None:
        return False
    if kind.kind == "categorical":
        return True
    present = {value for value in frame.values(j).tolist() if not is_missing(value)}
    return bool(present) and present <= set(levels)
