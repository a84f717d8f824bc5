"""What must hold for a decomposition into accumulated local effects: it adds up, and its parts are pseudo-orthogonal."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pellucid
from pellucid import Explainer
from pellucid.data import Data
from pellucid.methods.decomposition.ale_parts import _refuse_too_dear
from strategies import QUICK


def decompose(f, X, **options):
    weights = options.pop("sample_weight", None)
    return Explainer(f, X, sample_weight=weights, progress=False).decompose(method="ale", **options)


def uniform(n, p, seed=0):
    return pd.DataFrame(np.random.default_rng(seed).uniform(size=(n, p)), columns=list("abcd")[:p])


def correlated(n, seed=0):
    rng = np.random.default_rng(seed)
    a = rng.normal(size=n)
    return pd.DataFrame({"a": a, "b": 0.9 * a + 0.4 * rng.normal(size=n), "c": rng.normal(size=n)})


def corners(found, *names):
    """Every combination of the edges of the bins."""
    edges = [found.component(name).axes[0].points for name in names]
    return pd.DataFrame(list(itertools.product(*edges)), columns=list(names))


def as_model(found, *names):
    """A component as a function of a frame."""
    component = found.component(*names)
    return lambda X: component.at([X[name].to_numpy() for name in names])[:, 0]


# -- adding up ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("grid", [2, 4, 7])
def test_two_features_add_up_to_the_function_at_every_corner(grid):
    def model(X):
        return 3 + X["a"] - 2 * X["b"] + 5 * X["a"] * X["b"]

    X = uniform(600, 2)
    found = decompose(model, X, grid=grid)
    at = corners(found, "a", "b")
    np.testing.assert_allclose(found.predict(at), model(at), atol=1e-10)
    np.testing.assert_allclose(found.predict(X), model(X), atol=1e-10)
    assert float(found.constant) == pytest.approx(model(X).mean())
    assert float(found.r2) == pytest.approx(1)


def test_three_features_add_up_with_parts_of_three():
    def model(X):
        return X["a"] * X["b"] * X["c"] * 8 + X["a"] * X["c"] - X["b"]

    X = uniform(800, 3)
    found = decompose(model, X, order=3, grid=3)
    at = corners(found, "a", "b", "c")
    np.testing.assert_allclose(found.predict(at), model(at), atol=1e-10)
    without = decompose(model, X, order=2, grid=3)
    assert float(without.r2) < 0.99


@QUICK
@given(seed=st.integers(0, 1000), n=st.integers(12, 200))
def test_what_parts_of_three_leave_is_held_by_those_of_two_even_with_few_rows(seed, n):
    """Pairs have coarser bins than single features where rows are few; a multilinear function still adds up."""
    b = np.random.default_rng(seed).normal(size=7)

    def model(X):
        x, y, z = (X[name] for name in "abc")
        return x * b[0] + y * b[1] + z * b[2] + x * y * b[3] + x * z * b[4] + y * z * b[5] + x * y * z * b[6]

    X = correlated(n, seed)
    found = decompose(model, X, order=3)
    np.testing.assert_allclose(found.predict(X), model(X), atol=1e-9)
    assert all(check.holds for check in found.checks)


def test_with_more_bins_the_parts_come_nearer_to_a_curved_function():
    def model(X):
        return np.exp(2 * X["a"]) * np.sin(3 * X["b"])

    X = uniform(20_000, 2)
    lost = [1 - float(decompose(model, X, grid=grid).r2) for grid in (4, 7, 13)]
    assert lost[1] < lost[0] / 6
    assert lost[2] < lost[1] / 6


def test_an_additive_model_comes_out_as_its_own_terms():
    X = correlated(500)
    found = decompose(lambda X: np.sin(X["a"]) + X["b"] ** 2 + (X["c"] > 0), X)
    for name, term in (("a", np.sin), ("b", np.square)):
        component = found.component(name)
        expected = term(component.axes[0].points)
        difference = component.table[:, 0] - expected
        np.testing.assert_allclose(difference, difference[0], atol=1e-9)
    for pair in itertools.combinations("abc", 2):
        np.testing.assert_allclose(found.component(*pair).table, 0, atol=1e-9)


def test_main_effects_are_the_curves_of_ale_centred_over_the_rows():
    X = correlated(400)

    def model(X):
        return X["a"] * X["b"] + np.exp(X["c"])

    found, explainer = decompose(model, X, grid=9), Explainer(model, X)
    for name in "abc":
        effect = explainer.ale(name, bins=8)
        component = found.component(name)
        np.testing.assert_allclose(component.axes[0].points, effect.grid)
        difference = component.table[:, 0] - effect.values
        np.testing.assert_allclose(difference, difference[0], atol=1e-10)
        assert as_model(found, name)(X).mean() == pytest.approx(0, abs=1e-10)


def test_the_joint_effect_is_that_of_ale_but_for_where_rows_stand_in_their_cells():
    X = uniform(3000, 3)
    X["b"] = (X["a"] + X["b"]) / 2

    def model(X):
        return np.sin(4 * X["a"]) * X["b"] + X["c"]

    found, effect = decompose(model, X, grid=11), Explainer(model, X).ale(("a", "b"), bins=10)
    assert np.ptp(effect.values) > 0.7
    np.testing.assert_allclose(found.component("a", "b").table[..., 0], effect.values, atol=0.03)


# -- pseudo-orthogonality ----------------------------------------------------------------------------


@given(st.integers(0, 10_000), st.sampled_from([None, 3, 7]))
@settings(QUICK, max_examples=15)
def test_effects_of_the_parts_themselves_are_the_parts_or_nothing(seed, grid):
    """H_S(H_S f) = H_S f, and H_U(H_S f) = 0 for other U: a component is a model, and `ale` explains it."""
    X = correlated(250, seed)
    found = decompose(lambda X: X["a"] * X["b"] ** 2 + np.sin(X["a"] * X["c"]), X, grid=grid)
    bins = len(found.component("a").axes[0].points) - 1
    assert all(check.holds for check in found.checks)
    for name in "abc":
        explainer = Explainer(as_model(found, name), X, checks=False)
        own = explainer.ale(name, bins=bins).values - found.component(name).table[:, 0]
        np.testing.assert_allclose(own, own[0], atol=1e-9)
        other = "b" if name != "b" else "c"
        np.testing.assert_allclose(explainer.ale(other, bins=bins).values, 0, atol=1e-9)
        np.testing.assert_allclose(explainer.ale((name, other), bins=bins).values, 0, atol=1e-9)
    for pair in itertools.combinations("abc", 2):
        explainer = Explainer(as_model(found, *pair), X, checks=False)
        for name in "abc":
            np.testing.assert_allclose(explainer.ale(name, bins=bins).values, 0, atol=1e-9)


@given(st.integers(0, 10_000))
@settings(QUICK, max_examples=10)
def test_a_decomposition_of_a_pair_is_that_pair(seed):
    X = correlated(250, seed)
    found = decompose(lambda X: X["a"] * X["b"] ** 2, X, grid=4, features=["a", "b"])
    again = decompose(as_model(found, "a", "b"), X, grid=4, features=["a", "b"])
    np.testing.assert_allclose(again.component("a", "b").table, found.component("a", "b").table, atol=1e-9)
    for name in "ab":
        np.testing.assert_allclose(again.component(name).table, 0, atol=1e-9)


def test_parts_of_three_have_no_effects_of_one_or_two():
    X = correlated(600)
    found = decompose(lambda X: X["a"] * X["b"] * X["c"], X, order=3, grid=4)
    explainer = Explainer(as_model(found, "a", "b", "c"), X, checks=False)
    for name in "abc":
        np.testing.assert_allclose(explainer.ale(name, bins=3).values, 0, atol=1e-9)
    assert [check.name for check in found.checks] == ["parts are kept", "no foreign effects"]
    assert all(check.holds for check in found.checks)


# -- levels, missing values, weights -----------------------------------------------------------------


def test_categories_stand_in_the_order_that_ale_gives_them():
    rng = np.random.default_rng(0)
    level = rng.integers(0, 4, 500)
    names = np.array(["north", "east", "south", "west"])
    X = pd.DataFrame({"x": level * 1.5 + rng.normal(size=500), "k": names[[2, 0, 3, 1]][level]})

    def model(X):
        return X["x"] * X["k"].map({"north": 1.0, "east": -1.0, "south": 2.0, "west": 0.0})

    found = decompose(model, X, grid=6)
    axis = found.component("k").axes[0]
    assert axis.kind == "levels"
    assert axis.labels == [str(level) for level in Explainer(model, X).ale("k").grid]
    assert float(found.r2) > 0.98
    np.testing.assert_allclose(found.predict(X.iloc[:5]), model(X.iloc[:5]), atol=2.0)


def test_how_an_effect_differs_where_another_feature_is_missing_belongs_to_both():
    X = uniform(2000, 2)
    X.loc[::4, "b"] = np.nan

    def model(X):
        return X["a"] * X["b"].fillna(7.0) + 10 * X["b"].isna()

    found = decompose(model, X, grid=4)
    np.testing.assert_allclose(found.predict(X), model(X), atol=1e-9)
    assert float(found.r2) == pytest.approx(1)
    part = found.component("a", "b")
    slope_all = np.diff(found.component("a").table[:, 0])
    slope_gone = np.diff(part.table[:, -1, 0])
    np.testing.assert_allclose(slope_all + slope_gone, 7 * np.diff(part.axes[0].points), atol=1e-9)
    # Over all rows the pair has no effect of a alone: what it adds where b is known and where it is missing cancels.
    explainer = Explainer(as_model(found, "a", "b"), X, checks=False)
    np.testing.assert_allclose(explainer.ale("a", bins=3).values, 0, atol=1e-9)


def test_rows_without_weight_do_not_count_and_weights_count_like_copies():
    X = correlated(200).assign(k=np.random.default_rng(1).choice(list("uvw"), 200))
    X.loc[::7, "c"] = np.nan
    weights = np.random.default_rng(2).integers(0, 3, 200).astype(float)

    def model(X):
        return X["a"] * X["b"] + X["c"].fillna(2.0) * (X["k"] == "u")

    weighted = decompose(model, X, sample_weight=weights)
    copied = decompose(model, X.loc[np.repeat(X.index, weights.astype(int))].reset_index(drop=True))
    np.testing.assert_allclose(weighted.values, copied.values, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(weighted.predict(X), copied.predict(X), rtol=1e-9, atol=1e-9)


def test_odd_columns():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "x": rng.normal(size=120), "one": 3.0, "never": np.nan,
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 50, 120), "D"),
            "flag": rng.random(120) < 0.5,
        }
    )  # fmt: skip
    found = decompose(lambda X: X["x"] * X["flag"] + X["day"].dt.day_of_year, X, order=3)
    shares = dict(zip(found.feature_names, found.values, strict=True))
    assert shares["one"] == shares["never"] == shares["one × never"] == 0.0
    assert shares["day"] > 0.5
    assert float(found.r2) > 0.97


@pytest.mark.parametrize("n", [1, 2, 3])
def test_hardly_any_rows(n):
    X = np.arange(2.0 * n).reshape(n, 2) ** 2
    found = decompose(lambda X: X[:, 0] + 1.0, X)
    np.testing.assert_allclose(found.predict(X), X[:, 0] + 1.0, atol=1e-9)


def test_two_features_that_are_never_known_together():
    X = uniform(100, 2)
    X.loc[:49, "a"] = np.nan
    X.loc[50:, "b"] = np.nan
    found = decompose(lambda X: X["a"].fillna(3.0) + 2 * X["b"].fillna(0.0), X)
    np.testing.assert_allclose(found.predict(X), X["a"].fillna(3.0) + 2 * X["b"].fillna(0.0), atol=1e-9)


def test_several_outputs():
    X = correlated(150)
    both = decompose(lambda X: np.column_stack([X["a"] * X["b"], X["c"]]), X)
    alone = decompose(lambda X: X["a"] * X["b"], X)
    assert both.values.shape == (6, 2)
    np.testing.assert_allclose(both.values[:, 0], alone.values, atol=1e-12)


def test_empty_cells_are_counted():
    X = correlated(400)
    X["b"] = X["a"] + 0.01 * X["b"]
    found = decompose(lambda X: X["a"] * X["b"], X, grid=8, features=["a", "b"])
    (caveat,) = [caveat for caveat in found.caveats if caveat.code == "empty-cells"]
    assert caveat.value > 0.6
    assert caveat.feature == "a and b"
    quiet = decompose(lambda X: X["a"] * X["b"], uniform(1000, 2))
    assert "empty-cells" not in {caveat.code for caveat in quiet.caveats}


@pytest.mark.parametrize(
    ("options", "words"), [({"grid": 1}, "grid must be"), ({"density": "uniform"}, "density='uniform'")]
)
def test_refusals_name_the_remedy(options, words):
    with pytest.raises(pellucid.InputError, match=words):
        decompose(lambda X: X["a"], uniform(50, 2), **options)


def test_work_without_end_is_refused():
    data = Data.of(uniform(100, 2))
    with pytest.raises(pellucid.InputError, match=r"3 parts .*800 .*fewer features"):
        _refuse_too_dear(data, [(0,), (1,), (0, 1)], most=500)
    assert _refuse_too_dear(data, [(0,), (1,), (0, 1)]) is None
