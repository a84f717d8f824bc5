"""Rules: the sentence, the rows they apply to in any table, their check on new rows, and their chart."""

import datetime
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import pellucid
from golden_files import masked
from methods.rules.asking import Labels, ask
from pellucid import Explainer
from pellucid.charts.chart import Chart
from pellucid.charts.rule import body, rule_data
from pellucid.charts.rule_steps import step_rows
from pellucid.explanations.condition import Condition
from pellucid.explanations.plot_options import RuleOptions
from pellucid.explanations.rule import Anchor, Rules
from pellucid.explanations.rule_words import marks


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    n = 300
    return pd.DataFrame(
        {
            "sex": np.array(["female", "male"], dtype=object)[rng.integers(0, 2, n)],
            "class": np.array(["first", "second", "third"], dtype=object)[rng.integers(0, 3, n)],
            "age": rng.uniform(1, 80, n).round(1),
            "alone": rng.random(n) < 0.5,
        }
    )


def survives(frame):
    return (frame["sex"] == "female") & (frame["class"] != "third") & ((frame["age"] > 10) | frame["alone"])


class Survival(Labels):
    def predict_proba(self, X):
        yes = survives(X).to_numpy().astype(float)
        return np.column_stack([1 - yes, yes])


@pytest.fixture(scope="module")
def explainer(table):
    model = Survival()
    model.classes_ = np.array(["died", "survived"], dtype=object)
    return Explainer(model, table, checks=False)


@pytest.fixture(scope="module")
def rule(explainer):
    return ask(explainer, {"sex": "female", "class": "first", "age": 20.0, "alone": True}, precision=0.9)


@pytest.fixture(scope="module")
def rules(explainer, table):
    return ask(explainer, [0, 1, 2, 3, 4, 5], precision=0.9)


def test_the_sentence(rule, golden):
    golden("rule", "an anchor", masked(rule.text()))
    assert [condition.feature for condition in rule.conditions[:2]] == ["sex", "class"]
    assert rule.sentence.endswith(f"AND COVERAGE {100 * rule.coverage:.0f}%")
    assert rule.text().splitlines()[0] == rule.sentence + "."


@pytest.mark.parametrize(
    "kind",
    [
        lambda t: t,
        lambda t: t.astype({"sex": "category", "class": "category"}),
        lambda t: pl.DataFrame(t.to_dict("list")),
        lambda t: pa.table(t.to_dict("list")),
        lambda t: t.to_dict("records"),
        lambda t: t.astype(object).to_numpy(),
        lambda t: t[["alone", "age", "class", "sex"]],
    ],
    ids=["pandas", "category", "polars", "arrow", "records", "numpy", "order"],
)
def test_it_applies_to_rows_of_any_table(rule, table, kind):
    expected = (table["sex"] == "female") & (table["class"] == "first")
    for condition in rule.conditions[2:]:
        expected &= condition.holds(table[condition.feature].to_numpy())
    np.testing.assert_array_equal(rule.applies(kind(table)), expected)
    assert rule.coverage == pytest.approx(expected.mean())


def test_it_applies_to_one_row(rule, table):
    row = {"sex": "female", "class": "first", "age": 20.0, "alone": True}
    assert rule.applies(row).tolist() == [True]
    assert rule.applies(row | {"sex": "male"}).tolist() == [False]
    assert rule.applies(pd.Series(row)).tolist() == [True]
    assert rule.applies(np.array(list(row.values()), dtype=object)).tolist() == [True]


def test_rows_that_lack_a_feature_or_hold_something_else(rule, table):
    with pytest.raises(pellucid.InputError, match="lack the feature 'sex'"):
        rule.applies(table.drop(columns="sex"))
    interval = Condition("age", "interval", "age > 3", low=3.0)
    with pytest.raises(ValueError, match=r"."):
        interval.holds(np.array(["old", "young"], dtype=object))


