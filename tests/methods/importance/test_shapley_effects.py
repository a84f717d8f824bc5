"""Shapley effects: linear models of normal features, independent features, sums, and what neighbours blur."""

import numpy as np
import pandas as pd
import pytest

from pellucid import Explainer, InputError
from pellucid.data import Data
from pellucid.data.sampling.walk_draws import NeighbourDraw, scores_given
from pellucid.methods.importance import shapley_effects
from reference.sobol import even_rows, g_function, ishigami, linear_gaussian_effects, shapley_of, sobol
from reference.sobol import explained_variance as known_variance

CORRELATED = {
    "two": ([1.0, 2.0], [[1.0, 0.7], [0.7, 2.0]]),
    "two, one unused": ([1.0, 0.0], [[1.0, 0.9], [0.9, 1.0]]),
    "three": ([1.0, 2.0, -1.0], [[1.0, 0.5, 0.0], [0.5, 1.0, 0.7], [0.0, 0.7, 1.0]]),
    "five alike": (np.ones(5), 0.5 * np.eye(5) + 0.5),
}


def effects(model, X, **options):
    asked = {key: options.pop(key) for key in ("budget", "tolerance") if key in options}
    return Explainer(model, X, progress=False, **options).importance(method="shapley-effects", **asked)


def normal_rows(covariance, n=3000, seed=0):
    """Rows whose sample covariance is exactly the given one."""
    Z = np.random.default_rng(seed).normal(size=(n, len(covariance)))
    Z -= Z.mean(axis=0)
    Z = Z @ np.linalg.inv(np.linalg.cholesky(np.cov(Z.T, bias=True))).T
    return Z @ np.linalg.cholesky(covariance).T


@pytest.mark.parametrize("name", CORRELATED)
def test_linear_models_of_normal_features(name):
    slopes, covariance = CORRELATED[name]
    slopes, covariance = np.array(slopes), np.array(covariance)
    found = effects(lambda X: X @ slopes, normal_rows(covariance), checks=False)
    expected = linear_gaussian_effects(slopes, covariance)
    assert found.settings["how"] == "copula"
    assert found.values.sum() == pytest.approx(1)
    assert (np.abs(found.values - expected) <= 5 * found.se + 5e-3).all()
    assert found.se.max() < 0.02


def test_two_features_have_the_closed_form_of_the_literature():
    # Owen and Prieur 2017: b1^2 s1^2 (1 - r^2/2) + r b1 b2 s1 s2 + b2^2 s2^2 r^2/2, over the variance
    (b1, b2), covariance = CORRELATED["two"]
    s1, s2 = np.sqrt(np.diag(covariance))
    r = covariance[0][1] / s1 / s2
    first = b1**2 * s1**2 * (1 - r**2 / 2) + r * b1 * b2 * s1 * s2 + b2**2 * s2**2 * r**2 / 2
    variance = b1**2 * s1**2 + 2 * r * b1 * b2 * s1 * s2 + b2**2 * s2**2
    assert linear_gaussian_effects([b1, b2], covariance)[0] == pytest.approx(first / variance)


def test_independent_features_share_interactions_equally():
    X = even_rows(3000, [(-np.pi, np.pi)] * 3)
    found = effects(ishigami, X, checks=False)
    v1, v2, v13 = (1 + 0.1 * np.pi**4 / 5) ** 2 / 2, 49 / 8, 0.01 * np.pi**8 * 8 / 225
    expected = np.array([v1 + v13 / 2, v2, v13 / 2]) / (v1 + v2 + v13)
    assert (np.abs(found.values - expected) <= 5 * found.se + 5e-3).all()


def test_they_lie_between_first_order_and_total_index_of_independent_features():
    X = even_rows(2000, [(0, 1)] * 4)
    ex = Explainer(lambda X: g_function(X, np.array([0.0, 0.5, 1.0, 9.0])), X, progress=False, checks=False)
    found, between = ex.importance(method="shapley-effects"), ex.importance(method="sobol")
    assert (found.values >= between.first - 4 * found.se - 0.01).all()
    assert (found.values <= between.values + 4 * found.se + 0.01).all()


def dependent_levels(n=2000, seed=0):
    """Three features of few levels with a known joint table."""
    rng = np.random.default_rng(seed)
    joint = rng.dirichlet(np.ones(12), size=1).reshape(3, 2, 2)
    joint[0, 0] += 0.3
    joint /= joint.sum()
    rows = np.array(np.unravel_index(rng.choice(12, n, p=joint.ravel()), joint.shape)).T
    return rows, rng.normal(size=joint.shape)


