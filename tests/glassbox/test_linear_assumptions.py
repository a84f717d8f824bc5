"""What linear models say of their own assumptions, slopes of interactions, the domain of a link, and remedies."""

import warnings

import numpy as np
import pandas as pd
import pytest

import pellucid
from pellucid.glassbox import GeneralizedLinearModel, LinearModel, LogisticModel


def table(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "temp": rng.normal(15, 5, n),
            "season": rng.choice(["fall", "spring", "winter"], n),
            "hours": rng.uniform(1, 9, n),
            "open": rng.random(n) < 0.5,
        }
    )
    slope = X["season"].map({"fall": 1.0, "spring": 3.0, "winter": -2.0}).to_numpy()
    return X, slope * X["temp"] + 0.5 * X["hours"] + rng.normal(size=n)


@pytest.fixture(scope="module")
def crossed():
    X, y = table()
    return X, y, LinearModel(interactions=[("season", "temp"), ("temp", "hours")]).fit(X, y)


def by_hand(X, y):
    """Slopes of temp by season: least squares of the columns written out."""
    columns = {"one": np.ones(len(X)), "temp": X["temp"], "hours": X["hours"], "open": X["open"]}
    for season in ("spring", "winter"):
        columns[season] = X["season"] == season
        columns[f"{season} temp"] = columns[season] * X["temp"]
    columns["temp hours"] = X["temp"] * X["hours"]
    A = np.column_stack([np.asarray(column, dtype=float) for column in columns.values()])
    b, rest, *_ = np.linalg.lstsq(A, y, rcond=None)
    C = np.linalg.inv(A.T @ A) * rest[0] / (len(A) - A.shape[1])
    names = list(columns)
    found = []
    for season in ("fall", "spring", "winter"):
        g = np.zeros(len(names))
        g[names.index("temp")], g[names.index("temp hours")] = 1.0, X["hours"].mean()
        if season != "fall":
            g[names.index(f"{season} temp")] = 1.0
        found.append((g @ b, np.sqrt(g @ C @ g)))
    return np.array(found).T


def test_slopes_and_their_errors_are_those_of_the_columns_written_out(crossed):
    X, y, model = crossed
    found = model.slopes("temp", "season")
    values, se = by_hand(X, y)
    np.testing.assert_allclose(found.values, values, rtol=1e-9)
    np.testing.assert_allclose(found.se, se, rtol=1e-9)
    assert found.feature_names == tuple(f"temp where season = {s}" for s in ("fall", "spring", "winter"))
    assert np.allclose(found.values, [1, 3, -2], atol=0.2)


def test_a_slope_is_the_change_of_the_prediction(crossed):
    X, _, model = crossed
    row = X.iloc[[0]].assign(season="winter", hours=X["hours"].mean())
    step = model.predict(row.assign(temp=11.0)) - model.predict(row.assign(temp=10.0))
    assert step[0] == pytest.approx(model.slopes("temp", by="season")["temp where season = winter"])
    levels = model.slopes("season", by="temp")
    assert levels.values.shape == (6,)
    at = float(levels.feature_names[1].rpartition(" = ")[2])
    gap = model.predict(row.assign(temp=at)) - model.predict(row.assign(temp=at, season="fall"))
    assert gap[0] == pytest.approx(levels.values[1], rel=2e-3)  # temp is told with three digits


def test_slopes_in_words_and_pictures(crossed, golden):
    _, _, model = crossed
    golden("coefficients", "slopes", model.slopes("temp", "season").text())
    golden("coefficients", "with interactions", "\n".join(model.coefficients().reading))
    chart = model.slopes("temp", "season").plot()
    assert "temp where season = fall" in str(chart.spec)
    logs = LogisticModel(interactions=[("temp", "open")], transforms={"hours": "log"})
    X, y = table()
    logs = logs.fit(X, y > 10)
    golden("coefficients", "slopes of odds", logs.slopes("temp", "open").text())
    golden(
        "coefficients",
        "a logarithm",
        logs.coefficients().reading[logs.coefficients().feature_names.index("log(hours)")],
    )


def test_a_model_with_interactions_is_asked_and_explains_itself(crossed):
    X, _, model = crossed
    assert pellucid.Explainer(model, X, progress=False).pdp("temp", at=[10.0]).cost.model_rows > 0
    own = model.explain(X[:5])
    assert np.allclose(own.base + own.values.sum(axis=1), model.predict(X[:5]))
    effect = model.explain(("temp", "season"))
    assert np.ptp(np.diff(effect.values, axis=0), axis=1).max() > 1  # not parallel


def test_transforms_enter_as_columns():
    X, _ = table()
    y = 2 * np.log(X["hours"]) + (X["temp"] > np.quantile(X["temp"], 0.8))
    model = LinearModel(transforms={"hours": "log", "temp": "bins"}).fit(X, y)
    found = model.coefficients()
    assert found["log(hours)"] == pytest.approx(2.0)
    assert found.values[found.feature_names.index("log(hours)") - 1] != 0
    assert sum(name.startswith("temp: ") for name in found.feature_names) == 4
    last = next(name for name in found.feature_names if name.startswith("temp: over"))
    assert found[last] == pytest.approx(1.0)
    outside = X.iloc[[0]].assign(hours=-1.0)  # no logarithm: what hours add on average
    assert model.predict(outside)[0] == pytest.approx(model.predict(X.assign(temp=X["temp"][0])).mean(), abs=0.2)
    effect = pellucid.Explainer(model, X, progress=False).pdp("hours", at=[1.0, np.e])
    assert np.diff(effect.values)[0] == pytest.approx(2.0)
    assert effect.cost.model_rows == 0


