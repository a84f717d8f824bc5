"""The table that XGBoost's predict takes, as the matrix that its trees compare."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np
import pandas as pd

from pellucid.arrays import FloatArray
from pellucid.errors import InputError
from pellucid.trees.convert.tables import dense
from pellucid.trees.convert.tree_model import Unsupported
from pellucid.trees.convert.xgboost_trees import Learner, model_of

_WHOLE: Final = (3, 4)  # before, XGBoost counted letters and cut bytes: its own codes were mixed up


def stored_levels(learner: Learner, version: tuple[int, ...]) -> tuple[tuple[Any, ...], ...]:
    """For each column the levels it was trained with, which XGBoost keeps since 3.1; () where none are."""
    model, _ = model_of(learner["gradient_booster"])
    return tuple(_levels(column, version) for column in model.get("cats", {}).get("enc", ()))


def _levels(column: Mapping[str, Any], version: tuple[int, ...]) -> tuple[Any, ...]:
    """Numbers as they are, or words cut out of one run of bytes."""
    if "offsets" not in column:
        return tuple(np.asarray(column["values"]).tolist())
    text = np.asarray(column["values"], dtype=np.int64).astype(np.uint8).tobytes()
    if not text.isascii() and version < _WHOLE:
        raise Unsupported("XGBoost's pandas categories with letters beyond ASCII, which it stores whole since 3.4")
    ends = np.asarray(column["offsets"]).tolist()
    return tuple(text[a:b].decode() for a, b in pairwise(ends))


@dataclass(frozen=True)
class Encode:
    """From the table that XGBoost's predict takes to the matrix that its trees compare.

    missing
        The number that stands for a missing value besides NaN.
    levels
        For each column the levels whose position is the code of a pandas category; () or nothing: its own.
    categorical
        Columns with categorical splits.
    """

    missing: float
    levels: tuple[tuple[Any, ...], ...]
    categorical: tuple[int, ...]

    def __call__(self, table: Any) -> FloatArray:
        X = self._numbers(table)
        if not np.isnan(self.missing):
            X[_single(X) == _single(np.float64(self.missing))] = np.nan
        for j in self.categorical:  # XGBoost cuts the single, and takes anything below 0 for no category
            code = _single(X[:, j])
            X[:, j] = np.where(code < 0, -1, code)
        return X

    def _numbers(self, table: Any) -> FloatArray:
        if not isinstance(table, pd.DataFrame):
            return np.array(dense(table, fill=np.nan), dtype=np.float64)
        if not any(isinstance(dtype, pd.CategoricalDtype) for dtype in table.dtypes):
            return np.array(table.to_numpy(dtype=np.float64, na_value=np.nan))
        return np.column_stack([self._column(table.iloc[:, j], j) for j in range(table.shape[1])])

    def _column(self, column: Any, j: int) -> FloatArray:
        if not isinstance(column.dtype, pd.CategoricalDtype):
            return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
        code = column.cat.codes.to_numpy()
        levels = self.levels[j] if j < len(self.levels) else ()
        place = np.arange(len(column.cat.categories))
        if levels:
            place = pd.Index(levels).get_indexer(column.cat.categories)
            used = np.unique(code[code >= 0])
            unseen = used[place[used] < 0]
            if len(unseen):  # XGBoost refuses it too, or takes it for the next one in the alphabet
                level = column.cat.categories[unseen[0]]
                raise InputError(
                    f"Column {column.name!r} has the category {level!r}, which XGBoost was not trained with."
                )
        return np.append(place.astype(np.float64), np.nan)[code]  # -1, a missing value, is the last


def _single(x: Any) -> Any:
    with np.errstate(over="ignore"):
        return x.astype(np.float32)
