"""Grids, ranges, pairs and losses of one's own, against closed forms."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

from pellucid import Explainer
from pellucid.errors import InputError

X = np.random.default_rng(0).normal(size=(60, 3))


def curved(rows):
    return rows[:, 0] + rows[:, 1] ** 2 * rows[:, 2]


@pytest.fixture(scope="module")
def ex():
    return Explainer(curved, X, checks=False)


BOX = {"x0": (0, 1), 1: (0, 1), "x2": (0, 1)}


@pytest.mark.parametrize("method", ["sobol", "anova"])
def test_variance_is_shared_over_a_box_of_ones_own(ex, method):
    found = ex.importance(method=method, ranges=BOX)
    pair = 1 / 15 - 1 / 36  # the variance of x1^2 x2 over the unit square; 1 / 12 is that of x0
    variance = 1 / 12 + pair
    alone = (1 / 5 - 1 / 9) / 4, 1 / 9 / 12  # of E[x1^2 x2 | x1], E[x1^2 x2 | x2]
    assert found.first == pytest.approx([1 / 12 / variance, alone[0] / variance, alone[1] / variance], abs=0.01)
    assert found.values == pytest.approx(
        [1 / 12 / variance, (pair - alone[1]) / variance, (pair - alone[0]) / variance], abs=0.01
    )
    assert found.settings["ranges"]["x1"] == [0.0, 1.0]


def test_trees_are_read_over_a_box_as_they_are_asked():
    tree = DecisionTreeRegressor(max_leaf_nodes=8, random_state=0).fit(X, curved(X))
    read, asked = (
        Explainer(model, X, checks=False).importance(method="sobol", ranges={"x1": (-3, 3)})
        for model in (tree, tree.predict)
    )
    assert read.settings["how"] == "exact"
    assert read.values == pytest.approx(asked.values, abs=0.02)


def test_partial_dependence_is_spread_over_a_grid_of_ones_own(ex):
    found = ex.importance(method="pdp", at={"x0": [-1, 0, 1]})
    assert found.values[0] == pytest.approx(1.0)
    assert found.values[1] == ex.importance(method="pdp").values[1]
    as_lists = ex.importance(method="pdp", at=[[-1, 0, 1], [0, 2], [0]])
    assert as_lists.values[2] == 0.0


def test_points_of_ones_own_are_equally_likely(ex):
    parts = ex.decompose(method="anova", at=[[-1, 0, 1], [0, 2], [5, 7]])
    # Over these points x1^2 is 0 or 4, x2 is 5 or 7: a constant of 12, and shares by hand.
    total = 2 / 3 + 8 * 37 - 144
    assert parts.constant == pytest.approx(12.0)
    named = dict(zip(parts.feature_names, parts.values, strict=True))
    assert [named[n] for n in ("x0", "x1", "x2", "x1 × x2")] == pytest.approx(np.array([2 / 3, 144, 4, 4]) / total)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "sobol", "ranges": 3}, "must be a dict"),
        ({"method": "sobol", "ranges": {"x0": (1, 0)}}, "low below high"),
        ({"method": "sobol", "ranges": {"x0": "ab"}}, "low below high"),
        ({"method": "pdp", "at": [1, 2]}, "one list for each"),
        ({"method": "pdp", "at": {"x9": [1]}}, "no feature 'x9'"),
        ({"method": "pdp", "at": {"x0": []}}, "no values"),
        ({"method": "shap", "at": {"x0": [1]}}, "not used"),
    ],
)
def test_wrong_grids_are_refused(ex, options, message):
    with pytest.raises(InputError, match=message):
        ex.importance(**options)


def test_points_belong_to_the_analysis_of_variance(ex):
    with pytest.raises(InputError, match="leave it out"):
        ex.decompose(method="ale", at={"x0": [1]})


# -- pairs -------------------------------------------------------------------------------------------


def test_pairs_are_named_one_by_one(ex):
    found = ex.interactions([("x2", "x1"), (0, 1)], network=False)
    everything = ex.interactions(network=False)
    assert found.sets == (("x1", "x2"), ("x0", "x1"))
    assert found.values == pytest.approx([everything.pair("x1", "x2"), everything.pair("x0", "x1")])
    assert found.settings["features"] == [["x1", "x2"], ["x0", "x1"]]


@pytest.mark.parametrize(
    ("features", "against", "message"),
    [
        ([(0, 1, 2)], "pairs", "sets of 2 different features"),
        ([(0, 0)], "pairs", "sets of 2 different features"),
        ([(0, 1), (1, 0)], "pairs", "twice"),
        ([(0, 1)], "all", "features, not pairs"),
        ([(0, 9)], "pairs", "out of range"),
    ],
)
def test_wrong_pairs_are_refused(ex, features, against, message):
    with pytest.raises(InputError, match=message):
        ex.interactions(features, against=against)


def test_too_many_pairs_are_those_of_the_features_that_interact_most():
    wide = np.random.default_rng(1).normal(size=(25, 210))
    ex = Explainer(lambda rows: rows[:, 100] * rows[:, 7] + rows[:, 3], wide, checks=False)
    found = ex.interactions(network=False)
    assert found.settings["screened"] == 210
    assert len(found.sets) == 190
    assert found.top(1) == [("x7", "x100")]
    with pytest.raises(InputError, match="name those that matter"):
        ex.interactions(range(209))


# -- losses ------------------------------------------------------------------------------------------


def squared(y, prediction):
    return np.square(y - prediction)


def test_a_loss_that_gives_a_number_per_row_is_a_mean_over_rows():
    weights = np.arange(1.0, 61.0)
    ex = Explainer(curved, X, X[:, 0], sample_weight=weights, checks=False)
    for options in ({"scheme": "pairs"}, {}, {"method": "sage", "budget": 20_000}):
        own, named = ex.importance(loss=squared, **options), ex.importance(loss="mse", **options)
        assert own.values == pytest.approx(named.values)
        assert own.se == pytest.approx(named.se)


def test_losses_with_the_wrong_number_of_numbers_are_refused():
    ex = Explainer(curved, X, X[:, 0], checks=False)
    with pytest.raises(InputError, match="gives 2 numbers for 60 rows"):
        ex.importance(loss=lambda y, p: np.zeros(2))
    with pytest.raises(InputError, match="one number per row"):
        Explainer(curved, X, X[:, 0], sample_weight=np.arange(1.0, 61.0)).importance(loss=lambda y, p: 0.0)
