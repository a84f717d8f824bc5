"""Generated rows: like the data in shares, quantiles and correlations, and none of the data's own.

Tolerances are 4.5 standard deviations of the estimate, with fixed seeds.
"""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from pellucid.data.sampling.generator import RowGenerator
from pellucid.errors import InputError

Z = 4.5


def people(n=2000, seed=0):
    rng = np.random.default_rng(seed)
    latent = rng.multivariate_normal(np.zeros(3), [[1, 0.7, 0.4], [0.7, 1, 0.3], [0.4, 0.3, 1]], size=n)
    frame = pd.DataFrame(
        {
            "height": 170 + 10 * latent[:, 0],
            "income": np.exp(8 + latent[:, 1]),
            "children": rng.poisson(1.5, n),
            "smokes": latent[:, 2] > 0.8,
            "town": rng.choice(["Ulm", "Bonn", "Kiel"], n, p=[0.5, 0.3, 0.2]),
            "grade": pd.Categorical(rng.choice(["lo", "mid", "hi"], n), ["lo", "mid", "hi"], ordered=True),
            "born": pd.Timestamp("1980-01-01") + pd.to_timedelta(rng.integers(0, 9000, n), unit="D"),
            "visits": pd.array(rng.integers(0, 9, n), dtype="Int64"),
        }
    )
    frame.loc[rng.random(n) < 0.15, "income"] = np.nan
    frame.loc[rng.random(n) < 0.1, "visits"] = pd.NA
    return frame


def test_numbers_have_the_quantiles_of_the_data():
    table = people()
    drawn = RowGenerator.learn(table).sample(4000)
    for name in ("height", "income"):
        there = table[name].dropna()
        for level in (0.05, 0.25, 0.5, 0.75, 0.95):
            share = (drawn[name].dropna() <= there.quantile(level)).mean()
            spread = np.sqrt(level * (1 - level) / (0.8 * len(drawn)))
            assert abs(share - level) <= Z * spread + 0.01  # a hundredth between knots


def test_shares_of_levels_whole_numbers_and_gaps():
    table = people()
    n = 4000
    drawn = RowGenerator.learn(table).sample(n)
    for name in ("children", "smokes", "town", "grade", "visits"):
        for level, share in table[name].value_counts(normalize=True).items():
            if share * len(table) >= 30:
                found = (drawn[name].dropna() == level).mean()
                assert abs(found - share) <= Z * np.sqrt(share * (1 - share) / (0.8 * n)) + 0.005, (name, level)
    for name in table:
        share = table[name].isna().mean()
        assert abs(drawn[name].isna().mean() - share) <= Z * np.sqrt(share * (1 - share) / n)


def test_correlations_are_those_of_the_data():
    table = people()
    n = 4000
    drawn = RowGenerator.learn(table).sample(n)
    some = ["height", "income", "smokes", "children"]
    found, wanted = (t[some].astype(float).corr("spearman").to_numpy() for t in (drawn, table))
    assert np.abs(found - wanted).max() <= Z * (1 / np.sqrt(0.8 * n) + 1 / np.sqrt(0.8 * len(table)))
    assert found[0, 1] > 0.5


def test_no_real_row_and_no_real_value_of_continuous_data_comes_out():
    X = np.random.default_rng(0).normal(size=(500, 3))
    generator = RowGenerator.learn(X)
    drawn = generator.sample(5000)
    assert np.intersect1d(drawn, X).size == 0
    stored = np.array([column["values"] for column in generator.description["columns"]])
    assert np.intersect1d(stored, X).size == 0
    assert (drawn.max(axis=0) < X.max(axis=0)).all()
    assert (drawn.min(axis=0) > X.min(axis=0)).all()
    top = np.sort(X, axis=0)[-10:].mean(axis=0)
    np.testing.assert_allclose(stored[:, -1], top, atol=1e-3)
    assert stored.shape[1] == 51  # 500 rows, ten to a knot


def test_knots_are_at_most_101_and_rounded():
    X = np.random.default_rng(0).uniform(0, 1000, size=(5000, 1))
    (column,) = RowGenerator.learn(X).description["columns"]
    assert len(column["values"]) == 101
    assert all(value == round(value, 2) for value in column["values"])
    assert any(value != round(value, 1) for value in column["values"])


