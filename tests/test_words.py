import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pellucid.words import listed, number, percent, value_name


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (5.0, "5"),
        (1234.5, "1,234"),
        (-0.5, "-0.5"),
        (0.00012345, "0.000123"),
        (1e-9, "1.00e-09"),
        (2.5e20, "2.50e+20"),
        (np.nan, "unknown"),
        (np.inf, "infinite"),
    ],
)
def test_numbers(value, text):
    assert number(value) == text


@given(st.floats(-1e300, 1e300).filter(lambda x: x != 0))
def test_a_number_is_never_rounded_to_nothing(value):
    text = number(value, sign=True)
    assert re.search("[1-9]", text)
    assert text.startswith("+") == (value > 0)
    assert float(text.replace(",", "")) == pytest.approx(value, rel=0.006)


@pytest.mark.parametrize(
    ("share", "text"), [(0, "0%"), (0.5, "50%"), (0.004, "0.4%"), (1e-5, "less than 0.1%"), (1, "100%")]
)
def test_percentages(share, text):
    assert percent(share) == text


def test_values_of_features():
    assert value_name(np.datetime64("2024-05-01T00:00:00")) == "2024-05-01"
    assert value_name(np.datetime64("2024-05-01T12:30:00")) == "2024-05-01 12:30:00"
    assert [value_name(v) for v in (True, np.bool_(False), 2011, 5951, 123456, 3.14159, "rain", None)] == [
        "yes",
        "no",
        "2011",
        "5,951",
        "123,456",
        "3.14",
        "rain",
        "missing",
    ]


def test_lists():
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c"]) == "a, b and c"
    assert listed(list("abcdefgh"), 3) == "a, b, c and 5 more"
