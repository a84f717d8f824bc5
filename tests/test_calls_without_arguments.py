"""Verbs without arguments, and plain predictions."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LogisticRegression

import pellucid
from pellucid import Effects, Explainer, InputError


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    return pd.DataFrame(rng.normal(size=(400, 8)), columns=list("abcdefgh"))


@pytest.fixture(scope="module")
def ex(table):
    return Explainer(lambda X: 5 * X.h + 3 * np.abs(X.b) - X.c + 0.5 * X.d + 0.2 * X.e + 0.1 * X.f, table)


def test_shap_explains_a_sample_that_the_seed_fixes(ex, table):
    why = ex.shap()
    assert why.values.shape == (200, 8)
    assert np.array_equal(ex.shap().values, why.values)
    other = Explainer(lambda X: X.h, table, random_state=1).shap()
    assert not np.array_equal(other.prediction, Explainer(lambda X: X.h, table).shap().prediction)
    few = Explainer(lambda X: X.h, table.head(20)).shap()
    assert np.allclose(few.prediction, table.h.head(20))


@pytest.mark.parametrize("verb", ["pdp", "ale"])
def test_effects_of_the_most_important_features(ex, verb):
    found = getattr(ex, verb)()
    assert isinstance(found, Effects)
    assert found.feature_names[:3] == ("h", "b", "c")
    assert set(found.feature_names) == set("hbcdef")
    assert list(np.argsort(-found.values)) == list(range(6))
    assert np.array_equal(found["b"].values, getattr(ex, verb)("b").values)
    assert found["b"] is found[1]
    assert found.frame().groupby("feature").size()["b"] == len(found["b"].grid)
    assert "h" in found.text()


def test_what_has_no_effect_is_left_out(table):
    assert Explainer(lambda X: X.a + 2 * X.b, table).pdp().feature_names == ("b", "a")
    assert len(Explainer(lambda X: 0 * X.a, table).ale()) == 1


def test_they_are_drawn_and_stored(ex, tmp_path):
    found = ex.pdp(grid=5)
    drawn = json.dumps(found.plot().spec)
    assert all(f'"title": "{name}"' in drawn for name in found.feature_names)
    assert pellucid.load(found.save(tmp_path / "effects.json")) == found


def test_groups_categories_and_classes(table):
    X = table.assign(kind=pd.Categorical(np.where(table.a > 0, "u", "v")))
    ex = Explainer(lambda X: np.column_stack([X.a, X.b, (X.kind == "u") * 9.0]), X, groups={"both": ["a", "b"]})
    found = ex.ale()
    assert found.feature_names[0] == "kind"
    assert found.values.shape == (3, 3)  # a, b and kind: the others have no effect
    assert set(found.frame()["output"]) == {"output 0", "output 1", "output 2"}


def test_options_of_one_feature_need_its_name(ex):
    with pytest.raises(InputError, match="at= belongs to named features"):
        ex.pdp(at=[0, 1])
    with pytest.raises(InputError, match="order= belongs to named features"):
        ex.ale(order=["u", "v"])
    with pytest.raises(InputError, match="no effect of 'hh'"):
        ex.pdp(grid=3)["hh"]


def test_report_has_a_default_path(table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = Explainer(lambda X: X.a, table[["a", "b"]].head(60)).report(top=1)
    assert path.resolve() == (tmp_path / "report.html").resolve()
    assert path.stat().st_size > 1000


def test_predict_names_the_outputs(table):
    X, y = table, table.a > 0
    model = LogisticRegression().fit(X, y)
    ex = Explainer(model, X, class_names=["low", "high"])
    expected = model.predict_proba(X)[:, 1]
    assert list(ex.predict().columns) == ["high"]
    assert np.allclose(ex.predict()["high"], expected)
    assert np.allclose(ex.predict([3, 5])["high"], expected[[3, 5]])
    assert np.allclose(ex.predict(X.tail(4))["high"], expected[-4:])
    assert list(ex.predict(X.tail(4)).index) == list(X.tail(4).index)
    assert np.allclose(ex.predict(X.iloc[7])["high"], expected[7])
    both = Explainer(model, X, output=[False, True], class_names=["low", "high"]).predict(0)
    assert both.loc[0].sum() == pytest.approx(1)
    forest = RandomForestRegressor(5, random_state=0).fit(X, X.a)
    answer = Explainer(forest, pl.from_pandas(X)).predict([1])
    assert isinstance(answer, pl.DataFrame)
    assert answer["prediction"].to_list() == pytest.approx(forest.predict(X.iloc[[1]]))


def test_predictions_say_whose_they_are(table):
    named = table[["a"]].assign(id=[f"cust{i}" for i in range(len(table))])
    for X in (named, pl.from_pandas(named)):
        found = Explainer(lambda rows: np.asarray(rows["a"]), X, row_labels="id").predict(["cust7", "cust2"])
        ids = found.index if isinstance(found, pd.DataFrame) else found["id"]
        assert list(ids) == ["cust7", "cust2"]
        assert list(found["prediction"]) == [table.a.iloc[7], table.a.iloc[2]]
