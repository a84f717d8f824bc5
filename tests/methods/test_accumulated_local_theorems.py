"""What must hold for accumulated local effects: additivity, closed forms, centring, gradients."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression

from pellucid import Explainer
from pellucid.methods.effects.estimation.accumulated import _of_steps_2d
from pellucid.methods.effects.estimation.accumulation import added_up, highest_order, without_lower_orders
from pellucid.methods.effects.estimation.ale_axis import Axis
from strategies import QUICK, Table, additive, assert_close, bent, tables, varied


def part_a(x):
    """The component of the first feature in `additive`."""
    return 0.3 * x * x - 1.7 * x


@given(tables(missing=(1, 2)), st.integers(1, 9))
@QUICK
def test_ale_of_an_additive_model_is_its_component(table, bins):
    assume(varied(table, 0))
    effect = table.explainer(additive).ale("a", bins=bins)
    component = np.array([part_a(x) for x in effect.grid])
    middles = (component[1:] + component[:-1]) / 2
    assert_close(effect.values, component - np.average(middles, weights=effect.counts))


GAP = np.column_stack([np.r_[np.linspace(0, 1, 20), np.linspace(3, 4, 20)], np.arange(40.0)])


def test_a_straight_line_is_straight_over_bins_without_rows():
    effect = Explainer(lambda X: X[:, 0], GAP).ale(0, bins=[-1.0, 0.0, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0])
    assert_close(np.diff(effect.values), np.diff(effect.grid))


def test_what_a_bridge_may_be_wrong_by_is_in_the_interval():
    def model(X):
        return 4.0 * (X[:, 0] > 1.7) * (X[:, 0] - 1.7)  # the bend lies where no row is

    effect = Explainer(model, GAP).ale(0, bins=[0.0, 1.0, 1.5, 2.0, 2.5, 2.9, 4.0])
    truth = model(np.column_stack([effect.grid, effect.grid]))
    rise = (effect.values[4] - effect.values[1]) - (truth[4] - truth[1])
    assert abs(rise) > 0.2
    assert abs(rise) < 2 * (effect.se[1] + effect.se[4])
    straight = Explainer(lambda X: 4.0 * X[:, 0], GAP).ale(0, bins=[0.0, 1.0, 1.5, 2.0, 2.5, 2.9, 4.0])
    assert effect.se[3] > straight.se[3] or effect.se[4] > straight.se[4]


def test_ale_of_an_additive_model_does_not_care_for_correlation():
    rng = np.random.default_rng(0)
    x = np.sort(rng.normal(size=300))
    independent = np.column_stack([x, rng.normal(size=300)])
    tied = np.column_stack([x, 2 * x + 0.01 * rng.normal(size=300)])

    def model(X):
        return np.sin(X[:, 0]) + 5 * X[:, 1] ** 2

    curves = [Explainer(model, X).ale(0).values for X in (independent, tied)]
    assert_close(curves[0], curves[1], 1e-9)


@given(tables(category=True, missing=(1,)), st.integers(1, 6))
@QUICK
def test_second_order_effect_of_an_additive_model_is_zero(table, bins):
    explainer = table.explainer(additive)
    for pair in (("a", "b"), ("b", "c"), ("c", "a")):
        assume(any(not math.isnan(row[1]) and w > 0 for row, w in zip(table.rows, table.mass, strict=True)))
        effect = explainer.ale(pair, bins=bins)
        assert_close(effect.values, np.zeros(effect.values.shape))


@given(tables(category=True, weighted=False), st.permutations(("red", "green", "blue", "grey")))
@QUICK
def test_without_interaction_the_order_of_categories_does_not_matter(table, order):
    seen = {row[0] for row in table.rows}
    explainer = table.explainer(additive)
    plain = explainer.ale("a")
    other = explainer.ale("a", order=[level for level in order if level in seen])
    for level in seen:
        assert plain.value(level) == pytest.approx(other.value(level), abs=1e-9)


@given(tables(category=True, missing=(2,)), st.integers(1, 6))
@QUICK
def test_centring(table, bins):
    """Numbers: the count-weighted mean at bin midpoints is zero. Categories: the mean over rows is zero."""
    explainer = table.explainer(bent)
    effect = explainer.ale("a")
    assert_close(np.average(effect.values, weights=effect.counts), 0.0)
    assert effect.counts.sum() == pytest.approx(sum(table.mass))
    assume(varied(table, 1))
    effect = explainer.ale("b", bins=bins)
    middles = (effect.values[1:] + effect.values[:-1]) / 2
    assert_close(np.average(middles, weights=effect.counts), 0.0)


def test_second_order_effect_of_a_product_on_a_complete_grid_is_exact():
    # Every pair of values once: independent, no empty cell. With M_j the count-weighted mean of the bin
    # midpoints of x_j the second-order effect of x1 x2 is exactly (x1 - M1)(x2 - M2).
    first, second = np.array([0.0, 1.0, 2.5, 3.0, 7.0]), np.array([-1.0, 0.0, 0.5, 4.0])
    X = np.array([[a, b] for a in first for b in second])
    effect = Explainer(lambda X: X[:, 0] * X[:, 1], X).ale((0, 1), bins=(3, 2))
    assert (effect.counts > 0).all()
    centres = []
    for axis, edges in enumerate(effect.grid):
        mass = effect.counts.sum(axis=1 - axis)
        centres.append(np.average((edges[1:] + edges[:-1]) / 2, weights=mass))
    expected = np.outer(effect.grid[0] - centres[0], effect.grid[1] - centres[1])
    assert_close(effect.values, expected)


def test_second_order_effect_of_a_product_of_independent_uniforms():
    X = np.random.default_rng(0).uniform(size=(5000, 2)) * [2.0, 3.0]
    effect = Explainer(lambda X: X[:, 0] * X[:, 1], X, checks=False).ale((0, 1), bins=10)
    expected = np.outer(effect.grid[0] - 1.0, effect.grid[1] - 1.5)
    assert np.abs(effect.values - expected).max() < 0.05 * np.abs(expected).max()


def test_product_of_correlated_normals_has_the_effects_that_calculus_gives():
    # E[X2 | X1 = z] = rho z, so the main effect of x1 is the integral of rho z, centred: rho (x^2 - 1) / 2,
    # and what is left of x1 x2 is x1 x2 - rho (x1^2 + x2^2) / 2, whose mean is rho - rho = 0.
    rho, n = 0.6, 40_000
    rng = np.random.default_rng(1)
    x = rng.normal(size=n)
    X = np.column_stack([x, rho * x + math.sqrt(1 - rho**2) * rng.normal(size=n)])
    explainer = Explainer(lambda X: X[:, 0] * X[:, 1], X, checks=False)
    main = explainer.ale(0, bins=50)
    middle = np.abs(main.grid) < 2
    error = (main.values - rho * (main.grid**2 - 1) / 2)[middle]
    assert np.ptp(error) < 0.03
    assert abs(error).max() < 0.06  # the midpoints of the long bins at both ends move the centre
    pair = explainer.ale((0, 1), bins=25)
    a, b = np.meshgrid(*pair.grid, indexing="ij")
    expected = a * b - rho * (a**2 + b**2) / 2
    inside = (np.abs(a) < 1.2) & (np.abs(b) < 1.2)
    error = (pair.values - expected)[inside]
    assert np.ptp(error) < 0.1 * np.ptp(expected[inside])
    assert abs(error).max() < 0.15


def test_total_effect_of_a_bilinear_model_is_the_model_where_rows_stand_in_the_middle_of_bins():
    edges = ([0.0, 1.0, 2.0, 3.0], [0.0, 2.0, 4.0])
    X = np.array([[a, b] for a in (0.5, 1.5, 2.5) for b in (1.0, 3.0)])

    def model(X):
        return 4.0 + 2.0 * X[:, 0] - X[:, 1] + 3.0 * X[:, 0] * X[:, 1]

    effect = Explainer(model, X).ale((0, 1), bins=edges, total=True)
    expected = [[model(np.array([[a, b]]))[0] for b in edges[1]] for a in edges[0]]
    assert_close(effect.values, expected)
    assert effect.level[0] == pytest.approx(model(X).mean())
    assert effect.value(1.0, 2.0) == pytest.approx(10.0)


def test_total_effect_of_a_category_and_a_number_is_the_model_of_the_two():
    # Every level meets every bin equally often, at its middle: piecewise linear parts come out exactly.
    X = pd.DataFrame([(level, x) for level in "abc" for x in (0.5, 1.5, 2.5)], columns=["k", "x"])
    slopes = {"a": 1.0, "b": -2.0, "c": 0.5}

    def model(X):
        return X["k"].map(slopes).astype(float) * X["x"] + 2.0 * (X["k"] == "b")

    effect = Explainer(model, X).ale(("k", "x"), bins=[[0.0, 1.0, 2.0, 3.0]] * 2, order=list("cab"), total=True)
    expected = [[slopes[k] * x + 2.0 * (k == "b") for x in (0.0, 1.0, 2.0, 3.0)] for k in "cab"]
    assert_close(effect.values, expected)


def test_total_effect_of_a_smooth_model_is_the_model_up_to_binning():
    rng = np.random.default_rng(2)
    x = rng.uniform(-1, 1, 20_000)
    X = np.column_stack([x, np.clip(x + rng.normal(0, 0.5, 20_000), -2, 2)])

    def model(X):
        return np.exp(X[:, 0]) + X[:, 0] * np.cos(X[:, 1])

    effect = Explainer(model, X, checks=False).ale((0, 1), bins=20, total=True)
    a, b = np.meshgrid(*effect.grid, indexing="ij")
    truth = model(np.column_stack([a.ravel(), b.ravel()])).reshape(a.shape)
    supported = np.abs(a - b) < 0.5
    assert np.abs(effect.values - truth)[supported].max() < 0.03 * np.ptp(truth)


@given(tables(), st.integers(1, 6))
@QUICK
def test_total_effect_adds_the_mean_prediction_and_the_main_effects(table, bins):
    assume(varied(table, 0) and varied(table, 1))
    explainer = table.explainer(bent)
    mean = np.average([bent(row) for row in table.rows], weights=table.mass)
    one, other = explainer.ale("a", bins=bins), explainer.ale("b", bins=bins)
    pair = explainer.ale(("a", "b"), bins=bins)
    assert_close(explainer.ale("a", bins=bins, total=True).values, one.values + mean)
    total = explainer.ale(("a", "b"), bins=bins, total=True)
    assert_close(total.values, pair.values + one.values[:, None] + other.values[None, :] + mean)


def test_linear_model_ale_is_a_line():
    rng = np.random.default_rng(0)
    X = rng.exponential(size=(200, 3))
    model = LinearRegression().fit(X, X @ [1.0, 2.0, -4.0])
    effect = Explainer(model, X).ale(2)
    assert_close(np.diff(effect.values) / np.diff(effect.grid), np.full(len(effect.grid) - 1, -4.0), 1e-9)
    assert effect.shape == ("linear",)


def test_constant_and_two_valued_features():
    X = np.column_stack([np.full(30, 2.0), np.arange(30) % 2, np.arange(30.0)])
    explainer = Explainer(lambda X: X @ [1.0, 5.0, 0.1], X)
    assert explainer.ale(0).values.tolist() == [0.0]
    assert_close(explainer.ale(1).values, [-2.5, 2.5])
    assert_close(explainer.ale((0, 1)).values, [[0.0, 0.0]])


# -- gradients ---------------------------------------------------------------------------------------


def check_gradients_equal_differences(model, X):
    explainer = Explainer(model, X)
    for j in range(X.shape[1]):
        by_gradient, by_difference = explainer.ale(j, bins=12, gradient=True), explainer.ale(j, bins=12)
        assert_close(by_gradient.values, by_difference.values, 1e-6 if X.dtype == np.float32 else 1e-9)
        assert np.ptp(by_gradient.values) > 0.1


def test_gradient_ale_of_a_linear_torch_model():
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    model = torch.nn.Linear(3, 1).double()
    with torch.no_grad():
        model.weight[:] = torch.tensor([[1.0, -2.0, 0.5]])
    check_gradients_equal_differences(model, np.random.default_rng(0).normal(size=(80, 3)))


def test_gradient_ale_of_a_function_with_its_own_gradient():
    class Quadratic:
        """x0 x1 + x2: along each feature a line, so differences and derivatives agree."""

        def __call__(self, X):
            return X[:, 0] * X[:, 1] + X[:, 2]

        def gradient(self, X):
            return np.column_stack([X[:, 1], X[:, 0], np.ones(len(X))])

    check_gradients_equal_differences(Quadratic(), np.random.default_rng(1).normal(size=(90, 3)))


def test_gradient_ale_of_a_curve_converges_to_the_curve():
    class Cubic:
        def __call__(self, X):
            return X[:, 0] ** 3

        def gradient(self, X):
            return np.column_stack([3 * X[:, 0] ** 2, np.zeros(len(X))])

    X = np.random.default_rng(2).uniform(-1, 1, size=(20_000, 2))
    effect = Explainer(Cubic(), X, checks=False).ale(0, bins=60, gradient=True)
    np.testing.assert_allclose(effect.values - effect.values[30], effect.grid**3 - effect.grid[30] ** 3, atol=5e-3)
    assert_close(Explainer(Cubic(), X, checks=False).ale(1, gradient=True).values, np.zeros(41))


# -- missing -----------------------------------------------------------------------------------------


def test_rows_without_the_value_are_compared_with_themselves_with_one():
    # Missing counts as 10 more than the mean of the levels' effects; other features do not matter.
    rows = [["red", 1.0, 0.0], ["green", 2.0, 0.0], ["green", 5.0, 0.0], [math.nan, 9.0, 0.0]]
    effects = {"red": 1.0, "green": 4.0}
    effect = Table(rows).explainer(lambda row: effects.get(row[0], 13.0) + row[1]).ale("a")
    assert_close(effect.missing.values, 13.0 - (1.0 + 2 * 4.0) / 3)
    assert effect.missing.share == 0.25


# -- the algebra behind a pair's errors --------------------------------------------------------------


@given(st.integers(2, 5), st.integers(2, 5), st.booleans(), st.booleans(), st.integers(0, 2**32 - 1))
@QUICK
def test_the_errors_of_a_pair_are_those_of_its_derivatives(points, others, nominal, other_nominal, seed):
    generator = np.random.default_rng(seed)
    first = Axis(np.arange(float(points)), np.empty(0, dtype=np.intp), nominal)
    second = Axis(np.arange(float(others)), np.empty(0, dtype=np.intp), other_nominal)
    mass = generator.integers(0, 3, size=(first.n_cells, second.n_cells)).astype(float)
    mass[0, 0] += 1.0
    steps = (first.n_steps, second.n_steps)
    errors = generator.uniform(size=(3, *steps, 2))
    unit = np.eye(steps[0] * steps[1]).reshape(*steps, -1)
    derivative = highest_order((first, second), mass, unit)
    expected = [derivative**power @ error.reshape(-1, 2) for power, error in zip((2, 3, 4), errors, strict=True)]
    np.testing.assert_allclose(_of_steps_2d(first, second, mass, errors), expected, rtol=1e-9, atol=1e-12)


def test_several_masses_at_once_are_the_same_as_one_by_one():
    generator = np.random.default_rng(0)
    first = Axis(np.arange(4.0), np.empty(0, dtype=np.intp), nominal=False)
    second = Axis(np.arange(3.0), np.empty(0, dtype=np.intp), nominal=True)
    masses, surface = generator.uniform(size=(3, 3, 5)), added_up(generator.normal(size=(3, 2, 2)), 2)
    masses[1, :, 2] = 0.0  # a bin without rows in one of them
    together = without_lower_orders((first, second), masses[..., None], surface[:, :, None])
    for k in range(5):
        alone = without_lower_orders((first, second), masses[..., k], surface)
        np.testing.assert_allclose(together[:, :, k], alone, atol=1e-14)
