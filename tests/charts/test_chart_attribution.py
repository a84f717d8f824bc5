"""What the charts of contributions show: data, not pixels."""

import itertools

import numpy as np
import pytest

from charts.chart_examples import CLASSES, attribution
from pellucid.charts import draw
from pellucid.charts.attribution import bar_data, rows_shown, swarm_data, waterfall_data
from pellucid.errors import InputError


def test_a_waterfall_leads_from_the_base_to_the_prediction():
    found = attribution()
    rows = waterfall_data(found)
    assert rows[0]["step"] == "average prediction"
    assert rows[0]["end"] == float(found.base)
    assert rows[-1]["step"] == "prediction"
    assert rows[-1]["end"] == pytest.approx(rows[-2]["end"])
    for before, after in itertools.pairwise(rows[:-1]):
        assert after["start"] == before["end"]
    sizes = [abs(row["end"] - row["start"]) for row in rows[1:-1]]
    assert sizes == sorted(sizes, reverse=True)
    assert {row["sort"] for row in rows[1:-1] if row["end"] < row["start"]} == {"down"}


def test_small_contributions_are_put_together():
    found = attribution(names=[f"f{j}" for j in range(30)])
    rows = waterfall_data(found, 10)
    assert len(rows) == 12
    assert rows[-2]["step"] == "21 others"
    assert rows[-2]["end"] == pytest.approx(float(found.prediction[0]))


def test_steps_name_the_values_of_the_row():
    steps = [row["step"] for row in waterfall_data(attribution(2), row=1)]
    assert "day = 2011-01-02" in steps
    assert "temperature = missing" in [row["step"] for row in waterfall_data(attribution())]


def test_a_swarm_has_a_dot_per_row_and_feature():
    found = attribution(40)
    rows = swarm_data(found)
    assert len(rows) == 40 * 5
    assert rows[0]["feature"] == found.top(1)[0]
    dots = [row for row in rows if row["feature"] == "wind speed"]
    np.testing.assert_allclose([dot["contribution"] for dot in dots], found.values[:, 2])
    assert {min(dot["rank"] for dot in dots), max(dot["rank"] for dot in dots)} == {0.0, 1.0}
    assert all(row["rank"] is None for row in rows if row["feature"] == "season")
    assert all(
        (row["rank"] is None) == (row["value_text"] == "missing")
        for row in rows
        if row["feature"] == "temperature"
    )
    assert max(abs(row["offset"]) for row in rows) <= 1


def test_many_dots_are_thinned():
    found = attribution(5000)
    assert len(swarm_data(found)) <= 2000
    shown = rows_shown(found, 12)
    assert (shown[0], shown[-1]) == (0, 4999)
    assert "of 5,000 rows" in str(draw(found).spec)


def test_bars_are_mean_absolute_contributions():
    found = attribution(40)
    rows = bar_data(found, 3)
    assert [row["feature"] for row in rows] == found.top(3)
    assert rows[0]["size"] == pytest.approx(np.abs(found.values).mean(axis=0).max())
    assert "2 more features not shown" in str(draw(found, kind="bar", max_display=3).spec)


@pytest.mark.parametrize("kind", ["waterfall", "beeswarm", "bar"])
def test_base_scale_and_game_are_on_the_chart(kind):
    spec = str(draw(attribution(2, outputs=CLASSES[:2], size=0.1), kind=kind).spec)
    assert "probability of setosa" in spec.replace("', '", " ")
    assert "average prediction 10%, 20%" in spec
    assert "marginal game" in spec


def test_unknown_kind():
    with pytest.raises(InputError, match="kind='violin' is not known"):
        draw(attribution(), kind="violin")
