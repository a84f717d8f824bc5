"""Tables as scikit-learn's trees read them: matrices of doubles, sparse ones filled."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.arrays import FloatArray


def dense(table: Any, fill: float = 0.0) -> Any:
    """The table itself, or for a sparse matrix the full one, with `fill` in the cells it does not store."""
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


def numbers(table: Any) -> FloatArray:
    """The encoding of a model that compares its columns as they are."""
    from sklearn.utils import check_array

    return np.asarray(
        check_array(dense(table), dtype=np.float64, ensure_all_finite=False, ensure_min_samples=0)
    )
