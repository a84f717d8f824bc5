"""Many rows at a glance: heat maps and violins of contributions, and logarithmic axes of skewed features."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from charts.chart_examples import CLASSES, ale, attribution, effect, individual, levels, surface
from pellucid.charts import draw, panel
from pellucid.charts.attribution.heatmap import cell_data
from pellucid.charts.attribution.stacked import arranged
from pellucid.charts.attribution.violin import density, violin_data
from pellucid.charts.effect.distribution import histogram_data
from pellucid.charts.effect.surface import cell_places
from pellucid.charts.layout import log_ticks
from pellucid.errors import InputError
from pellucid.explanations.plot_options import AttributionOptions


def scales(part, channel="x") -> list[dict]:
    """The scales of a channel, wherever they are in a specification."""
    if isinstance(part, list):
        return [found for each in part for found in scales(each, channel)]
    if not isinstance(part, dict):
        return []
    own = part.get("encoding", {}).get(channel, {})
    mine = [own["scale"]] if isinstance(own, dict) and own.get("scale") else []
    return mine + [found for key, each in part.items() if key != "datasets" for found in scales(each, channel)]


# -- heat maps of contributions ----------------------------------------------------------------------


def test_a_heat_map_has_a_cell_for_each_row_and_feature_and_sums_the_rest():
    found, options = attribution(30), AttributionOptions(kind="heatmap", max_display=3)
    order = arranged(found, options)
    cells = cell_data(found, "prediction", options, order)
    names = list(dict.fromkeys(cell["feature"] for cell in cells))
    assert names[-1].endswith("others")
    assert len(cells) == 30 * len(names)
    for at, i in enumerate(order.rows):
        column = [cell["contribution"] for cell in cells if cell["at"] == at]
        assert sum(column) == pytest.approx(found.values[i].sum())


def test_rows_of_a_heat_map_can_be_ordered_by_prediction():
    found = attribution(30)
    order = arranged(found, AttributionOptions(kind="heatmap", order="prediction"))
    assert (np.diff(found.prediction[order.rows]) <= 0).all()
    with pytest.raises(InputError, match=r"order= is an option of kind='stacked' and kind='heatmap'"):
        AttributionOptions(kind="bar", order="given")


# -- violins of contributions ------------------------------------------------------------------------


def test_a_violin_is_thickest_where_rows_are_many():
    found = attribution(400)
    values = np.concatenate([np.random.default_rng(0).normal(0, 1, 380), np.full(20, 8.0)])
    found = replace(found, values=np.column_stack([values, *np.zeros((4, 400))]))
    rows = [row for row in violin_data(found, "prediction") if row["feature"] == "temperature"]
    thick = [row["y2"] - row["y"] for row in rows]
    middle = rows[int(np.argmax(thick))]
    assert abs(middle["x"]) < 1
    assert max(thick) == pytest.approx(2 * 0.42)
    assert rows[0]["x"] >= values.min()
    assert rows[-1]["x2"] <= values.max() + 1e-9


def test_densities_are_those_of_a_normal_kernel():
    values, places = np.array([0.0, 1.0, 4.0]), np.linspace(-5, 10, 300)
    found = density(values, places)
    width = 0.9 * min(values.std(), np.subtract(*np.quantile(values, [0.75, 0.25])) / 1.34) * 3**-0.2
    naive = [sum(np.exp(-0.5 * ((place - value) / width) ** 2) for value in values) for place in places]
    np.testing.assert_allclose(found, naive)


def test_slices_are_coloured_by_the_values_there_and_categories_are_grey():
    found = attribution(300)
    numbers = np.linspace(0, 1, 300)
    rising = replace(
        found,
        values=np.column_stack([numbers, *found.values.T[1:]]),
        entries=replace(found.entries, data=(numbers, *found.data[1:])),
    )
    rows = violin_data(rising, "prediction")
    colours = [row["rank"] for row in rows if row["feature"] == "temperature"]
    assert np.corrcoef(colours, np.arange(len(colours)))[0, 1] > 0.99
    assert all(row["rank"] is None for row in rows if row["feature"] == "season")


@pytest.mark.parametrize("kind", ["heatmap", "violin", "beeswarm"])
def test_several_classes_have_one_legend_at_the_right_of_the_first_line(kind):
    spec = draw(attribution(50, outputs=CLASSES[:3], size=0.1), kind=kind).spec
    assert len(spec["concat"]) == 3
    if kind != "heatmap":
        assert ["'legend': {" in str(view) for view in spec["concat"]] == [False, True, False]


# -- logarithmic axes --------------------------------------------------------------------------------

POSITIVE = np.geomspace(1, 1e5, 40)


@pytest.mark.parametrize(
    "result",
    [
        effect(POSITIVE, rug=POSITIVE),
        ale(POSITIVE, rug=POSITIVE, curve=np.log(POSITIVE)),
        individual(20, POSITIVE),
        surface(POSITIVE, np.linspace(-3, 3, 5)),
    ],
    ids=["curve", "bins", "individual", "surface"],
)
def test_the_axis_of_a_feature_can_be_logarithmic(result):
    assert not any(scale.get("type") == "log" for scale in scales(draw(result).spec))
    logs = scales(draw(result, log="temperature").spec)
    assert logs
    assert all(scale["type"] == "log" for scale in logs)
    assert not any(scale.get("type") == "log" for scale in scales(draw(result, log="temperature").spec, "y"))


def test_a_histogram_below_a_logarithmic_axis_has_equal_bins_there():
    bars = histogram_data(effect(POSITIVE, rug=POSITIVE), (1.0, 1e5), log=True)
    ratios = [bar["to"] / bar["from"] for bar in bars]
    np.testing.assert_allclose(ratios, ratios[0])
    assert sum(bar["share"] for bar in bars) == pytest.approx(1)


def test_what_cannot_be_logarithmic_is_refused_by_name():
    with pytest.raises(InputError, match=r"log= .*temperature.*-8"):
        draw(effect(), log=True)
    with pytest.raises(InputError, match=r"log='season': only numbers"):
        draw(levels(), log="season")
    with pytest.raises(InputError, match=r"log='temperatur'.*'temperature'"):
        draw(effect(POSITIVE), log="temperatur")
    with pytest.raises(InputError, match="log must be"):
        draw(effect(POSITIVE), log=3)
    with pytest.raises(InputError, match=r"log=True .*temperature"):
        draw(attribution(60), kind="dependence", feature="temperature", log=True)


def test_in_a_panel_those_features_are_logarithmic_that_can_be():
    both = [effect(POSITIVE, name="income"), effect(name="temperature")]
    for log in (True, "income", ["income"]):
        kinds = [
            any(scale.get("type") == "log" for scale in scales(view)) for view in panel(both, log=log).spec["concat"]
        ]
        assert kinds == [True, False]


def test_ticks_of_a_short_logarithmic_axis():
    assert log_ticks((3.0, 60.0)) == [5, 10, 20, 50]


# -- categories of two features ----------------------------------------------------------------------


def test_months_of_a_heat_map_stand_in_their_order():
    months = np.array(["Oct", "Jan", "Jul"], dtype=object)
    found = surface(
        months, np.linspace(0, 1, 4), method="ale", kinds=("categorical", "numeric"), names=("month", "age")
    )
    assert [place["level"] for place in cell_places(found, 0)] == ["Oct", "Jan", "Jul"]
    assert scales(draw(found).spec)[0]["domain"] == ["Jan", "Jul", "Oct"]


def test_grey_curves_are_explained():
    found = individual(30)
    assert "grey" not in str(draw(found).spec["title"])
    humidity = found.colouring.values.copy()
    humidity[:3] = np.nan
    grey = replace(found, colouring=replace(found.colouring, values=humidity))
    assert "grey: humidity is missing" in " ".join(draw(grey).spec["title"]["subtitle"])
