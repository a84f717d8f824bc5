"""Explanations of one row side by side: closed forms for a linear model, contradictions, wrong input."""

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.linear_model import LogisticRegression

import pellucid
from golden_files import masked, titles
from pellucid import Explainer, InputError, agreement
from pellucid.charts.agreement import bar_data, rule_data
from pellucid.explanations.agreement import verdict

ROWS = np.random.default_rng(0).normal(size=(400, 3))
NAMES = ["temp", "hum", "wind"]


def line(X):
    return 2 * X[:, 0] - X[:, 1]


def hill(X):
    """A hill: beyond its top the prediction is above the average, and falls."""
    return 3 * np.exp(-2 * (X[:, 0] - 1.2) ** 2) + 0.1 * X[:, 1]


@pytest.fixture(scope="module")
def linear():
    ex = Explainer(line, ROWS, feature_names=NAMES, background=ROWS)
    return agreement(ex.shap(3), ex.lime(3), ex.anchor(3, within=1.5))


def test_contributions_and_effects_of_a_linear_model_are_the_same(linear):
    mean, weights = ROWS.mean(axis=0), np.array([2.0, -1.0, 0.0])
    np.testing.assert_allclose(linear.values[:, 0], weights * (ROWS[3] - mean), atol=1e-12)
    np.testing.assert_allclose(linear.values[:, 1], linear.values[:, 0], atol=0.1)  # samples have another mean
    assert linear.likeness > 0.995
    assert linear.overlap() == 1.0
    assert linear.same_direction == pytest.approx(1.0, abs=1e-12)
    assert linear.caveats == ()


def test_the_share_on_the_rule(linear, golden):
    sizes = np.abs(linear.values[:, 0])
    used = [name in linear.rule.players for name in NAMES]
    assert linear.in_rule.tolist() == used
    assert linear.on_rule == pytest.approx(sizes[used].sum() / sizes.sum())
    assert linear.rule.sentence in linear.text()
    golden("agreement", "contributions, a local model and a rule that agree", masked(linear.text()))
    golden("charts", "agreement", titles(linear.plot().spec))


def test_beyond_the_top_of_a_hill_they_contradict_each_other(golden):
    ex = Explainer(hill, ROWS[:, :2])
    row = np.array([1.8, 0.5])
    found = agreement(ex.shap(row), ex.lime(row, width=0.3))
    assert found.values[0, 0] > 0 > found.values[0, 1]
    assert found.likeness < -0.9
    assert found.same_direction == pytest.approx(np.abs(found.values[1, 0]) / np.abs(found.values[:, 0]).sum())
    golden("agreement", "contributions and a local model that contradict each other", masked(found.text()))
    assert "methods-disagree" in {item.code for item in found.caveats}
    assert np.isnan(found.on_rule)


@given(arrays(np.float64, (4, 2), elements=st.floats(-5, 5).map(lambda x: round(x, 3))), st.floats(0.01, 100))
def test_likeness_is_a_cosine(values, unit):
    whole = agreement_of(values)
    scaled = agreement_of(values * [1.0, unit])
    a, b = values.T
    if not a.any() or not b.any():
        assert np.isnan(whole.likeness)
        return
    assert -1 - 1e-12 <= whole.likeness <= 1 + 1e-12
    assert whole.likeness == pytest.approx(scaled.likeness, abs=1e-9)
    assert whole.likeness == pytest.approx(
        np.cos(np.arccos(np.clip((a / np.linalg.norm(a)) @ (b / np.linalg.norm(b)), -1, 1))), abs=1e-9
    )
    assert 0 <= whole.overlap() <= 1
    assert 0 <= whole.same_direction <= 1
    assert "cosine" in whole.text()


@cache
def template():
    X = np.random.default_rng(1).normal(size=(30, 4))
    ex = Explainer(lambda X: X.sum(axis=1), X, checks=False)
    return agreement(ex.shap(0), ex.lime(0, samples=200))


def agreement_of(values):
    """An Agreement with the given columns."""
    return replace(template(), values=values)


def test_verdicts(golden):
    said = [verdict(likeness) for likeness in (0.95, 0.7, 0.2, -0.2)]
    assert len(set(said)) == 4
    golden("agreement", "verdicts, from likeness 0.95 to -0.2", said)


def test_one_of_several_outputs_and_a_group():
    X = pd.DataFrame(ROWS, columns=NAMES)
    y = np.digitize(ROWS[:, 0] + ROWS[:, 1], [-0.5, 0.5])
    model = LogisticRegression().fit(X, y)
    ex = Explainer(model, X, groups={"weather": ["temp", "hum"]})
    shap, lime = ex.shap(2), ex.lime(2)
    found = agreement(shap, lime, ex.anchor(2), output="2")
    assert found.feature_names == ("weather", "wind")
    np.testing.assert_allclose(found.values[:, 0], shap.for_output("2").values[0])
    np.testing.assert_allclose(found.values[:, 1], lime.for_output("2").values[0])
    assert found.output_names == ("2",)


def test_what_is_not_used_by_any_way_is_left_out(linear):
    table = linear.frame()
    assert list(table["feature"]) == [NAMES[j] for j in linear.order]
    assert table["contribution"].abs().is_monotonic_decreasing


def test_saving(linear, tmp_path):
    assert pellucid.load(linear.save(tmp_path / "ways.json")) == linear


def test_chart_data_has_one_bar_per_feature_and_the_rules_conditions(linear):
    order = linear.order
    names = [NAMES[j] for j in order]
    bars = bar_data(linear.local, order, names)
    assert [row["value"] for row in bars] == [float(linear.values[j, 1]) for j in order]
    added = {row["feature"]: row for row in rule_data(linear, order, names)}
    assert set(added) == set(linear.rule.players)
    for condition in linear.rule.conditions:
        assert added[condition.player]["condition"] == condition.words
    assert len(linear.plot().spec["concat"]) == 3
    assert len(agreement(linear.contributions, linear.local).plot().spec["concat"]) == 2


def test_wrong_input():
    ex = Explainer(line, ROWS, feature_names=NAMES, checks=False)
    two, one, other = ex.shap([0, 1]), ex.lime(0), ex.lime(1)
    with pytest.raises(InputError, match="contributions explains 2 rows"):
        agreement(two, one)
    with pytest.raises(InputError, match="different rows: temp is"):
        agreement(two.row(0), other)
    elsewhere = Explainer(line, ROWS, checks=False)
    with pytest.raises(InputError, match="same Explainer for both"):
        agreement(two.row(0), elsewhere.lime(0))
    with pytest.raises(InputError, match="rule is about other features"):
        agreement(two.row(0), one, elsewhere.anchor(0, within=3.0))
