"""Corners of the methods that once went wrong."""

import numpy as np
import pandas as pd
import pytest

import pellucid
from pellucid import Explainer

rng = np.random.default_rng(0)
X = pd.DataFrame({"a": rng.normal(size=60), "b": rng.normal(size=60), "c": ["x", "y", "z"] * 20, "d": ["p", "q"] * 30})


def model(table):
    return 3 * table["a"].to_numpy() + (table["c"] == "y").to_numpy() * (table["d"] == "p").to_numpy() * 2.0


def codes(importance):
    return [caveat.code for caveat in importance.caveats]


def test_held_out_rows_may_have_their_columns_in_another_order():
    y = model(X) + rng.normal(size=60)
    ex = Explainer(model, X, y, progress=False)
    assert codes(ex.importance(holdout=(X[["d", "c", "b", "a"]], y))) == codes(ex.importance())
    assert "overfitted" in codes(ex.importance(holdout=(X[["d", "c", "b", "a"]], y + 10)))


def test_an_order_for_each_of_two_categories():
    ex = Explainer(model, X, progress=False)
    effect = ex.ale(("c", "d"), order=(["z", "x", "y"], ["q", "p"]))
    assert effect.grid[0].tolist() == ["z", "x", "y"]
    assert effect.grid[1].tolist() == ["q", "p"]
    mixed = ex.ale(("c", "a"), bins=3, order=["z", "x", "y"])
    assert mixed.grid[0].tolist() == ["z", "x", "y"]
    with pytest.raises(pellucid.InputError, match="a pair of lists"):
        ex.ale(("c", "d"), order=["z", "x", "y"])
    with pytest.raises(pellucid.InputError, match="order= is for categories"):
        ex.ale("a", order=["z"])


def test_importance_of_partial_dependence_refuses_groups():
    with pytest.raises(pellucid.InputError, match="no importance for groups"):
        Explainer(model, X, groups={"g": ["a", "b"]}, progress=False).importance(method="pdp")


def test_pairs_with_a_loss_over_all_rows_refuse_unequal_weights():
    ex = Explainer(model, X, model(X) + rng.normal(size=60), sample_weight=1 + np.arange(60), progress=False)
    with pytest.raises(pellucid.InputError, match="cannot weigh rows"):
        ex.importance(scheme="pairs", loss="rmse")


def test_the_effect_at_missing_weighs_rows():
    table = X.assign(a=np.where(np.arange(60) % 5 == 0, np.nan, X["a"]))
    weights = 1 + np.arange(60) % 3

    def tolerant(frame):
        return np.square(frame["a"].fillna(4.0).to_numpy())

    weighted = Explainer(tolerant, table, sample_weight=weights, progress=False)
    repeated = Explainer(tolerant, table.loc[table.index.repeat(weights)].reset_index(drop=True), progress=False)
    assert weighted.ale("a").missing.values == pytest.approx(float(repeated.ale("a").missing.values))
    assert weighted.pdp("a").missing.values == pytest.approx(16.0)
    assert weighted.pdp("a").missing.share == pytest.approx(weights[::5].sum() / weights.sum())


def test_centring_a_pair_that_never_occurs_together_is_refused():
    table = X.assign(a=np.where(np.arange(60) < 30, X["a"], np.nan), b=np.where(np.arange(60) < 30, np.nan, X["b"]))
    ex = Explainer(lambda frame: frame["a"].fillna(0) + frame["b"].fillna(0), table, progress=False)
    with pytest.raises(pellucid.InputError, match="both features are present"):
        ex.pdp(("a", "b"), center="mean")


def test_scores_instead_of_probabilities():
    from sklearn.svm import LinearSVC

    labels = np.where(X["a"] > 0, "up", "down")
    ex = Explainer(LinearSVC().fit(X[["a", "b"]], labels), X[["a", "b"]], labels, progress=False)
    importance = ex.importance()
    assert importance.measure == "error"
    assert importance.top(1) == ["a"]
    with pytest.raises(pellucid.InputError, match="needs probabilities"):
        ex.importance(loss="log_loss")


def test_several_outputs_need_several_outcomes():
    ex = Explainer(lambda table: np.column_stack([table["a"], table["b"] + 5]), X, X["a"], progress=False, checks=False)
    with pytest.raises(pellucid.InputError, match=r"y has 1 .*2"):
        ex.importance(loss="mse")
