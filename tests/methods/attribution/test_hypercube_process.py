"""The regression on the cube: it passes through what it was told, and its Shapley values are those of its game."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pellucid.games import all_coalitions
from pellucid.methods.attribution.estimation import hypercube_process
from pellucid.methods.attribution.estimation.hypercube_kernel import (
    even_kernel_values,
    interaction_weights,
    kernel,
    odd_kernel_values,
    odd_kernel_variance,
    pair_weights,
)
from pellucid.methods.attribution.estimation.hypercube_process import (
    CURVES,
    NOISES,
    activity,
    choose,
    interactions_of,
    misfit,
    regress,
    shapley_of,
    shapley_variance,
    spread,
)
from pellucid.methods.attribution.estimation.pairs import PairDesign
from reference.indices import interaction_matrix, mask_of, shapley

many = settings(max_examples=25, deadline=None)
seeds = st.integers(0, 10_000)


def sides(halves):
    return np.where(halves, 1.0, -1.0)


def kernel_of(s, t, bends, parity):
    """The curved part of the kernel by its definition, of two corners."""
    together = np.prod(np.cosh(bends))
    if parity == "odd":
        linear = together * np.tanh(bends)
        remains = np.sinh(bends.sum()) - linear.sum()
        return (np.sinh(bends @ (s * t)) - linear @ (s * t)) / remains if len(s) > 2 else 0.0
    return (np.cosh(bends @ (s * t)) - together) / (np.cosh(bends.sum()) - together)


def bends_of(p, seed=0):
    """Players that bend differently."""
    return np.random.default_rng(seed).uniform(0.02, 0.6, size=p)


def free_of(corners, parity):
    """What is fitted without a prior: a linear function of the corner, or a constant."""
    return corners if parity == "odd" else np.ones((len(corners), 1))


def sample(seed, p, pairs, games=2):
    """The pair of everybody and nobody, and some others, with worths of no pattern."""
    rng = np.random.default_rng(seed)
    halves = np.concatenate([np.ones((1, p), dtype=bool), PairDesign(p, rng).between(0, pairs)])
    return halves, rng.normal(size=(len(halves), games))


def matrix(halves, fit, parity):
    corners = sides(halves)
    return np.array([[kernel_of(s, t, fit.bends, parity) for t in corners] for s in corners])


def fitted_game(halves, fit, parity, game=0):
    """``v[mask]`` of the fitted game: smooth everywhere, and the noise where a pair (or its complement) was asked."""
    p = halves.shape[1]
    corners = sides(all_coalitions(p))
    sign = -1.0 if parity == "odd" else 1.0
    values = []
    for s in corners:
        smooth = sum(
            w * kernel_of(s, t, fit.bends, parity) for w, t in zip(fit.weights[:, game], sides(halves), strict=True)
        )
        own = sum(
            fit.noise * w * (float((s == t).all()) + sign * float((s == -t).all()))
            for w, t in zip(fit.weights[:, game], sides(halves), strict=True)
        )
        free = free_of(s[None], parity)[0] @ fit.trend[:, game]
        values.append(smooth + own + free)
    return np.array(values)


# -- the fit -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("parity", ["odd", "even"])
@pytest.mark.parametrize("p", [3, 4, 7])
def test_the_kernel_is_a_sum_over_sets_of_players(parity, p):
    """All sets of three players and more (two and more) of that parity, each with the product of its members' tanh."""
    bends, corners = bends_of(p), sides(all_coalitions(p)[::3])
    sizes = range(3, p + 1, 2) if parity == "odd" else range(2, p + 1, 2)
    sets = [list(members) for size in sizes for members in combinations(range(p), size)]
    weight = np.array([np.prod(np.tanh(bends[members])) for members in sets])
    product = np.array([[np.prod((s * t)[members]) for members in sets] for s in corners for t in corners])
    expected = (product @ weight / weight.sum()).reshape(len(corners), len(corners))
    np.testing.assert_allclose(kernel(corners, bends, parity), expected, atol=1e-11)


