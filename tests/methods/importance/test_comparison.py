"""Measures side by side: each as it is alone, one scale for linear models, and reasons where they differ."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor

from golden_files import masked
from limits import limited
from pellucid import Explainer

RNG = np.random.default_rng(0)


def linear_scene(n=400):
    X = np.random.default_rng(1).normal(size=(n, 3)) * [1.0, 2.0, 0.5]
    slopes = np.array([2.0, 0.5, 0.5])
    return Explainer(lambda X: X @ slopes, X, X @ slopes + 0.1 * RNG.normal(size=n)), slopes * [1.0, 2.0, 0.5]


def test_every_part_is_the_result_of_the_method_alone():
    ex, _ = linear_scene()
    both = ex.importance(method=["permutation", "conditional", "pdp"], repeats=3, grid=9)
    for method, options in (("permutation", {"repeats": 3}), ("conditional", {"repeats": 3}), ("pdp", {"grid": 9})):
        alone = ex.importance(method=method, **options)
        np.testing.assert_array_equal(both.of(method).values, alone.values)
        assert both.of(method).cost.model_rows == alone.cost.model_rows
    assert both.values.shape == both.se.shape == (3, 3)
    np.testing.assert_array_equal(both.values[:, 2], both.of("pdp").values)
    assert both.cost.model_rows == sum(part.cost.model_rows for part in both.parts)


def test_a_linear_model_has_the_same_shares_by_every_measure():
    ex, size = linear_scene(1000)
    both = ex.importance(method=["permutation", "conditional", "shap"])
    np.testing.assert_allclose(both.shares, np.tile((size / size.sum())[:, None], 3), atol=0.04)
    np.testing.assert_allclose(both.agreement, 1)
    assert both.squared.tolist() == [True, True, False]
    assert not [caveat for caveat in both.caveats if caveat.code == "measures-disagree"]


def disagreement(ex, methods, **options):
    found = [c for c in ex.importance(method=methods, **options).caveats if c.code == "measures-disagree"]
    return {caveat.feature: str(caveat) for caveat in found}


def test_correlated_features_are_the_reason_named(golden):
    x = np.random.default_rng(2).normal(size=(500, 2))
    X = np.column_stack([x[:, 0], x[:, 0] + 0.05 * RNG.normal(size=500), 0.5 * x[:, 1]])
    said = disagreement(Explainer(lambda X: X.sum(axis=1), X, X.sum(axis=1)), ["permutation", "conditional"])
    golden("caveats", "measures-disagree: correlated features", masked(said["x0"]))
    assert "groups=" in said["x0"]


def test_interactions_are_the_reason_named(golden):
    X = np.random.default_rng(3).normal(size=(500, 3))
    X -= X.mean(axis=0)
    ex = Explainer(lambda X: 3 * X[:, 0] * X[:, 1] + X[:, 2], X, 3 * X[:, 0] * X[:, 1] + X[:, 2])
    said = disagreement(ex, ["permutation", "pdp"])
    golden("caveats", "measures-disagree: an interaction", masked(said["x0"]))
    assert "cancels" not in said.get("x2", "")


def test_credit_for_going_together_is_not_called_an_interaction():
    """The model uses x0 alone; Shapley effects divide its variance with x1, which tells x0."""
    x, noise = np.random.default_rng(0).normal(size=(2, 400))
    X = np.column_stack([x, x + 0.3 * noise])
    both = Explainer(lambda X: X[:, 0], X, x).importance(method=["shapley-effects", "pdp"])
    (caveat,) = [c for c in both.caveats if c.code == "measures-disagree" and c.feature == "x1"]
    assert "is correlated with x0" in caveat.message
    assert "interactions" not in caveat.message


def test_a_feature_that_moves_predictions_but_does_not_help_is_as_if_overfitted():
    X = np.random.default_rng(4).normal(size=(600, 2))
    ex = Explainer(lambda X: X[:, 0] + X[:, 1], X, X[:, 0])  # the model leans on x1 for nothing
    assert "overfitted" in disagreement(ex, ["permutation", "shap"])["x1"]


def test_several_outputs_are_averaged_and_parts_kept():
    X = np.random.default_rng(5).normal(size=(60, 2))
    Y = np.column_stack([X[:, 0], 3 * X[:, 1]])
    model = RandomForestRegressor(5, random_state=0).fit(X, Y)
    both = Explainer(model, X, Y, checks=False).importance(method=["shap", "pdp"])
    assert both.values.shape == (2, 2)
    assert both.of("shap").values.shape == (2, 2)
    np.testing.assert_allclose(both.values[:, 0], both.of("shap").values.mean(axis=1))


def test_an_interruption_keeps_the_methods_that_were_reached():
    X = np.random.default_rng(6).normal(size=(100, 2))
    calls = []

    def model(table):
        calls.append(len(table))
        if len(calls) > 9:
            raise KeyboardInterrupt
        return table[:, 0]

    ex = limited(Explainer(model, X, X[:, 0]), batch_rows=100)
    both = ex.importance(method=["permutation", "pdp"])
    assert both.methods == ("permutation",)
    assert both.settings["methods"] == ["permutation", "pdp"]
    assert "partial" in {caveat.code for caveat in both.caveats}


def test_no_caveats_without_checks():
    X = np.random.default_rng(4).normal(size=(100, 2))
    both = Explainer(lambda X: X[:, 0] + X[:, 1], X, X[:, 0], checks=False).importance(method=["permutation", "shap"])
    assert both.caveats == ()


def test_a_caveat_of_a_method_says_whose_it_is():
    X = np.random.default_rng(3).normal(size=(500, 3))
    both = Explainer(lambda X: X[:, 0] * X[:, 1] + X[:, 2], X).importance(method=["shap", "pdp"])
    hidden = [caveat for caveat in both.caveats if caveat.code == "hidden-interaction"]
    assert hidden
    assert all(caveat.message.startswith("pdp: ") for caveat in hidden)


@pytest.mark.parametrize("compare", ["difference", "ratio"])
def test_a_model_of_nothing_has_no_shares_and_no_order(compare, golden):
    X = np.random.default_rng(7).normal(size=(50, 2))
    both = Explainer(lambda X: np.zeros(len(X)), X, X[:, 0]).importance(method=["permutation", "pdp"], compare=compare)
    np.testing.assert_array_equal(both.shares, 0)
    assert np.isnan(both.agreement).all()
    golden("importance_comparison", f"a model of nothing, {compare}", both.text())
    assert both.plot().spec["$schema"]
