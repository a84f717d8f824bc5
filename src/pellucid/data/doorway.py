"""Which frame a user's table becomes, and how one kind of table turns into another.

Libraries are recognised by the module their classes come from, so nothing is imported that the caller
has not imported already.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pellucid.arrays import AnyArray
from pellucid.data.frame import Frame
from pellucid.data.numpy_frame import NumpyFrame, RecordsFrame, SparseFrame
from pellucid.errors import InputError


def library_of(value: object) -> set[str]:
    """Top-level modules of the classes a value is made of."""
    return {cls.__module__.partition(".")[0] for cls in type(value).__mro__}


def as_frame(table: Any, feature_names: Sequence[str] | None = None) -> Frame:
    """Wrap a table of any supported kind; the table itself is left alone."""
    frame = _wrap(table, feature_names)
    if not len(frame.names):
        raise InputError("X has no columns; give a table with at least one feature.")
    if not len(frame):
        raise InputError("X has no rows; give at least one row of reference data.")
    return frame


def _wrap(table: Any, feature_names: Sequence[str] | None) -> Frame:
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
        return (
            RecordsFrame.from_structured(table) if table.dtype.names else NumpyFrame(table, feature_names)
        )
    if isinstance(table, Sequence) and table and isinstance(table[0], Mapping):
        return RecordsFrame.from_dicts(table)
    if isinstance(table, Sequence) and not isinstance(table, str):
        return NumpyFrame(np.asarray(table), feature_names)
    raise InputError(
        f"X is a {type(table).__name__}; give a pandas, polars or pyarrow table, a numpy array, a scipy sparse matrix or a list of dicts."
    )


def _wrap_pandas(table: Any) -> Frame:
    from pellucid.data.pandas_frame import PandasFrame

    if table.ndim != 2:
        raise InputError("X is a pandas Series; give a DataFrame (series.to_frame() for one feature).")
    return PandasFrame(table)


def _wrap_polars(table: Any) -> Frame:
    from pellucid.data.polars_frame import PolarsFrame

    if hasattr(table, "collect"):
        raise InputError("X is a polars LazyFrame; call .collect() first.")
    return PolarsFrame(table)


def _wrap_arrow(table: Any) -> Frame:
    import pyarrow as pa

    from pellucid.data.arrow_frame import ArrowFrame

    return ArrowFrame(pa.Table.from_batches([table]) if isinstance(table, pa.RecordBatch) else table)


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
    if frame.kind == "pandas":
        return np.asarray(frame.native.to_numpy())
    kinds = [frame.column_type(j).kind for j in range(len(frame.names))]
    columns = [frame.values(j) for j in range(len(frame.names))]
    if all(kind in ("integer", "boolean") for kind in kinds) and not any(
        np.isnan(c).any() for c in columns
    ):
        return np.column_stack([column.astype(np.int64) for column in columns])
    if all(kind in ("numeric", "integer", "boolean") for kind in kinds):
        return np.column_stack(columns)
    matrix = np.empty((len(frame), len(columns)), dtype=object)
    for j, column in enumerate(columns):
        matrix[:, j] = column
    return matrix


def _to_pandas(frame: Frame) -> Frame:
    import pandas as pd

    from pellucid.data.pandas_frame import PandasFrame

    if frame.kind in ("polars", "arrow"):
        table = frame.native.to_pandas()
        table.columns = list(frame.names)
        return PandasFrame(table)
    if frame.kind == "sparse":
        return PandasFrame(pd.DataFrame.sparse.from_spmatrix(frame.native, columns=list(frame.names)))
    if frame.kind == "numpy":
        table = pd.DataFrame(frame.native, columns=list(frame.names))
        return PandasFrame(table.infer_objects() if frame.native.dtype == object else table)
    columns = {name: frame.native_column(j) for j, name in enumerate(frame.names)}
    return PandasFrame(pd.DataFrame(columns).infer_objects())
