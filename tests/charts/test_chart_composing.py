"""Composed views: copied as they stand inside, Altair's own classes outside."""

import copy

import altair as alt
import pytest

from charts.chart_examples import CLASSES, ale, effect, levels


def views(view):
    """A view and all that it is made of."""
    held = [part for name in ("layer", "concat", "hconcat", "vconcat") for part in view._kwds.get(name, ())]
    return [view, *(inner for part in held for inner in views(part))]


CHARTS = {
    "one view": lambda: effect().plot(distribution=None),
    "views below each other": lambda: ale().plot(),
    "classes": lambda: levels(outputs=CLASSES).plot(),
    "joined": lambda: (effect().plot() | levels().plot()) & ale().plot(),
}
every_chart = pytest.mark.parametrize("draw", CHARTS.values(), ids=CHARTS.keys())


@every_chart
def test_users_get_altairs_own_classes_and_the_same_specification(draw):
    chart = draw()
    assert {type(view) for view in views(chart.altair)} <= {
        alt.Chart,
        alt.LayerChart,
        alt.ConcatChart,
        alt.HConcatChart,
        alt.VConcatChart,
    }
    with alt.data_transformers.enable("default", consolidate_datasets=True):
        theirs = chart.altair.to_dict()
    theirs["datasets"] = {name: list(rows) for name, rows in theirs["datasets"].items()}
    assert theirs == chart.spec


@every_chart
def test_a_copy_shares_no_view_with_its_original(draw):
    body = draw()._body
    before = body.to_dict()
    for twin in (body.copy(), copy.deepcopy(body)):
        assert not {id(view) for view in views(twin)} & {id(view) for view in views(body)}
        for view in views(twin):
            view.name = "changed"
    assert body.to_dict() == before


def test_what_is_made_of_a_chart_leaves_it_as_it_was():
    first, second = ale().plot(distribution=None), effect().plot(distribution=None)
    before = [first.spec, second.spec]
    joined = (first | second) & (first + second)
    _ = joined.spec, joined.altair.properties(title="other").interactive, first.altair.interactive().to_dict()
    assert [first.spec, second.spec] == before


def test_a_chart_can_be_made_interactive():
    chart = ale().plot(distribution=None).altair.interactive()
    params = chart.to_dict()["params"]
    assert params
    assert all(param["bind"] == "scales" for param in params)
