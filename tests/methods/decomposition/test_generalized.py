"""What must hold for generalised functional ANOVA: closed forms, exactness on grids, hierarchical orthogonality."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm, qmc

import pellucid
from pellucid import Explainer
from pellucid.data import Data
from pellucid.methods.decomposition.estimation.basis import contrasts
from pellucid.methods.decomposition.estimation.density import points_of
from pellucid.runner import Run
from reference.generalized_anova import generalized_parts, hats
from strategies import QUICK


def decompose(f, X, **options):
    given = {key: options.pop(key) for key in ("sample_weight", "random_state", "checks") if key in options}
    return Explainer(f, X, progress=False, **given).decompose(method="generalized", **options)


def parts_at(found, X):
    """Every component at the rows of a frame, by the names of its features."""
    values = found.explain(X).values
    return {names: values[:, k] for k, names in enumerate(found.sets)}


def normal(n, rho, seed=0):
    """Quasi-random rows of two normal features with correlation rho."""
    z = norm.ppf(qmc.Sobol(2, seed=np.random.default_rng(seed)).random(n))
    return pd.DataFrame({"a": z[:, 0], "b": rho * z[:, 0] + np.sqrt(1 - rho**2) * z[:, 1]})


def mixed(n, seed):
    """Correlated numbers, few whole numbers, categories, missing values, and uneven weights."""
    rng = np.random.default_rng(seed)
    a = rng.normal(size=n)
    X = pd.DataFrame(
        {
            "a": a,
            "b": 0.8 * a + 0.6 * rng.normal(size=n),
            "c": rng.integers(0, 4, n).astype(float),
            "d": np.where(a + rng.normal(size=n) > 0, "left", "right"),
        }
    )
    X.loc[rng.random(n) < 0.15, "b"] = np.nan
    return X, rng.integers(1, 4, n).astype(float)


def tangled(X):
    b = X["b"].fillna(1.5)
    return np.sin(2 * X["a"]) + X["a"] * b + X["c"] * (X["d"] == "left") + 0.3 * b * X["c"] * X["a"]


# -- the definition ----------------------------------------------------------------------------------


@given(st.integers(0, 10_000), st.integers(2, 3))
@settings(QUICK, max_examples=12)
def test_parts_are_those_of_the_regressions_written_out(seed, knots):
    X, weights = mixed(300, seed)
    found = decompose(tangled, X, grid=knots, sample_weight=weights)
    codes = X.assign(d=(X["d"] == "right").astype(float))
    points = [found.component(name).axes[0].points for name in "abcd"]
    mean, expected = generalized_parts(codes.to_numpy(), weights, tangled(X).to_numpy(), points)
    assert float(found.constant) == pytest.approx(mean)
    size = tangled(X).std()
    for (names, values), wanted in zip(parts_at(found, X).items(), expected.values(), strict=True):
        np.testing.assert_allclose(values, wanted, atol=1e-6 * size, err_msg=str(names))


@given(st.integers(0, 10_000), st.sampled_from([None, 3, 5]), st.sampled_from([2, 3]))
@QUICK
def test_no_part_holds_what_fewer_features_can_say(seed, grid, order):
    X, weights = mixed(200, seed)
    found = decompose(tangled, X, grid=grid, order=order, sample_weight=weights)
    codes = X.assign(d=(X["d"] == "right").astype(float))
    share, size = weights / weights.sum(), tangled(X).std()
    for names, part in parts_at(found, X).items():
        assert abs(share @ part) < 1e-9 * size
        for name in names if len(names) > 1 else ():
            points = found.component(name).axes[0].points
            functions = np.array([hats(x, points) for x in codes[name]])
            np.testing.assert_allclose((share * part) @ functions, 0.0, atol=1e-9 * size)
    assert all(check.holds for check in found.checks)
    assert [check.name for check in found.checks] == ["zero means", "hierarchical orthogonality"]


@given(st.integers(0, 10_000))
@QUICK
def test_covariances_add_up_to_one_with_that_of_the_residual(seed):
    X, weights = mixed(200, seed)
    found = decompose(tangled, X, grid=3, sample_weight=weights)
    f = tangled(X).to_numpy()
    rest = f - found.predict(X)
    left = np.cov(rest, f, aweights=weights, ddof=0)
    assert found.covariance.sum() + left[0, 1] / left[1, 1] == pytest.approx(1)
    # The fit is least squares: nothing of what is left is correlated with what was found.
    assert found.covariance.sum() == pytest.approx(float(found.r2), abs=1e-6)


# -- closed forms ------------------------------------------------------------------------------------


def textbook(X):
    return 2 + np.exp(X["a"]) - X["b"] + X["a"] * X["b"]


@pytest.mark.parametrize("n", [5, 12])
def test_on_a_full_grid_the_parts_are_those_of_classical_anova(n):
    side = np.linspace(-1, 1, n)
    X = pd.DataFrame(list(itertools.product(side, side)), columns=["a", "b"])
    found = decompose(textbook, X, grid=n)
    table = textbook(X).to_numpy().reshape(n, n)
    mean, rows, columns = table.mean(), table.mean(axis=1), table.mean(axis=0)
    assert float(found.constant) == pytest.approx(mean)
    np.testing.assert_allclose(found.component("a").table[:, 0], rows - mean, atol=1e-6)
    np.testing.assert_allclose(found.component("b").table[:, 0], columns - mean, atol=1e-6)
    interaction = table - rows[:, None] - columns + mean
    np.testing.assert_allclose(found.component("a", "b").table[..., 0], interaction, atol=1e-6)
    np.testing.assert_allclose(found.values, found.covariance, atol=1e-6)
    assert found.values.sum() == pytest.approx(1)


@pytest.mark.parametrize("rho", [0.0, 0.5, -0.8])
def test_a_product_of_correlated_normals_has_square_main_effects(rho):
    """x1 + x2 + x1 x2: the part of x1 x2 that single features can say is rho / (1 + rho^2) (x1^2 + x2^2 - 2)."""
    X = normal(2**14, rho)
    found = decompose(lambda X: X["a"] + X["b"] + X["a"] * X["b"], X, grid=20)
    lift = rho / (1 + rho**2)
    parts = parts_at(found, X)
    assert float(found.constant) == pytest.approx(rho, abs=0.02)
    usual = (X["a"].abs() < 2) & (X["b"].abs() < 2)
    for name in "ab":
        x = X[name].to_numpy()
        off = parts[name,] - (x + lift * (x**2 - 1))
        assert np.sqrt(np.mean(off[usual] ** 2)) < 0.04
    off = parts["a", "b"] - (X["a"] * X["b"] - rho - lift * (X["a"] ** 2 + X["b"] ** 2 - 2))
    assert np.sqrt(np.mean(off[usual] ** 2)) < 0.05
    assert parts["a", "b"].var() == pytest.approx((1 - rho**2) ** 2 / (1 + rho**2), rel=0.05)
    total = 2 * (1 + rho) + 1 + rho**2
    np.testing.assert_allclose(found.values[:2], (1 + 2 * lift**2) / total, rtol=0.05)
    together = (1 + rho + 2 * lift**2 * (1 + rho**2)) / total
    np.testing.assert_allclose(found.covariance[:2], together, rtol=0.05)


def test_under_the_uniform_density_correlation_in_the_data_does_not_matter():
    rng = np.random.default_rng(0)
    a = rng.uniform(-1, 1, 2000)
    X = pd.DataFrame({"a": a, "b": np.clip(a + 0.1 * rng.normal(size=2000), -1, 1)})
    X.iloc[:2] = [[-1.0, -1.0], [1.0, 1.0]]
    found = decompose(textbook, X, density="uniform")
    assert float(found.constant) == pytest.approx(2 + np.sinh(1), abs=2e-3)
    np.testing.assert_allclose(found.values, [0.4931, 0.3802, 0.1267], atol=3e-3)
    np.testing.assert_allclose(found.covariance, found.values, atol=2e-3)
    assert (np.abs(found.values - [0.4931, 0.3802, 0.1267]) < 3 * found.se).all()
    assert "off-data" in {caveat.code for caveat in found.caveats}
    assert found.cost.model_rows == 2000 + 2**13


def test_three_features_have_a_part_of_their_own():
    X = pd.DataFrame(list(itertools.product([-1.0, 1.0], repeat=3)), columns=list("abc"))
    found = decompose(lambda X: X["a"] * X["b"] * X["c"] + 2 * X["a"], X, order=3, grid=2)
    shares = dict(zip(found.feature_names, found.values, strict=True))
    assert shares["a"] == pytest.approx(0.8)
    assert shares["a × b × c"] == pytest.approx(0.2)
    assert sum(shares.values()) == pytest.approx(1)
    np.testing.assert_allclose(found.predict(X), X["a"] * X["b"] * X["c"] + 2 * X["a"], atol=1e-6)


@pytest.mark.parametrize("density", ["data", "uniform", "support"])
def test_an_additive_model_comes_out_as_its_own_terms(density):
    X = normal(2048, 0.7)
    found = decompose(lambda X: 3 * X["a"] - 2 * X["b"], X, density=density)
    for name, slope in (("a", 3.0), ("b", -2.0)):
        axis, table = found.component(name).axes[0], found.component(name).table[:, 0]
        np.testing.assert_allclose(np.diff(table) / np.diff(axis.points), slope, atol=1e-3)
    assert found.values[2] < 1e-6
    assert float(found.r2) == pytest.approx(1, abs=1e-6)


def test_levels_and_missing_values_have_values_of_their_own():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"k": rng.choice(list("uvw"), 600), "x": rng.normal(size=600)})
    X.loc[::5, "x"] = np.nan
    effect = {"u": 1.0, "v": -2.0, "w": 4.0}
    found = decompose(lambda X: X["k"].map(effect) + X["x"].fillna(7.0), X)
    levels = found.component("k")
    assert levels.axes[0].kind == "levels"
    jumps = dict(zip(levels.axes[0].labels, levels.table[:, 0], strict=True))
    assert jumps["v"] - jumps["u"] == pytest.approx(-3, abs=1e-4)
    curve = found.component("x")
    assert curve.axes[0].missing
    at_zero = curve.at([np.array([0.0])])[0, 0]
    assert curve.table[-1, 0] - at_zero == pytest.approx(7, abs=1e-3)


# -- densities ---------------------------------------------------------------------------------------


def ring(n=1500):
    """Points in a ring: the middle and the corners of its square are empty."""
    rng = np.random.default_rng(0)
    angle, radius = rng.uniform(0, 2 * np.pi, n), rng.uniform(0.8, 1.0, n)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


def test_the_support_is_uniform_but_leaves_out_what_is_empty():
    data = Data.of(ring())
    points = points_of(data, "support", Run(seed=1))
    radius = np.hypot(points.codes(0), points.codes(1))
    assert radius.min() > 0.7
    assert radius.max() < 1.1
    assert len(points) == 2**13
    # Uniform over the ring: the share within r grows like the area.
    inside = (radius > 0.8) & (radius < 1.0)
    assert np.mean(radius[inside] < 0.9) == pytest.approx((0.81 - 0.64) / 0.36, abs=0.03)


def test_the_uniform_density_gives_every_level_and_whole_number_the_same_share():
    X = pd.DataFrame({"k": ["a"] * 90 + ["b"] * 9 + ["c"], "n": [1] * 95 + [2, 3, 4, 4, 4], "x": np.arange(100.0)})
    points = points_of(Data.of(X), "uniform", Run())
    np.testing.assert_allclose(np.bincount(points.codes(0).astype(int)) / len(points), 1 / 3, atol=2e-3)
    np.testing.assert_allclose(np.bincount(points.codes(1).astype(int))[1:] / len(points), 1 / 4, atol=2e-3)
    assert points.codes(2).min() >= 0
    assert points.codes(2).max() <= 99


def test_a_space_that_is_nearly_empty_is_refused():
    X = np.random.default_rng(0).normal(size=(300, 12))
    X[:, 1:] = X[:, :1] + 0.01 * X[:, 1:]
    with pytest.raises(pellucid.InputError, match=r"near the data.*density='data'"):
        decompose(lambda X: X[:, 0], X, density="support")


def test_many_rows_are_thinned():
    data = Data.of(normal(1024, 0.4))
    points = points_of(data, "data", Run(), most=300)
    assert len(points) == 300
    assert np.isin(points.codes(0), data.codes(0)).all()
    assert points_of(data, "data", Run()) is data


# -- corners -----------------------------------------------------------------------------------------


def test_rows_without_weight_do_not_count_and_weights_count_like_copies():
    X, weights = mixed(150, 3)
    weights[::4] = 0
    weighted = decompose(tangled, X, sample_weight=weights)
    repeated = X.loc[np.repeat(X.index, weights.astype(int))].reset_index(drop=True)
    copied = decompose(tangled, repeated)
    np.testing.assert_allclose(weighted.values, copied.values, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(weighted.predict(X), copied.predict(X), rtol=1e-8)


@pytest.mark.parametrize("method", ["generalized", "ale"])
def test_a_good_model_is_judged_by_all_rows_even_if_some_have_no_weight(method):
    X = normal(256, 0.5)
    weights = (np.arange(256) % 3 > 0).astype(float)
    f = X["a"] * X["b"]
    found = Explainer(lambda X: X["a"] * X["b"], X, f, sample_weight=weights, progress=False).decompose(method=method)
    assert "poor-model" not in {caveat.code for caveat in found.caveats}


def test_two_equal_columns_share_but_the_sum_is_right():
    x = np.random.default_rng(0).normal(size=400)
    found = decompose(lambda X: np.sin(X[:, 0]) + X[:, 1] ** 2, np.column_stack([x, x]))
    assert float(found.r2) > 0.999
    codes = {caveat.code: caveat for caveat in found.caveats}
    assert codes["mixed-effects"].value == pytest.approx(1, abs=1e-6)


def test_a_feature_that_two_others_give_together_is_mixed_with_these():
    """As the year and the month give the day: neither says anything of it alone."""
    rng = np.random.default_rng(0)
    a, b = rng.choice([-1.0, 1.0], (2, 400))
    X = pd.DataFrame({"a": a, "b": b, "c": a * b, "d": rng.normal(size=400)})
    found = decompose(lambda X: X["c"] + X["d"], X)
    (caveat,) = [caveat for caveat in found.caveats if caveat.code == "mixed-effects"]
    assert caveat.feature == "c"
    assert caveat.value == pytest.approx(1, abs=1e-6)


def test_many_columns_do_not_say_a_part_by_chance():
    X = np.random.default_rng(0).normal(size=(160, 17))
    found = decompose(lambda X: X[:, 0] * X[:, 1] + X[:, 2], X)
    assert found.settings["coefficients"] > 130
    assert "mixed-effects" not in {caveat.code for caveat in found.caveats}


def test_more_rows_allow_more_detail():
    steps = [decompose(lambda X: X["a"] * X["b"], normal(2**k, 0.3)).settings["steps"] for k in (5, 8, 12)]
    assert steps[0] < steps[1] < steps[2]


def test_a_fit_with_few_rows_says_that_it_is_too_good():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 6))
    found = decompose(lambda X: X[:, 0] * X[:, 1] * X[:, 2] * X[:, 3], X)
    (caveat,) = [caveat for caveat in found.caveats if caveat.code == "too-many-coefficients"]
    assert caveat.value > 0.02
    quiet = decompose(lambda X: X[:, 0] * X[:, 1], X)
    assert "too-many-coefficients" not in {caveat.code for caveat in quiet.caveats}


def test_a_fit_that_uses_up_all_rows_is_no_good_fit_but_one_of_all_combinations_is():
    X = np.random.default_rng(0).normal(size=(40, 4))
    found = decompose(lambda X: X[:, 0] * X[:, 1] * X[:, 2], X, grid=12)
    assert float(found.r2) == pytest.approx(1)
    (caveat,) = [caveat for caveat in found.caveats if caveat.code == "too-many-coefficients"]
    assert "nothing about other rows" in caveat.message
    full = np.array(list(itertools.product([0.0, 1.0, 2.0], repeat=2)) * 12)
    quiet = decompose(lambda X: X[:, 0] * X[:, 1], full, grid=3)
    assert "too-many-coefficients" not in {caveat.code for caveat in quiet.caveats}


@pytest.mark.parametrize("density", ["data", "uniform", "support"])
def test_odd_columns(density):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "x": rng.normal(size=80), "one": 3.0, "never": np.nan,
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 50, 80), "D"),
            "flag": rng.random(80) < 0.5,
        }
    )  # fmt: skip
    found = decompose(lambda X: X["x"] * X["flag"] + X["day"].dt.day_of_year, X, density=density)
    shares = dict(zip(found.feature_names, found.values, strict=True))
    assert shares["one"] == shares["never"] == shares["one × never"] == 0.0
    assert shares["day"] > 0.5
    assert float(found.r2) > 0.97


@pytest.mark.parametrize("n", [1, 2, 3])
def test_hardly_any_rows(n):
    X = np.arange(2.0 * n).reshape(n, 2) ** 2
    found = decompose(lambda X: X[:, 0] + 1.0, X)
    np.testing.assert_allclose(found.predict(X), X[:, 0] + 1.0, atol=1e-3)


def test_a_constant_prediction_has_no_parts():
    found = decompose(lambda X: np.full(len(X), 4.0), normal(64, 0.0))
    assert float(found.constant) == pytest.approx(4)
    assert not found.values.any()
    assert "4" in found.text().splitlines()[1]


def test_several_outputs_are_taken_apart_one_by_one():
    X = normal(256, 0.5)
    both = decompose(lambda X: np.column_stack([X["a"] * X["b"], X["a"]]), X, grid=5)
    assert both.values.shape == (3, 2)
    for k, f in enumerate((lambda X: X["a"] * X["b"], lambda X: X["a"])):
        alone = decompose(f, X, grid=5)
        np.testing.assert_allclose(both.values[:, k], alone.values, atol=1e-9)
        np.testing.assert_allclose(both.predict(X)[:, k], alone.predict(X), atol=1e-9)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"grid": 1}, "grid must be"),
        ({"grid": 2.5}, "grid must be"),
        ({"grid": True}, "grid must be"),
        ({"grid": 120}, "give fewer features .* a lower order or a smaller grid"),
        ({"density": "normal"}, "density='normal' is not known"),
    ],
)
def test_refusals_name_the_remedy(options, words):
    with pytest.raises(pellucid.InputError, match=words):
        decompose(lambda X: X["a"], normal(2**14, 0.0), **options)


@pytest.mark.parametrize("n", [2, 3, 7])
def test_contrasts_are_orthonormal_and_add_up_to_zero(n):
    matrix = contrasts(n)
    np.testing.assert_allclose(matrix.T @ matrix, np.eye(n - 1), atol=1e-12)
    np.testing.assert_allclose(matrix.sum(axis=0), 0, atol=1e-12)
