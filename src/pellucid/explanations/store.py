"""Explanations as JSON and back, exactly: every float64 returns bit for bit, nothing is pickled.

JSON has no NaN and no infinity, so in arrays they are written as null and as strings.
"""

from __future__ import annotations

import csv
import dataclasses
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from pellucid.arrays import AnyArray, frozen
from pellucid.data.frames.frame import is_missing
from pellucid.errors import InputError, require
from pellucid.later import Later

FORMAT = 1
T = TypeVar("T", bound=type)
_KINDS: dict[str, type] = {}


def stored(cls: T) -> T:
    """Class decorator: instances can be written to JSON and read back."""
    _KINDS[cls.__name__] = cls
    return cls


def encode(value: Any) -> Any:
    """A value as plain JSON data."""
    value = value.value if isinstance(value, Later) else value
    if isinstance(value, np.ndarray):
        return {
            "__array__": str(value.dtype),
            "shape": list(value.shape),
            "data": [_cell(cell) for cell in _cells(value)],
        }
    if isinstance(value, np.generic):
        value = value.item() if not isinstance(value, np.datetime64) else {"__date__": str(value)}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: encode(getattr(value, field.name)) for field in dataclasses.fields(value)}
        return {"__kind__": type(value).__name__, **fields}
    if isinstance(value, tuple) or (isinstance(value, Sequence) and not isinstance(value, str | bytes | list | range)):
        return {"__tuple__": [encode(item) for item in value]}
    if isinstance(value, list):
        return [encode(item) for item in value]
    if isinstance(value, dict):
        return {str(key): encode(item) for key, item in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return {"__float__": str(value)}
    if value is None or isinstance(value, str | int | float | bool):
        return value
    return str(value)


def _cells(array: AnyArray) -> list[Any]:
    if array.dtype.kind == "M":
        return [None if text == "NaT" else text for text in array.ravel().astype(str).tolist()]
    cells: list[Any] = array.ravel().tolist()
    return cells


def _cell(cell: Any) -> Any:
    if isinstance(cell, float) and not math.isfinite(cell):
        return None if math.isnan(cell) else str(cell)
    return cell if cell is None or isinstance(cell, str | int | float | bool) else str(cell)


def decode(value: Any) -> Any:
    """The inverse of `encode`."""
    if isinstance(value, list):
        return [decode(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "__array__" in value:
        return frozen(_array(value["__array__"], value["shape"], value["data"]))
    if "__tuple__" in value:
        return tuple(decode(item) for item in value["__tuple__"])
    if "__float__" in value:
        return float(value["__float__"])
    if "__date__" in value:
        text = value["__date__"]
        return np.datetime64(text, "us") if text == "NaT" else np.datetime64(text)
    if "__kind__" in value:
        fields = {key: decode(item) for key, item in value.items() if key != "__kind__"}
        if value["__kind__"] not in _KINDS:
            raise InputError(
                f"the file holds a {value['__kind__']!r}, which this version of pellucid does not know; update"
                " pellucid."
            )
        return _KINDS[value["__kind__"]](**fields)
    return {key: decode(item) for key, item in value.items()}


def _array(dtype: str, shape: list[int], cells: list[Any]) -> AnyArray:
    if dtype == "object":
        array = np.empty(len(cells), dtype=object)
        array[:] = cells
    elif dtype.startswith("float"):
        array = np.array([math.nan if cell is None else float(cell) for cell in cells], dtype=dtype)
    elif dtype.startswith("datetime64"):
        array = np.array(["NaT" if cell is None else cell for cell in cells], dtype=dtype)
    else:
        array = np.array(cells, dtype=dtype)
    return array.reshape(shape)


def save(explanation: Any, path: str | Path) -> Path:
    """Write one explanation as JSON or, by the ending of the path, as Parquet, or its table alone as CSV."""
    target = Path(path)
    if target.suffix == ".csv":
        return _save_csv(explanation.columns(), target)
    if target.suffix not in ("", ".json", ".parquet"):
        raise InputError(
            f"{target.name!r} ends in {target.suffix!r}; a result is saved as .json or .parquet (pellucid.load reads"
            " them), its table as .csv, and its chart with .plot().save(path)."
        )
    document = {"format": FORMAT, "explanation": encode(explanation)}
    if target.suffix == ".parquet":
        _save_parquet(document, target)
    else:
        target.write_text(json.dumps(document, ensure_ascii=False, allow_nan=False), encoding="utf-8")
    return target


def load(path: str | Path) -> Any:
    """Read an explanation that was written by ``.save(path)``.

    >>> import pellucid  # doctest: +SKIP
    >>> effect = pellucid.load("effect.json")  # doctest: +SKIP
    """
    source = Path(path)
    if not source.exists():
        raise InputError(f"there is no file {str(path)!r}.")
    if source.suffix == ".csv":
        raise InputError(
            f"{str(path)!r} holds the table of a result alone; save as .json or .parquet what is to be loaded."
        )
    document = _load_parquet(source) if source.suffix == ".parquet" else _load_json(source)
    if not isinstance(document, dict) or "explanation" not in document:
        raise InputError(f"{str(path)!r} is not a saved explanation; write one with explanation.save(path).")
    if document.get("format") != FORMAT:
        raise InputError(
            f"{str(path)!r} has format {document.get('format')}, this version of pellucid reads format {FORMAT}; update"
            " pellucid."
        )
    return decode(document["explanation"])


def _load_json(source: Path) -> Any:
    try:
        return json.loads(source.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError):
        raise InputError(
            f"{str(source)!r} is not a saved explanation (it is not JSON); write one with explanation.save(path)."
        ) from None


def _save_csv(columns: dict[str, AnyArray], target: Path) -> Path:
    """One line per row of the table, numbers in full; what is missing is empty."""
    cells = [["" if is_missing(cell) else cell for cell in column.tolist()] for column in columns.values()]
    with target.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(columns)
        lines.writerows(zip(*cells, strict=True))
    return target


def _save_parquet(document: Any, target: Path) -> None:
    """Numeric arrays become columns of one row; the rest is JSON beside them."""
    pa = require("pyarrow", extra="arrow", purpose="saving as Parquet")
    require("pyarrow.parquet", extra="arrow", purpose="saving as Parquet")
    columns: list[list[float]] = []

    def take_arrays(node: Any) -> Any:
        if isinstance(node, dict) and str(node.get("__array__", "")).startswith("float"):
            columns.append([math.nan if cell is None else float(cell) for cell in node["data"]])
            return {**node, "data": len(columns) - 1}
        if isinstance(node, dict):
            return {key: take_arrays(item) for key, item in node.items()}
        return [take_arrays(item) for item in node] if isinstance(node, list) else node

    rest = json.dumps(take_arrays(document), ensure_ascii=False)
    table = pa.table(
        {
            "document": [rest],
            **{f"array_{k}": pa.array([column], pa.list_(pa.float64())) for k, column in enumerate(columns)},
        }
    )
    pa.parquet.write_table(table, target)


def _load_parquet(source: Path) -> Any:
    require("pyarrow", extra="arrow", purpose="reading Parquet")
    parquet = require("pyarrow.parquet", extra="arrow", purpose="reading Parquet")
    table = parquet.read_table(source)
    if "document" not in table.column_names:
        return None
    document = json.loads(table.column("document")[0].as_py())

    def put_arrays(node: Any) -> Any:
        if isinstance(node, dict) and isinstance(node.get("data"), int):
            return {**node, "data": table.column(f"array_{node['data']}")[0].as_py()}
        if isinstance(node, dict):
            return {key: put_arrays(item) for key, item in node.items()}
        return [put_arrays(item) for item in node] if isinstance(node, list) else node

    return put_arrays(document)
