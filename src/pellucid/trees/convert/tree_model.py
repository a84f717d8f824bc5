"""What a converter returns: the trees, and how the table that the model takes becomes their matrix."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.data.frames.doorway import library_of
from pellucid.errors import PellucidError
from pellucid.trees.ensemble import TreeEnsemble

# How the sum of the trees becomes what the model predicts.
Link = Literal["identity", "logistic", "softmax", "exp", "one-vs-rest", "other"]


class Unsupported(PellucidError):
    """A construct that the tree engine does not read; the message names it."""


class NotTrees(Unsupported):
    """A model that has no trees at all."""


def stumbled(where: str, error: Exception) -> str:
    """What a reader met that it does not know, as a reason."""
    what = f"it has no {error}" if isinstance(error, KeyError) else f"{type(error).__name__}: {error}"
    return " ".join(f"{where}: {what}".split())[:300]


@dataclass(frozen=True, eq=False)
class TreeModel:
    """A model as trees.

    Attributes
    ----------
    ensemble
        The trees; `ensemble.predict` gives the model's raw scores, one column per output.
    encode
        From the table that the model's own predict takes to the matrix that the trees compare:
        ``(rows, ensemble.n_features)`` float64, missing as NaN.
    source
        For each column of that matrix the position of the model's own column it is made from. Several
        columns may come from one (one-hot codes): they then act as one player.
    link
        From raw scores to predictions: "identity" (the trees add up to the prediction), "logistic" (one
        log-odds), "softmax" (one score per class), "one-vs-rest" (one log-odds per class), "exp", or "other".
    scale
        What the raw scores are: "response", "probability", "log-odds" or "score".
    fill
        What a cell stands for that a sparse matrix does not store: 0, or NaN for missing.
    """

    ensemble: TreeEnsemble
    encode: Callable[[Any], FloatArray]
    source: IntArray
    link: Link = "identity"
    scale: Literal["response", "probability", "log-odds", "score"] = "response"
    fill: float = 0.0

    @cached_property
    def largest(self) -> float:
        """The largest number that is added up to a prediction."""
        leaves = np.abs(self.ensemble.nodes.value).max(initial=0.0) if self.link == "identity" else 0.0
        return float(max(np.abs(self.ensemble.base).max(initial=0.0), leaves))


def matrix(table: Any) -> FloatArray:
    """The usual encoding: a table of numbers as float64."""
    return np.asarray(table, dtype=np.float64)


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
