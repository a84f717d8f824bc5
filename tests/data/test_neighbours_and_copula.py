"""Conditional distributions: closed forms of normal variables, plain loops, and what must hold for any table.

Tolerances are 4.5 standard deviations of the estimate (one in 150,000), with fixed seeds.
"""

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.special import ndtr, ndtri
from scipy.stats import norm

from pellucid.data import Data
from pellucid.data.sampling.copula import Copula
from pellucid.data.sampling.margin import Margin
from pellucid.data.sampling.neighbours import Neighbours
from pellucid.errors import InputError
from pellucid.stats import effective_sizes

QUICK = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
Z = 4.5
SIGMA = np.array([[1.0, 0.7, 0.3], [0.7, 1.0, -0.2], [0.3, -0.2, 1.0]])
ALL = np.array([[bool(k >> j & 1) for j in range(3)] for k in range(8)])


def normal(n=4000, sigma=SIGMA, seed=0):
    return np.random.default_rng(seed).multivariate_normal(np.zeros(len(sigma)), sigma, size=n)


def conditional_normal(sigma, known, x):
    """mu + S12 S22^-1 (x - mu) and S11 - S12 S22^-1 S21, the absent first."""
    a, b = ~known, known
    if not b.any():
        return np.zeros(len(sigma)), sigma
    slope = sigma[np.ix_(a, b)] @ np.linalg.inv(sigma[np.ix_(b, b)])
    return slope @ x[b], sigma[np.ix_(a, a)] - slope @ sigma[np.ix_(b, a)]


def codes_of(data):
    return np.stack([data.codes(j) for j in range(len(data.schema.features))], axis=1)


def mixed(n=3000, seed=0):
    """Numbers, whole numbers, levels and gaps that are associated, and one column that does not."""
    rng = np.random.default_rng(seed)
    latent = rng.multivariate_normal(np.zeros(3), [[1, 0.8, 0.5], [0.8, 1, 0.5], [0.5, 0.5, 1]], size=n)
    frame = pd.DataFrame(
        {
            "number": latent[:, 0],
            "flag": latent[:, 1] > 0.3,
            "colour": np.select([latent[:, 2] < -0.5, latent[:, 2] < 0.6], ["x", "a"], "m"),
            "count": rng.poisson(2, n),
            "grade": pd.Categorical(
                np.select([latent[:, 0] < 0, latent[:, 0] < 1], ["low", "mid"], "high"),
                ["low", "mid", "high"],
                ordered=True,
            ),
        }
    )
    frame.loc[rng.random(n) < np.where(frame["flag"], 0.5, 0.1), "number"] = np.nan
    return frame


# -- neighbours --------------------------------------------------------------------------------------


def slow_weights(rows, mass, nominal, row, known):
    """The definition, cell by cell."""
    n = sum(mass) if all(w == int(w) for w in mass) else sum(mass) ** 2 / sum(w * w for w in mass)

    def rank(j, value):
        there = [(r[j], w) for r, w in zip(rows, mass, strict=True) if not math.isnan(r[j])]
        below = sum(w for v, w in there if v < value)
        same = sum(w for v, w in there if v == value)
        return (below + same / 2) / sum(w for _, w in there)

    d = sum(1 for j in range(len(row)) if known[j] and not nominal[j] and not math.isnan(row[j]))
    h = n ** (-1 / (d + 4)) / math.sqrt(12)
    found = []
    for r, w in zip(rows, mass, strict=True):
        weight = w
        for j in range(len(row)):
            if not known[j] or (math.isnan(r[j]) and math.isnan(row[j])):
                continue
            if nominal[j] or math.isnan(r[j]) or math.isnan(row[j]):
                weight *= 1.0 if r[j] == row[j] else 1.0 / n
            else:
                weight *= math.exp(-((rank(j, r[j]) - rank(j, row[j])) ** 2) / (2 * h * h))
        found.append(weight)
    return [weight / sum(found) for weight in found]


