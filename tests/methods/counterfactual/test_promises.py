"""What every search promises: whatever comes back reaches the target and keeps every constraint, as it is emitted.

With PELLUCID_SLOW=1 over 500 random problems, 50 for each search.
"""

import os

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from methods.counterfactual.asking import credit_like, explainer, risk
from methods.counterfactual.random_problems import broken, random_problem
from pellucid import Explainer
from pellucid.methods.counterfactual.dispatch import METHODS

SLOW = os.environ.get("PELLUCID_SLOW") == "1"
QUICK = {"moc": {"population": 10, "generations": 3}, "random": {"draws": 200}, "spheres": {"draws": 60}}
QUICK |= {"wachter": {"steps": 20, "starts": 1, "combinations": 2}, "exhaustive": {"grid": 3}}
SEARCHES = [name for name in METHODS if name not in ("auto", "exact")]


def asked(problem, method="moc", **more):
    return problem.ex.counterfactuals(
        problem.row, problem.target, method=method, n=3, **QUICK.get(method, {}), **problem.said, **more
    )


@pytest.mark.parametrize("method", SEARCHES)
@pytest.mark.parametrize("seed", range(6))
def test_answers_reach_the_target_and_keep_every_constraint(method, seed):
    problem = random_problem(seed)
    found = asked(problem, method)
    assert broken(problem, found.rows()) == []
    assert found.valid.all()
    assert len(found) <= 3
    assert (np.diff(found.scores["distance"]) >= -1e-9).all() or method in ("diverse", "prototype")


@pytest.mark.skipif(not SLOW, reason="PELLUCID_SLOW=1 runs it")
@pytest.mark.parametrize("method", SEARCHES)
def test_over_many_problems_every_answer_is_valid_and_allowed(method):
    answers = 0
    for seed in range(1_000 + SEARCHES.index(method), 1_500, len(SEARCHES)):
        problem = random_problem(seed)
        found = asked(problem, method)
        assert broken(problem, found.rows()) == [], seed
        assert found.valid.all(), seed
        answers += len(found)
    assert answers >= 50


@settings(max_examples=25, deadline=None)
@given(st.integers(100, 10_000))
def test_answers_to_problems_nobody_thought_of(seed):
    problem = random_problem(seed)
    found = asked(problem, budget=250)
    assert broken(problem, found.rows()) == []
    assert found.valid.all()


@pytest.mark.parametrize("polish", [True, False])
@pytest.mark.parametrize("method", SEARCHES)
def test_polish_brings_answers_nearer_and_never_farther(method, polish):
    problem = random_problem(2)
    found = asked(problem, method, polish=polish)
    assert broken(problem, found.rows()) == []
    if polish and len(found):
        textbook = asked(problem, method, polish=False)
        if len(textbook):
            assert found.scores["distance"][0] <= textbook.scores["distance"][0] + 1e-9


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", "records"])
def test_rows_come_back_in_the_types_they_came_in(kind):
    table = credit_like(80)
    if kind == "polars":
        pl = pytest.importorskip("polars")
        own = pl.from_pandas(table)
    elif kind == "arrow":
        pa = pytest.importorskip("pyarrow")
        own = pa.Table.from_pandas(table, preserve_index=False)
    else:
        own = table if kind == "pandas" else table.astype(object).to_dict("records")
    found = Explainer(lambda t: risk(as_pandas(t)), own, progress=False, checks=False).counterfactuals(3, ">= 0.6", n=2)
    rows = found.rows()
    assert type(rows) is type(own)
    back = as_pandas(rows)
    assert (risk(back) >= 0.6).all()
    assert list(back.columns) == list(table.columns)
    assert (back["age"] == back["age"].round()).all()
    if kind == "polars":
        assert rows.schema == own.schema
    if kind == "pandas":
        assert (rows.dtypes == table.dtypes).all()


def as_pandas(table):
    if isinstance(table, list):
        return pd.DataFrame(table)
    return table.to_pandas() if hasattr(table, "to_pandas") else table


def test_a_matrix_of_single_precision_is_asked_as_it_is_handed_out():
    rng = np.random.default_rng(0)
    X = np.round(rng.uniform(0, 1, (100, 3)), 1).astype(np.float32)
    ex = Explainer(lambda X: X[:, 0] * 0.3 + X[:, 1] * 0.7, X, progress=False, checks=False)
    found = ex.counterfactuals(0, ">= 0.65", n=3)
    rows = found.rows()
    assert rows.dtype == np.float32
    assert (rows[:, 0] * 0.3 + rows[:, 1] * 0.7 >= 0.65).all()


def test_the_budget_is_honoured_and_what_is_known_then_is_given():
    table = credit_like()
    rows = []

    def counting(table):
        rows.append(len(table))
        return risk(table)

    ex = Explainer(counting, table, progress=False, checks=False)
    for budget in (1, 20, 100, 400):
        rows.clear()
        found = ex.counterfactuals(3, ">= 0.6", budget=budget)
        assert sum(rows) <= budget + len(found)  # the answers are asked once more, as they are emitted
        assert found.cost.model_rows == sum(rows)
        assert found.valid.all()
    assert len(found)


