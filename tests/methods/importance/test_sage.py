"""SAGE: equal to its definition, to closed forms, and to what a fair share of the loss must be."""

import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import GradientBoostingRegressor, RandomForestClassifier
from sklearn.linear_model import LogisticRegression

import pellucid
from pellucid import Explainer
from reference.sage import sage_values


def squared(truth, prediction):
    return (truth - prediction) ** 2


def curved(X):
    X = np.asarray(X, dtype=float)
    return X[:, 0] * X[:, 1] + np.sin(X[:, 2]) + 0.5 * X[:, 0]


def table(n=60, p=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    X[:, 1] += 0.7 * X[:, 0]
    return X, curved(X) + rng.normal(size=n)


def sage(model, X, y=None, *, options=None, **given):
    return Explainer(model, X, y, progress=False, **(options or {})).importance(method="sage", **given)


class Softmax(ClassifierMixin, BaseEstimator):
    """Three classes with interacting scores."""

    classes_ = np.array(["a", "b", "c"])

    def __sklearn_is_fitted__(self):
        return True

    def fit(self, X, y):
        return self

    def predict_proba(self, X):
        X = np.asarray(X, dtype=float)
        scores = np.exp(np.column_stack([X[:, 0] * X[:, 1], X[:, 1] - X[:, 2], X[:, 2]]))
        return scores / scores.sum(axis=1, keepdims=True)

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


# -- the definition ----------------------------------------------------------------------------------


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 6), st.integers(1, 4), st.sampled_from(["mse", "mae"]), st.booleans())
def test_equals_the_average_gain_over_all_orders(seed, n, p, loss, weighted):
    rng = np.random.default_rng(seed)
    X, background = rng.normal(size=(n, p)), rng.normal(size=(3, p))
    y = rng.normal(size=n)
    weights = rng.integers(1, 4, n).astype(float) if weighted else np.ones(n)

    def model(Z):
        return np.prod(1 + np.asarray(Z), axis=1) + np.asarray(Z)[:, 0]

    found = sage(model, X, y, loss=loss, options={"background": background, "sample_weight": weights})
    row_loss = squared if loss == "mse" else lambda truth, prediction: abs(truth - prediction)
    expected, total = sage_values(
        row_loss, lambda row: float(model(np.array([row]))[0]), X.tolist(), y.tolist(), weights.tolist(),
        [(j,) for j in range(p)], background.tolist(), [1.0] * 3,
    )  # fmt: skip
    np.testing.assert_allclose(found.values, expected, rtol=1e-9, atol=1e-11)
    assert found.joint == pytest.approx(total, rel=1e-9, abs=1e-11)
    np.testing.assert_array_equal(found.se, 0)


def test_the_log_loss_of_three_classes():
    X = table(8, 3)[0]
    model = Softmax()
    y = model.classes_[np.arange(8) % 3]
    places = [list(model.classes_).index(label) for label in y]
    found = sage(model, X, y)

    def loss(truth, prediction):
        return -np.log(prediction[truth])

    expected, total = sage_values(
        loss, lambda row: model.predict_proba(np.array([row]))[0], X.tolist(), places, [1.0] * 8,
        [(0,), (1,), (2,)], X.tolist(), [1.0] * 8,
    )  # fmt: skip
    np.testing.assert_allclose(found.values, expected, rtol=1e-9)
    assert found.measure == "log_loss"
    assert found.joint == pytest.approx(total)
    assert found.values.shape == (3,)


# -- closed forms ------------------------------------------------------------------------------------


def additive_sage(contributions, residual, weights):
    """Of f = mean + sum of a_j under squared loss: 2 E[r a_j] - sum over k of E[a_j a_k], r = y - mean."""
    w = weights / weights.sum()
    moments = np.einsum("i,ij,ik->jk", w, contributions, contributions)
    return 2 * (w * residual) @ contributions - moments.sum(axis=1)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_linear_model_has_the_closed_form(weighted):
    rng = np.random.default_rng(3)
    X, _ = table(120, 4)
    slopes = np.array([2.0, -1.0, 0.5, 0.0])
    y = X @ slopes + rng.normal(size=120)
    weights = rng.uniform(0.5, 2, 120) if weighted else np.ones(120)
    found = sage(lambda Z: np.asarray(Z) @ slopes, X, y, options={"sample_weight": weights})
    middle = np.average(X, axis=0, weights=weights)
    expected = additive_sage((X - middle) * slopes, y - middle @ slopes, weights)
    np.testing.assert_allclose(found.values, expected, rtol=1e-9, atol=1e-10)


