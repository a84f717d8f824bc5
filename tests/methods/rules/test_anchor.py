"""Anchors on models whose rules can be enumerated."""

import os
from itertools import product

import numpy as np
import pandas as pd
import pytest

import pellucid
from golden_files import masked
from methods.rules.asking import Labels, ask, explain
from pellucid import Explainer
from reference import anchors as twin

SLOW = os.environ.get("PELLUCID_SLOW") == "1"
TAU, EPSILON, DELTA = 0.9, 0.05, 0.05


def scene(seed, n, p=5, levels=3):
    """Random categories, two of which are correlated, and a random score with interactions."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, levels, size=(n, p)).astype(float)
    X[:, 1] = np.where(rng.random(n) < 0.6, X[:, 0], X[:, 1])
    linear, pairs = rng.normal(size=p) * (rng.random(p) < 0.8), 0.5 * rng.normal(size=(p, p))

    def raw(Z):
        return Z @ linear + np.einsum("ij,jk,ik->i", Z - 1, pairs, Z - 1)

    cut = np.quantile(raw(X), 0.5 + 0.3 * rng.random())
    return X, lambda Z: raw(Z) - cut


def enumerated(X, score):
    """Distinct rows as tuples, how often each occurs, and a prediction that is looked up; x is row 0 of X."""
    rows, counts = np.unique(X, axis=0, return_counts=True)
    every = list(product(*(np.unique(column).tolist() for column in X.T)))
    predict = dict(zip(every, (score(np.array(every)) > 0).tolist(), strict=True)).__getitem__
    return [tuple(row) for row in rows.tolist()], counts.astype(float).tolist(), predict


@pytest.mark.parametrize("n", [60, 700])
def test_the_promise_over_many_runs(n):
    """True precision below tau - epsilon in at most delta of the runs, coverage exact, and hardly ever a wider anchor."""
    wrong, narrower, runs = 0, 0, 200 if SLOW else 40
    for seed in range(runs):
        X, score = scene(seed, n)
        options = {"categorical": range(5), "random_state": seed}
        rule = explain(score, X, 0, precision=TAU, epsilon=EPSILON, delta=DELTA, explainer=options)
        rows, weights, predict = enumerated(X, score)
        x, chosen = tuple(X[0].tolist()), {int(condition.feature[1:]) for condition in rule.conditions}
        truth = twin.precision(predict, rows, weights, x, chosen)
        assert rule.reached
        assert rule.coverage == pytest.approx(twin.coverage(rows, weights, x, chosen), abs=1e-12)
        wrong += truth < TAU - EPSILON
        best = twin.best_coverage(predict, rows, weights, x, TAU)
        narrower += best > rule.coverage + EPSILON
        if rule.samples == 0:
            assert rule.precision == pytest.approx(truth, abs=1e-12)
            assert rule.interval == (rule.precision, rule.precision)
    assert wrong <= DELTA * runs
    assert narrower <= 0.05 * runs


def test_the_promise_with_intervals():
    wrong, reached, runs = 0, 0, 60 if SLOW else 30
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(16, 3)).round(2)
        weights = rng.normal(size=3)

        def score(Z, weights=weights):
            return Z @ weights + Z[:, 0] * Z[:, 1]

        rule = explain(score, X, 0, precision=0.8, epsilon=0.05, delta=0.1, explainer={"random_state": seed})
        rows, ones, predict = enumerated(X, score)
        cells = {int(c.feature[1:]): (c.low, c.high) for c in rule.conditions if c.kind == "interval"}
        cells |= {
            int(c.feature[1:]): (np.nextafter(c.level, -np.inf), c.level) for c in rule.conditions if c.kind == "level"
        }
        assert len(cells) == len(rule.conditions)
        x = tuple(X[0].tolist())
        wrong += rule.reached and twin.interval_precision(predict, rows, ones, x, cells) < 0.75
        reached += rule.reached
        met = (
            np.all([c.holds(X[:, int(c.feature[1:])]) for c in rule.conditions], axis=0)
            if rule.conditions
            else np.ones(16)
        )
        assert rule.coverage == pytest.approx(met.mean())
        assert rule.applies(X).sum() == met.sum()
    assert reached == runs
    assert wrong <= 0.1 * runs


def test_a_rule_in_closed_form():
    X = np.random.default_rng(0).integers(0, 2, size=(500, 6)).astype(float)
    rule = explain(lambda Z: (Z[:, 1] == 1) & (Z[:, 4] == 1), X, np.array([0, 1, 0, 0, 1, 0.0]))
    assert {condition.feature for condition in rule.conditions} == {"x1", "x4"}
    assert rule.precision == 1.0
    assert rule.coverage == pytest.approx(((X[:, 1] == 1) & (X[:, 4] == 1)).mean())
    assert rule.values[[1, 4]].sum() == pytest.approx(1 - rule.base)
    assert (rule.values[[0, 2, 3, 5]] == 0).all()
    np.testing.assert_allclose(rule.running_coverage[[0, -1]], [1.0, rule.coverage])


def test_an_exclusive_or_needs_both():
    X = np.random.default_rng(1).integers(0, 2, size=(400, 5)).astype(float)
    rule = explain(lambda Z: Z[:, 0] != Z[:, 3], X, 0)
    assert {condition.feature for condition in rule.conditions} == {"x0", "x3"}


def test_weights_count_in_coverage_and_base():
    X = np.random.default_rng(1).integers(0, 2, size=(200, 3)).astype(float)
    weights = np.random.default_rng(2).integers(0, 4, 200).astype(float)
    rule = explain(lambda Z: Z[:, 0] - 0.5, X, np.array([1.0, 0, 0]), explainer={"sample_weight": weights})
    share = weights[X[:, 0] == 1].sum() / weights.sum()
    assert rule.coverage == pytest.approx(share)
    assert rule.base == pytest.approx(share)


def test_many_rows_share_what_was_asked_and_nothing_else():
    X = np.random.default_rng(3).normal(size=(150, 5))

    def score(Z):
        return Z[:, 0] + Z[:, 1] * Z[:, 2]

    options = {"precision": 0.85}
    together = explain(score, X, [4, 9, 40, 77], **options)
    alone = [explain(score, X, row, **options) for row in (4, 9, 40, 77)]
    for one, other in zip(together, alone, strict=True):
        assert one.sentence == other.sentence
        assert one.interval == other.interval
        np.testing.assert_array_equal(one.running_precision, other.running_precision)
    assert together.cost.model_rows < sum(rule.cost.model_rows for rule in alone)
    assert together.cost.model_calls < sum(rule.cost.model_calls for rule in alone)


def test_no_row_is_asked_about_twice():
    X = np.random.default_rng(3).integers(0, 3, size=(80, 4)).astype(float)
    seen = []

    def score(Z):
        seen.append(Z.copy())
        return Z[:, 0] + Z[:, 1] - 2.5

    ex = Explainer(Labels(score), X, categorical=range(4), checks=False)
    seen.clear()
    rules = ask(ex, [0, 1, 2, 3, 4, 5])
    data, explained, *rest = seen  # the data and the rows to explain are predicted as they are
    assert (len(data), len(explained)) == (80, 6)
    asked = np.concatenate(rest)
    assert len(np.unique(asked, axis=0)) == len(asked)
    assert not {tuple(row) for row in asked} & {tuple(row) for row in data}
    assert rules.cost.model_rows == 86 + len(asked)


def test_a_common_prediction_needs_no_condition(golden):
    X = np.random.default_rng(0).normal(size=(300, 3))
    rule = explain(lambda Z: Z[:, 0] + 2.5, X, 0)
    assert rule.conditions == ()
    assert rule.reached
    assert rule.coverage == 1.0
    assert rule.precision == rule.base == pytest.approx((X[:, 0] > -2.5).mean())
    golden("rule", "an anchor without a condition", masked(rule.text()))


def test_bins_are_halved_where_they_are_too_wide(golden):
    X = np.random.default_rng(0).uniform(size=(400, 2))
    narrow = explain(lambda Z: np.abs(Z[:, 0] - 0.5) < 0.03, X, np.array([0.5, 0.5]))
    assert narrow.reached
    assert narrow.settings["refined"] >= 2
    condition = next(condition for condition in narrow.conditions if condition.feature == "x0")
    assert 0.44 < condition.low < 0.5 <= condition.high < 0.56
    fixed = explain(lambda Z: np.abs(Z[:, 0] - 0.5) < 0.03, X, np.array([0.5, 0.5]), bins=4)
    assert not fixed.reached
    assert fixed.reason == "unreachable"
    golden("rule", "an anchor that is not reached: bins", masked(fixed.text()))


def test_conditions_are_no_narrower_than_needed():
    """After the intervals were halved for one feature, the other gets its wide one back or no condition at all."""
    X = np.random.default_rng(0).uniform(size=(600, 2))
    rule = explain(lambda Z: (np.abs(Z[:, 0] - 0.5) < 0.03) & (Z[:, 1] > 0.5), X, np.array([0.5, 0.9]))
    other = next(condition for condition in rule.conditions if condition.feature == "x1")
    assert other.low == pytest.approx(0.75, abs=0.05)  # the quartile
    assert other.high == np.inf


def test_edges_of_the_callers_own():
    X = np.random.default_rng(0).uniform(0, 30, size=(400, 2))
    bins = {"x0": [7, 14, 21], "x1": 2}
    rule = explain(lambda Z: (Z[:, 0] > 14) & (Z[:, 0] <= 21), X, np.array([20.0, 1]), bins=bins)
    assert [condition.words for condition in rule.conditions] == ["14 < x0 ≤ 21"]
    assert rule.settings["bins"] == bins


@pytest.mark.parametrize(
    ("above", "row", "words"),
    [(True, [10.0, 1.0], "x0 > 7"), (False, [20.0, 1.0], "x0 ≤ 21"), (True, [29.0, 1.0], "x0 > 21")],
)
def test_intervals_are_open_to_the_side_on_which_the_prediction_stays(above, row, words):
    """Where it changes at an edge, and far beyond the row's own bin it does not."""
    X = np.random.default_rng(0).uniform(0, 30, size=(400, 2))
    edge = float(words.split()[-1])

    def score(Z):
        return Z[:, 0] - edge if above else edge - Z[:, 0]

    rule = explain(score, X, np.array(row), bins={"x0": [7, 14, 21], "x1": 4})
    assert [condition.words for condition in rule.conditions] == [words]
    assert rule.coverage == ((X[:, 0] > edge) if above else (X[:, 0] <= edge)).mean()
    assert rule.precision == 1.0


