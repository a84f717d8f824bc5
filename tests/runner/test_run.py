"""The runner gives the numbers of a plain loop, whatever the table, the batches and the workers."""

import threading

import joblib
import numpy as np
import pytest

from data.every_dtype import every_table
from data.own_operations import fingerprint
from pellucid.data import Data
from pellucid.errors import InputError, ModelError
from pellucid.models import Predictor
from pellucid.runner import Intervention, Limits, Run, constant_intervention
from runner.asking import multiply, naive, noticing, numbers

KINDS = [
    "pandas",
    "pandas one dtype",
    "polars",
    "arrow chunked",
    "structured",
    "records",
    "numpy float32",
    "numpy object",
    "csr_array float64",
    "csc_matrix float64",
]
N = 6


def intervention_of(data, features, index, rows=None):
    return Intervention(features, tuple(data.frame.native_column(j) for j in features), index, rows)


@pytest.fixture(params=KINDS)
def asked(request):
    """A table of each kind, its Data and a predictor; the table must come out as it went in."""
    table = every_table()[request.param]
    before = fingerprint(table)
    yield table, Data.of(table), Predictor(noticing, table)
    assert fingerprint(table) == before


@pytest.mark.parametrize("memory", [1, 2_000, 2**26])
def test_another_value_in_each_row(asked, memory):
    table, data, predictor = asked
    index = np.random.default_rng(0).integers(0, N, size=(5, N, 2))
    found = Run(limits=Limits(batch_bytes=memory)).collect(predictor, data, intervention_of(data, (2, 0), index))
    np.testing.assert_array_equal(found, naive(table, (2, 0), index))


@pytest.mark.parametrize("memory", [1, 2**26])
def test_the_same_value_in_all_rows(asked, memory):
    table, data, predictor = asked
    index = np.array([[3, 0], [1, 1], [5, 2]])
    found = Run(limits=Limits(batch_bytes=memory)).collect(predictor, data, intervention_of(data, (0, 1), index))
    np.testing.assert_array_equal(found, naive(table, (0, 1), np.repeat(index[:, None, :], N, axis=1)))


@pytest.mark.parametrize("memory", [1, 2**26])
def test_some_of_the_rows(asked, memory):
    table, data, predictor = asked
    rows = np.array([4, 0, 4])
    index = np.random.default_rng(0).integers(0, N, size=(3, 3, 1))
    found = Run(limits=Limits(batch_bytes=memory)).collect(predictor, data, intervention_of(data, (1,), index, rows))
    np.testing.assert_array_equal(found, naive(table, (1,), index, rows))


def test_the_table_as_it_is(asked):
    table, data, predictor = asked
    np.testing.assert_array_equal(Run().predict(predictor, data), noticing(table))


def test_several_interventions_in_one_stream(asked):
    """Features after one another, with and without rows of their own: untouched columns are restored."""
    table, data, predictor = asked
    rng = np.random.default_rng(0)
    wanted = [((j,), rng.integers(0, N, size=(variants, N, 1)), None) for j, variants in enumerate((2, 5, 1))]
    wanted.append(((1,), rng.integers(0, N, size=(2, 2, 1)), np.array([5, 1])))
    interventions = [intervention_of(data, *one) for one in wanted]
    for memory in (1, 300, 2**26):
        out = [np.full((intervention.variants, intervention.n_rows(data), 2), np.nan) for intervention in interventions]
        for batch in Run(limits=Limits(batch_bytes=memory)).stream(predictor, data, interventions):
            out[batch.intervention][batch.variants, batch.rows] = batch.predictions
        for found, (features, index, rows) in zip(out, wanted, strict=True):
            np.testing.assert_array_equal(found, naive(table, features, index, rows))


def test_a_grid_of_two_features_varies_the_last_one_fastest():
    X, data, predictor = numbers()
    intervention = constant_intervention(data, (2, 0), (np.array([0.0, 1.0]), np.array([5.0, 6.0, 7.0])))
    found = Run().collect(predictor, data, intervention)[:, :, 0]
    expected = [
        multiply(np.stack([np.full(40, b), X[:, 1], np.full(40, a)], axis=1)) for a in (0, 1) for b in (5, 6, 7)
    ]
    np.testing.assert_array_equal(found, expected)


# -- workers -------------------------------------------------------------------------------------------


