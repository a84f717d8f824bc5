"""Shapes of additive models: they hold exactly, and the function is the best one that has the shape."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pellucid
from pellucid.glassbox import AdditiveModel
from pellucid.glassbox.additive.constraints import Cone, solved
from reference.constrained import best_under, constraints
from strategies import QUICK

DIRECTIONS = {"increasing": (1, 0), "decreasing": (-1, 0), "convex": (0, 1), "concave": (0, -1)}
SAID = [
    ("increasing",),
    ("decreasing",),
    ("convex",),
    ("concave",),
    ("increasing", "convex"),
    ("increasing", "concave"),
    ("decreasing", "convex"),
    ("decreasing", "concave"),
]


def direction(said):
    return tuple(sum(DIRECTIONS[word][axis] for word in said) for axis in (0, 1))


@pytest.mark.parametrize("said", SAID)
def test_the_function_is_the_best_that_has_its_shape(said):
    rng = np.random.default_rng(0)
    points = np.array([-2.0, -1.5, 0.0, 0.3, 2.0])
    for _ in range(3):
        X = rng.normal(size=(12, 8))
        A, right = X.T @ X + 0.1 * np.eye(8), 3 * rng.normal(size=8)
        C = constraints(points, *direction(said), first=2, size=8)
        b, _, _ = solved(A, right, [Cone(*direction(said), 2, points)])
        known, least = best_under(A, right, C)
        assert b @ A @ b / 2 - right @ b == pytest.approx(least, rel=1e-9)
        assert np.allclose(b, known, atol=1e-6)


def test_two_shapes_at_once_are_the_best_together():
    rng = np.random.default_rng(1)
    points = np.array([0.0, 1.0, 3.0, 4.0])
    X = rng.normal(size=(14, 8))
    A, right = X.T @ X + 0.1 * np.eye(8), 3 * rng.normal(size=8)
    C = np.vstack([constraints(points, 1, 0, first=0, size=8), constraints(points, 0, -1, first=4, size=8)])
    b, _, _ = solved(A, right, [Cone(1, 0, 0, points), Cone(0, -1, 4, points)])
    assert np.allclose(b, best_under(A, right, C)[0], atol=1e-6)


@QUICK
@given(
    seed=st.integers(0, 10_000),
    said=st.sampled_from(SAID),
    family=st.sampled_from(["gaussian", "binomial", "poisson", "gamma"]),
    n=st.integers(12, 120),
    whole=st.booleans(),
    scale=st.sampled_from([1e-6, 1.0, 1e6]),
)
def test_a_shape_holds_exactly(seed, said, family, n, whole, scale):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n) * 3
    X = np.stack([scale * (np.round(x) if whole else x), rng.normal(size=n)], axis=1)
    X[:: n // 4, 1] = np.nan
    eta = np.sin(x) * rng.normal() + rng.normal() * x / 3 + rng.normal(size=n)
    y = {"gaussian": eta, "binomial": eta > np.median(eta), "poisson": np.floor(np.exp(eta)), "gamma": np.exp(eta)}
    model = AdditiveModel(family=family, shapes={0: said}).fit(X, y[family])
    rising, bending = direction(said)
    grid = np.sort(np.concatenate([np.linspace(X[:, 0].min() - scale, X[:, 0].max() + scale, 400), X[:, 0]]))
    term = model._term(0, grid)[:, 0]
    assert (rising * np.diff(term) >= 0.0).all()
    if family == "gaussian":
        assert (rising * np.diff(model.predict(np.stack([grid, np.zeros(len(grid))], axis=1))) >= 0.0).all()
    points = model._fitted.axes[0].points
    slopes = np.diff(model._fitted.tables[0][:, 0]) / np.diff(points)
    rounding = 1e-13 * (np.abs(term).max() + 1e-300) / np.diff(points).min()
    assert (bending * np.diff(slopes) >= -rounding).all()


def test_a_shape_that_is_true_costs_nothing_and_one_that_is_false_gives_a_constant():
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 6, (400, 1))
    y = np.sqrt(x[:, 0]) + 0.2 * rng.normal(size=400)
    free, right, wrong = (
        AdditiveModel(shapes=shapes).fit(x, y) for shapes in (None, {0: ("increasing", "concave")}, {0: "decreasing"})
    )
    grid = np.linspace(0, 6, 100)[:, None]
    error = [np.square(model.predict(grid) - np.sqrt(grid[:, 0])).mean() for model in (free, right)]
    assert error[1] <= error[0]
    assert np.ptp(wrong.predict(grid)) == 0.0


def test_classes_that_are_several_have_no_direction():
    with pytest.raises(pellucid.InputError, match="shapes"):
        AdditiveModel(shapes={0: "increasing"}).fit(np.arange(30.0)[:, None], np.array(list("abc" * 10)))
