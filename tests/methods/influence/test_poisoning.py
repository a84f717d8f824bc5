"""Poisoning: the number of changed labels against brute force, slopes against finite differences, and refits."""

from itertools import combinations, product

import numpy as np
import pytest
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pellucid
from golden_files import masked
from pellucid.methods.influence.estimation.label_slopes import label_slopes
from pellucid.trees.leaf_fit import BoostedRows, best_constant, places


def table(n, seed=0, columns=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, columns))
    return X, X[:, 0] + 0.5 * X[:, 1] + 0.5 * rng.normal(size=n)


def fewest(model, X, y, x, options, reached):
    """By trying every choice of rows and every new outcome."""
    for k in range(len(y) + 1):
        for rows in combinations(range(len(y)), k):
            for values in product(options, repeat=k):
                other = y.copy()
                other[list(rows)] = values
                if len(np.unique(other)) > 1 and reached(model.fit(X, other), x):
                    return k
    return None


@pytest.mark.parametrize("model", [LinearRegression(), Ridge(2.0), make_pipeline(StandardScaler(), Ridge(1.0))])
@pytest.mark.parametrize(("row", "off"), [(0, 1.2), (3, -0.7), (5, 0.3)])
def test_the_proven_minimum_of_least_squares_is_that_of_brute_force(model, row, off):
    X, y = table(8, seed=row)
    target = float(model.fit(X, y).predict(X[[row]])[0] + off)
    found = pellucid.Explainer(model, X, y).poisoning(row, target)
    sign = np.sign(off)
    slow = fewest(
        type(model)(model.steps) if hasattr(model, "steps") else type(model)(**model.get_params()),
        X,
        y,
        X[[row]],
        (y.min(), y.max()),
        lambda fitted, x: sign * (fitted.predict(x)[0] - target) >= 0,
    )
    assert slow is not None
    assert found.needed == found.least == slow


def test_weights_count_in_the_proven_minimum():
    X, y = table(40)
    w = np.arange(40) % 3.0
    model = LinearRegression().fit(X, y, w)
    found = pellucid.Explainer(model, X, y, sample_weight=w).poisoning(0, float(model.predict(X[:1])[0]) + 1)
    assert found.least == found.needed
    assert (w[found.rows] > 0).all()


def test_what_no_change_can_reach_is_proven():
    X, y = table(30)
    found = pellucid.Explainer(LinearRegression().fit(X, y), X, y).poisoning(0, 1000.0)
    assert found.impossible
    assert found.needed is None


@pytest.mark.parametrize("seed", range(3))
def test_logistic_regression_needs_hardly_more_than_brute_force(seed):
    X, z = table(10, seed)
    y = (z > np.median(z)).astype(int)
    model = LogisticRegression(C=10.0).fit(X, y)
    found = pellucid.Explainer(model, X, y).poisoning(0)
    before = model.predict(X[:1])[0]
    slow = fewest(LogisticRegression(C=10.0), X, y, X[:1], (0, 1), lambda m, x: m.predict(x)[0] != before)
    assert slow <= found.needed <= slow + 1


