"""95% intervals cover what they are about, in settings whose truth is known (tests/covered; docs/intervals.md).

Here some settings are tried a few times; with PELLUCID_SLOW=1 all of them, often.
"""

import os

import numpy as np
import pytest

from covered import (
    conditional,
    contributions,
    dependence,
    effects,
    importance,
    interactions,
    local,
    shapley,
    tests_of_nothing,
    variances,
)

SLOW = os.environ.get("PELLUCID_SLOW") == "1"
ROOMS = (
    importance,
    conditional,
    dependence,
    contributions,
    interactions,
    shapley,
    variances,
    effects,
    tests_of_nothing,
    local,
)
CASES = [case for room in ROOMS for case in room.CASES() if SLOW or case.quick]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.method}, {case.name}")
def test_intervals_cover_what_they_are_about(case):
    repetitions = case.often if SLOW else case.quick
    covered = case.covered(repetitions)
    each = np.nanmean(covered, axis=0)
    slack = 2.6 * np.sqrt(case.least * (1 - case.least) / repetitions)  # the chance of so few repetitions
    assert not np.isnan(each).any()
    assert each.min() >= case.least - slack, each
