"""The simulator against its documentation, written out again one row at a time."""

import copy
import math
import pickle

import numpy as np
import pandas as pd
import pytest

from pellucid.datasets import Dataset, Simulation, simulate_bike
from pellucid.errors import InputError

COLUMNS = [
    "season",
    "workingday",
    "weather",
    "temp",
    "felt_temp",
    "humidity",
    "windspeed",
    "days_since_start",
    "moon_phase",
]


def documented_rentals(row):
    """The table in the docstring of `simulate_bike`, for one day."""
    rentals = 3400
    rentals += {"winter": -300, "spring": 0, "summer": 150, "fall": 250}[row["season"]]
    rentals += 100 if row["workingday"] else -250
    rentals += {"good": 0, "misty": -350, "bad": -1200}[row["weather"]]
    rentals += 2400 * math.exp(-(((row["temp"] - 20) / 14) ** 2))
    if row["humidity"] > 60:
        rentals -= 15 * (row["humidity"] - 60)
    rentals -= 10 * (12 if math.isnan(row["windspeed"]) else row["windspeed"])
    rentals += 3 * row["days_since_start"]
    return rentals - 20 * (row["workingday"] - 5 / 7) * (row["temp"] - 15)


@pytest.fixture(scope="module", params=[True, False], ids=["correlated", "independent"])
def days(request):
    return simulate_bike(n=20_000, seed=3, correlated=request.param)


def as_bytes(simulation):
    return simulation.frame.to_csv().encode()


def test_same_seed_same_bytes():
    first = simulate_bike(n=300, seed=5)
    assert as_bytes(first) == as_bytes(simulate_bike(n=300, seed=5))
    assert first.y.to_numpy().tobytes() == simulate_bike(n=300, seed=5).y.to_numpy().tobytes()
    assert as_bytes(first) != as_bytes(simulate_bike(n=300, seed=6))


def test_the_global_random_state_is_left_alone():
    state = np.random.get_state()[1].copy()  # noqa: NPY002 - the legacy state is what must not change
    simulate_bike(n=10)
    assert np.array_equal(state, np.random.get_state()[1])  # noqa: NPY002


def test_columns_and_types():
    days = simulate_bike(n=100)
    X, y = days
    assert isinstance(days, Simulation)
    assert isinstance(days, Dataset)
    assert list(X.columns) == COLUMNS == list(days.effects)
    assert list(days.frame.columns) == [*COLUMNS, "rentals"]
    assert list(X["season"].cat.categories) == ["winter", "spring", "summer", "fall"]
    assert not X["season"].cat.ordered
    assert list(X["weather"].cat.categories) == ["good", "misty", "bad"]
    assert X["weather"].cat.ordered
    assert X["workingday"].dtype == bool
    assert X["days_since_start"].dtype == "int64"
    assert (y.name, days.target, len(y)) == ("rentals", "rentals", 100)
    assert days.intercept == 3400
    assert repr(days) == "Simulation('simulate_bike': 100 rows, 9 features, target 'rentals')"


@pytest.mark.parametrize("correlated", [True, False])
def test_truth_is_the_documented_formula(correlated):
    days = simulate_bike(n=400, seed=2, correlated=correlated)
    expected = [documented_rentals(row) for row in days.X.to_dict("records")]
    np.testing.assert_allclose(days.truth(days.X), expected, rtol=1e-12)


def test_effects_add_up_to_truth(days):
    X = days.X
    total = days.intercept + sum(effect(X[name]) for name, effect in days.effects.items())
    assert list(days.interactions) == [("workingday", "temp")]
    total = total + days.interactions["workingday", "temp"](X["workingday"], X["temp"])
    np.testing.assert_allclose(days.truth(X), total, rtol=1e-12)


def test_target_is_truth_plus_gaussian_noise(days):
    residual = (days.y - days.truth(days.X)).to_numpy() / days.noise
    n = len(residual)
    assert days.noise == 250
    assert abs(residual.mean()) < 4 / math.sqrt(n)
    assert abs(residual.std() - 1) < 4 / math.sqrt(2 * n)
    assert abs((residual**4).mean() - 3) < 4 * math.sqrt(96 / n)
    assert abs(np.corrcoef(residual, days.truth(days.X))[0, 1]) < 4 / math.sqrt(n)


def test_noise_scales_and_vanishes():
    quiet, plain, loud = (simulate_bike(n=50, noise=noise) for noise in (0.0, 100.0, 200.0))
    np.testing.assert_array_equal(quiet.y, quiet.truth(quiet.X))
    np.testing.assert_allclose(loud.y - quiet.y, 2 * (plain.y - quiet.y), atol=1e-9)
    assert (plain.y - quiet.y).abs().min() > 0