def test_categories_by_neighbours_against_the_definition():
    rows, table = dependent_levels()
    frame = pd.DataFrame(
        {"a": np.array(list("xyz"))[rows[:, 0]], "b": rows[:, 1] == 1, "c": np.array(list("uv"))[rows[:, 2]]}
    )
    values = table[tuple(rows.T)]
    mass = np.full(len(rows), 1 / len(rows))
    whole = known_variance(values, mass, rows, (0, 1, 2))
    expected = shapley_of(lambda known: known_variance(values, mass, rows, known) / whole if known else 0.0, 3)

    def model(frame):
        place = [
            frame["a"].map(dict(zip("xyz", range(3), strict=True))),
            frame["b"].astype(int),
            frame["c"].map({"u": 0, "v": 1}),
        ]
        return table[tuple(np.asarray(p) for p in place)]

    found = effects(model, frame, checks=False)
    assert found.settings["how"] == "neighbours"
    assert (np.abs(found.values - expected) <= 5 * found.se + 0.01).all()
    assert np.abs(sobol(values, *_as_independent(rows))[1] / whole - expected).max() > 0.02  # dependence matters here


def _as_independent(rows):
    return np.full(len(rows), 1 / len(rows)), rows


@pytest.mark.parametrize(("n", "bias"), [(300, 0.05), (2000, 0.03)])
def test_neighbours_blur_dependence_by_as_much_as_is_stated(n, bias):
    slopes, covariance = np.array([1.0, 0.0]), np.array([[1.0, 0.9], [0.9, 1.0]])
    rows = pd.DataFrame(normal_rows(covariance, n), columns=["a", "b"]).assign(kind="all")
    found = effects(lambda X: X[["a", "b"]].to_numpy() @ slopes, rows, checks=False)
    assert found.settings["how"] == "neighbours"
    expected = linear_gaussian_effects(slopes, covariance)
    assert 0.005 < expected[1] - found.values[1] < bias  # towards independence


def parabola(rng, n):
    x = rng.normal(size=n)
    return np.column_stack([x, x**2 + 0.3 * rng.normal(size=n), rng.normal(size=n)])


def ring(rng, n):
    angle, radius = rng.uniform(0, 2 * np.pi, n), 1 + 0.1 * rng.normal(size=n)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


CURVED = {
    # f = x1 = x0^2 + noise: v({0}) = 2 / 2.09, v({1}) = 1
    "parabola": (parabola, lambda X: X[:, 1], [1 / 2.09, 1 - 1 / 2.09, 0.0]),
    # f = x0^2 on a ring: v({1}) = 0.773, integrated over the density
    "ring": (ring, lambda X: X[:, 0] ** 2, [1 - 0.773 / 2, 0.773 / 2]),
}


@pytest.mark.parametrize("name", CURVED)
def test_curves_are_seen_that_a_copula_does_not_see(name, monkeypatch):
    draw, model, expected = CURVED[name]
    X = draw(np.random.default_rng(1), 400)
    found = effects(model, X, budget=4000, checks=False)
    assert found.settings["how"] == "curves"
    assert np.abs(found.values - expected).max() < 0.09
    monkeypatch.setattr(shapley_effects, "joint_of", lambda *_: (None, None))
    blind = effects(model, X, budget=4000, checks=False)
    assert blind.settings["how"] == "copula"
    assert np.abs(blind.values - expected).max() > 0.3


def test_draws_within_intervals_have_the_distribution_of_the_copula():
    # Two scores of which the first is known to be positive: the second has the mean r sqrt(2 / pi).
    rng = np.random.default_rng(0)
    r, n = 0.8, 20_000
    known = np.tile([True, False, False], (n, 1))
    low, high = np.tile([0.5, 0.0, 0.0], (n, 1)), np.tile([1.0, 1.0, 1.0], (n, 1))
    correlation = np.array([[1, r, 0], [r, 1, 0], [0, 0, 1.0]])
    scores = scores_given(correlation, low, high, known, rng.random((n, 8, 3)), rng.random(n))
    assert (scores[:, 0] > 0).all()
    assert scores[:, 1].mean() == pytest.approx(r * np.sqrt(2 / np.pi), abs=0.03)
    assert scores[:, 2].mean() == pytest.approx(0, abs=0.03)
    # two intervals: both positive; E[z1 | z0 > 0, z1 > 0] by numerical integration of many pairs
    both = np.tile([True, True, False], (n, 1))
    low[:, 1] = 0.5
    found = scores_given(correlation, low, high, both, rng.random((n, 8, 3)), rng.random(n))
    pairs = rng.multivariate_normal([0, 0], correlation[:2, :2], 400_000)
    inside = pairs[(pairs > 0).all(axis=1)]
    np.testing.assert_allclose(found[:, :2].mean(axis=0), inside.mean(axis=0), atol=0.05)
    # known to a point
    point = np.full((n, 3), 0.9)
    found = scores_given(correlation, point, point, known, rng.random((n, 8, 3)), rng.random(n))
    assert found[:, 0] == pytest.approx(1.2815515655446004)
    assert found[:, 1].mean() == pytest.approx(r * 1.2815515655446004, abs=0.02)
    assert found[:, 1].var() == pytest.approx(1 - r**2, abs=0.02)


