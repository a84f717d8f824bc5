"""Cross-validated permutation importance: a slow twin, honest intervals, and what is measured on held-out rows."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeRegressor

from pellucid import Explainer, InputError
from reference.refit_importance import folds_importance


def sample(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, X[:, 0] + 0.3 * X[:, 1] + rng.normal(size=n)


def plain_fit(rows, y):
    A = np.array([[1.0, *row] for row in rows])
    b = np.linalg.solve(A.T @ A, A.T @ np.array(y))
    return lambda row: float(b[0] + np.dot(b[1:], row))


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 1000), n_folds=st.integers(2, 5))
def test_equals_the_slow_twin(seed, n_folds):
    X, y = sample(31, seed)
    fold = np.random.default_rng(seed).permutation(np.arange(31) % n_folds)
    ex = Explainer(LinearRegression().fit(X, y), X, y, checks=False)
    found = ex.importance(scheme="pairs", folds=fold)
    expected = [
        folds_importance(plain_fit, lambda y, p: (y - p) ** 2, X.tolist(), y, fold.tolist(), j) for j in range(3)
    ]
    np.testing.assert_allclose(found.values, expected, rtol=1e-8, atol=1e-10)


def test_a_fold_is_the_importance_of_its_own_model_on_its_own_rows():
    X, y = sample()
    fold = np.arange(60) % 3
    found = Explainer(LinearRegression().fit(X, y), X, y).importance(folds=fold, repeats=4)
    for k in range(3):
        inside, held = fold != k, fold == k
        alone = Explainer(LinearRegression().fit(X[inside], y[inside]), X[held], y[held]).importance(repeats=4)
        np.testing.assert_allclose(found.repeats[:, k], alone.values, rtol=1e-9)
    np.testing.assert_allclose(found.values, found.repeats.mean(axis=1), rtol=1e-9)
    spread = found.repeats.std(axis=1, ddof=1)
    np.testing.assert_allclose(found.se, spread * np.sqrt(1 / 3 + 1 / 2), rtol=1e-9)
    np.testing.assert_allclose(found.high - found.values, 4.302653 * found.se, rtol=1e-6)


def test_folds_of_unequal_weight_count_by_it():
    X, y = sample()
    fold = np.where(np.arange(60) < 40, 0, 1)
    weights = np.where(np.arange(60) < 20, 2.0, 1.0)
    found = Explainer(LinearRegression().fit(X, y), X, y, sample_weight=weights).importance(folds=fold)
    np.testing.assert_allclose(found.values, found.repeats @ [0.75, 0.25], rtol=1e-9)


def test_an_overfitted_feature_is_important_only_on_the_rows_it_was_fitted_to():
    # A deep tree learns the noise of an identifier by heart; held out, nothing of it is left.
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 2, 200), np.arange(200.0)])
    y = X[:, 0] + rng.normal(size=200)
    ex = Explainer(DecisionTreeRegressor(random_state=0).fit(X, y), X, y, checks=False)
    inside, outside = ex.importance(), ex.importance(folds=np.arange(200) % 5)
    assert inside.top(1) == ["x1"]
    assert inside.low[1] > 0.5
    assert outside.values[1] < inside.values[1] / 3


def test_the_interval_holds_the_true_value_in_most_samples():
    # f = x0 fitted by least squares: E[importance] = 2 E[b^2] with b ~ N(1, 1/n_train); measured on 80 samples.
    # Folds share rows, which makes the intervals narrow: 65 to 72 of 80 hold it, whichever way the folds are dealt.
    inside = 0
    for seed in range(80):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(50, 1))
        y = X[:, 0] + rng.normal(size=50)
        found = Explainer(LinearRegression().fit(X, y), X, y, checks=False).importance(folds=5, scheme="pairs")
        inside += bool(found.low[0] <= 2 * (1 + 1 / 38) <= found.high[0])
    assert 62 <= inside <= 80


def test_rows_that_belong_together_stay_together():
    X, y = sample()
    person = np.repeat([f"person {k}" for k in range(12)], 5)
    seen = []

    def fit(table, outcome):
        seen.append(len(table))
        return LinearRegression().fit(table, outcome)

    found = Explainer(LinearRegression().fit(X, y), X, y).importance(folds=person, refit=fit)
    assert seen == [55] * 12
    assert found.settings["folds"] == 12


def test_polars_and_classes():
    rng = np.random.default_rng(0)
    table = pl.DataFrame({"a": rng.normal(size=90), "b": rng.normal(size=90), "c": rng.integers(0, 3, 90)})
    y = np.where(table["a"].to_numpy() + rng.normal(size=90) > 0, "yes", "no")
    model = LogisticRegression().fit(table, y)
    found = Explainer(model, table, y, groups={"rest": ["b", "c"]}).importance(folds=4)
    assert found.feature_names == ("a", "rest")
    assert found.output_names == ("yes",)
    assert found.top(1) == ["a"]
    assert isinstance(found.frame(), pl.DataFrame)


def test_an_interruption_keeps_the_folds_that_are_known():
    X, y = sample()
    calls = []

    def fit(table, outcome):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return LinearRegression().fit(table, outcome)

    fold = np.arange(60) % 5
    found = Explainer(LinearRegression().fit(X, y), X, y).importance(folds=fold, refit=fit)
    whole = Explainer(LinearRegression().fit(X, y), X, y).importance(folds=fold)
    assert [caveat.code for caveat in found.caveats] == ["partial"]
    np.testing.assert_allclose(found.values, whole.repeats[:, :2].mean(axis=1), rtol=1e-9)
    assert found.settings["refits"] == 2


def test_what_cannot_be_done_is_refused_with_the_remedy():
    X, y = sample(20)
    ex = Explainer(LinearRegression().fit(X, y), X, y)
    with pytest.raises(InputError, match="leave out holdout="):
        ex.importance(folds=2, holdout=(X, y))
    with pytest.raises(InputError, match=r"a single row.*fewer folds"):
        ex.importance(folds=20)
    with pytest.raises(InputError, match="give y to the Explainer"):
        Explainer(LinearRegression().fit(X, y), X).importance(folds=2)


@pytest.mark.parametrize("folds", ["x", "5", 2.5, np.nan, 1, 0, True])
def test_what_is_no_number_of_folds_is_refused(folds):
    X, y = sample()
    with pytest.raises(InputError, match=r"folds must .*at least 2"):
        Explainer(LinearRegression().fit(X, y), X, y).importance(folds=folds)


@pytest.mark.parametrize("missing", [None, np.nan, np.datetime64("NaT", "D")])
def test_a_row_without_a_label_is_refused_not_made_a_fold(missing):
    X, y = sample()
    usual = np.datetime64("2026-01-01") if isinstance(missing, np.datetime64) else 1.0
    labels = [usual] * 30 + [missing] + [usual] * 29
    with pytest.raises(InputError, match="no label for row 30"):
        Explainer(LinearRegression().fit(X, y), X, y).importance(folds=labels)


def test_labels_of_any_kind_make_the_same_folds():
    X, y = sample()
    ex = Explainer(LinearRegression().fit(X, y), X, y, checks=False)
    years = np.repeat(["2019", "2020", "2021"], 20)
    kinds = [years, years.astype(int), years.astype(object), years.astype("datetime64[Y]"), pl.Series(years.tolist())]
    first, *others = [ex.importance(folds=labels).values for labels in kinds]
    for other in others:
        np.testing.assert_array_equal(other, first)


def test_features_that_share_are_measured_together_on_the_same_folds():
    common, own = np.random.default_rng(0).normal(size=(2, 200))
    X = np.column_stack([common, common + 0.2 * own, own])
    y = X[:, 0] + X[:, 1] + X[:, 2]
    fold = np.arange(200) % 4
    model = LinearRegression().fit(X, y)
    (shared,) = [c for c in Explainer(model, X, y).importance(folds=fold).caveats if c.code == "shared-importance"]
    grouped = Explainer(model, X, y, groups={"both": [0, 1]}).importance(folds=fold, repeats=1)
    assert shared.value == pytest.approx(grouped.values[0])
    assert "groups={'x0 + x1': ['x0', 'x1']}" in shared.advice
