"""A comparison of importances: shares, ranks, agreement and words, from known values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau, rankdata

import pellucid
from pellucid.explanations import Importance, ImportanceComparison
from pellucid.explanations.explanation import Header
from pellucid.runner import Cost
from strategies import QUICK

COST = Cost(0, 0.0, 0, 0.0)


def part(method, values, measure="mae", compare="difference"):
    values = np.asarray(values, dtype=float)
    return Importance(
        method=method, measure=measure, compare=compare, values=values, se=0.1 * np.ones(len(values)), low=values - 0.2,
        high=values + 0.2, repeats=np.empty((len(values), 0)), header=Header(feature_names=tuple("abcdefgh"[: len(values)]), output_names=("prediction",), scale="loss", cost=COST, settings={"method": method}),

    )  # fmt: skip


def comparison(*parts):
    first = parts[0]
    return ImportanceComparison(
        values=np.stack([p.values for p in parts], axis=1), se=np.stack([p.se for p in parts], axis=1), parts=parts,
        methods=tuple(p.method for p in parts), header=Header(feature_names=first.feature_names, output_names=first.output_names, scale="importance", cost=COST, settings={"method": "comparison"}),

    )  # fmt: skip


def test_shares_take_roots_of_squares_and_start_at_the_neutral_value():
    both = comparison(
        part("permutation", [9.0, 1.0, -1.0], "mse"),
        part("shap", [3.0, 1.0, 0.0], "mean |contribution|"),
        part("drop", [4.0, 2.0, 0.5], "mae", "ratio"),
        part("sobol", [0.64, 0.04, 0.0], "total index"),
    )
    expected = [[0.75, 0.75, 0.75, 0.8], [0.25, 0.25, 0.25, 0.2], [0, 0, 0, 0]]
    np.testing.assert_allclose(both.shares, expected, atol=1e-12)
    assert both.squared.tolist() == [True, False, False, True]


@given(st.lists(st.tuples(st.integers(-3, 5), st.integers(0, 3)), min_size=2, max_size=8))
@QUICK
def test_agreement_and_ranks_are_those_of_scipy(pairs):
    a, b = (np.array(column, dtype=float) for column in zip(*pairs, strict=True))
    both = comparison(part("permutation", a), part("shap", b))
    np.testing.assert_allclose(both.ranks, np.stack([rankdata(-a), rankdata(-b)], axis=1))
    expected = kendalltau(a, b).statistic if np.ptp(a) and np.ptp(b) else np.nan
    assert both.agreement[0, 1] == pytest.approx(expected, nan_ok=True)
    np.testing.assert_array_equal(both.agreement, both.agreement.T)


def test_rounding_errors_are_ties():
    both = comparison(part("permutation", [1.0, 1e-17, -1e-17, 0.0]), part("shap", [1.0, 0.0, 0.0, 0.0]))
    np.testing.assert_allclose(both.agreement, 1)
    assert both.ranks[1:, 0].tolist() == [3, 3, 3]


def test_what_is_not_known_stays_out():
    both = comparison(part("permutation", [3.0, np.nan, 1.0]), part("shap", [3.0, 2.0, 1.0]))
    assert both.agreement[0, 1] == pytest.approx(1 / np.sqrt(3))
    assert np.isnan(both.shares[1, 0])
    assert both.shares[0, 0] == 0.75
    assert both.plot().spec["$schema"]


def test_overlap_of_the_first():
    both = comparison(part("permutation", [4.0, 3.0, 2.0, 1.0]), part("shap", [4.0, 1.0, 2.0, 3.0]))
    assert both.overlap(1)[0, 1] == 1
    assert both.overlap(2)[0, 1] == 0.5
    assert both.overlap(9)[0, 1] == 1
    with pytest.raises(pellucid.InputError, match=r"k must .*at least 1.*0"):
        both.overlap(0)


def test_words_name_agreement_and_the_first(golden):
    same = comparison(part("permutation", [3.0, 2.0, 1.0]), part("shap", [3.0, 2.0, 1.0]))
    golden("importance_comparison", "two that agree", same.text())
    three = comparison(*(part(name, [3.0, 2.0, 1.0]) for name in ("permutation", "shap", "pdp")))
    golden("importance_comparison", "three that agree", three.text())
    other = comparison(
        part("permutation", [3.0, 2.0, 1.0]), part("shap", [3.0, 2.5, 1.0]), part("pdp", [1.0, 2.0, 3.0])
    )
    golden("importance_comparison", "one of three contradicts the others", other.text())
    assert "c, b and a" in other.text()


def test_words_do_not_name_a_first_where_nothing_matters(golden):
    nothing = comparison(part("permutation", [0.0, 0.0]), part("shap", [0.0, 0.0]))
    golden("importance_comparison", "nothing matters", nothing.text())
    one = comparison(part("permutation", [1.0, 0.0]), part("drop", [-1.0, 0.0]))
    golden("importance_comparison", "nothing matters by one of two", one.text())


def test_the_table_is_tidy_and_in_order():
    frame = comparison(part("permutation", [1.0, 3.0]), part("shap", [1.0, 3.0])).frame()
    assert frame["feature"].tolist() == ["b", "b", "a", "a"]
    assert frame["method"].tolist() == ["permutation", "shap"] * 2
    assert frame["share"].tolist() == [0.75, 0.75, 0.25, 0.25]
    assert frame["rank"].tolist() == [1, 1, 2, 2]


def test_parts_come_back_from_a_file(tmp_path):
    both = comparison(part("permutation", [1.0, 3.0]), part("shap", [np.nan, 3.0]))
    loaded = pellucid.load(both.save(tmp_path / "both.json"))
    assert loaded == both
    assert loaded.of("shap") == both.of("shap")
    with pytest.raises(pellucid.InputError, match="'pdp' was not compared"):
        both.of("pdp")


# -- importance with first-order parts and p-values --------------------------------------------------


def test_first_order_parts_are_in_the_table_and_in_words(golden):
    from dataclasses import replace

    found = replace(part("sobol", [0.6, 0.5, 0.01]), first=np.array([0.55, 0.1, 0.0]), first_se=np.zeros(3))
    assert found.frame()["first"].tolist() == [0.55, 0.1, 0.0]
    golden("importance", "sobol, a feature that acts through interactions", found.text())
    assert "interactions" not in replace(found, first=found.values).text()


def test_p_values_are_in_the_table_and_in_words(golden):
    from dataclasses import replace

    found = replace(part("permutation", [0.6, 0.5, 0.01]), p_values=np.array([0.01, 0.2, 0.9]))
    assert found.frame()["p_value"].tolist() == [0.01, 0.2, 0.9]
    golden("importance", "p-values, one below 5%", found.text())
