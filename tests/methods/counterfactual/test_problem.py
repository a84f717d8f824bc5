"""The problem of a counterfactual: targets, choices, costs and relations, as the user says them."""

import numpy as np
import pandas as pd
import pytest

from methods.counterfactual.asking import credit_like, explainer, problem
from pellucid import Explainer
from pellucid.data import Data
from pellucid.data.distance import RowDistance
from pellucid.errors import InputError
from pellucid.methods.counterfactual.search.constraints import learn_step
from pellucid.methods.counterfactual.search.problem import OutOfBudget
from pellucid.methods.counterfactual.search.relations import read_relation
from pellucid.methods.counterfactual.search.target import read_target

THREE = np.array([[0.2, 0.3, 0.5], [0.5, 0.3, 0.2], [0.3, 0.4, 0.3], [0.4, 0.4, 0.2]])


def classifier(labels=("a", "b", "c")):
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 2))
    y = np.array(labels)[np.clip(np.round(X[:, 0] + 1), 0, len(labels) - 1).astype(int)]
    return Explainer(LogisticRegression().fit(X, y), X, progress=False)


# -- targets -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "met"),
    [
        ("a", [False, True, False, False]),
        ("c", [True, False, False, False]),
        (["a", "b"], [False, True, True, True]),
        ("not c", [False, True, True, True]),
        ("!= b", [True, True, False, False]),
        (None, [False, True, True, True]),  # the row itself is c
        ({"a": ">= 0.4"}, [False, True, False, True]),
        ({"a": (0.2, 0.3), "c": "< 0.5"}, [False, False, True, False]),
    ],
)
def test_a_target_of_classes_is_met_where_the_class_wins(target, met):
    found = read_target(target, classifier().predictor, THREE[0])
    miss = found.miss(THREE)
    assert (miss == 0).tolist() == met
    assert (miss >= 0).all()


def test_how_far_a_class_is_from_winning_is_its_distance_to_the_strongest_rival():
    miss = read_target("a", classifier().predictor, THREE[0]).miss(THREE)
    np.testing.assert_allclose(miss, [0.3, 0, 0.1, 5e-324], atol=1e-15)
    assert miss[3] > 0  # a tie is no win


def test_of_two_classes_the_distance_is_that_of_the_probability():
    predictor = classifier((0, 1)).predictor
    found = read_target(1, predictor, np.array([0.9, 0.1]))
    np.testing.assert_allclose(found.miss(np.array([[0.8, 0.2], [0.5, 0.5], [0.4, 0.6]])), [0.3, 0, 0], atol=1e-15)
    assert (found.miss(np.array([[0.5, 0.5]])) > 0).all()
    assert read_target(0.3, predictor, np.array([0.9, 0.1])).miss(np.array([[0.7, 0.3]])) == 0


@pytest.mark.parametrize(
    ("target", "reached", "short"),
    [
        (">= 0.7", 0.7, 0.6),
        ("> 70%", 0.71, 0.7),
        ((0.6, 0.8), 0.8, 0.9),
        ((None, 0.2), 0.1, 0.3),
        (0.7, 0.7, 0.69),  # the row is at 0.5: from below, at least
        (0.3, 0.3, 0.31),
    ],
)
def test_a_target_of_numbers_is_a_closed_interval(target, reached, short):
    found = read_target(target, explainer().predictor, np.array([0.5]))
    assert found.miss(np.array([[reached]]))[0] == 0
    assert found.miss(np.array([[short]]))[0] > 0


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ((None, 0.2), "prediction <= 0.2"),
        ((0.7, None), "prediction >= 0.7"),
        (np.array([0.6, 0.8]), "prediction in [0.6, 0.8]"),
        (np.float32(0.75), "prediction >= 0.75"),
    ],
)
def test_a_target_of_numbers_is_said_as_people_would(target, words):
    assert read_target(target, explainer().predictor, np.array([0.5])).words == words


def test_classes_are_also_given_as_numpy_has_them():
    truths = classifier((False, True)).predictor
    assert read_target(np.True_, truths, np.array([0.9, 0.1])).words == "class True"
    three = classifier().predictor
    assert read_target(np.array(["a", "b"]), three, THREE[0]).words == "class a or class b"
    assert read_target(np.str_("a"), three, THREE[0]).words == "class a"


@pytest.mark.parametrize(("given", "label"), [(1, True), (0, False), (1.0, True), (np.int64(1), True), (True, True)])
def test_of_true_and_false_one_and_zero_are_the_labels(given, label):
    truths = classifier((False, True)).predictor
    found = read_target(given, truths, np.array([0.9, 0.1]))
    assert found.words == f"class {label}"
    np.testing.assert_array_equal(found.miss(np.array([[0.4, 0.6], [0.6, 0.4]])) == 0, [label, not label])
    # One half is a probability, and True is no label of a model of 0 and 1.
    assert read_target(0.5, truths, np.array([0.9, 0.1])).words == "P(True) >= 0.5"
    with pytest.raises(InputError):
        read_target(True, classifier((0, 1)).predictor, np.array([0.9, 0.1]))


