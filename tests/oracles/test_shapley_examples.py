"""The worked examples of the textbook's Shapley chapters: apartment, SHAP kernel, a coalition's worth."""

import numpy as np
import pytest

from pellucid import Explainer
from pellucid.games import all_coalitions
from pellucid.games.marginal import MarginalGame
from pellucid.methods.attribution.estimation.hypercube_kernel import pair_weights
from pellucid.methods.attribution.shapley_game import shapley
from pellucid.runner import Run
from reference.shapley import (
    binomial_weight,
    factorial_weight,
    kernel_by_binomial,
    kernel_by_factorials,
    shapley_by_orders,
)

# -- EX-17: the apartment ------------------------------------------------------------------------------

PARK, AREA, FLOOR, CAT = range(4)
MEAN, EFFECTS = 310_000.0, (30_000.0, 10_000.0, 0.0, -50_000.0)


def price(coalitions):
    """50 square metres, second floor, a park nearby, cats banned; the average apartment costs 310,000."""
    return MEAN + coalitions @ np.array(EFFECTS)


def test_ex_17_the_apartment_costs_ten_thousand_less_than_the_average():
    found = shapley(price, 4, names=["park", "area", "floor", "cat"])
    np.testing.assert_allclose(found.values, [EFFECTS], atol=1e-6)
    assert float(found.base) == pytest.approx(310_000)
    assert float(found.prediction[0]) == pytest.approx(300_000)
    assert found.values.sum() == pytest.approx(-10_000)


def test_ex_17_one_gain_of_the_cat_ban():
    """Banned 310,000 against allowed 320,000: the ban lowers the price by 10,000 (one printing swaps the two)."""
    worth = {True: 310_000.0, False: 320_000.0}
    assert worth[True] - worth[False] == -10_000.0

    def value(coalitions):
        return np.where(coalitions[:, 1], worth[True], worth[False]) * coalitions[:, 0]

    found = shapley(value, 2, names=["park and area", "cat"])
    alone, after = 0.0, -10_000.0  # what the ban adds before and after the others
    assert found.values[0, 1] == pytest.approx((alone + after) / 2)


def test_ex_17_there_are_eight_coalitions_without_the_cat_ban():
    without = [coalition for coalition in all_coalitions(4) if not coalition[CAT]]
    assert len(without) == 8
    names = np.array(["park", "area", "floor"])
    said = {frozenset(names[coalition[:3]]) for coalition in without}
    assert said == {
        frozenset(),
        frozenset({"park"}),
        frozenset({"area"}),
        frozenset({"floor"}),
        frozenset({"park", "area"}),
        frozenset({"park", "floor"}),
        frozenset({"area", "floor"}),
        frozenset({"park", "area", "floor"}),
    }
    sizes = [int(coalition.sum()) for coalition in without]
    weights = [factorial_weight(4, size) for size in sizes]
    assert sum(weights) == pytest.approx(1)
    assert weights == pytest.approx([binomial_weight(4, size) for size in sizes])


def test_ex_17_as_a_model_with_the_floor_unused():
    """The same numbers from a table of apartments whose average is the average price."""
    X = np.array([[0.0, 45.0, 1.0, 0.0], [1.0, 55.0, 2.0, 1.0], [0.0, 35.0, 3.0, 1.0], [1.0, 45.0, 2.0, 0.0]])

    def model(Z):
        return 285_000 + 60_000 * Z[:, 0] + 2_000 * (Z[:, 1] - 45) + 0 * Z[:, 2] - 100_000 * (Z[:, 3] - 0.45)

    ex = Explainer(model, X, feature_names=["park", "area", "floor", "cat banned"], progress=False)
    assert model(X).mean() == pytest.approx(310_000)
    found = ex.shap(np.array([1.0, 50.0, 2.0, 1.0]))
    np.testing.assert_allclose(found.values, [EFFECTS], atol=1e-6)
    assert float(found.prediction[0]) == pytest.approx(300_000)
    steps = [found.values[0, :k].sum() + MEAN for k in range(5)]
    np.testing.assert_allclose(steps, [310_000, 340_000, 350_000, 350_000, 300_000])


# -- EX-26: the SHAP kernel ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("p", "expected"),
    [(4, [0.25, 0.125, 0.25]), (10, [0.1, 0.0125, 0.003571, 0.001786, 0.001429, 0.001786, 0.003571, 0.0125, 0.1])],
)
def test_ex_26_the_kernel_in_both_forms(p, expected):
    sizes = range(1, p)
    np.testing.assert_allclose([kernel_by_binomial(p, s) for s in sizes], expected, atol=5e-7)
    np.testing.assert_allclose(
        [kernel_by_factorials(p, s) for s in sizes], [kernel_by_binomial(p, s) for s in sizes], rtol=1e-12
    )


@pytest.mark.parametrize("p", [4, 10])
def test_ex_26_the_kernel_is_in_the_weights_that_the_estimator_uses(p):
    """A member's weight in its Shapley value is the kernel times (p - s) / (p - 1), another's minus s / (p - 1)."""
    for s in range(1, p):
        half = np.arange(p) < s
        weights = pair_weights(half[None])[0]
        kernel = kernel_by_binomial(p, s)
        np.testing.assert_allclose(weights[:s], kernel * (p - s) / (p - 1), rtol=1e-12)
        np.testing.assert_allclose(weights[s:], -kernel * s / (p - 1), rtol=1e-12)
        assert weights[0] - weights[-1] == pytest.approx(kernel * p / (p - 1))


# -- EX-27: what the coalition of the first and third feature is worth -----------------------------------


def test_ex_27_the_worth_of_features_one_and_three():
    """The prediction at the row's first and third value, averaged over the second and fourth of all rows."""
    rng = np.random.default_rng(0)
    X, x = rng.normal(size=(25, 4)), np.array([0.5, -1.0, 2.0, 0.3])

    def model(Z):
        return np.exp(0.3 * Z[:, 0] * Z[:, 1]) + Z[:, 2] * Z[:, 3] ** 2

    ex = Explainer(model, X, progress=False)
    game = MarginalGame(ex.predictor, ex.data, ex.data.rows(x), ex.data.schema.players(), Run())
    worth = game.worth(np.array([[True, False, True, False]]))
    by_hand = np.mean([np.exp(0.3 * 0.5 * z[1]) + 2.0 * z[3] ** 2 for z in X])
    np.testing.assert_allclose(worth, by_hand, rtol=1e-12)
    table = np.array([model(np.where((mask >> np.arange(4) & 1) == 1, x, X)).mean() for mask in range(16)])
    assert worth[0, 0, 0] == pytest.approx(table[0b0101])
    np.testing.assert_allclose(ex.shap(x).values[0], shapley_by_orders(table), atol=1e-9)


# -- EX-28: three contributions --------------------------------------------------------------------------


def test_ex_28_contributions_lead_from_the_mean_to_the_prediction():
    found = shapley(lambda S: 100.0 + S @ np.array([10.0, -15.0, -5.0]), 3)
    np.testing.assert_allclose(found.values, [[10.0, -15.0, -5.0]], atol=1e-9)
    assert found.values.sum() == pytest.approx(-10)
    assert float(found.base + found.values.sum()) == pytest.approx(90) == pytest.approx(float(found.prediction[0]))
