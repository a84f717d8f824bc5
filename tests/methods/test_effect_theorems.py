"""What must hold for partial dependence, ICE and their shapes, whatever the estimator's code."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression

from pellucid import Explainer
from strategies import QUICK, Table, additive, assert_close, bent, tables


@pytest.fixture(scope="module")
def correlated():
    """Three features, the first two with correlation 0.9."""
    rng = np.random.default_rng(0)
    shared = rng.normal(size=400)
    return np.column_stack([shared, 0.9 * shared + math.sqrt(0.19) * rng.normal(size=400), rng.normal(size=400)])


def test_pdp_of_a_linear_model_is_a_line_with_its_coefficient(correlated):
    y = correlated @ [2.0, -3.0, 0.5] + np.random.default_rng(1).normal(size=400)
    model = LinearRegression().fit(correlated, y)
    explainer = Explainer(model, correlated)
    for j, slope in enumerate(model.coef_):
        effect = explainer.pdp(j)
        assert_close(np.diff(effect.values) / np.diff(effect.grid), np.full(len(effect.grid) - 1, slope))
        assert effect.shape == ("linear",)
        assert explainer.pdp(j, at=[correlated[:, j].mean()]).values[0] == pytest.approx(
            model.predict(correlated).mean()
        )


@given(tables(missing=(1,)))
@QUICK
def test_pdp_is_the_mean_of_ice(table):
    explainer = table.explainer(bent)
    curves = explainer.ice("a", grid=6)
    mean = np.average(curves.values, axis=0, weights=table.mass)
    assert_close(explainer.pdp("a", grid=6).values, mean)
    assert_close(curves.average, mean)
    assert_close(explainer.pdp("a", grid=6, kind="both").average, mean)


@given(tables(missing=(2,)))
@QUICK
def test_without_interaction_all_centred_curves_and_all_derivatives_coincide(table):
    explainer = table.explainer(additive)
    centred = explainer.ice("a", grid=6, center=0.3)
    assert_close(centred.values, np.broadcast_to(centred.values[0], centred.values.shape))
    if len(centred.grid) > 1:
        slopes = explainer.ice("a", grid=6, derivative=True)
        assert_close(slopes.values, np.broadcast_to(slopes.values[0], slopes.values.shape), 1e-9)
        assert_close(slopes.spread, np.zeros(len(slopes.grid)), 1e-7)


def test_with_interaction_derivatives_differ_by_the_interacting_feature():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 2))
    slopes = Explainer(lambda X: X[:, 0] * X[:, 1] + 7 * X[:, 1], X).ice(0, grid=9, derivative=True)
    assert_close(slopes.values, np.repeat(X[:, [1]], 9, axis=1), 1e-9)
    assert_close(slopes.spread, np.full(9, X[:, 1].std(ddof=1)), 1e-9)


@given(tables())
@QUICK
def test_pure_effect_of_an_additive_model_is_zero_and_of_a_pair_its_own_mean(table):
    explainer = table.explainer(additive)
    assert_close(
        explainer.pdp(("a", "b"), grid=4, pure=True).values, np.zeros((4, 4))[: _size(table, 0), : _size(table, 1)]
    )
    both = explainer.pdp(("a", "b"), grid=4)
    one, other = explainer.pdp("a", grid=4), explainer.pdp("b", grid=4)
    mean = np.average([additive(row) for row in table.rows], weights=table.mass)
    assert_close(both.values, one.values[:, None] + other.values[None, :] - mean)


def _size(table, j):
    return min(4, len({row[j] for row in table.rows}))


@given(tables(category=True), st.integers(-4, 4).filter(bool), st.integers(-9, 9))
@QUICK
def test_effects_follow_a_scaled_and_shifted_model(table, scale, shift):
    plain, scaled = table.explainer(bent), table.explainer(lambda row: scale * bent(row) + shift)
    assert_close(scaled.pdp("b").values, scale * plain.pdp("b").values + shift)
    assert_close(scaled.pdp("b").se, abs(scale) * plain.pdp("b").se, 1e-8)
    assert_close(
        scaled.ice("b", derivative=len(plain.pdp("b").grid) > 1).values.shape, (len(table.rows), _distinct(table))
    )
    assert_close(scaled.pdp("b", center="min").values, scale * plain.pdp("b", center="min").values)
    assert_close(scaled.mplot("a").values, scale * plain.mplot("a").values + shift)
    for features in ("a", "b", ("a", "b"), ("b", "c")):
        assert_close(scaled.ale(features, bins=4).values, scale * plain.ale(features, bins=4).values)
        one, other = scaled.ale(features, bins=4, total=True), plain.ale(features, bins=4, total=True)
        assert_close(one.values, scale * other.values + shift)


def _distinct(table):
    return len({row[1] for row in table.rows})


@given(tables())
@QUICK
def test_centring_sets_the_curve_to_zero_where_asked(table):
    explainer = table.explainer(bent)
    at_least = explainer.ice("a", grid=5, center="min")
    assert_close(at_least.values[:, 0], np.zeros(len(table.rows)))
    anchored = explainer.pdp("a", at=[0.4, 1.0], center=0.4)
    assert_close(anchored.values[0], 0.0)
    mean = explainer.pdp("a", center="mean")
    assert_close(np.average(mean.values, weights=mean.counts), 0.0)


@pytest.mark.parametrize(
    ("curve", "shape"),
    [
        (lambda x: np.full(len(x), 2.0), "flat"),
        (lambda x: 3 - 2 * x, "linear"),
        (lambda x: np.exp(2 * x), "increasing"),
        (lambda x: -np.exp(2 * x), "decreasing"),
        (lambda x: (x > 0.2) * 1.0, "increasing"),
        (lambda x: np.sin(6 * x), "complex"),
        (np.square, "complex"),
    ],
)
def test_shapes_of_known_curves(curve, shape):
    X = np.linspace(-1, 1, 201)[:, None] * [1.0, 0.3]
    explainer = Explainer(lambda X: curve(X[:, 0]), X)
    for effect in (explainer.pdp(0), explainer.ale(0)):
        assert effect.shape == (shape,)


def test_shapes_of_levels_and_surfaces():
    X = pd.DataFrame({"k": list("abcabc"), "x": np.arange(6.0)})
    explainer = Explainer(lambda X: (X["k"] == "b") * 2.0 + X["x"], X)
    assert explainer.pdp("k").shape == ("levels",)
    assert explainer.pdp(("k", "x")).shape == ("surface",)


def test_counts_are_the_rows_nearest_to_each_grid_point():
    rows = [[0.0, 0.0, 0.0], [0.4, 0.0, 0.0], [0.6, 0.0, 0.0], [1.0, 0.0, 0.0], [5.0, 0.0, 0.0]]
    effect = Table(rows, [1.0, 2.0, 3.0, 1.0, 1.0]).explainer(bent).pdp("a", at=[0.0, 1.0, 4.0])
    assert effect.counts.tolist() == [3.0, 4.0, 1.0]


def test_mplot_mixes_effects_where_pdp_does_not(correlated):
    # f = x0; x1 is unused but correlated: its PDP is flat, its marginal plot rises with slope rho.
    explainer = Explainer(lambda X: X[:, 0], correlated)
    flat, mixed = explainer.pdp(1), explainer.mplot(1)
    assert np.ptp(flat.values) < 1e-12
    slope = np.polyfit(mixed.grid, mixed.values, 1)[0]
    assert slope == pytest.approx(0.9, abs=0.05)


def test_read_out_interpolates_between_grid_points():
    X = np.array([[0.0, 5.0], [1.0, 6.0], [4.0, 7.0]])
    effect = Explainer(lambda X: X[:, 0] ** 2, X).pdp(0)
    assert effect.value(1) == pytest.approx(1.0)
    assert effect.value(2) == pytest.approx(1 + (16 - 1) / 3)