def heavy():
    rng = np.random.default_rng(0)
    return {
        "one outlier": np.append(rng.normal(50, 5, 60), 1e6),
        "outliers on both sides": np.r_[-1e9, rng.normal(50, 5, 200), 1e12],
        "lognormal": rng.lognormal(0, 8, 700),
        "minus lognormal": -rng.lognormal(0, 8, 700),
        "far from zero": 1e9 + rng.normal(0, 1e-3, 300),
        "tied": np.where(rng.random(300) < 0.4, 0.123456789, rng.lognormal(0, 4, 300)),
    }


@pytest.mark.parametrize("case", heavy())
@pytest.mark.parametrize("least", [2, 10])
def test_each_knot_is_near_its_mean_for_its_neighbourhood_also_with_heavy_tails(case, least):
    """The slow twin: means of neighbours, and no knot further from its own than a hundredth of the nearer gap."""
    x = np.sort(heavy()[case])
    generator = RowGenerator.learn(pd.DataFrame({"s": x}), least=least)
    (column,) = generator.description["columns"]
    if least == 2 and case == "one outlier":
        assert len(column["values"]) == 31
    means = []
    for share in column["upper"]:
        middle = next(k for k in range(len(x)) if k + 1 >= share * len(x) * (1 - 1e-12))
        start = min(max(middle - least // 2, 0), len(x) - least)
        means.append(sum(x[start : start + least] - x[start]) / least + x[start])
    distinct = sorted(set(means))
    for told, mean in zip(column["values"], means, strict=True):
        gap = min(abs(mean - other) for other in distinct if other != mean)
        assert abs(told - mean) <= gap / 100 * (1 + 1e-6) + 2 * np.spacing(abs(mean))
    assert sorted(column["values"]) == column["values"]
    drawn = generator.sample(500)["s"]
    assert drawn.min() >= x[:least].mean() - 1e-12 * abs(x[0])
    assert drawn.max() <= x[-least:].mean() + 1e-12 * abs(x[-1])
    assert drawn.min() >= x[0]
    assert drawn.max() <= x[-1]


def test_a_value_that_many_rows_share_is_kept_between_the_knots():
    x = np.where(np.arange(300) < 120, 0.123456789, np.random.default_rng(0).lognormal(1, 1, 300))
    drawn = RowGenerator.learn(pd.DataFrame({"s": x})).sample(2000)["s"]
    assert abs((drawn == 0.123456789).mean() - 0.4) <= Z * np.sqrt(0.24 / 2000) + 0.04


@pytest.mark.parametrize("least", [2, 3, 10])
def test_the_outermost_whole_numbers_and_days_are_not_told(least):
    day = pd.Timestamp("2024-03-01")
    table = pd.DataFrame({"k": range(100), "at": day + pd.to_timedelta(np.arange(100), unit="D")})
    generator = RowGenerator.learn(table, least=least)
    trimmed = (least - 1) / 2  # the mean of 0, 1, ..., least - 1
    stored = generator.description["columns"][0]["values"]
    assert stored[0] == np.ceil(trimmed)
    assert stored[-1] == np.floor(99 - trimmed)
    drawn = generator.sample(1000)
    assert drawn["k"].between(stored[0], stored[-1]).all()
    days = (drawn["at"] - day).dt.days
    assert days.min() == stored[0]
    assert days.max() == stored[-1]


def test_whole_numbers_without_another_between_the_means_are_told_as_one():
    (column,) = RowGenerator.learn(pd.DataFrame({"k": [3] * 7 + [4] * 8})).description["columns"]
    assert set(column["values"]) == {4.0}  # means 3.3 and 3.8


def test_rare_levels_and_rare_values_are_not_told():
    n = 400
    table = pd.DataFrame(
        {
            "town": ["Ulm"] * 200 + ["Bonn"] * 191 + ["Secretville"] * 9,
            "level": pd.Categorical(["x", "y"] * 195 + ["hidden"] * 10, ["x", "hidden", "y", "unseen"]),
            "count": [0, 1, 2, 3] * 98 + [77_777] * 8,
            "gap": [1.0, 2.0] * 199 + [np.nan] * 2,
        }
    )
    generator = RowGenerator.learn(table, least=11)
    text = json.dumps(generator.description)
    for secret in ("Secretville", "hidden", "unseen", "77777"):
        assert secret not in text
    drawn = generator.sample(n)
    assert set(drawn["town"]) == {"Ulm", "Bonn"}
    assert drawn["level"].cat.categories.tolist() == ["x", "y"]
    assert set(drawn["count"]) == {0, 1, 2, 3}
    assert not drawn["gap"].isna().any()
    assert "hidden" in json.dumps(RowGenerator.learn(table, least=10).description)


def test_a_column_that_names_rows_is_refused():
    table = pd.DataFrame({"id": [f"person {k}" for k in range(50)], "x": np.arange(50.0)})
    with pytest.raises(InputError, match="every value of 'id'"):
        RowGenerator.learn(table)


def tables():
    frame = people(300)
    plain = frame.drop(columns=["visits", "income"])
    return {
        "pandas": frame,
        "pandas arrow": frame[["height", "children"]].astype({"children": "int64[pyarrow]"}),
        "pandas numbered": pd.DataFrame(np.random.default_rng(0).normal(size=(50, 2))),
        "polars": pl.from_pandas(plain.astype({"grade": str})).with_columns(
            pl.col("grade").cast(pl.Enum(["lo", "mid", "hi"])), pl.col("born").dt.replace_time_zone("UTC")
        ),
        "arrow": pa.Table.from_pandas(frame, preserve_index=False),
        "numpy": np.random.default_rng(0).normal(size=(50, 2)).astype(np.float32),
        "records": [dict(row) for row in plain.drop(columns="born").astype({"grade": str}).to_dict("records")],
    }


def types(table):
    if isinstance(table, pa.Table):
        return list(zip(table.schema.names, table.schema.types, strict=True))
    if isinstance(table, np.ndarray):
        return table.dtype
    if isinstance(table, list):
        return {key: type(value) for key, value in table[0].items()}
    return list(zip(table.columns, table.dtypes, strict=True))


@pytest.mark.parametrize("kind", tables())
def test_the_callers_kind_of_table_comes_out(kind, tmp_path):
    table = tables()[kind]
    generator = RowGenerator.learn(table)
    drawn = generator.sample(20, random_state=3)
    assert type(drawn) is type(table)
    assert len(drawn) == 20
    assert types(drawn) == types(table)
    generator.save(tmp_path / "rows.json")
    again = RowGenerator.load(tmp_path / "rows.json")
    assert again.description == generator.description
    np.testing.assert_array_equal(cells(again.sample(20, random_state=3)), cells(drawn))
    assert not np.array_equal(cells(again.sample(20, random_state=4)), cells(drawn))


def cells(table):
    frame = table.to_pandas() if hasattr(table, "to_pandas") else pd.DataFrame(table)
    return frame.astype(object).where(frame.notna(), "missing").astype(str).to_numpy()


def test_moments_in_a_time_zone_stay_moments():
    stamps = pd.date_range("2024-01-01", periods=400, freq="h", tz="UTC").tz_convert("Asia/Tokyo")
    table = pd.DataFrame({"at": stamps, "x": np.arange(400.0)})
    drawn = RowGenerator.learn(table).sample(200)
    assert drawn["at"].dtype == table["at"].dtype
    hours = (drawn["at"] - stamps[0]).dt.total_seconds() / 3600
    assert hours.between(0, 399).all()
    assert np.corrcoef(hours, drawn["x"])[0, 1] > 0.99


def test_the_data_are_left_alone():
    table = people(100)
    before = table.copy(deep=True)
    RowGenerator.learn(table).sample(5)
    pd.testing.assert_frame_equal(table, before)


def test_what_cannot_be_generated_is_refused(tmp_path):
    X = np.random.default_rng(0).normal(size=(30, 2))
    for bad in (sparse.csr_matrix(X), np.zeros(30, dtype=[("a", float)])):
        with pytest.raises(InputError, match="rows cannot be generated"):
            RowGenerator.learn(bad)
    with pytest.raises(InputError, match="no text or numbers"):
        RowGenerator.learn(pd.DataFrame({"bin": pd.cut(X[:, 0], 2)}))
    with pytest.raises(InputError, match=r"least must .*2 to 30.*31"):
        RowGenerator.learn(X, least=31)
    for least in (10.5, True, "10", 1):
        with pytest.raises(InputError, match=r"least must .*from 2"):
            RowGenerator.learn(X, least=least)
    for n in (0, 2.5, True, "3"):
        with pytest.raises(InputError, match=r"n must .*at least 1"):
            RowGenerator.learn(X).sample(n)
    for seed in (-1, 0.5, "a"):
        with pytest.raises(InputError, match="random_state must be"):
            RowGenerator.learn(X).sample(2, random_state=seed)
    assert len(RowGenerator.learn(X, least=np.int64(5)).sample(np.int64(3))) == 3
    for text in ("[]", "{}", "no json"):
        (tmp_path / "other.json").write_text(text)
        with pytest.raises(InputError, match="holds no row generator"):
            RowGenerator.load(tmp_path / "other.json")
