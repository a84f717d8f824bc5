"""A row of whole weight w counts like w equal rows, and standard errors are those of repeated sampling."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pellucid import Explainer
from strategies import QUICK, Table, assert_close, bent, tables, varied

WHOLE = tables(category=True, missing=(2,), most=10, whole=True)


def both(table, y=None):
    """Explainers of the weighted table and of the table with repeated rows."""
    counts = [int(w) for w in table.mass]
    repeated = None if y is None else np.repeat(y, counts)
    return table.explainer(bent, y), table.repeated().explainer(bent, repeated)


@given(WHOLE, st.integers(1, 6))
@QUICK
def test_effects_of_whole_weights(table, bins):
    assume(varied(table, 1))
    weighted, repeated = both(table)
    order = sorted({row[0] for row in table.rows})
    calls = [
        lambda ex: ex.pdp("b", grid=5),
        lambda ex: ex.pdp("a"),
        lambda ex: ex.pdp(("a", "b"), grid=4),
        lambda ex: ex.pdp("b", grid=5, center="mean"),
        lambda ex: ex.ale("b", bins=bins),
        lambda ex: ex.ale("b", bins=bins, total=True),
        lambda ex: ex.ale("a", order=order),
        lambda ex: ex.ale(("a", "b"), bins=bins, order=order),
        lambda ex: ex.mplot("a"),
        lambda ex: ex.mplot("b", bins=bins),
    ]
    for call in calls:
        one, other = call(weighted), call(repeated)
        assert_close(one.values, other.values)
        assert_close(one.counts, other.counts)


@given(tables(most=10, whole=True), st.integers(2, 5))
@QUICK
def test_pairs_of_numbers_of_whole_weights(table, bins):
    assume(varied(table, 0) and varied(table, 1))
    one, other = (explainer.ale(("a", "b"), bins=bins) for explainer in both(table))
    assert_close(one.values, other.values)


@given(WHOLE, st.sampled_from(["mse", "mae"]))
@QUICK
def test_importance_of_whole_weights(table, loss):
    y = np.array([bent(row) + 0.1 * i for i, row in enumerate(table.rows)])
    weighted, repeated = both(table, y)
    pairs = [explainer.importance(scheme="pairs", loss=loss) for explainer in (weighted, repeated)]
    assert_close(pairs[0].values, pairs[1].values)
    assert pairs[0].baseline == pytest.approx(pairs[1].baseline, abs=1e-10)
    spreads = [explainer.importance(method="pdp", grid=5) for explainer in (weighted, repeated)]
    assert_close(spreads[0].values, spreads[1].values)


@given(tables(category=True, most=12, weighted=False), st.data())
@QUICK
def test_rows_of_weight_zero_count_like_rows_that_are_not_there(table, data):
    n = len(table.rows)
    mass = data.draw(st.lists(st.sampled_from([0.0, 1.0]), min_size=n, max_size=n))
    kept = [row for row, w in zip(table.rows, mass, strict=True) if w]
    assume(len(kept) > 1 and {row[0] for row in kept} == {row[0] for row in table.rows})
    weighted, fewer = Table(table.rows, mass).explainer(bent), Table(kept).explainer(bent)
    for call in (
        lambda ex: ex.pdp("b", at=[0.0, 1.5]),
        lambda ex: ex.ale("b", bins=3),
        lambda ex: ex.ale("a"),
        lambda ex: ex.mplot("a"),
    ):
        assert_close(call(weighted).values, call(fewer).values)


def test_rows_of_weight_zero_can_be_explained():
    table = Table([[0.0, 1.0, 2.0], [1.0, -1.0, 0.5], [2.0, 0.0, 1.0]], [0.0, 0.0, 3.0])
    explainer = table.explainer(bent)
    curves = explainer.ice("a", rows=[0, 1])
    assert_close(curves.values[1], [bent([g, -1.0, 0.5]) for g in (0.0, 1.0, 2.0)])
    assert_close(curves.average, curves.values.mean(axis=0))
    assert_close(explainer.pdp("a", rows=[0, 1]).values, curves.average)


@given(tables(category=True, most=10, missing=(1,)), st.integers(2, 9))
@QUICK
def test_only_the_ratio_of_weights_matters_to_effects(table, factor):
    assume(varied(table, 1) and varied(table, 2))
    one = table.explainer(bent)
    other = Table(table.rows, [w * factor for w in table.mass]).explainer(bent)
    for call in (
        lambda ex: ex.pdp("b"),
        lambda ex: ex.ale("c", bins=3),
        lambda ex: ex.ale("a"),
        lambda ex: ex.mplot("c"),
    ):
        a, b = call(one), call(other)
        assert_close(a.values, b.values)
        assert_close(np.nan_to_num(a.se), np.nan_to_num(b.se), 1e-7)


# -- standard errors ---------------------------------------------------------------------------------


def draw(rng, n):
    x = rng.normal(size=n)
    return np.column_stack([x, 0.6 * x + 0.8 * rng.normal(size=n), rng.exponential(size=n)])


def wavy(X):
    return X[:, 0] * X[:, 1] + np.sin(X[:, 2]) + X[:, 1]


def check_errors(call, samples, tolerance=0.2):
    """The reported errors are the spread of the estimates over the samples."""
    results = [call(Explainer(wavy, X, checks=False)) for X in samples]
    values, errors = np.stack([r.values for r in results]), np.stack([r.se for r in results])
    ratio = np.sqrt(np.square(errors).mean(axis=0)) / values.std(axis=0, ddof=1)
    np.testing.assert_allclose(ratio, 1.0, atol=tolerance)


@pytest.mark.parametrize(
    "call",
    [lambda ex: ex.pdp(0, at=[-1.5, 0.0, 2.0]), lambda ex: ex.pdp((0, 2), at=[[-1.5, 1.0], [0.5, 2.0]])],
    ids=["one", "pair"],
)
def test_errors_of_pdp_are_the_spread_over_repeated_samples(call):
    rng = np.random.default_rng(0)
    check_errors(call, [draw(rng, 150) for _ in range(400)])


def test_errors_of_ale_are_the_spread_over_repeated_samples():
    edges = [-4.0, -1.0, -0.3, 0.3, 1.0, 4.0]
    rng = np.random.default_rng(3)
    check_errors(lambda ex: ex.ale(0, bins=edges), [draw(rng, 150) for _ in range(400)])


def test_errors_of_a_pair_are_the_spread_over_repeated_samples():
    # Nothing varies within a cell of a product; what varies is how many rows the cells hold.
    edges = [-4.5, -0.5, 0.5, 4.5]
    rng = np.random.default_rng(5)
    samples = [draw(rng, 400) for _ in range(150)]
    check_errors(lambda ex: ex.ale((0, 1), bins=(edges, edges)), samples, tolerance=0.35)


def test_error_of_a_total_effect_bounds_the_spread_over_repeated_samples():
    rng = np.random.default_rng(4)
    values, errors = [], []
    for _ in range(200):
        effect = Explainer(wavy, draw(rng, 150), checks=False).ale(1, bins=[-4.0, -1.0, 0.0, 1.0, 4.0], total=True)
        values.append(effect.values)
        errors.append(effect.se)
    assert (np.mean(errors, axis=0) > 0.95 * np.std(values, axis=0, ddof=1)).all()


def test_error_of_a_weighted_pdp_is_that_of_the_effective_sample():
    rng = np.random.default_rng(1)
    values, errors = [], []
    for _ in range(400):
        mass = rng.exponential(size=150)
        effect = Explainer(wavy, draw(rng, 150), sample_weight=mass, checks=False).pdp(0, at=[1.0])
        values.append(effect.values[0])
        errors.append(effect.se[0])
    assert np.sqrt(np.square(errors).mean()) / np.std(values, ddof=1) == pytest.approx(1.0, abs=0.2)


def test_error_of_permutation_importance_is_the_spread_over_repeated_samples():
    rng = np.random.default_rng(2)
    values, errors = [], []
    for _ in range(300):
        X = draw(rng, 150)
        y = wavy(X) + rng.normal(size=150)
        result = Explainer(wavy, X, y, checks=False).importance(scheme="pairs", loss="mae")
        values.append(result.values)
        errors.append(result.se)
    ratio = np.sqrt(np.square(errors).mean(axis=0)) / np.std(values, axis=0, ddof=1)
    assert (ratio > 0.7).all()  # rows are treated as independent, although they lend each other values
    assert (ratio < 1.2).all()
