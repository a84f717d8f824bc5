"""Training rows are recognised by how they fill the leaves; unseen rows are left alone."""

import numpy as np
import pytest
from scipy.stats import chisquare
from sklearn.ensemble import (
    BaggingRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from pellucid import Explainer
from pellucid.diagnostics.fitted_rows import SURE, chance_of_unseen
from pellucid.models.bootstrap import first_draw

N = 600


def rows(seed, n=N, classes=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    y = X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=n)
    return X, (y > 0).astype(int) if classes else y


def xgboost(**options):
    return pytest.importorskip("xgboost").XGBRegressor(n_estimators=20, n_jobs=1, **options)


def lightgbm():
    return pytest.importorskip("lightgbm").LGBMRegressor(n_estimators=20, verbose=-1, n_jobs=1)


MODELS = {
    "sklearn": lambda: GradientBoostingRegressor(n_estimators=20, random_state=0),
    "subsample": lambda: GradientBoostingRegressor(n_estimators=20, max_depth=7, subsample=0.8, random_state=0),
    "histogram": lambda: HistGradientBoostingRegressor(max_iter=20, random_state=0),
    "forest": lambda: RandomForestRegressor(5, random_state=0),
    "forest of samples, in a pipeline": lambda: make_pipeline(
        StandardScaler(), RandomForestRegressor(5, max_samples=0.5, max_depth=6, random_state=0)
    ),
    "bagged trees": lambda: BaggingRegressor(DecisionTreeRegressor(max_depth=6), 5, random_state=0),
    "one tree": lambda: DecisionTreeRegressor(max_depth=5, random_state=0),
    "xgboost": lambda: xgboost(max_depth=4),
    "xgboost, subsample": lambda: xgboost(max_depth=6, subsample=0.9),
    "lightgbm": lightgbm,
}


def found(model, X, y, **options):
    explainer = Explainer(model, X, y, progress=False, **options)
    return chance_of_unseen(explainer.predictor, explainer.data, explainer._run("test")), explainer


@pytest.mark.parametrize("name", MODELS)
def test_training_rows_are_recognised_and_others_are_not(name):
    X, y = rows(0)
    model = MODELS[name]().fit(X, y)
    chance, explainer = found(model, X, y)
    assert chance < SURE
    assert "training-data" in {item.code for item in explainer.performance().caveats}
    assert explainer.audit().line("overfitting").bad
    chances = [found(model, *rows(seed))[0] for seed in range(1, 30)]
    assert min(chances) > 1e-3
    fresh = found(model, *rows(1))[1]
    assert "training-data" not in {item.code for item in fresh.performance().caveats}
    assert not fresh.audit().line("overfitting").bad


def test_the_chance_is_that_of_pearsons_statistic():
    X, y = rows(0)
    model = DecisionTreeRegressor(max_depth=4, min_samples_leaf=20, random_state=0).fit(X, y)
    new = rows(5)[0]
    tree = model.tree_
    leaves = np.flatnonzero(tree.children_left < 0)
    observed = np.array([(model.apply(new) == leaf).sum() for leaf in leaves])
    expected = N * tree.n_node_samples[leaves] / N
    assert found(model, new, rows(5)[1])[0] == pytest.approx(1 - chisquare(observed, expected).pvalue)


def test_classes_and_rows_of_which_most_were_trained_on():
    X, y = rows(0, classes=True)
    more, z = rows(1, n=100, classes=True)
    model = GradientBoostingClassifier(max_depth=5, n_estimators=10, random_state=0).fit(X, y)
    assert found(model, X, y)[0] < SURE
    assert found(model, np.vstack([X, more]), np.append(y, z))[0] < SURE
    assert found(model, more, z)[0] > SURE


def test_what_cannot_be_told_is_not_said():
    X, y = rows(0)
    assert found(LinearRegression().fit(X, y), X, y)[0] is None
    assert found(DecisionTreeRegressor(max_depth=1).fit(X, y), X, y)[0] is None
    model = GradientBoostingRegressor(n_estimators=5, random_state=0).fit(X, y)
    assert found(model, X, y, sample_weight=np.arange(1.0, N + 1))[0] is None


def test_rows_of_a_forest_are_those_of_its_bootstrap():
    X, y = rows(0, classes=True)
    forest = RandomForestClassifier(3, max_depth=5, random_state=4).fit(X, y)
    drawn, first = first_draw(forest, N), forest.estimators_[0]
    assert drawn.sum() == N
    assert drawn.max() > 1
    reached = np.bincount(first.apply(X), drawn, minlength=first.tree_.node_count)
    leaves = first.tree_.children_left < 0
    np.testing.assert_allclose(reached[leaves], first.tree_.weighted_n_node_samples[leaves])
    assert found(forest, X, y)[0] == 0
    shuffled = np.random.default_rng(0).permutation(N)
    assert found(forest, X[shuffled], y[shuffled])[0] > SURE  # the order is part of the draw
    assert first_draw(forest, N - 1) is None or found(forest, X[1:], y[1:])[0] > SURE


def test_a_release_that_does_not_list_its_draws_is_drawn_again():
    class Old:
        bootstrap, max_samples = True, None

    X, y = rows(0)
    forest = RandomForestRegressor(2, random_state=1).fit(X, y)
    old = Old()
    old.estimators_ = forest.estimators_
    np.testing.assert_array_equal(first_draw(old, N), first_draw(forest, N))
    old.max_samples = 0.5
    assert first_draw(old, N) is None
    assert first_draw(GradientBoostingRegressor(n_estimators=2).fit(X, y), N) is None
