"""Lists of rules: the best of all lists, what the proof proves, baselines, weights, words, and what reads them."""

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import pellucid
from glassbox.tables import mixed
from pellucid import DecisionList, InputError
from pellucid.glassbox import RuleList
from pellucid.glassbox.rules.antecedents import mined
from pellucid.glassbox.rules.bins import binned
from pellucid.glassbox.rules.clauses import Part, first_that_holds
from pellucid.glassbox.rules.list_as_tree import as_tree
from pellucid.glassbox.rules.list_proof import certified
from pellucid.glassbox.rules.list_search import Problem, searched

SMALL = {"candidates": 60, "bins": 4, "budget": 0.002}


@parametrize_with_checks(
    [
        RuleList(3, task="regression", **SMALL),
        RuleList(3, task="classification", **SMALL),
        RuleList(3, method="covering", **SMALL),
        RuleList(method="one-rule"),
    ]
)
def test_it_is_an_estimator(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def rows():
    X, mean = mixed()
    return X, mean + np.random.default_rng(1).normal(0.0, 0.3, len(X))


@pytest.fixture(scope="module")
def fitted(rows):
    X, y = rows
    return RuleList(4, **SMALL).fit(X, np.where(y > 2.5, "many", "few"))


def small_problem(squared, seed, penalty=0.02, most=3):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, size=(40, 2)).astype(float)
    codes[rng.random(40) < 0.1, 0] = np.nan
    bins = binned(codes, ["numeric", "categorical"], np.ones(40))
    w = rng.integers(1, 3, 40)
    y = np.nan_to_num(codes[:, 0]) * (codes[:, 1] == 1) + rng.normal(size=40)
    classes = np.eye(3)[np.digitize(y, [-0.3, 0.6])] * w[:, None]
    sums = np.stack([w, w * y, w * y * y], axis=1) if squared else classes
    pool = mined(bins, sums, squared=squared, conditions=2, support=0.02, most=12)
    scale = float(w @ (y - y.mean()) ** 2) if squared else float(w.sum())
    return Problem(pool, squared, scale, penalty, most)


def best_of_all(problem):
    """The smallest R of any list, by trying all of them."""
    pool = problem.pool

    def lost(sums):
        if problem.squared:
            return max(sums[2] - sums[1] ** 2 / sums[0], 0.0) if sums[0] > 0 else 0.0
        return sums.sum() - sums.max()

    best = np.inf
    for k in range(problem.most + 1):
        for order in itertools.permutations(range(len(pool)), k):
            left, value = np.ones(len(pool.sums), dtype=bool), problem.penalty * k
            for rule in order:
                own = left & (pool.holds[rule] > 0)
                value += lost(pool.sums[own].sum(axis=0)) / problem.scale
                left &= ~own
            best = min(best, value + lost(pool.sums[left].sum(axis=0)) / problem.scale)
    return best


@pytest.mark.parametrize("squared", [False, True])
def test_the_proven_list_is_the_best_of_all(squared):
    for seed in range(3):
        problem = small_problem(squared, seed)
        found = certified(problem, (), 1e9)
        assert found.gap == 0.0
        assert found.objective == pytest.approx(best_of_all(problem))
        assert problem.objective(found.order) == pytest.approx(found.objective)
        assert problem.objective(searched(problem)) <= found.objective + 0.03


@pytest.mark.parametrize("squared", [False, True])
def test_what_a_small_budget_leaves_open_is_in_the_gap(squared):
    problem = small_problem(squared, 5, penalty=0.005)
    best = certified(problem, (), 1e9)
    for budget in (1, 2, 5):
        found = certified(problem, searched(problem), budget * problem.pool.holds.size)
        assert found.objective - found.gap <= best.objective + 1e-9 <= found.objective + 2e-9


def test_no_list_is_one_rule_more_exchanged_or_less_better(rows):
    problem = small_problem(False, 7, penalty=0.001)
    order = searched(problem)
    value = problem.objective(order)
    for k in range(len(order)):
        rest = order[:k] + order[k + 1 :]
        assert problem.objective(rest) >= value - 1e-9
        for rule in range(len(problem.pool)):
            for at in range(len(rest) + 1):
                assert problem.objective((*rest[:at], rule, *rest[at:])) >= value - 1e-9


def test_no_two_antecedents_hold_for_the_same_rows_and_all_have_support():
    pool = small_problem(False, 1).pool
    assert len(np.unique(pool.holds, axis=0)) == len(pool)
    assert len(np.unique(pool.holds, axis=1).T) == pool.holds.shape[1]  # cells that nothing tells apart are one


def test_one_rule_is_that_of_the_best_feature():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.choice(["u", "v", "w"], 90), "b": rng.choice(["s", "t"], 90)})
    y = np.where(X["a"] == "v", "yes", "no")
    model = RuleList(method="one-rule").fit(X, y)
    assert [rule.conditions[0].feature for rule in model.rules_[:-1]] == ["a"]
    assert model.loss_ == 0.0
    assert RuleList(method="one-rule").fit(X[["b"]], y).score(X, y) < 0.8


