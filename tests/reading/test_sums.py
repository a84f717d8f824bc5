"""What a sum over the features answers is what the model answers when it is asked."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor, Ridge, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, SplineTransformer, StandardScaler

from pellucid import Explainer
from pellucid.errors import InputError, ModelError
from pellucid.reading import additive, answer, terms
from pellucid.reading import by_sums as sums
from pellucid.reading.answer import ModelAnswer
from pellucid.runner import Intervention, Run, constant_intervention, exchange_intervention

NUMBERS = ("temperature", "wind", "hour")


@pytest.fixture(autouse=True)
def always(monkeypatch):
    """Small jobs as well."""
    monkeypatch.setattr(sums, "_WORTH", -np.inf)


def days(n=60, seed=0):
    """Rentals by temperature (sometimes missing), wind, hour and weather."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "temperature": rng.normal(15, 8, n).round(1),
            "wind": rng.gamma(2, 5, n).round(1),
            "hour": rng.integers(0, 24, n),
            "weather": rng.choice(["good", "misty", "bad"], n),
        }
    )
    y = 9 * X["temperature"] - X["wind"] + 20 * np.sin(X["hour"] / 4) + 50 * (X["weather"] == "good")
    X.loc[:2, "weather"] = ["good", "misty", "bad"]
    X.loc[rng.random(n) < 0.1, "temperature"] = np.nan
    return X, y.fillna(0.0).to_numpy() + rng.normal(0, 5, n)


def encoded(last):
    """Imputed and scaled numbers, splines, one-hot categories."""
    numbers = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
    steps = make_column_transformer(
        (numbers, ["temperature", "wind"]), (SplineTransformer(n_knots=4), ["hour"]), (OneHotEncoder(), ["weather"])
    )
    return make_pipeline(steps, last)


def classes(y, count):
    return np.array(["few", "some", "many"])[pd.qcut(y, count, labels=False)]


def plain(last, outcome):
    X, y = days()
    X = X[list(NUMBERS)].fillna(0.0).to_numpy()
    return last.fit(X, outcome(y)), X, {"feature_names": NUMBERS}


def piped(last, outcome):
    X, y = days()
    return encoded(last).fit(X, outcome(y)), X, {}


def in_polars(last, outcome):
    X, y = days()
    X = pl.DataFrame({name: X[name].fillna(0.0).to_numpy() for name in NUMBERS})
    return make_pipeline(StandardScaler(), last).fit(X, outcome(y)), X, {}


def same(y):
    return y


def two(y):
    return classes(y, 2)


def three(y):
    return classes(y, 3)


def counts(y):
    return np.round(np.exp(y / 200))


def twice(y):
    return np.column_stack([y, -3 * y + 1])


MODELS = {
    "linear": lambda: plain(LinearRegression(), same),
    "linear, one column of targets": lambda: plain(LinearRegression(), lambda y: y[:, None]),
    "two targets": lambda: plain(Ridge(), twice),
    "logistic": lambda: plain(LogisticRegression(max_iter=5000), two),
    "logistic, the other class": lambda: (
        *plain(LogisticRegression(max_iter=5000), two)[:2],
        {"feature_names": NUMBERS, "output": "few"},
    ),
    "softmax": lambda: plain(make_pipeline(StandardScaler(), LogisticRegression()), three),
    "softmax, two of three": lambda: (
        *plain(make_pipeline(StandardScaler(), LogisticRegression()), three)[:2],
        {"feature_names": NUMBERS, "output": ["some", "many"]},
    ),
    "softmax, log-odds": lambda: (
        *plain(make_pipeline(StandardScaler(), LogisticRegression()), three)[:2],
        {"feature_names": NUMBERS, "link": "logit"},
    ),
    "log-odds": lambda: (*plain(LogisticRegression(max_iter=5000), two)[:2], {"link": "logit"}),
    "scores": lambda: plain(RidgeClassifier(), two),
    "Poisson": lambda: plain(make_pipeline(StandardScaler(), PoissonRegressor()), counts),
    "additive": lambda: piped(Ridge(), same),
    "additive, weighted": lambda: (*piped(Ridge(), same)[:2], {"sample_weight": np.arange(60) % 4}),
    "additive, two classes": lambda: piped(LogisticRegression(max_iter=500), two),
    "additive, three classes": lambda: piped(LogisticRegression(max_iter=500), three),
    "polars": lambda: in_polars(Ridge(), same),
    "logarithm of the target": lambda: plain(
        TransformedTargetRegressor(make_pipeline(StandardScaler(), Ridge()), func=np.log, inverse_func=np.exp),
        lambda y: np.exp(y / 100),
    ),
}


