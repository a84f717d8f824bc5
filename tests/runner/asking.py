"""A model that notices every change of a cell or its type, and the runner's work done by a plain loop."""

import signal
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from scipy import sparse

from data.own_operations import own_exchange, own_take
from pellucid.data import Data
from pellucid.models import Predictor


def rows_of(table):
    """The rows of a table of any kind, as Python objects."""
    if isinstance(table, pd.DataFrame):
        return list(zip(*(_cells(table.iloc[:, j]) for j in range(table.shape[1])), strict=True))
    if isinstance(table, pl.DataFrame):
        return table.rows()
    if isinstance(table, pa.Table):
        return [tuple(row.values()) for row in table.to_pylist()]
    if isinstance(table, list):
        return [sorted(row.items(), key=repr) for row in table]
    return (table.toarray() if sparse.issparse(table) else table).tolist()


def _cells(column):
    if isinstance(column.dtype, pd.CategoricalDtype):  # pandas reads an interval as floats if any is missing
        return [None if code < 0 else column.cat.categories[code] for code in column.cat.codes]
    return list(column.array)


def noticing(table):
    """Two outputs that are different for rows that differ in anything."""
    marks = np.array([zlib.crc32(repr(row).encode()) for row in rows_of(table)], dtype=float)
    return np.stack([marks / 7, np.sqrt(marks)], axis=1)


def naive(table, features, index, rows=None):
    """Predictions ``(variants, rows, outputs)`` by the library's own operations, one variant after another.

    ``index`` ``(variants, rows, features)`` says from which row of the table each cell is taken.
    """
    base = np.arange(index.shape[1]) if rows is None else rows
    out = []
    for variant in index:
        changed = own_take(table, base)
        for f, j in enumerate(features):
            donors = own_take(table, variant[:, f])
            both = stacked(donors, changed)
            order = np.arange(len(variant))
            changed = own_take(own_exchange(both, j, np.tile(order, 2)), order + len(order))
        out.append(noticing(changed))
    return np.array(out)


def stacked(above, below):
    if isinstance(above, pd.DataFrame):
        return pd.concat([above, below], ignore_index=True)
    if isinstance(above, pl.DataFrame):
        return pl.concat([above, below])
    if isinstance(above, pa.Table):
        return pa.concat_tables([above, below])
    if isinstance(above, list):
        return above + below
    if sparse.issparse(above):
        return sparse.vstack([above, below], format=above.format)
    return np.concatenate([above, below])


def numbers(n=40, p=3, seed=0):
    """A numeric matrix, its Data, and a predictor over it that multiplies and adds."""
    X = np.random.default_rng(seed).normal(size=(n, p))
    return X, Data.of(X), Predictor(multiply, X)


def multiply(X):
    X = np.asarray(X)
    return np.exp(X[:, 0]) * X[:, 1] + X[:, 2] ** 2


@contextmanager
def ctrl_c() -> Iterator[None]:
    """Interruptions are heard in here, also where the tests were started in the background, which ignores them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def press_ctrl_c() -> None:
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