@pytest.mark.parametrize(
    ("condition", "values", "expected"),
    [
        (Condition("x", "interval", "", low=1.0, high=2.0), np.array([1.0, 1.5, 2.0, 2.1, np.nan]), [0, 1, 1, 0, 0]),
        (Condition("x", "missing", ""), np.array([1.0, np.nan]), [0, 1]),
        (Condition("x", "missing", ""), np.array(["a", None], dtype=object), [0, 1]),
        (Condition("x", "level", "", levels=("a",)), np.array(["a", None, "b"], dtype=object), [1, 0, 0]),
        (Condition("x", "level", "", levels=(True,)), np.array([1.0, 0.0, np.nan]), [1, 0, 0]),
        (Condition("x", "level", "", levels=(3,)), np.array([3.0, 2.0]), [1, 0]),
    ],
)
def test_conditions(condition, values, expected):
    assert condition.holds(values).tolist() == [bool(one) for one in expected]


def test_conditions_on_dates():
    days = pd.date_range("2024-01-01", periods=90)
    table = pd.DataFrame({"when": days, "x": np.arange(90) % 2})
    ex = Explainer(lambda frame: (frame["when"].dt.month == 3).astype(float), table, checks=False)
    rule = ask(ex, 80, within=0.1)
    assert rule.conditions[0].words == "when > 2024-03-08"
    assert rule.applies(table).sum() == 22
    assert rule.applies([{"when": datetime.date(2024, 3, 20), "x": 0}]).tolist() == [True]
    assert rule.applies([{"when": datetime.date(2024, 1, 20), "x": 0}]).tolist() == [False]


def test_the_check_on_new_rows(rule, table):
    new = table.iloc[::2]
    predictions = np.where(survives(new), "survived", "died")
    check = rule.check(new, predictions)
    holds = rule.applies(new)
    assert (check.rows, check.applies) == (150, holds.sum())
    assert check.precision == pytest.approx((predictions[holds] == "survived").mean())
    assert check.coverage == pytest.approx(holds.mean())
    assert check.low < check.precision <= check.high
    nobody = rule.check(new[new["sex"] == "male"], np.full((new["sex"] == "male").sum(), "died"))
    assert nobody.applies == 0
    assert np.isnan(nobody.precision)
    with pytest.raises(pellucid.InputError, match="3 predictions for 150 rows"):
        rule.check(new, ["died"] * 3)
    with pytest.raises(pellucid.InputError, match="not a matrix"):
        rule.check(new, np.zeros((150, 2)))


def test_the_check_of_an_interval():
    X = np.random.default_rng(0).integers(0, 4, size=(300, 2)).astype(float)
    rule = ask(Explainer(lambda Z: 10 * Z[:, 0] + Z[:, 1], X, checks=False), np.array([2.0, 1]), within=5.0)
    assert rule.check(X, 10 * X[:, 0] + X[:, 1]).precision == 1.0
    assert rule.check(X, np.zeros(300)).precision == 0.0
    with pytest.raises(pellucid.InputError, match="about 1 outputs"):
        rule.check(X, np.zeros((300, 2)))


def test_integers_and_floats_are_the_same_class(table):
    model = Survival()
    model.classes_ = np.array([0, 1])
    rule = ask(Explainer(model, table, checks=False), 0)
    assert rule.check(table, survives(table).astype(float)).precision > 0.9
    assert rule.check(table, survives(table).astype(int)).precision > 0.9


def test_several_rules(rules, table, golden):
    assert len(rules) == 6
    assert isinstance(rules, Rules)
    assert [type(rule) for rule in rules] == [Anchor] * 6
    assert rules.values.shape == (6, 4)
    holds = rules.applies(table)
    assert holds.shape == (300, 6)
    assert holds[np.arange(6), np.arange(6)].all()  # every row obeys its own rule
    np.testing.assert_allclose(holds.mean(axis=0), [rule.coverage for rule in rules])
    golden("rule", "several anchors", masked(rules.text()))
    frame = rules.frame()
    assert frame["rule"].nunique() == 6
    assert (frame.groupby("rule")["condition"].first() == "base").all()


def test_rules_that_cover_much_together(rules, table):
    chosen = rules.pick(3, table)
    assert 1 <= len(chosen) <= 3
    holds = rules.applies(table)
    assert chosen[0].coverage == pytest.approx(holds.mean(axis=0).max())
    covered = np.zeros(300, dtype=bool)
    for rule in chosen:
        assert (rule.applies(table) & ~covered).any()
        covered |= rule.applies(table)
    assert len(rules.pick(6, table)) <= 6
    with pytest.raises(pellucid.InputError, match=r"n must .*at least 1"):
        rules.pick(0, table)


