"""Charts of long rules: seven conditions stay apart, and a feature has one colour in all rules."""

from dataclasses import replace

import numpy as np
import pytest

from pellucid import Explainer
from pellucid.charts.chart import Chart
from pellucid.charts.rule import body, feature_colours, rule_data
from pellucid.explanations.plot_options import RuleOptions

SEVEN = [f"condition number {k}" for k in range(7)]


@pytest.fixture(scope="module")
def rules():
    X = (np.random.default_rng(0).random((400, 7)) < 0.6).astype(float)
    every = np.flatnonzero(X.all(axis=1))[:2]
    ex = Explainer(lambda X: X.all(axis=1) * 1.0, X, feature_names=SEVEN, checks=False)
    return ex.anchor([int(i) for i in every], within=0.1)


def test_each_of_seven_conditions_has_its_own_colour_and_a_name_in_the_legend(rules):
    assert [len(rule.players) for rule in rules.rules] == [7, 7]
    shades = feature_colours(list(rules.rules))
    assert len(set(shades.values())) == 7
    spec = Chart(body(rules, RuleOptions())).spec
    scales = [layer["encoding"]["color"].get("scale") for layer in spec["layer"] if "color" in layer["encoding"]]
    scale = next(each for each in scales if each)
    assert set(scale["domain"]) == {"no condition", *SEVEN}
    assert dict(zip(scale["domain"], scale["range"], strict=True)).items() >= shades.items()
    pieces = rule_data(list(rules.rules))
    assert all(row["feature"] in row["condition"] for row in pieces if row["step"])


def test_features_beyond_the_colours_share_one(rules):
    wide = [f"{name}, {k}" for name in SEVEN for k in range(2)]
    rule = rules.rules[0]
    long = replace(rule, players=tuple(wide[:7])), replace(rule, players=tuple(wide[7:]))
    drawn = {row["feature"] for row in rule_data(list(long))}
    assert "other features" in drawn
    assert len(drawn) == 10  # eight with a colour, the others, and no condition


def test_numbers_beside_seven_conditions_stand_in_a_column_clear_of_the_bars(rules):
    spec = Chart(body(rules.rules[0], RuleOptions(width=300))).spec
    words = next(layer for layer in spec["layer"] if layer["mark"]["type"] == "text")
    assert words["encoding"]["x"] == {"value": 300}
    bars = next(layer for layer in spec["layer"] if layer["mark"]["type"] == "bar")
    assert bars["encoding"]["x"]["scale"]["domain"] == [0, 1]
