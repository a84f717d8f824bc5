"""On the same inputs scikit-learn's own inspection gives the same numbers."""

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import GradientBoostingClassifier, RandomForestRegressor
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.svm import SVR

from pellucid import Explainer
from pellucid.methods.importance import permutation
from pellucid.methods.importance.estimation.loss_change import Setting
from pellucid.methods.importance.estimation.row_and_donor import Before
from versions import needs

TOLERANCE = 1e-12


@pytest.fixture(scope="module")
def regression():
    X, y = make_regression(120, 4, noise=3.0, random_state=0)
    X[:, 2] = np.round(X[:, 2])  # ties
    return X, y / y.std()


@pytest.fixture(scope="module")
def forest(regression):
    return RandomForestRegressor(10, max_depth=5, random_state=0).fit(*regression)


@pytest.fixture(scope="module")
def machine(regression):
    return SVR(C=10.0).fit(*regression)


@pytest.fixture(scope="module")
def classifier():
    X, labels = make_classification(
        150, 4, n_informative=3, n_redundant=0, n_classes=3, n_clusters_per_class=1, random_state=1
    )
    return GradientBoostingClassifier(n_estimators=8, random_state=0).fit(X, labels), X


def assert_same(actual, expected):
    np.testing.assert_allclose(actual, expected, rtol=TOLERANCE, atol=TOLERANCE)


@pytest.mark.parametrize("feature", [0, 2])
@pytest.mark.parametrize("model", ["forest", "machine"])
def test_pdp_and_ice_of_one_feature(request, regression, model, feature):
    X, _ = regression
    estimator = request.getfixturevalue(model)
    options = {"method": "brute", "grid_resolution": 20, "percentiles": (0, 1), "kind": "both"}
    theirs = partial_dependence(estimator, X, [feature], **options)
    explainer = Explainer(estimator, X)
    effect = explainer.pdp(feature, grid=20)
    assert_same(effect.grid, theirs["grid_values"][0])
    assert_same(effect.values, theirs["average"][0])
    assert_same(explainer.ice(feature, grid=20).values, theirs["individual"][0])


def test_pdp_of_a_pair(regression, forest):
    X, _ = regression
    options = {"method": "brute", "grid_resolution": 6, "percentiles": (0, 1), "kind": "both"}
    theirs = partial_dependence(forest, X, [0, 3], **options)
    explainer = Explainer(forest, X)
    effect = explainer.pdp((0, 3), grid=6)
    for ours, grid in zip(effect.grid, theirs["grid_values"], strict=True):
        assert_same(ours, grid)
    assert_same(effect.values, theirs["average"][0])
    assert_same(explainer.pdp((0, 3), grid=6, kind="individual").values, theirs["individual"][0])


@needs("scikit-learn", "1.7")
def test_pdp_at_custom_values(regression, machine):
    X, _ = regression
    at = [-1.5, 0.25, 0.75, 3.0]
    theirs = partial_dependence(machine, X, [1], method="brute", kind="average", custom_values={1: at})
    effect = Explainer(machine, X).pdp(1, at=at)
    assert_same(effect.values, theirs["average"][0])


@pytest.mark.parametrize("features", [[0], [0, 1]])
def test_weighted_pdp(regression, forest, features):
    X, _ = regression
    mass = np.random.default_rng(0).exponential(size=len(X))
    options = {"method": "brute", "grid_resolution": 5, "percentiles": (0, 1), "kind": "average"}
    theirs = partial_dependence(forest, X, features, sample_weight=mass, **options)
    effect = Explainer(forest, X, sample_weight=mass).pdp(features, grid=5)
    assert_same(effect.values, theirs["average"][0])


def test_pdp_of_every_class(classifier):
    model, X = classifier
    theirs = partial_dependence(
        model,
        X,
        [1],
        method="brute",
        response_method="predict_proba",
        grid_resolution=9,
        percentiles=(0, 1),
        kind="both",
    )
    explainer = Explainer(model, X)
    effect = explainer.pdp(1, grid=9)
    assert effect.values.shape == (9, 3)
    assert_same(effect.values.T, theirs["average"])
    assert_same(np.moveaxis(explainer.ice(1, grid=9).values, -1, 0), theirs["individual"])
    assert effect.scale == "probability"


def sklearn_donors(random_state, n, repeats):
    """The permutations scikit-learn applies: one seed for all columns, shuffles of shuffles."""
    seed = np.random.RandomState(random_state).randint(np.iinfo(np.int32).max + 1)
    generator = np.random.RandomState(seed)
    shuffling, column, donors = np.arange(n), np.arange(n), []
    for _ in range(repeats):
        generator.shuffle(shuffling)
        column = column[shuffling]
        donors.append(column)
    return np.stack(donors)


def importances(explainer, loss, donors):
    """Our importances, and those of every repeat, with given donor rows."""
    run, predictor, data = explainer._run("importance"), explainer.predictor, explainer.data
    shuffled = permutation._Shuffled.of(run, predictor, data, list(data.schema.players().values()), donors)
    before = Before.of(Setting.of(predictor, data, loss, shuffled.asked.itself()), "difference")
    found = shuffled.losses(before, "shuffle")
    values, repeats = np.array([one.value for one in found]), np.stack([one.repeats for one in found])
    return values, repeats


@pytest.mark.parametrize(("loss", "scoring"), [("mse", "neg_mean_squared_error"), ("mae", "neg_mean_absolute_error")])
@pytest.mark.parametrize("weighted", [False, True])
def test_permutation_importance(regression, forest, loss, scoring, weighted):
    X, y = regression
    X = X.copy()
    mass = np.random.default_rng(1).uniform(0.5, 2, len(X)) if weighted else None
    theirs = permutation_importance(forest, X, y, n_repeats=6, random_state=7, scoring=scoring, sample_weight=mass)
    explainer = Explainer(forest, X, y, sample_weight=mass, checks=False)
    values, repeats = importances(explainer, loss, sklearn_donors(7, len(X), 6))
    assert_same(repeats, theirs.importances)
    assert_same(values, theirs.importances_mean)


def test_permutation_importance_of_a_classifier(classifier):
    model, X = classifier
    labels = model.predict(X)
    labels[::5] = (labels[::5] + 1) % 3
    explainer = Explainer(model, X, labels, checks=False)
    for loss, scoring in {"log_loss": "neg_log_loss", "error": "accuracy", "1-auc": "roc_auc_ovr"}.items():
        theirs = permutation_importance(model, X, labels, n_repeats=4, random_state=3, scoring=scoring)
        assert_same(importances(explainer, loss, sklearn_donors(3, len(X), 4))[1], theirs.importances)
