"""Worked examples on the bike rentals."""

import numpy as np
import pytest
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.ensemble import RandomForestRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVR

from pellucid import Explainer
from reference.category_order import classical_scaling_line, level_distances

BOOK = ["season", "holiday", "workingday", "weathersit", "temp", "hum", "windspeed", "days_since_2011"]
CATEGORIES = ["season", "yr", "mnth", "holiday", "weekday", "workingday", "weathersit"]


@pytest.fixture(scope="module")
def machine(bike):
    """A support vector machine on all features, with R's defaults."""
    X, y = bike
    encode = make_column_transformer(
        (OneHotEncoder(drop="first", sparse_output=False), CATEGORIES), remainder=StandardScaler()
    )
    width = encode.fit_transform(X).shape[1] + 1
    svm = make_pipeline(encode, SVR(C=1.0, gamma=1 / width, epsilon=0.1))
    return Explainer(TransformedTargetRegressor(svm, transformer=StandardScaler()).fit(X, y), X, y)


@pytest.fixture(scope="module")
def forest(bike):
    X, y = bike[0][BOOK], bike[1]
    encode = make_column_transformer((OneHotEncoder(sparse_output=False), BOOK[:4]), remainder="passthrough")
    model = make_pipeline(encode, RandomForestRegressor(40, min_samples_leaf=3, random_state=0)).fit(X, y)
    return Explainer(model, X, y)


def test_ex_12_temperature_most_and_holiday_least(machine):
    result = machine.importance(loss="mae", compare="ratio")
    assert result.top(1) == ["temp"]
    assert result.top(11)[-1] == "holiday"
    assert 2.0 < result.values.max() < 3.0
    assert result.values.min() == pytest.approx(1.0, abs=0.05)


def test_ex_32_partial_dependence(forest):
    temperature = forest.pdp("temp", at=[0, 5, 10, 15, 20, 25, 30]).values
    assert (np.diff(temperature[:5]) > 0).all()  # rises to 20 degrees
    assert abs(temperature[5] - temperature[4]) < 0.1 * np.ptp(temperature)  # flat
    assert temperature[6] < temperature[5] - 200  # and falls
    humidity = forest.pdp("hum", at=[40, 60, 70, 80, 90]).values
    assert abs(humidity[1] - humidity[0]) < 200
    assert (np.diff(humidity[1:]) < -100).all()  # more than 60% is too humid
    wind = forest.pdp("windspeed", at=[10, 20, 25, 30, 34]).values
    assert wind[0] - wind[2] > 250
    assert np.ptp(wind[2:]) < 30  # flat where there are hardly any days
    thin = forest.pdp("windspeed")
    assert (thin.counts[thin.grid > 29] < 5).all()  # which the chart shows, and words leave out


def test_ex_32_accumulated_local_effects(forest):
    temperature = forest.ale("temp")
    assert temperature.value(0) < temperature.value(10) < temperature.value(20)
    assert temperature.value(25) > temperature.value(28) > temperature.value(30)
    assert temperature.values.min() == pytest.approx(-1500, abs=300)
    assert temperature.values.max() == pytest.approx(800, abs=150)
    humidity = forest.ale("hum")
    assert humidity.value(60) > humidity.value(80) > humidity.value(90)


def test_ex_36_months_by_similarity(bike, machine):
    X, _ = bike
    effect = machine.ale("mnth")
    levels = sorted(set(X["mnth"]))
    nominal = [name in CATEGORIES for name in X]
    rows = X.to_numpy().tolist()
    j = list(X).index("mnth")
    line = classical_scaling_line(level_distances(rows, j, levels, nominal, [1.0] * len(rows)))
    by_line = [level for _, level in sorted(zip(line, levels, strict=True))]
    assert effect.grid.tolist() in (by_line, by_line[::-1])
    # The order follows the weather: cold months at one end, hot ones at the other.
    warmth = X.groupby("mnth")["temp"].mean()[effect.grid].to_numpy()
    assert abs(np.corrcoef(np.arange(12), warmth)[0, 1]) > 0.9
    assert set(effect.grid[np.argsort(effect.values)[:2]]) == {"NOV", "DEC"}
    calendar = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]
    by_calendar = machine.ale("mnth", order=calendar)
    assert by_calendar.grid.tolist() == calendar
    assert set(by_calendar.grid[np.argsort(by_calendar.values)[:2]]) == {"NOV", "DEC"}


def test_ex_36_thirty_degrees_and_eighty_percent(bike, machine):
    total = machine.ale(("temp", "hum"), total=True, bins=20)  # parts add up where their bins are the same
    one, other = (machine.ale(name, bins=20).value(at) for name, at in (("temp", 30), ("hum", 80)))
    parts = (one, other, machine.ale(("temp", "hum"), bins=20).value(30, 80))
    mean = machine.predictor(bike[0], len(bike[0])).mean()
    assert total.value(30, 80) == pytest.approx(mean + sum(parts))
    assert parts[0] > 300  # warm
    assert parts[1] < -200  # but humid
    assert 4000 < total.value(30, 80) < 5500
    # No day was like that, and the result says so.
    near = (bike[0]["temp"] > 27) & (bike[0]["hum"] > 72)
    assert near.sum() < 5
    assert "empty-cells" in {caveat.code for caveat in total.caveats}
