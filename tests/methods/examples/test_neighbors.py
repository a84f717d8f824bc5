"""Like rows by four distances, and the nearest that is predicted otherwise."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

from pellucid import Explainer, InputError
from pellucid.data.distance import RowDistance


@pytest.fixture(scope="module")
def forest():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(150, 3)), columns=["a", "b", "c"])
    y = np.where(X["a"] + X["b"] > 0, "yes", "no")
    model = RandomForestClassifier(20, max_depth=4, random_state=0).fit(X, y)
    return model, X, y


def explained(forest):
    return Explainer(*forest, progress=False)


def test_gower_and_euclidean_are_the_distances_themselves(forest):
    ex = explained(forest)
    codes = np.asarray(forest[1])
    for name in ("gower", "euclidean"):
        apart = RowDistance.learn(ex.data, name).between(codes[7:8], codes)[0]
        apart[7] = np.inf
        found = ex.neighbors(7, n=4, distance=name)
        assert found.neighbors.tolist() == np.argsort(apart, kind="stable")[:4].tolist()
        np.testing.assert_allclose(found.values, np.sort(apart)[:4])


def test_leaves_are_those_of_the_forest(forest):
    model, X, _ = forest
    leaves = model.apply(X)
    apart = 1 - (leaves == leaves[7]).mean(axis=1)
    apart[7] = np.inf
    found = explained(forest).neighbors(7, n=5, distance="leaves")
    np.testing.assert_allclose(found.values, np.sort(apart)[:5], atol=1e-12)


def test_contributions_leave_out_what_the_model_does_not_use():
    rng = np.random.default_rng(1)
    X = np.column_stack([np.arange(30.0), rng.normal(size=(30, 6)) * 100])
    ex = Explainer(lambda X: X[:, 0], X, progress=False)
    assert sorted(ex.neighbors(10, n=2, distance="contributions").neighbors.tolist()) == [9, 11]


def test_the_nearest_unlike_row_is_the_nearest_with_another_class(forest):
    model, X, _ = forest
    ex = explained(forest)
    found = ex.neighbors(7, n=3)
    codes = np.asarray(X)
    apart = RowDistance.learn(ex.data, "gower").between(codes[7:8], codes)[0]
    other = model.predict(X) != model.predict(X)[7]
    expected = np.flatnonzero(other)[np.argmin(apart[other])]
    place = found.places("nearest unlike")
    assert found.row_labels.labels[place[0]] == expected
    assert found.unlike == pytest.approx(apart[expected])


def test_a_constant_model_has_no_unlike_row():
    ex = Explainer(lambda X: np.ones(len(X)), np.arange(20.0).reshape(10, 2), progress=False)
    found = ex.neighbors(0, n=2)
    assert not len(found.places("nearest unlike"))
    assert np.isnan(found.unlike)
    assert len(found.frame()) == 3


def test_a_row_of_ones_own_has_its_twin_as_a_neighbour(forest):
    _, X, _ = forest
    found = explained(forest).neighbors(X.iloc[[5]].reset_index(drop=True).to_dict("records")[0], n=1)
    assert found.values[0] == 0
    assert str(found.neighbors[0]) == "5"


def test_where_no_row_is_near_that_is_told():
    X = np.random.default_rng(0).normal(size=(60, 200))
    ex = Explainer(lambda X: X[:, 0], X, progress=False)
    assert "all-far" in {c.code for c in ex.neighbors(0).caveats}
    near = np.random.default_rng(0).normal(size=(300, 2))
    assert "all-far" not in {c.code for c in Explainer(lambda X: X[:, 0], near, progress=False).neighbors(0).caveats}


def test_errors_name_the_argument(forest):
    ex = Explainer(lambda X: X[:, 0], np.arange(20.0).reshape(10, 2), progress=False)
    with pytest.raises(InputError, match="distance='leaves'"):
        ex.neighbors(0, distance="leaves")
    with pytest.raises(InputError, match="row must be one row"):
        ex.neighbors([0, 1])
    with pytest.raises(InputError, match="n must be"):
        ex.neighbors(0, n=10)
