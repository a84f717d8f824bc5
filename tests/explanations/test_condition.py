"""Conditions and rules written as texts: what they mean, that they are read back as written, and what is refused."""

import datetime

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pellucid import Condition, InputError, Rule

AGES = np.array([10.0, 20.0, 20.5, 30.0, 40.0, np.nan])
SEXES = np.array(["female", "male", "not said", None, "01", "and"], dtype=object)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x > 20", [0, 0, 1, 1, 1, 0]),
        ("x >= 20", [0, 1, 1, 1, 1, 0]),
        ("x < 20", [1, 0, 0, 0, 0, 0]),
        ("x <= 20", [1, 1, 0, 0, 0, 0]),
        ("x ≤ 20.5", [1, 1, 1, 0, 0, 0]),
        ("20 < x", [0, 0, 1, 1, 1, 0]),
        ("20 >= x", [1, 1, 0, 0, 0, 0]),
        ("20 < x <= 30", [0, 0, 1, 1, 0, 0]),
        ("20 <= x < 30", [0, 1, 1, 0, 0, 0]),
        ("30 > x >= 20", [0, 1, 1, 0, 0, 0]),
        ("x between 20 and 30", [0, 1, 1, 1, 0, 0]),
        ("x = 20", [0, 1, 0, 0, 0, 0]),
        ("x == 2e1", [0, 1, 0, 0, 0, 0]),
        ("x != 20", [1, 0, 1, 1, 1, 0]),
        ("x in [20, 40]", [0, 1, 0, 0, 1, 0]),
        ("x not in (20, 40)", [1, 0, 1, 1, 0, 0]),
        ("x is missing", [0, 0, 0, 0, 0, 1]),
        ("x is not missing", [1, 1, 1, 1, 1, 0]),
        ("x is known", [1, 1, 1, 1, 1, 0]),
    ],
)
def test_numbers(text, expected):
    assert Condition.of(text).holds(AGES).astype(int).tolist() == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sex = female", [1, 0, 0, 0, 0, 0]),
        ("sex = 'not said'", [0, 0, 1, 0, 0, 0]),
        ('sex IN ["not said", "01"]', [0, 0, 1, 0, 1, 0]),
        ("sex != male", [1, 0, 1, 0, 1, 1]),
        ("sex = 'and'", [0, 0, 0, 0, 0, 1]),
        ("sex is missing", [0, 0, 0, 1, 0, 0]),
    ],
)
def test_levels(text, expected):
    assert Condition.of(text).holds(SEXES).astype(int).tolist() == expected


def test_booleans_and_dates():
    assert Condition.of("alone = yes").holds(np.array([1.0, 0.0, np.nan])).tolist() == [True, False, False]
    assert Condition.of("alone = False").holds(np.array([1.0, 0.0, np.nan])).tolist() == [False, True, False]
    days = pd.date_range("2024-03-07", periods=3).to_numpy()
    objects = np.array([datetime.date(2024, 3, day) for day in (7, 8, 9)], dtype=object)
    for when in (days, objects):
        assert Condition.of("when >= 2024-03-08").holds(when).tolist() == [False, True, True]
        assert Condition.of("when = '2024-03-08'").holds(when).tolist() == [False, True, False]


def test_a_rule_holds_where_all_conditions_do(golden):
    table = pd.DataFrame({"blood pressure": [100, 130, 150], "sex": ["female", "female", "male"]})
    rule = Rule.of("`blood pressure` > 120 and sex = female", prediction=np.str_("ill"))
    assert rule.applies(table).tolist() == [False, True, False]
    assert rule.sentence == str(rule)
    golden("rule", "a rule of one's own, for a class", rule.sentence)
    assert type(rule.prediction) is str
    assert rule == Rule.of(" and ".join(condition.words for condition in rule.conditions), prediction="ill")
    assert rule != Rule.of("sex = female", prediction="ill")
    golden("rule", "a rule of one's own, without a prediction", str(Rule.of("a = b")))
    golden("rule", "a rule of one's own, for an interval", str(Rule.of("a = b", prediction=(2, np.inf))))
    with pytest.raises(InputError, match="lack the feature 'sex'"):
        rule.applies(table[["blood pressure"]])
    with pytest.raises(InputError, match="of another type"):
        Rule.of("sex > 3").applies(table)