def test_a_rule_that_reaches_farther_may_need_fewer_conditions():
    """In its own bin, (0.6, 0.85], the first feature fixes a third of the predictions; open above, six in ten."""
    X = np.random.default_rng(0).uniform(0, 1, size=(500, 2))
    rule = explain(
        lambda Z: (Z[:, 0] > 0.8) | ((Z[:, 0] > 0.6) & (Z[:, 1] > 0.8)),
        X,
        np.array([0.84, 0.9]),
        bins={"x0": [0.6, 0.85], "x1": [0.8]},
        precision=0.55,
    )
    assert [condition.words for condition in rule.conditions] == ["x0 > 0.6"]
    assert rule.precision == pytest.approx(0.6, abs=0.08)


def test_missing_is_a_condition():
    X = np.random.default_rng(0).normal(size=(300, 2))
    X[::3, 0] = np.nan
    rule = explain(lambda Z: np.isnan(Z[:, 0]), X, 0)
    assert rule.conditions[0].words == "x0 is missing"
    assert rule.coverage == pytest.approx(1 / 3)
    np.testing.assert_array_equal(rule.applies(X), np.isnan(X[:, 0]))


def test_a_value_that_the_data_do_not_have():
    X = np.random.default_rng(0).normal(size=(300, 2))
    rule = explain(lambda Z: Z[:, 0] - 50, X, np.array([60.0, 0.0]))
    assert rule.conditions[0].words == "x0 = 60"
    assert (rule.precision, rule.coverage) == (1.0, 0.0)
    missing = explain(lambda Z: np.isnan(Z[:, 0]), X, np.array([np.nan, 0.0]))
    assert missing.conditions[0].words == "x0 is missing"
    assert missing.coverage == 0.0