def test_on_the_scale_of_log_odds_numbers_are_log_odds():
    ex = explainer(link="logit", output=None)
    found = read_target(">= 0", ex.predictor, np.array([0.3]))
    assert found.explained
    outputs = found.outputs(ex.predictor, np.array([[0.3], [0.6]]))
    assert (found.miss(outputs) == 0).tolist() == [False, True]


@pytest.mark.parametrize("target", ["about 3", None, (3, 2), [1, 2, 3], {"wrong": 3}])
def test_a_target_that_is_not_understood_is_refused(target):
    with pytest.raises(InputError, match="target"):
        read_target(target, explainer().predictor, np.array([0.5]))


@pytest.mark.parametrize("made", [explainer, classifier])
def test_a_comparison_with_no_number_is_told_so(made):
    with pytest.raises(InputError, match=r"'x'.*number"):
        read_target("> x", made().predictor, THREE[0])


def test_an_interval_that_ends_before_it_begins_is_told_so():
    with pytest.raises(InputError, match="turn them round"):
        read_target((3, 2), explainer().predictor, np.array([0.5]))


def test_classes_that_are_none_are_refused():
    with pytest.raises(InputError, match="no class of the model"):
        read_target("d", classifier().predictor, THREE[0])
    with pytest.raises(InputError, match="every class"):
        read_target(["a", "b", "c"], classifier().predictor, THREE[0])
    with pytest.raises(InputError, match="for which output"):
        read_target(">= 0.5", classifier().predictor, THREE[0])


# -- choices -----------------------------------------------------------------------------------------


def test_steps_are_those_of_the_data():
    table = pd.DataFrame(
        {
            "whole": [1, 5, 9],
            "tenth": [0.1, 0.7, 2.0],
            "single": np.array([0.1, 0.7, 2.0], dtype=np.float32),
            "any": [np.pi, np.e, 1.0],
            "floats": [1.0, 2.0, 5.0],
            "day": pd.to_datetime(["2024-01-01", "2024-02-01", "2024-03-01"]),
        }
    )
    steps = [learn_step(Data.of(table), j) for j in range(6)]
    assert steps == [(1.0, 0), (0.1, 1), (0.1, 1), (0.0, 0), (1.0, 0), (86_400_000_000.0, 0)]


def test_values_are_snapped_onto_what_is_allowed_and_the_own_value_stays():
    asked = problem(ranges={"amount": (10, 20), "age": [30, 40]}, fixed="job", monotone={"score": "up"})
    x = asked.x
    rows = np.repeat(x[None], 3, axis=0)
    rows[1] = [33.2, 12.349, x[2] - 1, 1, 1 - x[4], 1]
    rows[2] = [70, 500, x[2] + 0.5, 7, x[4], 0]
    found = asked.snap(rows)
    np.testing.assert_array_equal(found[0], x)
    assert found[1, [0, 1, 3]].tolist() == [30, 12.3, 1]
    assert found[1, 2] == x[2]
    assert found[1, 4] == x[4]
    assert found[2, 0] in (40, x[0])
    assert found[2, 1] in (20, x[1])
    assert found[2, 2] == pytest.approx(x[2] + 0.5)
    assert found[2, 3] == x[3]  # no such level
    assert asked.allowed(found).all()


def test_a_row_with_missing_values_keeps_them_or_gets_known_ones():
    table = credit_like(gaps=0.3)
    row = int(np.flatnonzero(table["score"].isna())[0])
    asked = problem(row, ex=explainer(table))
    assert np.isnan(asked.x[2])
    rows = asked.snap(np.stack([asked.x, np.where(np.isnan(asked.x), 0.5, asked.x)]))
    assert asked.changed(rows)[:, 2].tolist() == [False, True]
    assert asked.allowed(rows).all()
    assert asked.cost.total(rows)[0] == 0
    assert asked.cost.total(rows)[1] >= 1 / 6 - 1e-12