def test_errors_name_what_is_wrong(crossed):
    X, y, model = crossed
    for call, word in (
        (lambda: LinearModel(interactions=[("temp", "temp")]).fit(X, y), "given twice"),
        (lambda: LinearModel(transforms=["temp"]).fit(X, y), "must be a dict"),
        (lambda: LinearModel(transforms={"season": "log"}).fit(X, y), "'season' is categorical"),
        (lambda: LinearModel(transforms={"temp": "sqrt"}).fit(X, y), "transforms"),
        (lambda: LinearModel(transforms={"temp": "log"}).fit(X.assign(temp=X["temp"] - 20), y), "no logarithm"),
        (lambda: model.slopes("temp", "open"), r"interactions=\[\('temp', 'open'\)\]"),
        (lambda: model.slopes("temp", "season", level=2), "level"),
        (lambda: model.remedies(X, y[:10]), "one value for each of the 300 rows"),
        (lambda: model.remedies(X, y, folds=1), "folds"),
        (lambda: model.remedies(X, y, features="season"), "'season' does not enter as a number"),
    ):
        with pytest.raises(pellucid.InputError, match=word):
            call()


def test_a_sum_that_is_the_link_of_no_mean_is_no_prediction():
    x = np.linspace(0, 1, 200)[:, None]
    y = np.random.default_rng(0).gamma(400, 1 / (1.05 - x[:, 0]) / 400)
    model = GeneralizedLinearModel(family="gamma", link="inverse").fit(x, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (model.predict(x) > 0).all()
    with pytest.warns(pellucid.errors.InputWarning, match="1 of 2 rows, such as row 1"):
        found = model.predict([[0.5], [1.2]])
    assert found[0] > 0
    assert np.isnan(found[1])
    assert isinstance(model.term_sum(), str)  # nothing else may read a prediction off such a sum
    assert not isinstance(GeneralizedLinearModel(family="gamma").fit(x, y).term_sum(), str)


@pytest.mark.parametrize(
    ("family", "link", "known"),
    [
        ("gamma", "inverse", (0, np.inf)),
        ("gamma", "log", (-np.inf, np.inf)),
        ("poisson", "identity", (0, np.inf)),
        ("poisson", "sqrt", (0, np.inf)),
        ("binomial", "log", (-np.inf, 0)),
        ("binomial", "identity", (0, 1)),
        ("binomial", "cloglog", (-np.inf, np.inf)),
        ("gaussian", "inverse", (-np.inf, np.inf)),
        ("inverse_gaussian", "inverse_squared", (0, np.inf)),
    ],
)
def test_domains_of_links(family, link, known):
    from pellucid.models.families import FAMILIES, LINKS, domain

    assert domain(LINKS[link], FAMILIES[family]) == known


def test_remedies_are_tried_and_the_right_one_helps_most():
    X, _ = table()
    rng = np.random.default_rng(1)
    y = 3 * np.log(X["hours"]) + 0.3 * rng.normal(size=len(X))
    tried = LinearModel().fit(X, y).remedies(X, y)
    assert tried.best.what == "transforms={'hours': 'log'}"
    assert tried.best.gain == pytest.approx(tried.best.score - tried.score)
    assert set(tried.frame()["what"]) == {
        "transforms={'hours': 'log'}",
        "transforms={'hours': 'bins'}",
        "AdditiveModel",
    }
    better = tried.best.model.fit(X, y)
    assert "curved" not in {caveat.code for caveat in better.coefficients().caveats}
    straight = LinearModel().fit(X, X["hours"] + 0.5 * rng.normal(size=len(X)))
    again = straight.remedies(X, X["hours"] + 0.5 * rng.normal(size=len(X)), features=["hours"])
    assert again.best is None
    assert again.text().startswith("No remedy certainly helps")


def test_scores_of_remedies_are_those_of_fitting_by_hand():
    X, y = table(60)
    tried = LinearModel().fit(X, y).remedies(X, y, features="temp", folds=3, random_state=4)
    fold = np.random.default_rng(4).permutation(60) % 3
    gap, around = 0.0, 0.0
    for k in range(3):
        model = LinearModel().fit(X[fold != k], y[fold != k])
        gap += np.square(y[fold == k] - model.predict(X[fold == k])).sum()
        around += np.square(y[fold == k] - y[fold != k].mean()).sum()
    assert tried.score == pytest.approx(1 - gap / around)


def test_remedies_of_classes_and_counts():
    X, y = table()
    classes = np.digitize(y, [-10, 30])
    several = LogisticModel().fit(X, classes).remedies(X, classes, features=["hours"], folds=2)
    assert 0 < several.score < 1
    assert {each.feature for each in several.remedies} == {"hours", None}
    counts = np.random.default_rng(0).poisson(X["hours"])
    model = GeneralizedLinearModel(family="poisson").fit(X, counts)
    assert model.remedies(X, counts, folds=2).measure.endswith("deviance explained")


def test_benign_rows_have_no_caveats():
    loud = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = pd.DataFrame({"a": rng.normal(size=200), "b": rng.uniform(size=200), "c": rng.choice(list("xyz"), 200)})
        eta = X["a"] - X["b"] + (X["c"] == "x")
        models = (
            LinearModel().fit(X, eta + rng.normal(size=200)),
            LogisticModel().fit(X, rng.random(200) < 1 / (1 + np.exp(-eta))),
            GeneralizedLinearModel(family="poisson").fit(X, rng.poisson(np.exp(eta / 2))),
            GeneralizedLinearModel(family="gamma").fit(X, rng.gamma(5, np.exp(eta) / 5)),
        )
        loud += sum(bool(model.coefficients().caveats) for model in models)
    assert loud <= 0.05 * 80