def test_with_independent_features_and_the_true_model_it_is_the_variance_of_each_term():
    levels = np.array([-1.0, 1.0])
    X = np.array(np.meshgrid(levels, levels, levels)).reshape(3, -1).T  # independent, exactly
    slopes = np.array([3.0, 2.0, 1.0])
    found = sage(lambda Z: np.asarray(Z) @ slopes, X, X @ slopes)
    np.testing.assert_allclose(found.values, slopes**2, rtol=1e-12)
    assert found.baseline == pytest.approx(0)


def test_without_y_the_values_are_shares_of_the_variance():
    levels = np.array([-1.0, 1.0])
    X = np.array(np.meshgrid(levels, levels, levels)).reshape(3, -1).T
    found = sage(lambda Z: np.asarray(Z) @ np.array([3.0, 2.0, 1.0]), X)
    np.testing.assert_allclose(found.values, np.array([9.0, 4.0, 1.0]) / 14, rtol=1e-12)
    assert found.measure == "share of prediction variance"
    asked = sage(curved, *table(), loss="variance")
    assert asked.values.sum() == pytest.approx(asked.joint)
    assert asked.joint == pytest.approx(1)


# -- fairness ----------------------------------------------------------------------------------------


def test_an_unused_feature_has_nothing_and_equal_features_have_the_same():
    rng = np.random.default_rng(0)
    half = rng.normal(size=(20, 3))
    X = np.vstack([half, half[:, [1, 0, 2]]])  # the first two are exchangeable
    y = np.tile(rng.normal(size=20), 2)
    found = sage(lambda Z: np.asarray(Z)[:, 0] * np.asarray(Z)[:, 1], X, y)
    assert found.values[0] == pytest.approx(found.values[1], rel=1e-10)
    assert abs(found.values[2]) < 1e-12


def test_the_values_add_up_to_the_gain_over_the_mean_prediction():
    X, y = table()
    for budget in (None, 8_000):
        found = sage(curved, X, y, budget=budget)
        gain = np.mean((y - curved(X).mean()) ** 2) - np.mean((y - curved(X)) ** 2)
        assert found.values.sum() == pytest.approx(gain, rel=1e-10)
        assert found.joint == pytest.approx(gain, rel=1e-10)


def test_groups_are_players():
    X, y = table(10, 4)
    frame = pd.DataFrame(X, columns=list("abcd"))
    found = sage(curved, frame, y, options={"groups": {"pair": ["a", "c"]}})
    expected, _ = sage_values(
        squared, lambda row: float(curved([row])[0]), X.tolist(), y.tolist(), [1.0] * 10,
        [(0, 2), (1,), (3,)], X.tolist(), [1.0] * 10,
    )  # fmt: skip
    by_name = dict(zip(found.feature_names, found.values, strict=True))
    np.testing.assert_allclose([by_name[name] for name in ("pair", "b", "d")], expected, atol=1e-10)


def test_a_group_of_an_additive_model_has_the_sum_of_its_members():
    X, y = table(50, 4)
    frame = pd.DataFrame(X, columns=list("abcd"))

    def additive(Z):
        return np.asarray(Z) @ np.array([1.0, 2.0, 3.0, 4.0])

    alone = sage(additive, frame, y)
    grouped = sage(additive, frame, y, options={"groups": {"pair": ["a", "c"]}})
    together = grouped.values[grouped.feature_names.index("pair")]
    assert together == pytest.approx(alone.values[0] + alone.values[2])


# -- trees -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["boosting", "forest of two classes", "forest of three classes"])
def test_trees_that_are_read_give_what_the_model_would_say(kind, monkeypatch):
    X, target = table(80, 4)
    cuts = {"forest of two classes": [0.0], "forest of three classes": [-0.5, 0.5]}.get(kind)
    if cuts is None:
        y, model = target, GradientBoostingRegressor(n_estimators=10, random_state=0)
    else:
        y, model = np.digitize(target, cuts), RandomForestClassifier(8, min_samples_leaf=4, random_state=0)
    weights = np.where(np.arange(80) % 3, 1.0, 2.0)
    given = {"options": {"sample_weight": weights, "groups": {"pair": ["x1", "x3"]}}, "loss": None if cuts is None else "brier"}  # fmt: skip
    model.fit(X, y)
    read = sage(model, X, y, **given)
    assert read.settings["engine"] == "trees"
    monkeypatch.setitem(sys.modules, "pellucid.trees.convert.sklearn", SimpleNamespace())  # reads nothing
    asked = sage(model, X, y, **given)
    assert asked.settings["engine"] == "model"
    np.testing.assert_allclose(read.values, asked.values, rtol=1e-9, atol=1e-12)


