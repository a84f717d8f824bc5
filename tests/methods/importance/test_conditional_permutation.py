"""Conditional permutation importance: closed forms, copies, and what the draws must keep."""

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pellucid
from limits import limited
from pellucid import Explainer
from pellucid.data import Data
from pellucid.data.sampling.column_draws import _place, donors
from pellucid.diagnostics.correlated import fixed_share
from pellucid.diagnostics.off_data import draws_off_data
from pellucid.methods.importance.conditional_permutation import _rows as rows_asked
from pellucid.runner import Run

COVARIANCE = np.array([[1.0, 0.8, 0.3], [0.8, 1.0, 0.2], [0.3, 0.2, 1.0]])
SLOPES = np.array([1.0, 2.0, -1.0])
CLOSED_FORM = 2 * SLOPES**2 / np.diag(np.linalg.inv(COVARIANCE))


def linear(X):
    return np.asarray(X)[:, :3].astype(float) @ SLOPES


def normal(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.multivariate_normal(np.zeros(3), COVARIANCE, n)
    return X, X @ SLOPES + rng.normal(size=n)


def conditional(model, X, y=None, *, explainer=None, **options):
    return Explainer(model, X, y, checks=False, **(explainer or {})).importance(method="conditional", **options)


def test_a_linear_model_of_normal_features_has_a_closed_form():
    # With x' drawn given the others and independent of x, E (b (x - x'))^2 = 2 b^2 Var(x_j | x_-j).
    found = conditional(linear, *normal(1000), repeats=10)
    np.testing.assert_allclose(found.values, CLOSED_FORM, rtol=0.12)
    assert (np.abs(found.values - CLOSED_FORM) < 5 * found.se).all()
    assert found.settings["conditional"] == "copula"


def test_it_has_the_closed_form_also_beside_categories_and_with_few_given_columns():
    X, y = normal(600)
    table = pd.DataFrame(X, columns=["a", "b", "c"]).assign(side=np.random.default_rng(1).choice(["u", "v"], 600))
    beside = conditional(linear, table, y)
    assert beside.settings["conditional"] == "copula"
    assert (np.abs(beside.values[:3] - CLOSED_FORM) < 3 * beside.se[:3]).all()
    assert beside.values[3] == 0.0
    wide = np.column_stack([X[:200], np.random.default_rng(2).normal(size=(200, 38))])  # 15 of them are given
    few = conditional(linear, wide, y[:200], explainer={"groups": {"noise": list(range(3, 41))}})
    assert (np.abs(few.values[:3] - CLOSED_FORM) < 4 * few.se[:3]).all()
    assert few.feature_names[3] == "noise"
    assert few.values[3] == 0.0


def test_few_rows_of_many_columns_are_not_drawn_as_they_are():
    # With a kernel column for every row a regression can go through all of them: it is no judge of itself then.
    X, y = normal(150)
    wide = np.column_stack([X, np.random.default_rng(2).normal(size=(150, 38))])
    found = conditional(linear, wide, y, explainer={"groups": {"noise": list(range(3, 41))}})
    assert (np.abs(found.values[:3] - CLOSED_FORM) < 4 * found.se[:3]).all()


def test_a_copy_has_no_importance_given_the_other_but_by_permutation_it_has():
    X, y = normal(150)
    X = np.column_stack([X[:, 0], X[:, 0], X[:, 2]])
    y = linear(X)
    marginal = Explainer(linear, X, y).importance(loss="mse").values
    assert (marginal[:2] > 1.5).all()
    assert (conditional(linear, X, y).values[:2] < 0.001 * marginal[:2]).all()
    table = pd.DataFrame(X, columns=["a", "b", "c"]).assign(side=np.where(np.arange(150) % 2, "u", "v"))
    assert (conditional(linear, table, y).values[:2] < 0.1 * marginal[:2]).all()


def test_independent_features_have_their_permutation_importance():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=400), rng.exponential(size=400), rng.integers(0, 4, 400)])
    y = X @ [1.0, 2.0, 0.5] + rng.normal(size=400)
    ex = Explainer(lambda X: X @ [1.0, 2.0, 0.5], X, y, checks=False)
    marginal = ex.importance(scheme="pairs")
    given = ex.importance(method="conditional", repeats=10)
    assert (np.abs(given.values - marginal.values) < 4 * np.hypot(given.se, marginal.se)).all()


def test_a_parabola_is_seen():
    x = np.random.default_rng(0).normal(size=1000)
    X = np.column_stack([x, x**2 + 0.05 * np.random.default_rng(1).normal(size=1000)])
    ex = Explainer(lambda X: X.sum(axis=1), X, X.sum(axis=1), checks=False)
    given = ex.importance(method="conditional")
    assert "kernel ridge" in given.settings["conditional"]
    assert given.values[1] < 0.1 * ex.importance(scheme="pairs").values[1]
    assert given.values[0] > 1.5  # x squared leaves the sign of x open


