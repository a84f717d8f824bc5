"""Worked examples of local models."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from pellucid import Explainer
from pellucid.data.distance import exponential
from pellucid.methods.local.lime import lime
from pellucid.methods.local.surrogate.fitting import Linear, block_moments, combined, fit
from pellucid.stats import effective_sizes
from reference.r_random import RRandom

BOOK = ["season", "holiday", "workingday", "weathersit", "temp", "hum", "windspeed", "days_since_2011"]


def asked(ex, row, **options):
    return lime(ex.predictor, ex.data, row, run=ex._run("lime"), **options)


def bent(x):
    return np.where(x > 1, -x + 10 - 0.05 * x**2, (x + 2) ** 2)


@pytest.mark.parametrize(("width", "slope", "size"), [(0.1, -1.1604, 4.8), (0.75, -0.0082, 43), (2, 1.0176, 106)])
def test_ex_14_the_width_decides_the_sign(width, slope, size):
    """set.seed(42); 200 numbers N(0, 3), not below -5; the line around 1.6."""
    x = np.maximum(RRandom(42).rnorm(200, 0, 3), -5)
    weights = exponential(np.abs(x - 1.6), width)
    moments = block_moments((x - 1.6)[:, None], bent(x)[:, None], weights[None], 1)
    found = fit(combined(moments[0], np.ones((1, 1)), 1), Linear(1, "all"))
    assert found.weights[0, 0, 0] == pytest.approx(slope, abs=5e-5)
    assert effective_sizes(weights[None])[0] == pytest.approx(size, rel=0.01)
    assert bent(np.array([1.6]))[0] == pytest.approx(8.272)


def test_ex_14_the_width_search_shows_it():
    x = np.maximum(RRandom(42).rnorm(200, 0, 3), -5)
    found = asked(Explainer(lambda X: bent(X[:, 0]), x[:, None]), {"x0": 1.6})
    assert found.width_search.weights[0, 0, 0] < 0 < found.width_search.weights[0, -1, 0]
    caveat = next(one for one in found.caveats if one.code == "width-decides")
    assert caveat.value == 1.0


def test_ex_16_the_local_boundary_runs_along_the_models_own():
    """Two features, a forest, the row (1, -0.5), 500 normal samples, width 0.15 sqrt(2) of raw distances, weighted logistic."""
    rng = np.random.default_rng(42)
    X = pd.DataFrame({"x1": rng.uniform(-2, 2, 4000), "x2": rng.uniform(-2, 1, 4000)})
    y = (X["x1"] > -1) & (X["x2"] < 0.5 * X["x1"] + rng.normal(0, 0.01, 4000) - 0.9)
    forest = RandomForestClassifier(30, min_samples_leaf=2, random_state=0).fit(X, y)
    ex = Explainer(forest, X)
    found = asked(
        ex, {"x1": 1.0, "x2": -0.5}, samples=500, sampler="gaussian", width=0.15 * np.sqrt(2), model="logistic",
        boundary=("x1", "x2"),
    )  # fmt: skip
    part = found.boundary
    assert part.level == 0.5
    a, b = found.weights[0]
    assert -a / b == pytest.approx(0.5, abs=0.25)  # the slope of the boundary
    row = found.local_prediction[0]
    crossing = -0.5 - row / b  # where the local boundary passes x1 = 1
    assert crossing == pytest.approx(0.5 - 0.9, abs=0.12)
    assert part.counts.max() <= 1.0
    assert (part.counts > 0.01).mean() < 0.3


def test_ex_37_warm_and_good_weather_are_positive(bike):
    """A forest of 100 trees; rows 295 and 8, counted from one; two features."""
    X, y = bike[0][BOOK], bike[1]
    encode = make_column_transformer((OneHotEncoder(sparse_output=False), BOOK[:4]), remainder="passthrough")
    ex = Explainer(make_pipeline(encode, RandomForestRegressor(100, random_state=0)).fit(X, y), X, y)
    found = asked(ex, [294, 7], features=2)
    assert [len(names) for names in found.selected] == [2, 2]
    temp = found.terms.index("temp")
    assert (found.weights[:, temp] > 50).all()  # bikes per degree
    assert found.values[0, temp] > found.values[1, temp] + 500  # the first day is warm, the second cold
    weather = asked(ex, [294], features=8)
    assert X["weathersit"].iloc[294] == "GOOD"
    assert weather.values[0, weather.terms.index("weathersit")] > 0
    assert (asked(ex, range(12)).stability > 0.95).all()
