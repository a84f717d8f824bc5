"""How pairs of additive models are fitted: products and surfaces against dense least squares, REML at its optimum."""

import numpy as np
import pytest

from pellucid.glassbox import AdditiveModel
from pellucid.glassbox.additive.axes import axis_of
from pellucid.glassbox.additive.functions import Design, Functions
from pellucid.glassbox.additive.penalties import Penalties
from pellucid.glassbox.additive.products import Products, heights, is_straight
from pellucid.glassbox.additive.surfaces import Grid, Surface
from reference.additive import hats


@pytest.fixture(scope="module")
def case():
    """Three numbers on coarse axes, one of them with missing values; weights, a target, and where the rows are."""
    rng = np.random.default_rng(0)
    n = 300
    codes = rng.normal(size=(n, 3))
    codes[::13, 1] = np.nan
    w, filled = rng.uniform(0.5, 2, n), np.nan_to_num(codes)
    y = 0.4 * filled[:, 0] * filled[:, 1] - 0.2 * filled[:, 1] * filled[:, 2] + rng.normal(size=n)
    axes = {j: axis_of(codes[:, j], w, False, 60).coarser(codes[:, j], w, 6) for j in range(3)}
    placed = {j: (axis.place(codes[:, j])[0].astype(np.int64), axis.place(codes[:, j])[1]) for j, axis in axes.items()}
    return codes, w, y, axes, placed


def fitted_products(case):
    _, w, y, axes, placed = case
    pairs = [Grid.of(j, k, axes).features for j, k in ((0, 1), (0, 2), (1, 2))]
    found = Products(pairs, {j: heights(axes[j], placed[j], w) for j in axes}, placed, block=70)  # the last shorter
    for _ in range(40):
        found.solve(w, y - found.sums, 1.0, same_weights=True)
    return found


def written_out(case, found):
    """The columns, less their mean, and the target, less its own."""
    codes, w, y, axes, _ = case
    u = {j: hats(axes[j], codes[:, j]) @ found.nodes[j] for j in axes}
    U = np.stack([u[j] * u[k] for j, k in found.pairs], axis=1)
    return U - np.average(U, axis=0, weights=w), y - np.average(y, weights=w)


def test_products_are_those_of_ridge_regression_with_the_strength_of_reml(case):
    found, w = fitted_products(case), case[1]
    U, z = written_out(case, found)
    G, r = U.T @ (w[:, None] * U), U.T @ (w * z)

    def restricted(lam):
        A = G + lam * np.eye(3)
        return np.linalg.slogdet(A)[1] - 3 * np.log(lam) + (w @ z**2 - r @ np.linalg.solve(A, r))

    assert np.allclose(found.g, np.linalg.solve(G + found.lam * np.eye(3), r))
    assert np.allclose(found.sums, U @ found.g)
    assert found.edf.sum() == pytest.approx(np.trace(np.linalg.solve(G + found.lam * np.eye(3), G)))
    slope = (restricted(found.lam * 1.001) - restricted(found.lam / 1.001)) / (2 * np.log(1.001))
    assert abs(slope) < 1e-3


def test_a_product_is_a_surface_on_the_grid(case):
    _, w, _, axes, placed = case
    found = fitted_products(case)
    total = 0.0
    for pair in found.pairs:
        grid = Grid.of(*pair, axes)
        total = total + grid.sums(placed[grid.features[0]], placed[grid.features[1]], found.table(grid.features))
    assert np.allclose(total - np.average(total, weights=w), found.sums)


def test_values_far_out_do_not_decide():
    codes = np.append(np.random.default_rng(0).normal(size=200), 1e6)
    axis, w = axis_of(codes, np.ones(201), False, 24), np.ones(201)
    u = heights(axis, axis.place(codes), w)
    assert u[-1] < 4
    rarely = np.r_[np.zeros(200), 1, 2, 3, 4]
    axis, w = axis_of(rarely, np.ones(204), False, 24), np.ones(204)
    assert not heights(axis, axis.place(rarely), w).any()


def test_only_pairs_of_numbers_with_enough_knots_have_products(case):
    _, _, _, axes, _ = case
    flag = axis_of(np.array([0.0, 1.0, 1.0]), np.ones(3), False, 9)
    level = axis_of(np.arange(5.0), np.ones(5), True, 9)
    assert is_straight(Grid.of(0, 1, axes))
    assert not is_straight(Grid.of(0, 1, {0: axes[0], 1: flag}))
    assert not is_straight(Grid.of(0, 1, {0: axes[0], 1: level}))


def test_a_surface_is_that_of_dense_penalised_least_squares(case):
    codes, w, y, axes, placed = case
    grid = Grid.of(0, 1, axes)
    first, second = grid.features
    surface = Surface(grid, placed[first], placed[second])
    surface.lam, surface.ridge = [3.0, 0.5], 0.7
    surface.solve(w, y, 1.0, same_weights=True)
    a, b = hats(axes[first], codes[:, first]), hats(axes[second], codes[:, second])
    B, S = np.einsum("ni,nj->nij", a, b).reshape(len(y), -1), 0.7 * np.eye(a.shape[1] * b.shape[1])
    shape, strength = grid.shape, dict(enumerate((3.0, 0.5)))
    for axis, lam in strength.items():
        for node in np.ndindex(*shape):
            beyond = (node[0] + 1 - axis, node[1] + axis)
            if beyond[axis] < grid.axes[axis].present:
                d = np.zeros(shape)
                d[node], d[beyond] = 1.0, -1.0
                S += lam * np.outer(d, d)
    f = np.linalg.solve(B.T @ (w[:, None] * B) + S, B.T @ (w * y))
    assert np.allclose(surface.table, f - w @ B @ f / w.sum())
    assert surface.edf == pytest.approx(np.trace(np.linalg.solve(B.T @ (w[:, None] * B) + S, B.T @ (w[:, None] * B))))


def test_a_step_with_the_strengths_as_they_are_needs_no_new_factor(case):
    codes, w, y, axes, _ = case
    design = Design.of([axes[j] for j in range(3)], codes)
    kept, anew = (Functions(design, Penalties.of_axes(design.axes, design.starts), [], 0.0) for _ in range(2))
    for target, smooths in ((y, False), (y**2, True), (y**2, False)):
        kept.solve(w, target - kept.intercept - kept.sums, same_weights=True)
        anew.solve(w, target - anew.intercept - anew.sums, same_weights=False)
        assert np.allclose(kept.table, anew.table)
        assert np.allclose(kept.edf, anew.edf)
        for each in (kept, anew) if smooths else ():
            each.smooth()


def test_many_weak_pairs_lend_each_other_strength():
    rng = np.random.default_rng(3)
    X, strength = rng.normal(size=(3000, 6)), np.triu(rng.normal(size=(6, 6)), 1)
    truth = X[:, 0] + 0.25 * np.einsum("ni,ij,nj->n", X, strength, X)
    y = truth + rng.normal(size=3000)
    model = AdditiveModel(pairs="auto", knots=16, pair_knots=12).fit(X[:1500], y[:1500])
    missed = truth[1500:] - model.predict(X[1500:])
    assert 1 - missed.var() / truth[1500:].var() > 0.95  # surfaces alone: 0.90
