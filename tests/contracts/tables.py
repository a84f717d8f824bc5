"""One table in every kind of dataframe, and one model that reads them all."""

from typing import Any

import numpy as np

N = 90
NAMES = ("temp", "hum", "season", "work", "day")
SEASONS = ("winter", "spring", "summer", "fall")
_PLACES = {level: place for place, level in enumerate(SEASONS)}


def columns(n: int = N, seed: int = 0) -> dict[str, np.ndarray]:
    """Correlated, with ties, a category, a boolean and an integer."""
    rng = np.random.default_rng(seed)
    temp = rng.normal(12, 8, n).round(1)
    season = np.array(SEASONS, dtype=object)[np.clip((temp + 5) // 10, 0, 3).astype(int)]
    return {
        "temp": temp,
        "hum": (60 + 0.8 * temp + rng.normal(0, 10, n)).round(2),
        "season": season,
        "work": rng.random(n) < 0.7,
        "day": rng.integers(0, 30, n),
    }


def as_pandas(table: dict[str, np.ndarray]) -> Any:
    import pandas as pd

    return pd.DataFrame({name: column.tolist() if column.dtype == object else column for name, column in table.items()})


def as_pandas_category(table: dict[str, np.ndarray]) -> Any:
    import pandas as pd

    return as_pandas(table).assign(season=pd.Categorical(table["season"], categories=sorted(SEASONS)))


def as_polars(table: dict[str, np.ndarray]) -> Any:
    import polars as pl

    return pl.DataFrame({name: column.tolist() for name, column in table.items()})


def as_arrow(table: dict[str, np.ndarray]) -> Any:
    import pyarrow as pa

    return pa.table({name: column.tolist() for name, column in table.items()})


def as_records(table: dict[str, np.ndarray]) -> Any:
    lists = {name: column.tolist() for name, column in table.items()}
    return [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)]


def as_structured(table: dict[str, np.ndarray]) -> Any:
    out = np.empty(len(table["temp"]), dtype=[(name, column.dtype) for name, column in table.items()])
    for name, column in table.items():
        out[name] = column
    return out


def as_objects(table: dict[str, np.ndarray]) -> Any:
    """A numpy matrix of objects: mixed columns without names."""
    return np.column_stack([column.astype(object) for column in table.values()])


KINDS = {
    "pandas": as_pandas,
    "pandas category": as_pandas_category,
    "polars": as_polars,
    "arrow": as_arrow,
    "records": as_records,
    "structured": as_structured,
    "numpy": as_objects,
}


def read(table: Any, name: str) -> np.ndarray:
    """A column of any kind of table as a numpy array."""
    if isinstance(table, np.ndarray):
        return table[name] if table.dtype.names else table[:, NAMES.index(name)]
    if isinstance(table, list):
        return np.array([row.get(name) for row in table], dtype=object)
    column = table[name]
    return np.asarray(column.to_pylist() if hasattr(column, "to_pylist") else column.to_numpy())


def model(table: Any) -> np.ndarray:
    """A function with main effects and an interaction, the same for every kind of table."""
    temp = read(table, "temp").astype(float)
    hum = read(table, "hum").astype(float)
    season = np.array(list(map(_PLACES.__getitem__, read(table, "season").tolist())), dtype=float)
    work = read(table, "work").astype(float)
    day = read(table, "day").astype(float)
    return 100 + 8 * temp - 0.2 * temp**2 - 0.5 * hum + 12 * season + 0.1 * temp * hum * work + np.sin(day)


def outcome(table: Any) -> np.ndarray:
    return model(table) + np.random.default_rng(1).normal(0, 5, len(read(table, "temp")))
