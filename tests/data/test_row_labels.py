"""Row labels: an index or a column of ids names rows from the table to the chart, and rows are found by it."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import pellucid
from pellucid import Explainer
from pellucid.data import Data
from pellucid.errors import InputError

X = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 3)), columns=["a", "b", "c"])
NAMED = X.set_axis([f"cust{i}" for i in range(40)])
SHUFFLED = X.set_axis(np.random.default_rng(1).permutation(40) + 1000)
IDS = [f"k{i}" for i in range(40)]
POLARS = pl.DataFrame({"a": X["a"].to_numpy(), "id": IDS, "b": X["b"].to_numpy(), "c": X["c"].to_numpy()})


def f(table):
    return np.asarray(table["a"]) + np.asarray(table["b"]) * np.asarray(table["c"])


def explained(table, **options):
    return Explainer(f, table, checks=False, **options)


def rows_of(found):
    """The rows that a result's table speaks of."""
    return list(dict.fromkeys(np.asarray(found.frame()["row"]).tolist()))


@pytest.mark.parametrize(
    ("rows", "names"),
    [
        ([7, 9], [7, 9]),
        (X.iloc[[7, 9]], [7, 9]),
        (X.iloc[7], [7]),
        (X.iloc[7:10], [7, 8, 9]),
        ({"a": 1.0, "b": 2.0, "c": 3.0}, [0]),
        (X.iloc[[7, 9]].to_numpy(), [0, 1]),
    ],
)
def test_rows_keep_the_numbers_they_were_asked_for_by(rows, names):
    assert rows_of(explained(X).shap(rows)) == names


@pytest.mark.parametrize(
    ("rows", "names"),
    [
        ("cust7", ["cust7"]),
        (["cust9", "cust7"], ["cust9", "cust7"]),
        (("cust9", "cust7"), ["cust9", "cust7"]),
        (7, ["cust7"]),
        ([7, 9], ["cust7", "cust9"]),
        (NAMED.index[[7, 9]], ["cust7", "cust9"]),
        (NAMED.loc[["cust9", "cust7"]], ["cust9", "cust7"]),
        (NAMED.loc["cust7"], ["cust7"]),
        (X.iloc[[7]].set_axis(["stranger"]), ["stranger"]),
    ],
)
def test_rows_are_found_and_named_by_their_labels(rows, names):
    found = explained(NAMED).shap(rows)
    assert rows_of(found) == names
    if names != ["stranger"]:
        places = [int(name.removeprefix("cust")) for name in names]
        np.testing.assert_array_equal(found.values, explained(X).shap(places).values)


def test_whole_numbers_are_positions_unless_an_index_holds_them():
    ex = explained(SHUFFLED)
    label = int(SHUFFLED.index[7])
    assert ex.shap(7).row_labels.name(0) == f"{label} (position 7)"
    assert rows_of(ex.shap(SHUFFLED.index[[7, 9]])) == SHUFFLED.index[[7, 9]].tolist()
    np.testing.assert_array_equal(ex.shap(SHUFFLED.index[[7, 9]]).values, ex.shap([7, 9]).values)
    assert ex.shap(SHUFFLED.loc[[label]]).row_labels.name(0) == f"{label}"
    with pytest.raises(InputError, match=rf"row {label} is out of range.*X\.loc\[\[{label}\]\]"):
        ex.shap(label)
    with pytest.raises(InputError, match=r"0 to 39\.$"):
        ex.shap(40)


@pytest.mark.parametrize("label", ["2024-01-05", pd.Timestamp("2024-01-05"), np.datetime64("2024-01-05")])
def test_dates_are_labels(label):
    dated = X.set_axis(pd.date_range("2024-01-01", periods=40))
    assert rows_of(explained(dated).shap(label)) == ["2024-01-05"]


def test_labels_of_several_levels_read_as_one():
    levels = X.set_axis(pd.MultiIndex.from_product([["x", "y"], range(20)]))
    assert rows_of(explained(levels).shap([3, 21])) == ["x, 3", "y, 1"]
    assert rows_of(explained(levels).shap("y, 1")) == ["y, 1"]


@pytest.mark.parametrize(
    ("table", "rows", "message"),
    [
        (NAMED, "cust77", "there is no row 'cust77'; did you mean 'cust7'"),
        (NAMED, ["cust7", "bob"], "there is no row 'bob'; known are 'cust0'"),
        (X, "cust7", "there is no row 'cust7'; the rows of X are numbered: give positions"),
        (X.set_axis(["same"] * 40), "same", "several rows of X are called 'same', the first at position 0"),
    ],
)
def test_a_label_that_names_no_row_or_several(table, rows, message):
    with pytest.raises(InputError, match=message):
        explained(table).shap(rows)


@pytest.mark.parametrize("table", [POLARS, POLARS.to_arrow(), POLARS.to_pandas(), POLARS.to_dicts()])
def test_a_column_of_ids_names_the_rows_and_is_no_feature(table):
    model = f if not isinstance(table, list) else lambda rows: np.array([r["a"] + r["b"] * r["c"] for r in rows])
    ex = Explainer(model, table, row_labels="id", checks=False)
    assert ex.data.schema.names == ("a", "b", "c")
    assert ex.shap("k7").row_labels.labels.tolist() == ["k7"]
    np.testing.assert_allclose(ex.shap(["k7", "k9"]).values, explained(X).shap([7, 9]).values)
    some = table.slice(3, 2) if isinstance(table, pa.Table) else table[3:5]
    assert ex.shap(some).row_labels.labels.tolist() == ["k3", "k4"]


