"""What a sum over the features answers is what the model answers when it is asked."""

import pickle
from dataclasses import replace

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

from limits import limited
from pellucid import Explainer
from pellucid.errors import InputError, ModelError
from pellucid.models.linear import Unlike, linear_form
from pellucid.reading import answer
from pellucid.reading.additive import Additive, believed
from pellucid.reading.answer import ModelAnswer
from pellucid.reading.terms import Encoder, Tables, terms_of
from pellucid.runner import Intervention, Limits, Run, constant_intervention, exchange_intervention

NUMBERS = ("temperature", "wind", "hour")


SMALL = Limits(worth_sums=-np.inf)  # small jobs as well


def reading(*given, **options):
    """An Explainer that reads sums for small jobs as well."""
    return limited(Explainer(*given, **options), worth_sums=-np.inf)


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


def compare(explainer, *interventions, full=False, limits=SMALL):
    """The answer that is read against the twin: the model, asked for each row of each variant."""
    run = Run(limits=limits)
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
    found = answer(Run(limits=SMALL), explained.predictor, data, *interventions)
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


def test_in_portions():
    """However the rows and the predictions are cut."""
    model, X, _ = piped(Ridge(), same)
    explainer = Explainer(model, X)
    intervention = constant_intervention(explainer.data, (1,), (np.arange(9.0),))
    compare(explainer, intervention, limits=replace(SMALL, sums_at_once=7))
    form = linear_form(explainer.predictor)
    whole, parts = (
        terms_of(Encoder(form, explainer.predictor, Tables(), cells), explainer.data, (intervention,))[0]
        for cells in (10**9, 100)
    )
    np.testing.assert_allclose(parts.rest, whole.rest, rtol=1e-14)
    np.testing.assert_allclose(parts.pools[0], whole.pools[0], rtol=1e-14)


def test_a_value_that_dwarfs_the_others_swallows_nothing():
    model, X, _ = plain(LinearRegression(), same)
    X = X.copy()
    X[5, 1] = 1e18
    explainer = Explainer(model, X)
    compare(explainer, constant_intervention(explainer.data, (1,), (np.array([0.0, 3.0]),)))


def both(explainer, ask):
    found, asked = (ask(limited(explainer, worth_sums=worth)) for worth in (-np.inf, np.inf))
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
def test_methods(what, link):
    X, y = days()
    y = y if link == "identity" else counts(y)
    model = encoded(Ridge() if link == "identity" else PoissonRegressor()).fit(X, y)
    found, asked = both(Explainer(model, X, y), ASKED[what])
    names = ("values", "se", "average", "spread") if hasattr(asked, "average") else ("values", "se", "repeats")
    for name in names:
        want = getattr(asked, name)
        size = max(1.0, float(np.nanmax(np.abs(want), initial=0.0)))
        np.testing.assert_allclose(getattr(found, name), want, rtol=0, atol=1e-10 * size)
    if getattr(asked, "missing", None) is not None:
        np.testing.assert_allclose(found.missing.values, asked.missing.values, rtol=1e-9, atol=1e-10)
    assert [caveat.code for caveat in found.caveats] == [caveat.code for caveat in asked.caveats]


@pytest.mark.parametrize("checks", [True, False])
def test_the_model_is_compared_once_for_all_questions(checks):
    X, y = days()
    explainer = reading(encoded(Ridge()).fit(X, y), X, y, checks=checks)
    compared = set()
    for name in ("wind", "hour", "wind"):
        assert explainer.pdp(name).settings["engine"] == "sums"
        compared.add(id(explainer._known["sums"]["read"]))
    assert len(compared) == 1


def test_a_model_that_is_no_sum_is_compared_once():
    X, y = days()
    numbers = X[list(NUMBERS)].fillna(0.0)
    predictor = Explainer(Ridge().fit(numbers, y), numbers).predictor
    wrong = replace(linear_form(predictor), intercept=np.array([1e6]))
    run = Run()
    assert isinstance(believed(run, predictor, wrong), Unlike)
    assert believed(run, predictor, wrong) is believed(run, predictor, wrong)


def test_a_model_that_is_fitted_again_is_asked():
    X, y = days()
    numbers = X[list(NUMBERS)].fillna(0.0)
    model = Ridge().fit(numbers, y)
    explainer = reading(model, numbers, y)
    assert explainer.pdp("wind").settings["engine"] == "sums"
    for changed in ({"coef_": -model.coef_}, {"coef_": model.coef_, "intercept_": 7.0}):
        vars(model).update(changed)
        again = explainer.pdp("wind")
        assert again.settings["engine"] == "model"
        np.testing.assert_allclose(again.values, reading(model, numbers, y).pdp("wind").values, rtol=1e-9)


