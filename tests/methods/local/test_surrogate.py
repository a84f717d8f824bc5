"""The parts of a local model against their slow twins."""

from dataclasses import fields
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import lars_path

from methods.local.asking import explain
from pellucid.data import Data
from pellucid.data.distance import exponential, kernels
from pellucid.methods.local.surrogate.coalitions import constrained, every_coalition, kernel
from pellucid.methods.local.surrogate.fitting import Linear, Moments, block_moments, combined, fit, fold_counts
from pellucid.methods.local.surrogate.local_fit import radius_of
from pellucid.methods.local.surrogate.neighbourhood import BLOCKS, SAMPLERS, Distributions, draw
from pellucid.methods.local.surrogate.representation import representation
from pellucid.methods.local.surrogate.selection import backward, choose, forward, lasso
from pellucid.methods.local.surrogate.stability import agreement, common, selection
from pellucid.methods.local.surrogate.width import WidthFits, default_width, distances, fit_widths, r_squared
from pellucid.runner import Run
from pellucid.stats import effective_sizes
from reference import lime as slow

KINDS = st.sampled_from(["independent", "correlated", "binary"])


def problem(seed, kind, n=80, p=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    if kind == "correlated":
        X += rng.normal(size=(n, 1))
    if kind == "binary":
        X = (X > 0.3) - 1.0
    y = X @ rng.normal(size=p) + 0.3 * X[:, 0] * X[:, 1] + 0.1 * rng.normal(size=n)
    return X, y, rng.uniform(0.05, 1, size=n)


def moments(X, y, weights):
    found = combined(block_moments(X, y[:, None], weights[None], 4)[0], np.ones((1, 4)), X.shape[1])
    both = found.centred()
    p = X.shape[1]
    return both[:, :p, :p], both[:, :p, p], both[:, p, p]


# -- moments and fits ---------------------------------------------------------------------------------


@given(st.integers(0, 500), KINDS, st.sampled_from([0.0, 1.0, 10.0]))
@settings(max_examples=30, deadline=None)
def test_a_fit_by_moments_is_least_squares(seed, kind, penalty):
    X, y, weights = problem(seed, kind)
    found = fit(
        combined(block_moments(X, y[:, None], weights[None], 4)[0], np.ones((1, 4)), 5), Linear(5, "all", penalty)
    )
    expected = slow.weighted_line(X, y, weights, penalty)
    np.testing.assert_allclose(found.weights[0, :, 0], expected[1:], rtol=1e-6, atol=1e-8)
    assert found.at_row[0, 0] == pytest.approx(expected[0], rel=1e-6, abs=1e-8)


def test_wide_and_narrow_tables_have_the_same_moments():
    X, y, weights = problem(0, "correlated")
    both = np.stack([weights, weights**2])
    narrow = block_moments(X, y[:, None], both, 4)
    np.testing.assert_allclose(block_moments(X, y[:, None], both, 4, narrow=1), narrow, rtol=1e-12)


@given(st.integers(0, 500), KINDS)
@settings(max_examples=20, deadline=None)
def test_r2_is_that_of_samples_that_were_not_fitted(seed, kind):
    X, y, weights = problem(seed, kind)
    blocks = block_moments(X, y[:, None], weights[None], 8)
    folds = fold_counts(8)
    fits = fit(combined(blocks[0], folds, 5), Linear(5, "all"))
    held = combined(blocks[0], 1 - folds, 5)
    found = r_squared(fits.missed(held), held, 1)[0, 0]
    assert found == pytest.approx(slow.held_out_r2(X, y, weights, np.repeat(np.arange(8) % 4, 10)), rel=1e-6, abs=1e-9)


def test_nothing_to_explain_is_explained():
    held = Moments(np.zeros((4, 3, 3)), 1)
    assert r_squared(np.zeros((4, 1)), held, 1).tolist() == [[1.0]]


# -- selection --------------------------------------------------------------------------------------------


@given(st.integers(0, 500), KINDS, st.integers(1, 4))
@settings(max_examples=30, deadline=None)
def test_forward_and_backward_are_those_of_every_candidate_tried(seed, kind, k):
    X, y, weights = problem(seed, kind)
    assert np.flatnonzero(forward(*moments(X, y, weights), k)[0]).tolist() == slow.forward(X, y, weights, k)
    assert np.flatnonzero(backward(*moments(X, y, weights), k)[0]).tolist() == slow.backward(X, y, weights, k)


@given(st.integers(0, 500), KINDS, st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_the_lasso_is_on_the_path_with_k_columns(seed, kind, k):
    X, y, weights = problem(seed, kind)
    xx, xy, yy = moments(X, y, weights)
    chosen, beta = lasso(xx, xy, yy, k)
    assert chosen.sum() == k
    sd = np.sqrt(np.einsum("nii->ni", xx))[0]
    left = (xy[0] - xx[0] @ beta[0]) / sd
    active = np.abs(left[chosen[0]])
    np.testing.assert_allclose(active, active[0], rtol=1e-7)  # the conditions of Karush, Kuhn and Tucker
    assert (np.abs(left) <= active[0] * (1 + 1e-7)).all()
    assert (np.sign(left[chosen[0]]) == np.sign(beta[0][chosen[0]])).all()
    root = np.sqrt(weights / weights.sum())
    Z = (X - np.average(X, axis=0, weights=weights)) / sd * root[:, None]
    path = lars_path(Z, (y - np.average(y, weights=weights)) * root, method="lasso")[2]
    sets = [frozenset(np.flatnonzero(column)) for column in path.T]
    assert frozenset(np.flatnonzero(chosen[0])) in sets or k < 5


def test_a_column_leaves_the_path_where_it_must():
    """Sets of k columns of the path are those of sklearn's, also after one has left."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(60, 6)) @ rng.normal(size=(6, 6))
        y = X @ rng.normal(size=6)
        xx, xy, yy = moments(X, y, np.ones(60))
        Z = (X - X.mean(axis=0)) / X.std(axis=0)
        path = lars_path(Z, y - y.mean(), method="lasso")[2]
        in_path = np.abs(path) > 1e-9  # a column that leaves keeps a rounding error
        counts = in_path.sum(axis=0)
        for k in (2, 3, 4):
            first = int(np.argmax(counts == k))
            # Where the next column would enter; a column may leave there at once.
            expected = set(np.flatnonzero(in_path[:, first]))
            found = set(np.flatnonzero(lasso(xx, xy, yy, k)[0][0]))
            after = set(np.flatnonzero(in_path[:, min(first + 1, path.shape[1] - 1)]))
            assert found <= expected | after
            assert len(found) == k


def test_copies_and_constants_are_left_out():
    X, y, weights = problem(3, "independent")
    X = np.column_stack([X, X[:, 0], np.ones(len(X))])
    xx, xy, yy = moments(X, y, weights)
    for chosen in (forward(xx, xy, yy, 7), lasso(xx, xy, yy, 7)[0]):
        assert chosen[0, [0, 5]].sum() == 1
        assert not chosen[0, 6]
    assert not backward(xx, xy, yy, 5)[0, 6]


def test_what_has_no_effect_is_not_chosen():
    X = problem(0, "independent")[0]
    for how in ("forward", "backward", "lasso"):
        chosen, _ = choose(*moments(X, 2 * X[:, 1], np.ones(len(X))), 3, how)
        assert np.flatnonzero(chosen[0]).tolist() == [1]


def test_many_regressions_at_once_are_each_their_own():
    cases = [moments(*problem(seed, kind)) for seed in range(6) for kind in ("independent", "correlated", "binary")]
    xx, xy, yy = (np.concatenate(part) for part in zip(*cases, strict=True))
    for how in ("forward", "backward", "lasso"):
        together = choose(xx, xy, yy, 2, how)[0]
        apart = np.concatenate([choose(*case, 2, how)[0] for case in cases])
        np.testing.assert_array_equal(together, apart)


# -- stability ---------------------------------------------------------------------------------------------


def test_indices_of_stability_by_hand():
    repeats = np.array([[1.0, 0.0, 2.0], [1.0, 1.0, 0.0], [0.0, -1.0, 2.0]])
    assert selection(repeats != 0) == pytest.approx(np.mean([0.5, 0.5, 0.5]))
    pairs = [2 / (3 + 2), 4 / (3 + 3), 2 / (2 + 3)]
    assert common(repeats) == pytest.approx(np.mean(pairs))
    assert agreement(repeats) == pytest.approx(np.mean([1 / 4, 2 / 4, 0 / 4]))
    assert selection(np.zeros((3, 2), dtype=bool)) == common(np.zeros((3, 2))) == agreement(np.zeros((3, 2))) == 1.0


@given(st.integers(0, 200))
@settings(max_examples=20, deadline=None)
def test_agreement_is_the_mean_over_pairs(seed):
    repeats = np.random.default_rng(seed).normal(size=(2, 6, 4)).round(1)
    np.testing.assert_allclose(agreement(repeats), [slow.likeness(each) for each in repeats])


def test_with_a_tolerance_samples_are_added_until_the_features_stay():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 8))

    def model(X):
        return X @ [1, 1, 0.99, 0.98, 0.97, 0.2, 0.2, 0.2] + np.sin(5 * X).sum(axis=1)

    loose = explain(model, X, 0, samples=200, features=3, width="default")
    tight = explain(model, X, 0, samples=200, features=3, width="default", tolerance=0.05)
    assert loose.stability[0] < 0.95
    assert tight.settings["samples"] in [200 * 2**k for k in range(1, 5)]
    assert tight.stability[0] > loose.stability[0]
    assert tight.stability[0] >= 0.95 or tight.settings["samples"] == 3200
    assert tight.cost.model_rows >= tight.settings["samples"]


# -- distances and kernels -----------------------------------------------------------------------------------


def test_distances_from_their_definitions():
    table = pd.DataFrame({"a": [0.0, 1.0, 4.0, 2.0], "c": ["u", "v", "u", "w"]})
    data = Data.of(table)
    space = representation(data, Distributions.of(data, Run()), "raw")
    values = space.values(data)
    apart = space.apart(values, values[0])
    place, span = space.place(values[0]), space.span(values[0])
    sd = table["a"].std(ddof=0)
    euclid = distances(apart, "euclidean", place=place, span=span)
    np.testing.assert_allclose(euclid, np.sqrt((table["a"] / sd) ** 2 + (table["c"] != "u")))
    rows = values.tolist()
    expected = [slow.gower(rows[0], other, [4.0, 1.0], [False, True]) for other in rows]
    np.testing.assert_allclose(distances(apart, "gower", place=place, span=span), expected)
    z = np.column_stack([(table["a"] - table["a"].mean()) / sd, table["c"] == "u"])
    cosine = 1 - z @ z[0] / np.linalg.norm(z, axis=1) / np.linalg.norm(z[0])
    np.testing.assert_allclose(distances(apart, "cosine", place=place, span=span), cosine, atol=1e-12)


def test_kernel_and_default_width():
    d = np.array([0.0, 1.0, 2.0])
    np.testing.assert_allclose(exponential(d, 2.0), np.exp(-(d**2) / 4))
    assert default_width(d, 9, "euclidean") == 0.75 * 3
    assert default_width(d, 9, "gower") == pytest.approx(0.75 / np.sqrt(2) * np.sqrt(5 / 3))
    both = kernels(lambda d, w: 1.0 * (d <= w), d, np.array([0.5, 1.5]))
    assert both.tolist() == [[1, 0, 0], [1, 1, 0]]
    np.testing.assert_allclose(effective_sizes(np.array([[1.0, 1.0, 0.0], [1e-300, 0, 0]])), [2.0, 1.0])


def test_a_kernel_of_the_callers_own():
    X = np.random.default_rng(0).normal(size=(300, 2))
    step = explain(lambda X: np.abs(X[:, 0]), X, {"x0": 1.0, "x1": 0.0}, kernel=lambda d, w: 1.0 * (d < w), width=0.9)
    assert step.weights[0, 0] == pytest.approx(1.0)
    assert step.settings["kernel"] == "<lambda>"


# -- samples ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_samples_have_the_moments_they_should(sampler):
    rng = np.random.default_rng(0)
    a = rng.gamma(2.0, size=2000)
    data = Data.of(
        pd.DataFrame({"a": a, "b": 2 * a + rng.normal(size=2000), "c": rng.choice(["u", "v"], 2000, p=[0.8, 0.2])})
    )
    rows = data.take(np.array([5]))
    codes = next(iter(draw(Distributions.learn(data), data, rows, 4000, sampler, Run()))).codes
    centre = rows.codes(0)[0] if sampler == "around" else a.mean()
    assert codes[:, 0].mean() == pytest.approx(centre, abs=0.05 * a.std())
    assert codes[:, 0].std() == pytest.approx(a.std(), rel=0.05)
    assert codes[:, 2].mean() == pytest.approx(data.codes(2).mean(), abs=0.01)
    r = np.corrcoef(codes[:, :2].T)[0, 1]
    assert (r > 0.8) if sampler == "correlated" else abs(r) < 0.1
    assert np.isin(codes[:, 0], a).all() == (sampler == "data")
    if sampler == "correlated":  # along curves between values that occur, never beyond them
        assert a.min() <= codes[:, 0].min()
        assert codes[:, 0].max() <= a.max()


def test_every_block_is_spread_evenly():
    data = Data.of(np.arange(1000.0)[:, None] * [1.0, 2.0])
    codes = next(iter(draw(Distributions.learn(data), data, data.take(np.array([0])), 20 * 50, "data", Run()))).codes
    for block in codes.reshape(BLOCKS, 50, 2):
        assert (np.sort(block[:, 0] // 20) == np.arange(50)).all()


def test_names_and_places_of_columns_do_not_matter():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(100, 3)), columns=list("abc"))

    def model(Z):
        return np.sin(3 * Z["a"]) + Z["b"] * Z["c"]

    one = explain(model, X, 0)
    other = explain(model, X[["c", "a", "b"]], 0)
    np.testing.assert_allclose(other.weights[0], one.weights[0, [2, 0, 1]], rtol=1e-9)


# -- how far it holds --------------------------------------------------------------------------------------------


def test_the_radius_is_where_nine_in_ten_are_still_right():
    d = np.arange(1.0, 101.0)
    missed = (d > 50).astype(float)[:, None]
    assert radius_of(d, missed, np.array([0.5])) == pytest.approx([55.0])  # 50 of 55 are nine in ten
    assert radius_of(d, np.ones((100, 1)), np.array([0.5])) == [0.0]
    assert radius_of(d, np.zeros((100, 1)), np.array([0.5])) == [100.0]


def test_ranges_end_where_the_model_bends():
    X = np.random.default_rng(0).uniform(-2, 2, size=(400, 2))
    found = explain(
        lambda X: np.maximum(X[:, 0], 0) * 4 + X[:, 1],
        X,
        {"x0": 1.0, "x1": 0.0},
        width=0.4,
        sampler="around",
        samples=20_000,
    )
    low, high = found.ranges[0, 0]
    assert -0.6 < low < 0.1
    assert high > 1.9
    assert found.ranges[0, 1] == pytest.approx([X[:, 1].min(), X[:, 1].max()])
    assert found.within[0] > 0
    assert found.radius[0] > 0.3


def test_constrained_weights_meet_both_ends():
    coalitions, weights = every_coalition(3)
    np.testing.assert_allclose(weights, [kernel(3, s) for s in coalitions.sum(axis=1)])
    assert kernel(4, np.array([1, 2, 3])).tolist() == pytest.approx([1 / 4, 1 / 8, 1 / 4])
    phi = constrained(coalitions * 1.0, coalitions @ [1.0, 2.0, 3.0], weights, np.ones(3, dtype=bool), 6.0)
    np.testing.assert_allclose(phi, [1, 2, 3])
    assert constrained(coalitions * 1.0, np.zeros(6), weights, np.zeros(3, dtype=bool), 0.0).tolist() == [0, 0, 0]


# -- the width -----------------------------------------------------------------------------------------------------


def test_the_chosen_width_sees_the_bend_that_the_default_does_not():
    """Near 1.6 the model falls; a wide neighbourhood says that it rises."""
    rng = np.random.default_rng(0)
    X = rng.normal(0, 3, size=(1000, 1))

    def model(X):
        x = X[:, 0]
        return np.where(x > 1, -x + 10 - 0.05 * x**2, (x + 2) ** 2)

    row = {"x0": 2.2}
    chosen, default = (explain(model, X, row, width=width, samples=5000) for width in ("auto", "default"))
    assert chosen.weights[0, 0] == pytest.approx(-1.22, abs=0.15)
    assert default.weights[0, 0] > 0
    assert chosen.width[0] < default.width[0]
    assert chosen.settings["why"].startswith("the best of ")


def test_widths_ascend_from_few_samples_to_nearly_all():
    found = explain(lambda X: np.sin(X).sum(axis=1), np.random.default_rng(0).normal(size=(300, 3)), 0)
    sizes = found.width_search.effective[0]
    assert all(a < b for a, b in pairwise(sizes))
    assert sizes[0] < 150
    assert sizes[-1] > 0.7 * 5000
    assert found.width[0] in found.width_search.widths[0]


def test_a_width_is_scored_by_fidelity_near_the_row_times_stability():
    two = np.array([[0.5, 0.7], [-1.0, 0.2]])
    nothing = np.zeros((2, 2))
    found = WidthFits(
        widths=np.array([1.0, 2.0]), effective=np.ones(2), near=two, fidelity=nothing, selection=nothing, stability=nothing,
        agreement=np.array([[1.0, 0.5], [1.0, 1.0]]), weights=nothing, spread=nothing,
    )  # fmt: skip
    np.testing.assert_allclose(found.score, [(0.5 + 0.35) / 2, (0.0 + 0.2) / 2])


def test_added_samples_do_not_move_the_width():
    X = np.random.default_rng(0).normal(size=(300, 8))

    def model(X):
        return X @ [1, 1, 0.99, 0.98, 0.97, 0.2, 0.2, 0.2] + np.sin(5 * X).sum(axis=1)

    loose, tight = (explain(model, X, 0, samples=200, features=3, tolerance=t) for t in (None, 0.01))
    assert tight.settings["samples"] > 200
    assert tight.width[0] == loose.width[0]


def test_widths_one_at_a_time_are_the_same():
    X, y, weights = problem(0, "correlated")
    widths = np.array([0.5, 1.0, 2.0])
    blocks = block_moments(X, y[:, None], weights ** (1 / widths[:, None]), 8)
    given = (
        np.concatenate([blocks, blocks[:1]]),
        widths,
        widths,
        np.eye(8)[:4] + 1.0,
        X.shape[1],
        Linear(3, "forward"),
    )
    together, apart = (fit_widths(*given, at_once=at_once) for at_once in (10**9, 1))
    for part in fields(together):
        np.testing.assert_allclose(getattr(apart, part.name), getattr(together, part.name), rtol=1e-9, atol=1e-12)
