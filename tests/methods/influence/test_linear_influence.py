"""Least squares and ridge: closed forms equal fitting again."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import pellucid
from reference import influence as slow


def table(n=60, p=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * [1.0, 100.0, 0.01] + [0.0, 5000.0, 1.0]
    y = X @ [1.0, 0.02, 50.0] + rng.standard_t(3, size=n)
    return X, y


@pytest.mark.parametrize("alpha", [0.0, 3.0])
def test_every_coefficient_without_every_row(alpha):
    X, y = table()
    model = (Ridge(alpha) if alpha else LinearRegression()).fit(X, y)
    found = pellucid.Explainer(model, X, y).influence(method="dfbeta")
    truth = slow.dfbeta(X, y, alpha)
    assert np.allclose(found.values, truth, rtol=1e-9, atol=1e-10 * np.abs(truth).max())
    assert found.targets == ("intercept", "x0", "x1", "x2") or len(found.targets) == 4
    assert np.allclose(found.present, np.append(model.intercept_, model.coef_))


def test_cooks_distance_by_its_definition():
    X, y = table()
    found = pellucid.Explainer(LinearRegression().fit(X, y), X, y).influence(method="cook")
    assert np.allclose(found.values, slow.cook(X, y), rtol=1e-10)
    h, e = found.leverage, found.residual
    mse = e @ e / (len(y) - 4)
    assert np.allclose(found.values, e**2 * h / (4 * mse * (1 - h) ** 2), rtol=1e-10)  # the textbook's short form
    assert np.isclose(h.sum(), 4)


def test_predictions_without_rows_through_a_pipeline():
    X, y = table(40)
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(kind=np.tile(["u", "v", "w", "u"], 10))
    steps = make_column_transformer((StandardScaler(), ["a", "b", "c"]), (OneHotEncoder(), ["kind"]))
    for last in (LinearRegression(), Ridge(2.0)):
        model = make_pipeline(steps, last).fit(frame, y)
        found = pellucid.Explainer(model, frame, y).influence([0, 7])
        coded = model[0].transform(frame)
        for i in (0, 5, 39):
            again = type(last)(**last.get_params()).fit(np.delete(coded, i, 0), np.delete(y, i))
            assert np.allclose(model.predict(frame.iloc[[0, 7]]) - again.predict(coded[[0, 7]]), found.values[i])
        assert found.how == "closed form"
        assert found.settings["steps"]


def test_the_only_row_of_a_category_can_be_left_out():
    X, y = table(30, 3)
    X[:, 0] = 0.0
    X[4, 0] = 1.0  # leverage 1
    model = LinearRegression().fit(X, y)
    found = pellucid.Explainer(model, X, y).influence([0, 4])
    again = LinearRegression().fit(np.delete(X, 4, 0), np.delete(y, 4))
    assert np.isclose(found.leverage[4], 1)
    assert np.allclose(model.predict(X[[0, 4]]) - again.predict(X[[0, 4]]), found.values[4])
    assert "high-leverage" in {caveat.code for caveat in found.caveats}


def test_sets_of_rows_together():
    X, y = table(40)
    model = Ridge(1.0).fit(X, y)
    label = np.arange(40) // 5
    found = pellucid.Explainer(model, X, y).influence([0], together=label)
    for k in range(8):
        kept = label != k
        assert np.allclose(model.predict(X[:1]) - Ridge(1.0).fit(X[kept], y[kept]).predict(X[:1]), found.values[k])
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(week=label.astype(float))
    named = pellucid.Explainer(Ridge(1.0).fit(frame, y), frame, y).influence(together="week")
    assert len(named) == 8
    assert "week = " in named.text()


def test_weights_are_those_of_the_fit():
    X, y = table(30)
    w = np.where(np.arange(30) % 3, 1.0, 2.0)
    model = Ridge(1.0).fit(X, y, sample_weight=w)
    found = pellucid.Explainer(model, X, y, sample_weight=w).influence([2])
    again = Ridge(1.0).fit(X[1:], y[1:], sample_weight=w[1:])
    assert np.allclose(found.values[0], model.predict(X[2:3]) - again.predict(X[2:3]))
    assert not found.caveats


def test_rows_that_the_model_was_not_fitted_to():
    X, y = table(60)
    model = LinearRegression().fit(X[:30], y[:30])
    found = pellucid.Explainer(model, X[30:], y[30:]).influence()
    assert next(c for c in found.caveats if c.code == "not-training-rows").value > 0.02
    assert "not-training-rows" not in {c.code for c in pellucid.Explainer(model, X[:30], y[:30]).influence().caveats}


def test_losses_and_numbers_of_ones_own():
    X, y = table(30)
    model = LinearRegression().fit(X, y)
    ex = pellucid.Explainer(model, X, y)
    again = LinearRegression().fit(X[1:], y[1:])
    found = ex.influence([3, 4], on="loss")
    both = [np.square(m.predict(X[3:5]) - y[3:5]).mean() for m in (model, again)]
    assert np.isclose(found.values[0], both[0] - both[1])
    found = ex.influence(range(30), on=np.max)
    assert np.isclose(found.values[0], model.predict(X).max() - again.predict(X).max())
    with pytest.raises(pellucid.InputError, match="on= must return one number"):
        ex.influence(on=lambda predictions: predictions)


def test_what_cannot_be_asked():
    X, y = table(30)
    ex = pellucid.Explainer(LinearRegression().fit(X, y), X, y)
    with pytest.raises(pellucid.InputError, match="give y"):
        pellucid.Explainer(LinearRegression().fit(X, y), X).influence()
    with pytest.raises(pellucid.InputError, match="leave out rows="):
        ex.influence(0, method="cook")
    with pytest.raises(pellucid.InputError, match="logistic, softmax"):
        ex.influence(method="function")
    with pytest.raises(pellucid.InputError, match="positions in X"):
        ex.influence(X[:1], on="loss")
    with pytest.raises(pellucid.InputError, match="all rows into one set"):
        ex.influence(together=np.zeros(30))
