"""Rows drawn for a rule: they obey it, they have the right distribution, and equal rows are told to be equal."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pellucid.data import Data
from pellucid.methods.rules.search.bandit import Wants
from pellucid.methods.rules.search.perturbation import Conditional, FromData, Sources, balanced
from pellucid.methods.rules.search.predicates import TableSpace, first_cells
from pellucid.runner import Run
from reference.anchors import interval_precision


def place(table, row=0, *, weights=None, kind=FromData, players=None, rows=None):
    data = Data.of(table, sample_weight=weights)
    explained = data.rows(row)
    players = players or data.schema.players()
    sources = Sources(data, explained, players)
    space = TableSpace(
        data, sources.codes[sources.n], players, first_cells(data, sources.codes[sources.n], players, {})
    )
    return space, kind(sources, space, data.weights, np.arange(len(data)), Run(seed=3)), data


def drawn_codes(perturbation, bits, n, episode=1, start=0):
    wants = Wants(episode, bits, np.full(len(bits), start), np.full(len(bits), n))
    drawn = perturbation.draw(wants)
    return drawn, drawn.codes(np.arange(len(drawn.arm)))


def table(n=40, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "a": rng.normal(size=n).round(1),
            "b": rng.integers(0, 9, n),
            "c": np.array(["x", "y", "z"], dtype=object)[rng.integers(0, 3, n)],
            "d": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
        }
    )


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 39), st.lists(st.booleans(), min_size=4, max_size=4), st.integers(0, 5))
def test_rows_obey_the_rule_and_the_rest_is_a_row_of_the_data(row, kept, seed):
    space, perturbation, data = place(table(seed=seed), row)
    rule = [q for q, predicate in enumerate(space.predicates) if kept[predicate.player]]
    bits = space.bits([tuple(rule)])
    _, codes = drawn_codes(perturbation, bits, 50)
    held = {space.predicates[q].player for q in rule}
    for q in rule:
        for j, cell in space.predicates[q].cells.items():
            assert cell.holds(codes[:, j]).all()
    rest = [j for j in range(4) if j not in held]
    known = {
        tuple(np.nan_to_num(line, nan=-99)) for line in np.column_stack([data.codes(j) for j in range(4)])[:, rest]
    }
    assert {tuple(np.nan_to_num(line, nan=-99)) for line in codes[:, rest]} <= known


@pytest.mark.parametrize("weights", [None, np.arange(1, 13)])
def test_the_precision_of_draws_is_that_of_the_definition(weights):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 3)).round(1)
    space, perturbation, data = place(pd.DataFrame(X), 2, weights=weights)
    rows = [tuple(line) for line in X]

    def predict(z):
        return z[0] + z[1] * z[2] > 0.1

    for kept in ((0,), (1, 2), (0, 1, 2)):
        rule = tuple(q for q, p in enumerate(space.predicates) if p.player in kept)
        cells = {j: (cell.low, cell.high) for q in rule for j, cell in space.predicates[q].cells.items()}
        truth = interval_precision(predict, rows, data.weights.tolist(), rows[2], cells)
        _, codes = drawn_codes(perturbation, space.bits([rule]), 20_000)
        found = np.mean([predict(line) == predict(rows[2]) for line in codes])
        assert found == pytest.approx(truth, abs=4 * np.sqrt(max(truth * (1 - truth), 0) / 20_000) + 1e-9)


def test_equal_rows_have_equal_keys_and_others_not():
    space, perturbation, _ = place(table(), 5)
    rules = [(), (0,), (1,), (0, 1), (0, 1, 2), (2, 3)]
    drawn, codes = drawn_codes(perturbation, space.bits(rules), 300)
    rows = {}
    for key, line in zip(drawn.key.tolist(), codes, strict=True):
        rows.setdefault(key, set()).add(tuple(np.nan_to_num(line, nan=-99)))
    assert all(len(lines) == 1 for lines in rows.values())
    distinct = {line for lines in rows.values() for line in lines}
    assert len(distinct) == len(rows) < len(codes)  # some rows were drawn for several rules


def test_rules_share_their_draws():
    space, perturbation, _ = place(table(), 5)
    drawn, codes = drawn_codes(perturbation, space.bits([(0,), (0, 1)]), 200)
    one, two = codes[drawn.arm == 0], codes[drawn.arm == 1]
    right = space.predicates[1].cells[space.predicates[1].player].holds(one[:, space.predicates[1].player])
    np.testing.assert_array_equal(one[right], two[right])  # a draw that obeys the longer rule anyway


def test_draws_are_numbered():
    space, perturbation, _ = place(table(), 5)
    bits = space.bits([(0, 2)])
    _, whole = drawn_codes(perturbation, bits, 700)
    _, late = drawn_codes(perturbation, bits, 700, start=500)
    np.testing.assert_array_equal(whole[500:], late)
    _, other = drawn_codes(perturbation, bits, 700, episode=2)
    assert (other != whole).any()


def test_the_whole_of_a_rule_on_categories_is_gone_through():
    frame = table()[["c"]].assign(e=table()["b"] % 2 == 0)
    space, perturbation, data = place(frame, 1)
    perturbation.prepare()
    bits = space.bits([(0,), (0, 1)])
    assert space.enumerable(bits).all()
    drawn = perturbation.draw(Wants(1, bits, np.zeros(2, dtype=int), np.zeros(2, dtype=int), whole=True))
    codes = drawn.codes(np.flatnonzero(drawn.arm == 0))
    np.testing.assert_array_equal(codes[:, 1], data.codes(1))
    assert (codes[:, 0] == data.codes(0)[1]).all()


def test_a_rule_on_an_interval_is_not_gone_through():
    space, perturbation, _ = place(table(), 5)
    perturbation.prepare()
    by_player = {predicate.player: q for q, predicate in enumerate(space.predicates)}
    assert space.enumerable(space.bits([(by_player[0],), (by_player[2],), ()])).tolist() == [False, True, True]


def test_conditional_draws_are_the_rows_that_obey_each_once():
    space, perturbation, data = place(table(), 5, kind=Conditional)
    bits = space.bits([(1,), ()])
    drawn, codes = drawn_codes(perturbation, bits, 1000)
    assert (drawn.arm == 0).sum() == space.obeying(bits[0]).sum()
    assert (drawn.arm == 1).sum() == 40
    np.testing.assert_array_equal(np.sort(codes[drawn.arm == 1, 0]), np.sort(data.codes(0)))


def test_conditional_draws_with_weights_are_as_many_as_these_are_worth():
    weights = np.array([1.0] * 30 + [10.0] * 10)
    space, perturbation, _ = place(table(), 5, kind=Conditional, weights=weights)
    drawn, _ = drawn_codes(perturbation, space.bits([()]), 1000)
    assert len(drawn.arm) == int(130**2 / (30 + 1000))


def test_groups_change_together():
    frame = table()
    players = {"both": (0, 1), "c": (2,), "d": (3,)}
    space, perturbation, data = place(frame, 5, players=players)
    q = next(q for q, predicate in enumerate(space.predicates) if predicate.player == 0)
    _, codes = drawn_codes(perturbation, space.bits([(q,)]), 200)
    pairs = {tuple(line) for line in np.column_stack([data.codes(0), data.codes(1)])}
    assert {tuple(line) for line in codes[:, :2]} <= pairs


def test_balanced_weights_give_every_class_the_same():
    weights = balanced(np.array([1.0, 2.0, 1.0, 0.0, 4.0]), np.array([0, 0, 1, 1, 2]))
    np.testing.assert_allclose([weights[:2].sum(), weights[2:4].sum(), weights[4]], 1.0)
    assert weights[1] == 2 * weights[0]
    assert weights[3] == 0


@pytest.mark.parametrize("row", range(8))
def test_wider_and_open_rules_cover_no_less(row):
    space, _, _ = place(table(), row)
    space._refine = True
    while space.finer():
        pass
    rule = tuple(space.levels[-1])
    for _ in range(4):
        opened = [(*rule[:k], q, *rule[k + 1 :]) for k, q in space.opened(rule)]
        others = [*space.wider(rule), *opened]
        covered = space.coverage(space.bits([rule, *others]))
        assert (covered[1:] >= covered[0]).all()
        obeyed = [space.predicates[q].obeyed.sum() for _, q in space.opened(rule)]
        before = [space.predicates[rule[k]].obeyed.sum() for k, _ in space.opened(rule)]
        assert all(more > less for more, less in zip(obeyed, before, strict=True))
        rule = opened[-1] if opened else rule