def test_trees_with_few_coalitions_and_some_rows_are_near_the_exact_values():
    X, y = table(400, 9)
    model = GradientBoostingRegressor(n_estimators=30, random_state=0).fit(X, y)
    exact = sage(model, X, y, budget=10**7)
    assert exact.settings["estimator"] == "exact"
    for budget in (60_000, 25_000):  # all rows, and some of them
        found = sage(model, X, y, budget=budget)
        assert found.settings["estimator"] == "pairs"
        assert (found.settings["rows"] < 400) == (budget == 25_000)
        assert (np.abs(found.values - exact.values) <= 4 * found.se + 1e-3 * exact.joint).all()


def test_boosted_probabilities_are_asked_since_trees_add_up_to_log_odds():
    from sklearn.ensemble import GradientBoostingClassifier

    X, target = table(40, 3)
    model = GradientBoostingClassifier(n_estimators=5, random_state=0).fit(X, target > 0)
    assert sage(model, X, target > 0).settings["engine"] == "model"


# -- corners -----------------------------------------------------------------------------------------


def test_features_that_do_not_vary_have_nothing_and_cost_nothing():
    X, y = table(30, 4)
    X[:, 3] = 7.0
    found = sage(curved, X, y)
    assert found.values[3] == 0
    assert found.settings["coalitions"] == 2**3


def test_one_feature_has_all_of_it():
    X, y = table(30, 3)
    found = sage(lambda Z: 2 * np.asarray(Z)[:, 0], X[:, :1], y)
    assert found.values[0] == pytest.approx(found.joint)


def test_a_model_that_says_the_same_everywhere_gains_nothing():
    X, y = table(30, 3)
    for outcome in (y, None):
        found = sage(lambda Z: np.full(len(Z), 5.0), X, outcome)
        np.testing.assert_array_equal(found.values, 0)
        assert found.joint == 0


def test_a_probability_of_the_logit_link_is_compared_as_a_probability():
    X, target = table(40, 3)
    model = LogisticRegression().fit(X, target > 0)
    plain, linked = (sage(model, X, target > 0, options={"link": link}) for link in ("identity", "logit"))
    np.testing.assert_array_equal(plain.values, linked.values)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"compare": "ratio"}, r"compare= is not used by method='sage'"),
        ({"loss": "rmse"}, r"loss='rmse' is no mean over rows.*use mse"),
        ({"loss": lambda truth, prediction: 0.0}, r"is no mean over rows"),
        ({"budget": 100}, r"budget=100 is too small: 4 features and 60 rows take at least .* model rows"),
        ({"budget": -1}, "budget must be"),
        ({"tolerance": 0.0}, "tolerance must be"),
    ],
)
def test_errors_name_the_remedy(given, message):
    X, y = table()
    with pytest.raises(pellucid.InputError, match=message):
        sage(curved, X, y, **given)


def test_a_loss_needs_y():
    with pytest.raises(pellucid.InputError, match="give y to the Explainer"):
        sage(curved, table()[0], loss="mse")


# -- caveats -----------------------------------------------------------------------------------------


def codes(result):
    return {caveat.code: caveat for caveat in result.caveats}


def test_wide_intervals_are_reported_and_narrow_ones_not():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 12))

    def rough(Z):
        return np.sign(np.prod(np.asarray(Z)[:, :6], axis=1)) + np.asarray(Z)[:, 6]

    y = rough(X) + rng.normal(size=2000)
    wide = codes(sage(rough, X, y, budget=6_000))["imprecise"]
    assert wide.value > 0.5
    assert "interval" in wide.message
    assert "imprecise" not in codes(sage(curved, *table()))


def test_a_tolerance_that_is_not_reached_is_reported():
    X, y = table(300, 9)
    missed = codes(sage(curved, X, y, budget=40_000, tolerance=1e-6))["imprecise"]
    assert missed.threshold == 1e-6
    assert "imprecise" not in codes(sage(curved, X, y, tolerance=0.5))


def test_correlated_features_share_and_others_do_not():
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    X = np.column_stack([x, x + 0.05 * rng.normal(size=300), rng.normal(size=300)])
    y = x + rng.normal(size=300)
    shared = codes(sage(lambda Z: 0.5 * np.asarray(Z)[:, 0] + 0.5 * np.asarray(Z)[:, 1], X, y))
    assert shared["shared-importance"].value == pytest.approx(2 * shared["shared-importance"].threshold, rel=0.2)  # fmt: skip
    assert "off-data" in shared
    apart = codes(sage(lambda Z: np.asarray(Z)[:, 0] + np.asarray(Z)[:, 2], X[:, [0, 2, 2]] + rng.normal(size=(300, 3)), y))  # fmt: skip
    assert "shared-importance" not in apart
    assert "off-data" not in apart


def test_training_data_are_reported():
    X, y = table(100, 3)
    assert codes(sage(curved, X, curved(X)))["training-data"].value < 1e-9
    assert "training-data" not in codes(sage(curved, X, y))
