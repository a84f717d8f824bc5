"""Altair's checks: switched off while charts are drawn, and made up for in the tests."""

import altair as alt
import pytest
from altair.utils import schemapi

from pellucid.charts.chart import UNCHECKED, Chart


def chart(interpolate):
    with UNCHECKED:
        mark = alt.MarkDef(type="line", interpolate=interpolate)
        return Chart(alt.Chart(alt.Data(values=[{"x": 1}]), mark=mark, encoding=alt.Encoding(x=alt.X("x:Q"))))


def test_a_specification_outside_the_schema_is_noticed_in_tests():
    assert chart("step-after").spec["mark"]["interpolate"] == "step-after"
    with pytest.raises(schemapi.SchemaValidationError, match="step-behind"):
        _ = chart("step-behind").spec


def test_afterwards_altair_checks_what_users_draw():
    with UNCHECKED, UNCHECKED:
        assert not schemapi.DEBUG_MODE
    with pytest.raises(schemapi.SchemaValidationError, match="lien"):
        alt.MarkDef(type="lien")
    with schemapi.debug_mode(False):
        _ = chart("linear").spec
        assert not schemapi.DEBUG_MODE
