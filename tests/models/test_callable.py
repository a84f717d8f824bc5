"""Functions, bound methods and objects that merely have a predict."""

from __future__ import annotations

import functools

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression

from models.asking import CHANGES, as_columns, assert_faithful, predictions, second
from pellucid.errors import InputError
from pellucid.models import Predictor
from pellucid.models.adapter import Adapter

KNOWN = {**CHANGES, "temp": 5.0}  # models that cannot take a missing number


@pytest.fixture(scope="module")
def X(mixed):
    return mixed[["temp", "day", "open"]].fillna(0.0)


@pytest.fixture(scope="module")
def classifier(X, verdict):
    return LogisticRegression(max_iter=500).fit(X, verdict)


class Spy:
    """Remembers what it was asked with."""

    def __init__(self):
        self.seen: list[pd.DataFrame] = []

    def predict(self, X):
        self.seen.append(X)
        return np.arange(len(X), dtype=float)


def test_a_function_gets_the_table_as_the_caller_holds_it(mixed):
    """Type, names, order and dtypes: a category stays a category, an integer an integer, missing missing."""
    spy = Spy()
    predictor = Predictor(spy.predict, mixed)
    assert (predictor.library, predictor.container) == ("any estimator", "pandas")
    predictions(predictor, mixed)
    for X in spy.seen:
        assert list(X.columns) == list(mixed.columns)
        pd.testing.assert_series_equal(X.dtypes, mixed.dtypes)
    pd.testing.assert_frame_equal(spy.seen[-1], mixed)


def test_polars_and_arrow_reach_a_function_untouched(mixed):
    pl = pytest.importorskip("polars", reason="polars is optional")
    for table in (pl.from_pandas(mixed), pl.from_pandas(mixed).to_arrow()):
        spy = Spy()
        predictions(Predictor(spy.predict, table), table)
        assert type(spy.seen[-1]) is type(table)
        assert spy.seen[-1].equals(table)


def test_a_function_of_a_frame(mixed):
    def f(X):
        return X["temp"].fillna(-1) + X["day"] * (X["sky"] == "rain") + X["open"] * (X["town"] == "Genf")

    assert_faithful(Predictor(f, mixed), mixed, f)
    assert Predictor(f, mixed).name == "f"


@pytest.mark.parametrize(
    "shape",
    [
        lambda p: p,
        lambda p: p[:, None],
        lambda p: p.tolist(),
        lambda p: [[value] for value in p],
        tuple,
        lambda p: pd.Series(p, index=np.arange(len(p))[::-1]),
        lambda p: pd.DataFrame({"p": p}),
        lambda p: p.astype(object),
        lambda p: pd.array(p, dtype="Float64"),
    ],
    ids=["(n,)", "(n,1)", "list", "nested", "tuple", "Series", "DataFrame", "objects", "nullable"],
)
def test_every_shape_of_one_output_is_the_same(X, classifier, shape):
    own = second(classifier.predict_proba(X))
    predictor = Predictor(lambda table: shape(second(classifier.predict_proba(table))), X)
    assert predictor.output_names == ("prediction",)
    np.testing.assert_array_equal(predictions(predictor, X)[:, 0], own)


def test_integers_and_booleans_are_numbers(X):
    np.testing.assert_array_equal(predictions(Predictor(lambda t: t["open"], X), X), as_columns(X["open"]))
    np.testing.assert_array_equal(predictions(Predictor(lambda t: t["day"], X), X), as_columns(X["day"]))


def test_a_tensor_is_an_array(X):
    torch = pytest.importorskip("torch", reason="torch is optional")
    f = lambda t: torch.tensor(t["day"].to_numpy(dtype=np.float32), requires_grad=True) * 2  # noqa: E731
    np.testing.assert_array_equal(predictions(Predictor(f, X), X)[:, 0], X["day"] * 2.0)


def test_two_columns_that_add_up_to_one_are_a_binary_classifier(X, classifier, verdict):
    def f(table):
        return classifier.predict_proba(table)

    predictor = Predictor(f, X)
    assert (predictor.classes, predictor.output_names, predictor.scale) == ((0, 1), ("1",), "probability")
    np.testing.assert_array_equal(predictions(predictor, X)[:, 0], second(classifier.predict_proba(X)))
    named = Predictor(f, X, labels=verdict)
    assert (named.classes, named.output_names) == (("no", "yes"), ("yes",))


def test_one_probability_of_two_outcomes_is_a_binary_classifier(X, classifier, verdict, amount):
    def f(table):
        return second(classifier.predict_proba(table))

    named = Predictor(f, X, labels=verdict)
    assert (named.task, named.classes, named.output_names) == ("classification", ("no", "yes"), ("yes",))
    np.testing.assert_array_equal(predictions(named, X)[:, 0], f(X))
    no = Predictor(f, X, labels=verdict, output="no")
    np.testing.assert_array_equal(predictions(no, X)[:, 0], 1 - f(X))
    measured = Predictor(f, X, labels=np.where(amount > 5, 0.25, 0.75))
    assert (measured.task, measured.output_names) == ("regression", ("prediction",))


