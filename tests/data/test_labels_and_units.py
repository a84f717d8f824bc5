"""Names for people and units: said everywhere, while tables and arguments keep the names of the columns."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestRegressor

from pellucid import Explainer, InputError, Rule, load

LABELS, UNITS = {"temp": "Temperature", "hum": "Humidity"}, {"temp": "°C", "wind": "km/h"}
NAMES = ("Temperature (°C)", "Humidity", "wind (km/h)")


@pytest.fixture(scope="module")
def days():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(150, 3)), columns=["temp", "hum", "wind"])
    y = 3 * X.temp + X.hum * X.wind
    return RandomForestRegressor(20, max_depth=4, random_state=0).fit(X, y), X, y


@pytest.fixture(scope="module")
def ex(days):
    return Explainer(*days, labels=LABELS, units=UNITS)


@pytest.fixture(scope="module")
def plain(days):
    return Explainer(*days)


def test_the_model_and_the_rows_keep_their_names(ex, plain, days):
    model, X, _ = days
    assert ex.data.schema.names == NAMES
    assert np.array_equal(ex.predict(X.head(3))["prediction"], model.predict(X.head(3)))
    row = dict(X.iloc[0])
    assert np.array_equal(ex.shap(row).values, plain.shap(row).values)
    assert list(X.columns) == ["temp", "hum", "wind"]


def test_numbers_do_not_depend_on_names(ex, plain):
    for ask in (
        lambda e: e.shap([0, 1]),
        lambda e: e.shap(0, game="conditional"),
        lambda e: e.importance(),
        lambda e: e.importance(method="conditional"),
        lambda e: e.importance(method="sobol"),
        lambda e: e.interactions(),
        lambda e: e.decompose(),
        lambda e: e.lime(0, samples=500),
        lambda e: e.ale("temp"),
    ):
        assert np.array_equal(ask(ex).values, ask(plain).values)


@pytest.mark.parametrize("name", ["temp", NAMES[0], LABELS["temp"], 0])
def test_arguments_take_either_name(ex, plain, name):
    assert ex.pdp(name).feature_names == (NAMES[0],)
    assert np.array_equal(ex.ice(name).values, plain.ice("temp").values)
    assert ex.interactions(name).feature_names is not None
    assert ex.decompose(features=[name, 1]).feature_names[0] == NAMES[0]


def test_charts_sentences_and_tables_say_the_name_for_people(ex):
    for result in (ex.pdp("temp"), ex.ale(), ex.shap(0), ex.shap([0, 1, 2]), ex.importance(), ex.decompose()):
        assert NAMES[0] in result.text()
        assert NAMES[0] in json.dumps(result.plot().spec, ensure_ascii=False)
        said = [*result.frame().columns, *result.frame().select_dtypes(exclude="number").to_numpy().ravel()]
        assert NAMES[0] in said
        assert "temp" not in said
    assert NAMES[0] in repr(ex)


def test_results_take_either_name(ex, tmp_path):
    why = ex.shap([0, 1])
    assert np.array_equal(why["temp"], why[NAMES[0]])
    assert load(why.save(tmp_path / "why.json"))["temp"].shape == (2,)
    assert why.plot(kind="dependence", feature="temp").spec
    pairs = ex.interactions()
    assert pairs.pair("temp", "hum") == pairs.pair(*NAMES[:2])
    assert ex.ale()["temp"].feature_names == (NAMES[0],)
    assert why.group({"air": ["hum", "wind"]}).feature_names == (NAMES[0], "air")


def test_parts_predict_from_tables(ex, plain, days):
    _, X, _ = days
    parts, twin = ex.decompose(), plain.decompose()
    assert np.array_equal(parts.predict(X), twin.predict(X))
    assert parts.component("temp", "hum").features == NAMES[:2]
    assert np.array_equal(parts.explain(X.head(2)).values, twin.explain(X.head(2)).values)


def test_rules_apply_to_tables(ex, plain, days):
    _, X, _ = days
    rule = ex.anchor(0, precision=0.8)
    assert np.array_equal(rule.applies(X), plain.anchor(0, precision=0.8).applies(X))
    assert set(rule.feature_names) == set(NAMES)
    by_column = ex.check_rule(Rule.of("temp > 0", prediction=(0, 99)), X)
    by_name = ex.check_rule(Rule.of("'Temperature (°C)' > 0", prediction=(0, 99)), X)
    assert by_column.applies == by_name.applies == (X.temp > 0).sum()


def test_groups_orders_and_bins_take_columns(days):
    ex = Explainer(*days, labels=LABELS, groups={"air": ["hum", "wind"]})
    assert ex.shap(0).feature_names == ("Temperature", "air")
    assert ex.breakdown(0, order=["air", "temp"]).values.shape == (1, 2)
    assert Explainer(*days, labels=LABELS).anchor(0, bins={"temp": [0.0]}).precision > 0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"labels": {"tmp": "T"}}, "labels: there is no feature 'tmp'; did you mean 'temp'"),
        ({"units": {"temp": 3}}, r"units\['temp'\] must be a text"),
        ({"labels": ["T", "H", "W"]}, "labels must be a dict"),
        ({"labels": {"temp": "hum"}}, "name of another feature"),
        ({"labels": {"temp": "T", "hum": "T"}}, "name of another feature"),
    ],
)
def test_what_cannot_be_a_name_is_refused(days, given, message):
    with pytest.raises(InputError, match=message):
        Explainer(*days, **given)