@pytest.mark.parametrize("parity", ["odd", "even"])
@many
@given(seeds, st.integers(3, 7), st.integers(1, 20))
def test_the_fit_passes_through_its_pairs(parity, seed, p, pairs):
    halves, worth = sample(seed, p, pairs)
    fit = regress(halves, worth, parity)
    curved = (matrix(halves, fit, parity) + fit.noise * np.eye(len(halves))) @ fit.weights
    np.testing.assert_allclose(curved + free_of(sides(halves), parity) @ fit.trend, worth, atol=1e-6)


@pytest.mark.parametrize("parity", ["odd", "even"])
@many
@given(seeds, st.integers(3, 7), st.integers(2, 24))
def test_errors_are_those_of_leaving_a_pair_out_and_fitting_again(parity, seed, p, pairs):
    """Wherever the others still say what the free part is."""
    halves, worth = sample(seed, p, pairs)
    fit = regress(halves, worth, parity)
    full = matrix(halves, fit, parity) + fit.noise * np.eye(len(halves))
    free = free_of(sides(halves), parity)
    for left_out in range(len(halves)):
        rest = np.delete(np.arange(len(halves)), left_out)
        F, K, y = free[rest], full[np.ix_(rest, rest)], worth[rest]
        if np.linalg.matrix_rank(F) < F.shape[1]:
            continue
        trend = np.linalg.solve(F.T @ np.linalg.solve(K, F), F.T @ np.linalg.solve(K, y))
        predicted = free[left_out] @ trend + full[left_out, rest] @ np.linalg.solve(K, y - F @ trend)
        np.testing.assert_allclose(fit.errors[left_out], worth[left_out] - predicted, rtol=1e-2, atol=1e-5)


def processes(halves, worth, parity):
    """For every curve and noise: bends, noise, inverse of the whole kernel and what is missed when a pair is left out."""
    p, corners = halves.shape[1], sides(halves)
    free = free_of(corners, parity)
    nearly_free = 1e5 / free.shape[1] * (free @ free.T)
    for curve in CURVES:
        bends = np.full(p, curve / p)
        curved = np.array([[kernel_of(s, t, bends, parity) for t in corners] for s in corners])
        for noise in NOISES:
            inverse = np.linalg.inv(curved + nearly_free + noise * np.eye(len(halves)))
            yield curve, noise, inverse, (inverse @ worth) / np.diag(inverse)[:, None]


@pytest.mark.parametrize("parity", ["odd", "even"])
@many
@given(seeds, st.integers(3, 6), st.integers(4, 14))
def test_curve_and_noise_are_those_of_least_error(parity, seed, p, pairs):
    """Of one game the best on the grid (of noises within 1% the largest), with a free part that is nearly so."""
    halves, worth = sample(seed, p, pairs, games=1)
    fit = regress(halves, worth, parity)
    losses = {(curve, noise): np.mean(errors[1:] ** 2) for curve, noise, _, errors in processes(halves, worth, parity)}
    curve = CURVES[int(np.argmin(np.abs(np.array(CURVES) - fit.bends.sum())))]
    assert fit.bends.sum() == pytest.approx(curve)
    assert losses[curve, fit.noise] <= min(losses.values()) * 1.0101


@many
@given(seeds, st.integers(3, 6), st.integers(0, 8))
def test_doubt_is_the_variance_over_all_curves_and_noises(seed, p, more):
    """Each believed by its loss; the values written out as weights of all pairs of the cube."""
    halves, worth = sample(seed, p, min(p + 2 + more, 2 ** (p - 1) - 2), games=1)
    chosen = choose(halves, worth, np.full(p, 1 / p), "odd")
    whole = np.concatenate([halves[:1], PairDesign(p, np.random.default_rng(0)).between(0, 2**p)])
    weight, corners = 2 * pair_weights(whole), sides(whole)
    same = np.array([[float((s == t).all()) for t in halves] for s in whole])
    at = {}
    for curve, noise, inverse, errors in processes(halves, worth, "odd"):
        bends = np.full(p, curve / p)

        def covariance(a, b, bends=bends):
            curved = np.array([[kernel_of(s, t, bends, "odd") for t in b] for s in a])
            return curved + 1e5 / p * (a @ b.T)

        along = (covariance(corners, sides(halves)) + noise * same).T @ weight
        before = np.diag(weight.T @ (covariance(corners, corners) + noise * np.eye(len(whole))) @ weight)
        scale = np.mean((inverse @ worth)[1:] * errors[1:])
        variance = scale * (before - np.diag(along.T @ inverse @ along))
        at[curve, noise] = np.mean(errors[1:] ** 2), along.T @ inverse @ worth, variance
    least = min(loss for loss, _, _ in at.values())
    belief = {key: (loss / least) ** (-len(halves) / 6) for key, (loss, _, _) in at.items()}
    _, value, own = at[chosen.curve, chosen.noise]
    mean = sum(
        belief[key] * (variance.sum() + np.sum((other - value) ** 2)) for key, (_, other, variance) in at.items()
    ) / sum(belief.values())
    np.testing.assert_allclose(chosen.doubt, max(mean / own.sum(), 1.0), rtol=0.02)


