"""Exact counterfactuals: equal to trying every allowed row, with the model itself as the judge."""

from itertools import count

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import LinearRegression

from methods.counterfactual.exact_scenes import MODELS, SUMS, every_answer, fitted, fitted_sum, problem_of, said
from pellucid import Explainer
from pellucid.errors import InputError
from pellucid.methods.counterfactual.exact import exact, why_not
from pellucid.runner import Run


def assert_exact(ex, x, target, run, **more):
    found = exact(problem_of(ex, x, target, run, **more), 3)
    whole = problem_of(ex, x, target, **more)
    rows, cost = every_answer(whole)
    assert found.proven
    if not len(rows):
        assert not len(found.rows)
        assert found.lower == np.inf
        return found
    own = whole.cost.total(found.rows)
    assert own[0] == pytest.approx(cost.min(), abs=1e-9)
    assert found.lower == pytest.approx(cost.min(), abs=1e-9)
    assert whole.valid(found.rows).all()
    assert whole.allowed(found.rows).all()
    # each further answer is the nearest that leaves alone one of the features that every earlier one changes
    changed, every = whole.changed(found.rows), whole.changed(rows)
    for k in range(1, len(found.rows)):
        fits = ~np.array([(every | ~earlier).all(axis=1) for earlier in changed[:k]]).any(axis=0)
        assert own[k] == pytest.approx(cost[fits].min(), abs=1e-9)
    return found


@pytest.mark.parametrize("name", MODELS)
def test_equal_to_every_allowed_row(name):
    rng = np.random.default_rng(len(name))
    X, model, targets = fitted(name)
    ex, run = Explainer(model, X, progress=False), Run(memory_of={})
    answers = 0
    for target in targets:
        for _ in range(2):
            answers += len(assert_exact(ex, int(rng.integers(len(X))), target, run, **said(rng)).rows)
    assert answers >= 4


@pytest.mark.parametrize("name", SUMS)
def test_sums_equal_to_every_allowed_row(name):
    rng = np.random.default_rng(len(name))
    X, model, targets = fitted_sum(name)
    ex, run = Explainer(model, X, progress=False), Run(memory_of={})
    answers = 0
    for target in targets:
        for _ in range(2):
            answers += len(assert_exact(ex, int(rng.integers(len(X))), target, run, **said(rng)).rows)
    assert answers >= 4


