"""Rows as points: a matrix in which the Euclidean distance of two rows says how unlike they are.

A number is measured in standard deviations, so that no unit counts more than another; a level of a category is a
column of its own, 1 / sqrt(2) where the row has it, so that two levels are one standard deviation apart; a missing
number is at the mean, with a column of its own that keeps it one standard deviation away from every known one. Of a
category with many levels the rare ones share a column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, groupby
from typing import Any

import numpy as np

from pellucid.arrays import AnyArray, BoolArray, FloatArray
from pellucid.data.table import Data
from pellucid.errors import InputError

_LEVELS = 100  # with columns of their own
_MOST_NUMBERS = 200_000_000  # in the matrix
_AT_ONCE = 1_000_000  # numbers that are measured together


def standardised(data: Data, *, levels: int = _LEVELS) -> FloatArray:
    """The rows ``(n, columns)``, see above."""
    columns: list[FloatArray] = []
    at_once = max(_AT_ONCE // max(len(data), 1), 1)
    for nominal, features in groupby(range(len(data.schema.features)), lambda j: data.schema.features[j].nominal):
        some = list(features)
        for part in (some[start : start + at_once] for start in range(0, len(some), at_once)):
            codes = [data.codes(j) for j in part]
            found = (_levels(each, levels) for each in codes) if nominal else _numbers(np.array(codes), data.weights)
            columns += chain.from_iterable(found)
            if len(columns) * len(data) > _MOST_NUMBERS:
                raise InputError(
                    f"features: as points the {len(data):,} rows would take more than {_MOST_NUMBERS:,} numbers; give"
                    " features=, a function that returns a few columns for a table, or a sample of the rows."
                )
    return np.array(columns).T if columns else np.zeros((len(data), 1))


def _numbers(codes: FloatArray, weights: FloatArray) -> Iterator[list[FloatArray]]:
    """The columns of several numeric features ``(features, n)``."""
    lacks: BoolArray = np.asarray(np.isnan(codes))
    gaps: BoolArray = np.asarray(lacks.any(axis=1))
    total = np.full(len(codes), weights.sum())
    if gaps.any():
        codes, total[gaps] = np.where(lacks, 0.0, codes), ~lacks[gaps] @ weights
    known = np.where(total > 0, total, 1.0)
    off = codes - (codes @ weights / known)[:, None]
    off[lacks] = 0.0
    sd = np.sqrt(np.square(off) @ weights / known)
    off /= np.where(sd > 0, sd, 1.0)[:, None]
    for j in np.flatnonzero(total > 0):
        found = [off[j]] if sd[j] > 0 else []
        yield [*found, lacks[j].astype(np.float64)] if gaps[j] else found


def _levels(codes: FloatArray, most: int) -> list[FloatArray]:
    places = np.where(np.isnan(codes), -1.0, codes)
    values, counts = np.unique(places, return_counts=True)
    if len(values) < 2:
        return []
    kept = np.sort(values[np.argsort(-counts, kind="stable")[:most]])
    found = [(places == value) / np.sqrt(2.0) for value in kept]
    rest = ~np.isin(places, kept)
    return [*found, rest / np.sqrt(2.0)] if rest.any() else found


def embedded(function: Callable[[Any], Any], data: Data) -> FloatArray:
    """What the caller's own function makes of the table: one row of finite numbers for each row."""
    found: AnyArray = np.asarray(function(data.frame.native))
    try:
        matrix = found.astype(np.float64)
    except (TypeError, ValueError):
        raise InputError("features must return numbers: a matrix with one row per row of X.") from None
    matrix = matrix[:, None] if matrix.ndim == 1 else matrix
    if matrix.ndim > 2:
        matrix = matrix.reshape(len(matrix), -1)
    if matrix.ndim != 2 or len(matrix) != len(data):
        raise InputError(
            f"features returned an array of shape {found.shape} for {len(data):,} rows; return one row of numbers for"
            " each row of X."
        )
    if not np.isfinite(matrix).all():
        raise InputError("features returned numbers that are missing or infinite; return finite numbers.")
    return matrix
