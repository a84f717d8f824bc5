"""What an importance says of itself: the way it was measured, what matters, what does harm, and the sum."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from pellucid import Explainer
from pellucid.explanations import Importance
from pellucid.explanations.explanation import changed, headed
from pellucid.runner import Cost


def result(values, *, method="permutation", measure="mse", compare="difference", half=0.1, **more):
    values = np.asarray(values, dtype=float)
    return Importance(**headed(dict(
        method=method, measure=measure, compare=compare, values=values, se=np.full(values.shape, half / 2),
        low=values - half, high=values + half, repeats=np.empty((len(values), 0)), feature_names=tuple("abcdef"[: len(values)]),
        output_names=("prediction",), scale="loss", cost=Cost(0, 0.0, 0, 0.0), **{"settings": {}, **more},
    )))  # fmt: skip


@pytest.mark.parametrize(
    ("method", "compare", "settings", "words"),
    [
        ("permutation", "difference", {}, "permutation (increase of mse)"),
        ("permutation", "ratio", {}, "permutation (mse after / before)"),
        ("permutation", "difference", {"folds": 4}, "permutation in 4 folds (increase of mse)"),
        ("conditional", "difference", {}, "permutation given the other features (increase of mse)"),
        ("drop", "difference", {"folds": 5}, "fitting again without each feature in 5 folds (increase of mse)"),
        ("sage", "difference", {}, "SAGE (reduction of mse)"),
        ("shap", "difference", {}, "mse"),
    ],
)
def test_the_first_words_tell_how_it_was_measured(method, compare, settings, words):
    found = result([2.0, 3.0], method=method, compare=compare, settings=settings)
    assert found.text().startswith(f"Importance by {words}. Most important: b (3) and a (2).")


def test_without_an_outcome_the_value_is_a_share_not_an_increase():
    found = result([0.5, 0.2], measure="share of prediction variance")
    assert found.text().startswith("Importance by permutation (share of prediction variance).")


def test_only_what_is_above_nothing_is_called_important():
    assert "Most important: a (2)." in result([2.0, 0.0, -1.0]).text()
    assert "No feature is important." in result([0.0, -1.0]).text()
    assert "Most important: a (2)." in result([2.0, 1.0], compare="ratio").text()
    assert "No value is known." in result([np.nan, np.nan]).text()


def test_features_the_model_is_better_without_are_named():
    said = result([2.0, 0.0, -1.0], method="drop").text()
    assert "Without c the loss is smaller: what the model learns from it does not hold on these rows." in said
    assert "b is not distinguishable" in said
    assert "smaller" not in result([2.0, 0.0], method="drop").text()


def test_the_sum_is_explained_by_what_can_explain_it():
    assert "together gives 3: interactions count once" in result([2.0, 2.0], joint=3.0).text()
    assert "together gives 5: while one feature is permuted, others" in result([2.0, 2.0], joint=5.0).text()
    assert "together gives 4.1: about the same." in result([2.0, 2.0], joint=4.1).text()
    assert "add up" not in result([0.0, 0.0], joint=0.0).text()
    assert "add up" not in result([2.0], joint=2.0).text()


def test_features_that_go_together_have_a_sum_below_the_whole():
    """Linear model: the whole is 2 var(f), the sum 2 (b1^2 + b2^2); a positive covariance is in the whole only."""
    common, own = np.random.default_rng(0).normal(size=(2, 300))
    X = np.column_stack([common, common + 0.5 * own])
    y = X.sum(axis=1)
    assert "others that are correlated with it" in Explainer(LinearRegression().fit(X, y), X, y).importance().text()


def test_too_few_refits_are_not_called_chance():
    tested = result([2.0, 0.0], p_values=np.array([0.1, 0.5]), settings={"p_values": 9})
    assert "9 refits give no p-value below 0.1: too few to tell what is chance." in tested.text()
    assert "No feature has a p-value" not in tested.text()
    assert "No feature has a p-value" in changed(tested, settings={"p_values": 99}).text()
