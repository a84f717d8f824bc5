"""Deletion by really fitting again."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor

import pellucid


def table(n=30, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, X[:, 0] + rng.normal(size=n)


def test_refits_equal_the_closed_form():
    X, y = table()
    ex = pellucid.Explainer(LinearRegression().fit(X, y), X, y)
    for options in ({}, {"rows": [0, 3]}, {"on": "loss"}, {"together": np.arange(30) // 3, "rows": [0]}):
        closed, fitted = ex.influence(**options), ex.influence(refit=LinearRegression(), **options)
        assert (closed.how, fitted.how) == ("closed form", "refits")
        assert np.allclose(closed.values, fitted.values)


def test_any_model_is_fitted_again():
    X, y = table()
    found = pellucid.Explainer(KNeighborsRegressor(3).fit(X, y), X, y).influence([0])
    truth = [
        KNeighborsRegressor(3).fit(X, y).predict(X[:1])
        - KNeighborsRegressor(3).fit(np.delete(X, i, 0), np.delete(y, i)).predict(X[:1])
        for i in range(30)
    ]
    assert np.allclose(found.values, truth)
    assert int((found.strength > 0).sum()) == 3


def test_likely_rows_are_tried_after_random_ones():
    X, y = table(400)
    y[::40] += 25  # ten outliers
    model = LinearRegression().fit(X, y)
    ex = pellucid.Explainer(model, X, y)
    every = ex.influence()
    found = ex.influence(method="deletion", refit=LinearRegression(), budget=80)
    tried = np.isfinite(found.strength)
    assert 50 < tried.sum() <= 80
    assert np.isnan(found.values[~tried]).all()
    assert len(np.intersect1d(found.ranking(10), every.ranking(10))) >= 8
    assert "rows-not-tried" in {caveat.code for caveat in found.caveats}
    twice = ex.influence(method="deletion", refit=LinearRegression(), budget=80)
    assert found.values.tobytes() == twice.values.tobytes()


def test_refits_end_when_no_more_of_the_likely_rows_is_among_the_strongest():
    X, y = table(300)
    y[:10] += 25
    ex = pellucid.Explainer(LinearRegression().fit(X, y), X, y)
    found = ex.influence(method="deletion", refit=LinearRegression(), budget=160)
    tried = np.isfinite(found.strength)
    assert 80 < tried.sum() < 160
    assert set(found.ranking(10)) == set(ex.influence().ranking(10))


def test_a_function_needs_refit():
    X, y = table()
    with pytest.raises(pellucid.InputError, match="give refit="):
        pellucid.Explainer(lambda X: X[:, 0], X, y).influence()
