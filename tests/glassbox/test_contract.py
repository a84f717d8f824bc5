"""What every glass box keeps, whatever it is: tables of any kind, weights, missing values, pipelines, inputs, threads."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from glassbox.tables import mixed
from pellucid import InputError, glassbox
from pellucid.explanations.explanation import Explanation

FEW = {"candidates": 60, "bins": 4, "budget": 0.001}
# NearestPrototype takes numbers only (see test_nearest_prototype); all others take any table.
CASES = {
    "LinearModel": (glassbox.LinearModel(), "numbers"),
    "LogisticModel": (glassbox.LogisticModel(), "classes"),
    "LogisticModel, three": (glassbox.LogisticModel(), "three"),
    "GeneralizedLinearModel": (glassbox.GeneralizedLinearModel(family="gaussian"), "numbers"),
    "AdditiveModel": (glassbox.AdditiveModel(), "numbers"),
    "AdditiveModel, two": (glassbox.AdditiveModel(), "classes"),
    "ShortTree": (glassbox.ShortTree(5), "numbers"),
    "ShortTree, three": (glassbox.ShortTree(5), "three"),
    "ShortTree, optimal": (glassbox.ShortTree(depth=2, optimal=True, bins=6), "classes"),
    "RuleFit": (glassbox.RuleFit(6, rules=30), "numbers"),
    "RuleFit, two": (glassbox.RuleFit(6, rules=30), "classes"),
    "RuleList": (glassbox.RuleList(3, **FEW), "numbers"),
    "RuleList, three": (glassbox.RuleList(3, **FEW), "three"),
    "RuleList, covering": (glassbox.RuleList(3, method="covering", **FEW), "classes"),
    "RuleList, one rule": (glassbox.RuleList(method="one-rule"), "classes"),
    "NaiveBayes": (glassbox.NaiveBayes(), "three"),
    "NearestNeighbours": (glassbox.NearestNeighbours(), "numbers"),
    "NearestNeighbours, two": (glassbox.NearestNeighbours(), "classes"),
}
every = pytest.mark.parametrize("case", CASES)


@pytest.fixture(scope="module")
def rows():
    X, mean = mixed(150)
    y = mean + np.random.default_rng(1).normal(0.0, 0.3, len(X))
    words = np.array(["few", "some", "many"], dtype=object)
    return X, {"numbers": y, "classes": np.where(y > 2.5, "yes", "no"), "three": words[np.digitize(y, [2.0, 3.0])]}


@pytest.fixture(scope="module")
def fitted(rows):
    X, outcomes = rows
    return {name: clone(model).fit(X, outcomes[kind]) for name, (model, kind) in CASES.items()}


def answers(model, X):
    """Predictions as numbers."""
    return model.predict_proba(X) if hasattr(model, "predict_proba") else np.asarray(model.predict(X), dtype=float)


def asked(model, X):
    """One row, of what explains one row alone."""
    return X.iloc[[0]] if isinstance(model, glassbox.NearestNeighbours) else X.iloc[:3]


def test_every_glass_box_is_here():
    named = {name.partition(",")[0] for name in CASES}
    assert named == set(glassbox.PROPERTIES) - {"NearestPrototype"}


@every
def test_any_table_gives_the_same_predictions(rows, fitted, case):
    polars, arrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    (X, outcomes), (model, kind) = rows, CASES[case]
    told = answers(fitted[case], X)
    for table in (polars.from_pandas(X), arrow.Table.from_pandas(X), X.to_dict("records")):
        np.testing.assert_allclose(answers(fitted[case], table), told, rtol=1e-9)
    again = clone(model).fit(polars.from_pandas(X), outcomes[kind])
    np.testing.assert_allclose(answers(again, X), told, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(answers(fitted[case], X[X.columns[::-1]].assign(more=1)), told, rtol=1e-12)


@every
def test_weight_two_is_the_row_twice_and_weight_one_no_weight(rows, fitted, case):
    (X, outcomes), (model, kind) = rows, CASES[case]
    y, weights = outcomes[kind], np.random.default_rng(2).integers(0, 3, len(X))
    twice = np.repeat(np.arange(len(X)), weights)
    weighted = clone(model).fit(X, y, sample_weight=weights)
    repeated = clone(model).fit(X.iloc[twice], y[twice])
    np.testing.assert_allclose(answers(weighted, X), answers(repeated, X), rtol=1e-4, atol=1e-6)
    plain = clone(model).fit(X, y, sample_weight=np.ones(len(X)))
    np.testing.assert_array_equal(answers(plain, X), answers(fitted[case], X))


@every
def test_what_was_never_seen_or_lies_far_outside_is_predicted(rows, fitted, case):
    X, _ = rows
    odd = pd.concat(
        [
            X.iloc[[0]].assign(season="autumn", temp=np.nan, holiday=None, when=pd.NaT),
            X.iloc[[1]].assign(temp=1e6, hum=-1e6),
        ]
    )
    found = answers(fitted[case], odd)
    assert np.isfinite(found).all()
    if hasattr(fitted[case], "predict_proba"):
        np.testing.assert_allclose(found.sum(axis=1), 1.0)
    one = odd.iloc[[0]]
    assert isinstance(fitted[case].explain(one), Explanation)


@every
def test_explanations_are_results_that_ask_nothing(rows, fitted, case):
    X, _ = rows
    model = fitted[case]
    found = [model.explain(asked(model, X)), model.explain(X.iloc[0])]
    found += [] if isinstance(model, glassbox.NearestNeighbours) else [model.explain()]
    for result in found:
        assert isinstance(result, Explanation)
        assert result.cost.model_rows == 0
        assert result.text()
        assert len(result.frame())
    assert found[0].plot().spec


@every
def test_the_same_bytes_again_in_threads_after_travel_and_inputs_stay(rows, fitted, case):
    (X, outcomes), (model, kind) = rows, CASES[case]
    before, y = X.copy(deep=True), outcomes[kind].copy()
    told = answers(fitted[case], X)
    with ThreadPoolExecutor(3) as pool:
        for found in pool.map(lambda _: answers(clone(model).fit(X, y), X), range(2)):
            np.testing.assert_array_equal(found, told)
        for found in pool.map(lambda _: answers(fitted[case], X), range(3)):
            np.testing.assert_array_equal(found, told)
    np.testing.assert_array_equal(answers(pickle.loads(pickle.dumps(fitted[case])), X), told)
    assert clone(copy.deepcopy(fitted[case])).get_params() == model.get_params()
    pd.testing.assert_frame_equal(X, before)
    np.testing.assert_array_equal(y, outcomes[kind])


@every
def test_it_ends_a_pipeline(rows, case):
    (X, outcomes), (model, kind) = rows, CASES[case]
    scaled = make_column_transformer(
        (StandardScaler(), ["temp"]), remainder="passthrough", verbose_feature_names_out=False
    ).set_output(transform="pandas")
    pipe = make_pipeline(scaled, clone(model)).fit(X, outcomes[kind])
    assert len(pipe.predict(X)) == len(X)
    assert list(pipe[-1].feature_names_in_) == ["temp", "hum", "season", "holiday", "when"]


@every
def test_wrong_tables_are_named(rows, fitted, case):
    X, _ = rows
    with pytest.raises(InputError, match="no rows"):
        fitted[case].predict(X.iloc[:0])
    with pytest.raises(InputError, match="lacks the feature 'season'"):
        fitted[case].predict(X.drop(columns="season"))
    with pytest.raises(InputError, match=r"table|'sky'"):
        fitted[case].explain("sky")
    with pytest.raises(InputError, match="'temp' is numeric and cannot take 'warm'"):
        fitted[case].predict(X.assign(temp="warm"))


@every
def test_numbers_of_numpy_are_numbers(rows, case):
    (X, outcomes), (model, kind) = rows, CASES[case]
    whole = {name: np.int64(each) for name, each in model.get_params().items() if type(each) is int}
    real = {name: np.float64(each) for name, each in model.get_params().items() if type(each) is float}
    changed = clone(model).set_params(**whole, **real).fit(X, outcomes[kind])
    assert len(changed.predict(X)) == len(X)
