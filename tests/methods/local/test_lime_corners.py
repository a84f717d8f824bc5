"""Odd rows, odd tables and odd options."""

import numpy as np
import pandas as pd
import pytest

import pellucid
from golden_files import masked
from methods.local.asking import explain, line, table, waves


@pytest.mark.parametrize(
    "kernel", [lambda d, w: 1.0, lambda d, w: np.nan * d, lambda d, w: np.exp(-d / w)[:-1], lambda d, w: np.inf + d]
)
def test_a_kernel_gives_a_finite_weight_for_each_distance(kernel):
    with pytest.raises(pellucid.InputError, match="weight for each distance"):
        explain(waves, table(), 0, kernel=kernel)


def test_what_a_kernel_puts_below_zero_counts_nothing():
    X = table(200, 2)
    one, other = (
        explain(lambda Z: Z[:, 0] ** 2, X, 0, kernel=kernel, width=1.5, samples=1000)
        for kernel in (lambda d, w: 1 - d / w, lambda d, w: np.maximum(1 - d / w, 0.0))
    )
    np.testing.assert_array_equal(one.weights, other.weights)
    assert one.effective[0] == other.effective[0] > 10


@pytest.mark.parametrize(
    "option",
    [
        {"space": "quartile"}, {"space": lambda Z: Z}, {"space": (lambda Z: Z, lambda Z: Z)}, {"sampler": "gaussian"},
        {"distance": "gower"}, {"width": 1.0}, {"tolerance": 0.1}, {"boundary": ("x0", "x1")},
    ],
    ids=lambda option: f"{next(iter(option))}",
)  # fmt: skip
def test_with_shapleys_kernel_what_has_no_meaning_is_refused(option):
    with pytest.raises(pellucid.InputError, match=f"kernel='shap'.*leave {next(iter(option))}= out"):
        explain(waves, table(), 0, kernel="shap", **option)


@pytest.mark.parametrize("edges", [[], [np.nan], ["high"], 3 + 2j])
def test_edges_that_are_no_values_are_named_as_such(edges):
    with pytest.raises(pellucid.InputError, match=r"space= .*edges for 'x0'"):
        explain(waves, table(), 0, space={"x0": edges})


def test_the_range_of_a_date_is_between_dates():
    days = pd.date_range("2024-01-01", periods=100)
    X = pd.DataFrame({"day": days, "x": np.arange(100.0) % 9})
    found = explain(lambda Z: 2.0 * (Z["day"] - pd.Timestamp("2024-01-01")).dt.days + Z["x"], X, 3)
    assert "day from 2024-01-01 to 2024-04-09" in found.text()
    np.testing.assert_allclose(found.ranges[0, 0], [19723, 19822])  # days since 1970


def test_of_one_feature_there_are_no_others(golden):
    X = np.random.default_rng(0).normal(size=(200, 1))
    golden("local", "one feature", masked(explain(lambda Z: np.exp(Z[:, 0]), X, 0).text()))
    golden("local", "two features", masked(explain(line([1.0, 2.0]), table(200, 2), 0).text()))


def test_what_has_no_weight_has_no_range(golden):
    text = explain(line([3.0, 0.0]), table(200, 2), 0).text()
    golden("local", "a straight line", masked(text))
    assert "x0 from" in text
    assert "x1 from" not in text
    assert "e-1" not in text  # rounding is not an interval


def test_a_width_at_which_nothing_counts_is_told(golden):
    narrow, wide = (explain(waves, table(), 0, width=width, checks=True) for width in (1e-6, 2.0))
    caveat = next(one for one in narrow.caveats if one.code == "nothing-near")
    assert narrow.effective[0] == 1.0
    assert caveat.value == pytest.approx(10.0)
    golden("caveats", "nothing-near: one sample", str(caveat))
    assert "nothing-near" not in {one.code for one in wide.caveats}


def test_a_row_far_outside_is_told_and_drawing_around_it_helps():
    X = np.random.default_rng(0).normal(size=(300, 2))
    row = {"x0": 30.0, "x1": -20.0}
    far, near = (
        explain(lambda Z: Z[:, 0] + Z[:, 1] ** 2, X, row, sampler=sampler, checks=True)
        for sampler in ("data", "around")
    )
    caveat = next(one for one in far.caveats if one.code == "local-miss")
    assert "sampler='around'" in caveat.advice
    np.testing.assert_allclose(near.weights[0], [1.0, -40.0], atol=0.3)
    assert "local-miss" not in {one.code for one in near.caveats}


NASTY = {
    "a constant column": (pd.DataFrame({"a": np.arange(50.0), "b": 1.0}), lambda Z: 2.0 * Z["a"]),
    "only a constant": (pd.DataFrame({"a": np.ones(50)}), lambda Z: Z["a"]),
    "one row": (pd.DataFrame({"a": [1.0], "b": [2.0]}), lambda Z: Z["a"]),
    "two rows": (pd.DataFrame({"a": [1.0, 2.0], "b": [2.0, 5.0]}), lambda Z: 2.0 * Z["a"] + 0.0 * Z["b"]),
    "a column of nothing": (pd.DataFrame({"a": np.arange(50.0), "b": np.nan}), lambda Z: 2.0 * Z["a"]),
    "flags": (pd.DataFrame({"a": [True, False] * 25, "b": [False] * 50}), lambda Z: 2.0 * Z["a"]),
    "a rare level": (
        pd.DataFrame({"a": np.arange(50.0), "b": ["u"] * 49 + ["v"]}), lambda Z: 2.0 * Z["a"] + 9.0 * (Z["b"] == "v"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("sampler", ["data", "gaussian", "around", "correlated"])
@pytest.mark.parametrize("name", NASTY)
def test_a_linear_model_of_a_nasty_table_is_met(name, sampler):
    X, model = NASTY[name]
    found = explain(model, X, 0, samples=400, sampler=sampler, features=99)
    np.testing.assert_allclose(found.local_prediction, found.prediction, atol=1e-8)
    varies = len(X) > 1 and X["a"].nunique() > 1
    assert found.weights[0, 0] == pytest.approx(2.0 if varies else 0.0, abs=1e-8)
    assert found.text()


def test_own_columns_and_maps_meet_every_sampler():
    for sampler in ("data", "gaussian", "around", "correlated"):
        for space in (lambda Z: Z, (lambda Z: 2 * Z, lambda Z: Z / 2)):
            found = explain(line([1.0, -2.0]), table(100, 2), 0, samples=400, sampler=sampler, space=space)
            factor = 2.0 if isinstance(space, tuple) else 1.0
            np.testing.assert_allclose(found.weights[0] * factor, [1.0, -2.0], atol=1e-8)


def test_a_local_model_that_misses_its_own_row_does_not_claim_to_reach_anywhere(golden):
    X = np.random.default_rng(0).normal(size=(300, 2))
    found = pellucid.Explainer(lambda X: 5.0 * (np.abs(X[:, 0]) < 0.1) + X[:, 0], X).lime(
        np.zeros(2), width=3.0, samples=2000
    )
    assert abs(found.residual[0]) > found.within[0]
    golden("local", "a local model that misses its own row", masked(found.text()))
