"""Shapley values from some of the coalitions, or from some orders: right on average, honest, frugal, repeatable."""

from itertools import pairwise
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm, t

import pellucid
from pellucid import Explainer
from pellucid.games import FunctionGame
from pellucid.methods.attribution.estimation.estimate import Rounds
from pellucid.methods.attribution.estimation.hypercube_process import activity, choose, regress
from pellucid.methods.attribution.estimation.pairs import PairDesign
from pellucid.methods.attribution.estimators import Effort, solve
from pellucid.methods.attribution.shapley_exact import shapley_exact, shapley_values
from pellucid.methods.attribution.shapley_kernel import shapley_kernel
from pellucid.methods.attribution.shapley_permutation import shapley_permutation
from pellucid.runner import Run
from reference.indices import interaction_matrix
from reference.shapley import TableGame, additive_table, model_table, walk

many = settings(max_examples=25, deadline=None)
seeds = st.integers(0, 10_000)


def bent(seed=0, p=8, rows=3, donors=6, outputs=1):
    """Games of a smooth model with interactions of all orders."""
    rng = np.random.default_rng(seed)
    a, X = rng.normal(size=(p, outputs)), rng.normal(size=(rows + donors, p))
    return TableGame(
        model_table(lambda Z: np.tanh(Z @ a) + (Z[:, :1] * Z[:, 1:2]) * 0.5 + np.abs(Z[:, 2:3]), X[:rows], X[rows:])
    )


def kernel(game, pairs, seed=0, tolerance=None, fewest=None, **options):
    rounds = Rounds(fewest or pairs, pairs, tolerance)
    return shapley_kernel(game, rounds, Run(seed=seed), **options)


def permutation(game, draws, seed=0, tolerance=None, fewest=None, **options):
    return shapley_permutation(game, Rounds(fewest or draws, draws, tolerance), Run(seed=seed), **options)


# -- exactness ---------------------------------------------------------------------------------------


@many
@given(seeds, st.integers(2, 7), st.integers(1, 2))
def test_all_pairs_are_the_exact_values(seed, p, outputs):
    game = TableGame(np.random.default_rng(seed).normal(size=(2, 1, 2**p, outputs)))
    found = kernel(game, 2 ** (p - 1) - 1, seed=seed, interactions=True)
    np.testing.assert_allclose(found.values, shapley_values(game.means), atol=1e-6)
    for r in range(2):
        np.testing.assert_allclose(found.interactions[r], interaction_matrix(game.means[r]), atol=1e-6)
    np.testing.assert_allclose(found.se, 0, atol=1e-9)
    np.testing.assert_allclose(found.interactions_se, 0, atol=1e-9)


@many
@given(seeds, st.integers(6, 9), st.floats(-1e3, 1e3))
def test_additive_games_need_few_pairs(seed, p, base):
    """Once every player is met several times."""
    effects = np.random.default_rng(seed).normal(size=p)
    found = kernel(TableGame.of(additive_table(effects, base)), 30, seed=seed)
    size = np.abs(effects).sum()
    np.testing.assert_allclose(found.values[0, :, 0], effects, atol=1e-7 * (size + abs(base)))
    assert found.se.max() < 1e-6 * (size + abs(base))


@many
@given(seeds, st.integers(1, 9), st.floats(-1e3, 1e3))
def test_additive_games_need_one_order(seed, p, base):
    effects = np.random.default_rng(seed).normal(size=p)
    found = permutation(TableGame.of(additive_table(effects, base)), 4, seed=seed)
    np.testing.assert_allclose(found.values[0, :, 0], effects, atol=1e-9 * (1 + abs(base)))
    assert found.se.max() < 1e-5 * (1 + abs(base))


@many
@given(seeds, st.integers(2, 8))
def test_an_order_and_its_reverse_are_exact_for_pairs_of_players(seed, p):
    """Who comes first in one is second in the other: interactions of two players are shared equally in every draw."""
    rng = np.random.default_rng(seed)
    pairs, masks = rng.normal(size=(p, p)), np.arange(2**p)
    inside = (masks[:, None] >> np.arange(p) & 1).astype(float)
    v = np.einsum("mi,ij,mj->m", inside, pairs, inside)
    found = permutation(TableGame.of(v), 3, seed=seed)
    np.testing.assert_allclose(found.values[0, :, 0], (pairs + pairs.T).sum(axis=1) / 2, atol=1e-9)
    assert found.se.max() < 1e-6


