"""Permutation and PDP importance equal their slow twins, on the donors that the library drew."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pellucid.methods.importance.estimation.donors import donor_rows
from pellucid.runner import Run
from reference import importance as slow
from reference.partial_dependence import pdp_importance
from strategies import NAMES, QUICK, Table, assert_close, bent, is_missing, tables

SCHEMES = st.sampled_from(["shuffle", "halves"])
SEEDS = st.integers(0, 10**6)


def squared(y, p):
    return (y - p) ** 2


def absolute(y, p):
    return abs(y - p)


LOSSES = {"mse": squared, "mae": absolute}


def outcomes(table):
    """An outcome the model gets wrong by different amounts."""
    return [bent(row) + math.sin(3.0 * i) for i, row in enumerate(table.rows)]


def expected_losses(table, y, donors, loss, players):
    """Mean over repeats of the permuted loss of each player."""
    each = [
        [slow.permuted_loss(LOSSES[loss], bent, table.rows, y, table.mass, d, p) for d in donors.tolist()]
        for p in players
    ]
    return np.array(each)


@given(tables(missing=(1,), most=15), SCHEMES, st.integers(1, 6), st.sampled_from(sorted(LOSSES)), SEEDS)
@QUICK
def test_permutation_importance_for_the_same_donors(table, scheme, repeats, loss, seed):
    y = outcomes(table)
    explainer = table.explainer(bent, y, random_state=seed)
    result = explainer.importance(scheme=scheme, repeats=repeats, loss=loss)
    donors = donor_rows(Run(seed=seed), explainer.data, scheme, repeats)
    after = expected_losses(table, y, donors, loss, [(0,), (1,), (2,)])
    before = slow.model_loss(LOSSES[loss], bent, table.rows, y, table.mass)
    assert result.baseline == pytest.approx(before, abs=1e-10)
    assert_close(result.repeats, after - before)
    assert_close(result.values, after.mean(axis=1) - before)
    ratio = explainer.importance(scheme=scheme, repeats=repeats, loss=loss, compare="ratio")
    assert_close(ratio.values, after.mean(axis=1) / before)
    together = expected_losses(table, y, donors, loss, [(0, 1, 2)])
    assert_close(result.joint, together.mean() - before)


@given(tables(category=True, most=15), SCHEMES, SEEDS)
@QUICK
def test_groups_move_together(table, scheme, seed):
    y = outcomes(table)
    explainer = table.explainer(bent, y, random_state=seed, groups={"pair": ["a", "c"]})
    result = explainer.importance(scheme=scheme, repeats=3, loss="mse")
    donors = donor_rows(Run(seed=seed), explainer.data, scheme, 3)
    after = expected_losses(table, y, donors, "mse", [(0, 2), (1,)]).mean(axis=1)
    assert result.feature_names == ("pair", "b")
    assert result.members == (("a", "c"), ("b",))
    assert_close(result.values, after - result.baseline)


@given(tables(missing=(0,), most=12, whole=True), st.sampled_from(sorted(LOSSES)))
@QUICK
def test_all_pairs_with_whole_weights(table, loss):
    y = outcomes(table)
    result = table.explainer(bent, y).importance(scheme="pairs", loss=loss)
    many = table.repeated()
    assume(len(many.rows) > 2)
    targets = [t for t, w in zip(y, table.mass, strict=True) for _ in range(int(w))]
    after = [slow.pairs_loss(LOSSES[loss], bent, many.rows, targets, (j,)) for j in range(3)]
    assert_close(result.values, np.array(after) - result.baseline)


@given(tables(category=True, most=12, weighted=False))
@QUICK
def test_all_pairs_of_a_group_and_of_everything(table):
    y = outcomes(table)
    result = table.explainer(bent, y, groups={"pair": ["a", "b"]}).importance(scheme="pairs", loss="mse")
    after = [slow.pairs_loss(squared, bent, table.rows, y, player) for player in ((0, 1), (2,))]
    assert_close(result.values, np.array(after) - result.baseline)
    together = slow.pairs_loss(squared, bent, table.rows, y, (0, 1, 2))
    assert_close(result.joint, together - result.baseline)


@given(tables(most=12, weighted=False))
@QUICK
def test_a_loss_of_all_rows_together_goes_through_the_shifts(table):
    y = outcomes(table)

    def rmse(y, p):
        return math.sqrt(sum((a - b) ** 2 for a, b in zip(y, p, strict=True)) / len(y))

    result = table.explainer(bent, y).importance(scheme="pairs", loss="rmse")
    after = [slow.shifted_loss(rmse, bent, table.rows, y, (j,)) for j in range(3)]
    assert_close(result.values, np.array(after) - result.baseline)


@given(tables(most=10, weighted=False), st.integers(0, 2**10 - 1), SEEDS)
@QUICK
def test_probabilities_and_log_loss(table, labels, seed):
    y = [(labels >> i) & 1 for i in range(len(table.rows))]
    assume(0 < sum(y) < len(y))

    def chance(row):
        return 1 / (1 + math.exp(-bent(row) / 10))

    def log_loss(t, p):
        return -math.log(p if t == 1 else 1 - p)

    explainer = table.explainer(chance, y, random_state=seed)
    result = explainer.importance(repeats=2)
    donors = donor_rows(Run(seed=seed), explainer.data, "shuffle", 2).tolist()
    assert result.measure == "log_loss"
    before = slow.model_loss(log_loss, chance, table.rows, y, table.mass)
    after = [
        sum(slow.permuted_loss(log_loss, chance, table.rows, y, table.mass, d, (j,)) for d in donors) / 2
        for j in range(3)
    ]
    assert_close(result.values, np.array(after) - before)


@pytest.mark.parametrize("scheme", ["shuffle", "halves"])
def test_rows_are_asked_once_where_values_are_few_and_not_at_all_where_they_stay(scheme):
    # One column for each way to ask: a binary one (the other value, once per row), a mostly constant one
    # (only rows that change), a continuous one (every row in every repeat).
    rng = np.random.default_rng(3)
    n, repeats = 60, 4
    rare = np.where(rng.random(n) < 0.15, rng.integers(1, 29, n) / 4, 0.0)
    rows = np.column_stack([rng.integers(0, 2, n), rare, rng.normal(size=n)]).tolist()
    table = Table(rows)
    y = outcomes(table)
    explainer = table.explainer(bent, y)
    result = explainer.importance(scheme=scheme, repeats=repeats, loss="mse")
    donors = donor_rows(Run(seed=0), explainer.data, scheme, repeats)
    moved = int((rare[donors] != rare).sum())
    assert 0 < moved < n * repeats / 2
    assert result.cost.model_rows == n + n + moved + n * repeats
    after = expected_losses(table, y, donors, "mse", [(0,), (1,), (2,)]).mean(axis=1)
    assert_close(result.values, after - result.baseline)


@given(st.integers(2, 40), SEEDS)
@QUICK
def test_donors_are_permutations_and_swaps_of_halves(n, seed):
    data = Table([[float(i), 0.0, 1.0] for i in range(n)]).explainer(bent).data
    for donors in donor_rows(Run(seed=seed), data, "shuffle", 3):
        assert sorted(donors.tolist()) == list(range(n))
    for donors in donor_rows(Run(seed=seed), data, "halves", 3):
        assert int((donors[donors] != np.arange(n)).sum()) == 3 * (n % 2)  # all swap, but three of an odd number
        assert (donors != np.arange(n)).all()


def test_weighted_donors_come_in_proportion_to_their_weights():
    mass = [0.0, 1.0, 2.0, 5.0]
    data = Table([[float(i), 0.0, 1.0] for i in range(4)], mass).explainer(bent).data
    donors = donor_rows(Run(seed=1), data, "shuffle", 4000)
    shares = np.bincount(donors.ravel(), minlength=4) / donors.size
    np.testing.assert_allclose(shares, np.array(mass) / 8, atol=0.01)


@given(tables(category=True, missing=(1, 2), most=12), st.integers(2, 8))
@QUICK
def test_pdp_importance(table, size):
    result = table.explainer(bent).importance(method="pdp", grid=size)
    for j in range(len(NAMES)):
        values = sorted({row[j] for row in table.rows if not is_missing(row[j])})
        if j > 0 and len(values) > size:
            values = [values[round(k)] for k in np.linspace(0, len(values) - 1, size)]
        expected = pdp_importance(bent, table.rows, j, values, table.mass, nominal=j == 0)
        assert result.values[j] == pytest.approx(expected, abs=1e-9)
