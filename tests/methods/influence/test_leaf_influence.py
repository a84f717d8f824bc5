"""Trees with every split kept: leaf values reproduced, and refitted without a row."""

import numpy as np
import pytest
from sklearn.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeRegressor

import pellucid
from limits import limited
from pellucid.trees.convert.training import training
from pellucid.trees.leaf_fit import BoostedRows, best_constant, places
from reference import influence as slow


def table(n=120, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, X[:, 0] * 3 + np.where(X[:, 1] > 0, X[:, 2], -2.0) + rng.normal(size=n)


def boosted():
    lightgbm, xgboost = pytest.importorskip("lightgbm"), pytest.importorskip("xgboost")
    hist = {"max_iter": 12, "max_leaf_nodes": 5, "early_stopping": False, "min_samples_leaf": 5}
    light = {"n_estimators": 12, "num_leaves": 5, "min_child_samples": 5, "verbose": -1}
    return {
        "hist": (HistGradientBoostingRegressor(**hist, l2_regularization=1.5), False),
        "hist classes": (HistGradientBoostingClassifier(**hist), True),
        "gradient": (GradientBoostingRegressor(n_estimators=12), False),
        "gradient classes": (GradientBoostingClassifier(n_estimators=12), True),
        "xgboost": (xgboost.XGBRegressor(n_estimators=12, max_depth=2), False),
        "xgboost classes": (xgboost.XGBClassifier(n_estimators=12, max_depth=2), True),
        "lightgbm": (lightgbm.LGBMRegressor(**light, reg_lambda=2.0), False),
        "lightgbm classes": (lightgbm.LGBMClassifier(**light), True),
    }


NAMES = ["hist", "gradient", "xgboost", "lightgbm"]


@pytest.mark.parametrize("name", [*NAMES, *(f"{name} classes" for name in NAMES)])
def test_strongest_rows_are_leaf_refits(name):
    model, classes = boosted()[name]
    X, y = table()
    y = (y > 0).astype(int) if classes else y
    model.fit(X, y)
    ex = pellucid.Explainer(model, X, y, link="logit" if classes else "identity", checks=False)
    found = ex.influence([0, 50])
    assert found.how == "trees kept"
    assert found.settings["leaf_error"] < 1e-6
    _, truth = by_definition(ex, model, X, y, classes, found.ranking(10))
    assert np.allclose(found.values[found.ranking(10)], truth, rtol=1e-7, atol=1e-7 * np.abs(truth).max())


def by_definition(ex, model, X, y, classes, rows):
    """With minus without, by the slow twin."""
    from pellucid.reading.trees import read_trees

    ensemble = read_trees(ex._run("test"), ex.predictor, ex.data).model.ensemble
    how = training(model, len(X))
    leaf = ensemble.leaves(read_trees(ex._run("test"), ex.predictor, ex.data).model.encode(X))

    def scores(w):
        mean = np.average(y, weights=w)
        base = np.log(mean / (1 - mean)) if classes else mean
        return slow.boosted_scores(leaf, y, leaf[[0, 50]], w, rate=how.rate, l2=how.l2, base=base, logistic=classes)

    full = scores(np.ones(len(X)))
    return full, np.array([full - scores(np.where(np.arange(len(X)) == i, 0.0, 1.0)) for i in rows])


@pytest.mark.parametrize("name", ["hist", "hist classes"])
def test_the_backward_pass_agrees_with_refits(name):
    model, classes = boosted()[name]
    X, y = table()
    y = (y > 0).astype(int) if classes else y
    model.fit(X, y)
    ex = pellucid.Explainer(model, X, y, link="logit" if classes else "identity", checks=False)
    rows = np.arange(len(X))
    found = ex.influence([0, 50])
    _, truth = by_definition(ex, model, X, y, classes, rows)
    assert np.corrcoef(found.values.ravel(), truth.ravel())[0, 1] > 0.98


def test_several_classes_backwards_and_forwards():
    X, y = table()
    y = np.digitize(y, [-2, 2])
    model = HistGradientBoostingClassifier(max_iter=6, max_leaf_nodes=4, early_stopping=False).fit(X, y)
    from pellucid.trees.convert import convert

    ensemble = convert(model).ensemble
    how = training(model, len(X))
    rows = BoostedRows.of(how, ensemble, X, np.eye(3)[y])
    w = np.ones(len(X))
    fit = rows.fit(w, best_constant(rows.Y, w, how))
    at = places(ensemble, X[:4])
    moved = np.zeros((len(X), 3))
    back = rows.adjoint(fit, w, moved, at)
    for i in (0, 3, 77):
        without = w.copy()
        without[i] = 0
        truth = rows.scores_of(rows.fit(without, fit.base), at) - rows.scores_of(fit, at)
        assert np.abs(back[i] - truth).max() < 0.1 * np.abs(truth).max()


@pytest.mark.parametrize(
    "model",
    [
        RandomForestRegressor(12, random_state=0),
        RandomForestRegressor(12, random_state=0, min_samples_leaf=4, max_samples=0.5),
        ExtraTreesRegressor(8, random_state=0, min_samples_leaf=3),
        DecisionTreeRegressor(max_depth=3, random_state=0),
    ],
    ids=lambda model: f"{type(model).__name__}{model.min_samples_leaf}",
)
def test_leaf_means_of_averaged_trees(model):
    X, y = table(60)
    model.fit(X, y)
    found = pellucid.Explainer(model, X, y, checks=False).influence([0, 9])
    members = getattr(model, "estimators_", [model])
    samples = getattr(model, "estimators_samples_", [np.arange(60)] * len(members))
    for i in found.ranking(5):
        change = np.zeros(2)
        for member, some in zip(members, samples, strict=True):
            drawn = some if getattr(model, "bootstrap", False) else np.arange(60)
            paths = member.decision_path(X).toarray().astype(bool)
            for r, x in enumerate((0, 9)):
                kept = drawn[drawn != i]
                nodes = np.flatnonzero(paths[x])[::-1]  # from the leaf up
                mean = next(y[kept[paths[kept, node]]].mean() for node in nodes if paths[kept, node].any())
                change[r] += (member.predict(X[x : x + 1])[0] - mean) / len(members)
        assert np.allclose(found.values[i], change, atol=1e-9)


def test_classes_of_a_forest():
    X, y = table(80)
    model = RandomForestClassifier(10, random_state=0, min_samples_leaf=3).fit(X, y > 0)
    found = pellucid.Explainer(model, X, y > 0, checks=False).influence(range(80))
    assert found.settings["leaf_error"] < 1e-12
    pull = np.diag(found.values) * np.where(y > 0, 1, -1)  # a row pulls its own prediction to its outcome
    assert (pull >= 0).all()
    assert (pull > 0).sum() > 20


@pytest.mark.parametrize(
    "model",
    [
        GradientBoostingRegressor(n_estimators=5, subsample=0.5, random_state=0),
        GradientBoostingRegressor(n_estimators=5, loss="absolute_error"),
        HistGradientBoostingRegressor(max_iter=5, early_stopping=True, random_state=0),
    ],
)
def test_leaves_that_are_fitted_otherwise_are_refused(model):
    X, y = table()
    ex = pellucid.Explainer(model.fit(X, y), X, y, checks=False)
    with pytest.raises(pellucid.InputError, match="use method='deletion'"):
        ex.influence(method="leaves")


def test_other_rows_are_refused():
    X, y = table(200)
    model = HistGradientBoostingRegressor(max_iter=5, early_stopping=False).fit(X[:100], y[:100])
    with pytest.raises(pellucid.InputError, match="not its training rows"):
        pellucid.Explainer(model, X[100:], y[100:]).influence(method="leaves")


def test_the_jolt_of_any_row_stands_beside_it():
    X, y = table()
    model = GradientBoostingRegressor(n_estimators=20, max_depth=4, random_state=0).fit(X, y)
    found = pellucid.Explainer(model, X, y).influence([0, 1, 2])
    assert found.checked.jolt_rows == 3
    assert found.checked.jolt > 0
    codes = {caveat.code: caveat for caveat in found.caveats}
    assert codes["not-refitted"].value == found.checked.gap
    X, y = table(250)
    model = GradientBoostingRegressor(n_estimators=60, random_state=0).fit(X, y)
    deep = pellucid.Explainer(model, X, y).influence(range(20))
    assert next(c for c in deep.caveats if c.code == "any-row").value == deep.checked.jolt / deep.strength.max()
    flat = DecisionTreeRegressor(max_depth=1).fit(X, y)
    calm = {caveat.code for caveat in pellucid.Explainer(flat, X, y).influence([0]).caveats}
    assert not calm & {"any-row", "not-refitted"}


def test_a_large_model_is_checked_by_fewer_refits_and_a_seeded_one_stands_for_itself(monkeypatch):
    fits, fit = [], GradientBoostingRegressor.fit
    monkeypatch.setattr(GradientBoostingRegressor, "fit", lambda self, *given: fits.append(1) or fit(self, *given))
    X, y = table()
    checked = []
    for seed, large in ((None, 1 << 22), (0, 1 << 22), (0, 0)):
        model = GradientBoostingRegressor(n_estimators=5, random_state=seed).fit(X, y)
        fits.clear()
        checked.append(limited(pellucid.Explainer(model, X, y), refitted=large).influence([0]).checked)
        assert len(fits) == (7, 6, 3)[len(checked) - 1]
    assert checked[0].refitted.tolist() == checked[1].refitted.tolist()
    assert checked[2].refitted[:2].tolist() == checked[1].refitted[:2].tolist()
    assert checked[2].jolt_rows == 1
