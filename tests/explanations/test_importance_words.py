"""What an importance says of itself: the way it was measured, what matters, what does harm, and the sum."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from golden_files import masked
from pellucid import Explainer, InputError
from pellucid.explanations import Importance
from pellucid.explanations.explanation import changed, headed
from pellucid.explanations.importance import leading
from pellucid.runner import Cost


def result(values, *, method="permutation", measure="mse", compare="difference", half=0.1, **more):
    values = np.asarray(values, dtype=float)
    return Importance(**headed(dict(
        method=method, measure=measure, compare=compare, values=values, se=np.full(values.shape, half / 2),
        low=values - half, high=values + half, repeats=np.empty((len(values), 0)), feature_names=tuple("abcdef"[: len(values)]),
        output_names=("prediction",), scale="loss", cost=Cost(0, 0.0, 0, 0.0), **{"settings": {}, **more},
    )))  # fmt: skip


@pytest.mark.parametrize(
    ("method", "compare", "settings"),
    [
        ("permutation", "difference", {}),
        ("permutation", "ratio", {}),
        ("permutation", "difference", {"folds": 4}),
        ("conditional", "difference", {}),
        ("drop", "difference", {"folds": 5}),
        ("sage", "difference", {}),
        ("shap", "difference", {}),
    ],
)
def test_the_first_words_tell_how_it_was_measured(method, compare, settings, golden):
    text = result([2.0, 3.0], method=method, compare=compare, settings=settings).text()
    golden("importance", f"{method}, {compare}" + ", folds" * bool(settings), text)
    assert text.index("b (3)") < text.index("a (2)")


def test_without_an_outcome_the_value_is_a_share_not_an_increase(golden):
    golden("importance", "without an outcome", result([0.5, 0.2], measure="share of prediction variance").text())


def test_only_what_is_above_nothing_is_called_important(golden):
    golden("importance", "one of three features is important", result([2.0, 0.0, -1.0]).text())
    golden("importance", "no feature is important", result([0.0, -1.0]).text())
    golden("importance", "one of two features is important, ratio", result([2.0, 1.0], compare="ratio").text())
    golden("importance", "no value is known", result([np.nan, np.nan]).text())


def test_what_cannot_be_told_from_nothing_is_not_called_important():
    found = result([2.0, 0.05, 1.0], p_values=np.array([0.01, 0.01, 0.3]), settings={"p_values": 99})
    assert leading(result([2.0, 0.05, 1.0]), 3) == [0, 2]
    assert leading(found, 3) == [0]
    assert leading(changed(found, settings={"p_values": 9}), 3) == [0, 2]
    assert "b (" not in found.text()


@pytest.mark.parametrize(("compare", "values"), [("difference", [12.0, 5.0]), ("ratio", [4.0, 2.25])])
def test_a_squared_loss_is_also_told_as_rmse(compare, values, golden):
    found = result(values, compare=compare, baseline=4.0)
    golden("importance", f"in units of the outcome, {compare}", found.text())
    assert " 4 with a permuted" in found.text()
    assert " 3 with b permuted" in found.text()
    assert "RMSE" not in changed(found, measure="mae").text()
    assert "RMSE" not in changed(found, baseline=np.nan).text()


def test_features_the_model_is_better_without_are_named(golden):
    golden("importance", "drop, better without a feature", result([2.0, 0.0, -1.0], method="drop").text())
    assert "smaller" not in result([2.0, 0.0], method="drop").text()


def test_the_sum_is_explained_by_what_can_explain_it(golden):
    golden("importance", "all features together matter less than one by one", result([2.0, 2.0], joint=3.0).text())
    golden("importance", "all features together matter more than one by one", result([2.0, 2.0], joint=5.0).text())
    golden("importance", "all features together matter as much as one by one", result([2.0, 2.0], joint=4.1).text())
    assert "add up" not in result([0.0, 0.0], joint=0.0).text()
    assert "add up" not in result([2.0], joint=2.0).text()


def test_correlated_features_have_a_sum_below_the_whole(golden):
    """Linear model: the whole is 2 var(f), the sum 2 (b1^2 + b2^2); a positive covariance is in the whole only."""
    common, own = np.random.default_rng(0).normal(size=(2, 300))
    X = np.column_stack([common, common + 0.5 * own])
    y = X.sum(axis=1)
    found = Explainer(LinearRegression().fit(X, y), X, y).importance()
    assert found.joint > found.values.sum() + 0.1
    golden("importance", "correlated features", masked(found.text()))


def test_too_few_refits_are_not_called_chance(golden):
    tested = result([2.0, 0.0], p_values=np.array([0.1, 0.5]), settings={"p_values": 9})
    golden("importance", "p-values, too few refits", tested.text())
    golden("importance", "p-values, none below 5%", changed(tested, settings={"p_values": 99}).text())


def test_an_interrupted_importance_says_what_is_missing_in_headline_chart_and_text():
    """Also without checks: that it is incomplete is a fact of the result."""
    asked = []

    def model(rows):
        asked.append(len(rows))
        if sum(asked) > 1000:
            raise KeyboardInterrupt
        return 3 * rows[:, 0] * (1 + 0 * rows[:, 1]) + rows[:, 2]

    X = np.random.default_rng(0).normal(size=(150, 3))
    found = Explainer(model, X, X[:, 0], checks=False, progress=False).importance()
    assert np.isnan(found.values).any()
    assert found.cost.interrupted
    assert [caveat.code for caveat in found.caveats] == ["partial"]
    assert "Not measured before the interruption: " in found.text()
    assert found.headline().startswith("Interrupted, so far: ")
    assert "Interrupted, so far: " in str(found.plot().spec)


def test_values_by_name_and_features_in_order():
    found = Explainer(lambda x: 3 * x[:, 0] + x[:, 2], numbers(), feature_names=list("abc"), checks=False)
    found = found.importance(method="pdp")
    assert found["a"] == found.values[0]
    assert list(found)[:2] == ["a", "c"]
    assert len(found) == 3
    with pytest.raises(InputError, match="there is no feature 'd'"):
        found["d"]


def numbers():
    return np.random.default_rng(0).normal(size=(50, 3))
