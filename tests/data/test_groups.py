"""Features by name and position, and groups of columns that act as one."""

import pandas as pd
import pytest

from pellucid.data import Data
from pellucid.errors import InputError

WIDE = pd.DataFrame({"a": [1, 2], "b": [1, 2], "c": [1, 2]})


def test_players_are_groups_and_the_columns_in_none():
    schema = Data.of(WIDE, groups={"both": ["c", 0]}).schema
    assert schema.players() == {"both": (2, 0), "b": (1,)}


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ({"g": ["a", "d"]}, "there is no feature 'd'"),
        ({"g": ["a"], "h": ["b", "a"]}, "feature 'a' is in the groups 'g' and 'h'"),
        ({"g": ["a", "a"]}, "feature 'a' is in the groups 'g' and 'g'; a feature belongs to one group, once"),
        ({"a": ["b", "c"]}, "the group 'a' has the name of a feature outside it"),
        ({"g": "ab"}, "the group 'g' must be a list of at least one feature, not 'ab'"),
        ({"g": []}, "the group 'g' must be a list of at least one feature"),
    ],
)
def test_groups_that_make_no_sense(groups, message):
    with pytest.raises(InputError, match=message):
        Data.of(WIDE, groups=groups)


@pytest.mark.parametrize(
    ("feature", "message"),
    [
        ("A ", "did you mean 'a'"),
        (3, "feature position 3 is out of range: there are 3 features"),
        (-1, "feature position -1"),
        (True, "a feature is a name or a position, not True"),
        (1.5, "not 1.5"),
    ],
)
def test_unknown_features(feature, message):
    with pytest.raises(InputError, match=message):
        Data.of(WIDE).schema.index(feature)


def test_pairs_of_features():
    schema = Data.of(WIDE).schema
    assert schema.indices(("a", 2)) == (0, 2)
    with pytest.raises(InputError, match="feature 'a' is given twice"):
        schema.indices(("a", 0))
    with pytest.raises(InputError, match="one or two features, not 3"):
        schema.indices(("a", "b", "c"))
