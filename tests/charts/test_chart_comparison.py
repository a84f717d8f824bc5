"""The chart of compared importances, and first-order parts and p-values in bars: the numbers that are drawn."""

import json

import numpy as np
import pytest

import pellucid
from charts.chart_examples import NASTY, importance
from pellucid.charts.importance import importance_data
from pellucid.charts.importance.comparison import agreement_data, share_data
from pellucid.explanations import ImportanceComparison
from pellucid.explanations.explanation import Header
from pellucid.runner import Cost


def comparison(*, names=("a", "b", "c"), methods=("permutation", "shap"), measure="mse"):
    parts = tuple(
        importance(names, seed=seed, method=method, measure=measure if method != "shap" else "mean")
        for seed, method in enumerate(methods)
    )
    return ImportanceComparison(
        values=np.stack([p.values for p in parts], axis=1), se=np.stack([p.se for p in parts], axis=1), parts=parts,
        methods=tuple(methods), header=Header(feature_names=parts[0].feature_names, output_names=parts[0].output_names, scale="importance", cost=Cost(0, 0.0, 0, 0.0), settings={"method": "comparison"}),

    )  # fmt: skip


def test_dots_are_shares_with_their_intervals():
    result = comparison()
    rows = share_data(result)
    assert len(rows) == 6
    first = rows[0]
    j = result.order[0]
    assert first["feature"] == result.feature_names[j]
    assert first["share"] == pytest.approx(result.shares[j, 0])
    total = np.sqrt(result.excess[:, 0]).sum()
    high = np.sqrt(result.values[j, 0] + 1.959963984540054 * result.se[j, 0]) / total
    assert first["high"] == pytest.approx(high)
    assert first["low"] < first["share"] < first["high"]


def test_agreement_has_a_cell_for_each_pair():
    result = comparison(methods=("permutation", "shap", "pdp"))
    rows = agreement_data(result)
    assert len(rows) == 9
    assert [row["value"] for row in rows if row["method"] == row["other"]] == [1, 1, 1]
    assert rows[1]["value"] == pytest.approx(result.agreement[0, 1])


def test_the_chart_says_what_is_not_shown_and_what_was_rooted():
    spec = comparison(names=tuple("abcdef")).plot(max_display=4).spec
    said = " ".join(spec["title"]["subtitle"])
    assert "2 more features not shown" in said
    assert "shares of the roots: permutation" in said
    assert len(spec["concat"]) == 2
    assert "concat" not in comparison().plot(agreement=False).spec


def test_many_methods_and_strange_names_are_drawn():
    methods = ("permutation", "conditional", "shap", "pdp", "anova", "drop", "sobol", "shapley-effects", "sage")
    spec = comparison(names=(NASTY, "b"), methods=methods).plot(width=300, height=200, title="T").spec
    assert json.dumps(spec).count("shapley-effects") > 1
    assert spec["title"]["text"] == ["T"]


@pytest.mark.parametrize(
    ("options", "said"), [({"max_display": 0}, "max_display must"), ({"agreement": 1}, "agreement must")]
)
def test_options_are_checked(options, said):
    with pytest.raises(pellucid.InputError, match=said):
        comparison().plot(**options)


# -- bars with more in them --------------------------------------------------------------------------


def test_bars_hold_the_first_order_part():
    result = importance(("a", "b"), method="sobol", values=np.array([0.6, 0.3]), first=np.array([0.5, np.nan]))
    rows = importance_data(result)
    assert [row["first"] for row in rows] == [0.5, None]
    spec = result.plot().spec
    assert "dark: the feature alone" in " ".join(spec["title"]["subtitle"])
    bars = [layer for layer in spec["layer"] if layer["mark"].get("type") == "bar"]
    assert [bar["encoding"]["x"]["field"] for bar in bars] == ["value", "first"]


def test_bars_that_may_be_chance_are_pale_and_have_their_p_value_beside_them():
    result = importance(("a", "b"), p_values=np.array([0.01, 0.5]))
    rows = {row["feature"]: row for row in importance_data(result)}
    assert [rows[name]["chance"] for name in "ab"] == [False, True]
    assert rows["a"]["p_text"] == "p = 0.01"
    assert rows["a"]["end"] >= rows["a"]["high"]
    spec = result.plot().spec
    assert [layer["encoding"]["text"]["field"] for layer in spec["layer"] if layer["mark"].get("type") == "text"] == [
        "p_text"
    ]
    assert "p_text" not in json.dumps(importance(("a", "b")).plot().spec)