@pytest.fixture(params=MODELS, scope="module")
def explained(request):
    model, X, options = MODELS[request.param]()
    return Explainer(model, X, **options)


def compare(explainer, *interventions, full=False):
    """The answer that is read against the twin: the model, asked for each row of each variant."""
    run = Run()
    found = answer(run, explainer.predictor, explainer.data, *interventions, full=full)
    assert found.engine == "sums"
    assert (run.cost().model_rows, run.cost().check_rows) == (0, 0)
    for table, intervention in zip(found.tables(), interventions, strict=True):
        want = Run().collect(explainer.predictor, explainer.data, intervention, full=full)
        np.testing.assert_allclose(table, want, rtol=1e-11, atol=1e-12 * np.abs(want).max())
    want = Run().predict(explainer.predictor, explainer.data, full=full)
    np.testing.assert_allclose(found.itself(), want, rtol=1e-11, atol=1e-12 * np.abs(want).max())


@pytest.mark.parametrize("full", [False, True])
def test_the_same_values_in_all_rows(explained, full):
    data = explained.data
    grids = [np.unique(data.codes(j)[~np.isnan(data.codes(j))])[:4] for j in (0, 1)]
    compare(explained, constant_intervention(data, (1,), (grids[1],)), full=full)
    compare(explained, constant_intervention(data, (1, 0), (grids[1], grids[0])), full=full)


def test_means_spread_and_curves(explained):
    data, kept = explained.data, np.array([0, 7, 30])
    interventions = [
        constant_intervention(data, (1,), (np.array([1.0, 5.0, 2.0]),)),
        constant_intervention(data, (1, 2), (np.array([1.0, 5.0]), np.array([2.0, 7.0]))),
        exchange_intervention(data, (2, 0), np.stack([np.roll(np.arange(len(data)), k) for k in (1, 2)])),
    ]
    found = answer(Run(), explained.predictor, data, *interventions)
    assert found.engine == "sums"
    asked = ModelAnswer(Run(), explained.predictor, data, tuple(interventions), False)
    for (moments, curves), (want, wanted) in zip(found.averaged(kept), asked.averaged(kept), strict=True):
        for name in ("mean", "sd", "se", "effective"):
            size = np.abs(wanted).max()
            np.testing.assert_allclose(getattr(moments, name), getattr(want, name), rtol=1e-9, atol=1e-12 * size)
        np.testing.assert_allclose(curves, wanted, rtol=1e-11, atol=1e-12 * np.abs(wanted).max())


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_another_value_in_each_row_and_some_of_the_rows(explained, seed):
    """Several interventions at once, which share features, with pools and rows of their own."""
    rng, data = np.random.default_rng(seed), explained.data
    interventions = []
    for _ in range(3):
        some = tuple(rng.permutation(len(data.schema.features))[: rng.integers(0, 4)].tolist())
        pools = tuple(data.pool(j, data.codes(j)[rng.integers(0, len(data), rng.integers(1, 9))]) for j in some)
        rows = None if rng.random() < 0.5 else rng.integers(0, len(data), rng.integers(1, 99))
        shape = (2, len(data) if rows is None else len(rows))
        if rng.random() < 0.3:
            interventions.append(exchange_intervention(data, some, rng.integers(0, len(data), shape), rows))
            continue
        index = [rng.integers(0, len(pool), shape) for pool in pools]
        interventions.append(
            Intervention(some, pools, np.stack(index, axis=-1) if some else np.empty((*shape, 0), int), rows)
        )
    compare(explained, *interventions, full=bool(rng.random() < 0.5))