def test_covering_takes_the_purest_rule_first(rows):
    X, y = rows
    model = RuleList(3, method="covering", **SMALL).fit(X, y > 2.5)
    assert model.predict_proba(X[model.rules_[0].applies(X)]).max(axis=1).min() > 0.9
    assert not hasattr(model, "gap_")


def test_rules_and_predictions_agree(rows, fitted):
    X, _ = rows
    applies = np.stack([rule.applies(X) for rule in fitted.rules_], axis=1)
    first = applies.argmax(axis=1)
    assert [fitted.rules_[k].prediction for k in first] == fitted.predict(X).tolist()
    found = fitted.explain(X)
    np.testing.assert_array_equal(found.fired, first)
    np.testing.assert_allclose(found.values[found.fired], fitted.predict_proba(X)[:, 1])
    np.testing.assert_allclose(np.bincount(first, minlength=len(found)), found.support)
    assert ((found.low <= found.values) & (found.values <= found.high)).all()
    assert found.cost.model_rows == 0
    assert list(found.frame()["rule"]) == (first + 1).tolist()


def test_weight_two_is_the_row_twice(rows):
    X, y = rows
    weights = np.random.default_rng(2).integers(0, 4, len(X))
    twice = np.repeat(np.arange(len(X)), weights)
    for method in ("optimal", "covering", "one-rule"):
        weighted = RuleList(3, method=method, **SMALL).fit(X, y, sample_weight=weights)
        repeated = RuleList(3, method=method, **SMALL).fit(X.iloc[twice], y[twice])
        assert weighted.text() == repeated.text()
        np.testing.assert_allclose(weighted.predict(X), repeated.predict(X))


def test_sentences(rows, fitted, golden):
    X, y = rows
    golden("decision_list", "two classes", fitted.explain().text())
    golden("decision_list", "three rows", fitted.explain(X.iloc[:3]).text())
    golden("decision_list", "one row", repr(fitted.explain(X.iloc[[0]])))
    golden("decision_list", "numbers", RuleList(2, **SMALL).fit(X, y).explain().text())
    golden("decision_list", "three classes", RuleList(2, **SMALL).fit(X, np.digitize(y, [2, 3])).explain().text())
    noise = np.random.default_rng(0).random(len(X)) < 0.2
    golden("decision_list", "no rule", repr(RuleList(penalty=0.05, **SMALL).fit(X, noise).explain()))


def test_it_travels_and_draws(tmp_path, rows, fitted):
    X, y = rows
    for found in (fitted.explain(), fitted.explain(X.iloc[:2])):
        again = pellucid.load(found.save(tmp_path / "list.json"))
        assert isinstance(again, DecisionList)
        assert again == found
        assert again.plot().spec
    several = RuleList(2, **SMALL).fit(X, np.digitize(y, [2, 3])).explain()
    assert several.plot(max_display=1).spec


@pytest.mark.parametrize(
    "clause",
    [
        (Part(0, low=0.5),),
        (Part(0, high=1.5, missing=True),),
        (Part(0, low=0.5, high=1.5), Part(1, levels=(1,), known=3)),
        (Part(0, low=np.inf, high=-np.inf, missing=True),),
        (Part(1, levels=(0, 2), known=3, others=True),),
        (Part(1, levels=(), known=3, missing=True),),
    ],
)
def test_as_a_tree_it_predicts_the_same(clause):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 4, size=(60, 2)).astype(float)  # level 3 was never seen
    codes[rng.random((60, 2)) < 0.2] = np.nan
    clauses = (clause, (Part(0, low=1.5), Part(1, levels=(2,), known=3)), (Part(0, low=0.5, high=2.5),))
    values = np.arange(4.0)[:, None]
    from pellucid.glassbox.rules import as_trees

    tree = as_tree(clauses, values, codes, np.ones(60), [0, 3])
    found = as_trees.ensemble(tree, tree.value, [0, 3]).predict(codes)
    np.testing.assert_array_equal(found[:, 0], values[first_that_holds(clauses, codes), 0])


def test_an_explainer_reads_its_tree(rows, fitted):
    X = rows[0][:40]
    found = pellucid.Explainer(fitted, X).shap([0, 1])
    assert found.method == "tree"
    assert found.cost.model_rows <= 2


def test_unseen_levels_and_missing_values_are_decided(rows, fitted):
    X, _ = rows
    odd = X.iloc[:5].assign(season="autumn", temp=np.nan)
    assert np.isfinite(fitted.predict_proba(odd)).all()


def test_wrong_arguments_are_named(rows):
    X, y = rows
    for options, words in (
        ({"rules": 0}, "rules must be a whole number"),
        ({"method": "corels"}, "method"),
        ({"penalty": -1}, "penalty must be"),
        ({"support": 0.7}, "support must be"),
        ({"bins": 1}, "bins must be"),
        ({"conditions": "two"}, "conditions must be"),
    ):
        with pytest.raises(InputError, match=words):
            RuleList(**options).fit(X, y)
