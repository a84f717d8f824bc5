"""How pairs of additive models are fitted: products and surfaces against dense least squares, REML at its optimum."""

import numpy as np
import pytest

from pellucid.glassbox import AdditiveModel
from pellucid.glassbox.additive.axes import axis_of
from pellucid.glassbox.additive.functions import Design, Functions
from pellucid.glassbox.additive.penalties import Penalties
from pellucid.glassbox.additive.products import Products, heights, is_straight
from pellucid.glassbox.additive.surfaces import Grid, Surface
from pellucid.glassbox.additive.weak import WeakPairs, affordable, chance, columns_along
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
    u = {j: hats(axes[j], codes[:, j]) @ found.nodes[j][:, 0] for j in axes}
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
    u = heights(axis, axis.place(codes), w)[:, 0]
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


def weak_case(seed=0, n=240, strength=0.0):
    """Functions that are fitted, weak pairs beside them, weights and residuals; two numbers and two categories."""
    rng = np.random.default_rng(seed)
    codes = np.column_stack([rng.normal(size=(n, 2)), rng.integers(0, 3, n), rng.integers(0, 2, n)])
    w = rng.uniform(0.5, 2, n)
    y = codes[:, 0] + strength * codes[:, 1] * (codes[:, 3] - 0.5) + rng.normal(size=n) / np.sqrt(w)
    axes = {j: axis_of(codes[:, j], w, j > 1, 12) for j in range(4)}
    design = Design.of(list(axes.values()), codes)
    functions = Functions(design, Penalties.of_axes(design.axes, design.starts), [], 0.0)
    functions.lam[:] = 5.0
    functions.solve(w, y, same_weights=True)
    placed = {
        j: (index.astype(np.int64), share) for j, (index, share) in enumerate(axes[j].place(codes[:, j]) for j in axes)
    }
    nodes = {j: columns_along(axes[j], placed[j], w) for j in axes}
    pairs = [Grid.of(j, k, axes).features for j in range(4) for k in range(j + 1, 4)]
    weak = WeakPairs(pairs, nodes, placed, functions=functions)
    return codes, w, y, axes, functions, weak


def test_columns_of_a_feature_have_mean_zero_and_together_variance_one():
    codes, w, _, axes, _, weak = weak_case()
    for j in axes:
        u = hats(axes[j], codes[:, j]) @ weak.nodes[j]
        assert u.shape[1] == (2 if j < 2 else axes[j].size)
        assert np.allclose(w @ u, 0.0)
        if j > 1:
            assert np.average(np.square(u).sum(axis=1), weights=w) == pytest.approx(1.0)
    constant = axis_of(np.ones(5), np.ones(5), True, 9)
    assert columns_along(constant, constant.place(np.ones(5)), np.ones(5)).shape == (1, 0)


def test_weak_pairs_are_fitted_with_the_functions_at_once():
    codes, w, y, axes, functions, weak = weak_case(strength=1.0)
    residual = y - functions.intercept - functions.sums
    weak.solve(w, residual, 1.0, same_weights=True)
    H = np.hstack([hats(axes[j], codes[:, j]) for j in axes])
    U = np.hstack(
        [
            np.einsum("na,nb->nab", *(hats(axes[j], codes[:, j]) @ weak.nodes[j] for j in pair)).reshape(len(y), -1)
            for pair in weak.pairs
        ]
    )
    H1 = np.hstack([np.ones((len(y), 1)), H])  # with an intercept that nothing holds
    S = np.linalg.inv(functions.V) - H.T @ (w[:, None] * H)
    free = lambda lam: np.linalg.inv(  # noqa: E731  # the covariance of all entries together
        np.hstack([H1, U]).T @ (w[:, None] * np.hstack([H1, U]))
        + np.block(
            [
                [np.zeros((1, 1 + H.shape[1] + U.shape[1]))],
                [np.zeros((H.shape[1], 1)), S, np.zeros((H.shape[1], U.shape[1]))],
                [np.zeros((U.shape[1], 1 + H.shape[1])), lam * np.eye(U.shape[1])],
            ]
        )
    )
    lam, q = 100.0, U.shape[1]
    for _ in range(3):  # REML by the book: the coefficients of all, and the block of the covariance that is the pairs'
        V = free(lam)
        g = (V @ np.hstack([H1, U]).T @ (w * y))[-q:]
        used = lam
        lam = (q - lam * np.trace(V[-q:, -q:])) / (g @ g)
    assert np.allclose(weak.g, g, atol=1e-6)
    assert weak.edf.sum() == pytest.approx(q - used * np.trace(V[-q:, -q:]), rel=1e-4)
    assert np.allclose(weak.sums, (U - np.average(U, axis=0, weights=w)) @ g, atol=1e-6)


def test_chances_of_weak_pairs_are_uniform_without_any_and_small_with_some():
    def seen(seed, strength):
        _, w, y, _, functions, weak = weak_case(seed, 120, strength)
        residual = y - functions.intercept - functions.sums
        return chance([weak.evidence(w, residual, 1.0)])

    alone = np.array([seen(seed, 0.0) for seed in range(80)])
    assert 0.15 < (alone < 0.3).mean() < 0.45
    assert (alone < 0.05).mean() < 0.13
    assert np.median([seen(seed, 1.0) for seed in range(10)]) < 0.05


def test_pairs_with_few_columns_come_first_as_long_as_the_work_is_bounded():
    nodes = {0: np.zeros((3, 30)), 1: np.zeros((3, 2)), 2: np.zeros((3, 40)), 3: np.zeros((3, 1))}
    pairs = [(0, 2), (0, 1), (1, 3), (2, 3)]
    assert affordable(pairs, nodes, 100, 50) == [(1, 3), (2, 3), (0, 1)]  # 2 + 40 + 60 columns, and 1,200
    assert affordable(pairs, nodes, 1_000_000, 50) == [(1, 3)]
    assert affordable(pairs, nodes, 1_000_000, 2000) == []


def test_weak_pairs_that_none_shows_alone_are_kept_together():
    rng = np.random.default_rng(5)
    levels, strength = rng.integers(0, 3, size=(1600, 6)), np.triu(rng.normal(size=(6, 6)), 1)
    truth = 0.3 * np.einsum("ni,ij,nj->n", levels - 1.0, strength, levels - 1.0)
    X, y = levels.astype(str), truth + rng.normal(size=1600)
    few, many = (AdditiveModel(pairs=pairs).fit(X[:400], y[:400]) for pairs in ("strong", "auto"))
    assert len(few.pairs_) < len(many.pairs_) == 15
    missed = [np.square(truth[400:] - model.predict(X[400:])).mean() for model in (few, many)]
    assert missed[1] < 0.9 * missed[0]