def test_in_portions(monkeypatch):
    """However the rows and the predictions are cut."""
    monkeypatch.setattr(terms, "_ENCODED", 100)
    monkeypatch.setattr(sums, "_AT_ONCE", 7)
    model, X, _ = piped(Ridge(), same)
    explainer = Explainer(model, X)
    compare(explainer, constant_intervention(explainer.data, (1,), (np.arange(9.0),)))


def test_a_value_that_dwarfs_the_others_swallows_nothing():
    model, X, _ = plain(LinearRegression(), same)
    X = X.copy()
    X[5, 1] = 1e18
    explainer = Explainer(model, X)
    compare(explainer, constant_intervention(explainer.data, (1,), (np.array([0.0, 3.0]),)))


def both(monkeypatch, explainer, ask):
    found = ask(explainer)
    with monkeypatch.context() as patch:
        patch.setattr(sums, "_WORTH", np.inf)
        asked = ask(explainer)
    assert found.cost.model_rows < asked.cost.model_rows
    return found, asked


ASKED = {
    "pdp": lambda e: e.pdp("temperature", grid=7),
    "pdp of categories": lambda e: e.pdp("weather"),
    "pdp of a pair": lambda e: e.pdp(["wind", "weather"], grid=5),
    "a pure interaction": lambda e: e.pdp(["wind", "hour"], grid=5, pure=True),
    "ice": lambda e: e.ice("hour"),
    "centred ice": lambda e: e.ice("temperature", rows=[3, 4, 9], center="min"),
    "ale": lambda e: e.ale("temperature", bins=8),
    "ale of categories": lambda e: e.ale("weather"),
    "ale of a pair": lambda e: e.ale(["wind", "temperature"], bins=4),
    "total ale of a pair": lambda e: e.ale(["wind", "hour"], bins=4, total=True),
    "importance": lambda e: e.importance(),
    "importance by halves": lambda e: e.importance(scheme="halves"),
    "importance by pairs": lambda e: e.importance(scheme="pairs"),
    "importance by pairs of a loss that is no mean": lambda e: e.importance(scheme="pairs", loss="rmse"),
    "conditional importance": lambda e: e.importance(method="conditional", repeats=2),
    "importance of curves": lambda e: e.importance(method="pdp"),
}


@pytest.mark.parametrize("link", ["identity", "log"])
@pytest.mark.parametrize("what", ASKED)
def test_methods(monkeypatch, what, link):
    X, y = days()
    y = y if link == "identity" else counts(y)
    model = encoded(Ridge() if link == "identity" else PoissonRegressor()).fit(X, y)
    found, asked = both(monkeypatch, Explainer(model, X, y), ASKED[what])
    names = ("values", "se", "average", "spread") if hasattr(asked, "average") else ("values", "se", "repeats")
    for name in names:
        want = getattr(asked, name)
        size = max(1.0, float(np.nanmax(np.abs(want), initial=0.0)))
        np.testing.assert_allclose(getattr(found, name), want, rtol=0, atol=1e-10 * size)
    if getattr(asked, "missing", None) is not None:
        np.testing.assert_allclose(found.missing.values, asked.missing.values, rtol=1e-9, atol=1e-10)
    assert [caveat.code for caveat in found.caveats] == [caveat.code for caveat in asked.caveats]