def test_groups_are_one_condition():
    X = np.random.default_rng(0).integers(0, 2, size=(300, 4)).astype(float)
    rule = explain(
        lambda Z: (Z[:, 0] == 1) & (Z[:, 2] == 1),
        X,
        np.array([1.0, 0, 1, 0]),
        explainer={"groups": {"pair": ["x0", "x2"]}},
    )
    assert rule.players == ("pair",)
    assert [condition.words for condition in rule.conditions] == ["x0 = 1", "x2 = 1"]
    assert len(rule.values) == 3


def test_numbers_count_as_the_same_within_an_interval():
    X = np.random.default_rng(0).integers(0, 4, size=(300, 3)).astype(float)
    ex = Explainer(lambda Z: 10 * Z[:, 0] + Z[:, 1], X, checks=False)
    near = ask(ex, np.array([2.0, 1, 0]), within=5.0)
    assert near.players == ("x0",)
    assert near.prediction == pytest.approx(21)
    np.testing.assert_allclose(near.same, [[16, 26]])
    between = ask(ex, np.array([2.0, 1, 0]), within=(15, 40))
    np.testing.assert_allclose(between.same, [[15, 40]])
    assert "THEN PREDICT 15 to 40" in between.sentence
    usual = ask(ex, np.array([2.0, 1, 0]))  # half a standard deviation
    half = (usual.same[0, 1] - usual.same[0, 0]) / 2
    assert half == pytest.approx((10 * X[:, 0] + X[:, 1]).std() / 2)


