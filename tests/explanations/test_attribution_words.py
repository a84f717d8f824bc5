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


def unusual(found, rarity):
    """The same contributions, of values that are as unusual as this."""
    return replace(found, entries=replace(found.entries, unusual=rarity))


def letters(values, **more):
    """One row of features a, b, c, ... all of value 0."""
    values = np.array([values], dtype=float)
    names = tuple("abcdefghijklmnopqrstuvwxyz"[: values.shape[1]])
    fields = {"feature_names": names, "data": (np.zeros(1),) * len(names), "members": tuple((c,) for c in names)}
    return attribution(values, **{**fields, **more})


# -- complete ----------------------------------------------------------------------------------------


def test_one_row_in_words(golden):
    text = attribution().row(0).text()
    golden("attribution", "one row", text)
    assert text.index("season = fall") < text.index("temp = 21.5") < text.index("day = 3")
    assert "remove" not in text
    assert "season = missing" in attribution().row(1).text()
    assert "temp = missing" in attribution().row(1).text()


def test_every_factor_is_accounted_for(golden):
    text = letters([*range(12, 0, -1), 0, 0]).text()
    golden("attribution", "one row, 14 features, two of which contribute nothing", text)
    assert all(f"{name} = 0" in text for name in "abcdefghijmn")


def test_rounding_is_no_contribution(golden):
    golden("attribution", "one row, nothing contributed", letters([1e-16, -1e-16], base=5.0).text())


def test_rounding_is_said_as_zero():
    text = attribution(np.array([[2.0, 1e-14, 0.0], [1.0, -2e-14, 0.0]])).text()
    assert "e-" not in text
    assert "e-" not in letters([-5.0, 1e-16], base=5.0, prediction=np.array([5e-17])).text()


def test_one_that_is_left_is_no_sum():
    text = letters([*range(11, 0, -1)]).text()
    assert "the other one +1" in text


def test_several_rows_in_words(golden):
    text = attribution().text()
    golden("attribution", "several rows", text)
    assert text.index("season (2.5)") < text.index("day (0.75)") < text.index("temp (0.5)")
    golden("attribution", "several rows, two classes", classes(0.01).text())


def test_estimates_are_said_with_their_interval(golden):
    found = attribution(se=np.full((2, 3), 0.1))
    golden("attribution", "one row, estimated", found.row(0).text())
    golden("attribution", "several rows, estimated", found.text())
    assert "-2 ± 0.196" in found.row(0).text()
    assert "2.5 ± 0.196" in found.text()
    assert "±" not in attribution().text()


@pytest.mark.parametrize("game", ["marginal", "path", "conditional"])
def test_the_game_is_said(game, golden):
    line = next(line for line in attribution(game=game).text().splitlines() if f"({game} game)" in line)
    golden("attribution", f"the {game} game", line)


# -- short -------------------------------------------------------------------------------------------


def test_short_is_contrastive_and_names_unusual_values(golden):
    found = attribution([[3.0, 2.0, -0.5]], data=(np.array([34.0]), np.array(["fall"], dtype=object), np.array([3])))
    found = unusual(found, Rarity(np.array([[0.04, 0.03, 0.5]]), np.array([[1.0, 0.0, -1.0]])))
    text = found.text(mode="short")
    golden("attribution", "one row, short, two unusual values", text)
    assert text.index("temp = 34") < text.index("98%") < text.index("season = fall") < text.index("3.0%")
    assert "day" not in text


def test_one_cause_is_enough_if_the_second_is_small():
    assert "b = 0" not in letters([9, 1, 1, 1]).text("short")
    assert "b = 0" in letters([9, 3]).text("short")


def test_a_larger_push_the_other_way_is_not_kept_quiet(golden):
    text = letters([2, 2, 1.9, -4]).text("short")
    golden("attribution", "one row, short, a larger push the other way", text)
    assert "d = 0" in text
    assert "b = 0" not in letters([5, -4]).text("short")


def test_contributions_that_cancel(golden):
    text = letters([2, -2]).text("short")
    golden("attribution", "one row, short, contributions that cancel", text)
    assert "a = 0" in text
    assert "b = 0" in text
    golden("attribution", "one row, short, nothing contributed", letters([0, 0]).text("short"))


def test_short_of_classes_is_about_the_highest(golden):
    found = classes(0.01).row(0)
    best = found.output_names[int(np.argmax(found.prediction[0]))]
    text = found.text("short")
    golden("attribution", "one row, short, two classes", text)
    assert f"(probability of {best})" in text
    assert text.count("The prediction") == 1


def test_short_of_several_rows(golden):
    text = attribution().text("short")
    golden("attribution", "several rows, short", text)
    assert text.index("season") < text.index("day")
    assert "temp" not in text
    golden("attribution", "several rows, short, nothing contributed", attribution(np.zeros((2, 3))).text("short"))


def test_short_says_how_many_caveats_there_are(golden):
    found = attribution(caveats=(Caveat("c", "m.", 1.0, 0.5, "a."),))
    golden("attribution", "one row, short, with a caveat", found.row(0).text("short"))
    golden("attribution", "one row, with a caveat", found.row(0).text())
    assert "- " in found.text()


