"""Nearest neighbours: scikit-learn's where that applies, mixed tables, weights, and the neighbours as the explanation."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from glassbox.tables import mixed
from pellucid import InputError
from pellucid.glassbox import NearestNeighbours


@parametrize_with_checks(
    [NearestNeighbours(task="regression"), NearestNeighbours(task="classification", weights="distance")]
)
def test_it_is_an_estimator(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def rows():
    X, mean = mixed(120)
    return X, mean + np.random.default_rng(1).normal(0.0, 0.3, len(X))


@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_of_numbers_they_are_those_of_scikit_learn(weights):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3)) * [1, 10, 0.1]
    y, at = X[:, 0] + rng.normal(size=80), rng.normal(size=(20, 3)) * [1, 10, 0.1]
    at[0] = X[0]  # at distance 0
    scaled = X / X.std(axis=0), at / X.std(axis=0)
    ours = NearestNeighbours(4, distance="euclidean", weights=weights).fit(X, y)
    np.testing.assert_allclose(
        ours.predict(at), KNeighborsRegressor(4, weights=weights).fit(scaled[0], y).predict(scaled[1])
    )
    ours = NearestNeighbours(4, distance="euclidean", weights=weights).fit(X, y > 0)
    theirs = KNeighborsClassifier(4, weights=weights).fit(scaled[0], y > 0)
    np.testing.assert_allclose(ours.predict_proba(at), theirs.predict_proba(scaled[1]))


def test_neighbours_are_the_nearest_by_gower(rows):
    X, y = rows
    model = NearestNeighbours(3).fit(X, y)
    distance, place = model.kneighbors(X.iloc[:10])
    span = (X["temp"].max() - X["temp"].min(), X["when"].max() - X["when"].min(), X["hum"].max() - X["hum"].min())
    for i in range(10):
        apart = (X["temp"] - X["temp"][i]).abs() / span[0] + (X["when"] - X["when"][i]).abs() / span[1]
        apart += (X["season"] != X["season"][i]) * 1.0 + (X["holiday"] != X["holiday"][i])
        hum = (X["hum"] - X["hum"][i]).abs() / span[2]
        apart += hum.fillna((X["hum"].isna() != np.isnan(X["hum"][i])) * 1.0)
        np.testing.assert_allclose(np.sort(apart)[:3] / 5, distance[i], atol=1e-12)
        np.testing.assert_allclose(apart[place[i]] / 5, distance[i], atol=1e-12)


def test_the_neighbours_are_the_explanation(rows):
    X, y = rows
    named = X.set_axis([f"day {i}" for i in range(len(X))])
    model = NearestNeighbours(4).fit(named, y)
    row = X.iloc[[7]].assign(temp=16.0, season="autumn")
    found = model.explain(row)
    _, place = model.kneighbors(row)
    assert found.neighbors.tolist() == [f"day {i}" for i in place[0]]
    assert found.predictions[0, 0] == pytest.approx(y[place[0]].mean()) == model.predict(row)[0]
    np.testing.assert_allclose(found.predictions[1:5, 0], model.predict(X.iloc[place[0]]))
    unlike = found.places("nearest unlike")[0]
    assert abs(found.predictions[unlike, 0] - found.predictions[0, 0]) > 0.5 * y.std()
    assert found.cost.model_rows == 0
    assert found.plot().spec
    assert len(found.frame()) == 6
    with pytest.raises(InputError, match="row holds 2 rows"):
        model.explain(X.iloc[:2])
    with pytest.raises(InputError, match="row must be given"):
        model.explain()


def test_the_nearest_row_of_another_class(rows):
    X, y = rows
    model = NearestNeighbours(5).fit(X, np.where(y > 2.5, "many", "few"))
    found = model.explain(X.iloc[3])
    label = f"{found.row_labels.labels[-1]}"
    assert found.roles[-1] == "nearest unlike"
    assert model.predict(X.loc[[int(label)]])[0] != model.predict(X.iloc[[3]])[0]
    before = np.argsort(model._distance.between(model._design(X.iloc[[3]]), model._rows)[0], kind="stable").tolist()
    nearer = X.iloc[before[: before.index(int(label))]]
    assert (model.predict(nearer) == model.predict(X.iloc[[3]])[0]).all()


def test_weight_two_is_the_row_twice(rows):
    X, y = rows
    weights = np.random.default_rng(2).integers(0, 4, len(X))
    twice = np.repeat(np.arange(len(X)), weights)
    for outcome in (y, y > 2.5):
        weighted = NearestNeighbours(5, distance="manhattan").fit(X, outcome, sample_weight=weights)
        repeated = NearestNeighbours(5, distance="manhattan").fit(X.iloc[twice], outcome[twice])
        np.testing.assert_allclose(
            weighted._values(weighted._design(X)), repeated._values(repeated._design(X)), atol=1e-9
        )


def test_wrong_arguments_are_named(rows):
    X, y = rows
    for options, words in (({"n": 0}, "n must be"), ({"distance": "far"}, "distance"), ({"weights": 3}, "weights")):
        with pytest.raises(InputError, match=words):
            NearestNeighbours(**options).fit(X, y)
