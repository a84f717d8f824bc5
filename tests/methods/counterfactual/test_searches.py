"""Each search does what its definition says: against every allowed row, and as theorems."""

import numpy as np
import pandas as pd
import pytest

from methods.counterfactual.asking import credit_like, explainer, problem, risk
from pellucid import Explainer
from pellucid.methods.counterfactual.diverse import greedy
from pellucid.methods.counterfactual.exhaustive import exhaustive
from pellucid.methods.counterfactual.moc import moc
from pellucid.methods.counterfactual.neighbours import neighbours
from pellucid.methods.counterfactual.search.local import _Local, nearest
from pellucid.methods.counterfactual.search.moves import together
from pellucid.methods.counterfactual.search.pareto import fronts, hypervolume, non_dominated
from pellucid.methods.counterfactual.search.walk_back import walk_back
from pellucid.methods.counterfactual.spheres import sparsified
from pellucid.methods.counterfactual.wachter import loss, tolerance_loop


def small(seed, n=60):
    """Four features of few values, and a model of steps: every allowed row can be looked at."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "a": rng.integers(0, 7, n),
            "b": rng.integers(0, 7, n),
            "c": rng.choice(["x", "y", "z"], n),
            "d": np.round(rng.uniform(0, 0.6, n), 1),
        }
    )
    weights, knots = rng.normal(size=(4, 4)), rng.random((4, 4)) * [6, 6, 2, 0.6]
    places = {"x": 0, "y": 1, "z": 2}

    def model(t):
        z = np.column_stack([t["a"], t["b"], t["c"].map(places), t["d"]]).astype(float)
        return (weights * (z[:, :, None] > knots.T[None])).sum(axis=(1, 2)) + 0.5 * (z[:, 0] > z[:, 1])

    return Explainer(model, table, progress=False, checks=False), model(table)


@pytest.mark.parametrize("seed", range(8))
def test_the_local_search_is_near_what_looking_at_every_row_finds(seed):
    ex, predicted = small(seed)
    row = int(np.argsort(predicted)[10])
    goal = f">= {np.quantile(predicted, 0.8)}"
    every = exhaustive(problem(row, goal, ex), 1)
    assert every.proven
    found = nearest(problem(row, goal, ex))
    optimum = problem(row, goal, ex).cost.total(every.rows[:1])[0]
    assert optimum <= problem(row, goal, ex).cost.total(found[:1])[0] + 1e-12
    assert problem(row, goal, ex).cost.total(found[:1])[0] <= 1.2 * optimum


def test_many_small_changes_are_guessed_together():
    """Five steps, four of which are needed: no pair or triple does it, and one far change does."""
    X = np.random.default_rng(0).integers(0, 10, size=(200, 5)).astype(float)
    ex = Explainer(lambda X: (X >= 1).sum(axis=1) + 3.0 * (X[:, 0] >= 9), X, progress=False)
    asked = problem(np.zeros(5), ">= 4", ex)
    search = _Local(asked, np.array([[9.0, 0, 0, 0, 0]]))
    search.singles()
    guessed = together(search, search.targets[0])
    assert sorted(guessed[0]) == [0, 1, 1, 1, 1]
    assert (asked.cost.total(guessed) < search.reach).all()
    capped = problem(np.zeros(5), ">= 4", ex, max_changes=3)
    limited = _Local(capped, np.empty((0, 5)))
    limited.singles()
    assert (capped.changes(together(limited, limited.targets[0])) <= 3).all()


def test_walking_back_never_raises_the_cost_and_undoes_what_is_not_needed():
    asked = problem(3, ">= 0.6")
    rows = neighbours(asked, 4, polish=False).rows
    found = walk_back(asked, rows)
    assert asked.valid(found).all()
    assert (asked.cost.total(found) <= asked.cost.total(rows)).all()
    for row in found:  # no change can be left out
        for j in np.flatnonzero(asked.changed(row[None])[0]):
            less = row.copy()
            less[j] = asked.x[j]
            assert not asked.valid(less[None])[0]


def test_neighbours_without_polish_are_the_nearest_rows_of_the_data():
    asked = problem(3, ">= 0.6")
    codes = np.column_stack([asked.data.codes(j) for j in range(6)])
    valid = codes[risk(credit_like()) >= 0.6]
    expected = np.sort(asked.cost.total(valid))[:3]
    np.testing.assert_allclose(asked.cost.total(neighbours(asked, 3, polish=False).rows), expected)


# -- several objectives ------------------------------------------------------------------------------


def test_fronts_are_what_no_row_beats():
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 4, size=(40, 3)).astype(float)
    beaten = [any((o <= r).all() and (o < r).any() for o in rows) for r in rows]
    assert (non_dominated(rows) == ~np.array(beaten)).all()
    rank = fronts(rows)
    second = rows[rank >= 1]
    assert (non_dominated(second) == (rank[rank >= 1] == 1)).all()


def test_the_hypervolume_is_the_share_that_is_dominated():
    rng = np.random.default_rng(1)
    rows, corner = rng.random((12, 3)), np.array([1.0, 1.0, 1.0])
    draws = rng.random((200_000, 3))
    share = np.any([(row <= draws).all(axis=1) for row in rows], axis=0).mean()
    assert hypervolume(rows, corner) == pytest.approx(share, abs=0.005)
    assert hypervolume(np.array([[0.5, 0.5]]), np.array([1.0, 1.0])) == pytest.approx(0.25)
    assert hypervolume(np.array([[2.0, 0.5]]), np.array([1.0, 1.0])) == 0


def test_trade_offs_do_not_beat_each_other_and_a_longer_search_covers_more():
    short, longer = (moc(problem(3, ">= 0.6"), population=8, generations=g, polish=False) for g in (1, 30))
    assert 0 < short.notes["hypervolume"] <= longer.notes["hypervolume"]
    result = explainer(checks=False).counterfactuals(3, ">= 0.6", method="moc", n=50)
    scores = np.column_stack([result.scores[name] for name in ("gower", "changes")])
    assert len(np.unique(scores, axis=0)) > 1


# -- Wachter's loss ----------------------------------------------------------------------------------


def quadratic():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.uniform(0, 4, 200), rng.uniform(0, 4, 200)])
    ex = Explainer(lambda X: X[:, 0] ** 2 + X[:, 1], X, progress=False, checks=False)
    return problem(np.array([0.5, 0.5]), ">= 9", ex)


def test_a_larger_lambda_ends_nearer_to_the_target_and_farther_from_the_row():
    asked = quadratic()
    grid = np.stack(np.meshgrid(np.linspace(0.5, 4, 60), np.linspace(0.5, 4, 60)), axis=-1).reshape(-1, 2)
    grid = grid[asked.allowed(grid)]
    best = [grid[np.argmin(loss(asked, grid, strength))] for strength in (1e-3, 1e-2, 1e-1, 1.0, 10.0)]
    miss, cost = asked.miss(np.array(best)), asked.cost.total(np.array(best))
    assert (np.diff(miss) <= 1e-12).all()
    assert (np.diff(cost) >= -1e-12).all()
    assert miss[0] > miss[-1]


@pytest.mark.parametrize("tolerance", [1.0, 0.1])
def test_the_tolerance_loop_goes_on_while_the_target_is_farther_than_the_tolerance(tolerance):
    asked = quadratic()
    path = np.array(tolerance_loop(asked, asked.x, np.array([0, 1]), tolerance, 120))
    miss = asked.miss(path)
    assert (miss[:-1] > tolerance).all()
    assert miss[-1] <= tolerance
    # Ended at once, where the row itself is within the tolerance.
    assert len(tolerance_loop(asked, asked.x, np.array([0, 1]), 1e6, 5)) == 1


# -- others ------------------------------------------------------------------------------------------


def test_sparsifying_undoes_changes_while_the_target_is_kept():
    asked = problem(3, ">= 0.6")
    rows = neighbours(asked, 3, polish=False).rows
    found = sparsified(asked, rows)
    assert (asked.changes(found) <= asked.changes(rows)).all()
    assert asked.valid(found).all()


def test_diverse_answers_are_farther_from_each_other_than_the_nearest_ones():
    asked = problem(3, ">= 0.6")
    moc(asked, population=20, generations=10)
    pool = asked.answers()
    chosen = greedy(asked, pool, 4, proximity=0.5)
    apart = np.abs(pool[:, None] - pool[None]).sum(axis=2)
    assert chosen[0] == 0
    assert apart[np.ix_(chosen, chosen)].sum() > apart[np.ix_(range(4), range(4))].sum()
    assert len(set(chosen)) == 4


def test_what_is_read_is_proven_and_no_search_is_nearer():
    from sklearn.ensemble import RandomForestRegressor

    rng = np.random.default_rng(0)
    X = np.round(rng.uniform(0, 10, (300, 4)), 1)
    forest = RandomForestRegressor(20, max_depth=5, random_state=0).fit(X, X[:, 0] * 2 + X[:, 1] * X[:, 2])
    ex = Explainer(forest, X, progress=False)
    row = int(np.argsort(forest.predict(X))[60])
    found = ex.counterfactuals(row, ">= 50")
    assert found.settings["method"] == "exact"
    assert found.proven
    assert found.gap == 0
    assert "proven" in found.text()
    asked = ex.counterfactuals(row, ">= 50", method="moc")
    assert not asked.proven
    assert np.isnan(asked.gap)
    assert 1 - 1e-9 <= asked.scores["distance"][0] / found.scores["distance"][0] <= 1.2
    assert (forest.predict(found.rows()) >= 50).all()
    nowhere = ex.counterfactuals(row, ">= 1e6")
    assert nowhere.proven
    assert not len(nowhere)


@pytest.mark.parametrize("method", ["moc", "neighbours"])
def test_the_nearest_by_ones_own_distance_is_among_the_answers(method):
    """One that finds most changes worth nothing: these are made no more than is needed."""
    table = credit_like()

    def apart(rows):
        return np.abs(rows["age"] - table["age"][3]) + (rows["job"] != table["job"][3])

    found = explainer(checks=False).counterfactuals(3, ">= 0.6", method=method, distance=apart, n=1)
    assert found.scores["distance"][0] == 0
    if method == "moc":
        assert found.scores["changes"][0] <= 2
    dear = explainer(checks=False).counterfactuals(3, ">= 0.6", costs={"age": 0.0, "amount": 1.0}, method=method, n=1)
    assert dear.scores["distance"][0] <= 0.5


def test_what_costs_nothing_is_changed_no_more_than_needed():
    from sklearn.tree import DecisionTreeRegressor

    X = np.random.default_rng(0).integers(0, 10, (200, 3)).astype(float)
    tree = DecisionTreeRegressor(max_depth=4, random_state=0).fit(X, X[:, 0] + X[:, 1])
    ex = Explainer(tree, X, progress=False, checks=False)
    row = int(np.argmin(tree.predict(X)))
    found = ex.counterfactuals(row, float(tree.predict(X).max()) - 2, costs=dict.fromkeys(("x0", "x1", "x2"), 0.0), n=1)
    nearest = ex.counterfactuals(row, float(tree.predict(X).max()) - 2, n=1)
    assert found.proven
    assert found.scores["distance"][0] == 0
    assert found.scores["gower"][0] == pytest.approx(nearest.scores["gower"][0])


def test_options_belong_to_their_search():
    with pytest.raises(ValueError, match="no option of method='neighbours'"):
        explainer().counterfactuals(3, ">= 0.6", method="neighbours", draws=3)
    with pytest.raises(ValueError, match="did you mean 'population'"):
        explainer().counterfactuals(3, ">= 0.6", method="moc", populations=3)
    with pytest.raises(ValueError, match="more than most"):
        explainer().counterfactuals(3, ">= 0.6", method="exhaustive", most=10)
    with pytest.raises(ValueError, match="must be one row, got 2"):
        explainer().counterfactuals([3, 4], ">= 0.6")


def test_two_changes_that_work_only_together_are_expected_to():
    """By itself the second feature does nothing: only on top of the first one is it of use."""
    X = np.random.default_rng(0).integers(0, 10, size=(200, 4)).astype(float)
    ex = Explainer(
        lambda X: 0.4 * (X[:, 0] >= 2) + 0.6 * (X[:, 0] >= 2) * (X[:, 1] >= 3) + X[:, 2] / 9, X, progress=False
    )
    asked = problem(np.zeros(4), ">= 1", ex)
    search = _Local(asked, np.array([[0.0, 0, 9, 0]]))
    search.singles()
    before = search.reach
    assert not together(search, search.targets[0])[:, 1].any()
    search.expect(rounds=3)
    assert search.reach < before
    np.testing.assert_array_equal(search.best()[0], [2, 3, 0, 0])


def test_a_number_that_the_data_hardly_have_is_found_between_those_that_they_have():
    X = np.zeros((100, 2))
    X[:5, 0], X[:, 1] = 100.0, np.arange(100) % 11
    X[5:8] = [0.0, 7.0]
    ex = Explainer(lambda X: (X[:, 0] >= 60) | (X[:, 1] >= 7), X, progress=False)
    found = nearest(problem(np.zeros(2), ">= 1", ex), seeds=np.array([[0.0, 7.0]]))
    np.testing.assert_array_equal(found[0], [60, 0])


def test_a_narrow_window_is_found_at_an_observed_value():
    X = np.random.default_rng(0).uniform(0, 1000, size=(300, 2)).round()
    X[17, 0] = 263
    ex = Explainer(lambda X: (X[:, 0] == 263) + (X[:, 0] >= 900) + 0.0 * X[:, 1], X, progress=False)
    found = nearest(problem(np.zeros(2), ">= 1", ex))
    np.testing.assert_array_equal(found[0], [263, 0])


def test_the_generations_end_where_the_budget_does():
    found = explainer(checks=False).counterfactuals(3, ">= 0.6", method="moc")
    assert found.cost.model_rows + found.cost.check_rows <= 1_200
    spent = explainer().counterfactuals(3, ">= 0.6", method="moc", generations=500, budget=600)
    assert "budget-spent" in {caveat.code for caveat in spent.caveats}