def test_a_category_that_another_determines_and_missing_values():
    rng = np.random.default_rng(0)
    size = rng.normal(size=600)
    table = pd.DataFrame({"size": size, "class": np.where(size > 0, "large", "small"), "free": rng.normal(size=600)})
    table.loc[::7, "free"] = np.nan

    def model(X):
        return 3.0 * (X["class"] == "large").to_numpy() + X["free"].fillna(5.0).to_numpy()

    ex = Explainer(model, table, model(table), checks=False)
    given, marginal = ex.importance(method="conditional"), ex.importance(scheme="pairs")
    assert given.values[1] < 0.1 * marginal.values[1]
    assert given.values[2] == pytest.approx(marginal.values[2], rel=0.25)


@given(seed=st.integers(0, 10_000), members=st.integers(1, 2), few=st.booleans())
@settings(max_examples=20, deadline=None)
def test_a_drawn_value_is_that_of_the_row_which_stands_where_it_does(seed, members, few):
    rng = np.random.default_rng(seed)
    shift = rng.normal(size=(30, 1, 1))
    own, drawn, likely = (shift + rng.normal(size=(30, draws, members)) for draws in (1, 3, 50))
    if few:
        own, drawn, likely = (np.round(part) for part in (own, drawn, likely))
    own[0], drawn[1, 0] = np.nan, np.nan
    places = [_place(value, likely, rng) for value in (own[:, 0], *np.moveaxis(drawn, 1, 0))]
    found = donors(places[0], places[1:])
    assert (np.sort(found, axis=1) == np.arange(30)).all()  # in every repeat each row gives once
    assert all(
        (np.diff(place[np.argsort(places[0][line])]) >= 0).all() for line, place in zip(found, places[1:], strict=True)
    )


def test_an_interval_counts_that_the_draws_were_learned_from_the_same_rows():
    # x0 alone, normal: the value is the mean of (x - x')^2, twice the variance, whose standard error is sqrt(8 / n).
    X = np.random.default_rng(5).normal(size=(600, 1))
    found = conditional(lambda X: X[:, 0], X, X[:, 0])
    assert found.settings["interval"] == "population"
    assert found.se[0] == pytest.approx(np.sqrt(8 / 600), rel=0.2)


def test_a_group_is_drawn_together():
    X, _ = normal(800)
    X = np.column_stack([X[:, 0], X[:, 0], X[:, 2]])
    X[:, 2] = np.random.default_rng(3).normal(size=800)
    groups = {"twins": [0, 1]}
    ex = Explainer(lambda X: X[:, 0] + X[:, 1] + X[:, 2], X, X.sum(axis=1), groups=groups, checks=False)
    given, marginal = ex.importance(method="conditional", repeats=10), ex.importance(scheme="pairs")
    assert given.feature_names == ("twins", "x2")
    assert given.members == (("x0", "x1"), ("x2",))
    np.testing.assert_allclose(given.values, marginal.values, rtol=0.12)


def test_an_importance_that_a_few_rows_carry_is_called_so():
    # E (x0 x1)^2 rests on x0^6: a sample of 300 has a part of it.
    x = np.random.default_rng(6).normal(size=300)
    X = np.column_stack([x, x**2 + 0.3 * np.random.default_rng(7).normal(size=300)])
    for model, said in ((lambda X: X[:, 0] * X[:, 1], {"x0"}), (lambda X: X[:, 1], set())):
        found = Explainer(model, X, model(X)).importance(method="conditional")
        carried = {caveat.feature: caveat.value for caveat in found.caveats if caveat.code == "few-carry-all"}
        assert set(carried) == said
        assert all(value == found.settings["carried"][name] for name, value in carried.items())


def test_a_group_is_drawn_along_curves():
    # Given x0 and x2, x1 = x0^2 + noise and x3 = x2^2 + noise keep their noise; x0 and x1 stay together.
    rng = np.random.default_rng(6)
    x, z = rng.normal(size=(2, 300))
    X = np.column_stack([x, x**2 + 0.3 * rng.normal(size=300), z, z**2 + 0.3 * rng.normal(size=300)])
    for group, model, truth in (
        ([1, 3], lambda X: X[:, 1] + X[:, 3], 2 * 2 * 0.09),
        ([0, 1], lambda X: X[:, 1] - X[:, 0] ** 2, 2 * 0.09),
    ):
        rest = [j for j in range(4) if j not in group]
        found = conditional(model, X, model(X), explainer={"groups": {"together": group, "rest": rest}})
        assert "curves" in found.settings["conditional"]
        assert found.settings["gain"]["together"] > 1
        assert found.values[list(found.feature_names).index("together")] == pytest.approx(truth, rel=0.25)
        assert found.settings["missed"]["together"] < 0.25