def test_unknown_mode():
    with pytest.raises(pellucid.InputError, match=r"mode='shrot'.*'short'"):
        attribution().text("shrot")


@pytest.mark.parametrize(
    ("value", "share", "side", "kind"),
    [
        (np.array([34.0]), 0.0, 1, "higher than any number"),
        (np.array([34.0]), 0.002, 2, "highest number"),
        (np.array([34.0]), 0.002, 1, "nearly the highest number"),
        (np.array(["2024-01-01"], dtype="datetime64[D]"), 0.04, -2, "earliest date"),
        (np.array([34.0]), 0.1, -1, "low number"),
        (np.array(["2024-01-01"], dtype="datetime64[D]"), 0.04, 1, "late date"),
        (np.array(["2024-01-01"], dtype="datetime64[D]"), 0.04, -1, "early date"),
        (np.array([None], dtype=object), 0.02, 0, "missing value"),
        (np.array(["x"], dtype=object), 0.0, 0, "new category"),
    ],
)
def test_what_is_unusual(value, share, side, kind, golden):
    found = letters([3.0, 1.0], data=(value, np.zeros(1)))
    found = unusual(found, Rarity(np.array([[share, 1.0]]), np.array([[side, 0.0]])))
    golden("attribution", f"one row, short, an unusual value: {kind}", found.text("short"))
    assert "100%" not in found.text("short")
    usual = unusual(found, Rarity(np.array([[0.2, 1.0]]), found.entries.rarity.side))
    assert "(" not in usual.text("short")


# -- causes ------------------------------------------------------------------------------------------


def test_size_comes_first():
    assert letters([1, 3, 2]).causes() == ["b", "c"]
    rare = unusual(letters([1, 3, 2]), Rarity(np.array([[0.001, 1.0, 1.0]]), np.zeros((1, 3))))
    assert rare.causes() == ["b", "c"]


def test_rarity_breaks_near_ties():
    found = unusual(letters([3.0, 2.8, 1.0]), Rarity(np.array([[0.5, 0.01, 0.01]]), np.zeros((1, 3))))
    assert found.causes() == ["b", "a"]
    assert replace(found, values=np.array([[3.0, 2.6, 1.0]])).causes() == ["a", "b"]
    unknown = unusual(found, Rarity(np.array([[np.nan, np.nan, 0.01]]), found.entries.rarity.side))
    assert unknown.causes() == ["a", "b"]


def test_the_largest_contribution_is_never_left_out():
    rare = Rarity(np.array([[0.5, 0.01, 0.02, 0.03]]), np.zeros((1, 4)))
    found = unusual(letters([3.0, 2.9, 2.8, 2.7]), rare)
    assert found.causes() == ["b", "a"]
    assert found.causes(3) == ["b", "c", "a"]
    assert "a = 0" in found.text("short")
    against = unusual(letters([-3.0, 2.9, 2.8, 2.7]), rare)
    assert "a = 0" in against.text("short")


def test_causes_push_towards_the_prediction():
    assert letters([2, 1, -2.5]).causes(5) == ["a", "b"]
    assert letters([-2, -1, 2.5]).causes(5) == ["a", "b"]
    assert letters([2, -2]).causes(5) == ["a", "b"]


def test_the_sum_of_others_is_no_cause():
    assert letters([3, 2, 2, 2]).sparse(1).causes(5) == ["a"]


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=7), st.lists(st.floats(0, 1), min_size=7, max_size=7))
def test_each_cause_is_nearly_the_largest_that_is_left(values, shares):
    found = letters(values)
    found = unusual(found, Rarity(np.array([shares[: len(values)]]), np.zeros((1, len(values)))))
    names = found.causes(len(values))
    assert len(set(names)) == len(names)
    sign = np.sign(float(found.prediction[0] - found.base))
    left = dict(zip(found.feature_names, np.array(values) * sign if sign else np.abs(values), strict=True))
    rare = dict(zip(found.feature_names, shares, strict=False))
    largest = max(left.values())
    for place, name in enumerate(names):
        if place == len(names) - 1 and left[name] == largest:
            break  # the largest is always one of them
        near = [other for other in left if left[other] >= 0.9 * max(left.values()) * (1 - 1e-12)]
        assert left[name] > 0
        assert name in near
        assert rare[name] == min(rare[other] for other in near)
        del left[name]


@pytest.mark.parametrize("n", [0, -1, True, 1.5])
def test_how_many_causes(n):
    with pytest.raises(pellucid.InputError, match="n must"):
        attribution().causes(n)


def test_main_causes_make_up_half_of_the_difference(golden):
    many = letters([1, 1, 1, 1, 1, 1, 1]).text("short")
    golden("attribution", "one row, short, causes of less than half", many)
    half = letters([1, 1, 1, 1]).text("short")
    golden("attribution", "one row, short, causes of half", half)
    assert ("mainly" in many, "mainly" in half) == (False, True)
    golden("attribution", "one row, short, others partly cancel", letters([5, -4]).text("short"))
