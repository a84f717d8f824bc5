"""Matrices of numbers for the models that take nothing else."""

from __future__ import annotations

import numpy as np

from pellucid.arrays import AnyArray
from pellucid.errors import InputError


def numbers_only(table: AnyArray, what: str) -> AnyArray:
    """The table as a contiguous matrix of numbers, missing as NaN; text is refused."""
    if table.dtype.kind in "fiub":
        return np.ascontiguousarray(table)
    try:
        return np.ascontiguousarray(table, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            f"the {what} takes numbers only, but X has text, dates or categories; encode those columns first, or wrap"
            " the encoding and the model in one function."
        ) from None
