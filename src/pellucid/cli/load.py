"""From paths to a model and a table."""

from __future__ import annotations

import glob
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pellucid.errors import InputError, nearest, require

if TYPE_CHECKING:
    import pandas as pd

    from pellucid.models.adapter import Adapter

_PARQUET = (".parquet", ".pq")
_CSV = (".csv", ".csv.gz", ".csv.bz2", ".csv.xz", ".csv.zst", ".tsv")


def load(model: Path, data: str, *, trust: bool, encoding: str = "utf-8") -> tuple[Adapter, pd.DataFrame]:
    """The model, ready to be asked, and the whole table."""
    from pellucid.models.files import load_model
    from pellucid.models.registry import adapt

    loaded = load_model(model, trust=trust)
    return adapt(loaded), read_table(data, encoding)


def read_table(data: str, encoding: str = "utf-8") -> pd.DataFrame:
    """CSV or Parquet: a file, all such files of a folder, or those of a pattern, one below the other."""
    import pandas as pd

    parts = [_read(path, encoding) for path in _paths(data)]
    for part in parts[1:]:
        if list(part.columns) != list(parts[0].columns):
            raise InputError(f"the files of {data!r} have different columns; give files of one table.")
    table = parts[0] if len(parts) == 1 else pd.concat(parts, ignore_index=True)
    if len(table) == 0:
        raise InputError(f"{data!r} has no rows; give a table with at least one row of data.")
    twice = table.columns[table.columns.duplicated()]
    if len(twice):
        raise InputError(f"{data!r} has the column {str(twice[0])!r} twice; rename one of them.")
    return table


def _paths(data: str) -> list[Path]:
    given = Path(data)
    if given.is_file():
        return [given]
    found = sorted(given.iterdir()) if given.is_dir() else [Path(name) for name in sorted(glob.glob(data))]
    paths = [path for path in found if path.is_file() and _reader(path) is not None]
    if paths:
        return paths
    if given.is_dir():
        raise InputError(f"the folder {data!r} holds no CSV or Parquet file; give one that does.")
    raise InputError(f"there is no data file {data!r}; give a CSV or Parquet file, a folder, or a pattern in quotes.")


def _reader(path: Path) -> Callable[[Path, str], Any] | None:
    name = path.name.lower()
    if name.endswith(_PARQUET):
        return _read_parquet
    return _read_csv if name.endswith(_CSV) else None


def _read(path: Path, encoding: str) -> Any:
    reader = _reader(path)
    if reader is None:
        raise InputError(f"{str(path)!r} is no table that can be read; give a file that ends in .csv or .parquet.")
    try:
        return reader(path, encoding)
    except InputError:
        raise
    except LookupError:
        raise InputError(
            f"--encoding {encoding!r} is not known; give one such as utf-8, latin-1, cp1252 or utf-16."
        ) from None
    except UnicodeError as error:
        raise InputError(
            f"{str(path)!r} is not written in {encoding}; name its encoding, such as --encoding cp1252 (Windows),"
            " latin-1 or utf-16."
        ) from error
    except ValueError as error:  # what pandas and pyarrow raise for a broken file
        first = next(iter(str(error).splitlines()), "")[:200]
        raise InputError(
            f"{str(path)!r} cannot be read as {path.suffix.lstrip('.')} ({first}); check the file."
        ) from error


def _read_parquet(path: Path, encoding: str) -> Any:
    del encoding  # the file says it
    require("pyarrow", extra="arrow", purpose="reading Parquet")
    import pandas as pd

    return pd.read_parquet(path)


def _read_csv(path: Path, encoding: str) -> Any:
    import pandas as pd
    from pandas.errors import EmptyDataError

    read = partial(pd.read_csv, path, sep="\t" if ".tsv" in path.name.lower() else ",", encoding=encoding)
    try:
        header = read(header=None, nrows=1, dtype=str).iloc[0]  # as it stands: pandas gives equal names a number
        twice = header[header.duplicated() & header.notna()]
        if len(twice):
            raise InputError(f"{str(path)!r} has the column {twice.iloc[0]!r} twice; rename one of them.")
        return read(low_memory=False)
    except EmptyDataError:
        raise InputError(
            f"{str(path)!r} is empty; give a table with a line of column names and rows below it."
        ) from None


