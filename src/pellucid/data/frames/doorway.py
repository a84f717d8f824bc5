"""Which frame a user's table becomes, and how one kind of table turns into another.

Libraries are recognised by the module their classes come from, so nothing is imported that the caller
has not imported already.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pellucid.arrays import AnyArray
from pellucid.data.frames.frame import Frame
from pellucid.data.frames.numpy import NumpyFrame
from pellucid.data.frames.records import RecordsFrame
from pellucid.data.frames.sparse import SparseFrame
from pellucid.errors import InputError
from pellucid.words import kind_of


def library_of(value: object) -> set[str]:
    """Top-level modules of the classes a value is made of."""
    return {cls.__module__.partition(".")[0] for cls in type(value).__mro__}


def is_series(value: Any) -> bool:
    """Whether a value is a pandas Series: one row, whose labels are names of features."""
    return "pandas" in library_of(value) and getattr(value, "ndim", 0) == 1 and hasattr(value, "items")


def check_table(table: Any, feature_names: Sequence[str] | None) -> None:
    """Refuse texts or images in place of a table, and names beside a table that has its own."""
    if _are_texts(table):
        raise InputError(
            "X holds texts, not a table; explain a model of texts with pellucid.TextExplainer(f).shap(text), or give a"
            " table with the texts in one of its columns."
        )
    if isinstance(table, np.ndarray) and table.ndim in (3, 4):
        raise InputError(
            f"X has shape {table.shape}, like images rather than a table; explain a model of images with"
            " pellucid.ImageExplainer(f).shap(image), or give a table with one row per case."
        )
    if feature_names is None or isinstance(table, np.ndarray) or "scipy" in library_of(table):
        return
    own = wrapped(table, feature_names).names
    if own != tuple(feature_names):
        raise InputError(
            f"feature_names= names the columns of a bare matrix, but X has names of its own ({', '.join(own[:3])}"
            f"{', ...' if len(own) > 3 else ''}); leave it out, or rename the columns of X as the model knows them."
        )


def _are_texts(table: Any) -> bool:
    """Whether a value is a text, or a list, array or Series of texts."""
    if isinstance(table, str):
        return True
    if isinstance(table, np.ndarray) or library_of(table) & {"pandas", "polars", "pyarrow"}:
        return getattr(table, "ndim", 1 if hasattr(table, "to_list") else 2) == 1 and _are_texts(list(table[:3]))
    return isinstance(table, list | tuple) and len(table) > 0 and all(isinstance(text, str) for text in table[:3])


def as_frame(table: Any, feature_names: Sequence[str] | None = None) -> Frame:
    """Wrap a table of any supported kind; the table itself is left alone."""
    frame = wrapped(table, feature_names)
    if not len(frame.names):
        raise InputError("X has no columns; give a table with at least one feature.")
    if not len(frame):
        raise InputError("X has no rows; give at least one row of reference data.")
    return frame


def wrapped(table: Any, feature_names: Sequence[str] | None) -> Frame:
    """The same, also of a table without rows or columns."""
    if isinstance(table, Frame):
        return table
    libraries = library_of(table)
    if "pandas" in libraries:
        return _wrap_pandas(table)
    if "polars" in libraries:
        return _wrap_polars(table)
    if "pyarrow" in libraries:
        return _wrap_arrow(table)
    if "scipy" in libraries and hasattr(table, "tocsr"):
        return SparseFrame(table, feature_names)
    if isinstance(table, np.ndarray):
        return _wrap_array(table, feature_names)
    if isinstance(table, Sequence) and not isinstance(table, str):
        rows = [dict(row.items()) if is_series(row) else row for row in table]
        if any(isinstance(row, Mapping) for row in rows):
            return RecordsFrame.from_dicts(rows)
        return NumpyFrame(_matrix_of(table), feature_names)
    raise InputError(
        f"X is {kind_of(table)}; give a pandas, polars or pyarrow table, a numpy array, a scipy sparse matrix"
        " or a list of dicts."
    )


def _wrap_pandas(table: Any) -> Frame:
    from pellucid.data.frames.pandas import PandasFrame

    if getattr(table, "ndim", 0) != 2:
        raise InputError(f"X is a pandas {type(table).__name__}; give a DataFrame (series.to_frame() for one feature).")
    return PandasFrame(table)


def _wrap_polars(table: Any) -> Frame:
    import polars as pl

    from pellucid.data.frames.polars import PolarsFrame

    if isinstance(table, pl.LazyFrame):
        raise InputError("X is a polars LazyFrame; call .collect() first.")
    if not isinstance(table, pl.DataFrame):
        raise InputError(f"X is a polars {type(table).__name__}; give a DataFrame (series.to_frame() for one feature).")
    return PolarsFrame(table)


def _wrap_arrow(table: Any) -> Frame:
    import pyarrow as pa

    from pellucid.data.frames.arrow import ArrowFrame

    if isinstance(table, pa.RecordBatch):
        table = pa.Table.from_batches([table])
    if not isinstance(table, pa.Table):
        raise InputError(f"X is a pyarrow {type(table).__name__}; give a Table.")
    return ArrowFrame(table)


def _wrap_array(array: AnyArray, feature_names: Sequence[str] | None) -> Frame:
    if isinstance(array, np.ma.MaskedArray):
        raise InputError("X is a masked array; fill the masked values first, as in X.filled(np.nan).")
    if array.dtype.names:
        return RecordsFrame.from_structured(array)
    return NumpyFrame(np.asarray(array), feature_names)


def _matrix_of(rows: Sequence[Any]) -> AnyArray:
    """A list of rows as a matrix; numbers beside strings stay numbers."""
    try:
        matrix = np.asarray(rows)
    except ValueError:
        raise InputError("the rows of X differ in length; give every row the same features.") from None
    return np.asarray(rows, dtype=object) if matrix.dtype.kind in "US" else matrix


def convert(frame: Frame, kind: str) -> Frame:
    """The same data as another kind of table."""
    if frame.kind == kind:
        return frame
    if kind == "numpy":
        return NumpyFrame(_to_matrix(frame), frame.names)
    if kind == "pandas":
        return _to_pandas(frame)
    raise InputError(f"cannot turn a {frame.kind} table into {kind}.")


def _to_matrix(frame: Frame) -> AnyArray:
    """A matrix of numbers, or of objects where a column holds none."""
    if frame.kind == "sparse":
        return np.asarray(frame.native.toarray())
    columns = [_tight_column(frame, j) for j in range(len(frame.names))]
    if all(column.dtype.kind in "biuf" for column in columns):
        matrix = np.stack(columns, axis=1)
        return matrix.astype(np.int64) if matrix.dtype.kind == "b" else matrix
    return np.stack([column.astype(object) for column in columns], axis=1)


def _tight_column(frame: Frame, j: int) -> AnyArray:
    """A numpy column of the narrowest sort that holds the values: its own dtype, whole numbers, or plain."""
    native = frame.native_column(j)
    if isinstance(native, np.ndarray) and native.dtype != object:
        return native
    kind, values = frame.column_type(j).kind, frame.values(j)
    if kind in ("integer", "boolean") and not np.isnan(values).any():
        return values.astype(np.int64 if kind == "integer" else np.bool_)
    return values


def _to_pandas(frame: Frame) -> Frame:
    import pandas as pd

    from pellucid.data.frames.pandas import PandasFrame

    names = list(frame.names)
    if frame.kind == "arrow":
        table = frame.native.to_pandas(date_as_object=False, ignore_metadata=True)
    elif frame.kind == "polars":
        table = frame.native.to_pandas()
    elif frame.kind == "sparse":
        table = pd.DataFrame.sparse.from_spmatrix(frame.native)
    elif frame.kind == "numpy" and frame.native.dtype != object:
        table = pd.DataFrame(frame.native)
    else:
        table = pd.DataFrame({j: _tight_column(frame, j) for j in range(len(names))})
    table.columns = names
    return PandasFrame(table)
