"""Tables as scikit-learn's trees read them: matrices of doubles, sparse ones filled."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.data.frames.doorway import library_of


def dense(table: Any, fill: float = 0.0) -> Any:
    """The table itself, or for a sparse matrix the full one, with `fill` in the cells it does not store.

    Sparse columns of a pandas frame say themselves what those cells hold.
    """
    if "pandas" in library_of(table):
        return _dense_columns(table)
    if not callable(getattr(table, "toarray", None)):
        return table
    if fill == 0:
        return np.asarray(table.toarray())
    stored = table.tocsr().copy()
    stored.sum_duplicates()
    stored = stored.tocoo()
    full = np.full(stored.shape, fill)
    full[stored.row, stored.col] = stored.data
    return full


def _dense_columns(table: Any) -> Any:
    """A pandas frame without sparse columns."""
    from pandas import SparseDtype

    full = {name: dtype.subtype for name, dtype in table.dtypes.items() if isinstance(dtype, SparseDtype)}
    return table.astype(full) if full else table


def numbers(table: Any) -> FloatArray:
    """The encoding of a model that compares its columns as they are."""
    from sklearn.utils import check_array

    return np.asarray(check_array(dense(table), dtype=np.float64, ensure_all_finite=False, ensure_min_samples=0))