def test_labels_beside_a_matrix():
    ex = Explainer(lambda table: table[:, 0], X.to_numpy(), row_labels=IDS, checks=False)
    assert ex.shap("k7").row_labels.name(0) == "k7"
    large = np.arange(40) + 2**60
    assert Explainer(lambda t: t[:, 0], X.to_numpy(), row_labels=large).shap(3).row_labels.labels.tolist() == [
        2**60 + 3
    ]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ("idd", "row_labels='idd' is not a column of X; did you mean 'id'"),
        (IDS[1:], "row_labels has 39 labels but X has 40 rows"),
    ],
)
def test_labels_that_are_none(labels, message):
    with pytest.raises(InputError, match=message):
        explained(POLARS, row_labels=labels)


def test_the_table_is_left_alone_and_rows_of_rows_keep_their_labels():
    before = NAMED.copy()
    data = Data.of(NAMED)
    assert data.take(np.array([5, 6, 7])).take(np.array([2])).row_labels.name(0) == "cust7"
    assert data.rows(data.rows(["cust7"])).row_labels.name(0) == "cust7"
    assert data.rows([{"a": 1.0, "b": 2.0, "c": 3.0}] * 3).take(np.array([2])).row_labels.name(0) == "2"
    pd.testing.assert_frame_equal(NAMED, before)


# -- where rows are spoken of ------------------------------------------------------------------------


def test_words_speak_of_the_rows():
    ex = explained(NAMED)
    assert "for row cust7 is" in ex.shap("cust7").text()
    assert "for row cust7 is" in ex.shap("cust7").text("short")
    assert "for row cust7 is" in ex.lime("cust7", samples=300).text()
    assert "over rows cust7 and cust9," in ex.shap([7, 9]).text()
    assert "over rows 7 and 9," in explained(X).shap([7, 9]).text()
    assert "over 5 rows," in explained(X).shap(range(5)).text()
    assert "for row" not in explained(X).shap({"a": 1.0, "b": 2.0, "c": 3.0}).text()
    assert "the prediction of row cust7 is" in ex.shap([7, 9]).contrast(0).row(1).text()
    rules = ex.anchor([7, 9])
    assert [line.split(": ")[0] for line in rules.findings()[:2]] == ["1. Row cust7", "2. Row cust9"]
    assert rows_of(rules) == ["cust7", "cust9"]
    assert rules[1].row_labels.name(0) == "cust9"


def test_picked_rows_are_named():
    picked = explained(NAMED).lime_pick(2, samples=300)
    names = [f"cust{i}" for i in picked.positions]
    assert rows_of(picked) == names
    assert all(f"row {name}" in picked.findings()[0] for name in names)
    again = pellucid.pick_rows(explained(NAMED).shap([7, 9, 3]), 2)
    assert set(rows_of(again)) <= {"cust7", "cust9", "cust3"}


@pytest.mark.parametrize("kind", ["waterfall", "force", "decision", "stacked", "beeswarm", "dependence"])
def test_charts_name_the_rows(kind):
    options = {"feature": "a"} if kind == "dependence" else {}
    spec = json.dumps(explained(NAMED).shap([7, 9]).plot(kind=kind, **options).spec)
    assert "cust7" in spec
    assert "cust9" in spec


def test_charts_of_one_row_and_of_rules_and_local_models_name_the_rows():
    ex = explained(NAMED)
    assert "prediction for row cust7" in json.dumps(ex.shap(7).plot().spec)
    assert "prediction for row cust7" in json.dumps(ex.anchor(7).plot().spec)
    assert "row cust9" in json.dumps(ex.anchor([7, 9]).plot().spec)
    assert "row cust9" in json.dumps(ex.lime([7, 9], samples=300).plot().spec)


def test_curves_are_named():
    ex = explained(NAMED)
    curves = ex.ice("a", rows=["cust7", "cust9"], grid=3)
    assert rows_of(curves) == ["cust7", "cust9"]
    assert curves.rows.tolist() == [7, 9]
    assert "row cust9" in json.dumps(curves.plot().spec)
    assert set(rows_of(ex.ice("a", sample=3, grid=3))) <= set(NAMED.index)
    twins = explained(X.set_axis(["same"] * 40)).ice("a", rows=[7, 9], grid=3)
    drawn = {cell["row"] for cells in twins.plot().spec["datasets"].values() for cell in cells if "row" in cell}
    assert len(drawn) == 2  # two curves, although their rows are called the same


def test_a_report_names_its_rows_and_takes_labels(tmp_path):
    page = Explainer(f, NAMED, f(NAMED)).report(tmp_path / "r.html", rows=["cust7", 9], top=2)
    text = page.read_text(encoding="utf-8")
    assert "Row cust7: as requested" in text
    assert "Row cust9: as requested" in text


def test_labels_are_stored(tmp_path):
    found = explained(NAMED).shap([7, 9])
    again = pellucid.load(found.save(tmp_path / "found.json"))
    assert again == found
    assert rows_of(again) == ["cust7", "cust9"]