def test_an_only_feature_is_permuted():
    X = np.random.default_rng(0).normal(size=(500, 1))
    found = conditional(lambda X: X[:, 0], X, X[:, 0], repeats=10)
    assert found.values[0] == pytest.approx(2 * X.var(), rel=0.15)


def test_ratio_losses_and_no_outcome():
    X, y = normal(100)
    difference = conditional(linear, X, y)
    ratio = conditional(linear, X, y, compare="ratio")
    np.testing.assert_allclose(ratio.values, 1 + difference.values / difference.baseline)
    assert (ratio.low < ratio.values).all()
    absolute = conditional(linear, X, y, loss="rmse")
    assert absolute.measure == "rmse"
    assert (absolute.high - absolute.values > 1.96 * absolute.se).all()  # five repeats: Student's t
    without = conditional(linear, X)
    assert without.measure == "share of prediction variance"
    np.testing.assert_allclose(without.values, conditional(linear, X, y, loss="variance").values)


def test_rows_without_weight_say_nothing():
    X, y = normal(300)
    odd = np.column_stack([np.full(200, 50.0), np.full(200, -50.0), np.arange(200.0)])
    weights = np.r_[np.ones(300), np.zeros(200)]
    found = conditional(
        linear, np.vstack([X, odd]), np.r_[y, np.zeros(200)], explainer={"sample_weight": weights}, repeats=10
    )
    np.testing.assert_allclose(found.values, conditional(linear, X, y, repeats=10).values, rtol=0.1)


@pytest.mark.parametrize(("shape", "asked"), [((6000, 3), 5000), ((300, 500), 200), ((300, 3), 300)])
def test_of_a_large_table_some_rows_that_count_are_asked(shape, asked):
    weights = np.ones(shape[0])
    weights[:50] = shape == (300, 3)
    found = rows_asked(Data.of(np.zeros(shape), sample_weight=weights), Run(seed=0))
    assert len(np.unique(found)) == len(found) == asked
    assert (weights[found] > 0).all()


def test_an_interruption_leaves_what_is_known():
    calls = []

    def model(X):
        calls.append(len(X))
        if len(calls) > 12:
            raise KeyboardInterrupt
        return linear(X)

    X, y = normal(100)
    found = limited(Explainer(model, X, y), batch_rows=100).importance(method="conditional")
    assert np.isfinite(found.repeats).any()
    assert np.isnan(found.repeats).any()
    assert "partial" in {caveat.code for caveat in found.caveats}


@pytest.mark.parametrize(
    ("options", "said"), [({"repeats": 0}, "repeats must be"), ({"compare": "sum"}, "compare='sum' is not known")]
)
def test_what_makes_no_sense_is_refused(options, said):
    with pytest.raises(pellucid.InputError, match=said):
        conditional(linear, *normal(50), **options)


def test_one_row_is_refused():
    with pytest.raises(pellucid.InputError, match="at least two rows"):
        conditional(linear, *normal(1))


# -- what the checks measure -------------------------------------------------------------------------


def test_fixed_share_is_one_for_the_same_values_and_none_for_any():
    rng = np.random.default_rng(0)
    x, weights = rng.normal(size=2000), np.ones(2000)
    assert fixed_share(x, x[None], weights, nominal=False) == pytest.approx(1)
    assert abs(fixed_share(x, rng.permutation(x)[None], weights, nominal=False)) < 0.08
    levels = rng.integers(0, 3, 2000).astype(float)
    assert fixed_share(levels, levels[None], weights, nominal=True) == 1
    assert abs(fixed_share(levels, rng.permutation(levels)[None], weights, nominal=True)) < 0.08
    assert fixed_share(np.ones(5), np.ones((2, 5)), np.ones(5), nominal=False) == 0
    assert fixed_share(np.full(5, np.nan), np.full((2, 5), np.nan), np.ones(5), nominal=False) == 0


def test_features_the_others_determine_are_named():
    X, y = normal(200)
    X[:, 1] = X[:, 0]
    codes = {c.code: c for c in Explainer(linear, X, y).importance(method="conditional").caveats}
    assert set(re.findall(r"x\d", codes["determined"].message)) == {"x0", "x1"}
    fine = Explainer(linear, *normal(200)).importance(method="conditional")
    assert not {"determined", "draws-off-data"} & {c.code for c in fine.caveats}


def test_draws_that_miss_a_circle_are_noticed_and_those_that_do_not_are_not():
    angle = np.random.default_rng(0).uniform(0, 2 * np.pi, 800)
    X = np.column_stack([np.cos(angle), np.sin(angle)])
    shuffled, strength = np.random.default_rng(1).permutation(X[:, 0]), np.ones((2, 2))
    assert [caveat.code for caveat in draws_off_data(Data.of(X), "x0", 0, shuffled, strength)] == ["draws-off-data"]
    codes = {c.code for c in Explainer(lambda X: X[:, 0], X).importance(method="conditional").caveats}
    assert "draws-off-data" not in codes