@given(seeds, st.integers(1, 200), st.integers(0, 300), st.integers(0, 300))
def test_the_pairs_that_choose_are_of_all_sizes(seed, singles, twos, more):
    sizes = np.random.default_rng(seed).permutation([1] * singles + [2] * twos + [5] * more)
    few = spread(np.append(9, sizes))
    assert few[0] == 0
    assert len(few) == 1 + min(singles, 128) + min(twos + more, 128)
    counts = np.bincount(np.append(9, sizes)[few[1:]], minlength=10)
    assert counts[2] >= min(twos, 60)
    assert counts[5] >= min(more, 68)


# -- who takes part ----------------------------------------------------------------------------------


@many
@given(seeds, st.integers(4, 8))
def test_activity_is_that_of_the_expected_interactions(seed, p):
    """The root of the sum of squared interactions of a first fit, over the other players; at least a tenth of the most."""
    halves, worth = sample(seed, p, 3 * p)
    corners = sides(halves)
    even = np.array([[kernel_of(s, t, np.full(p, 0.6 / p), "even") for t in corners] for s in corners])
    inverse = np.linalg.inv(even + 1e-3 * np.eye(len(halves)))
    squares = np.zeros(p)
    for game in worth.T:
        weights = inverse @ (game - (inverse @ game).sum() / inverse.sum())
        b = corners.T @ (weights[:, None] * corners)
        np.fill_diagonal(b, 0.0)
        squares += np.square(b).sum(axis=1) / np.square(b).sum()
    np.testing.assert_allclose(activity(halves, worth), np.sqrt(squares / squares.max() + 0.01), rtol=1e-6, atol=1e-9)


@many
@given(seeds, st.floats(1e-6, 1e6))
def test_activity_finds_the_players_that_interact_at_any_scale(seed, a):
    halves, _ = sample(seed, 8, 40)
    s = sides(halves)
    games = a * np.column_stack([3 + s[:, 0] * s[:, 1], s[:, 1] * s[:, 2]])
    active = activity(halves, games)
    assert active[:3].min() > 3 * active[3:].max()
    np.testing.assert_allclose(active, activity(halves, games / a), rtol=1e-6)


def test_players_that_do_not_interact_are_all_alike():
    halves, _ = sample(0, 6, 20)
    np.testing.assert_array_equal(activity(halves, np.full((len(halves), 2), 0.3)), np.ones(6))


@many
@given(seeds)
def test_knowing_who_takes_part_makes_the_fit_better(seed):
    """Three of ten players act together: pairs that are left out are missed by less."""
    halves, _ = sample(seed, 10, 40)
    s = sides(halves)
    odd = (s[:, 0] * s[:, 1] * s[:, 2] + 0.1 * s.sum(axis=1))[:, None]
    active = np.where(np.arange(10) < 3, 1.0, 0.1)
    informed, plain = regress(halves, odd, "odd", active), regress(halves, odd, "odd")
    assert np.square(informed.errors).mean() < 0.7 * np.square(plain.errors).mean()