def test_the_model_is_compared_once_for_all_questions(monkeypatch):
    X, y = days()
    compared = []

    def counted(*arguments):
        compared.append(arguments)
        return sums.Unlike("no") if refuse else link(*arguments)

    link = additive.agreeing_link
    monkeypatch.setattr(additive, "agreeing_link", counted)
    for checks, refuse in ((True, False), (False, False), (False, True)):
        compared.clear()
        explainer = Explainer(encoded(Ridge()).fit(X, y), X, y, checks=checks)
        engines = {explainer.pdp(name).settings["engine"] for name in ("wind", "hour", "wind")}
        assert engines == {"model" if refuse else "sums"}
        assert len(compared) == 1


def test_a_model_that_is_fitted_again_is_asked():
    X, y = days()
    numbers = X[list(NUMBERS)].fillna(0.0)
    model = Ridge().fit(numbers, y)
    explainer = Explainer(model, numbers, y)
    assert explainer.pdp("wind").settings["engine"] == "sums"
    for changed in ({"coef_": -model.coef_}, {"coef_": model.coef_, "intercept_": 7.0}):
        vars(model).update(changed)
        again = explainer.pdp("wind")
        assert again.settings["engine"] == "model"
        np.testing.assert_allclose(again.values, Explainer(model, numbers, y).pdp("wind").values, rtol=1e-9)


def test_an_explainer_can_be_sent_elsewhere():
    X, y = days()
    explainer = Explainer(encoded(Ridge()).fit(X, y), X, y)
    first = explainer.pdp("wind")
    again = pickle.loads(pickle.dumps(explainer)).pdp("wind")
    np.testing.assert_array_equal(again.values, first.values)
    assert again.settings["engine"] == "sums"


def test_a_feature_that_is_not_used_has_no_importance_at_all():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = X @ np.array([1.0, 0.3, 0.1, 0.7])
    model = LinearRegression().fit(X, y)
    model.coef_[1] = 0.0
    found = Explainer(model, X, y).importance()
    assert found.cost.model_rows == 0
    assert found.values[1] == 0.0
    assert (np.delete(found.values, 1) > 0).all()


class Rounded(Ridge):
    """Not what its coefficients say."""

    def predict(self, X):
        return np.round(super().predict(X), 1)


def test_what_is_no_sum_is_asked():
    X, y = days()
    numbers = X[list(NUMBERS)].fillna(0.0)
    products = make_pipeline(StandardScaler(), PolynomialFeatures(2), Ridge())
    for model in (Rounded(), products):
        found = Explainer(model.fit(numbers, y), numbers, y).pdp("wind", grid=5)
        assert found.settings["engine"] == "model"
        assert found.cost.model_rows == 5 * len(X)
    ridge = Ridge().fit(numbers, y)
    function = Explainer(lambda X: 1.0 * ridge.predict(X), numbers, y)
    assert function.pdp("wind", grid=5).settings["engine"] == "model"


def test_coefficients_that_miss_the_predictions_are_not_believed(monkeypatch):
    X, y = days()
    numbers = X[list(NUMBERS)].fillna(0.0)
    model = Ridge().fit(numbers, y)
    read = additive.linear_form

    def wrong(predictor):
        form = read(predictor)
        return sums.replace(form, weights=form.weights * np.array([[1.0], [1.0], [1.001]]))

    monkeypatch.setattr(additive, "linear_form", wrong)
    assert Explainer(model, numbers, y).pdp("wind").settings["engine"] == "model"


def test_columns_credited_to_the_wrong_feature_are_noticed(monkeypatch):
    """Real rows alone would agree: in a sum it does not matter whose the parts are."""
    X, y = days()
    numbers = X[list(NUMBERS)].fillna(0.0)
    read = additive.linear_form

    def wrong(predictor):
        form = read(predictor)
        return sums.replace(form, source=np.array([1, 0, 2]))

    monkeypatch.setattr(additive, "linear_form", wrong)
    explainer = Explainer(Ridge().fit(numbers, y), numbers, y)
    for features in ("wind", ["wind", "hour"], ["temperature", "wind"]):
        assert explainer.pdp(features, grid=9).settings["engine"] == "model"
    assert explainer.pdp("hour").settings["engine"] == "sums"
    assert explainer.importance().cost.model_rows > 0