NAMES = st.text(min_size=1, max_size=8)
NUMBERS = st.integers(-(10**6), 10**6) | st.floats(-1e9, 1e9).map(lambda number: number + 0.0)
LEVELS = st.lists(NUMBERS | st.text(max_size=8), min_size=1, max_size=3).map(tuple)
CONDITIONS = st.one_of(
    st.builds(lambda name, negated: Condition(name, "missing", negated=negated), NAMES, st.booleans()),
    st.builds(
        lambda name, levels, negated: Condition(name, "level", levels=levels, negated=negated),
        NAMES,
        LEVELS,
        st.booleans(),
    ),
    st.builds(
        lambda name, ends: Condition(name, "interval", low=min(ends), high=max(ends)),
        NAMES,
        st.tuples(NUMBERS, NUMBERS).filter(lambda ends: ends[0] != ends[1]),
    ),
    st.builds(lambda name, low: Condition(name, "interval", low=low), NAMES, NUMBERS),
    st.builds(lambda name, high: Condition(name, "interval", high=high), NAMES, NUMBERS),
)


@given(st.lists(CONDITIONS, min_size=1, max_size=4))
def test_what_a_rule_says_is_read_as_that_rule(conditions):
    again = Rule.of(" AND ".join(condition.words for condition in conditions))
    assert again.conditions == tuple(conditions)


@given(NAMES, NUMBERS, st.sampled_from(["<", "<=", ">", ">=", "=", "!="]), st.lists(NUMBERS, min_size=1))
def test_a_comparison_is_that_of_numbers(name, number, sign, values):
    quoted = '"{}"'.format(name.replace('"', '""'))
    condition = Condition.of(f"{quoted} {sign} {number!r}")
    compare = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal, "=": np.equal}
    values = np.array([*values, number], dtype=float)
    expected = values != number if sign == "!=" else compare[sign](values, number)
    np.testing.assert_array_equal(condition.holds(values), expected)
    assert Condition.of(condition.words) == condition


PASSENGERS = pd.DataFrame(
    {
        "age": [22.0, 38.0, 26.0, np.nan, 35.0, 4.0, 58.0, 30.0],
        "sex": ["male", "female", "female", "male", "male", "female", "female", "male"],
        "class": [3, 1, 3, 3, 1, 2, 1, 2],
    }
)
BOTH_READ = st.one_of(
    st.builds("age {} {}".format, st.sampled_from(["<", "<=", ">", ">=", "=="]), st.integers(0, 60)),
    st.builds("{} < age <= {}".format, st.integers(0, 29), st.integers(30, 60)),
    st.builds("sex {} '{}'".format, st.sampled_from(["==", "!="]), st.sampled_from(["female", "male", "other"])),
    st.builds("`class` {} {}".format, st.sampled_from(["in", "not in"]), st.sampled_from(["[1]", "[1, 3]", "(2, 4)"])),
)


@given(st.lists(BOTH_READ, min_size=1, max_size=4))
def test_what_pandas_reads_too_means_the_same(texts):
    text = " and ".join(texts)
    expected = PASSENGERS.index.isin(PASSENGERS.query(text, engine="python").index)
    np.testing.assert_array_equal(Rule.of(text).applies(PASSENGERS), expected)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("", "written as a text"),
        (3, "written as a text"),
        ("age", "ends too early"),
        ("age >", "ends too early"),
        ("age > 3 and", "ends too early"),
        ("age > old", "'old' .* neither a number nor a date"),
        ("age > 2024-13-45", "neither a number nor a date"),
        ("age > 30 or sex = male", "'or' is not understood.*by 'and'"),
        ("blood pressure > 3", "'pressure' is not understood.*in quotes"),
        ("class = first class", "'class' is not understood.*in quotes"),
        ("age > 30,000", "',' is not understood.*thousands"),
        ("a = b & c = d", "'&' is not understood.*'and'"),
        ("sex = 'fem", "close the quote"),
        ("40 < age < 30", "lower end first"),
        ("1 < age > 3", "no interval"),
        ("x in []", "']' is not understood"),
        ("x in first", "'first' is not understood.*brackets"),
        ("x in [a b]", "commas"),
        ("x not missing", "'missing' is not understood"),
        ("x is male", "x is missing, or x is known"),
        ("not x", "'not' is not understood"),
        ("(a > 3)", "brackets are for lists"),
        ("3 < 4", "'4' is not understood"),
        ("x = and", "'and' is not understood"),
    ],
)
def test_what_is_not_understood_is_named(text, match):
    with pytest.raises(InputError, match=match):
        Rule.of(text)


def test_two_conditions_are_no_condition():
    with pytest.raises(InputError, match="2 conditions"):
        Condition.of("a > 3 and b > 3")


@pytest.mark.parametrize("prediction", [(2, 1), (1, 2, 3), ["yes", "no"], [(1, 2), (4, 3)]])
def test_a_prediction_that_is_no_range(prediction):
    with pytest.raises(InputError, match="class nor a range"):
        Rule.of("a > 3", prediction=prediction)
