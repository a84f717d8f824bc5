"""Scenes of the caveats of prototypes, neighbours and influence: see caveat_scenes."""

import numpy as np
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.tree import DecisionTreeRegressor

from methods.caveat_scenes import fires, plus, sample, silent
from pellucid import Explainer


def four_clusters():
    rng = np.random.default_rng(0)
    clusters = np.vstack([rng.normal(c, 0.2, size=(50, 2)) for c in ((0, 0), (5, 0), (0, 5), (5, 5))])
    return Explainer(plus, clusters)


def noise_columns():
    """A model of one column of 41."""
    X = np.column_stack([np.repeat([0.0, 1.0], 150), np.random.default_rng(0).normal(size=(300, 40))])
    return Explainer(LinearRegression().fit(X, X[:, 0]), X)


def fitted(model, n=60, first=None):
    """A model fitted to the first rows of a table, and its table."""
    X = np.random.default_rng(0).normal(size=(n, 3))
    y = 2 * X[:, 0] - X[:, 1] + np.random.default_rng(1).normal(size=n)
    return model.fit(X[:first], y[:first]), X, y


# -- prototypes and neighbours -------------------------------------------------------------------------


@fires("kernel-width")
def a_kernel_that_finds_no_rows_alike():
    return Explainer(plus, sample(300)).prototypes(6, width=0.01), (0.5, 1.0)


@fires("kernel-width")
def a_kernel_that_tells_no_rows_apart():
    return Explainer(plus, sample(300)).prototypes(6, width=40.0), (0.95, 1.0)


@silent("kernel-width")
def a_kernel_as_wide_as_rows_are_apart():
    return Explainer(plus, sample(200)).prototypes(6)


@fires("criticisms-change")
def criticisms_among_noise():
    X = np.random.default_rng(3).normal(size=(300, 20))
    return Explainer(plus, X).prototypes(5, criticisms=3), (0.9, 1.0)


@silent("criticisms-change")
def criticisms_of_clusters():
    return four_clusters().prototypes(4, criticisms=4)


@fires("irrelevant-features")
def prototypes_by_columns_that_the_model_ignores():
    return noise_columns().prototypes(4), (0.9, 1.0)


@silent("irrelevant-features")
def prototypes_by_contributions():
    return noise_columns().prototypes(4, features="contributions")


@fires("few-prototypes")
def two_prototypes_for_four_clusters():
    return four_clusters().prototypes(2), (0.15, 1.0)


@silent("few-prototypes")
def four_prototypes_for_four_clusters():
    return four_clusters().prototypes(4)


@fires("poor-prototypes")
def given_rows_of_one_cluster():
    return four_clusters().prototypes([0, 1, 2, 3], method="given"), (0.1, 2.0)


@silent("poor-prototypes")
def a_given_row_of_each_cluster():
    return four_clusters().prototypes([0, 50, 100, 150], method="given")


@fires("all-far")
def neighbors_among_many_columns():
    X = np.random.default_rng(0).normal(size=(200, 200))
    return Explainer(plus, X).neighbors(0), (0.8, 1.0)


@silent("all-far")
def neighbors_in_the_plane():
    return Explainer(plus, sample()).neighbors(0)


# -- influence -----------------------------------------------------------------------------------------


@fires("high-leverage")
def the_only_row_of_a_category():
    _, X, y = fitted(LinearRegression())
    X[:, 0] = 0.0
    X[4, 0] = 1.0
    return Explainer(LinearRegression().fit(X, y), X, y).influence([0]), 1.0


@silent("high-leverage")
def rows_of_like_leverage():
    return Explainer(*fitted(LinearRegression())).influence([0])


@fires("not-training-rows")
def influence_of_rows_that_were_not_fitted():
    model, X, y = fitted(LinearRegression(), first=30)
    return Explainer(model, X[30:], y[30:]).influence(), (0.05, 0.5)


@silent("not-training-rows")
def influence_of_the_rows_that_were_fitted():
    return Explainer(*fitted(Ridge(1.0))).influence()


def new_rows(turned=False, seen=False):
    """A check of 40 new rows, with their own outcomes or with those of the opposite slopes."""
    model, X, y = fitted(LinearRegression(), 200)
    new = np.random.default_rng(5).normal(size=(40, 3))
    outcomes = 2 * new[:, 0] - new[:, 1] + np.random.default_rng(6).normal(size=40)
    return Explainer(model, X, y).triage(new=(X[:40], y[:40]) if seen else (new, -outcomes if turned else outcomes))


@fires("new-rows-differ")
def new_rows_of_another_kind():
    return new_rows(turned=True), (0.2, 1.0)


@silent("new-rows-differ")
def new_rows_of_the_same_kind():
    return new_rows()


@fires("rows-seen")
def new_rows_that_were_fitted():
    return new_rows(seen=True), 1.0


@silent("rows-seen")
def new_rows_never_seen():
    return new_rows()


@fires("not-refitted")
def boosted_trees_that_grow_otherwise():
    return Explainer(*fitted(GradientBoostingRegressor(n_estimators=20, random_state=0))).influence([0, 1]), (0.1, 50.0)


@silent("not-refitted")
def a_stump_that_stays():
    return Explainer(*fitted(DecisionTreeRegressor(max_depth=1), 250)).influence([0])


@fires("any-row")
def a_prediction_that_any_row_moves():
    model, X, y = fitted(GradientBoostingRegressor(n_estimators=60, random_state=0), 250)
    return Explainer(model, X, y).influence(range(20)), (1.0, 50.0)


@silent("any-row")
def a_stump_that_no_row_moves():
    return Explainer(*fitted(DecisionTreeRegressor(max_depth=1), 250)).influence([0])


@fires("rows-not-tried")
def fewer_refits_than_rows():
    _, X, y = fitted(LinearRegression(), 400)
    y[::40] += 25  # ten outliers
    ex = Explainer(LinearRegression().fit(X, y), X, y)
    return ex.influence(method="deletion", refit=LinearRegression(), budget=80), (0.02, 0.1)


@silent("rows-not-tried")
def a_refit_for_each_row():
    return Explainer(*fitted(LinearRegression())).influence(method="deletion", budget=60)
