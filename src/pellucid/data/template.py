"""The form of a table without its rows: library, names and types as words that a file can hold, and back.

A type that words do not describe (intervals, decimals, structured arrays) is refused with the column's name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from pellucid.arrays import AnyArray
from pellucid.checks import is_position
from pellucid.data.cells import objects
from pellucid.data.frames.doorway import as_frame
from pellucid.data.frames.frame import Frame, is_missing
from pellucid.data.schema import Feature
from pellucid.errors import InputError

_LIBRARIES = ("pandas", "polars", "arrow", "numpy", "records")


def type_words(frame: Frame) -> list[str]:
    """The type of each column in words."""
    if frame.kind not in _LIBRARIES or (frame.kind == "records" and not isinstance(frame.native, list)):
        raise InputError(
            f"rows cannot be generated for a {frame.kind} table of this sort; give a data frame or a dense matrix."
        )
    if frame.kind == "records":
        return ["object"] * len(frame.names)
    if frame.kind == "numpy":
        return [str(frame.native.dtype)] * len(frame.names)
    if frame.kind == "arrow":
        return [str(field.type) for field in frame.native.schema]
    return [str(dtype) for dtype in frame.native.dtypes]


def column_labels(frame: Frame) -> list[str | int]:
    """What the columns are called: pandas may number them."""
    if frame.kind != "pandas":
        return list(frame.names)
    return [int(label) if is_position(label) else str(label) for label in frame.native.columns]


def template(
    library: str,
    labels: Sequence[str | int],
    words: Sequence[str],
    features: Sequence[Feature],
    rows: Sequence[AnyArray],
) -> Frame:
    """A table of that library with columns of those types, from codes of the features."""
    try:
        columns = [
            _MAKERS[library](word, feature, feature.decode(codes))
            for word, feature, codes in zip(words, features, rows, strict=True)
        ]
    except (TypeError, ValueError, AttributeError, KeyError, NotImplementedError) as error:
        raise InputError(
            f"one of the types {sorted(set(words))} cannot be described in a file ({error}); convert it to numbers,"
            " text, dates or categories."
        ) from error
    return as_frame(
        _table(library, list(labels), columns, words),
        [feature.name for feature in features] if library == "numpy" else None,
    )


def _table(library: str, names: list[Any], columns: list[Any], words: Sequence[str]) -> Any:
    if library == "numpy":
        return np.stack(columns, axis=1).astype(words[0])
    if library == "records":
        return [dict(zip(names, row, strict=True)) for row in zip(*(c.tolist() for c in columns), strict=True)]
    if library == "polars":
        import polars as pl

        return pl.DataFrame([column.alias(name) for name, column in zip(names, columns, strict=True)])
    if library == "arrow":
        import pyarrow as pa

        return pa.table(columns, names=names)
    import pandas as pd

    table = pd.DataFrame(dict(enumerate(columns)))
    table.columns = names
    return table


def _cells(feature: Feature, values: AnyArray) -> list[Any]:
    """Values as Python objects, missing ones as None."""
    cells = values.tolist()
    if feature.kind == "integer":
        cells = [cell if is_missing(cell) else int(cell) for cell in cells]
    if feature.kind == "boolean":
        cells = [cell if is_missing(cell) else bool(cell) for cell in cells]
    return [None if is_missing(cell) else cell for cell in cells]


def _array(word: str, feature: Feature, values: AnyArray) -> AnyArray:
    return objects(_cells(feature, values)) if word == "object" else values


def _pandas(word: str, feature: Feature, values: AnyArray) -> Any:
    import pandas as pd

    if word == "category":
        dtype = pd.CategoricalDtype(list(feature.categories or ()), ordered=feature.kind == "ordered")
        return pd.Series(values, dtype=dtype)
    return pd.Series(objects(_cells(feature, values)), dtype=object).astype(word)


def _polars(word: str, feature: Feature, values: AnyArray) -> Any:
    import polars as pl

    stamp = re.fullmatch(r"Datetime\(time_unit='(\w+)', time_zone=(None|'(.+)')\)", word)
    if word.startswith("Enum"):
        dtype: Any = pl.Enum([str(label) for label in feature.categories or ()])
    elif stamp:
        dtype = pl.Datetime(stamp[1], stamp[3])
    else:
        dtype = getattr(pl, word)
    return pl.Series("", _cells(feature, values), dtype=dtype)


def _arrow(word: str, feature: Feature, values: AnyArray) -> Any:
    import pyarrow as pa

    stamp = re.fullmatch(r"timestamp\[(\w+), tz=(.+)\]", word)
    if word.startswith("dictionary"):
        inside = re.match(r"dictionary<values=(\w+), indices=(\w+),", word)
        value, index = (pa.type_for_alias(part) for part in inside.groups()) if inside else (None, pa.int32())
        levels = pa.array(list(feature.categories or ()), type=value)
        position = {label: code for code, label in enumerate(feature.categories or ())}
        codes = pa.array([position.get(cell) for cell in values.tolist()], type=index)
        return pa.DictionaryArray.from_arrays(codes, levels, ordered=feature.kind == "ordered")
    dtype = pa.timestamp(stamp[1], stamp[2]) if stamp else pa.type_for_alias(word)
    return pa.array(_cells(feature, values), type=dtype)


_MAKERS: dict[str, Any] = {"pandas": _pandas, "polars": _polars, "arrow": _arrow, "numpy": _array, "records": _array}