def test_several_outputs_have_to_agree():
    X = np.random.default_rng(0).integers(0, 3, size=(200, 3)).astype(float)
    ex = Explainer(lambda Z: Z[:, :2], X, checks=False)
    rule = ask(ex, 0, within=0.1)
    assert set(rule.players) == {"x0", "x1"}
    assert rule.same.shape == (2, 2)
    assert len(rule.prediction) == 2


def test_a_classifier_may_be_asked_about_its_probability():
    X = np.random.default_rng(0).integers(0, 3, size=(200, 3)).astype(float)
    rule = explain(lambda Z: Z[:, 0] - 1, X, np.array([2.0, 0, 0]), within=(0.5, 1.0))
    np.testing.assert_allclose(rule.same, [[0.5, 1.0]])
    assert rule.players == ("x0",)


def test_balanced_perturbations_show_what_a_common_class_needs():
    X = np.random.default_rng(0).integers(0, 2, size=(1000, 5)).astype(float)
    X[:, 0] = np.arange(1000) % 20 == 0  # rare

    def score(Z):
        return 0.5 - Z[:, 0]

    usual = explain(score, X, 1, precision=0.9)
    even = explain(score, X, 1, precision=0.9, perturb="balanced")
    assert usual.conditions == ()
    assert even.players == ("x0",)
    assert even.base == pytest.approx(0.5)
    assert even.coverage == pytest.approx(0.95)  # of the data, not of the balanced rows


def test_conditional_perturbations_are_rows_of_the_data():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(600, 3)).astype(float)
    X[:, 1] = X[:, 0]  # always together

    def score(Z):
        assert (Z[:, 0] == Z[:, 1]).all() or len(Z) <= 32
        return Z[:, 0] + Z[:, 1] - 1.5

    rule = explain(score, X, np.array([1.0, 1.0, 0.0]), perturb="conditional", empty_evaluations=600)
    assert len(rule.players) == 1  # either of the two does
    assert rule.cost.model_rows == 601
    usual = explain(lambda Z: Z[:, 0] + Z[:, 1] - 1.5, X, np.array([1.0, 1.0, 0.0]))
    assert set(usual.players) == {"x0", "x1"}


def test_too_few_rows_obey(golden):
    X = np.random.default_rng(0).normal(size=(40, 3))
    rule = explain(lambda Z: Z[:, 0] - 0.6, X, int(np.argmax(X[:, 0])), perturb="conditional")
    assert not rule.reached
    assert rule.reason == "rows"
    assert rule.samples <= 40
    golden("rule", "an anchor that is not reached: rows", masked(rule.text().splitlines()[-1]))


def test_perturbations_of_the_callers_own():
    X = pd.DataFrame(np.random.default_rng(0).integers(0, 3, size=(100, 3)), columns=list("abc"))
    calls = []

    def perturb(row, features, n, generator):
        calls.append((row, features, n))
        table = pd.DataFrame(generator.integers(0, 3, size=(n, 3)), columns=list("abc"))
        return table.assign(**{name: row[name] for name in features})

    ex = Explainer(Labels(lambda Z: Z[:, 1] - 1.5), X, checks=False)
    rule = ask(ex, {"a": 0, "b": 2, "c": 1}, perturb=perturb)
    assert rule.players == ("b",)
    assert rule.base == pytest.approx(1 / 3, abs=0.1)
    assert calls[0] == ({"a": 0, "b": 2, "c": 1}, (), 32)
    with pytest.raises(pellucid.InputError, match=r"perturb= .*on 'a'"):
        ask(ex, {"a": 0, "b": 2, "c": 1}, perturb=lambda *asked: perturb(asked[0], (), *asked[2:]).assign(a=1))
    with pytest.raises(pellucid.InputError, match="returned 100 rows instead of 32"):
        ask(ex, 0, perturb=lambda *_: X)


