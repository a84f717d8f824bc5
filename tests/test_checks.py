"""Arguments: what is accepted as what, and what the errors say."""

import numpy as np
import pytest

from pellucid import checks
from pellucid.errors import InputError

THREES = [3, 3.0, np.int64(3), np.uint8(3), np.float32(3.0), np.float64(3.0)]
NO_NUMBERS = [True, np.True_, "3", None, [3], np.array([3]), 3 + 0j, float("nan"), float("inf"), ...]


@pytest.mark.parametrize("three", THREES, ids=lambda value: f"{type(value).__name__}")
def test_a_whole_number_is_one_whatever_its_type(three):
    found = checks.whole("k", three)
    assert found == 3
    assert type(found) is int
    assert type(checks.positive("k", three)) is float
    assert checks.positions("k", three, 4) == [3]


@pytest.mark.parametrize("value", NO_NUMBERS, ids=repr)
def test_what_is_no_number_is_refused_by_name(value):
    for check in (checks.whole, checks.bounded, checks.positive, checks.fraction, checks.seed):
        with pytest.raises(InputError, match=r"^size must be .*, got "):
            check(value, "size") if check is checks.seed else check("size", value)


def test_messages(golden):
    def refused(check, *given, **limits):
        with pytest.raises(InputError) as caught:
            check(*given, **limits)
        said.append(str(caught.value))

    said = []
    refused(checks.whole, "sparse", 0)
    refused(checks.whole, "k", np.int64(0), also="None")
    refused(checks.whole, "order", 4, most=3)
    refused(checks.whole, "k", 2.5)
    refused(checks.whole, "k", np.zeros((9, 9)))
    refused(checks.fraction, "delta", 1.0)
    refused(checks.bounded, "threshold", 2, above=0, most=1)
    refused(checks.bounded, "least", 1, least=0, below=1)
    refused(checks.positive, "width", -1)
    refused(checks.flag, "pure", 1)
    refused(checks.seed, -1)
    refused(checks.one_of, "method", "kernl", ("kernel", "exact"))
    refused(checks.distinct_names, "names", ["a", "a"])
    refused(checks.distinct_names, "names", ["a"], 2, of="player")
    refused(checks.positions, "rows", [0, 9], 5)
    golden("errors", "arguments", said)


def test_limits_are_kept():
    assert checks.whole("k", 0, least=0) == 0
    assert checks.whole("k", 3, least=1, most=3) == 3
    assert checks.bounded("k", 1, above=0, most=1) == 1.0
    assert checks.bounded("k", 0, least=0, below=1) == 0.0
    assert checks.fraction("k", np.float32(0.5)) == 0.5
    assert checks.flag("k", np.True_) is True
    assert checks.one_of("k", np.str_("exact"), ("kernel", "exact")) == "exact"
    assert checks.one_of("k", None, ("kernel", None)) is None
    assert checks.distinct_names("k", ["a", "b"], 2) == ("a", "b")
    with pytest.raises(InputError):
        checks.one_of("k", ["exact"], ("kernel", "exact"))
    with pytest.raises(InputError):
        checks.one_of("k", np.array(["exact"]), ("kernel", "exact"))