def test_an_interruption_gives_the_best_so_far():
    calls = []

    def impatient(table):
        calls.append(len(table))
        if len(calls) == 12:
            raise KeyboardInterrupt
        return risk(table)

    ex = Explainer(impatient, credit_like(), progress=False)
    calls.clear()
    found = ex.counterfactuals(3, ">= 0.6")
    assert len(found)
    assert found.valid.all()
    assert "partial" in {caveat.code for caveat in found.caveats}


def test_the_same_seed_gives_the_same_bytes():
    first, again, other = (explainer(random_state=seed).counterfactuals(3, ">= 0.6", n=4) for seed in (1, 1, 2))
    assert first.rows().equals(again.rows())
    assert other.valid.all()


def test_a_row_that_is_there_already_needs_no_change():
    found = explainer().counterfactuals(0, ">= 0.7")
    assert not found.changed.any()
    assert found.proven
    assert found.gap == 0
    assert found.text().startswith("Nothing has to change")


@pytest.mark.parametrize("method", ["auto", "moc", "neighbours", "random"])
def test_columns_of_a_group_change_together(method):
    from sklearn.ensemble import RandomForestRegressor

    table = pd.get_dummies(credit_like(150)[["age", "amount", "housing"]], columns=["housing"], dtype=float)
    hot = [name for name in table if name.startswith("housing")]
    y = table["housing_own"] * 30 + table["age"] / 2 - table["amount"] / 4
    forest = RandomForestRegressor(10, max_depth=4, random_state=0).fit(table, y)
    ex = Explainer(forest, table, groups={"housing": hot}, progress=False, checks=False)
    row = int(np.argmin(forest.predict(table)))
    found = ex.counterfactuals(row, ">= 15", method=method, max_changes=2)
    rows = found.rows()
    assert len(rows)
    assert (rows[hot].sum(axis=1) == 1).all()
    assert rows[hot].isin([0, 1]).all(axis=None)
    assert (forest.predict(rows) >= 15).all()
    assert found.feature_names == ("age", "amount", "housing")
    assert (found.scores["changes"] <= 2).all()


def test_a_sparse_table_is_asked_and_answered_in_its_own_kind():
    sparse = pytest.importorskip("scipy.sparse")
    rng = np.random.default_rng(0)
    X = sparse.csr_matrix((rng.random((80, 5)) < 0.4) * rng.integers(1, 5, (80, 5)).astype(float))
    ex = Explainer(lambda X: np.asarray(X.sum(axis=1)).ravel(), X, progress=False, checks=False)
    found = ex.counterfactuals(0, ">= 9", n=2)
    assert sparse.issparse(found.rows())
    assert (np.asarray(found.rows().sum(axis=1)).ravel() >= 9).all()


def test_labels_are_for_people_and_columns_for_tables():
    ex = explainer(labels={"amount": "Loan"}, units={"amount": "EUR"}, checks=False)
    found = ex.counterfactuals(3, ">= 0.6", fixed=["age", "score"], ranges={"amount": (0, 92.4)}, n=1)
    assert "Loan (EUR)" in found.text()
    assert list(found.rows()) == list(credit_like())
    assert set(found.changes()) <= {"Loan (EUR)", "housing", "job", "foreign"}


@pytest.mark.parametrize(
    "method", ["auto", "moc", "neighbours", "random", "wachter", "spheres", "diverse", "prototype"]
)
def test_the_time_is_honoured_by_every_search_and_the_best_so_far_is_given(method, monkeypatch):
    """A model for which every call takes a second, on a clock of its own."""
    clock, inside = [0.0], []
    monkeypatch.setattr("time.monotonic", lambda: clock[0])

    def slow(table):
        inside.append(clock[0])
        clock[0] += 1.0
        return risk(table)

    ex = Explainer(slow, credit_like(), progress=False, checks=False)
    quick = QUICK["wachter"] if method == "wachter" else {}  # which asks one row at a time
    whole = ex.counterfactuals(3, ">= 0.6", method=method, **quick)
    asked = len(inside)
    inside.clear()
    start = clock[0]
    cut = ex.counterfactuals(3, ">= 0.6", method=method, seconds=4, **quick)
    assert len(inside) < asked
    assert sum(at - start > 4 + 1 for at in inside) <= 3  # the answers as they are emitted, and what is around them
    assert cut.valid.all()
    assert cut.settings["seconds"] == 4
    if len(cut) and len(whole):
        assert cut.scores["distance"][0] >= whole.scores["distance"][0] - 1e-9


def test_without_an_answer_the_obstacles_take_no_more_than_the_search_may():
    rows = []

    def counting(table):
        rows.append(len(table))
        return risk(table)

    ex = Explainer(counting, credit_like(), progress=False, checks=False)
    rows.clear()
    found = ex.counterfactuals(3, ">= 0.99", fixed=["age", "amount", "score"], budget=60)
    assert not len(found)
    assert sum(rows) <= 2 * 60 + 1 + len(found.obstacles) + 5
