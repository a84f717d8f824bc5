"""RuleFit: exactly so many terms, importances by their formulas, weights, honest folds, rules that do not overlap."""

import numpy as np
import pytest
from sklearn.linear_model import Lasso, LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from glassbox.tables import mixed
from pellucid import InputError
from pellucid.glassbox import RuleFit
from pellucid.glassbox.rules.lasso import Path, Terms
from pellucid.glassbox.rules.rule_choice import _chosen, folds, same_rows
from pellucid.glassbox.rules.rule_terms import Line


@parametrize_with_checks(
    [RuleFit(5, rules=40, task="regression"), RuleFit(rules=20, most=8, folds=2, task="classification")]
)
def test_it_is_an_estimator(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def rows():
    X, mean = mixed()
    return X, mean + np.random.default_rng(1).normal(0.0, 0.3, len(X))


@pytest.fixture(scope="module")
def fitted(rows):
    X, y = rows
    return RuleFit(12, rules=100).fit(X, y)


@pytest.mark.parametrize("k", [1, 2, 7, 20])
def test_terms_are_exactly_as_many_as_asked_for(rows, k):
    X, y = rows
    for outcome in (y, y > 2.5):
        model = RuleFit(k, rules=100).fit(X, outcome)
        assert model.n_terms_ == k == len(model.term_names_)
        assert (model.coef_ != 0).all()


def test_the_lasso_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(150, 8)) @ rng.normal(size=(8, 8))
    y = Z[:, 0] - 2 * Z[:, 3] + rng.normal(size=150)
    path = Path(Terms(Z, y, np.ones(150), logistic=False))
    path.to(0.3)
    peer = Lasso(alpha=0.3, tol=1e-10, max_iter=100_000).fit(Z, y)
    np.testing.assert_allclose(path.coefficients, peer.coef_, atol=1e-5)
    assert path.intercept == pytest.approx(peer.intercept_, abs=1e-5)
    yes = (y > 0) * 1.0
    path = Path(Terms(Z, yes, np.ones(150), logistic=True))
    path.to(0.02)
    peer = LogisticRegression(l1_ratio=1.0, C=1 / (0.02 * 150), solver="saga", tol=1e-9, max_iter=100_000).fit(Z, yes)
    np.testing.assert_allclose(path.coefficients, peer.coef_[0], atol=1e-3)


def test_importances_are_those_of_the_formulas(rows, fitted):
    X, _ = rows
    codes = fitted._design(X)
    terms, local, features = [], [], np.zeros(X.shape[1])
    for term, a in zip(fitted._terms, fitted.coef_, strict=True):
        if isinstance(term, Line):
            x = codes[:, term.feature]
            values = np.array([term.mean if np.isnan(v) else min(max(v, term.low), term.high) for v in x])
            size, asked = abs(a) * values.std(), [term.feature]
        else:
            values = np.array([all(p.holds(row[[p.feature]])[0] for p in term.clause) for row in codes], dtype=float)
            support = values.mean()
            size, asked = abs(a) * np.sqrt(support * (1 - support)), [part.feature for part in term.clause]
        terms.append(size)
        local.append(abs(a) * np.abs(values - values.mean()))
        for j in asked:
            features[j] += size / len(asked)
    np.testing.assert_allclose(fitted.explain().values, terms)
    np.testing.assert_allclose(fitted.feature_importance().values, features)
    np.testing.assert_allclose(np.abs(fitted.explain(X).values), np.array(local).T, atol=1e-12)
    assert fitted.feature_importance(X).values.sum() == pytest.approx(np.mean(local, axis=1).sum())


def test_contributions_sum_to_predictions(rows, fitted):
    X, y = rows
    found = fitted.explain(X)
    np.testing.assert_allclose(found.base + found.values.sum(axis=1), fitted.predict(X))
    assert float(found.base) == pytest.approx(fitted.predict(X).mean())
    model = RuleFit(5, rules=60).fit(X, y > 2.5)
    np.testing.assert_allclose(model.explain(X).prediction, model.decision_function(X))
    assert found.cost.model_rows == 0