def test_any_number_is_moved_to_where_the_target_begins():
    """A linear model of continuous features: all of the change is made by the one with most effect per cost."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    slopes = np.array([1.0, -3.0, 0.5, 2.0])
    model = LinearRegression().fit(X, X @ slopes)
    ex = Explainer(model, X, progress=False)
    problem = problem_of(ex, 0, float(model.predict(X[:1])[0]) + 1.0)
    found = exact(problem, 2)
    ranges = np.ptp(X, axis=0)
    cheapest = int(np.argmax(np.abs(slopes) * ranges))
    assert found.proven
    assert found.lower == pytest.approx(1.0 / np.max(np.abs(slopes) * ranges) / 4)
    assert problem.cost.total(found.rows)[0] == pytest.approx(found.lower)
    assert problem.changed(found.rows)[0].tolist() == [j == cheapest for j in range(4)]
    assert not problem.changed(found.rows)[1][cheapest]


def test_a_number_with_very_many_steps_is_moved_to_the_step_behind_the_edge():
    """Money in cents, too many to list: the step before the answer does not reach the target."""
    rng = np.random.default_rng(0)
    X = np.column_stack([np.round(rng.uniform(0, 9_000, 200), 2), rng.integers(18, 80, 200)])
    model = LinearRegression().fit(X, X @ np.array([-0.01, 0.3]))
    ex, run = Explainer(model, X, progress=False), Run(memory_of={})
    for target, way in ((1.0, -1), (-1.0, 1)):
        goal = float(model.predict(X[:1])[0]) + target
        problem = problem_of(ex, 0, goal, run)
        found = exact(problem, 1)
        assert found.proven
        row = found.rows[0]
        assert problem.changed(row[None]).tolist() == [[True, False]]
        assert row[0] == round(row[0], 2)
        assert problem.valid(row[None])[0]
        before = problem.snap((row - [way * 0.01, 0])[None])
        assert not problem.valid(before)[0]
        step = np.diff(problem.cost.total(np.vstack([before, row])))[0]
        assert found.lower <= problem.cost.total(row[None])[0] <= found.lower + step


def test_a_missing_value_stays_or_is_filled_in():
    X, model, _ = fitted("xgboost, two classes")
    ex, run = Explainer(model, X, progress=False), Run(memory_of={})
    for row in np.flatnonzero(X.d.isna())[:4]:
        assert_exact(ex, int(row), None, run)


def test_the_probability_of_one_of_three_classes():
    X, model, _ = fitted("xgboost, three classes")
    ex, run = Explainer(model, X, output=2, progress=False), Run(memory_of={})
    for row, target in ((0, ">= 0.6"), (1, (0.2, 0.4)), (2, "<= 0.1")):
        assert_exact(ex, row, target, run)


def test_groups_change_together_to_what_was_seen_together():
    X, model, _ = fitted("forest behind one-hot codes")
    ex = Explainer(model, X, groups={"a and b": ["a", "b"]}, progress=False)
    problem = problem_of(ex, 3, None, max_changes=1)
    found = exact(problem, 3)
    assert found.proven
    assert problem.allowed(found.rows).all()
    assert problem.valid(found.rows).all()
    assert (problem.changes(found.rows) <= 1).all()


def test_the_largest_change_and_squares():
    from dataclasses import replace

    X, model, _ = fitted("xgboost, a number")
    ex = Explainer(model, X, progress=False)
    for norm, power in (("max", 1), ("sum", 2)):
        problem = problem_of(ex, 5, ">= 1.5")
        problem = replace(problem, cost=replace(problem.cost, norm=norm, power=power))
        found = exact(problem, 1)
        _rows, cost = every_answer(problem)
        assert found.proven
        assert problem.cost.total(found.rows)[0] == pytest.approx(cost.min())


def test_what_nobody_can_say_of_whole_rows_leaves_a_bound():
    X, model, _ = fitted("xgboost, two classes")
    ex = Explainer(model, X, progress=False)
    free = exact(problem_of(ex, 1, None), 1)
    forbidden = problem_of(ex, 1, None).data.of_codes(free.rows).codes(0)[0]
    problem = problem_of(ex, 1, None, feasible=lambda rows: (rows["a"] != forbidden).to_numpy())
    found = exact(problem, 1)
    assert not found.proven
    assert found.lower == pytest.approx(free.lower)
    assert problem.cost.total(found.rows)[0] >= found.lower
    assert problem.allowed(found.rows).all()


def test_a_search_without_time_says_what_is_proven():
    X, model, _ = fitted("forest behind one-hot codes")
    ex = Explainer(model, X, progress=False)
    found = exact(problem_of(ex, 1, None), 1, seconds=0.0)
    whole = exact(problem_of(ex, 1, None), 1)
    assert whole.proven
    assert found.lower <= whole.lower
    if not found.proven:
        assert found.lower < whole.lower or not len(found.rows)


def test_models_that_cannot_be_read_are_refused():
    X, _, _ = fitted("xgboost, a number")
    ex = Explainer(lambda rows: rows["a"].to_numpy(dtype=float), X, progress=False)
    problem = problem_of(ex, 0, ">= 5")
    assert why_not(problem) is not None
    with pytest.raises(InputError, match=r"method=.exact.*method=.moc."):
        exact(problem, 1)


def test_effort_is_counted_so_that_a_slow_clock_changes_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 14))
    model = GradientBoostingRegressor(n_estimators=50, max_depth=6, subsample=0.5, random_state=0)
    y = np.sin(2 * X).sum(axis=1) + X[:, 0] * X[:, 1]
    ex = Explainer(model.fit(X, y), X, progress=False)

    def found():
        return exact(problem_of(ex, 0, f">= {np.quantile(y, 0.97)}"), 1, effort=1, seconds=1e9)

    once = found()
    ticks = count(0.0, 1e5)
    monkeypatch.setattr("time.monotonic", lambda: next(ticks))
    again = found()
    assert not once.proven
    assert once.lower == again.lower > 0
    assert once.notes == again.notes
    np.testing.assert_array_equal(once.rows, again.rows)
    with pytest.raises(InputError, match="effort"):
        ex.counterfactuals(0, ">= 1", effort=0)