def test_two_threads_give_the_numbers_of_one(asked):
    _, data, predictor = asked
    index = np.random.default_rng(0).integers(0, N, size=(9, N, 1))
    interventions = [intervention_of(data, (j,), index) for j in (0, 1)]
    streams = [
        list(Run(n_jobs=n_jobs, limits=Limits(batch_bytes=500)).stream(predictor, data, interventions))
        for n_jobs in (1, 2)
    ]
    assert len(streams[0]) == len(streams[1]) > 2
    for one, two in zip(*streams, strict=True):
        assert (one.intervention, one.variants, one.rows) == (two.intervention, two.variants, two.rows)
        assert one.predictions.tobytes() == two.predictions.tobytes()


def test_two_processes_give_the_numbers_of_one(asked):
    _, data, predictor = asked
    index = np.random.default_rng(0).integers(0, N, size=(3, N, 1))
    intervention = intervention_of(data, (1,), index)
    with joblib.parallel_config(backend="loky"):
        found = Run(n_jobs=2, limits=Limits(batch_bytes=100)).collect(predictor, data, intervention)
    assert found.tobytes() == Run().collect(predictor, data, intervention).tobytes()


def test_a_function_without_a_name_goes_to_other_processes_once():
    """The model is not serialised with every batch."""
    X, data, _ = numbers()
    predictor = Predictor(_Counting(), X)
    with joblib.parallel_config(backend="loky", n_jobs=2):
        found = Run(limits=Limits(batch_bytes=100)).predict(predictor, data)
    _Counting.serialised, count = 0, _Counting.serialised
    np.testing.assert_array_equal(found[:, 0], multiply(X))
    assert count == 1


class _Counting:
    serialised = 0

    def __call__(self, X):
        return multiply(X)

    def __reduce__(self):
        type(self).serialised += 1
        return (lambda: multiply, ())


def test_a_model_that_cannot_be_sent_says_so():
    X, data, _ = numbers()
    lock = threading.Lock()
    predictor = Predictor(lambda X: multiply(X) if lock else None, X)
    with (
        joblib.parallel_config(backend="loky", n_jobs=2),
        pytest.raises(ModelError, match=r"other processes.*use threads"),
    ):
        Run(limits=Limits(batch_bytes=100)).predict(predictor, data)
    assert Run(limits=Limits(batch_bytes=100), n_jobs=2).predict(predictor, data).shape == (40, 1)


@pytest.mark.parametrize("n_jobs", [0, "two"])
def test_numbers_of_workers_that_make_no_sense(n_jobs):
    _, data, predictor = numbers()
    with pytest.raises(InputError, match="n_jobs must"):
        Run(n_jobs=n_jobs, limits=Limits(batch_bytes=100)).predict(predictor, data)


# -- models with habits ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["pandas one dtype", "numpy float32", "csr_array float64", "numpy object"])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_model_that_writes_into_its_input_spoils_nothing(kind, n_jobs):
    table = every_table()[kind]
    before = fingerprint(table)

    def spoiling(X):
        marks = noticing(X)
        if hasattr(X, "iloc"):
            X.iloc[:, :] = -1
        elif hasattr(X, "data") and hasattr(X, "indptr"):
            X.data[:] = -1
        else:
            X[:] = -1
        return marks

    data, predictor = Data.of(table), Predictor(spoiling, table)
    index = np.random.default_rng(0).integers(0, N, size=(4, N, 1))
    for memory in (1, 2**26):
        run = Run(limits=Limits(batch_bytes=memory), n_jobs=n_jobs)
        np.testing.assert_array_equal(run.predict(predictor, data), noticing(table))
        np.testing.assert_array_equal(
            run.collect(predictor, data, intervention_of(data, (1,), index)), naive(table, (1,), index)
        )
        rows = np.array([2, 2, 5])
        some = intervention_of(data, (1,), index[:, :3], rows)
        np.testing.assert_array_equal(run.collect(predictor, data, some), naive(table, (1,), index[:, :3], rows))
    assert fingerprint(table) == before


def test_a_model_that_returns_a_view_of_its_input():
    X, data, _ = numbers()
    predictor = Predictor(lambda X: X[:, 1], X)
    index = np.random.default_rng(0).integers(0, 40, size=(5, 40, 1))
    found = Run(limits=Limits(batch_bytes=4_000), n_jobs=2).collect(predictor, data, intervention_of(data, (1,), index))
    np.testing.assert_array_equal(found[:, :, 0], X[index[:, :, 0], 1])


# -- what is kept from one run to the next ----------------------------------------------------------------


def test_what_belongs_to_an_object_is_worked_out_once_and_anew_for_another():
    known, calls = {}, []
    one, other = [1], [1]  # equal, and yet another
    for of in (one, one, other, other, one):
        assert Run(memory_of=known).keep("sum", of, lambda of=of: calls.append(of) or sum(of)) == 1
    assert [of is one for of in calls] == [True, False, True]