MODELS = [
    LogisticRegression(),
    RandomForestClassifier(20, random_state=0),
    HistGradientBoostingClassifier(max_iter=10, random_state=0),
    GradientBoostingClassifier(n_estimators=10, random_state=0),
    KNeighborsClassifier(9),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("classes", [2, 3])
def test_refitting_with_the_changed_labels_turns_the_prediction(model, classes):
    X, z = table(120)
    y = np.array(["a", "b", "c"])[np.digitize(z, [0.0] if classes == 2 else [-0.5, 0.5])]
    row = int(np.argmax(z))
    found = pellucid.Explainer(model.fit(X, y), X, y).poisoning(row)
    other = y.copy()
    other[found.rows] = found.changed
    assert found.given == tuple(y[found.rows])
    assert found.needed == (other != y).sum() == len(found)
    assert model.fit(X, other).predict(X[[row]])[0] == found.target


def test_slopes_of_logistic_regression_are_derivatives():
    X, z = table(60)
    y = np.digitize(z, [-0.5, 0.5])
    ex = pellucid.Explainer(LogisticRegression(tol=1e-10, max_iter=1000).fit(X, y), X, y)
    from pellucid.methods.influence.estimation.point_loss import LogLoss
    from pellucid.methods.influence.function import Problem
    from pellucid.models.linear_fit import linear_fit

    fit, toward = linear_fit(ex.predictor), np.array([1.0, -1.0, 0.0])
    slopes = label_slopes(ex.predictor, ex.data, ex.data.rows(0), toward, fit, ex._run("poisoning"))
    A, step = np.column_stack([np.ones(60), X]), 1e-4

    def score(Y):
        problem = Problem(LogLoss(), A, Y, np.ones(60), 0.0, fit.penalty, fit.penalty, fit.theta)
        return A[0] @ problem.optimum(1e-12) @ toward

    for i, k in [(1, 0), (7, 1), (20, 2)]:
        up, down = slopes.Y.copy(), slopes.Y.copy()
        up[i, k] += step
        down[i, k] -= step
        assert slopes.at(slopes.Y)[i, k] == pytest.approx((score(up) - score(down)) / (2 * step), rel=1e-3, abs=1e-7)


@pytest.mark.parametrize("kind", ["squared", "logistic", "softmax"])
def test_slopes_of_boosted_trees_are_derivatives_with_the_splits_kept(kind):
    X, z = table(80)
    y = {"squared": z, "logistic": (z > 0).astype(int), "softmax": np.digitize(z, [-0.5, 0.5])}[kind]
    kind_of = GradientBoostingRegressor if kind == "squared" else GradientBoostingClassifier
    ex = pellucid.Explainer(kind_of(n_estimators=5, max_depth=2).fit(X, y), X, y)
    from pellucid.reading.trees import read_trees
    from pellucid.trees.convert.training import training

    run = ex._run("poisoning")
    ensemble, how = read_trees(run, ex.predictor, ex.data).model.ensemble, training(ex.predictor.model, 80)
    K = ensemble.n_outputs
    Y = np.eye(K)[y] if kind == "softmax" else np.asarray(y, float)[:, None]
    toward, at, w, step = np.arange(1.0, K + 1), places(ensemble, X[:1]), np.ones(80), 1e-5

    def score(labels):
        rows = BoostedRows.of(how, ensemble, X, labels)
        return float(rows.scores_of(rows.fit(w, best_constant(labels, w, how)), at)[0] @ toward)

    rows = BoostedRows.of(how, ensemble, X, Y)
    found = rows.label_slopes(rows.fit(w, best_constant(Y, w, how)), w, at[0], toward)
    for i, k in product((0, 5, 33), range(K)):
        up, down = Y.copy(), Y.copy()
        up[i, k] += step
        down[i, k] -= step
        assert found[i, k] == pytest.approx((score(up) - score(down)) / (2 * step), rel=1e-5, abs=1e-8)


def test_sentences_table_and_chart(golden):
    X, z = table(200)
    y = np.where(z > 0, "yes", "no")
    row = int(np.argmin(z))
    classes = pellucid.Explainer(LogisticRegression().fit(X, y), X, y).poisoning(row)
    golden("influence", "poisoning of a class", masked(classes.text()))
    assert list(classes.frame().columns) == ["row", "given", "changed", "gain"]
    assert classes.plot().spec
    ex = pellucid.Explainer(LinearRegression().fit(X, z), X, z)
    golden("influence", "poisoning of a number", masked(ex.poisoning(row, 0.0).text()))
    golden("influence", "poisoning that is impossible", masked(ex.poisoning(row, 1e6).text()))
    near = pellucid.Explainer(KNeighborsClassifier(5).fit(X, y), X, y).poisoning(X[row] + 0.01)
    golden("influence", "poisoning by near rows", masked(near.text()))


def test_what_cannot_be_asked():
    X, z = table(40)
    numbers = pellucid.Explainer(LinearRegression().fit(X, z), X, z)
    with pytest.raises(pellucid.InputError, match="target must be a number"):
        numbers.poisoning(0)
    with pytest.raises(pellucid.InputError, match="row must be one row"):
        numbers.poisoning([0, 1], 3.0)
    y = (z > 0).astype(int)
    classes = pellucid.Explainer(LogisticRegression().fit(X, y), X, y)
    with pytest.raises(pellucid.InputError, match="predicts already"):
        classes.poisoning(0, int(classes.predictor.model.predict(X[:1])[0]))
    with pytest.raises(pellucid.InputError, match="no class of the model"):
        classes.poisoning(0, "maybe")