def test_an_explainer_can_be_sent_elsewhere():
    X, y = days()
    explainer = reading(encoded(Ridge()).fit(X, y), X, y)
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
    found = reading(model, X, y).importance()
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
        found = reading(model.fit(numbers, y), numbers, y).pdp("wind", grid=5)
        assert found.settings["engine"] == "model"
        assert found.cost.model_rows == 5 * len(X)
    ridge = Ridge().fit(numbers, y)
    function = reading(lambda X: 1.0 * ridge.predict(X), numbers, y)
    assert function.pdp("wind", grid=5).settings["engine"] == "model"


def read_wrongly(change, *features):
    """Whether a form that was changed is believed, and for which of the features its terms are."""
    X, y = days()
    numbers = X[list(NUMBERS)].fillna(0.0)
    predictor = (explainer := Explainer(Ridge().fit(numbers, y), numbers, y)).predictor
    form = linear_form(predictor)
    wrong = replace(form, **change(form))
    found = believed(Run(), predictor, wrong)
    interventions = [constant_intervention(explainer.data, some, [np.arange(9.0)] * len(some)) for some in features]
    encoder = Encoder(wrong, predictor, Tables())
    terms = [terms_of(encoder, explainer.data, (intervention,)) for intervention in interventions]
    return isinstance(found, Additive) and found.exact, [each is not None for each in terms]


def test_coefficients_that_miss_the_predictions_are_not_believed():
    exact, _ = read_wrongly(lambda form: {"weights": form.weights * np.array([[1.0], [1.0], [1.001]])})
    assert not exact


def test_columns_credited_to_the_wrong_feature_are_noticed():
    """Real rows alone would agree: in a sum it does not matter whose the parts are."""
    exact, believable = read_wrongly(lambda form: {"source": np.array([1, 0, 2])}, (1,), (1, 2), (0, 1), (2,))
    assert exact
    assert believable == [False, False, False, True]


def test_steps_that_mix_columns_are_noticed():
    """The sums are right, but a part depends on two features."""
    mixing = np.array([[1.0, 0.0, 0.1], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])

    def mixed(form):
        return {"encode": lambda table: form.encode(table) @ mixing, "weights": np.linalg.solve(mixing, form.weights)}

    exact, believable = read_wrongly(mixed, (1,), (0,), (2,), (0, 2))
    assert exact
    assert believable == [True, False, False, False]


def test_columns_that_are_said_to_be_the_tables_own_are_looked_at():
    model, X, _ = plain(LinearRegression(), same)
    explainer = reading(model, X)
    own = exchange_intervention(explainer.data, (1,), np.arange(60)[None, ::-1])
    assert answer(Run(limits=SMALL), explainer.predictor, explainer.data, own).engine == "sums"
    other = replace(own, pools=(own.pools[0] + 1,))
    assert answer(Run(limits=SMALL), explainer.predictor, explainer.data, other).engine == "model"


def test_small_jobs_are_for_the_model():
    model, X, _ = plain(LinearRegression(), same)
    explainer = limited(Explainer(model, X, feature_names=NUMBERS), worth_sums=60)
    assert explainer.pdp("wind", at=[1, 2]).settings["engine"] == "model"
    assert explainer.pdp("wind", at=[1, 2, 3]).settings["engine"] == "sums"


def test_errors_are_those_of_the_model():
    X, y = days(n=2000)
    numbers = X[list(NUMBERS)].fillna(0.0)
    model = LinearRegression().fit(numbers, y)
    holed = numbers.copy()
    holed.loc[1003, "wind"] = np.nan  # not among the rows that are asked first
    explainer = reading(model, holed, y)
    for ask in (lambda e: e.pdp("hour"), lambda e: e.importance(), lambda e: e.ale("hour")):
        with pytest.raises(ModelError, match="NaN"):
            ask(explainer)
    with pytest.raises(InputError, match="sunny"):
        reading(encoded(Ridge()).fit(X, y), X, y).pdp("weather", at=["sunny"])


def test_predictions_that_overflow_are_refused_as_the_models_own():
    model, X, options = plain(make_pipeline(StandardScaler(), PoissonRegressor()), counts)
    explainer = reading(model, X, **options)
    with pytest.raises(ModelError, match="predicted inf"), np.errstate(over="ignore"):
        explainer.pdp("temperature", at=[0.0, 1e7])


def test_an_interruption_leaves_what_is_known():
    X, y = days()

    def impatient(done, total):
        if done >= 4 * len(X):
            raise KeyboardInterrupt

    y = counts(y)
    explainer = reading(encoded(PoissonRegressor()).fit(X, y), X, y, progress=impatient)
    explainer = limited(explainer, sums_at_once=60)
    found = explainer.pdp("wind", grid=10)
    assert "partial" in {caveat.code for caveat in found.caveats}
    np.testing.assert_array_equal(np.isfinite(found.values), np.arange(10) < 4)
    with pytest.raises(KeyboardInterrupt):
        explainer.ice("wind", grid=10)