def test_realistic_ranges(days):
    assert days.y.between(0, 9000).all()
    assert days.X["humidity"].between(0, 100).all()
    assert days.X["temp"].between(-20, 45).all()
    assert days.X["windspeed"].dropna().between(0, 90).all()
    assert (days.X["days_since_start"].min(), days.X["days_since_start"].max()) == (0, 727)
    assert days.X["temp"].mean() == pytest.approx(15, abs=4 * 9 / math.sqrt(20_000))
    assert days.X["workingday"].mean() == pytest.approx(5 / 7, abs=4 * 0.46 / math.sqrt(20_000))


def test_temp_rises_to_twenty_degrees_and_humidity_bends_at_sixty(days):
    temps = np.arange(-10, 41)
    curve = days.effects["temp"](temps)
    assert temps[curve.argmax()] == 20
    assert (np.diff(curve[temps <= 20]) > 0).all()
    assert (np.diff(curve[temps >= 20]) < 0).all()
    assert days.effects["humidity"]([0, 60, 61, 100]).tolist() == [0, 0, -15, -600]


@pytest.mark.parametrize(("n", "gaps"), [(1000, 40), (100, 4), (10, 0), (1, 0)])
def test_missing_share(n, gaps):
    for correlated in (True, False):
        missing = simulate_bike(n=n, correlated=correlated).X.isna().sum()
        assert missing.pop("windspeed") == gaps
        assert missing.sum() == 0


def numeric(X):
    coded = X.assign(season=X["season"].cat.codes, weather=X["weather"].cat.codes)
    return coded.astype("float64").fillna(12.0)


def test_correlated_features_are_related():
    related = numeric(simulate_bike(n=20_000, seed=3).X).corr()
    assert related.loc["temp", "felt_temp"] > 0.95
    assert related.loc["humidity", "weather"] > 0.5
    assert related.loc["windspeed", "weather"] > 0.1
    assert related.loc["moon_phase"].drop("moon_phase").abs().max() < 4 / math.sqrt(20_000)
    by_season = simulate_bike(n=20_000, seed=3).X.groupby("season", observed=True)["temp"].mean()
    assert by_season["summer"] - by_season["winter"] > 15


def test_independent_features_are_unrelated():
    X = simulate_bike(n=20_000, seed=3, correlated=False).X
    related = numeric(X).corr().to_numpy()
    assert np.abs(related - np.eye(len(COLUMNS))).max() < 4 / math.sqrt(20_000)
    by_season = X.groupby("season", observed=True)["temp"].mean()
    assert by_season.max() - by_season.min() < 1


def test_shuffling_keeps_the_values_and_types_of_each_column():
    related, shuffled = (simulate_bike(n=500, correlated=correlated).X for correlated in (True, False))
    assert related.dtypes.equals(shuffled.dtypes)
    for name in COLUMNS:
        in_order = [X[name].sort_values(ignore_index=True) for X in (related, shuffled)]
        pd.testing.assert_series_equal(*in_order)
        assert not related[name].equals(shuffled[name])


@pytest.mark.parametrize("name", ["temp", "humidity", "windspeed", "days_since_start", "workingday", "felt_temp"])
def test_partial_dependence_of_independent_features_is_the_effect(name):
    days = simulate_bike(n=4000, seed=8, correlated=False)
    grid = np.unique(days.X[name].dropna().quantile([0, 0.2, 0.4, 0.6, 0.8, 1], interpolation="nearest"))
    dependence = np.array([days.truth(days.X.assign(**{name: value})).mean() for value in grid])
    effect = days.effects[name](grid)
    np.testing.assert_allclose(dependence - dependence.mean(), effect - effect.mean(), atol=15)


def test_interaction_averages_to_zero_over_either_feature(days):
    interaction = days.interactions["workingday", "temp"]
    over_days = (5 * interaction([True], [30.0]) + 2 * interaction([False], [30.0])) / 7
    assert over_days == pytest.approx(0, abs=1e-9)
    assert interaction([True, False], [15.0, 15.0]).tolist() == [0, 0]


def test_survives_copy_and_pickle():
    days = simulate_bike(n=20)
    for other in (copy.deepcopy(days), pickle.loads(pickle.dumps(days))):
        np.testing.assert_array_equal(other.truth(other.X), days.truth(days.X))


def test_truth_names_a_missing_column():
    days = simulate_bike(n=5)
    with pytest.raises(InputError, match=r"'temp'.*'season'"):
        days.truth(days.X.drop(columns="temp"))


def test_truth_names_an_unknown_level():
    with pytest.raises(InputError, match=r"weather .*'mist'.*'misty'"):
        simulate_bike(n=5).effects["weather"](["good", "mist"])


@pytest.mark.parametrize(("argument", "least"), [("n", 1), ("seed", 0), ("noise", 0)])
def test_impossible_arguments(argument, least):
    with pytest.raises(InputError, match=rf"{argument} must .*at least {least}.*-1"):
        simulate_bike(**{argument: -1})