def test_two_columns_that_do_not_add_up_are_two_outputs(X):
    predictor = Predictor(lambda t: np.column_stack([t["day"], t["temp"]]), X)
    assert (predictor.task, predictor.output_names) == ("regression", ("output 0", "output 1"))


def test_bound_methods_keep_the_names_of_their_estimator(X, classifier):
    bound = Predictor(classifier.predict_proba, X)
    assert (bound.output_names, bound.name) == (("yes",), "LogisticRegression")
    assert_faithful(bound, X, lambda t: second(classifier.predict_proba(t)), KNOWN)
    score = Predictor(classifier.decision_function, X)
    assert (score.scale, score.output_names) == ("score", ("yes",))
    assert_faithful(score, X, classifier.decision_function, KNOWN)


def test_bound_predict_of_a_classifier_is_its_hard_decision(X, classifier, level):
    hard = Predictor(classifier.predict, X)
    assert hard.output_names == ("yes",)
    assert_faithful(hard, X, lambda t: classifier.predict(t) == "yes", KNOWN)
    three = RandomForestClassifier(3, random_state=0).fit(X, level)
    assert Predictor(three.predict, X).output_names == ("low", "mid", "top")


def test_bound_predict_of_a_regressor(X, amount):
    model = LinearRegression().fit(X, amount)
    assert_faithful(Predictor(model.predict, X), X, model.predict, KNOWN)


class Thermometer:
    """Nothing but predict."""

    def __init__(self, offset: float):
        self.offset = offset

    def predict(self, X):
        return X["temp"] + self.offset


class Oracle:
    """predict_proba without classes_."""

    def predict_proba(self, X):
        p = 1 / (1 + np.exp(-X["day"].to_numpy(dtype=float)))
        return np.column_stack([1 - p, p])


class Listed(Oracle):
    """classes_ as a plain list."""

    classes_ = ("cold", "hot")


def test_duck_typed_objects(X, verdict):
    thermometer = Predictor(Thermometer(3.0), X)
    assert (thermometer.name, thermometer.library) == ("Thermometer", "any estimator")
    assert_faithful(thermometer, X, Thermometer(3.0).predict, KNOWN)
    assert Predictor(Oracle(), X).output_names == ("1",)
    assert Predictor(Oracle(), X, labels=verdict).output_names == ("yes",)
    listed = Listed()
    listed.classes_ = ["cold", "hot"]
    assert Predictor(listed, X).output_names == ("hot",)
    assert_faithful(Predictor(listed, X), X, lambda t: second(listed.predict_proba(t)))


def test_callable_objects_and_partials(X):
    class Adder:
        def __call__(self, t):
            return t["temp"] + t["day"]

    assert Predictor(Adder(), X).name == "Adder"
    power = functools.partial(lambda t, exponent: t["day"] ** exponent, exponent=2)
    np.testing.assert_array_equal(predictions(Predictor(power, X), X)[:, 0], X["day"] ** 2)


def test_gradient_of_a_function():
    def f(t):
        return t[:, 0] ** 2 + 3 * t[:, 1]

    f.gradient = lambda t: np.column_stack([2 * t[:, 0], np.full(len(t), 3.0)])
    table = np.random.default_rng(0).normal(size=(10, 2))
    predictor = Predictor(f, table)
    np.testing.assert_array_equal(predictor.gradient(table, 10)[:, :, 0], f.gradient(table))
    f.gradient = lambda t: np.full((len(t) - 1, 2), 1.0)
    with pytest.raises(Exception, match="per row, feature and output"):
        Predictor(f, table).gradient(table, 10)


def test_an_adapter_of_ones_own():
    """The model's columns are found by name, and its gradient comes back in the caller's order."""
    adapter = Adapter(
        library="mine",
        name="difference",
        predict=lambda t: 5 * t["b"] - 2 * t["a"],
        feature_names=("b", "a"),
        n_features=2,
        gradient=lambda t: np.tile([5.0, -2.0], (len(t), 1)),
    )
    table = pd.DataFrame({"a": [1.0, 2.0], "unused": [9.0, 9.0], "b": [0.0, 1.0]})
    predictor = Predictor(adapter, table)
    np.testing.assert_array_equal(predictor(table, 2)[:, 0], [-2.0, 1.0])
    np.testing.assert_array_equal(predictor.gradient(table, 2)[:, :, 0], [[-2.0, 0.0, 5.0]] * 2)


@pytest.mark.parametrize("model", [LinearRegression, Thermometer], ids=["sklearn", "own"])
def test_a_class_is_no_model(X, model):
    with pytest.raises(InputError, match=rf"class {model.__name__}, .*call fit"):
        Predictor(model, X)


@pytest.mark.parametrize("model", [None, 3.0, np.ones(3), pd.DataFrame({"a": [1]})])
def test_what_is_no_model_at_all(X, model):
    with pytest.raises(InputError, match=rf"model is a {type(model).__name__}; give"):
        Predictor(model, X)