def test_intervals_hold_the_truth_about_as_often_as_they_say():
    slopes, covariance = np.array([1.0, 2.0, -1.0]), np.array(CORRELATED["three"][1])
    held = []
    for seed in range(60):
        X = np.random.default_rng(seed).multivariate_normal(np.zeros(3), covariance, 400)
        expected = linear_gaussian_effects(slopes, np.cov(X.T))  # the dependence in these rows
        found = effects(lambda X: X @ slopes, X, budget=4000, random_state=seed, checks=False)
        held.append((found.low <= expected) & (expected <= found.high))
    assert 0.88 <= np.mean(held) <= 0.99


def test_groups_weights_and_constants():
    X = normal_rows(np.array(CORRELATED["three"][1]), 1000)
    X = np.column_stack([X, np.ones(1000)])
    slopes = np.array([1.0, 2.0, -1.0, 5.0])
    found = effects(lambda X: X @ slopes, X, groups={"pair": [0, 1]}, checks=False)
    covariance = np.cov(X[:, :3].T, bias=True)
    with_f = covariance @ slopes[:3]

    def worth(known):
        columns = [j for p in known for j in ((0, 1), (2,))[p]]
        return with_f[columns] @ np.linalg.solve(covariance[np.ix_(columns, columns)], with_f[columns]) / (slopes[:3] @ with_f) if columns else 0.0  # fmt: skip

    assert found.feature_names == ("pair", "x2", "x3")
    assert found.values[2] == 0
    assert (np.abs(found.values[:2] - shapley_of(worth, 2)) <= 5 * found.se[:2] + 5e-3).all()
    # rows of weight zero do not count
    far = np.vstack([X[:, :2], 100 + X[:200, :2]])
    weights = np.repeat([1.0, 0.0], [1000, 200])
    weighted = effects(lambda X: X @ [1.0, 1.0], far, sample_weight=weights, checks=False)
    plain = effects(lambda X: X @ [1.0, 1.0], X[:, :2], checks=False)
    assert (np.abs(weighted.values - plain.values) <= 5 * np.hypot(weighted.se, plain.se) + 2e-3).all()


def test_corners():
    X = np.random.default_rng(0).normal(size=(40, 2))
    assert not effects(lambda X: np.ones(len(X)), X).values.any()
    one = effects(lambda X: X[:, 0] ** 2, X[:, :1])
    assert one.values == pytest.approx([1.0])
    assert not one.se.any()
    several = effects(lambda X: np.column_stack([X[:, 0], X[:, 1], 0 * X[:, 1]]), X)
    assert several.values.shape == (2, 3)
    np.testing.assert_allclose(several.values.sum(axis=0), [1, 1, 0])
    with pytest.raises(InputError, match=r"budget=10 .*2 features .*60"):
        effects(lambda X: X[:, 0], X, budget=10)


def test_tolerance_ends_the_walks():
    X = normal_rows(np.array(CORRELATED["three"][1]), 2000)

    def model(X):
        return X[:, 0] * X[:, 1] + X[:, 2]

    rough, fine = (effects(model, X, tolerance=t, checks=False) for t in (0.05, 0.02))
    assert fine.settings["walks"] > 3 * rough.settings["walks"]
    assert fine.se.max() < rough.se.max()  # to which what the dependence leaves open is added
    assert not {caveat.code for caveat in fine.caveats} & {"imprecise", "tolerance-missed", "rough-shares"}
    assert rough.cost.model_rows < fine.cost.model_rows


def test_an_interruption_keeps_what_is_known():
    X = normal_rows(np.array(CORRELATED["three"][1]), 500)
    calls = {"n": 0}

    def model(X):
        calls["n"] += 1
        if calls["n"] == 6:
            raise KeyboardInterrupt
        return X.sum(axis=1)

    found = effects(model, X)
    assert found.settings["walks"] == 2 * shapley_effects._WALKS_AT_ONCE
    assert [caveat.code for caveat in found.caveats] == ["partial"]
    assert found.values.sum() == pytest.approx(1)


def test_a_row_is_not_its_own_neighbour():
    data = Data.of(np.arange(12.0).reshape(6, 2))
    draw = NeighbourDraw(data, np.random.default_rng(0))
    rows = np.tile([[4.0, 5.0]], (200, 1))
    drawn = draw(rows, np.tile([[[True, False], [False, False]]], (200, 1, 1)), np.random.default_rng(1))
    assert not (drawn[:, :, 1] == 5.0).any()
    assert (drawn[:, 0, 0] == 4.0).all()
    assert len(np.unique(drawn[:, 1, 1])) == 5


def test_many_rows_of_mixed_kinds_are_thinned_for_neighbours():
    rows, _ = dependent_levels(2500)
    frame = pd.DataFrame({"a": rows[:, 0], "b": np.array(list("uv"))[rows[:, 1]]})
    found = effects(lambda f: f["a"] + (f["b"] == "u"), frame, budget=2000)
    assert found.values.sum() == pytest.approx(1)
