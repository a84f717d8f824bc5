"""AdditiveModel: an estimator like any other, for tables of any kind, read without asking it."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import pellucid
from glassbox.tables import mixed
from golden_files import masked
from pellucid.glassbox import AdditiveModel

MODELS = [AdditiveModel(pairs="auto"), AdditiveModel(family="gaussian"), AdditiveModel(family="binomial")]


@parametrize_with_checks(MODELS)
def test_it_is_an_estimator(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def rows():
    X, mean = mixed()
    y = mean + np.sin(X["temp"] / 4) + 0.3 * np.random.default_rng(1).normal(size=len(X))
    return X, y.to_numpy()


@pytest.fixture(scope="module")
def model(rows):
    return AdditiveModel().fit(*rows)


def targets(name, y):
    return {
        "gaussian": y,
        "binomial": np.where(y > 2.4, "yes", "no"),
        "multinomial": np.digitize(y, [1.8, 2.8]),
        "poisson": np.round(np.exp(y / 2)),
        "gamma": np.exp(y / 2),
    }[name]


@pytest.mark.parametrize("family", ["gaussian", "binomial", "multinomial", "poisson", "gamma"])
def test_a_weight_of_two_is_a_row_twice(rows, family):
    X, y = rows[0], targets(family, rows[1])
    w = 1 + np.arange(len(y)) % 2
    pairs = [("temp", "season")]
    once = AdditiveModel(family=family, pairs=pairs).fit(X, y, sample_weight=w)
    twice = AdditiveModel(family=family, pairs=pairs).fit(X.loc[X.index.repeat(w)], np.repeat(y, w))
    for feature in ("temp", "season", "hum"):
        a, b = once.explain(feature), twice.explain(feature)
        assert np.allclose(a.values, b.values, rtol=1e-6, atol=1e-8)
        assert np.allclose(a.se, b.se, rtol=1e-6, atol=1e-8)


def test_tables_of_any_kind_give_the_same(rows, model):
    X, y = rows
    known = model.predict(X)
    table = pl.from_pandas(X)
    assert np.allclose(AdditiveModel().fit(table, y).predict(table), known)
    assert np.array_equal(model.predict(X[X.columns[::-1]]), known)
    assert np.array_equal(model.predict(table), known)


def test_terms_have_mean_zero_and_add_up(rows, model):
    X, _ = rows
    found = model.explain(X)
    assert np.allclose(found.values.mean(axis=0), 0.0, atol=1e-12)
    assert np.allclose(found.values.sum(axis=1) + found.base, model.predict(X))
    assert found.base == pytest.approx(model.predict(X).mean())


def test_missing_values_and_levels_never_seen(rows, model):
    X, _ = rows
    assert model.explain("hum").missing.share == pytest.approx(X["hum"].isna().mean())
    row = X.iloc[[5]].assign(season="autumn", temp=np.nan)
    found = model.explain(row)
    assert abs(found.values[0, 0]) < 1e-15  # temp was never missing
    assert abs(found.values[0, 2]) < 1e-15
    assert np.isfinite(model.predict(row)).all()


@pytest.mark.parametrize("family", ["gaussian", "binomial", "multinomial", "poisson"])
def test_an_explainer_asks_for_no_prediction(rows, family):
    X, y = rows[0], targets(family, rows[1])
    model = AdditiveModel(family=family).fit(X, y)
    ex = pellucid.Explainer(model, X, progress=False)
    assert ex.pdp("temp").cost.model_rows == 0
    if family in ("gaussian", "binomial"):
        found, own = (
            ex.shap(X.iloc[:4], scale="log-odds" if family == "binomial" else "auto"),
            model.explain(X.iloc[:4]),
        )
        assert found.cost.model_rows == 0
        assert np.allclose(found.values, own.values, atol=1e-10)


def test_the_family_is_told_by_the_target(rows):
    X, y = rows
    assert AdditiveModel().fit(X, y).family_ == "gaussian"
    assert AdditiveModel().fit(X, y > 2).family_ == "binomial"
    assert AdditiveModel().fit(X, (y > 2).astype(int)).family_ == "binomial"
    assert AdditiveModel().fit(X, np.round(y).astype(int)).family_ == "gaussian"
    several = AdditiveModel().fit(X, np.array(["low", "middle", "high"])[targets("multinomial", y)])
    assert several.family_ == "multinomial"
    p = several.predict_proba(X)
    assert np.allclose(p.sum(axis=1), 1.0)
    assert (several.predict(X) == several.classes_[p.argmax(axis=1)]).all()


def test_several_classes_beat_the_most_frequent_and_know_their_shares(rows):
    X, y = rows[0], targets("multinomial", rows[1])
    model = AdditiveModel(family="multinomial").fit(X, y)
    assert model.score(X, y) > 0.75
    assert np.allclose(model.predict_proba(X).mean(axis=0), np.bincount(y) / len(y), atol=0.01)


def test_counts_over_an_exposure_multiply():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"temp": rng.uniform(-1, 1, 800), "hours": rng.uniform(0.5, 9, 800)})
    y = rng.poisson(X["hours"] * np.exp(np.sin(3 * X["temp"])))
    model = AdditiveModel(family="poisson", exposure="hours").fit(X, y)
    assert np.allclose(model.predict(X.assign(hours=2 * X["hours"])), 2 * model.predict(X))
    effect = model.explain("temp")
    truth = np.sin(3 * np.asarray(effect.grids[0]))
    assert np.abs(effect.values - truth + truth.mean() - effect.values.mean()).max() < 0.35
    assert np.mean(np.abs(effect.values - truth + (truth - effect.values).mean()) < 2 * effect.se) > 0.8
    with pytest.raises(pellucid.InputError, match="offset="):
        AdditiveModel(exposure="hours").fit(X, y)


def test_counts_that_scatter_too_much_are_told(golden):
    rng = np.random.default_rng(0)
    x = rng.uniform(size=(300, 1))
    model = AdditiveModel(family="poisson").fit(x, 5.0 * rng.poisson(2, 300))
    (caveat,) = model.explain().caveats
    assert caveat.code == "overdispersed"
    assert caveat.value == model.dispersion_ > caveat.threshold
    golden("glassbox", "counts that scatter too much", masked(str(caveat)))
    assert not AdditiveModel(family="poisson").fit(x, rng.poisson(2, 300)).explain().caveats


def test_pairs_that_do_not_pay_are_left_out():
    X = np.random.default_rng(0).normal(size=(500, 6))
    noise = np.random.default_rng(1).normal(size=500)
    alone = AdditiveModel(pairs="auto").fit(X, X.sum(axis=1) + noise)
    assert not alone.pairs_
    mains = AdditiveModel().fit(X, X.sum(axis=1) + noise)
    assert np.array_equal(alone.predict(X), mains.predict(X))
    together = AdditiveModel(pairs="strong").fit(X, X.sum(axis=1) + X[:, 1] * X[:, 4] + noise)
    assert together.pairs_ == [("x1", "x4")]
    assert together.edf_[-1] > 0.5


def test_errors_name_the_argument(rows):
    X, y = rows
    for options, word in (
        ({"family": "poison"}, "family"),
        ({"family": "gamma"}, "gamma"),
        ({"knots": 2}, "knots"),
        ({"pairs": "all"}, "pairs"),
        ({"pairs": [("temp", "tmp")]}, "tmp"),
        ({"shapes": {"season": "increasing"}}, "season"),
        ({"shapes": {"temp": "up"}}, "shapes"),
        ({"shapes": {"temp": ("increasing", "decreasing")}}, "at once"),
        ({"shapes": {"temp": "increasing"}, "pairs": [("temp", "hum")]}, "shape"),
        ({"exposure": "temp"}, "exposure"),
    ):
        with pytest.raises(pellucid.InputError, match=word):
            AdditiveModel(**options).fit(X, y - 5)
