"""Short trees: CART's own trees, exact sizes, the proven optimum, paths and rules."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

import pellucid
from glassbox.tables import mixed
from pellucid import InputError
from pellucid.glassbox import ShortTree
from pellucid.glassbox.rules.bins import binned
from pellucid.glassbox.rules.growing import grown
from pellucid.glassbox.rules.optimal import optimum


@parametrize_with_checks(
    [ShortTree(task="regression"), ShortTree(task="classification"), ShortTree(depth=2, optimal=True)]
)
def test_it_is_an_estimator(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def rows():
    X, mean = mixed()
    return X, mean + np.random.default_rng(1).normal(0.0, 0.3, len(X))


def test_growing_gives_the_tree_of_cart():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3)).round(2)
    y = X[:, 0] * X[:, 1] + rng.normal(0.0, 0.3, 400)
    bins = binned(X, ["numeric"] * 3, np.ones(400))
    for targets, theirs, outcome in (
        (y[:, None], DecisionTreeRegressor, y),
        (np.eye(2)[(y > 0) * 1], DecisionTreeClassifier, y > 0),
    ):
        ours = grown(bins, targets, np.ones(400), leaves=12)
        peer = theirs(max_leaf_nodes=12, random_state=0).fit(X, outcome).tree_
        loss = (peer.impurity * peer.weighted_n_node_samples)[peer.children_left < 0].sum()
        assert ours.loss[ours.feature < 0].sum() == pytest.approx(loss)


@pytest.mark.parametrize("leaves", [2, 3, 7, 12])
def test_leaves_are_as_many_as_asked_for_and_never_worse_than_best_first(rows, leaves):
    X, y = rows
    numbers = X[["temp"]].assign(hum=X["hum"].fillna(0.0))
    tree = ShortTree(leaves).fit(numbers, y)
    assert tree.n_leaves_ == leaves == len(tree.rules_)
    peer = DecisionTreeRegressor(max_leaf_nodes=leaves, random_state=0).fit(numbers, y)
    assert tree.score(numbers, y) >= peer.score(numbers, y) - 1e-9


def best_of_all(bins, number, nominal, sums, depth, squared):
    """The smallest loss of any tree, by trying all of them."""

    def leaf(rows):
        s = sums[rows].sum(axis=0)
        return max(s[2] - s[1] ** 2 / s[0], 0.0) if squared else s.sum() - s.max()

    def best(rows, depth):
        loss = leaf(rows)
        for j in range(len(bins) if depth else 0):
            for cut in range(number[j]):
                left = rows & (bins[j] == cut if nominal[j] else bins[j] <= cut)
                if left.any() and (rows & ~left).any():
                    loss = min(loss, best(left, depth - 1) + best(rows & ~left, depth - 1))
        return loss

    return best(np.ones(bins.shape[1], dtype=bool), depth)


@pytest.mark.parametrize("squared", [False, True])
def test_the_optimum_is_the_best_of_all_trees(squared):
    rng = np.random.default_rng(3)
    number, nominal, n = np.array([3, 4, 3]), np.array([False, False, True]), 30
    for depth in (1, 2, 3, 3):
        bins = np.stack([rng.integers(0, k, n) for k in number])
        y, w = rng.normal(size=n) + bins[0] * bins[1], rng.integers(1, 3, n)
        classes = np.eye(3)[rng.integers(0, 3, n)] * w[:, None]
        sums = np.stack([w, w * y, w * y * y], axis=1) if squared else classes
        found = optimum(bins, number, nominal, sums, depth=depth, squared=squared, budget=10**6)
        assert found.loss == pytest.approx(best_of_all(bins, number, nominal, sums, depth, squared))
        assert found.gap == 0.0


def test_the_optimum_is_what_its_tree_predicts_and_a_small_budget_leaves_a_gap(rows):
    X, y = rows
    classes = np.where(y > np.median(y), "high", "low")
    tree = ShortTree(depth=3, optimal=True, bins=16).fit(X, classes)
    assert tree.gap_ == 0.0
    assert (tree.predict(X) != classes).sum() == tree.loss_
    assert tree.loss_ <= (ShortTree(None, depth=3).fit(X, classes).predict(X) != classes).sum()
    squares = ShortTree(depth=3, optimal=True, bins=16).fit(X, y)
    assert np.square(squares.predict(X) - y).sum() == pytest.approx(squares.loss_)
    short = ShortTree(depth=3, optimal=True, bins=16, budget=2).fit(X, classes)
    assert short.gap_ > 0.0
    assert short.loss_ - short.gap_ <= tree.loss_ <= short.loss_


def test_weight_two_is_the_row_twice(rows):
    X, y = rows
    weights = np.random.default_rng(2).integers(0, 4, len(X))
    twice = np.repeat(np.arange(len(X)), weights)
    for options in ({}, {"optimal": True, "depth": 2}):
        weighted = ShortTree(**options).fit(X, y, sample_weight=weights)
        repeated = ShortTree(**options).fit(X.iloc[twice], y[twice])
        assert weighted.text() == repeated.text()
        np.testing.assert_allclose(weighted.predict(X), repeated.predict(X))


def test_rules_paths_and_importance_agree_with_predictions(rows):
    X, y = rows
    tree = ShortTree(9).fit(X, y)
    holds = np.stack([rule.applies(X) for rule in tree.rules_], axis=1)
    np.testing.assert_array_equal(holds.sum(axis=1), 1)
    np.testing.assert_allclose(holds @ [rule.same[0, 0] for rule in tree.rules_], tree.predict(X))
    found = tree.explain(X)
    np.testing.assert_allclose(found.base + found.values.sum(axis=1), tree.predict(X))
    assert float(found.base) == pytest.approx(y.mean())
    assert tree.explain().values.sum() == pytest.approx(100.0)


def test_a_split_counterfactual_is_the_prediction_on_the_other_side():
    X = np.arange(40.0)[:, None]
    tree = ShortTree(2).fit(X, np.where(X[:, 0] > 19.5, "late", "early"))
    (said,) = tree.what_if(X[:1])
    assert "x0 > 20" in said or "x0 > 19" in said
    assert said.endswith("late.")
    with pytest.raises(InputError, match="row holds 2 rows"):
        tree.what_if(X[:2])


def test_unseen_levels_and_missing_values_go_where_most_rows_went(rows):
    X, y = rows
    tree = ShortTree(8).fit(X, y + 2.0 * (X["season"] == "summer"))
    odd = X.iloc[:20].assign(season="autumn", temp=np.nan)
    assert np.isfinite(tree.predict(odd)).all()


def test_an_explainer_reads_its_trees(rows):
    X, y = rows
    for tree in (ShortTree(6).fit(X, y), ShortTree(6).fit(X, y > 2.5)):
        ex = pellucid.Explainer(tree, X)
        found = ex.shap([0, 1])
        assert found.method == "tree"
        assert found.cost.model_rows <= 2
        assert found.game == "marginal"


def test_wrong_arguments_are_named(rows):
    X, y = rows
    for options, words in (
        ({"leaves": 1}, "leaves must be a whole number"),
        ({"leaves": 4, "optimal": True}, "leaves must be None with optimal=True"),
        ({"optimal": True, "depth": 9}, "depth must be a whole number from 1 to 4"),
        ({"task": "ranking"}, "task"),
    ):
        with pytest.raises(InputError, match=words):
            ShortTree(**options).fit(X, y)
