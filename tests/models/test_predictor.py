"""Every call of the model is checked, and its habits are noticed."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from models.asking import predictions
from pellucid.data import Data
from pellucid.errors import InputError, ModelError
from pellucid.models import Predictor
from pellucid.runner import Run, constant_intervention


@pytest.fixture(scope="module")
def X(mixed):
    return mixed[["temp", "day", "open"]].fillna(0.0)


@pytest.fixture(scope="module")
def two(X, verdict):
    return LogisticRegression(max_iter=500).fit(X, verdict)


# -- what a model may not return ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (lambda X: np.zeros(len(X) - 1), r"returned 15 predictions for 16 rows; it must return one per row"),
        (lambda X: np.zeros((1, len(X))), r"returned 1 predictions for 16 rows"),
        (lambda X: np.zeros((len(X), 2, 2)), r"array with 3 dimensions for 16 rows; it must return \(rows,\)"),
        (lambda X: 1.0, r"array with 0 dimensions for 16 rows"),
        (lambda X: None, r"returned None, which is not an array of numbers"),
        (lambda X: np.array(["yes"] * len(X)), r"returned \['yes'\], .* explain its probabilities"),
        (lambda X: np.array(["1"] * len(X), dtype=object), r"returned \['1'\], which is not an array of numbers"),
        (lambda X: [[1.0]] * (len(X) - 1) + [[1.0, 2.0]], r"which is not an array of numbers"),
        (lambda X: np.full(len(X), 1j), r"which is not an array of numbers"),
        (lambda X: np.where(np.arange(len(X)) == 3, np.nan, 1.0), r"predicted nan for row 3 .*impute missing"),
        (lambda X: np.where(np.arange(len(X)) == 5, np.inf, 1.0), r"predicted inf for row 5 .*bound the output"),
    ],
    ids=["short", "row", "cube", "scalar", "none", "text", "digits", "ragged", "complex", "nan", "inf"],
)
def test_what_is_no_prediction(X, returned, message):
    with pytest.raises(ModelError, match=message):
        Predictor(returned, X)


def test_checks_hold_for_every_later_call(X):
    """A model that behaves on the first rows and not on the rest."""
    where = {"nan": False, "width": False}

    def f(table):
        p = np.ones((len(table), 1 + where["width"]))
        p[-1] = np.nan if where["nan"] else 1.0
        return p

    predictor = Predictor(f, X)
    where["nan"] = True
    with pytest.raises(ModelError, match=r"f predicted nan for row 149"):
        predictions(predictor, X)
    where["nan"], where["width"] = False, True
    with pytest.raises(ModelError, match=r"2 outputs after 1"):
        predictions(predictor, X)


def test_a_failing_model_is_quoted(X):
    def f(table):
        raise KeyError("humidity\nis not there")

    with pytest.raises(ModelError, match=r"batch of 16 rows: KeyError: .*humidity") as caught:
        Predictor(f, X)
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value.__cause__, KeyError)


def test_a_model_that_says_it_is_not_fitted(X):
    class Raw:
        def predict(self, table):
            raise NotFittedError

    with pytest.raises(InputError, match=r"Raw .*call fit"):
        Predictor(Raw(), X)


# -- behaviour ------------------------------------------------------------------------------------


def test_deterministic_models_are_stable(X, two):
    assert Predictor(two, X).instability == 0.0
    assert Predictor(lambda t: np.full(len(t), 7.0), X).instability == 0.0


def test_a_random_model_is_unstable(X):
    rng = np.random.default_rng(0)
    noisy = Predictor(lambda t: t["day"] + rng.normal(size=len(t)), X)
    assert 0.05 < noisy.instability < 2.0
    far = Predictor(lambda t: 1e5 + t["day"] + rng.normal(size=len(t)), X)  # small beside its level
    assert 0.05 < far.instability < 2.0


def test_a_model_that_looks_at_the_whole_batch_is_unstable(X):
    assert Predictor(lambda t: t["day"].to_numpy() * np.arange(len(t)), X).instability > 0.05


def greedy(table):
    """Doubles its input in place."""
    table *= 2
    return table.sum(axis=1)


@pytest.mark.parametrize("kind", ["numpy", "pandas"])
def test_a_model_that_writes_into_its_input_gets_copies(X, kind):
    table = X[["temp", "day"]].astype(float)
    original = table.copy()
    native = table.to_numpy() if kind == "numpy" else table
    predictor = Predictor(greedy, native)
    assert predictor.mutates
    data = Data.of(native)
    expected = 2 * original.to_numpy().sum(axis=1)
    np.testing.assert_array_equal(predictor(native, len(table))[:, 0], expected)
    for _ in range(2):
        np.testing.assert_array_equal(Run().predict(predictor, data)[:, 0], expected)
    intervention = constant_intervention(data, (1,), (np.arange(5.0),))
    got = Run().collect(predictor, data, intervention)[:, :, 0]
    by_hand = 2 * (original["temp"].to_numpy() + np.arange(5.0)[:, None])
    np.testing.assert_array_equal(got, by_hand)
    np.testing.assert_array_equal(np.asarray(native), original.to_numpy())


@pytest.mark.parametrize(
    "change",
    [lambda t: t.pop("temp"), lambda t: t.loc.__setitem__(len(t), t.iloc[0]), lambda t: t.isetitem(0, t["temp"] + 1)],
    ids=["drops a column", "adds a row", "replaces a column"],
)
def test_structural_changes_are_seen(X, change):
    def f(table):
        answer = table["day"].to_numpy(dtype=float)
        change(table)
        return answer

    predictor = Predictor(f, X)
    assert predictor.mutates
    np.testing.assert_array_equal(predictions(predictor, X)[:, 0], X["day"])


def test_reading_is_not_writing(mixed):
    """Missing values of every kind compare equal to themselves."""
    dates = mixed.assign(when=np.datetime64("2024-01-01", "us"))
    dates.loc[:3, "when"] = None
    assert not Predictor(lambda t: t["day"], dates).mutates


def test_the_models_own_buffer_is_not_kept(X):
    buffer = np.zeros(len(X))

    def f(table):
        buffer[: len(table)] = table["day"]
        return buffer[: len(table)]

    predictor = Predictor(f, X)
    first = predictor(X, len(X))
    predictor(X.assign(day=0), len(X))
    np.testing.assert_array_equal(first[:, 0], X["day"])