@many
@given(seeds, st.integers(2, 9))
def test_what_the_background_alone_decides_is_known_without_sampling(seed, donors):
    """Of a single player every draw is the difference to a background row, whose mean is known."""
    game = TableGame(np.random.default_rng(seed).normal(size=(3, donors, 2, 2)))
    found = permutation(game, 12, seed=seed)
    np.testing.assert_allclose(found.values[:, 0], game.means[:, 1] - game.means[:, 0], atol=1e-9)
    assert found.se.max() < 1e-6


# -- standard errors -----------------------------------------------------------------------------------


def asked_pairs(seed, p, n):
    """A game, its values from n pairs, these pairs (everybody first), the odd parts of their worth and who takes part."""
    game = TableGame(np.random.default_rng(seed).normal(size=(1, 1, 2**p, 1)))
    found = kernel(game, n, seed=seed)
    design = PairDesign(p, Run(seed=seed).generator("shapley.pairs"))
    halves = np.concatenate([np.ones((1, p), dtype=bool), design.between(0, n)])
    masks = game.masks(halves)
    one, other = game.means[0, masks], game.means[0, 2**p - 1 - masks]
    return game, found, halves, (one - other) / 2, activity(halves, (one + other) / 2)


def variance_of_a_sample(halves, errors):
    """n / (n - p) times the sum over the asked pairs of (1 - share) (weight x error / share) squared."""
    n, p = len(halves) - 1, halves.shape[1]
    sizes = halves[1:].sum(axis=1)
    variance = np.zeros(p)
    for half, size, error in zip(halves[1:], sizes.tolist(), errors, strict=True):
        there_are = comb(p, size) // (2 if 2 * size == p else 1)
        share = np.sum(sizes == size) / there_are
        for i in range(p):
            weight = 1 / (size * comb(p, size)) if half[i] else -1 / ((p - size) * comb(p, size))
            variance[i] += (1 - share) * (weight * 2 * error / share) ** 2
    return variance * n / max(n - p, 1)


