"""Robust fits: against fits written out, with outliers and without."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsRegressor

import pellucid
from golden_files import masked


def table(n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, 3 * X[:, 0] + 0.5 * rng.normal(size=n)


def spoilt():
    X, y = table()
    y[[7, 50]] = 60.0, -80.0
    return X, y


def robust(model, X, y, without=None, **options):
    return pellucid.Explainer(model.fit(X, y), X, y, progress=False).robust(without, **options)


def codes_of(found):
    return [caveat.code for caveat in found.caveats]


def test_predictions_are_those_of_fits_without_the_rows_and_with_weights():
    X, y = spoilt()
    found = robust(LinearRegression(), X, y, 2)
    assert sorted(found.rows) == [7, 50]
    now = LinearRegression().fit(X, y).predict(X)
    without = LinearRegression().fit(np.delete(X, [7, 50], 0), np.delete(y, [7, 50])).predict(X)
    down = LinearRegression().fit(X, y, found.weights).predict(X)
    for value, largest, at, other in zip(found.values, found.largest, found.largest_at, (without, down), strict=False):
        assert value == pytest.approx(np.abs(other - now).mean())
        assert largest == pytest.approx(np.abs(other - now).max())
        assert np.abs(other - now)[at] == pytest.approx(largest)
    np.testing.assert_allclose(found.predictions, np.stack([now, without, down]))
    assert found.weights[[7, 50]].max() < 0.05
    truth = 3 * X[:, 0]
    assert np.abs(down - truth).mean() < 0.3 * np.abs(now - truth).mean()
    assert (found.better > 2 * found.error).all()


def test_weights_are_hubers():
    X, y = spoilt()
    found = robust(LinearRegression(), X, y, 2)
    held = np.empty(200)
    fold = _folds(X, y)
    for k in range(5):
        other = LinearRegression().fit(X[fold != k], y[fold != k])
        held[fold == k] = np.square(y - other.predict(X))[fold == k]
    sigma = np.median(np.sqrt(held)) / 0.6745
    np.testing.assert_allclose(found.weights, np.minimum(1, 1.345 * sigma / np.sqrt(held)), rtol=0.05)
    assert found.loss[0] == pytest.approx(held.mean())


def _folds(X, y):
    from pellucid.data import Data
    from pellucid.methods.influence.estimation.suspects import dealt
    from pellucid.models import Predictor
    from pellucid.runner import Run

    return dealt(Predictor(LinearRegression().fit(X, y), X), Data.of(X, y), 5, 0, Run(seed=0))


def test_without_outliers_ordinary_rows_are_predicted_as_well():
    X, y = table()
    found = robust(LinearRegression(), X, y)
    assert len(found.rows) == 2
    assert (np.abs(found.better) < 3 * found.error).all()
    assert found.values.max() < 0.1 * y.std()


def test_classes_keep_the_weight_of_rows_that_are_right():
    X, y = table()
    label = (y > 0).astype(int)
    label[[3, 4]] = 1 - label[[3, 4]]
    found = robust(LogisticRegression(), X, label, [3, 4])
    assert found.settings["by"] == "name"
    assert found.rows.tolist() == [3, 4]
    right = LogisticRegression().fit(X, label).predict_proba(X)[np.arange(200), label] > 0.6
    assert (found.weights[right] == 1).all()


def test_models_that_are_not_read_or_take_no_weights():
    X, y = spoilt()
    near = robust(KNeighborsRegressor(3), X, y, 2, folds=2)
    assert near.settings["by"] == "held-out loss"
    assert sorted(near.rows) == [7, 50]
    assert near.variants == ("without the rows", "without random rows")
    assert len(near.weights) == 0
    assert len(near.frame()) == 3


def test_where_any_rows_move_the_model_these_are_not_to_blame():
    X, y = table(120)
    boosted = HistGradientBoostingRegressor(max_iter=10, early_stopping=False)
    assert "any-row" in codes_of(robust(boosted, X, y, 1, folds=2))
    assert "any-row" not in codes_of(robust(LinearRegression(), *spoilt(), 2))
    forest = RandomForestClassifier(5, random_state=0)
    assert len(robust(forest, X, (y > 0).astype(int), 3, folds=2).values) == 3


def test_sentences_table_and_chart(golden):
    X, y = spoilt()
    found = robust(LinearRegression(), X, y, 2)
    golden("influence", "robust fits", masked(found.text()))
    one = robust(KNeighborsRegressor(3), X, y, 1, folds=2)
    golden("influence", "robust fits without one row", masked(one.text()))
    classes = robust(LogisticRegression(), X, (y > np.median(y)).astype(int), 2)
    golden("influence", "robust fits of classes", masked(classes.text()))
    assert list(found.frame().columns) == ["fit", "change", "largest", "loss", "better", "error"]
    assert found.plot().spec
    assert robust(LinearRegression(), X, y, 2).text() == found.text()


@pytest.mark.parametrize(
    ("without", "said"), [(0, "without"), (150, "without"), (list(range(150)), "at most half"), ("a", "without|label")]
)
def test_errors_name_the_argument(without, said):
    X, y = table()
    with pytest.raises(pellucid.InputError, match=said):
        robust(LinearRegression(), X, y, without)
    with pytest.raises(pellucid.InputError, match="at least 300 rows"):
        robust(LinearRegression(), X, y, folds=30)