def test_groups_take_values_that_some_row_has_together():
    table = pd.get_dummies(credit_like()[["age", "housing"]], columns=["housing"], dtype=float)
    hot = [name for name in table if name.startswith("housing")]
    ex = Explainer(lambda X: X["housing_own"] * 0.5 + X["age"] / 200, table, groups={"housing": hot}, progress=False)
    asked = problem(0, ex=ex)
    rng = np.random.default_rng(0)
    rows = asked.snap(rng.uniform(0, 1, size=(50, 4)) * [80, 1, 1, 1])
    assert (rows[:, 1:].sum(axis=1) == 1).all()
    assert asked.allowed(rows).all()
    two = rows.copy()
    two[:, 1:] = 1
    assert not asked.allowed(two).any()
    assert (asked.changes(rows) <= 2).all()


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"fixed": "agee"}, "fixed.*did you mean 'age'"),
        ({"ranges": {"age": (5, 3)}}, "turn them round"),
        ({"ranges": {"age": 5}}, "list of allowed values"),
        ({"ranges": {"housing": ["castle"]}}, "castle"),
        ({"ranges": [1]}, "ranges must be a dict"),
        ({"monotone": {"age": "rising"}}, "'up' or 'down'"),
        ({"monotone": {"job": "up"}}, "without order"),
        ({"costs": {"age": -1}}, "costs"),
        ({"costs": 3}, "costs must be a dict"),
        ({"distance": "cosine"}, "distance"),
        ({"relations": ["age <"]}, "age"),
        ({"relations": ["housing = castle"]}, "castle"),
        ({"relations": ["housing > 3"]}, "category"),
        ({"relations": [3]}, "relations"),
    ],
)
def test_what_cannot_be_asked_is_refused_by_name(said, words):
    with pytest.raises(InputError, match=words):
        problem(**said)


# -- costs -------------------------------------------------------------------------------------------


def test_costs_are_the_distances_of_the_data():
    asked, ex = problem(), explainer()
    rows = np.column_stack([ex.data.codes(j) for j in range(6)])[:20]
    gower = RowDistance.learn(ex.data, "gower").between(rows, asked.x[None])[:, 0]
    np.testing.assert_allclose(asked.cost.total(rows), gower, atol=1e-12)
    mad = RowDistance.learn(ex.data, "manhattan").between(rows, asked.x[None])[:, 0]
    np.testing.assert_allclose(problem(distance="manhattan").cost.total(rows), mad, atol=1e-12)
    changes = problem(distance="changes").cost.total(rows)
    np.testing.assert_allclose(changes, (rows != asked.x).sum(axis=1) + gower, atol=1e-12)
    parts = np.column_stack([asked.cost.of(j, rows[:, j]) for j in range(6)])
    np.testing.assert_allclose(parts.sum(axis=1), gower, atol=1e-12)


def test_costs_of_ones_own_are_per_unit_per_change_or_per_level():
    cost = problem(costs={"age": 2.0, "job": 5.0, "housing": {"own": 3.0}}).cost
    x = cost.x
    assert cost.of(0, np.array([x[0], x[0] + 10])).tolist() == [0.0, pytest.approx(20.0)]
    assert cost.of(4, np.array([x[4], 1 - x[4]])).tolist() == [0.0, 5.0]
    expected = 0.0 if x[3] == 1 else 3.0
    assert cost.of(3, np.array([1.0]))[0] == expected
    mine = problem(distance=lambda table: table["age"].to_numpy(dtype=float)).cost
    assert not mine.separable
    assert mine.total(x[None])[0] == x[0]


# -- relations ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("age <= amount", [False, True, True]),
        ("2*age - amount >= 10", [True, False, True]),
        ("2 age >= 10 + amount", [True, False, True]),
        ("age > 30", [True, False, True]),
        ("housing = own", [True, False, False]),
        ("if housing = 'own' then age >= 18 and amount < 15", [True, True, True]),
        ("if housing in [free, rent] then age <= 30", [True, True, False]),
        ("if score > 0 then amount = 10", [True, True, False]),
        ("score <= 1", [True, True, False]),
        ("foreign = yes", [True, False, True]),
        ("3 <= age < 40", [True, True, False]),
    ],
)
def test_relations_are_read_as_they_are_said(text, expected):
    schema = explainer().data.schema
    rows = np.array([[35, 10, 0.5, 1, 0, 1], [20, 90, np.nan, 0, 0, 0], [50, 51, 2.0, 2, 1, 1]], dtype=float)
    relation = read_relation(text, schema)
    assert relation.holds(rows).tolist() == expected
    assert relation.words == text


def test_relations_and_functions_are_part_of_what_is_allowed():
    asked = problem(
        relations=["age <= amount"], max_changes=2, feasible=lambda table: (table["amount"] < 90).to_numpy()
    )
    rows = np.repeat(asked.x[None], 4, axis=0)
    rows[:, :2] = [[20, 50], [50, 20], [20, 95], [20, 50]]
    rows[3, 3] = (asked.x[3] + 1) % 3
    rows[3, 4] = 1 - asked.x[4]
    assert asked.allowed(rows).tolist() == [True, False, False, False]


# -- the model ---------------------------------------------------------------------------------------


def test_the_model_is_asked_once_per_row_and_never_beyond_the_budget():
    asked = problem(budget=4)
    rows = np.repeat(asked.x[None], 3, axis=0)
    rows[:, 0] = [20, 30, 20]
    first = asked.score(rows)
    assert asked.asked.rows == 3
    np.testing.assert_array_equal(first, asked.score(rows))
    assert asked.left == 1
    rows[:, 0] = [40, 50, 60]
    with pytest.raises(OutOfBudget):
        asked.score(rows)
    assert asked.asked.rows == 4  # what still fits is asked