@many
@given(seeds, st.integers(5, 8), st.integers(0, 60))
def test_standard_errors_of_many_pairs_are_those_of_the_process(seed, p, more):
    """The process written out on all corners of the cube: prior, less what the pairs say, at the scale of left-out errors.

    At least a third of what a stratified sample of the errors says, over all players.
    """
    n = min(p + 8 + more, 2 ** (p - 1) - 2)
    _, found, halves, odd, active = asked_pairs(seed, p, n)
    fit = regress(halves, odd, "odd", active)
    relative = odd / np.sqrt(np.square(odd).mean())
    doubt = choose(halves, relative, active / active.sum(), "odd").doubt
    whole = np.concatenate([np.ones((1, p), bool), PairDesign(p, np.random.default_rng(0)).between(0, 2**p)])

    def covariance(a, b):
        agree = np.where(a[:, None] == b[None], 1.0, -1.0)
        linear = np.prod(np.cosh(fit.bends)) * np.tanh(fit.bends)
        curved = np.sinh(agree @ fit.bends) - agree @ linear
        return curved / (np.sinh(fit.bends.sum()) - linear.sum()) + fit.noise * (agree > 0).all(axis=2)

    weight = np.array(
        [
            [1 / (s * comb(p, s)) if member else -1 / ((p - s) * comb(p, s)) for member in half]
            for half, s in zip(whole, whole.sum(axis=1).tolist(), strict=True)
        ]
    )
    G = np.where(whole, 1.0, -1.0)
    before = 4 * weight.T @ covariance(whole, whole) @ weight

    def known(pairs):
        """The Shapley values that these pairs let expect, and their variances."""
        F = np.where(halves[pairs], 1.0, -1.0)
        inverse = np.linalg.inv(covariance(halves[pairs], halves[pairs]))
        along = covariance(halves[pairs], whole) @ (2 * weight)
        left = np.linalg.inv(F.T @ inverse @ F)
        rest = G.T @ (2 * weight) - F.T @ inverse @ along
        slopes = left @ F.T @ inverse @ odd[pairs]
        values = along.T @ inverse @ (odd[pairs] - F @ slopes) + G.T @ (2 * weight) @ slopes
        P = inverse - inverse @ F @ left @ F.T @ inverse
        return values[:, 0], np.diag(before - along.T @ inverse @ along + rest.T @ left @ rest), P

    everything = np.arange(n + 1)
    values, variance, P = known(everything)
    missed = np.square(P @ odd)[1:, 0] / np.diag(P)[1:]
    scale = missed.mean() * np.maximum(doubt, n / (n - p))
    sampled = variance_of_a_sample(halves, fit.errors[1:, 0]).sum()
    wider = max(sampled / 3 / (variance * scale).sum(), 1.0)
    folds = max(8, -(-2 * n // (n - p)))
    moved = np.zeros(p)
    for f in range(folds):
        others, uncertain, _ = known(np.delete(everything, np.arange(1 + f, n + 1, folds)))
        moved += np.square(others - values) / (scale * (uncertain - variance))
    misfit = np.clip((moved + 2) / (folds + 2), 1, 10)
    squares = np.square(fit.errors[1:, 0])
    few = t.ppf(0.975, max(squares.sum() ** 2 / np.square(squares).sum(), 2)) / norm.ppf(0.975)
    expected = np.sqrt(variance * scale * wider * misfit) * few
    rounding = 3e-9 / fit.noise  # of the inverse above, and of what is left of the prior
    np.testing.assert_allclose(found.se[0, :, 0], expected, rtol=1e-4 + rounding, atol=1e-9)


@many
@given(seeds, st.integers(4, 8), st.integers(3, 15))
def test_standard_errors_of_few_pairs_are_their_formula(seed, p, n):
    n = min(n, 2 ** (p - 1) - 2, p + 7)
    _, found, halves, odd, active = asked_pairs(seed, p, n)
    errors = regress(halves, odd, "odd", active).errors[1:, 0]
    variance = variance_of_a_sample(halves, errors)
    np.testing.assert_allclose(found.se[0, :, 0], np.sqrt(variance), rtol=1e-3, atol=1e-9)


@many
@given(seeds, st.integers(2, 6), st.integers(5, 30))
def test_standard_errors_of_orders_are_those_of_a_regression(seed, p, n):
    """D on R, draw by draw: the intercept at R = 0 and what is left around the line, for Student's t instead of 1.96."""
    game = TableGame(np.random.default_rng(seed).normal(size=(1, 7, 2**p, 1)))
    game.alike = False  # donors at random
    found = permutation(game, n, seed=seed)
    generator = Run(seed=seed).generator("shapley.orders")
    orders = generator.random((n, p)).argsort(axis=1)
    donors = game.draw_donors(n, generator)
    draws = np.zeros((n, p))
    for d, (order, donor) in enumerate(zip(orders, donors, strict=True)):
        v = game.tables[0, donor, :, 0].copy()
        v[-1] = game.means[0, -1, 0]  # everybody is known: nobody's place is taken by a donor
        for way in (order, order[::-1]):
            gains = walk(v, way.tolist())
            draws[d] += [gains[i] / 2 for i in range(p)]
    control = draws.sum(axis=1) - (game.means[0, -1, 0] - game.means[0, 0, 0])
    for i in range(p):
        line = np.column_stack([np.ones(n), control])
        solved = np.linalg.lstsq(line, draws[:, i], rcond=None)[0]
        left = draws[:, i] - line @ solved
        assert found.values[0, i, 0] == pytest.approx(solved[0], abs=1e-8)
        assert found.se[0, i, 0] == pytest.approx(
            np.sqrt(np.mean(left**2) / (n - 2)) * t.ppf(0.975, n - 2) / norm.ppf(0.975), rel=1e-4, abs=1e-7
        )


@many
@given(seeds, st.integers(2, 6), st.integers(1, 3))
def test_after_whole_passes_only_the_orders_are_left_to_chance(seed, p, passes):
    """Every donor twice in succession: the mean over donors, and half the squares of what its two draws differ by."""
    game = TableGame(np.random.default_rng(seed).normal(size=(1, 7, 2**p, 1)))
    found = permutation(game, 14 * passes + 5, seed=seed)  # what is more than whole passes is not asked
    generator = Run(seed=seed).generator("shapley.orders")
    orders = generator.random((14 * passes, p)).argsort(axis=1)
    turn = np.concatenate([generator.permutation(7) for _ in range(passes)])
    assert sorted(turn) == sorted([*range(7)] * passes)
    draws = np.zeros((14 * passes, p))
    for d, order in enumerate(orders):
        v = game.tables[0, turn[d // 2], :, 0].copy()
        v[-1] = game.means[0, -1, 0]
        for way in (order, order[::-1]):
            gains = walk(v, way.tolist())
            draws[d] += [gains[i] / 2 for i in range(p)]
    within = np.square(draws[::2] - draws[1::2]).mean(axis=0) / 2
    assert found.settings["orders"] == 28 * passes
    np.testing.assert_allclose(found.values[0, :, 0], draws.mean(axis=0), atol=1e-8)
    wider = t.ppf(0.975, 7 * passes) / norm.ppf(0.975)
    np.testing.assert_allclose(found.se[0, :, 0], np.sqrt(within / (14 * passes)) * wider, rtol=1e-4, atol=1e-7)


def test_interactions_of_two_players_are_exact_after_one_pass():
    X = np.random.default_rng(0).normal(size=(30, 4))
    ex = Explainer(lambda rows: rows[:, 0] * rows[:, 1] + rows[:, 2] * rows[:, 3] + rows[:, 2], X, checks=False)
    found = ex.shap([0, 1], method="permutation", budget=2 * 60 * 7)
    np.testing.assert_allclose(found.values, ex.shap([0, 1], method="exact").values, atol=1e-12)
    assert found.se.max() < 1e-12


# -- right on average --------------------------------------------------------------------------------


def test_the_mean_of_many_orders_is_the_exact_value():
    game = bent()
    found = np.array([permutation(game, 20, seed=seed).values for seed in range(80)])
    error = np.abs(found.mean(axis=0) - shapley_values(game.means)) * np.sqrt(80) / found.std(axis=0, ddof=1)
    assert error.max() < 4.5
    assert np.mean(error < 2) > 0.85


def test_the_mean_of_many_regressions_is_near_the_exact_value():
    """A fit that shrinks what it cannot see is biased, player by player; by less than its own spread, mostly by far less."""
    game = bent()
    found = np.array([kernel(game, 40, seed=seed).values for seed in range(80)])
    bias = np.abs(found.mean(axis=0) - shapley_values(game.means)) / found.std(axis=0, ddof=1)
    assert bias.max() < 1.5
    assert np.median(bias) < 0.5


@pytest.mark.parametrize(("estimate", "few", "more"), [(kernel, 12, 90), (permutation, 20, 500)])
def test_more_draws_are_nearer(estimate, few, more):
    game = bent()
    exact = shapley_values(game.means)
    near, far = (
        np.mean([np.abs(estimate(game, n, seed=seed).values - exact).mean() for seed in range(5)]) for n in (more, few)
    )
    assert near < far / 3


def test_pairs_do_better_than_orders_for_the_same_price():
    game = bent(rows=4, donors=1)
    exact = shapley_values(game.means)
    errors = {
        "pairs": np.mean([np.abs(kernel(game, 60, seed=s).values - exact).mean() for s in range(5)]),
        "orders": np.mean([np.abs(permutation(game, 8, seed=s).values - exact).mean() for s in range(5)]),
    }
    assert errors["pairs"] < errors["orders"]


# -- what is asked -----------------------------------------------------------------------------------


@many
@given(seeds, st.integers(3, 8), st.integers(2, 40))
def test_pairs_are_asked_with_their_complements_and_once(seed, p, pairs):
    game = TableGame(np.random.default_rng(seed).normal(size=(2, 1, 2**p, 1)))
    pairs = min(pairs, 2 ** (p - 1) - 1)
    kernel(game, pairs, seed=seed, fewest=2, tolerance=1e-9)
    asked = np.concatenate([game.masks(request) for request in game.requests])
    assert len(asked) == len(set(asked)) == 2 * pairs
    assert set(asked) == {2**p - 1 - mask for mask in asked}
    assert not {0, 2**p - 1} & set(asked)


def test_what_a_draw_costs():
    game = bent(p=8, rows=3)
    permutation(game, 10)
    assert game.asked_single == 3 * 10 * (2 * 8 - 1)
    assert game.asked == 0


@pytest.mark.parametrize("method", ["kernel", "permutation"])
@pytest.mark.parametrize("budget", [40 * 9 * 2 * 3, 40 * 9 * 2 * 3 + 517])
@pytest.mark.parametrize("tolerance", [None, 1e-9])
def test_no_more_rows_are_asked_than_the_budget_has(method, budget, tolerance):
    """Besides the background, and the rows themselves twice: they say what nobody and everybody are worth."""
    X, asked = np.random.default_rng(0).normal(size=(9, 10)), []

    def f(Z):
        asked.append(len(Z))
        return np.sin(Z).prod(axis=1) + Z[:, 0]

    ex = Explainer(f, X, progress=False, checks=False)
    before = sum(asked)
    found = ex.shap([0, 1, 2], method=method, budget=budget, tolerance=tolerance)
    used = sum(asked) - before
    assert found.cost.model_rows == used
    assert budget / 2 < used <= budget + len(X) + 2 * 3
    assert found.method == method


def test_a_budget_for_all_coalitions_gives_exact_values():
    X = np.random.default_rng(0).normal(size=(6, 5))
    ex = Explainer(lambda Z: np.sin(Z.sum(axis=1)), X, progress=False, checks=False)
    exact, found = ex.shap(0, method="exact"), ex.shap(0, method="kernel", budget=30 * 6)
    np.testing.assert_allclose(found.values, exact.values, atol=1e-12)
    assert found.method == "exact"


def test_equal_questions_are_asked_once():
    """A row that is explained twice, and a feature that is the same in all rows, cost nothing more."""
    X = np.random.default_rng(1).normal(size=(7, 8))

    def cost(rows, **options):
        ex = Explainer(lambda Z: np.sin(Z).sum(axis=1), X, progress=False, checks=False, **options)
        return ex.shap(rows, method="kernel", budget=len(rows) * 7 * 2 * 20).cost.model_rows

    alone, twice = cost(X[:1]), cost(X[[0, 0]])
    assert twice == alone + 2  # the row itself is asked again
    assert cost(X[:2]) > 1.9 * alone
    shared = np.where(np.arange(8) < 6, X[0], X[1])  # six values in common
    assert cost(np.stack([X[0], shared])) < cost(X[:2])
    same = X.copy()
    same[:, :4] = 1.0
    ex = Explainer(lambda Z: np.sin(Z).sum(axis=1), same, progress=False, checks=False)
    found = ex.shap(same[:1], method="kernel", budget=7 * 2 * 100)
    assert found.cost.model_rows <= 2 * 2**4 * 7 + 7 + 2  # in two rounds, of 16 different questions each


def test_missing_values_are_alike_and_a_group_is_one_question():
    """Rows with the same values missing ask the same; a group in which all rows are the same is no player."""
    X = np.random.default_rng(1).normal(size=(7, 8))

    def cost(table, rows, **options):
        ex = Explainer(lambda Z: np.nansum(np.sin(Z), axis=1), table, progress=False, checks=False, **options)
        return ex.shap(rows, method="kernel", budget=len(rows) * 7 * 2 * 20).cost.model_rows

    gaps = np.where(np.arange(8) < 6, np.nan, X)
    assert cost(X, gaps[:2]) < 0.9 * cost(X, X[:2])
    same = X.copy()
    same[:, :4] = 1.0
    groups = {"same": ["x0", "x1", "x2", "x3"]}
    ex = Explainer(lambda Z: np.sin(Z).sum(axis=1), same, groups=groups, progress=False, checks=False)
    found = ex.shap(same[:1], method="kernel", budget=7 * 2 * 100)
    assert found.cost.model_rows <= 2**4 * 7 + 7 + 2  # of the four other features


def test_background_rows_are_drawn_as_often_as_they_weigh():
    """Two kinds of rows, of which one hardly counts."""
    rng = np.random.default_rng(2)
    X = np.concatenate([rng.normal(size=(20, 4)), 4 + rng.normal(size=(20, 4))])
    weights = np.repeat([1.0, 0.01], 20)
    ex = Explainer(
        lambda Z: Z[:, 0] * Z[:, 1] + Z[:, 2] * Z[:, 3] ** 2, X, sample_weight=weights, progress=False, checks=False
    )
    exact, found = ex.shap([0, 25], method="exact"), ex.shap([0, 25], method="permutation")
    assert (np.abs(found.values - exact.values) <= 5 * found.se).all()
    assert found.se.max() < 0.1 * np.abs(exact.values).max()


# -- tolerance ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["kernel", "permutation"])
def test_sampling_ends_when_the_intervals_are_narrow_enough(method):
    game = bent(p=10, rows=4)
    estimate = {"kernel": kernel, "permutation": permutation}[method]
    most = {"kernel": 480, "permutation": 4000}[method]
    tolerances = {"kernel": (0.3, 0.03, 0.003), "permutation": (0.3, 0.1, 0.03)}[method]
    spent = []
    for tolerance in tolerances:
        game.asked = game.asked_single = 0
        found = estimate(game, most, fewest=16, tolerance=tolerance)
        assert (1.96 * found.se).max() <= tolerance
        spent.append(game.asked + game.asked_single)
    assert spent[0] < spent[1] < spent[2]


def test_rows_that_need_less_are_asked_less():
    """A game of one kind beside an additive one, which is known at the first look."""
    crooked, rng = np.random.default_rng(0).normal(size=2**9), np.random.default_rng(1)
    game = TableGame.of(additive_table(rng.normal(size=9)), crooked)
    found = kernel(game, 200, fewest=16, tolerance=0.03)
    rows = [request.shape[0] for request in game.requests]
    assert game.asked < 2 * sum(rows)
    assert 1.96 * found.se[0].max() <= 0.03 < 1.96 * found.se[1].max()
    assert (np.abs(found.values - shapley_values(game.means)) <= 6 * found.se + 1e-4).all()
    alone = kernel(TableGame.of(crooked), 200, fewest=16, tolerance=0.03)
    np.testing.assert_allclose(found.values[1], alone.values[0], atol=6 * alone.se.max())
    assert found.se[1].max() == pytest.approx(alone.se[0].max(), rel=0.5)


@many
@given(st.integers(1, 100), st.integers(1, 5000))
def test_looks_double_up_to_the_most(fewest, more):
    looks = Rounds(fewest, fewest + more, 0.1).looks
    assert looks[-1] == fewest + more
    assert looks[0] >= fewest
    assert all(a < b <= 2 * a + 1 for a, b in pairwise(looks))


# -- the same again ----------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["kernel", "permutation"])
def test_the_same_seed_gives_the_same_bytes(method):
    X = np.random.default_rng(3).normal(size=(40, 15))

    def explained(seed, **options):
        ex = Explainer(lambda Z: np.tanh(Z.sum(axis=1)), X, progress=False, checks=False, random_state=seed, **options)
        return ex.shap([0, 1], method=method, budget=2 * 40 * 2 * 40)

    first, again, other = explained(0), explained(0), explained(1)
    assert first.values.tobytes() == again.values.tobytes()
    assert first.se.tobytes() == again.se.tobytes()
    assert np.abs(first.values - other.values).max() > 1e-6
    threads = explained(0, n_jobs=2)
    np.testing.assert_allclose(threads.values, first.values, rtol=1e-9)


def test_rows_together_are_rows_alone_for_orders():
    game = bent(rows=3)
    together = permutation(game, 50)
    for r in range(3):
        alone = permutation(TableGame(game.tables[[r]]), 50)
        np.testing.assert_allclose(alone.values[0], together.values[r], atol=1e-12)
        np.testing.assert_allclose(alone.se[0], together.se[r], atol=1e-9)


def test_rows_together_are_rows_alone_for_pairs_up_to_the_curve_that_they_share():
    """All rows ask the same pairs, but choose one curve and noise together: values differ by less than their errors."""
    game = bent(p=9, rows=6)
    together = kernel(game, 60)
    alone = [kernel(TableGame(game.tables[[r]]), 60) for r in range(6)]
    differences = np.array([one.values[0] - together.values[r] for r, one in enumerate(alone)])
    scale = np.array([np.hypot(one.se[0], together.se[r]) for r, one in enumerate(alone)])
    assert (np.abs(differences) <= 2 * scale + 1e-9).all()
    assert np.abs(differences).mean() < 0.5 * scale.mean()
    copies = kernel(TableGame(game.tables[[2, 2, 2]]), 60)
    np.testing.assert_allclose(copies.values, np.repeat(alone[2].values, 3, axis=0), atol=1e-9)


@pytest.mark.parametrize(("estimate", "n"), [(kernel, 40), (permutation, 40)])
def test_outputs_are_explained_from_the_same_draws(estimate, n):
    game = bent(outputs=3)
    exact = shapley_values(game.means)
    found = estimate(game, n)
    assert found.values.shape == found.se.shape == (3, 8, 3)
    assert (np.abs(found.values - exact) <= 6 * found.se + 1e-9).all()
    flipped = estimate(TableGame(game.tables[..., ::-1]), n)
    np.testing.assert_allclose(flipped.values, found.values[..., ::-1], atol=1e-9)


def test_batches_change_nothing():
    game = bent(rows=2)
    expected = permutation(game, 60)
    found = permutation(game, 60, at_once=200)
    assert np.isfinite(found.values).all()
    assert (np.abs(found.values - expected.values) <= 6 * np.hypot(found.se, expected.se)).all()


def test_several_regressions_do_better_than_one_of_them():
    game = bent(p=9)
    exact = shapley_values(game.means)
    one = np.mean([np.abs(kernel(game, 40, seed=seed).values - exact).mean() for seed in range(4)])
    found = kernel(game, 120, interactions=True, in_one=50)
    assert (np.abs(found.values - exact) <= 6 * found.se).all()
    assert np.abs(found.values - exact).mean() < one
    np.testing.assert_allclose(found.values.sum(axis=1), game.means[:, -1] - game.means[:, 0], atol=1e-9)


# -- interruption ------------------------------------------------------------------------------------


class Interrupted:
    """A game's function that is interrupted at its n-th call."""

    def __init__(self, at):
        self.calls, self.at = 0, at

    def __call__(self, coalitions):
        self.calls += 1
        if self.calls == self.at:
            raise KeyboardInterrupt
        return np.tanh(coalitions.sum(axis=1) / 3.0) + coalitions[:, 0] * coalitions[:, 1]


@pytest.mark.parametrize(("method", "budget"), [("kernel", 4_000), ("permutation", 20_000)])
def test_an_interruption_gives_what_is_known(method, budget):
    run = Run(seed=0)
    game = FunctionGame(Interrupted(at=6), 30, run=run)  # two calls for nobody and everybody, one for each look
    found = solve(game, Effort(method, budget, 1e-7), run)
    assert run.interrupted
    nobody, everybody = game.ends()
    np.testing.assert_allclose(found.values.sum(axis=1), everybody - nobody, atol=1e-9)
    assert found.se.max() > 0
    whole = solve(FunctionGame(Interrupted(at=-1), 30), Effort(method, budget, 1e-7), Run(seed=0))
    assert (np.abs(found.values - whole.values) <= 6 * np.hypot(found.se, whole.se)).all()
    assert found.se.max() > whole.se.max()


@pytest.mark.parametrize(("method", "budget"), [("kernel", 4_000), ("permutation", 20_000)])
def test_an_interruption_without_a_tolerance_gives_the_first_part(method, budget):
    """Nothing has been worked out yet when the second part is interrupted; the first is worked out then."""
    run = Run(seed=0)
    game = FunctionGame(Interrupted(at=4), 30, run=run)
    found = solve(game, Effort(method, budget), run)
    assert run.interrupted
    nobody, everybody = game.ends()
    np.testing.assert_allclose(found.values.sum(axis=1), everybody - nobody, atol=1e-9)
    assert found.values[0, 0, 0] > 3 * found.values[0, 5, 0]  # one of the two that work together
    assert found.se.max() > 0


@pytest.mark.parametrize("method", ["kernel", "permutation"])
def test_an_interruption_before_anything_is_known_is_raised(method):
    run = Run(seed=0)
    game = FunctionGame(Interrupted(at=3), 30, run=run)
    with pytest.raises(KeyboardInterrupt):
        solve(game, Effort(method, 40_000, 1e-7), run)


def test_an_interruption_between_batches_gives_what_is_known():
    run = Run(seed=0)
    game = FunctionGame(Interrupted(at=15), 10, run=run)
    found = shapley_permutation(game, Rounds(16, 300), run, at_once=400)
    assert run.interrupted
    exact = shapley_exact(FunctionGame(Interrupted(at=-1), 10))
    assert (np.abs(found.values - exact.values) <= 5 * found.se + 1e-9).all()


# -- choosing and refusing ---------------------------------------------------------------------------


def test_auto_asks_for_all_coalitions_where_they_fit():
    few, much = bent(p=6), FunctionGame(lambda c: np.sqrt(c.sum(axis=1)), 15)
    assert solve(few, Effort(), Run()).method == "exact"
    found = solve(much, Effort(), Run())
    assert found.method == "kernel"
    assert "2^15" in found.settings["why"]
    assert solve(much, Effort(budget=2**15), Run()).method == "exact"
    symmetric = np.sqrt(15) / 15
    assert (np.abs(found.values - symmetric) <= 6 * found.se).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "kernal"}, "did you mean 'kernel'"),
        ({"method": "exact"}, "at most 14 players, but there are 22; use method='kernel', or make groups"),
        ({"method": "exact", "budget": 2**22}, "at most 14 players, but there are 22"),
        ({"method": "kernel", "budget": 43}, r"budget=43 is too small: 22 players in 1 row take at least 44"),
        ({"method": "permutation", "budget": 100}, "budget=100 is too small: .* at least [0-9,]+ model rows"),
        ({"method": "permutation", "interactions": True}, "use method='kernel' or 'exact'"),
    ],
)
def test_refusals_name_the_remedy(options, message):
    game = FunctionGame(lambda c: c.sum(axis=1), 22)
    with pytest.raises(pellucid.InputError, match=message):
        solve(game, Effort(**options), Run())


@pytest.mark.parametrize(("p", "method"), [(17, "kernel"), (17, "permutation"), (5, "kernel")])
def test_the_smallest_budget_that_is_offered_is_the_smallest(p, method):
    X = np.random.default_rng(0).normal(size=(11, p))
    ex = Explainer(lambda Z: Z.prod(axis=1), X, progress=False, checks=False)
    with pytest.raises(pellucid.InputError, match=r"at least [0-9,]+ model rows") as refused:
        ex.shap([0, 1], method=method, budget=10)
    least = int(str(refused.value).split("at least ")[1].split(" ")[0].replace(",", ""))
    assert ex.shap([0, 1], method=method, budget=least).values.shape == (2, p)
    with pytest.raises(pellucid.InputError, match="is too small"):
        ex.shap([0, 1], method=method, budget=least - 1)


def test_exact_is_the_estimate_without_error():
    game = bent(p=5)
    found = shapley_exact(game)
    np.testing.assert_allclose(found.values, shapley_values(game.means), atol=1e-12)
    np.testing.assert_array_equal(found.se, 0)
