"""Values drawn given the other columns: curves, categories, few values and missing ones; and what draws miss."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from pellucid.data import Data
from pellucid.data.sampling.conditional_draws import conditional_draws
from pellucid.data.sampling.missed import missed

N = 250


def drawn(table, j, repeats=5):
    data = Data.of(pd.DataFrame(table))
    generators = np.random.default_rng(0), np.random.default_rng(1)
    one = conditional_draws(data, {"it": (j,)}, np.arange(len(data)), generators, repeats).of["it"]
    return one, one.codes[..., 0]


def test_a_category_that_turns_a_slope_is_seen():
    rng = np.random.default_rng(0)
    c, x = rng.choice(["u", "v"], N), rng.normal(size=N)
    found, values = drawn({"x": x, "y": np.where(c == "u", x, -x) + 0.3 * rng.normal(size=N), "c": c}, 1)
    assert found.choice.name != "copula"
    for level, sign in (("u", 1), ("v", -1)):
        assert sign * np.corrcoef(x[c == level], values[0, c == level])[0, 1] > 0.85
    assert found.missed.association < 0.25


def test_values_are_missing_where_another_column_says_so():
    rng = np.random.default_rng(1)
    x = rng.normal(size=N)
    found, values = drawn({"x": x, "y": np.where(x > 0.5, np.nan, x**2 + 0.3 * rng.normal(size=N))}, 1)
    gone = np.isnan(values).mean(axis=0)
    assert gone[x > 0.7].mean() > 0.85
    assert gone[x < 0.3].mean() < 0.1
    low = x < -1.5  # far out on the parabola
    assert np.nanmean(values[:, low]) > 2.0
    assert (np.sort(found.donors, axis=1) == np.arange(N)).all()


@pytest.mark.parametrize("kind", ["integers", "ordered levels"])
def test_of_few_values_one_that_occurs_is_drawn(kind):
    rng = np.random.default_rng(2)
    x = rng.normal(size=N)
    few = np.clip(np.round(x + 0.5 * rng.normal(size=N)), -2, 2) * 3
    column = few.astype(int) if kind == "integers" else pd.Categorical(few, [-6.0, -3.0, 0.0, 3.0, 6.0], ordered=True)
    _, values = drawn({"x": x, "k": column}, 1)
    own = Data.of(pd.DataFrame({"k": column})).codes(0)
    assert set(np.unique(values)) <= set(np.unique(own))
    assert np.corrcoef(x, values.mean(axis=0))[0, 1] > 0.75


def test_the_place_of_a_value_says_what_was_missed():
    rng = np.random.default_rng(3)
    given, nominal, weights = rng.normal(size=(N, 2)), np.zeros(2, dtype=bool), np.ones(N)
    turned = 2 * np.abs(norm.cdf(given[:, 1] + 0.1 * rng.normal(size=N)) - 0.5)  # of given 1, but neither up nor down
    assert missed(rng.random(N), given, nominal, weights, rng).association < 0.25
    found = missed(turned, given, nominal, weights, rng)
    assert found.association > 0.8
    assert found.column == 1
    assert missed(turned, given[:, :0], nominal[:0], weights, rng).association == 0.0  # nothing is given