@many
@given(seeds, st.integers(6, 9), st.floats(-10, 10))
def test_additive_games_are_fitted_exactly(seed, p, base):
    """Their odd part is a linear function, their even part a constant: nothing is left for the curve."""
    halves, _ = sample(seed, p, 4 * p)
    effects = np.random.default_rng(seed).normal(size=p)
    fit = regress(halves, (sides(halves) @ effects / 2)[:, None], "odd")
    np.testing.assert_allclose(shapley_of(fit, halves)[:, 0], effects, atol=1e-7)
    np.testing.assert_allclose(fit.weights, 0, atol=1e-7)
    even = regress(halves, np.full((len(halves), 1), base), "even")
    np.testing.assert_allclose(interactions_of(even, halves), 0, atol=1e-7)


@many
@given(seeds, st.floats(1e-6, 1e6))
def test_the_fit_scales_with_the_worths_and_each_game_stands_alone(seed, a):
    halves, worth = sample(seed, 6, 12, games=1)
    one, scaled = regress(halves, worth, "odd"), regress(halves, a * worth, "odd")
    np.testing.assert_allclose(scaled.weights, a * one.weights, rtol=1e-6, atol=1e-9 * a)
    both = regress(halves, np.column_stack([worth, 3 * worth]), "odd")
    np.testing.assert_allclose(both.weights[:, :1], one.weights, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(both.weights[:, 1:], 3 * one.weights, rtol=1e-6, atol=1e-9)


def test_a_game_of_nothing_is_fitted_by_nothing():
    halves, worth = sample(0, 6, 12)
    worth[:, 0] = 0.0
    fit = regress(halves, worth, "odd")
    np.testing.assert_array_equal(fit.weights[:, 0], 0)
    assert np.isfinite(fit.weights).all()


def test_many_pairs_choose_by_some_of_them():
    halves, worth = sample(1, 9, 240)
    assert len(hypercube_process.spread(halves.sum(axis=1))) < len(halves) - 50
    some = regress(halves, worth, "odd")
    curved = (matrix(halves, some, "odd") + some.noise * np.eye(len(halves))) @ some.weights
    np.testing.assert_allclose(curved + sides(halves) @ some.trend, worth, atol=1e-6)


# -- its Shapley values ------------------------------------------------------------------------------


@pytest.mark.parametrize("p", [2, 3, 4, 5, 7])
def test_values_of_the_odd_kernel_by_enumeration(p):
    bends, corners = bends_of(p), sides(all_coalitions(p))
    values = odd_kernel_values(corners, bends)
    for t, found in zip(corners, values, strict=True):
        v = np.array([kernel_of(s, t, bends, "odd") for s in corners])
        np.testing.assert_allclose(found, shapley(v), atol=1e-11)
    for i in range(p):  # the values of the values: how much those of the process vary
        assert odd_kernel_variance(bends)[i] == pytest.approx(shapley(values[:, i])[i], abs=1e-11)


@pytest.mark.parametrize("p", [2, 3, 4, 5, 7])
@pytest.mark.parametrize("curve", CURVES)
def test_interactions_of_the_even_kernel_by_enumeration(p, curve):
    alike, mixed, without = even_kernel_values(p, curve)
    corners = sides(all_coalitions(p))
    for size in range(p + 1):
        t = np.arange(p) < size
        v = np.array([kernel_of(s, sides(t), np.full(p, curve / p), "even") for s in corners])
        phi = interaction_matrix(v)
        for i, j in combinations(range(p), 2):
            expected = (without, mixed, alike)[int(t[i]) + int(t[j])][size]
            assert phi[i, j] == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("p", [30, 300, 1200])
@pytest.mark.parametrize("curve", CURVES)
def test_values_of_the_kernels_add_up_for_many_players(p, curve):
    """What all players get together is what the game gains from nobody to everybody: twice the kernel."""
    generator = np.random.default_rng(p)
    corners = np.concatenate([np.ones((1, p)), generator.choice([-1.0, 1.0], size=(20, p))])
    bends = generator.random(p)
    bends *= curve / bends.sum()
    gain = 2 * kernel(corners, bends, "odd")[0]
    np.testing.assert_allclose(odd_kernel_values(corners, bends).sum(axis=1), gain, atol=1e-9)
    assert all(np.isfinite(part).all() for part in even_kernel_values(p, curve))


@many
@given(seeds, st.integers(2, 6), st.integers(1, 12))
def test_shapley_values_of_the_fit_are_those_of_its_game(seed, p, pairs):
    halves, worth = sample(seed, p, pairs)
    fit = regress(halves, worth, "odd")
    found = shapley_of(fit, halves)
    for g in range(2):
        expected = shapley(fitted_game(halves, fit, "odd", g))
        np.testing.assert_allclose(found[:, g], expected, atol=1e-6 * (1 + np.abs(fit.weights).max()))


@many
@given(seeds, st.integers(2, 6), st.integers(1, 12))
def test_interactions_of_the_fit_are_those_of_its_game(seed, p, pairs):
    halves, worth = sample(seed, p, pairs)
    fit = regress(halves, worth, "even")
    found = interactions_of(fit, halves)
    for g in range(2):
        expected = interaction_matrix(fitted_game(halves, fit, "even", g))
        np.fill_diagonal(expected, 0)
        np.testing.assert_allclose(found[..., g], expected, atol=1e-6 * (1 + np.abs(fit.weights).max()))


# -- the weights of coalitions -----------------------------------------------------------------------


@many
@given(seeds, st.integers(2, 7))
def test_pair_weights_are_the_definition(seed, p):
    """The Shapley values are the weighted sum of v(S) - v(complement), over one half of every pair."""
    v = np.random.default_rng(seed).normal(size=2**p)
    halves = all_coalitions(p)[2 ** (p - 1) :]  # those with the last player: one of each pair, everybody included
    masks = halves.astype(int) @ (1 << np.arange(p))
    odd = v[masks] - v[2**p - 1 - masks]
    np.testing.assert_allclose(pair_weights(halves).T @ odd, shapley(v), atol=1e-12)


@many
@given(seeds, st.integers(2, 7))
def test_interaction_weights_are_the_definition(seed, p):
    """Half the index is the weighted sum of all worths."""
    v = np.random.default_rng(seed).normal(size=2**p)
    both, one, none = interaction_weights(p)
    expected = interaction_matrix(v)
    for i, j in combinations(range(p), 2):
        total = 0.0
        for mask in range(2**p):
            inside = (mask & mask_of((i, j))).bit_count()
            total += (none, one, both)[inside][mask.bit_count()] * v[mask]
        assert total == pytest.approx(expected[i, j], abs=1e-12)


@pytest.mark.parametrize("p", [4, 9, 1200])
def test_weights_of_a_stratum_do_not_overflow(p):
    halves = np.concatenate([np.eye(p, dtype=bool)[:1], (np.arange(p) < p // 2)[None]])
    relative = pair_weights(halves, of_stratum=True)
    sizes = halves.sum(axis=1)
    np.testing.assert_allclose(relative[0], np.where(halves[0], 1.0, -1 / (p - 1)))
    np.testing.assert_allclose(relative[1], np.where(halves[1], 1 / sizes[1], -1 / (p - sizes[1])))
    assert all(np.isfinite(part).all() for part in interaction_weights(p, of_stratum=True))
    assert np.isfinite(pair_weights(halves)).all()


@pytest.mark.parametrize("p", [2, 70, 300])
def test_the_variance_of_the_process_is_finite_for_any_number_of_players(p):
    generator = np.random.default_rng(0)
    halves = np.concatenate([np.ones((1, p), bool), generator.random((2 * p + 20, p)) < 0.3])
    fit = regress(halves, generator.normal(size=(len(halves), 1)), "odd")
    variance = shapley_variance(fit, halves)
    assert np.isfinite(variance).all()
    assert (variance >= 0).all()


@pytest.mark.parametrize("seed", [1, 3, 5])
def test_a_pair_without_which_two_players_are_not_told_apart_does_not_move_their_intervals(seed):
    """Two players are on the same side in every pair but one: what that is missed by is 0 / 0, not a misfit."""
    halves = np.random.default_rng(seed).random((41, 8)) < 0.5
    halves[0], halves[1:, 6:], halves[1, 6] = True, False, True
    worth = 0.5 * (halves[:, :4].all(axis=1) * 1.0 - (~halves[:, :4]).all(axis=1))
    found = misfit(regress(halves, worth[:, None], "odd"), halves)
    assert found[6:].max() < 2
    assert found[:6].max() > 1