@st.composite
def tables(draw):
    cell = st.one_of(st.sampled_from([0.0, 1.0, 2.5, math.nan]), st.floats(-3, 3).map(lambda x: round(x, 2)))
    level = st.sampled_from(["red", "green", "blue", None])
    rows = draw(st.lists(st.tuples(cell, cell, level), min_size=2, max_size=12))
    mass = draw(st.lists(st.sampled_from([0.5, 1.0, 2.0]), min_size=len(rows), max_size=len(rows)))
    return rows, mass


@QUICK
@given(tables())
def test_weights_are_those_of_the_definition(table):
    rows, mass = table
    frame = pd.DataFrame(rows, columns=["a", "b", "level"]).astype({"a": float, "b": float, "level": object})
    data = Data.of(frame, sample_weight=mass, categorical=["level"])
    codes = codes_of(data)
    weights = Neighbours.of(data, least=0).weights(codes[0], ALL)
    for line, known in zip(weights, ALL, strict=True):
        expected = slow_weights(codes.tolist(), mass, [False, False, True], codes[0].tolist(), known)
        np.testing.assert_allclose(line, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("least", [0, 3.0])
@pytest.mark.parametrize("own", [True, False])
@QUICK
@given(tables())
def test_weights_of_many_rows_are_those_of_each(least, own, table):
    rows, mass = table
    frame = pd.DataFrame(rows, columns=["a", "b", "level"]).astype({"a": float, "b": float, "level": object})
    data = Data.of(frame, sample_weight=mass, categorical=["level"])
    codes = codes_of(data)
    near = Neighbours.of(data, least=least)
    for known in ALL:
        expected = [near.weights(row, known[None], own=own)[0] for row in codes]
        np.testing.assert_allclose(near.weights_each(codes, known, own=own), expected, rtol=1e-9, atol=1e-12)


def test_nothing_known_gives_the_rows_as_they_are():
    mass = np.arange(1.0, 51.0)
    near = Neighbours.of(Data.of(normal(50), sample_weight=mass))
    nothing = np.zeros((1, 3), dtype=bool)
    np.testing.assert_allclose(near.weights(np.zeros(3), nothing)[0], mass / mass.sum(), rtol=1e-12)


def test_what_no_row_has_says_nothing():
    data = Data.of(pd.DataFrame({"level": ["a", "b", "b"], "x": [1.0, 2.0, 3.0]}))
    near = Neighbours.of(data)
    unseen, level_only = np.array([7.0, 2.0]), np.array([[True, False]])
    np.testing.assert_allclose(near.weights(unseen, level_only)[0], 1 / 3)
    gap = np.array([0.0, np.nan])
    np.testing.assert_allclose(near.weights(gap, np.array([[False, True]]))[0], 1 / 3)
    both = np.array([[True, True]])
    np.testing.assert_allclose(near.weights(unseen, both), near.weights(unseen, np.array([[False, True]])))


def test_duplicated_rows_are_weights_of_two_and_the_unit_does_not_matter():
    X = normal(60)
    mass = np.where(np.arange(60) % 3 == 0, 2, 1)
    weighted = Neighbours.of(Data.of(X, sample_weight=mass)).weights(X[1], ALL)
    repeated = Neighbours.of(Data.of(np.repeat(X, mass, axis=0))).weights(X[1], ALL)
    summed = np.add.reduceat(repeated, np.cumsum(mass) - mass, axis=1)
    np.testing.assert_allclose(summed, weighted, rtol=1e-9)
    less, more = (
        Neighbours.of(Data.of(X, sample_weight=mass * unit), width=0.02).weights(X[1], ALL) for unit in (0.01, 100.5)
    )
    np.testing.assert_allclose(less, more, rtol=1e-9)
    assert effective_sizes(more).min() > 4


def test_neighbours_of_normal_variables_have_the_conditional_mean():
    X, row = normal(4000), np.array([0.4, 0.0, -0.3])
    known = ALL[[1, 2, 4, 3, 5, 6]]
    weights = Neighbours.of(Data.of(X)).weights(row, known)
    for line, these in zip(weights, known, strict=True):
        centre = line @ X[:, these]
        wanted = X[:, these] @ np.linalg.solve(
            SIGMA[np.ix_(these, these)], SIGMA[np.ix_(these, ~these)]
        )  # the conditional mean at each row; what is left is noise of known variance
        _, left = conditional_normal(SIGMA, these, row)
        error = line @ X[:, ~these] - line @ wanted
        assert (np.abs(error) <= Z * np.sqrt(np.diag(left) * np.square(line).sum())).all()
        # The known features themselves are met up to the width: a rank's error is one of h / phi(x) in x.
        h = 4000 ** (-1 / (these.sum() + 4)) / math.sqrt(12)
        slope = 1 / norm.pdf(row[these])
        curvature = np.abs(row[these]) * slope**2 * h**2 / 2
        drift = h * slope * 0.5 * (these.sum() > 1)  # the density of the others leans to one side
        assert (np.abs(centre - row[these]) <= Z * h * slope * np.sqrt(np.square(line).sum()) + curvature + drift).all()


def test_the_width_shrinks_and_the_mean_is_met_with_more_rows():
    errors = []
    for n in (200, 20_000):
        X = normal(n)
        line = Neighbours.of(Data.of(X)).weights(np.array([1.0, 0.0, 0.0]), ALL[[1]])[0]
        errors.append(abs(line @ X[:, 1] - 0.7))
    assert errors[1] < min(errors[0], 0.05)


def test_independent_features_keep_their_mean():
    X = normal(2000, np.eye(3))
    weights = Neighbours.of(Data.of(X)).weights(np.array([1.0, -1.0, 0.5]), ALL[1:7])
    for line, known in zip(weights, ALL[1:7], strict=True):
        assert (np.abs(line @ X[:, ~known]) <= Z / np.sqrt(effective_sizes(line[None])[0])).all()


def test_a_copy_of_a_category_takes_the_partners_value():
    level = np.array(["a"] * 5 + ["b"] * 995)
    data = Data.of(pd.DataFrame({"level": level, "copy": level}))
    line = Neighbours.of(data, least=0).weights(np.array([0.0, 1.0]), np.array([[True, False]]))[0]
    assert line[:5].sum() == pytest.approx(5 / (5 + 995 / 1000))


def test_a_row_may_leave_itself_out():
    X = normal(30)
    near = Neighbours.of(Data.of(X), least=0)
    everything = np.ones((1, 3), dtype=bool)
    with_itself, without = (near.weights(X[4], everything, own=own)[0] for own in (True, False))
    assert with_itself.argmax() == 4
    assert without[4] == 0.0
    others = np.delete(with_itself, 4)
    np.testing.assert_allclose(np.delete(without, 4), others / others.sum())
    twice = Neighbours.of(Data.of(X, sample_weight=np.where(np.arange(30) == 4, 2, 1)), least=0)
    one_left = twice.weights(X[4], everything, own=False)[0]
    assert one_left[4] == one_left.max()
    alone = Neighbours.of(Data.of(X[:1])).weights(X[0], everything, own=False)
    assert alone.tolist() == [[1.0]]


def test_a_kernel_that_reaches_few_rows_is_flattened_until_enough_count():
    X = normal(1000, np.eye(6))
    known = np.array([[True] * k + [False] * (6 - k) for k in range(7)])
    plain = Neighbours.of(Data.of(X), least=0).weights(X[0], known, own=False)
    flat = Neighbours.of(Data.of(X), least=40).weights(X[0], known, own=False)
    sizes = effective_sizes(plain)
    assert sizes[0] == pytest.approx(999)
    assert (sizes >= 40).any()
    assert (sizes < 40).any()
    np.testing.assert_array_equal(flat[sizes >= 40], plain[sizes >= 40])
    enough = effective_sizes(flat[sizes < 40])
    assert (enough >= 40 * (1 - 1e-12)).all()
    assert (enough <= 42).all()
    for before, after in zip(plain[sizes < 40], flat[sizes < 40], strict=True):
        seen = before > 1e-200
        slope, _ = np.polyfit(np.log(before[seen]), np.log(after[seen]), 1)
        assert 0 < slope < 1
        np.testing.assert_allclose(np.log(after[seen]), np.polyval([slope, _], np.log(before[seen])), atol=1e-6)
    small = Neighbours.of(Data.of(X[:50]), least=40).weights(X[60], known)
    assert 5 <= effective_sizes(small)[-1] <= 5.1  # a tenth of the rows


def test_effective_sizes():
    assert effective_sizes(np.array([[0.25] * 4, [1.0, 0, 0, 0], [0.5, 0.5, 0, 0]])).tolist() == [4, 1, 2]


def test_a_given_width():
    X = normal(500)
    wide, narrow = (Neighbours.of(Data.of(X), width=w).weights(X[0], ALL[[1]]) for w in (50.0, 0.02))
    np.testing.assert_allclose(wide, 1 / 500, rtol=1e-3)
    assert effective_sizes(narrow)[0] < 60
    with pytest.raises(InputError, match="width=0"):
        Neighbours.of(Data.of(X), width=0.0)


@pytest.mark.parametrize(("row", "known"), [(np.zeros(2), ALL), (np.zeros(3), ALL[0]), (np.zeros(3), ALL[:, :2])])
def test_shapes_that_do_not_fit_are_refused(row, known):
    data = Data.of(normal(20))
    for ask in (
        lambda: Neighbours.of(data).weights(row, known),
        lambda: Copula.of(data).draw(row, known, 5, np.random.default_rng(0)),
    ):
        with pytest.raises(InputError, match="with 3 features give"):
            ask()


# -- copula ------------------------------------------------------------------------------------------


def test_draws_of_normal_variables_have_the_conditional_mean_and_spread():
    rows, n = 4000, 3000
    row = np.array([1.0, 0.5, -0.5])
    drawn = Copula.of(Data.of(normal(rows))).draw(row, ALL, n, np.random.default_rng(1))
    for draws, known in zip(drawn, ALL, strict=True):
        np.testing.assert_array_equal(draws[:, known], np.broadcast_to(row[known], (n, known.sum())))
        if known.all():
            continue
        mean, left = conditional_normal(SIGMA, known, row)
        spread = np.sqrt(np.diag(left))
        # Errors: n draws; correlations, means and quantiles of as many rows, magnified by the inverse of what is known.
        magnified = 1 + np.abs(row[known]).sum() / (1 - 0.7**2)
        tolerance = Z * (spread / np.sqrt(n) + magnified * spread / np.sqrt(rows))
        assert (np.abs(draws[:, ~known].mean(axis=0) - mean) <= tolerance).all()
        ratio = np.log(draws[:, ~known].std(axis=0) / spread)
        assert (np.abs(ratio) <= Z * (1 / np.sqrt(2 * n) + 1 / np.sqrt(2 * rows) + 0.01)).all()


def test_correlations_of_the_scores_survive_any_monotone_change():
    X = normal(2000)
    bent = np.stack([np.exp(X[:, 0]), X[:, 1] ** 3, ndtr(X[:, 2])], axis=1)
    np.testing.assert_allclose(Copula.of(Data.of(bent)).correlation, Copula.of(Data.of(X)).correlation, atol=1e-12)


def test_independent_features_keep_their_distribution():
    X = np.stack([np.random.default_rng(0).exponential(size=3000), normal(3000)[:, 0]], axis=1)
    c = Copula.of(Data.of(X))
    assert abs(c.correlation[0, 1]) <= Z / np.sqrt(3000)
    draws = c.draw(np.array([0.0, 2.0]), np.array([[False, True]]), 3000, np.random.default_rng(0))[0, :, 0]
    levels = np.quantile(X[:, 0], [0.05, 0.25, 0.5, 0.75, 0.95])
    shares = (draws[:, None] <= levels).mean(axis=0)
    # The score known is 2, so that a correlation of 1/sqrt(rows) by chance moves the others by 2/sqrt(rows).
    assert (np.abs(shares - [0.05, 0.25, 0.5, 0.75, 0.95]) <= Z * (0.5 + 2 * norm.pdf(0)) / np.sqrt(3000)).all()


def test_a_monotone_copy_takes_the_partners_own_value():
    x = normal(1000)[:, 0]
    c = Copula.of(Data.of(np.stack([x, np.exp(x)], axis=1)))
    left = math.sqrt(1 - c.correlation[0, 1] ** 2)
    assert left < 0.01
    for value in (-1.0, 0.0, 1.3):
        draws = c.draw(np.array([value, 0.0]), np.array([[True, False]]), 500, np.random.default_rng(0))[0, :, 1]
        spacing = 3 / (1000 * norm.pdf(value))
        assert (np.abs(np.log(draws) - value) <= 5 * left + spacing).all()


def test_a_copy_of_a_category_is_drawn_as_such():
    rng = np.random.default_rng(0)
    level = rng.choice(["a", "b", "c"], 2000, p=[0.2, 0.5, 0.3])
    other = np.array(["z", "x", "y"])[np.searchsorted(["a", "b", "c"], level)]
    data = Data.of(pd.DataFrame({"level": level, "copy": other, "flag": level == "b"}))
    c = Copula.of(data)
    for code, partner in ((0.0, 2.0), (1.0, 0.0), (2.0, 1.0)):
        draws = c.draw(np.array([code, 0.0, 0.0]), np.array([[True, False, False]]), 1000, rng)[0]
        assert (draws[:, 1] == partner).mean() > 0.99


def coins(rho):
    """Three fair coins, heads where a score is above zero, with the given correlations of the scores."""
    fair = Margin(np.array([0.0, 1.0]), np.array([0.5, 1.0]), levels=True)
    return Copula((fair,) * 3, (), np.array([[1, rho[0], rho[1]], [rho[0], 1, rho[2]], [rho[1], rho[2], 1]]))


@pytest.mark.parametrize("rho", [(0.0, 0.0, 0.0), (0.6, 0.3, 0.5), (0.9, -0.4, -0.2), (0.8, 0.8, 0.7)])
def test_known_levels_leave_the_orthant_probabilities(rho):
    """P(three above zero) = 1/8 + (asin r12 + asin r13 + asin r23) / (4 pi); of two, 1/4 + asin r / (2 pi)."""
    n = 40_000
    draws = coins(rho).draw(
        np.ones(3), np.array([[True, True, False], [True, False, False]]), n, np.random.default_rng(0)
    )
    two = 0.25 + np.arcsin(rho[0]) / (2 * np.pi)
    three = 0.125 + np.arcsin(rho).sum() / (4 * np.pi)
    for found, expected in (
        (draws[0, :, 2].mean(), three / two),
        (draws[1, :, 1].mean(), 2 * two),
        (draws[1, :, 2].mean(), 0.5 + np.arcsin(rho[1]) / np.pi),
        (draws[1, :, 1:].all(axis=1).mean(), 2 * three),
    ):
        assert abs(found - expected) <= Z * math.sqrt(2 * 0.25 / n)  # twice, for the resampling


@pytest.mark.parametrize("rho", [-0.5, 0.3, 0.8])
@pytest.mark.parametrize("cut", [0.0, 0.8])
def test_correlations_behind_levels_are_found(rho, cut):
    n = 6000
    X = normal(n, np.array([[1, rho], [rho, 1]]), seed=3)
    levels = Data.of(pd.DataFrame({"a": X[:, 0] > 0, "b": X[:, 1] > cut, "c": np.digitize(X[:, 1], [-1, 0, 1])}))
    found = Copula.of(levels).correlation
    # A score seen as two levels loses information: at fair cuts the error is pi/2 times that of a correlation, and more off them.
    tolerance = Z * (np.pi / 2) * (1.0 + cut) / np.sqrt(n)
    assert abs(found[0, 1] - rho) <= tolerance
    assert abs(found[0, 2] - rho) <= tolerance


@pytest.mark.parametrize("known", [[1], [2], [4], [1, 2], [1, 4]])
def test_levels_given_levels_are_as_often_as_in_the_data(known):
    """A mixed table made from normal scores: shares given some levels match those of the rows that have them."""
    data = Data.of(mixed(12_000))
    codes = codes_of(data)
    row = codes[np.flatnonzero(codes[:, 1] == 1)[3]]
    these = np.isin(np.arange(5), known)
    rows = codes[(codes[:, these] == row[these]).all(axis=1)]
    n = 4000
    draws = Copula.of(data).draw(row, these[None], n, np.random.default_rng(0))[0]
    tolerance = Z * 0.5 * (1 / np.sqrt(len(rows)) + 1 / np.sqrt(n) + np.pi / 2 / np.sqrt(12_000))
    for j in np.flatnonzero(~these)[1:]:  # numbers are left out: which of them are missing depends on the flag
        for value in np.unique(codes[:, j]):
            drawn, seen = (draws[:, j] <= value, rows[:, j] <= value)
            assert abs(drawn.mean() - seen.mean()) <= tolerance, (j, value)
    gaps = [np.isnan(part[:, 0]).mean() for part in (draws, rows)]
    assert abs(gaps[0] - gaps[1]) <= tolerance


def test_only_values_that_occur_are_drawn_and_known_cells_stay():
    data = Data.of(mixed(400))
    codes = codes_of(data)
    rng = np.random.default_rng(0)
    known = rng.random((20, 5)) < 0.5
    row = codes[np.isnan(codes[:, 0])][0]
    draws = Copula.of(data).draw(row, known, 50, rng)
    for i, these in enumerate(known):
        for j in range(5):
            if these[j]:
                np.testing.assert_array_equal(draws[i, :, j], row[j])
            else:
                assert set(draws[i, :, j][~np.isnan(draws[i, :, j])]) <= set(codes[:, j])
                assert j == 0 or not np.isnan(draws[i, :, j]).any()


def test_rows_beyond_the_data_and_never_seen_levels():
    data = Data.of(mixed(400))
    c = Copula.of(data)
    row = np.array([1e9, 1.0, 99.0, -5.0, np.nan])
    draws = c.draw(row, ~np.eye(5, dtype=bool), 200, np.random.default_rng(0))
    assert np.isfinite(draws[1:, :, 1:4]).all()
    high = c.draw(row, np.array([[True, False, False, False, False]]), 500, np.random.default_rng(0))[0]
    assert (high[:, 4] == 2).mean() > 0.9  # the largest number goes with the highest grade
    nothing = np.zeros((1, 5), dtype=bool)
    level = np.array([[False, False, True, False, False]])
    unseen, marginal = (c.draw(row, which, 300, np.random.default_rng(0))[0] for which in (level, nothing))
    np.testing.assert_array_equal(unseen[:, [0, 1, 3, 4]], marginal[:, [0, 1, 3, 4]])


def test_coalitions_share_their_random_numbers():
    data = Data.of(mixed(400))
    row = codes_of(data)[0]
    known = np.random.default_rng(1).random((9, 5)) < 0.5
    c = Copula.of(data)
    together = c.draw(row, known, 40, np.random.default_rng(5))
    for i in range(len(known)):
        alone = c.draw(row, known[[i]], 40, np.random.default_rng(5))[0]
        np.testing.assert_array_equal(alone, together[i])
    np.testing.assert_array_equal(c.draw(row, known, 40, np.random.default_rng(5), at_once=1), together)
    # Fixing one more feature at a value that tells nothing leaves the others as they are.
    free = replace(c, correlation=np.eye(len(c.margins)))
    less, more = (
        free.draw(row, k, 40, np.random.default_rng(5))[0] for k in (known[[0]], known[[0]] | (np.arange(5) == 3))
    )
    np.testing.assert_array_equal(np.delete(less, 3, axis=1), np.delete(more, 3, axis=1))


def test_weights_count_as_rows_for_the_copula():
    frame = mixed(300)
    mass = np.where(np.arange(300) % 3 == 0, 2, 1)
    weighted = Copula.of(Data.of(frame, sample_weight=mass))
    repeated = Copula.of(Data.of(frame.loc[frame.index.repeat(mass)].reset_index(drop=True)))
    np.testing.assert_allclose(weighted.correlation, repeated.correlation, atol=1e-9)
    for a, b in zip(weighted.margins, repeated.margins, strict=True):
        np.testing.assert_array_equal(a.values, b.values)
        np.testing.assert_allclose(a.upper, b.upper, atol=1e-12)


def test_columns_that_are_constant_or_empty():
    frame = pd.DataFrame({"one": [1.0] * 30, "none": [np.nan] * 30, "x": np.arange(30.0), "level": ["a"] * 30})
    data = Data.of(frame)
    draws = Copula.of(data).draw(
        codes_of(data)[3], np.array([[False, False, True, False]]), 10, np.random.default_rng(0)
    )
    assert (draws[..., 0] == 1.0).all()
    assert np.isnan(draws[..., 1]).all()
    assert (draws[..., 3] == 0.0).all()
    weights = Neighbours.of(data).weights(codes_of(data)[3], np.ones((1, 4), dtype=bool))
    assert weights.argmax() == 3


def test_too_many_features_are_refused():
    with pytest.raises(InputError, match="at most 2000 features, not 2001"):
        Copula.of(Data.of(np.random.default_rng(0).normal(size=(5, 2001))))


def test_scores_are_the_normal_means_of_their_intervals():
    margin = Margin(np.array([0.0, 1.0, 5.0]), np.array([0.2, 0.7, 1.0]))
    edges = ndtri([0.0, 0.2, 0.7, 1.0])
    expected = [norm.expect(lambda z: z, lb=a, ub=b, conditional=True) for a, b in pairwise(edges)]
    np.testing.assert_allclose(margin.scores(), expected, atol=1e-7)


# -- many rows at once -------------------------------------------------------------------------------


def table_of(kind):
    rng = np.random.default_rng(3)
    X = pd.DataFrame(normal(300), columns=list("abc"))
    if kind == "constant":
        X["d"] = 1.0
    if kind == "ties":
        X["d"] = np.round(X["a"] + rng.normal(size=300))
        X["e"] = np.where(rng.random(300) < 0.3, X["b"], 0.0)  # a point in some rows, a level in others
    if kind == "gaps":
        X["d"] = np.where(rng.random(300) < 0.3, np.nan, X["a"])
    return X


@pytest.mark.parametrize("kind", ["numbers", "constant", "ties", "gaps"])
def test_many_rows_at_once_are_drawn_as_one_by_one(kind):
    data = Data.of(table_of(kind))
    learned, rows = Copula.of(data), codes_of(data)[:40]
    p = rows.shape[1]
    known = np.array([[bool(k >> j & 1) for j in range(p)] for k in range(2**p)])
    one, other = np.random.default_rng(5), np.random.default_rng(5)
    expected = np.stack([learned.draw(row, known, 6, one) for row in rows], axis=2)
    found = learned.draw_each(rows, known, 6, other)
    # A share on the edge of two values may fall to either side by rounding.
    assert np.isclose(found, expected, equal_nan=True).mean() > 0.999
    assert one.random() == other.random()