def check_row(row: Sequence[int] | None, rows: int | None) -> None:
    """Refuse to pick rows of a table of which only a random part is kept."""
    if row and rows is not None:
        raise InputError(
            "--row counts the rows of the whole table, of which --rows keeps a random sample; leave one of them out."
        )


def sampled(table: pd.DataFrame, rows: int | None, seed: int) -> pd.DataFrame:
    """A random sample of the rows in their own order, or all of them."""
    if rows is None or rows >= len(table):
        return table
    import numpy as np

    kept = np.sort(np.random.default_rng(seed).permutation(len(table))[:rows])
    return table.iloc[kept].reset_index(drop=True)


def row_ids(adapter: Adapter, X: pd.DataFrame, table: pd.DataFrame, column: str | None) -> tuple[pd.DataFrame, Any]:
    """The features without the column of ids, and the ids (None without such a column)."""
    if column is None:
        return X, None
    if column not in table.columns:
        names = [str(name) for name in table.columns]
        raise InputError(f"the data have no column {column!r} for --id{nearest(column, names)}")
    ids = table[column].tolist()
    return (X if column in (adapter.feature_names or ()) else X.drop(columns=column, errors="ignore")), ids


def by_name(option: str, text: str | None) -> dict[str, str] | None:
    """``temp=Temperature,hum=Humidity`` as a dict."""
    if text is None:
        return None
    pairs = [part.partition("=") for part in text.split(",")]
    wrong = [part for part in pairs if not (part[0].strip() and part[2].strip())]
    if wrong:
        raise InputError(f"{option} has {''.join(wrong[0])!r}; write column=name, with commas between.")
    return {name.strip(): word.strip() for name, _, word in pairs}


def split_target(
    adapter: Adapter, table: pd.DataFrame, target: str | None, identifier: str | None = None, *, scored: bool = True
) -> tuple[pd.DataFrame, Any, list[str]]:
    """Features, outcome (None without a target), and notes on what was left out.

    Where nothing is ``scored``, the target is called outcome, and nothing is missed without it.
    """
    notes = []
    if target is None:
        X, y = table, None
        if scored:
            notes.append("no --target: the model is not scored, and importance is how much predictions change.")
    else:
        option = "--target" if scored else "--outcome"
        X, y = table.drop(columns=target, errors="ignore"), _outcome(adapter, table, target, option)
    extra = _unknown(adapter, X)
    if len(extra) == X.shape[1]:
        raise InputError("the data have no column that the model knows; check that they belong to this model.")
    named = [name for name in extra if name != identifier]
    if named:
        from pellucid.words import listed

        them = "it" if len(named) == 1 else "them"
        notes.append(f"left out, because the model does not know {them}: {listed(named)}.")
    return X.drop(columns=extra), y, notes


def _outcome(adapter: Adapter, table: pd.DataFrame, target: str, option: str) -> Any:
    if target not in table.columns:
        names = [str(name) for name in table.columns]
        raise InputError(f"the data have no column {target!r} for {option}{nearest(target, names)}")
    if target in (adapter.feature_names or ()):
        raise InputError(
            f"the model was trained with {target!r} as a feature; give {option} the column of the outcome."
        )
    y = table[target]
    missing = y.isna()
    if missing.any():
        raise InputError(
            f"the outcome {target!r} is missing in {int(missing.sum())} of {len(y)} rows, first in row"
            f" {int(missing.to_numpy().argmax()) + 1}; remove these rows, or leave {option} out."
        )
    return y


def _unknown(adapter: Adapter, X: pd.DataFrame) -> list[str]:
    """Columns that a model with names of its own was not trained with."""
    if adapter.feature_names is None:
        return []
    known = set(adapter.feature_names)
    rewrite = adapter.canonical or str
    return [str(name) for name in X.columns if str(name) not in known and rewrite(str(name)) not in known]
