"""Worked examples of counterfactuals: rents, credit, and the ten trade-offs of the book's table."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

from oracles.conftest import read
from pellucid import Explainer
from pellucid.data.distance import RowDistance

CHANGES = [
    {"job": 2, "duration": -20},
    {"job": 2, "duration": -24},
    {"job": 2, "duration": -22},
    {"age": -6, "job": 2, "duration": -24},
    {"age": -3, "job": 2, "duration": -24},
    {"age": -1, "job": 2, "duration": -24},
    {"age": -3, "sex": "male", "duration": -24},
    {"age": -6, "sex": "male", "duration": -25},
    {"age": -30, "sex": "male", "job": 2, "duration": -24},
    {"age": -4, "sex": "male", "amount": -1254, "duration": -24},
]


def flats():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "area": rng.integers(25, 150, 300),
            "pets": rng.choice(["forbidden", "allowed"], 300),
            "windows": rng.choice(["old", "new"], 300),
            "year": rng.integers(1950, 2020, 300),
        }
    )


def rent(table):
    return (
        10.0 * table["area"]
        + 60 * (table["pets"] == "allowed")
        + 50 * (table["windows"] == "new")
        + 2.0 * (table["year"] - 1970)
    )


def test_anna_asks_how_to_rent_out_above_1000():
    flat = {"area": 86, "pets": "forbidden", "windows": "old", "year": 1990}
    ex = Explainer(rent, flats(), progress=False)
    assert ex.predict([flat])["prediction"].iloc[0] == 900
    larger = ex.counterfactuals(flat, ">= 1000", fixed=["pets", "windows", "year"])
    assert larger.changes() == {"area": (86, 96)}
    # What she can do: the flat grows no larger and no younger.
    hers = ex.counterfactuals(flat, ">= 1000", fixed=["area", "year"])
    assert hers.changes() == {"pets": ("forbidden", "allowed"), "windows": ("old", "new")}
    assert hers.predictions[0] == 1010
    assert (hers.rows()["area"] == 86).all()
    relaxed = ex.counterfactuals(flat, ">= 950", fixed=["area", "year"], n=1)
    assert relaxed.scores["changes"][0] == 1
    nothing = ex.counterfactuals(flat, ">= 1000", fixed=["area", "year", "pets"])
    assert not len(nothing)
    assert nothing.nearest_miss == pytest.approx(50)
    assert {each.constraint for each in nothing.obstacles} >= {"fixed='area'", "fixed='pets'"}


@pytest.fixture(scope="module")
def credit():
    table = read("german_credit.csv")
    X, y = table.drop(columns="risk"), table["risk"]
    numbers = ["age", "job", "amount", "duration"]
    encoder = make_column_transformer(
        (StandardScaler(), numbers), (OneHotEncoder(), [name for name in X if name not in numbers])
    )
    model = make_pipeline(encoder, SVC(probability=True, random_state=0)).fit(X, y)
    return Explainer(model, X, y, output="good", progress=False), X, model


@pytest.mark.filterwarnings("ignore:.*probability.*")
def test_peter_learns_what_raises_his_chance_from_a_few_percent(credit):
    ex, X, _ = credit
    said = {"fixed": ["age", "sex"], "monotone": {"job": "up"}}
    row = int(np.argmin(ex.predict()["good"]))
    now = float(ex.predict([row])["good"].iloc[0])
    near, far = (ex.counterfactuals(row, f">= {now + more}", **said, n=1) for more in (0.08, 0.2))
    assert near.valid.all()
    assert far.valid.all()
    assert near.scores["distance"][0] < far.scores["distance"][0]
    for found in (near, far):
        assert not {"age", "sex"} & set(found.changes())
        assert found.rows()["job"].iloc[0] >= X["job"][row]


@pytest.mark.filterwarnings("ignore:.*probability.*")
def test_the_ten_answers_of_the_books_table_are_dominated_or_matched(credit):
    ex, X, model = credit
    row = int(np.flatnonzero((X["age"] == 58) & (X["amount"] == 6143))[0])
    assert float(ex.predict([row])["good"].iloc[0]) == pytest.approx(0.242, abs=0.03)  # the book's SVM says 24.2%
    theirs = pd.concat([X.iloc[[row]]] * len(CHANGES), ignore_index=True)
    for k, changes in enumerate(CHANGES):
        for name, change in changes.items():
            moved = change if name in ("job", "sex") else theirs.loc[k, name] + change
            theirs.loc[k, name] = moved
    valid = model.predict_proba(theirs)[:, list(model.classes_).index("good")] > 0.5
    assert valid.sum() >= 6  # on a model of the same class, not the same model
    found = ex.counterfactuals(row, "> 0.5", method="moc", n=60)
    ours = np.column_stack([found.scores[name] for name in ("gower", "changes", "nearest")])
    for objectives in scores(ex, theirs, row):
        assert (ours <= objectives + 1e-9).all(axis=1).any()
    assert (found.predictions[:, 0] > 0.5).all()
    assert found.cost.model_rows <= 1_200 + len(found)
    assert 0 < found.hypervolume < 1


def scores(ex, table, row):
    """o2, o3 and o4 of rows."""
    distance, codes = RowDistance.learn(ex.data), columns(ex.data)
    own = columns(ex.data.rows(table))
    x = codes[row]
    changed = (own != x).sum(axis=1)
    return np.column_stack([distance.between(own, x[None])[:, 0], changed, distance.between(own, codes).min(axis=1)])


def columns(data):
    return np.column_stack([data.codes(j) for j in range(len(data.schema.features))])