def test_weight_two_is_the_row_twice(rows):
    X, y = rows
    weights = np.random.default_rng(2).integers(0, 4, len(X))
    twice = np.repeat(np.arange(len(X)), weights)
    for options in ({"terms": 6}, {"most": 8, "folds": 3}):
        weighted = RuleFit(rules=40, **options).fit(X, y, sample_weight=weights)
        repeated = RuleFit(rules=40, **options).fit(X.iloc[twice], y[twice])
        assert weighted.term_names_ == repeated.term_names_
        np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-4)


def test_no_two_rules_hold_for_the_same_rows_or_their_opposite(rows):
    X, y = rows
    model = RuleFit(40, rules=60, linear=False, overlap=0.9).fit(X, y)
    correlation = np.corrcoef(model._values(model._design(X)), rowvar=False)
    assert np.abs(correlation - np.eye(len(correlation))).max() <= 0.9 + 1e-6


def test_the_number_of_terms_is_chosen_on_rows_left_out():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6))
    noise = RuleFit(rules=60, most=30).fit(X, rng.normal(size=300))
    assert noise.n_terms_ <= 5
    signal = RuleFit(rules=60, most=30).fit(X, 3.0 * (X[:, 0] > 0) * (X[:, 1] > 0) + rng.normal(0, 0.1, 300))
    assert signal.losses_[-1] < 0.2 * signal.losses_[0]


def test_ten_rows_of_the_rarer_class_per_term_are_the_most():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6))
    steps = (X > 0) @ np.arange(1.0, 7.0)
    few = np.argsort(np.argsort(steps + rng.normal(size=300))) >= 260  # forty rows
    model = RuleFit(rules=60, folds=2).fit(X, few)
    assert 1 < model.n_terms_ <= 4 == len(model.losses_) - 1
    again = RuleFit(rules=60, folds=2).fit(np.repeat(X, 3, axis=0), np.repeat(few, 3))
    assert again.n_terms_ == model.n_terms_  # rows that are repeated say nothing new
    numbers = RuleFit(rules=60, folds=2).fit(X, steps + rng.normal(size=300))
    assert len(numbers.losses_) - 1 == 30


def test_a_number_of_terms_is_judged_with_its_neighbours():
    loss = np.full((13, 2), 1.0)
    loss[3] = 0.7  # one that happens to be good, alone up to three
    loss[8:, 1] = 0.6
    loss[5, 0] = 0.55  # one that happens to be best, among bad ones
    chosen = _chosen(loss, loss)
    assert (chosen.terms, chosen.relax) == (10, 0.25)  # 8 to 12 are all good


def test_rows_that_are_the_same_are_in_the_same_fold(fitted, rows):
    X, y = rows
    training = fitted._learn(X.iloc[np.repeat(np.arange(100), 2)], np.repeat(y[:100], 2))
    parts = folds(same_rows(training), training.y, 5, False, 0)
    np.testing.assert_array_equal(parts[::2], parts[1::2])
    assert np.bincount(parts).tolist() == [40] * 5


def test_scores_far_out_do_not_overflow():
    X = np.arange(40.0)[:, None]
    with np.errstate(all="raise"):
        model = RuleFit(2, rules=10).fit(X, X[:, 0] > 19.5)
        assert np.isfinite(model.predict_proba(X)).all()


def test_wrong_arguments_are_named(rows):
    X, y = rows
    for options, words in (
        ({"terms": 0}, "terms must be a whole number"),
        ({"folds": 1}, "folds must be a whole number"),
        ({"overlap": 2.0}, "overlap must be"),
        ({"linear": "yes"}, "linear must be"),
    ):
        with pytest.raises(InputError, match=words):
            RuleFit(**options).fit(X, y)
