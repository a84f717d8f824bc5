"""Worked examples with simulated data or closed forms; the names carry the identifiers of the inventory."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr
from sklearn.linear_model import Ridge

from pellucid import Explainer
from reference.r_random import RRandom


def codes(result):
    return {caveat.code for caveat in result.caveats}


def correlated_pair(seed, n):
    """set.seed(seed); x1 <- runif(n); x2 <- x1 + rnorm(n, 0, 0.1)."""
    r = RRandom(seed)
    x1 = r.runif(n)
    return np.column_stack([x1, x1 + r.rnorm(n, 0.0, 0.1)])


def test_ex_01_height_and_weight_leave_the_data():
    rng = np.random.default_rng(0)
    height = rng.normal(172, 10, 500)
    weight = 0.9 * (height - 100) + rng.normal(0, 7, 500)
    people = pd.DataFrame({"height": height, "weight": weight, "age": rng.uniform(20, 80, 500)})

    def walking_speed(X):
        return X["height"] / 100 - X["weight"] / 500 - X["age"] / 200

    # Setting height to 200 cm in every row makes giants below 60 kg that nobody is.
    assert (weight[height > 190] > 60).all()
    assert (weight < 60).mean() > 0.2
    explainer = Explainer(walking_speed, people)
    for result in (explainer.pdp("height"), explainer.ice("weight"), explainer.pdp(("height", "weight"), grid=5)):
        flag = next(caveat for caveat in result.caveats if caveat.code == "off-data")
        assert flag.value > 0.2
        assert flag.feature in ("height", "weight")
        assert "ale" in flag.advice
    assert "off-data" not in codes(explainer.pdp("age"))
    assert "off-data" not in codes(explainer.ale("height"))


def test_ex_02_marginal_and_conditional_distribution():
    X = correlated_pair(1, 100)
    window = (X[:, 0] > 0.65) & (X[:, 0] < 0.85)
    explainer = Explainer(lambda X: X[:, 1], X, feature_names=["x1", "x2"])
    # At x1 = 0.75 PDP takes x2 from its marginal, the M-plot from its conditional distribution.
    assert explainer.pdp("x1", at=[0.75]).values[0] == pytest.approx(X[:, 1].mean())
    assert explainer.mplot("x1", bins=5).value(0.75) == pytest.approx(X[window, 1].mean(), abs=0.05)
    # x2 near 0.2 is common, but not with x1 = 0.75.
    assert (X[:, 1] < 0.3).mean() == 0.25
    assert X[window, 1].min() > 0.5
    assert "off-data" in codes(explainer.pdp("x1"))
    mixed = next(caveat for caveat in explainer.mplot("x1").caveats if caveat.code == "mixed-effects")
    assert mixed.value == pytest.approx(spearmanr(X).statistic)  # which is a little larger here than the correlation
    assert np.ptp(explainer.ale("x1").values) == 0.0


@pytest.fixture(scope="module")
def jump():
    """f = 2 if x1 > 0.7 and x2 < 0.3 else x1 + x2, where no row is in the corner."""
    X = correlated_pair(12, 25)
    assert not ((X[:, 0] > 0.7) & (X[:, 1] < 0.3)).any()

    def model(X):
        return np.where((X[:, 0] > 0.7) & (X[:, 1] < 0.3), 2.0, X[:, 0] + X[:, 1])

    return X, Explainer(model, X, feature_names=["x1", "x2"])


def test_ex_03_intervals_of_the_picture(jump):
    X, explainer = jump
    assert np.corrcoef(X.T)[0, 1] == pytest.approx(0.949, abs=5e-4)
    edges = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    effect = explainer.ale("x1", bins=edges)
    inside = [((X[:, 0] > a) & (X[:, 0] <= b)).sum() for a, b in itertools.pairwise(edges)]
    assert effect.counts.tolist() == inside
    np.testing.assert_allclose(np.diff(effect.values), 0.2, atol=1e-12)


def test_ex_04_pdp_jumps_where_ale_stays_on_the_data(jump):
    _, explainer = jump
    np.testing.assert_allclose(explainer.pdp("x1", at=[0.69, 0.71]).values, [1.088, 1.656], atol=5e-4)
    np.testing.assert_allclose(explainer.pdp("x2", at=[0.29, 0.31]).values, [0.854, 0.695], atol=5e-4)
    for name in ("x1", "x2"):
        effect = explainer.ale(name, bins=5)
        assert len(effect.values) == 6
        np.testing.assert_allclose(np.diff(effect.values) / np.diff(effect.grid), 1.0, atol=1e-12)
        assert effect.shape == ("linear",)


def test_ex_06_pd_importance_of_the_houses():
    prices = {("good", "big"): 400e3, ("good", "small"): 200e3, ("bad", "big"): 250e3, ("bad", "small"): 150e3}
    X = pd.DataFrame(list(prices), columns=["location", "size"])

    def price(X):
        return np.array([prices[pair] for pair in zip(X["location"], X["size"], strict=True)])

    explainer = Explainer(price, X)
    np.testing.assert_allclose(explainer.importance(method="pdp").values, [25e3, 37.5e3])
    assert explainer.pdp("location").value("good") == 300e3
    # Zero-mean parts: location +-50k, size +-75k, interaction +-25k around the mean 250k.
    pure = explainer.pdp(("location", "size"), pure=True)
    np.testing.assert_allclose(np.abs(pure.values), 25e3)
    assert pure.value("good", "big") == 25e3
    second = explainer.ale(("location", "size"))
    np.testing.assert_allclose(second.values, pure.values)


def test_ex_07_parts_of_a_function_on_a_grid():
    axis = np.linspace(-1, 1, 30)
    X = np.array(list(itertools.product(axis, axis)))

    def model(X):
        return 2 + np.exp(X[:, 0]) - X[:, 1] + X[:, 0] * X[:, 1]

    assert model(X).mean() == pytest.approx(3.18791, abs=5e-6)
    explainer = Explainer(model, X)
    saddle = np.outer(axis, axis)
    np.testing.assert_allclose(explainer.pdp((0, 1), pure=True).values, saddle, atol=1e-12)
    np.testing.assert_allclose(explainer.pdp(0).values - 3.18791, np.exp(axis) - 1.18791, atol=1e-5)
    np.testing.assert_allclose(explainer.pdp(1).values, 3.18791 - axis, atol=1e-5)
    second = explainer.ale((0, 1), bins=29)
    np.testing.assert_allclose(second.grid[0], axis)
    # The first bin holds two values of the axis, the others one: their middles lie a little below zero.
    middles = (axis[1:] + axis[:-1]) / 2
    around = axis - np.average(middles, weights=[2.0] + [1.0] * 28)
    np.testing.assert_allclose(second.values, np.outer(around, around), atol=1e-12)


def test_ex_08_a_product_of_positive_features_has_main_effects():
    X = np.random.default_rng(0).uniform(1, 10, size=(300, 2))
    explainer = Explainer(lambda X: X[:, 0] * X[:, 1], X)
    effect = explainer.pdp(0)
    np.testing.assert_allclose(np.diff(effect.values) / np.diff(effect.grid), X[:, 1].mean())
    assert np.ptp(explainer.ale(0).values) > 30


def test_ex_38_a_duplicate_splits_the_importance():
    # With the coefficient b halved between twins each has 2 (b/2)^2 var instead of 2 b^2 var: a quarter.
    rng = np.random.default_rng(0)
    eight, wind = rng.normal(15, 5, 300), rng.normal(size=300)
    rain = 0.8 * eight + wind + rng.normal(size=300)
    alone = pd.DataFrame({"8am": eight, "wind": wind})
    twice = pd.DataFrame({"8am": eight, "9am": eight, "wind": wind})

    def importance(X):
        return Explainer(Ridge(1e-6).fit(X, rain), X, rain).importance(scheme="pairs", loss="mse")

    single, split = importance(alone), importance(twice)
    np.testing.assert_allclose(split.values[:2], single.values[0] / 4, rtol=1e-4)
    assert split.values[2] == pytest.approx(single.values[1], rel=1e-4)
    shared = next(caveat for caveat in split.caveats if caveat.code == "shared-importance")
    assert shared.value == pytest.approx(single.values[0], rel=1e-4)  # permuted together: all of it
    assert "shared-importance" not in codes(single)
    grouped = Explainer(Ridge(1e-6).fit(twice, rain), twice, rain, groups={"temperature": ["8am", "9am"]})
    assert grouped.importance(scheme="pairs", loss="mse").values[0] == pytest.approx(single.values[0], rel=1e-4)


def test_ex_39_cost_of_ale_and_pdp():
    X = np.random.default_rng(0).normal(size=(250, 3))
    explainer = Explainer(lambda X: X.sum(axis=1), X)
    ale, pdp = explainer.ale(0), explainer.pdp(0, grid=20)
    assert ale.cost.model_rows == 2 * 250
    assert explainer.ale(0, bins=200).cost.model_rows == 2 * 250
    assert pdp.cost.model_rows == 20 * 250
    assert pdp.cost.model_rows / ale.cost.model_rows == 10
    assert explainer.ale((0, 1), bins=7).cost.model_rows == 4 * 250
    assert explainer.mplot(0).cost.model_rows == 250
