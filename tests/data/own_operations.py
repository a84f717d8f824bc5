"""How to compare tables of any kind, and the operations of their own libraries."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from scipy import sparse

from data.every_dtype import KEYS


def fingerprint(table):
    """Everything that can be told apart: container, names, dtypes and each cell, NaN from None from NA."""
    if isinstance(table, pd.DataFrame):
        return (type(table), list(table.columns), [pandas_column(table.iloc[:, j]) for j in range(table.shape[1])])
    if isinstance(table, pl.DataFrame):
        return (type(table), table.columns, [(repr(s.dtype), repr(s.to_list())) for s in table])
    if isinstance(table, pa.Table):
        cells = [repr(column.to_pylist()) for column in table.columns]
        return (type(table), table.schema.to_string(show_schema_metadata=True), cells)
    if sparse.issparse(table):
        return (type(table), table.format, table.dtype, table.shape, repr(table.toarray().tolist()))
    if isinstance(table, np.ndarray):
        return (type(table), table.dtype, table.shape, repr(table.tolist()))
    return [sorted((repr(key), repr(value)) for key, value in row.items()) for row in table]


def pandas_column(column):
    dtype = column.dtype
    levels = (list(dtype.categories), dtype.ordered) if isinstance(dtype, pd.CategoricalDtype) else None
    return (repr(dtype), levels, [repr(cell) for cell in column.array])


# -- the libraries' own operations -----------------------------------------------------------------


def own_take(table, rows):
    if isinstance(table, pd.DataFrame):
        return table.iloc[rows].reset_index(drop=True)
    if isinstance(table, pa.Table):
        return table.take(pa.array(rows))
    if isinstance(table, list):
        return [table[row] for row in rows]
    return table.tocsr()[rows].asformat(table.format) if sparse.issparse(table) else table[rows]


def own_select(table, columns):
    if isinstance(table, pd.DataFrame):
        return table.iloc[:, columns]
    if isinstance(table, pl.DataFrame):
        return table[:, columns]
    if isinstance(table, pa.Table):
        return table.select(columns)
    if isinstance(table, list):
        return [{KEYS[j]: row[KEYS[j]] for j in columns if KEYS[j] in row} for row in table]
    if isinstance(table, np.ndarray) and table.dtype.names:
        from numpy.lib.recfunctions import repack_fields

        return repack_fields(table[[table.dtype.names[j] for j in columns]])
    return table.tocsc()[:, columns].asformat(table.format) if sparse.issparse(table) else table[:, columns]


def own_exchange(table, j, rows):
    """The table whose column ``j`` holds the cells that stand in the given rows."""
    if isinstance(table, pd.DataFrame):
        moved = own_take(table.iloc[:, [j]], rows)
        parts = [table.iloc[:, :j].reset_index(drop=True), moved, table.iloc[:, j + 1 :].reset_index(drop=True)]
        return pd.concat(parts, axis=1)
    if isinstance(table, pl.DataFrame):
        return table.clone().replace_column(j, table.to_series(j)[rows])
    if isinstance(table, pa.Table):
        return table.set_column(j, table.schema.field(j), table.column(j).take(pa.array(rows)))
    if isinstance(table, list):
        key = KEYS[j]
        moved = [{key: table[row][key]} if key in table[row] else {} for row in rows]
        return [{k: v for k, v in row.items() if k != key} | new for row, new in zip(table, moved, strict=True)]
    if sparse.issparse(table):
        dense = table.toarray()
        dense[:, j] = dense[rows, j]
        return type(table)(dense)
    out = table.copy()
    if table.dtype.names:
        out[table.dtype.names[j]] = table[table.dtype.names[j]][rows]
    else:
        out[:, j] = table[rows, j]
    return out
