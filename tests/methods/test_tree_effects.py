"""Effects that the trees answer are those that the model answers."""

import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.neighbors import KNeighborsRegressor

from limits import limited
from pellucid import Explainer


def bikes(n=400, seed=0):
    """Rentals by season, weather, temperature (sometimes missing), wind and hour."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "season": pd.Categorical(rng.choice(["spring", "summer", "autumn", "winter"], n)),
            "temperature": rng.normal(15, 8, n).round(1),
            "weather": pd.Categorical(rng.choice(["good", "misty", "bad"], n, p=[0.6, 0.3, 0.1])),
            "wind": rng.gamma(2, 5, n).round(1),
            "hour": rng.integers(0, 24, n),
        }
    )
    y = 200 * np.sin(X["hour"] / 4) + 9 * X["temperature"] * (X["weather"] == "good") - X["wind"]
    X.loc[rng.random(n) < 0.1, "temperature"] = np.nan
    return X, y.to_numpy() + rng.normal(0, 5, n)


def boosted(X, y):
    return HistGradientBoostingRegressor(max_iter=30, categorical_features="from_dtype", random_state=0).fit(X, y)


NUMBERS = ["temperature", "wind", "hour"]


def forest(X, y):
    return RandomForestRegressor(15, random_state=0).fit(X, y)


def reading(*given, **options):
    """An Explainer that reads trees for small jobs as well."""
    return limited(Explainer(*given, **options), worth_trees=0.0)


def both(explainer, work):
    """A function of an explainer, answered by the trees and by the model."""
    results = [work(limited(explainer, worth_trees=worth)) for worth in (0.0, np.inf)]
    assert [result.settings["engine"] for result in results] == ["trees", "model"]
    assert results[0].cost.model_rows < results[1].cost.model_rows
    return results


def assert_same(trees, model):
    for name in ("values", "se", "average", "spread", "counts"):
        want = getattr(model, name)
        size = 1 + np.nanmax(np.abs(want), initial=0.0)
        np.testing.assert_allclose(getattr(trees, name), want, rtol=0, atol=1e-9 * size)


ASKED = {
    "a number": lambda e: e.pdp("temperature"),
    "categories": lambda e: e.pdp("weather"),
    "two numbers": lambda e: e.pdp(["hour", "temperature"], grid=7),
    "a number and categories": lambda e: e.pdp(["wind", "season"], grid=7),
    "curves": lambda e: e.ice("hour"),
    "centred curves": lambda e: e.ice("temperature", center="min"),
    "both": lambda e: e.pdp("wind", kind="both"),
    "some rows": lambda e: e.pdp("wind", rows=list(range(50))),
    "unseen values": lambda e: e.pdp("temperature", at=[-1e9, 3.5, 1e9]),
    "a pure interaction": lambda e: e.pdp(["hour", "wind"], grid=5, pure=True),
}


@pytest.mark.parametrize("what", ASKED)
def test_boosted_trees_with_categories_and_missing_values(what):
    X, y = bikes()
    weights = np.random.default_rng(1).random(len(X))
    explainer = Explainer(boosted(X, y), X, y, sample_weight=weights)
    trees, model = both(explainer, ASKED[what])
    assert_same(trees, model)
    if model.missing is not None:
        np.testing.assert_allclose(trees.missing.values, model.missing.values, rtol=1e-9)


@pytest.mark.parametrize("what", ["a number", "two numbers", "curves"])
@pytest.mark.parametrize("plain", [False, True])
def test_forests(what, plain):
    X, y = bikes()
    X = X[NUMBERS].fillna(0.0)
    model = forest(X.to_numpy() if plain else X, y)
    data = X.to_numpy() if plain else X
    explainer = Explainer(model, data, y, feature_names=NUMBERS if plain else None)
    assert_same(*both(explainer, ASKED[what]))


@pytest.mark.parametrize("link", ["identity", "logit"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("boosting", [True, False])
def test_probabilities_and_log_odds(boosting, n_classes, link):
    X, y = bikes()
    X = X[NUMBERS].fillna(0.0)
    labels = np.array(["few", "some", "many"])[pd.qcut(y, n_classes, labels=False)]
    model = (
        HistGradientBoostingClassifier(max_iter=10, random_state=0)
        if boosting
        else RandomForestClassifier(10, max_depth=6, random_state=0)
    )
    explainer = Explainer(model.fit(X, labels), X, labels, link=link)
    assert_same(*both(explainer, lambda e: e.pdp("hour", grid=9)))
    assert_same(*both(explainer, lambda e: e.ice("wind", grid=9)))


def test_columns_in_another_order_than_the_model_knows():
    X, y = bikes()
    explainer = Explainer(boosted(X, y), X[list(reversed(X.columns))], y)
    assert_same(*both(explainer, lambda e: e.pdp(["hour", "weather"], grid=5)))


def test_small_jobs_and_other_models_are_for_the_model():
    X, y = bikes()
    assert Explainer(boosted(X, y), X, y).pdp("wind").settings["engine"] == "model"
    numbers = X[NUMBERS].fillna(0.0)
    neighbours = KNeighborsRegressor().fit(numbers, y)
    assert reading(neighbours, numbers, y).pdp("wind").settings["engine"] == "model"
    trees = boosted(numbers, y)
    assert reading(lambda X: 1.0 * trees.predict(X), numbers, y).pdp("wind").settings["engine"] == "model"


def test_without_a_compiler_the_model_is_asked(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    X, y = bikes(n=50)
    assert reading(boosted(X, y), X, y).pdp("wind").settings["engine"] == "model"


def test_trees_that_are_not_the_whole_model_are_not_asked():
    X, y = bikes()
    X = X[NUMBERS].fillna(0.0)

    class Doubled(RandomForestRegressor):
        def predict(self, X):
            return 2 * super().predict(X)

    result = reading(Doubled(5, random_state=0).fit(X, y), X, y).pdp("wind")
    assert result.settings["engine"] == "model"


def test_what_the_trees_answer_costs_only_the_check():
    X, y = bikes()
    explainer = reading(boosted(X, y), X, y)
    cost = explainer.pdp("wind", grid=20).cost
    assert cost.model_rows == 0
    assert cost.check_rows > 0


def test_threads_change_no_bit():
    X, y = bikes(n=5000)
    model = boosted(X, y)
    results = [reading(model, X, y, n_jobs=jobs).pdp("temperature") for jobs in (1, 2)]
    np.testing.assert_array_equal(results[0].values, results[1].values)
    np.testing.assert_array_equal(results[0].se, results[1].se)


def test_an_interruption_is_raised_when_nothing_is_known():
    X, y = bikes()

    def impatient(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reading(boosted(X, y), X, y, progress=impatient).pdp("wind")
