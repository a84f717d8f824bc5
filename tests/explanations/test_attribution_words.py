"""Contributions in words: correct, complete or short, and the causes they name."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pellucid
from explanations.test_attribution import attribution, classes
from pellucid.data.rarity import Rarity
from pellucid.explanations import Caveat


def letters(values, **more):
    """One row of features a, b, c, ... all of value 0."""
    values = np.array([values], dtype=float)
    names = tuple("abcdefghijklmnopqrstuvwxyz"[: values.shape[1]])
    fields = {"feature_names": names, "data": (np.zeros(1),) * len(names), "members": tuple((c,) for c in names)}
    return attribution(values, **{**fields, **more})


# -- complete ----------------------------------------------------------------------------------------


def test_one_row_in_words():
    text = attribution().row(0).text()
    assert "The prediction is 9.5; the average prediction is 10; the difference is -0.5." in text
    assert (
        "Compared with the average prediction, season = fall contributed -2, temp = 21.5 contributed +1 and day = 3 contributed +0.5."
        in text
    )
    assert "background rows (marginal game)" in text
    assert "remove" not in text
    assert "a feature's share of this difference" in text
    assert "season = missing" in attribution().row(1).text()
    assert "temp = missing" in attribution().row(1).text()


def test_every_factor_is_accounted_for():
    text = letters([*range(12, 0, -1), 0, 0]).text()
    assert "a = 0 contributed +12, b = 0 contributed +11" in text
    assert "j = 0 contributed +3 and the other 2 together +3 (none more than 2)" in text
    assert "m = 0 and n = 0 contributed nothing." in text


def test_rounding_is_no_contribution():
    assert "Nothing contributed." in letters([1e-16, -1e-16], base=5.0).text()


def test_several_rows_in_words():
    text = attribution().text()
    assert "over 2 rows" in text
    assert "season (2.5), day (0.75) and temp (0.5)" in text
    assert "it is not the effect of removing the feature from training" in text
    said = classes().text()
    assert "(probability of no)" in said
    assert "(probability of yes)" in said


def test_estimates_are_said_with_their_interval():
    found = attribution(se=np.full((2, 3), 0.1))
    assert "season = fall contributed -2 ± 0.196" in found.row(0).text()
    assert "± is half the width of a 95% interval." in found.row(0).text()
    assert "season (2.5 ± 0.196)" in found.text()
    assert "upper bound" in found.text()
    assert "±" not in attribution().text()


@pytest.mark.parametrize("game", ["marginal", "path", "conditional"])
def test_the_game_is_said(game):
    assert f"({game} game)" in attribution(game=game).text()


def test_the_conditional_game_warns_of_unused_features():
    assert "an unused feature can get a share" in attribution(game="conditional").text()


# -- short -------------------------------------------------------------------------------------------


def test_short_is_contrastive_and_names_unusual_values():
    found = attribution([[3.0, 2.0, -0.5]], data=(np.array([34.0]), np.array(["fall"], dtype=object), np.array([3])))
    found = replace(found, unusual=Rarity(np.array([[0.04, 0.03, 0.5]]), np.array([[1.0, 0.0, -1.0]])))
    assert found.text(mode="short") == (
        "The prediction is 14.5 rather than 10, the average prediction, mainly because temp = 34 (higher than 98% of the "
        "rows) contributed +3 and season = fall (as in 3.0% of the rows) contributed +2."
    )


def test_one_cause_is_enough_if_the_second_is_small():
    assert "because a = 0 contributed +9." in letters([9, 1, 1, 1]).text("short")
    assert "because a = 0 contributed +9 and b = 0 contributed +3." in letters([9, 3]).text("short")


def test_a_larger_push_the_other_way_is_not_kept_quiet():
    text = letters([2, 2, 1.9, -4]).text("short")
    assert "mainly because a = 0 contributed +2" in text
    assert text.endswith("although d = 0 contributed -4.")
    assert "although" not in letters([5, -4]).text("short")


def test_contributions_that_cancel():
    text = letters([2, -2]).text("short")
    assert text == (
        "The prediction is 10, equal to the average prediction, although a = 0 contributed +2 and b = 0 contributed -2."
    )
    assert letters([0, 0]).text("short").endswith("equal to the average prediction: no feature contributed.")


def test_short_of_classes_is_about_the_highest():
    found = classes().row(0)
    best = found.output_names[int(np.argmax(found.prediction[0]))]
    text = found.text("short")
    assert f"Of 2 outputs {best} is highest." in text
    assert f"(probability of {best})" in text
    assert text.count("The prediction") == 1


def test_short_of_several_rows():
    assert attribution().text("short") == (
        "Over 2 rows season and day move the predictions most, compared with the average prediction."
    )
    assert "No feature moves any of the 2 predictions" in attribution(np.zeros((2, 3))).text("short")


def test_short_says_how_many_caveats_there_are():
    found = attribution(caveats=(Caveat("c", "m.", 1.0, 0.5, "a."),))
    assert found.row(0).text("short").endswith("Read with care: 1 caveat, see .caveats.")
    assert "- " in found.text()


def test_unknown_mode():
    with pytest.raises(pellucid.InputError, match="mode='shrot' is not known; did you mean 'short'"):
        attribution().text("shrot")


@pytest.mark.parametrize(
    ("value", "share", "side", "said"),
    [
        (np.array([34.0]), 0.0, 1, "higher than all of the rows"),
        (np.array([34.0]), 0.1, -1, "lower than 95% of the rows"),
        (np.array(["2024-01-01"], dtype="datetime64[D]"), 0.04, 1, "later than 98% of the rows"),
        (np.array(["2024-01-01"], dtype="datetime64[D]"), 0.04, -1, "earlier than 98% of the rows"),
        (np.array([None], dtype=object), 0.02, 0, "missing (as in 2.0% of the rows)"),
        (np.array(["x"], dtype=object), 0.0, 0, "x (as in none of the rows)"),
    ],
)
def test_what_is_unusual(value, share, side, said):
    found = letters([3.0, 1.0], data=(value, np.zeros(1)))
    found = replace(found, unusual=Rarity(np.array([[share, 1.0]]), np.array([[side, 0.0]])))
    assert said in found.text("short")
    usual = replace(found, unusual=Rarity(np.array([[0.2, 1.0]]), found.side))
    assert "of the rows" not in usual.text("short")


# -- causes ------------------------------------------------------------------------------------------


def test_size_comes_first():
    assert letters([1, 3, 2]).causes() == ["b", "c"]
    rare = replace(letters([1, 3, 2]), unusual=Rarity(np.array([[0.001, 1.0, 1.0]]), np.zeros((1, 3))))
    assert rare.causes() == ["b", "c"]


def test_rarity_breaks_near_ties():
    found = replace(letters([3.0, 2.8, 1.0]), unusual=Rarity(np.array([[0.5, 0.01, 0.01]]), np.zeros((1, 3))))
    assert found.causes() == ["b", "a"]
    assert replace(found, values=np.array([[3.0, 2.6, 1.0]])).causes() == ["a", "b"]
    unknown = replace(found, unusual=Rarity(np.array([[np.nan, np.nan, 0.01]]), found.side))
    assert unknown.causes() == ["a", "b"]


def test_causes_push_towards_the_prediction():
    assert letters([2, 1, -2.5]).causes(5) == ["a", "b"]
    assert letters([-2, -1, 2.5]).causes(5) == ["a", "b"]
    assert letters([2, -2]).causes(5) == ["a", "b"]


def test_the_sum_of_others_is_no_cause():
    assert letters([3, 2, 2, 2]).sparse(1).causes(5) == ["a"]


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=7), st.lists(st.floats(0, 1), min_size=7, max_size=7))
def test_each_cause_is_nearly_the_largest_that_is_left(values, shares):
    found = letters(values)
    found = replace(found, unusual=Rarity(np.array([shares[: len(values)]]), np.zeros((1, len(values)))))
    names = found.causes(len(values))
    assert len(set(names)) == len(names)
    sign = np.sign(float(found.prediction[0] - found.base))
    left = dict(zip(found.feature_names, np.array(values) * sign if sign else np.abs(values), strict=True))
    rare = dict(zip(found.feature_names, shares, strict=False))
    for name in names:
        near = [other for other in left if left[other] >= 0.9 * max(left.values()) * (1 - 1e-12)]
        assert left[name] > 0
        assert name in near
        assert rare[name] == min(rare[other] for other in near)
        del left[name]


@pytest.mark.parametrize("n", [0, -1, True, 1.5])
def test_how_many_causes(n):
    with pytest.raises(pellucid.InputError, match="n must be a whole number"):
        attribution().causes(n)


def test_main_causes_make_up_half_of_the_difference():
    many = letters([1, 1, 1, 1, 1, 1, 1]).text("short")
    assert "mainly" not in many
    assert many.endswith(
        "; the largest contributions in this direction were those of a = 0 (+1) and b = 0 (+1), "
        "less than half of the difference."
    )
    assert "mainly because a = 0 contributed +1 and b = 0 contributed +1." in letters([1, 1, 1, 1]).text("short")
    assert letters([5, -4]).text("short").endswith("a = 0 contributed +5; others partly cancel this.")
