"""How bad a caveat is, which come first, and how many are said."""

import numpy as np
import pytest

from pellucid import Caveat, Explainer
from pellucid.explanations.caveat import SAID, said_first, severity, worst_first


def caveat(value, code="off-data", threshold=0.12):
    return Caveat(code, f"{code} {value}.", value, threshold, "Do something else.")


def test_severity_grows_from_a_tenth_at_the_threshold_to_one():
    values = np.linspace(0.12, 1.0, 50)[1:]
    found = [severity("off-data", float(value), 0.12) for value in values]
    assert found == sorted(found)
    assert found[0] == pytest.approx(0.1, abs=0.03)
    assert found[-1] == 1.0
    assert severity("off-data", 0.46, 0.12) == pytest.approx(0.1 + 0.9 / 2)


@pytest.mark.parametrize("code", ["off-data", "overfitted", "poor-model", "shared-importance"])
def test_what_does_not_fire_has_no_severity(code):
    assert severity(code, 0.3, 0.3) == 0.0
    assert severity(code, 0.2, 0.3) == 0.0


def test_a_ratio_is_judged_by_its_multiple_of_the_threshold():
    assert severity("shared-importance", 2e6, 1e6) == pytest.approx(severity("shared-importance", 2.0, 1.0))
    assert severity("overfitted", np.inf, 1.5) == 1.0
    assert severity("shared-importance", 0.1, -0.2) == 1.0  # together they have some, alone none has


def test_a_smaller_loss_looks_more_like_training_data():
    assert severity("training-data", 0.0, 0.02) == 1.0
    assert severity("training-data", 0.01, 0.02) == pytest.approx(0.55)
    assert severity("training-data", 0.03, 0.02) == 0.0


def test_remarks_are_never_more_than_a_note():
    assert caveat(50.0, "rows-sampled", 1.0).level == "note"


def test_levels():
    assert [caveat(value).level for value in (0.13, 0.4, 0.79)] == ["note", "caution", "warning"]


def test_the_worst_comes_first_and_what_is_as_bad_stays_in_order():
    mild, bad = caveat(0.2), caveat(0.7)
    also = Caveat("off-data", "Another.", 0.7, 0.12, "Do.")
    assert worst_first([mild, bad, also]) == (bad, also, mild)


@pytest.mark.parametrize(
    ("n", "more"), [(1, None), (3, None), (4, "1 more caveat: see .caveats."), (6, "3 more caveats: see .caveats.")]
)
def test_at_most_three_are_said(n, more):
    said = said_first([caveat(1.0 - 0.1 * k, code=f"code-{k}") for k in range(n)])
    assert len(said) == min(n, SAID) + (more is not None)
    assert more is None or said[-1] == more


def test_of_each_kind_the_worst_is_said():
    bad, mild, other = caveat(0.7), caveat(0.2), caveat(0.3, "heterogeneous")
    assert said_first([bad, other, mild]) == [str(bad), str(other), "1 more caveat: see .caveats."]


def test_a_result_lists_its_caveats_worst_first():
    x = np.random.default_rng(0).normal(size=300)
    X = np.column_stack([x, x + 0.05 * np.random.default_rng(1).normal(size=300), x**2])
    found = Explainer(lambda Z: Z[:, 0] * Z[:, 1] + Z[:, 2], X, np.roll(x, 1)).pdp(0, at=np.linspace(-9, 9, 30))
    levels = [each.severity for each in found.caveats]
    assert len(levels) > SAID
    assert levels == sorted(levels, reverse=True)
    assert found.text().count("\n- ") == SAID + 1
    assert found.text().endswith(
        f"{len(levels) - SAID} more caveats: see .caveats."
        if len(levels) > SAID + 1
        else "1 more caveat: see .caveats."
    )
