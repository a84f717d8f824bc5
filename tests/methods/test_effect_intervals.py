"""Intervals of effects: what they are made of, and that table and chart show the same."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats as known
from scipy.optimize import brentq

from pellucid import Explainer
from pellucid.charts.effect.curve import curve_data
from pellucid.charts.effect.levels import level_data
from pellucid.stats import GroupMoments

RNG = np.random.default_rng(3)
X = np.column_stack([RNG.random(40), RNG.lognormal(0, 1, 40)])


def product(X):
    return X[:, 0] * X[:, 1]


def hall(value, se, tilt, freedom):
    """Where Hall's transformation of the t statistic reaches the ends of Student's interval, found by search."""

    def g(t):
        return t + tilt * (t**2 / 3 + 1 / 6) + tilt**2 * t**3 / 27

    end = known.t.ppf(0.975, freedom)
    above, below = (brentq(lambda t, side=side: g(t) - side * end, -1e3, 1e3, xtol=1e-13) for side in (1, -1))
    return value - max(end, above) * se, value + max(end, -below) * se


def test_the_interval_of_a_partial_dependence_is_that_of_a_skewed_mean():
    found = Explainer(product, X).pdp(0, at=[2.0])
    values = 2 * X[:, 1]
    expected = hall(values.mean(), known.sem(values), known.skew(values, bias=False) / np.sqrt(40), 39)
    assert (found.low[0], found.high[0]) == pytest.approx(expected, rel=1e-9)
    assert found.high[0] - found.values[0] > 1.2 * (found.values[0] - found.low[0])  # the tail is above


def test_individual_curves_have_no_interval_and_centred_ones_their_own():
    explainer = Explainer(product, X)
    for kind in ("individual", "both"):
        found = explainer.pdp(0, grid=4, kind=kind)
        assert np.isnan(found.low).all()
        assert found.high.shape == found.values.shape
    centred, whole = explainer.pdp(0, at=[0.0, 1.0], center=True), explainer.pdp(0, at=[1.0])
    assert centred.high == pytest.approx([0.0, whole.high[0]])


def test_the_moments_of_groups_are_free_of_bias():
    values, groups = RNG.lognormal(size=(30, 2)), np.repeat([0, 1, 3, 4], [2, 12, 15, 1])
    found = GroupMoments.of(groups, 5, values, np.ones(30))
    for group in (1, 3):
        some = values[groups == group]
        assert found.mean[group] == pytest.approx(some.mean(axis=0))
        assert found.sd[group] == pytest.approx(some.std(axis=0, ddof=1))
        assert found.third[group] == pytest.approx([known.kstat(column, 3) for column in some.T])
        assert found.skew[group] == pytest.approx(known.skew(some, bias=False))
    assert np.isnan(found.third[[0, 2, 4]]).all()
    assert np.isnan(found.sd[[2, 4]]).all()
    assert not found.skew[[0, 2, 4]].any()
    np.testing.assert_array_equal(found.size, [2, 12, 0, 15, 1])


def test_the_interval_of_an_accumulated_effect_by_hand():
    rows = X[:30][np.argsort(X[:30, 0])]
    edges = np.array([0.0, rows[9, 0], 1.0])
    found = Explainer(product, rows).ale(0, bins=edges.tolist())
    share, width, n = np.array([1, 2]) / 3, np.diff(edges), np.array([10, 20])
    changes = [width[0] * rows[:10, 1], width[1] * rows[10:, 1]]
    mean, variance, third = ([of(part) for part in changes] for of in (np.mean, lambda x: np.var(x, ddof=1), _third))
    centre = np.array([share[0] / 2 + share[1], share[1] / 2])
    derivative = np.array([[0, 0], [1, 0], [1, 1]]) - centre
    curve = derivative @ mean
    middles = (curve[1:] + curve[:-1]) / 2
    error = variance / n
    whole = derivative**2 @ error + share @ middles**2 / 30
    tilt = derivative**3 @ (third / n**2) / whole**1.5
    freedom = whole**2 / (derivative**4 @ (error**2 / (n - 1)))
    assert found.values == pytest.approx(curve)
    assert found.se == pytest.approx(np.sqrt(whole))
    ends = np.array([hall(*each) for each in zip(curve, np.sqrt(whole), tilt, freedom, strict=True)]).T
    np.testing.assert_allclose([found.low, found.high], ends, rtol=1e-9)


def _third(x):
    return known.kstat(x, 3)


def test_bins_of_few_rows_take_their_skewness_from_all():
    rows = X[np.argsort(X[:, 0])]
    found = Explainer(product, rows).ale(0, bins=[0.0, rows[1, 0], rows[20, 0], 1.0])
    assert np.isfinite(found.low).all()
    assert (found.low < found.values).all()
    assert (found.values < found.high).all()


@pytest.mark.parametrize("verb", ["pdp", "ale", "mplot"])
def test_table_and_chart_show_the_interval_of_the_result(verb):
    table = pd.DataFrame({"a": X[:, 0], "k": np.where(X[:, 0] > 0.5, "u", "v"), "b": X[:, 1]})
    explainer = Explainer(lambda X: X["a"] * X["b"] + (X["k"] == "u") * X["b"], table, checks=False)
    for feature, rows_of in (("a", curve_data), ("k", level_data)):
        found = getattr(explainer, verb)(feature)
        frame, drawn = found.frame(), rows_of(found)
        for end in ("low", "high"):
            np.testing.assert_array_equal(frame[end], getattr(found, end))
            seen = [row[end] for row in drawn]
            assert sorted(seen, key=str) == sorted(plain(getattr(found, end)), key=str)


def plain(values):
    return [None if np.isnan(value) else float(value) for value in values]


def test_the_whole_effect_of_a_pair_adds_up_the_doubt_of_its_parts():
    explainer = Explainer(product, X)
    alone, whole = (explainer.ale((0, 1), bins=3, total=total) for total in (False, True))
    assert (whole.high - whole.values >= alone.high - alone.values).all()
    assert (whole.values - whole.low >= alone.values - alone.low).all()