def test_a_budget_ends_the_search_with_the_best_so_far(golden):
    X = np.random.default_rng(0).normal(size=(300, 8))
    rule = explain(lambda Z: Z.sum(axis=1) - 1, X, int(np.argmax(X.sum(axis=1))), budget=2000)
    assert rule.cost.model_rows <= 2000
    assert not rule.reached
    assert rule.reason == "budget"
    assert rule.precision >= rule.base
    golden("rule", "an anchor that is not reached: budget", masked(rule.text().splitlines()[-1]))
    with pytest.raises(pellucid.InputError, match="budget=5"):
        explain(lambda Z: Z.sum(axis=1) - 1, X, 0, budget=5)


def test_no_more_conditions_than_allowed():
    X = np.random.default_rng(0).integers(0, 2, size=(300, 5)).astype(float)

    def score(Z):
        return Z[:, :4].sum(axis=1) - 3.5

    free = explain(score, X, np.ones(5))
    held = explain(score, X, np.ones(5), max_conditions=2, explainer={"random_state": 1})
    assert len(free.players) == 4
    assert len(held.players) == 2
    assert (held.reached, held.reason) == (False, "most")
    assert held.precision == pytest.approx((X[:, :2] == 1).all(axis=1).mean(), abs=0.1)


def test_steps_that_do_not_help_are_taken_only_if_allowed():
    """An exclusive or: no first condition helps, so a search that only improves stops there, at chance."""
    X = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in range(50)], dtype=float)

    def score(Z):
        return (Z[:, 0] == Z[:, 1]) - 0.5

    options = {"bins": 1, "explainer": {"categorical": [0, 1]}}
    assert set(explain(score, X, 0, **options).players) == {"x0", "x1"}
    stubborn = explain(score, X, 0, suboptimal=False, max_conditions=1, **options)
    assert not stubborn.reached


def test_an_interruption_gives_the_best_so_far():
    X = np.random.default_rng(0).normal(size=(200, 6))
    calls = {"n": 0}

    def score(Z):
        calls["n"] += 1
        if calls["n"] > 6:
            raise KeyboardInterrupt
        return Z.sum(axis=1) - 1

    ex = Explainer(Labels(score), X)
    rule = ask(ex, int(np.argmax(X.sum(axis=1))))
    assert (rule.reached, rule.reason) == (False, "interrupted")
    assert "partial" in {caveat.code for caveat in rule.caveats}
    assert np.isfinite(rule.precision)

    def never(Z):
        raise KeyboardInterrupt

    ex.predictor._adapter.model.score_of = never
    with pytest.raises(KeyboardInterrupt):
        ask(ex, 0)


def test_three_hundred_features():
    X = np.random.default_rng(0).normal(size=(200, 300))
    rule = explain(lambda Z: Z[:, 17] - 0.8, X, int(np.argmax(X[:, 17])), beams=1)
    assert rule.players == ("x17",)
    assert rule.cost.model_rows < 12_000


def test_a_larger_table_is_counted_whole():
    X = np.random.default_rng(0).integers(0, 2, size=(25_000, 3)).astype(float)
    rule = explain(lambda Z: Z[:, 0] - 0.5, X, np.array([1.0, 0, 0]))
    assert rule.players == ("x0",)
    assert rule.coverage == pytest.approx(X[:, 0].mean(), abs=1e-12)
    assert rule.rows == 25_000


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"precision": 0}, "precision must be"),
        ({"precision": 1.2}, "precision must be a number"),
        ({"delta": 1}, "delta must be"),
        ({"epsilon": "x"}, "epsilon must be"),
        ({"beams": 0}, "beams must be"),
        ({"batch": 1.5}, "batch must be"),
        ({"budget": 0}, "budget must be"),
        ({"max_conditions": True}, "max_conditions must be"),
        ({"empty_evaluations": 0}, "empty_evaluations must be"),
        ({"perturb": "balance"}, "did you mean 'balanced'"),
        ({"within": -1}, "within must be"),
        ({"within": (3, 1)}, r"within=\(3, 1\) is no interval"),
        ({"within": (0.7, 0.9)}, "does not hold the prediction"),
    ],
)
def test_options_that_are_refused(options, said):
    X = np.random.default_rng(0).normal(size=(50, 2))
    with pytest.raises(pellucid.InputError, match=said):
        explain(lambda Z: Z[:, 0], X, 0, **options)
