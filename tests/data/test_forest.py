"""The forest is scikit-learn's, tree for tree."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor

from pellucid.data.forest import Forest

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
Y = np.column_stack([X[:, 0] * X[:, 1], X[:, 2] > 0]).astype(float)


@pytest.mark.parametrize(("tried", "rows"), [(0.6, None), (1.0, 25), (2, None)])
def test_it_is_the_forest_of_scikit_learn(tried, rows):
    forest = Forest.grown(X, Y, trees=20, leaf=3, tried=tried, seed=5, rows=rows)
    other = RandomForestRegressor(
        20, min_samples_leaf=3, max_features=tried, max_samples=rows, random_state=5, oob_score=True
    ).fit(X, Y)
    elsewhere = RNG.normal(size=(9, 4))
    np.testing.assert_array_equal(forest.leaves(elsewhere), other.apply(elsewhere))
    np.testing.assert_allclose(forest.predict(elsewhere), other.predict(elsewhere), rtol=1e-12)
    np.testing.assert_allclose(forest.out_of_bag(X), other.oob_prediction_, rtol=1e-12)
    np.testing.assert_allclose(forest.importances(), other.feature_importances_, rtol=1e-12)
    np.testing.assert_array_equal(forest.seen, other.estimators_samples_)


def test_weights_count_and_rows_without_weight_say_nothing():
    weights = np.where(np.arange(60) < 40, 2.0, 0.0)
    changed = np.where(weights[:, None] > 0, Y, 100.0)
    first, second = (Forest.grown(X, target, weights, trees=5, leaf=3, tried=1.0, seed=1) for target in (Y, changed))
    np.testing.assert_array_equal(first.predict(X), second.predict(X))
    assert first.predict(X).max() < 20


def test_nothing_to_split_and_rows_that_every_tree_has_seen():
    flat = Forest.grown(X[:3], np.ones((3, 1)), trees=3, leaf=1, tried=1.0, seed=0)
    assert flat.importances().tolist() == [0.0] * 4
    np.testing.assert_array_equal(flat.predict(X), 1.0)
    one = Forest.grown(X[:3], Y[:3], trees=1, leaf=1, tried=1.0, seed=0)
    np.testing.assert_array_equal(one.out_of_bag(X[:3])[one.seen[0]], 0.0)