def test_steps_that_mix_columns_are_noticed(monkeypatch):
    """The sums are right, but a part depends on two features."""
    X, y = days()
    numbers = X[list(NUMBERS)].fillna(0.0)
    read = additive.linear_form
    mixing = np.array([[1.0, 0.0, 0.1], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])

    def wrong(predictor):
        form = read(predictor)
        return sums.replace(
            form, encode=lambda table: form.encode(table) @ mixing, weights=np.linalg.solve(mixing, form.weights)
        )

    monkeypatch.setattr(additive, "linear_form", wrong)
    explainer = Explainer(Ridge().fit(numbers, y), numbers, y)
    assert explainer.pdp("wind").settings["engine"] == "sums"
    for features in ("temperature", "hour", ["temperature", "hour"]):
        assert explainer.pdp(features, grid=9).settings["engine"] == "model"
    assert explainer.importance().cost.model_rows > 0


def test_columns_that_are_said_to_be_the_tables_own_are_looked_at():
    model, X, _ = plain(LinearRegression(), same)
    explainer = Explainer(model, X)
    own = exchange_intervention(explainer.data, (1,), np.arange(60)[None, ::-1])
    assert answer(Run(), explainer.predictor, explainer.data, own).engine == "sums"
    other = sums.replace(own, pools=(own.pools[0] + 1,))
    assert answer(Run(), explainer.predictor, explainer.data, other).engine == "model"


def test_small_jobs_are_for_the_model(monkeypatch):
    monkeypatch.setattr(sums, "_WORTH", 60)
    model, X, _ = plain(LinearRegression(), same)
    explainer = Explainer(model, X, feature_names=NUMBERS)
    assert explainer.pdp("wind", at=[1, 2]).settings["engine"] == "model"
    assert explainer.pdp("wind", at=[1, 2, 3]).settings["engine"] == "sums"


def test_errors_are_those_of_the_model():
    X, y = days(n=2000)
    numbers = X[list(NUMBERS)].fillna(0.0)
    model = LinearRegression().fit(numbers, y)
    holed = numbers.copy()
    holed.loc[1003, "wind"] = np.nan  # not among the rows that are asked first
    explainer = Explainer(model, holed, y)
    for ask in (lambda e: e.pdp("hour"), lambda e: e.importance(), lambda e: e.ale("hour")):
        with pytest.raises(ModelError, match="NaN"):
            ask(explainer)
    with pytest.raises(InputError, match="sunny"):
        Explainer(encoded(Ridge()).fit(X, y), X, y).pdp("weather", at=["sunny"])


def test_predictions_that_overflow_are_refused_as_the_models_own():
    model, X, options = plain(make_pipeline(StandardScaler(), PoissonRegressor()), counts)
    explainer = Explainer(model, X, **options)
    with pytest.raises(ModelError, match="predicted inf"), np.errstate(over="ignore"):
        explainer.pdp("temperature", at=[0.0, 1e7])


def test_an_interruption_leaves_what_is_known(monkeypatch):
    monkeypatch.setattr(sums, "_AT_ONCE", 60)
    X, y = days()

    def impatient(done, total):
        if done >= 4 * len(X):
            raise KeyboardInterrupt

    y = counts(y)
    explainer = Explainer(encoded(PoissonRegressor()).fit(X, y), X, y, progress=impatient)
    found = explainer.pdp("wind", grid=10)
    assert "partial" in {caveat.code for caveat in found.caveats}
    np.testing.assert_array_equal(np.isfinite(found.values), np.arange(10) < 4)
    with pytest.raises(KeyboardInterrupt):
        explainer.ice("wind", grid=10)
