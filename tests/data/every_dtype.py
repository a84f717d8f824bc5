"""Tables of every kind with every dtype."""

import datetime as dt
from decimal import Decimal
from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from scipy import sparse

N = 6
NAN = float("nan")
WORDS = ["b", "a", None, "b", "ä", "a"]
DAYS = ["2024-05-01", "1969-12-31", None, "2024-05-01", "2030-01-01", "2000-02-29"]
TIMES = [None if day is None else f"{day}T13:14:15" for day in DAYS]
KEYS = ["age", "word", "day", "ok", 7]
INTS = {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"}


def _datetimes(*, tz=None):
    return [None if time is None else dt.datetime.fromisoformat(time).replace(tzinfo=tz) for time in TIMES]


def pandas_table():
    columns = {name: pd.Series([1, 2, 0, 100, 2, 7], dtype=name) for name in sorted(INTS)}
    columns |= {name.replace("int", "Int").replace("uI", "UI"): None for name in sorted(INTS)}
    for name in list(columns):
        if columns[name] is None:
            columns[name] = pd.Series([1, 2, None, 100, 2, 7], dtype=name)
    columns["int64 wide"] = pd.Series([2**53, -(2**53), 0, 1, 2, 3])
    columns["float16"] = pd.Series([0.5, 2, NAN, 4, 5, 0.5], dtype="float16")
    columns["float32"] = pd.Series([0.1, 2, NAN, 4, 5, 0.1], dtype="float32")
    columns["float64"] = pd.Series([0.1, 2, NAN, 4, 5, 0.1])
    columns["Float32"] = pd.Series([0.1, 2, None, 4, 5, 0.1], dtype="Float32")
    columns["Float64"] = pd.Series([0.1, 2, None, 4, 5, 0.1], dtype="Float64")
    columns["bool"] = pd.Series([True, False, True, True, False, False])
    columns["boolean"] = pd.Series([True, False, None, True, False, False], dtype="boolean")
    columns["object bool"] = pd.Series([True, None, False, True, False, None], dtype=object)
    columns["object words"] = pd.Series(WORDS, dtype=object)
    columns["object words nan"] = pd.Series(["b", "a", NAN, "b", "c", "a"], dtype=object)
    columns["object mixed"] = pd.Series(["b", 1, None, 2.5, dt.date(2024, 1, 1), "a"], dtype=object)
    columns["object ints"] = pd.Series([3, 1, None, 2, 3, 1], dtype=object)
    columns["object numbers"] = pd.Series([3, 1.5, None, 2, 3, 1], dtype=object)
    columns["object decimals"] = pd.Series([Decimal("1.5"), None, *map(Decimal, "1234")], dtype=object)
    columns["object dates"] = pd.Series([dt.date(2024, 1, k + 1) for k in range(5)] + [None], dtype=object)
    columns["object times"] = pd.Series(_datetimes(tz=dt.UTC), dtype=object)
    columns["object stamps"] = pd.Series([pd.NaT if t is None else pd.Timestamp(t) for t in TIMES], dtype=object)
    columns["str"] = pd.Series(WORDS, dtype="str")
    columns["string"] = pd.Series(WORDS, dtype="string")
    columns["string[python]"] = pd.Series(WORDS, dtype="string[python]")
    columns["category"] = pd.Series(pd.Categorical(WORDS, categories=["z", "ä", "b", "a"]))
    columns["ordered"] = pd.Series(pd.Categorical(WORDS, categories=["b", "q", "a", "ä"], ordered=True))
    columns["category ints"] = pd.Series(pd.Categorical([3, 1, None, 3, 2, 1], categories=[2, 3, 1, 9]))
    columns["category floats"] = pd.Series(pd.Categorical([0.5, 1.5, None, 0.5, 0.5, 1.5]))
    columns["category bins"] = pd.Series(pd.cut([1, 2, NAN, 9, 4, 5], [0, 3, 6, 10]))
    columns |= {f"datetime64[{u}]": pd.Series(TIMES, dtype=f"datetime64[{u}]") for u in ("s", "ms", "us", "ns")}
    columns["time zone"] = pd.Series(TIMES, dtype="datetime64[us, UTC]").dt.tz_convert("Europe/Berlin")
    columns["time zone ns"] = pd.Series(TIMES, dtype="datetime64[ns, UTC]").dt.tz_convert("America/New_York")
    columns["sparse"] = pd.Series(pd.arrays.SparseArray([0, 0, 1, 0, 2, 0], fill_value=0))
    columns |= {
        f"{name} in pandas": pd.Series(column, dtype=pd.ArrowDtype(column.type)) for name, column in _arrow().items()
    }
    table = pd.DataFrame(columns)
    table.index = [3, 3, 7, "a", "b", None]  # labels that nobody may rely on
    return table


def polars_table():
    ints = [pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.Int128, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64]
    columns = [pl.Series(str(dtype), [1, 2, None, 100, 2, 7], dtype=dtype) for dtype in ints]
    times, zoned = _datetimes(), _datetimes(tz=dt.UTC)
    columns += [
        pl.Series("Int64 full", [1, 2, 0, 100, 2, 7]),
        pl.Series("Float32", [0.1, 2, None, 4, 5, 0.1], dtype=pl.Float32),
        pl.Series("Float64 null", [0.1, 2, None, 4, 5, 0.1]),
        pl.Series("Float64 NaN", [0.1, 2, NAN, 4, 5, 0.1]),
        pl.Series("Decimal", [Decimal("0.1"), Decimal("2.25"), None, *[Decimal(4)] * 3], dtype=pl.Decimal(10, 2)),
        pl.Series("Boolean", [True, None, False, True, False, False]),
        pl.Series("String", WORDS),
        pl.Series("^S.*$", WORDS),
        pl.Series("^F.*$", [0.1, 2, NAN, 4, 5, 0.1]),
        pl.Series("Categorical", WORDS, dtype=pl.Categorical),
        pl.Series("Enum", WORDS, dtype=pl.Enum(["q", "b", "a", "ä"])),
        pl.Series("Date", [None if t is None else t.date() for t in times]),
        pl.Series("Null", [None] * N),
    ]
    columns += [pl.Series(f"Datetime {u}", times, dtype=pl.Datetime(u)) for u in ("ms", "us", "ns")]
    columns += [pl.Series(f"zone {u}", zoned, dtype=pl.Datetime(u, "Europe/Berlin")) for u in ("us", "ns")]
    return pl.DataFrame(columns)


def _arrow():
    columns = {name: pa.array([1, 2, None, 100, 2, 7], type=getattr(pa, name)()) for name in sorted(INTS)}
    return columns | {
        "float32": pa.array([0.1, 2, None, 4, 5, 0.1], type=pa.float32()),
        "float64": pa.array([0.1, 2, None, 4, 5, 0.1]),
        "float64 full": pa.array([0.1, 2, 3, 4, 5, 0.1]),
        "bool": pa.array([True, None, False, True, False, False]),
        "string": pa.array(WORDS),
        "large_string": pa.array(WORDS, type=pa.large_string()),
        "dictionary": pa.array(WORDS).dictionary_encode(),
        "timestamp s": pa.array(_datetimes(), type=pa.timestamp("s")),
        "timestamp ns": pa.array(_datetimes(), type=pa.timestamp("ns")),
        "timestamp zone": pa.array(_datetimes(tz=dt.UTC), type=pa.timestamp("us", "Europe/Berlin")),
        "date32": pa.array(_datetimes(), type=pa.timestamp("us")).cast(pa.date32(), safe=False),
        "decimal": pa.array([Decimal("0.10"), None, *[Decimal("2.25")] * 4]),
    }


def arrow_table():
    columns = _arrow()
    codes = pa.array([1, 0, None, 1, 2, 0], type=pa.int8())
    columns |= {
        "float64 NaN": pa.array([0.1, 2, NAN, 4, 5, 0.1]),
        "float16": pa.array(np.array([0.5, 2, 3, 4, 5, 0.5], dtype=np.float16)),
        "date64": columns["date32"].cast(pa.date64()),
        "null": pa.nulls(N),
        "ordered": pa.DictionaryArray.from_arrays(codes, ["a", "b", "c", "unused"], ordered=True),
        "dictionary ints": pa.DictionaryArray.from_arrays(codes, pa.array([30, 10, 20])),
    }
    fields = [pa.field(name, column.type, metadata={"of": name}) for name, column in columns.items()]
    return pa.table(list(columns.values()), schema=pa.schema(fields, metadata={"made": "here"}))


def chunked_table():
    """Every column in two chunks, the dictionaries of which differ."""
    first, second = arrow_table(), arrow_table()
    chunks = [pa.array(["a", "b", None]).dictionary_encode(), pa.array(["c", None, "a"]).dictionary_encode()]
    table = pa.concat_tables([first.slice(0, 3), second.slice(3)])
    return table.append_column("two dictionaries", pa.chunked_array(chunks))


def numpy_matrix(dtype):
    if dtype == "object":
        return pandas_table()[["object words", "object mixed", "object ints", "object dates", "object bool"]].to_numpy()
    source = {"U": np.array(WORDS, dtype=str), "M": np.array(DAYS, dtype=dtype) if dtype[0] == "M" else None}
    column = source.get(dtype[0])
    if column is None:
        column = np.array([1, 0, 1, 0, 1, 1] if dtype == "bool" else [1, 2, 0, 100, 2, 7])
    matrix = np.stack([column, column[::-1], np.roll(column, 1)], axis=1).astype(dtype)
    if matrix.dtype.kind == "f":
        matrix[2, 1] = np.nan
    return matrix


def structured_array():
    fields = [("f", "f4"), ("i", "u1"), ("b", "?"), ("w", "U3"), ("d", "M8[s]"), ("o", "O")]
    columns = [numpy_matrix(dtype)[:, 0] for dtype in ("float32", "uint8", "bool", "U3", "M8[s]")]
    rows = list(zip(*columns, WORDS, strict=True))
    return np.array(rows, dtype=np.dtype(fields, align=True))


def record_list():
    rows = [
        {"age": age, "word": word, "day": day, "ok": ok, 7: seven}
        for age, word, day, ok, seven in zip(
            [1.5, 2.0, NAN, 4.0, 5.0, 1.5], "bacbaa", _datetimes(), [True, False] * 3, range(N), strict=True
        )
    ]
    del rows[1]["word"], rows[4]["ok"], rows[0][7]
    return rows


def sparse_matrix(make, dtype):
    dense = np.array([[0, 1, 0], [2, 0, 0], [0, 0, 3], [0, 1, 0], [5, 0, 0], [0, 1, 0]], dtype=dtype)
    if dtype == "float64":
        dense[3, 2], dense[0, 0] = np.nan, -0.5
    return make(dense)


@cache
def every_table():
    dtypes = [*sorted(INTS), "float16", "float32", "float64", "bool", "U3", "M8[s]", "M8[us]", "M8[ns]", "object"]
    tables = {
        "pandas": pandas_table(),
        "pandas one dtype": pd.DataFrame(numpy_matrix("float32"), columns=[5, "a", ("t", 1)]),
        "polars": polars_table(),
        "arrow": arrow_table(),
        "arrow chunked": chunked_table(),
        "structured": structured_array(),
        "recarray": structured_array().view(np.recarray),
        "records": record_list(),
    }
    tables |= {f"numpy {dtype}": numpy_matrix(dtype) for dtype in dtypes}
    makers = [sparse.csr_array, sparse.csr_matrix, sparse.csc_array, sparse.csc_matrix, sparse.coo_array]
    tables |= {f"{make.__name__} {dtype}": sparse_matrix(make, dtype) for make in makers for dtype in ("float64",)}
    return tables | {
        f"csr_array {dtype}": sparse_matrix(sparse.csr_array, dtype) for dtype in ("float32", "int8", "bool")
    }