def test_saved_and_loaded(rule, rules, table, tmp_path):
    for result in (rule, rules):
        for name in ("rule.json", "rule.parquet"):
            again = pellucid.load(result.save(tmp_path / name))
            assert again == result
            np.testing.assert_array_equal(again.applies(table), result.applies(table))


def test_the_chart_has_a_piece_for_each_condition(rule):
    rows = rule_data([rule])
    assert [row["condition"] for row in rows] == ["base", *(condition.words for condition in rule.conditions)]
    assert rows[0]["x"] == 0
    assert rows[0]["x2"] == rule.base
    assert rows[-1]["x2"] == rule.precision
    assert [row["x"] for row in rows[1:]] == [row["x2"] for row in rows[:-1]]
    thick = [row["thick"] for row in rows]
    assert thick == sorted(thick, reverse=True)
    assert thick[1] / thick[0] == pytest.approx(np.sqrt(rule.running_coverage[1]))


def test_the_chart_says_what_to_beware_of(rule, golden):
    """Not reached, near a boundary, a very rare prediction; nothing where nothing is known against the rule."""

    def below(one):
        return " ".join(Chart(body(one, RuleOptions())).spec["title"]["subtitle"])

    assert marks(rule) == []
    X = np.array(list(product((0.0, 1.0), repeat=6)))
    ex = Explainer(lambda Z: Z.prod(axis=1), X)
    edge = ex.anchor(63, within=0.1)
    golden("rule", "marks in the chart", [*marks(edge), *marks(ex.anchor(63, within=0.1, max_conditions=1))])
    assert len(marks(edge)) == 2
    assert " · ".join(marks(edge)) in below(edge)
    several = Chart(body(ex.anchor([62, 63], within=0.1), RuleOptions())).spec
    heads = [row for rows in several["datasets"].values() if rows and "words" in rows[0] for row in rows]
    assert heads[-1]["words"] == " · ".join(marks(edge))
    assert heads[-1]["shade"] != heads[1]["shade"]


def test_one_rule_has_a_bar_for_each_condition_with_its_words(rule):
    rows = step_rows(rule_data([rule]))
    assert len(rows) == 1 + len(rule.conditions)
    assert rows[0]["name"] == "without conditions"
    for row, condition in zip(rows[1:], rule.conditions, strict=True):
        assert condition.words in row["name"]
        assert row["left"] <= row["right"]
        assert row["label"] == f"{row['precision_text']}, covers {row['coverage_text']}"
    spec = Chart(body(rule, RuleOptions())).spec
    assert " ".join(spec["title"]["text"]).startswith(f"{len(rule.conditions)} conditions fix the prediction")


def test_every_step_of_a_long_rule_is_told_with_its_direction(rule, golden):
    long = replace(
        rule,
        conditions=tuple(Condition.of(f"x{k} > 1") for k in range(8)),
        players=tuple(f"x{k}" for k in range(8)),
        running_precision=np.array([0.29, 0.4, 0.5, 0.45, 0.6, 0.7, 0.8, 0.9, 0.95]),
        running_coverage=np.linspace(1, 0.1, 9),
    )
    golden("rule", "an anchor of eight conditions, step by step", long.text().splitlines()[2])


def test_charts_are_drawn(rule, rules):
    for result, n in ((rule, 1), (rules, 4)):
        spec = Chart(body(result, RuleOptions(max_display=4, width=300))).spec
        assert spec["$schema"].startswith("https://vega.github.io/schema/vega-lite")
        bars = next(rows for rows in spec["datasets"].values() if rows and "thick" in rows[0])
        assert len({row["rule"] for row in bars}) == n
    assert "2 more rules not shown" in " ".join(spec["title"]["subtitle"])
    with pytest.raises(pellucid.InputError, match="max_display must"):
        RuleOptions(max_display=0)


def test_some_rules_are_rules(rules):
    some = rules[1:3]
    assert list(some) == [rules[1], rules[2]]
    np.testing.assert_array_equal(some.values, rules.values[1:3])
    assert rules[-1] == list(rules)[-1]
    assert some.frame()["row"].nunique() == 2
    with pytest.raises(pellucid.InputError, match="holds none of"):
        rules[50:60]
