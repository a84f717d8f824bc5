"""Where features are very many, only those that seem to matter take part; what is said of them is the same."""

from types import SimpleNamespace

import numpy as np
import pytest

from pellucid import Explainer
from pellucid.explanations.rule_words import REASONS
from pellucid.methods.local.surrogate.local_fit import Task, fit_row, strongest
from pellucid.methods.local.surrogate.options import Options
from pellucid.methods.rules import anchor
from pellucid.methods.rules.search import joint_search, screening
from pellucid.methods.rules.search.certify import Goal
from pellucid.runner import Run

P = 230
X = np.random.default_rng(0).normal(size=(120, P))


def of_three(rows):
    return 3 * rows[:, 7] - 2 * rows[:, 200] + rows[:, 111]


def test_a_local_model_of_some_columns_is_that_of_all():
    rng = np.random.default_rng(2)
    columns, blocks = rng.normal(size=(400, 60)), rng.multinomial(20, np.full(20, 0.05), size=20).astype(float)
    answers = of_three(np.pad(columns, [(0, 0), (0, 170)]))[:, None] + columns[:, 21:22]
    task = Task(columns, np.sqrt((columns**2).sum(axis=1)), answers, np.zeros(1))
    options = Options(2, 400, "raw", "data", "euclidean", 9.0, "exponential", "linear", "forward", None, None)
    some, every = (fit_row(task, options, blocks, compare=False, screened=n) for n in (20, 60))
    assert np.flatnonzero(some.chosen[:, 0]).tolist() == [7, 21]
    for name in (
        "coefficients",
        "coefficients_se",
        "effects",
        "parts",
        "base",
        "chosen",
        "fidelity",
        "stability",
        "width",
    ):
        np.testing.assert_allclose(getattr(some, name), getattr(every, name), atol=1e-9)
    np.testing.assert_allclose(some.predict(columns), every.predict(columns), atol=1e-9)
    np.testing.assert_allclose(some.widths.weights, every.widths.weights, atol=1e-9)


def test_columns_are_ranked_by_their_weighted_correlation():
    rng = np.random.default_rng(1)
    columns, answers, weights = rng.normal(size=(80, 30)), rng.normal(size=(80, 2)), rng.uniform(size=(3, 80))
    columns[:, 4] = 1.0  # does not vary
    task = Task(columns, np.ones(80), answers, np.zeros(2))

    def squared(j):
        cov = [np.cov(columns[:, j], answers[:, a], aweights=w) for a in range(2) for w in weights]
        return max(0.0 if c[0, 0] < 1e-12 else c[0, 1] ** 2 / c[0, 0] / c[1, 1] for c in cov)

    slow = np.sort(np.argsort([-squared(j) for j in range(30)], kind="stable")[:6])
    assert strongest(task, weights, 6, together=7).tolist() == slow.tolist()


def test_a_rule_is_about_the_features_that_matter():
    few = X[:, :120]
    ex = Explainer(lambda rows: 1.0 * ((rows[:, 7] > 0) & (rows[:, 110] > 0)), few, checks=False)
    row = int(np.flatnonzero((few[:, 7] > 0.3) & (few[:, 110] > 0.3))[0])
    rule = ex.anchor(row, within=0.1, bins={"x7": [0.0], "x110": [0.0]})
    assert set(rule.players) == {"x7", "x110"}
    assert rule.reached
    assert rule.precision >= 0.95


def test_what_strong_features_hide_is_seen_once_they_are_kept():
    """Of x50 x51 either one kept is enough, which is lost beside a far stronger feature that changes."""
    wide = np.random.default_rng(0).normal(size=(400, 800))
    ex = Explainer(lambda rows: rows[:, 50] * rows[:, 51] + 2 * rows[:, 7] + np.abs(rows[:, 8]), wide, checks=False)
    row = int(np.flatnonzero((np.abs(wide[:, 50:52]) < 0.2).all(axis=1))[0])
    predictor, data, run = ex.predictor, ex.data, Run(checks=False)
    goal = Goal(0.95, 0.05, 0.05, 4, 32, None, True, 1000)
    setting = joint_search.shared_setting(predictor, data, data.rows(row), "data", None, goal, None, run)

    def looked_at(rounds):
        some = (setting.sources, setting.same, setting.weights(0), 0, run, screening.ROWS)
        names = list(setting.sources.players)
        return {names[player] for player in screening.mattering(predictor, *some, rounds)}

    assert {"x7", "x8", "x50", "x51"} <= looked_at(4)
    assert not {"x50", "x51"} <= looked_at(1)


@pytest.mark.parametrize(("asks", "reason"), [({}, "unreachable"), ({"screened": 130}, "screened")])
def test_a_rule_of_features_that_were_not_looked_at_is_not_said_to_be_impossible(asks, reason):
    search = SimpleNamespace(best=None, why="unreachable")
    assert anchor._reason(search, {"perturb": "data", **asks}) == reason
    assert reason in REASONS


def test_rows_are_asked_in_portions():
    class Some:
        pass

    new = [(Some(), np.arange(7)), (Some(), np.arange(2))]
    parts = [[(one, which.tolist()) for one, which in part] for part in joint_search._portions(new, 4)]
    assert [[which for _, which in part] for part in parts] == [[[0, 1, 2, 3]], [[4, 5, 6], [0]], [[1]]]
    assert screening.CELLS >= 1_000_000


def test_the_check_of_a_rule_looks_at_its_own_features_alone():
    X = np.random.default_rng(0).normal(size=(150, 210))
    X[:, 1] = X[:, 0] + 0.2 * X[:, 1]
    ex = Explainer(lambda rows: rows[:, 0] > 0.5, X, progress=False)
    rule = ex.anchor(0)
    used = {ex.data.schema.index(condition.feature) for condition in rule.conditions}
    assert set(ex._known["association lines"]) == used
    assert "association" not in ex._known  # the matrix of all pairs
    assert 0 not in used or "off-data" in {caveat.code for caveat in rule.caveats}


def test_a_table_made_for_one_question_is_handed_over_where_it_lies():
    X, seen = np.random.default_rng(0).normal(size=(40, 6)), []

    def model(rows):
        seen.append(rows)
        return rows[:, 0]

    ex = Explainer(model, X, progress=False)
    codes = X[::-1] + 1.0
    made = ex.data.of_codes(codes)
    run = Run()
    np.testing.assert_array_equal(run.predict(ex.predictor, made)[:, 0], codes[:, 0])
    assert np.shares_memory(seen[-1], made.frame.native)
    assert not np.shares_memory(seen[-1], codes)
    run.predict(ex.predictor, ex.data)
    assert not np.shares_memory(seen[-1], X)
    assert [made.frame.made, made.take(np.arange(3)).frame.made, ex.data.frame.made] == [True, False, False]
    for j in range(6):
        assert made.codes(j).tobytes() == np.ascontiguousarray(codes[:, j]).tobytes()
        assert made.codes(j).flags.c_contiguous
