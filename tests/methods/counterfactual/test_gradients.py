"""Models with derivatives of their own: the slopes are right, and searches need fewer rows with them."""

import numpy as np
import pandas as pd
import pytest

from methods.counterfactual.asking import problem
from pellucid import Explainer
from pellucid.methods.counterfactual.search.gradients import has_gradient, miss_slopes
from pellucid.methods.counterfactual.search.problem import OutOfBudget

WEIGHTS = np.array([3.0, 2.0, -1.0, 0.5])


def logistic(X):
    return 1 / (1 + np.exp(-((np.asarray(X, dtype=float) - 0.5) @ WEIGHTS)))


def sloped(X):
    return logistic(X)


def slopes(X):
    p = logistic(X)
    return (p * (1 - p))[:, None] * WEIGHTS


sloped.gradient = slopes


def uniform():
    X = np.random.default_rng(0).uniform(size=(200, 4))
    X[:2] = [[0] * 4, [1] * 4]  # the ranges are 1
    return X


@pytest.mark.parametrize("target", [">= 0.7", "<= 0.1", (0.8, 0.9)])
def test_slopes_of_the_distance_from_the_target(target):
    asked = problem(5, target, Explainer(sloped, uniform(), progress=False))
    assert has_gradient(asked)
    found = miss_slopes(asked, asked.x)
    near = asked.x + np.vstack([np.eye(4), -np.eye(4)]) * 1e-6
    ahead, behind = asked.miss(near).reshape(2, -1)
    np.testing.assert_allclose(found, (ahead - behind) / 2e-6, atol=1e-6)
    assert asked.asked.gradients == 1


def test_derivatives_count_into_the_budget():
    asked = problem(5, ">= 0.9", Explainer(sloped, uniform(), progress=False), budget=3)
    miss_slopes(asked, asked.x)
    assert asked.left == 1
    with pytest.raises(OutOfBudget):
        miss_slopes(asked, asked.x)


def test_wachter_descends_with_fewer_rows():
    X, row = uniform(), np.full(4, 0.45)
    with_slopes, without = (
        Explainer(model, X, progress=False, checks=False).counterfactuals(
            row, ">= 0.7", n=1, method="wachter", polish=False
        )
        for model in (sloped, logistic)
    )
    assert with_slopes.valid.all()
    assert with_slopes.cost.model_rows < 0.75 * without.cost.model_rows
    assert with_slopes.scores["distance"][0] <= 1.1 * without.scores["distance"][0]


def test_the_sign_of_the_gradient_is_the_smallest_largest_change():
    ex = Explainer(sloped, uniform(), progress=False, checks=False)
    found = ex.adversarial(np.full(4, 0.5), ">= 0.7", norm="linf")
    least = np.log(0.7 / 0.3) / np.abs(WEIGHTS).sum()
    assert least - 1e-9 <= found.scores["distance"][0] <= 1.01 * least


def test_wachter_tries_every_combination_of_few_levels():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.choice(["n", "y"], 80), "b": rng.choice(["n", "y"], 80), "c": rng.random(80)})

    def both(table):  # one alone makes it worse
        a, b = (table[name].to_numpy() == "y" for name in "ab")
        return np.where(a & b, 1.0, -0.5 * (a | b)) + 0.1 * table["c"].to_numpy()

    ex = Explainer(both, table, progress=False, checks=False)
    row = {"a": "n", "b": "n", "c": 0.5}
    found = ex.counterfactuals(row, ">= 0.9", n=1, method="wachter")
    assert set(found.changes()) == {"a", "b"}
