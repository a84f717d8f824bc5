"""How additive models are fitted: the normal equations, REML and pure pairs against their slow twins."""

import numpy as np
import pytest

from pellucid.glassbox.additive import kernels
from pellucid.glassbox.additive.axes import axis_of
from pellucid.glassbox.additive.functions import Design, Functions
from pellucid.glassbox.additive.penalties import Penalties
from pellucid.glassbox.additive.purify import pure
from reference.additive import hats, penalised, penalty, restricted


@pytest.fixture(scope="module")
def case():
    """Two numbers, one with missing values, and a category; weights and a target."""
    rng = np.random.default_rng(0)
    n = 150
    codes = np.stack([rng.normal(size=n), np.round(rng.uniform(0, 9, n)), rng.integers(0, 4, n).astype(float)], axis=1)
    codes[::11, 1] = np.nan
    w = rng.uniform(0.5, 2, n)
    y = (
        np.sin(2 * codes[:, 0])
        + 0.1 * np.nan_to_num(codes[:, 1], nan=3.0)
        + 0.3 * codes[:, 2]
        + 0.4 * rng.normal(size=n)
    )
    axes = [axis_of(codes[:, j], w, j == 2, 9) for j in range(3)]
    design = Design.of(axes, codes)
    functions = Functions(design, Penalties.of_axes(axes, design.starts), [], 0.0)
    return codes, w, y, axes, functions


def written_out(case, lam, tau):
    codes, _w, _y, axes, functions = case
    of = functions.penalties.of
    H = [hats(axis, codes[:, j]) for j, axis in enumerate(axes)]
    S = [penalty(axis, tau[of == j]) for j, axis in enumerate(axes)]
    return H, S


def test_coefficients_are_those_of_dense_penalised_least_squares(case):
    _, w, y, _, functions = case
    rng = np.random.default_rng(1)
    functions.lam, functions.tau = rng.uniform(0.2, 9, 3), rng.uniform(0.3, 3, len(functions.tau))
    functions.table, functions.sums, functions.intercept = 0 * functions.table, 0 * functions.sums, 0.0
    functions.solve(w, y, same_weights=False)
    H, S = written_out(case, functions.lam, functions.tau)
    intercept, tables, V = penalised(H, [lam * s for lam, s in zip(functions.lam, S, strict=True)], y, w)
    assert functions.intercept == pytest.approx(intercept, rel=1e-8)
    assert np.allclose(functions.table, np.concatenate(tables), rtol=1e-8, atol=1e-8)
    centred = np.concatenate([np.eye(h.shape[1])[None] - (w @ h / (w @ h).sum())[None, None] for h in H[:1]], axis=0)[0]
    k = H[0].shape[1]
    assert np.allclose(centred @ functions.V[:k, :k] @ centred.T, V[:k, :k], rtol=1e-7, atol=1e-9)


def test_the_strengths_are_where_the_restricted_likelihood_is_flat(case):
    """Fellner and Schall's steps end where REML's derivative by every log lam is zero (tau as they are, phi given)."""
    _, w, y, _, functions = case
    functions.tau, functions.phi = np.ones(len(functions.tau)), 0.2
    functions.lam = np.ones(3)
    for _ in range(400):
        functions.table, functions.sums, functions.intercept = 0 * functions.table, 0 * functions.sums, 0.0
        functions.solve(w, y, same_weights=False)
        functions.lam = functions.penalties.strengths(
            functions.table, functions.V, functions.phi, functions.lam, functions.tau, functions.free
        )
    H, S = written_out(case, functions.lam, functions.tau)
    for j in range(3):
        up, down = functions.lam.copy(), functions.lam.copy()
        up[j], down[j] = up[j] * 1.001, down[j] / 1.001
        slope = (restricted(H, S, y, w, up, 0.2) - restricted(H, S, y, w, down, 0.2)) / (2 * np.log(1.001))
        assert abs(slope) < 1e-3


def test_the_band_of_the_inverse_is_that_of_the_inverse():
    rng = np.random.default_rng(0)
    n, bands = 30, 5
    A = np.triu(np.tril(rng.normal(size=(n, n)), bands - 1), 1 - bands)
    A = A @ A.T
    A[np.abs(np.subtract.outer(np.arange(n), np.arange(n))) >= bands] = 0.0
    A += 20 * np.eye(n)
    L = np.linalg.cholesky(A)
    factor = np.stack([np.pad(np.diag(L, -d), (0, d)) for d in range(bands)])
    found, known = kernels.selected_inverse(factor), np.linalg.inv(A)
    for d in range(bands):
        assert np.allclose(found[d, : n - d], np.diag(known, -d))


def test_pure_pairs_have_mean_zero_along_both_axes_and_lose_nothing():
    rng = np.random.default_rng(0)
    surface, mass = rng.normal(size=(7, 5)), rng.poisson(2.0, size=(7, 5)).astype(float)
    mass[2] = 0.0  # a node that no row has
    left, g, h = pure(surface, mass)
    assert np.allclose((mass * left).sum(axis=0), 0.0, atol=1e-9)
    assert np.allclose((mass * left).sum(axis=1), 0.0, atol=1e-9)
    assert np.allclose(left + g[:, None] + h, surface)
