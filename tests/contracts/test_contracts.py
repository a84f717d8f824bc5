"""What every method promises, whatever it computes."""

import copy
import json

import numpy as np
import pytest

import pellucid
from contracts.methods import METHODS
from contracts.tables import KINDS, NAMES, as_pandas, as_structured, columns, model, outcome
from contracts.usual import explainer, usual
from limits import limited
from pellucid import Explainer
from pellucid.explanations import Rules
from pellucid.explanations.store import encode

every_method = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS.keys())


def content(result) -> str:
    """A result as text, bit for bit, without what may differ between runs and kinds of table."""
    return json.dumps(_timeless(encode(result)))


def _timeless(encoded):
    if isinstance(encoded, dict):
        return {key: _timeless(item) for key, item in encoded.items() if key not in ("cost", "library")}
    return [_timeless(item) for item in encoded] if isinstance(encoded, list) else encoded


def check_same_numbers(a, b, tolerance=1e-9):
    np.testing.assert_allclose(a.values, b.values, rtol=tolerance, atol=tolerance)
    assert a.feature_names == b.feature_names


@every_method
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_table_and_weights_of_one_give_the_same_answer_in_its_own_kind_and_stay_as_they_are(method, kind):
    table = KINDS[kind](columns())
    before, y, weights = copy.deepcopy(table), outcome(table), np.ones(len(outcome(table)))
    y_before = y.copy()
    found = method(explainer(table, sample_weight=weights))

    _, expected = usual(method)
    np.testing.assert_array_equal(found.values, expected.values)
    np.testing.assert_array_equal(found.se, expected.se)
    if kind == "pandas":  # the same seed in another Explainer, and weights of one, change not a bit of the result
        assert content(found) == content(expected)
    assert found.feature_names == expected.feature_names
    assert [caveat.code for caveat in found.caveats] == [caveat.code for caveat in expected.caveats]
    if kind in ("pandas", "polars", "arrow", "records"):
        assert type(found.frame()) is type(table)

    if hasattr(table, "equals"):
        assert table.equals(before)
    else:
        assert repr(table) == repr(before)
    np.testing.assert_array_equal(y, y_before)
    np.testing.assert_array_equal(weights, 1)


@pytest.mark.parametrize("method", [pytest.param(m, id=name) for name, m in METHODS.items() if m.features])
def test_positions_and_names_are_the_same(method):
    ex, by_name = usual(method)
    assert content(by_name) == content(method(ex, by=NAMES.index))


def check_threads_and_batches(method, table):
    whole = method(explainer(table))
    # No batch holds the whole table.
    one, two = (method(limited(explainer(table, n_jobs=jobs), batch_rows=37)) for jobs in (1, 2))
    assert content(one) == content(two)
    check_same_numbers(one, whole, tolerance=1e-10)


@every_method
def test_threads_do_not_change_a_bit_and_the_size_of_batches_does_not_matter(method):
    check_threads_and_batches(method, as_structured(columns(40)))  # of all kinds of table the one cut up most quickly


@pytest.mark.parametrize("kind", KINDS)
def test_threads_and_batches_in_every_kind_of_table(kind):
    for name in ("pdp pair", "importance halves", "shap"):
        check_threads_and_batches(METHODS[name], KINDS[kind](columns(40)))


@every_method
def test_asking_again_gives_the_same_bytes(method):
    ex, first = usual(method)
    assert content(first) == content(method(ex))


@every_method
def test_duplicated_rows_are_weights_of_two(method):
    if not method.weighable:
        pytest.skip("rows are drawn at random, or are themselves the result")
    table = columns()
    weights = np.where(np.arange(len(table["temp"])) % 3 == 0, 2, 1)
    repeated = as_pandas({name: np.repeat(column, weights) for name, column in table.items()})
    y = outcome(as_pandas(table))
    weighted = Explainer(model, as_pandas(table), y, sample_weight=weights, progress=False)
    duplicated = Explainer(model, repeated, np.repeat(y, weights), progress=False)
    check_same_numbers(method(weighted), method(duplicated))


def parts(result) -> list[frozenset[str]]:
    """The features that each value is about."""
    sets = getattr(result, "sets", [(name,) for name in result.feature_names])
    return [frozenset(names) for names in sets]


BY_ROW = (
    pellucid.Performance,
    pellucid.Influence,
    pellucid.Triage,
    pellucid.Poisoning,
    pellucid.RobustFit,
    pellucid.Prototypes,
    pellucid.FragileRows,
    pellucid.Surrogate,
    pellucid.Surrogates,
)


@every_method
def test_order_of_columns_does_not_matter(method):
    table = as_pandas(columns())
    expected, found = usual(method)[1], method(explainer(table[list(NAMES[::-1])]))
    if method.features:
        check_same_numbers(found, expected)
    elif isinstance(found, BY_ROW):  # by measure, by row
        check_same_numbers(pellucid.explanations.changed(found, feature_names=expected.feature_names), expected)
    elif isinstance(found, pellucid.Audit):  # by question; mixtures of rows are drawn column by column
        np.testing.assert_allclose(found.values[:5], expected.values[:5], rtol=1e-9, atol=1e-12)
    else:
        order = [parts(found).index(names) for names in parts(expected)]
        if isinstance(found, pellucid.Attribution | Rules):
            np.testing.assert_allclose(found.values[:, order], expected.values, rtol=1e-9, atol=1e-12)
            return
        square = found.values.shape == (len(order), len(order))
        values = found.values[np.ix_(order, order)] if square else found.values[order]
        np.testing.assert_allclose(values, expected.values, rtol=1e-9, atol=1e-12)


@every_method
def test_every_result_can_speak_draw_and_be_stored(method, tmp_path):
    _, result = usual(method)
    assert result.se.shape == result.values.shape
    assert str(result) == result.text()
    assert len(result.text()) > 20
    assert len(result.frame()) >= 1
    assert result.settings["method"]
    assert result.cost.total_seconds > 0
    assert not result.values.flags.writeable
    with pytest.raises(AttributeError):
        result.values = None
    for name in ("result.json", "result.parquet"):
        loaded = pellucid.load(result.save(tmp_path / name))
        assert loaded == result
        assert loaded.values.tobytes() == result.values.tobytes()
        assert loaded.text() == result.text()
    assert result.plot().spec["$schema"].startswith("https://vega.github.io/schema/vega-lite")


@every_method
def test_y_is_needed_only_where_it_is_compared(method):
    ex = explainer(as_pandas(columns()), y=False)
    if method.needs_y and (
        method.options.get("loss")
        or method.call
        in (Explainer.performance, Explainer.influence, Explainer.triage, Explainer.poisoning, Explainer.robust)
    ):
        with pytest.raises(pellucid.InputError, match="give y"):
            method(ex)
    else:
        assert np.isfinite(method(ex).values).all()


@every_method
def test_a_model_that_fails_halfway_is_a_clear_error(method):
    calls = {"n": 0}

    def failing(table):
        calls["n"] += 1
        if calls["n"] > 2:
            raise RuntimeError("out of memory on the device")
        return model(table)

    table = as_pandas(columns())
    ex = Explainer(failing, table, outcome(table), progress=False, checks=False)
    if method.call in (Explainer.associations, Explainer.clusters) and not method.needs_y:
        assert method(ex).values.shape == (5, 5)
        return
    with pytest.raises(pellucid.ModelError, match=r"RuntimeError: out of memory"):
        method(ex)
