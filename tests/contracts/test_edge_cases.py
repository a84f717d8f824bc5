"""Odd tables: an answer or a clear error, never a wrong number."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import pellucid
from contracts.methods import METHODS
from contracts.tables import NAMES, as_pandas, columns, model, outcome
from contracts.usual import usual
from pellucid import Explainer

ABOUT_THE_DATA = (
    Explainer.prototypes,
    Explainer.associations,
    Explainer.clusters,
    Explainer.audit,
    Explainer.performance,
    Explainer.influence,
    Explainer.triage,
    Explainer.poisoning,
    Explainer.robust,
    Explainer.surrogate,
)
every_method = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS.keys())


def answer_or_clear_error(method, ex):
    """The values, or None when the method refused in one sentence."""
    try:
        return method(ex).values
    except pellucid.InputError as error:
        said = str(error)
    assert len(said) > 20
    assert "\n" not in said
    return None


@every_method
def test_constant_features_have_no_effect_and_no_importance(method):
    table = as_pandas(columns()).assign(temp=10.0, hum=60.0, season="spring", work=True, day=3)
    values = answer_or_clear_error(method, Explainer(model, table, outcome(table) + np.arange(90), progress=False))
    if method.call is Explainer.adversarial and isinstance(
        method.options["row"], list
    ):  # rows by distance: nothing can change them
        assert np.isinf(values).all()
    elif values is not None and method.call not in ABOUT_THE_DATA:
        flat = values.reshape(-1, values.shape[-1]) if method.features and values.ndim > 1 else values
        expected = flat.flat[0] if method.features else 0.0
        np.testing.assert_allclose(flat, expected, atol=1e-9)


@every_method
def test_a_single_row(method):
    table = as_pandas(columns()).iloc[:1]
    values = answer_or_clear_error(method, Explainer(model, table, outcome(table), progress=False))
    assert values is None or np.isfinite(values).all()


@every_method
def test_two_rows(method):
    table = as_pandas(columns()).iloc[:2]
    values = answer_or_clear_error(method, Explainer(model, table, outcome(table), progress=False))
    assert values is None or np.isfinite(values).all()


@every_method
def test_one_category(method):
    table = as_pandas(columns()).assign(season="summer")
    values = answer_or_clear_error(method, Explainer(model, table, outcome(table), progress=False))
    assert values is not None
    assert np.isfinite(values).all()


@every_method
def test_a_column_that_is_always_missing(method):
    table = as_pandas(columns()).assign(hum=np.nan)

    def ignoring(frame):
        return model(frame.assign(hum=50.0)) + frame["hum"].isna()

    values = answer_or_clear_error(method, Explainer(ignoring, table, outcome(as_pandas(columns())), progress=False))
    if "hum" in method.features:
        assert values is None
    else:
        assert np.isfinite(values).all()


@every_method
def test_missing_values_everywhere(method):
    table = as_pandas(columns())
    rng = np.random.default_rng(0)
    for name in ("temp", "hum", "season"):
        table[name] = table[name].where(rng.random(len(table)) > 0.2)

    def tolerant(frame):
        filled = frame.assign(
            temp=frame["temp"].fillna(-40.0), hum=frame["hum"].fillna(50.0), season=frame["season"].fillna("fall")
        )
        return model(filled)

    values = answer_or_clear_error(method, Explainer(tolerant, table, tolerant(table), progress=False))
    assert values is not None
    assert np.isfinite(values).all()


@pytest.mark.parametrize("name", ["pdp", "ale", "importance", "importance pairs", "importance pdp", "associations"])
def test_a_hundred_features(name):
    rng = np.random.default_rng(0)
    table = as_pandas(columns())
    wide = pd.concat(
        [table, pd.DataFrame(rng.normal(size=(90, 95)), columns=[f"noise {j}" for j in range(95)])], axis=1
    )
    result = METHODS[name](Explainer(lambda frame: model(frame[list(NAMES)]), wide, outcome(table), progress=False))
    assert np.isfinite(result.values).all()
    if not METHODS[name].features and name != "associations":
        assert result.values.shape == (100,)
        np.testing.assert_allclose(result.values[5:], 0, atol=1e-9)


@every_method
def test_names_in_any_script_and_names_that_look_alike(method):
    new = {"temp": "température °C", "hum": "hum", "season": "hum ", "work": "数据.列[0]", "day": 'quote"<b>'}
    back = {value: key for key, value in new.items()}
    table = as_pandas(columns()).rename(columns=new)
    ex = Explainer(
        lambda frame: model(frame.rename(columns=back)), table, outcome(as_pandas(columns())), progress=False
    )
    expected = usual(method)[1]
    found = method(ex, by=new.get)
    # Random orders follow the names, so that they do not follow the order of the columns: an estimate may differ.
    small = 1e-5 * np.abs(expected.values).max()
    apart = 5 * np.hypot(found.se, expected.se) + small if method.sampled else 0.0
    assert (np.abs(found.values - expected.values) <= apart + 1e-7 * np.abs(expected.values)).all()
    assert found.feature_names == tuple(
        " × ".join(new.get(part, part) for part in name.split(" × ")) for name in expected.feature_names
    )
    assert found.plot().spec["$schema"]


def test_columns_of_the_same_name_are_refused():
    table = as_pandas(columns()).rename(columns={"hum": "temp"})
    with pytest.raises(pellucid.InputError, match=r"columns 0 and 1 .*'temp'; rename"):
        Explainer(lambda frame: frame.iloc[:, 0], table)


@pytest.mark.parametrize("name", ["pdp", "ice", "ale", "mplot"])
def test_dates(name):
    days = pd.date_range("2024-01-01", periods=90)
    table = as_pandas(columns()).assign(temp=days)

    def by_month(frame):
        return frame["temp"].dt.month.to_numpy() * 10.0 + frame["hum"].to_numpy()

    result = METHODS[name].call(Explainer(by_month, table, progress=False), "temp")
    assert result.grid.dtype.kind == "M"
    assert result.grid.min() >= np.datetime64("2024-01-01")
    assert result.grid.max() <= np.datetime64("2024-03-30")
    curve = result.average
    assert curve[-1] - curve[0] == pytest.approx(20, abs=12 if name == "mplot" else 1e-9)
    assert result.plot().spec["$schema"]
    assert "2024" in result.text()


def test_a_boolean_column():
    table = as_pandas(columns())
    ex = Explainer(lambda frame: 3.0 * frame["work"].to_numpy() + frame["temp"].to_numpy(), table, progress=False)
    effect = ex.pdp("work")
    assert effect.grid.dtype == bool
    assert effect.values[1] - effect.values[0] == pytest.approx(3)
    assert ex.ale("work").value(True) - ex.ale("work").value(False) == pytest.approx(3)


@cache
def forest(**options):
    """The Explainer of a forest of three classes behind an encoder, which all methods are asked of."""
    table = as_pandas(columns())
    encoder = make_column_transformer((OneHotEncoder(), ["season"]), remainder="passthrough")
    labels = np.array(["low", "mid", "high"])[np.digitize(table["temp"], [5, 18])]
    fitted = make_pipeline(encoder, RandomForestClassifier(10, random_state=0)).fit(table, labels)
    return Explainer(fitted, table, labels, progress=False, **options)


@every_method
def test_several_classes(method):
    options = {key: value for key, value in method.options.items() if value not in ("mae", ">= 300", 1e6)}
    asked = type(method)(method.call, method.features, options=options)
    result = asked(forest())
    assert result.output_names == ("high", "low", "mid")
    if method.features:
        assert result.values.shape[-1] == 3
        one = asked(forest(output="low"))
        np.testing.assert_allclose(one.values, result.values[..., 1], rtol=1e-12, atol=1e-14)
        if result.method == "pdp" and not result.settings["pure"] and result.settings["center"] is None:
            np.testing.assert_allclose(result.values.sum(axis=-1), 1)
    assert result.plot().spec["$schema"]
