"""Logistic and softmax regression: Newton steps against refitting."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

import pellucid


def refits(X, y, C, rows):
    def coefficients(X, y):
        model = LogisticRegression(C=C, solver="newton-cholesky", tol=1e-10, max_iter=300).fit(X, y)
        return np.append(model.intercept_, model.coef_[0])

    full = coefficients(X, y)
    return np.array([full - coefficients(np.delete(X, i, 0), np.delete(y, i)) for i in rows])


def compare(X, y, C, every=10, **options):
    model = LogisticRegression(C=C, max_iter=500, **options).fit(X, y)
    found = pellucid.Explainer(model, X, y).influence(on="parameters")
    rows = np.unique(np.append(found.ranking(25), np.arange(0, len(X), every)))
    truth, shown = refits(X, y, C, rows), found.values[rows]
    first = np.argsort(-np.abs(truth).sum(axis=1))[:10]
    off = np.abs(shown - truth)[first].sum(axis=1) / np.abs(truth)[first].sum(axis=1)
    return np.corrcoef(shown.ravel(), truth.ravel())[0, 1], off.max()


def skewed(n=150, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    X[:, 3] = rng.random(n) < 0.03  # a rare category: high leverage
    p = 1 / (1 + np.exp(-(X[:, 0] - 2 * X[:, 1] + 2 * X[:, 3])))
    return X, (rng.random(n) < p).astype(int)


@pytest.mark.parametrize("C", [1.0, 100.0])
def test_coefficients_without_rows(C):
    correlation, off = compare(*skewed(), C)
    assert correlation > 0.999
    assert off < 0.05


def test_one_step_alone_would_not_do():
    from pellucid.methods.influence.estimation.left_out import Request
    from pellucid.methods.influence.function import function
    from pellucid.models.linear_fit import linear_fit

    X, y = skewed()
    ex = pellucid.Explainer(LogisticRegression(C=100.0, max_iter=500).fit(X, y), X, y)
    request = Request(ex.predictor, ex.data, None, "parameters", None, None, 10, ex._run("test"))
    crude = function(request, linear_fit(ex.predictor), "logit", moved=np.inf)
    fine = function(request, linear_fit(ex.predictor), "logit")
    gap = np.abs(crude.change - fine.change).sum() / np.abs(fine.change).sum()
    assert crude.notes["refined"] == 0
    assert gap > 0.01


def test_softmax_predictions_without_a_row():
    X, y = load_digits(n_class=3, return_X_y=True)
    X, y = X[:200] / 16, y[:200]
    model = LogisticRegression(C=0.5, tol=1e-10, max_iter=2000).fit(X, y)
    found = pellucid.Explainer(model, X, y).influence([0, 1])
    assert found.values.shape == (200, 2, 3)
    for i in found.ranking(3):
        again = LogisticRegression(C=0.5, tol=1e-10, max_iter=2000).fit(np.delete(X, i, 0), np.delete(y, i))
        truth = model.predict_proba(X[:2]) - again.predict_proba(X[:2])
        assert np.abs(found.values[i] - truth).max() < 0.02 * np.abs(truth).max()
    assert found.checked.gap < 0.02


def test_the_check_is_a_refit():
    X, y = skewed()
    model = LogisticRegression(C=1.0, tol=1e-10, max_iter=2000).fit(X, y)
    found = pellucid.Explainer(model, X, y).influence([0])
    i = int(found.checked.units[0])
    again = LogisticRegression(C=1.0, tol=1e-10, max_iter=2000).fit(np.delete(X, i, 0), np.delete(y, i))
    truth = model.predict_proba(X[:1])[0, 1] - again.predict_proba(X[:1])[0, 1]
    assert np.isclose(found.checked.refitted[0], abs(truth), rtol=1e-3)
    assert found.checked.gap < 0.01


def read(name):
    named = os.environ.get("PELLUCID_DATA")
    folder = Path(named) if named else Path(__file__).parents[4] / "shared" / "data"
    if not (folder / name).is_file():
        pytest.skip(f"{name} is absent: set PELLUCID_DATA to the folder that holds the data files")
    return pd.read_csv(folder / name)


def coded(table):
    X = pd.get_dummies(table, drop_first=False).to_numpy(float)
    return (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9)


@pytest.mark.parametrize(("n", "C"), [(1000, 1.0), (200, 100.0)])
def test_credit_against_refits(n, C):
    table = read("german_credit_full.csv")
    X, y = coded(table.drop(columns="risk")), (table["risk"] == "bad").to_numpy(int)
    correlation, off = compare(X[:n], y[:n], C, every=n // 20)
    assert correlation > 0.999
    assert off < 0.05


def test_adult_with_rare_categories_against_refits():
    table = read("adult.csv").head(5000)
    X = coded(table.drop(columns=["income", "fnlwgt", "education"]))
    correlation, off = compare(X, (table["income"] == ">50K").to_numpy(int), 1.0, every=500)
    assert correlation > 0.999
    assert off < 0.05
