"""Charts of many rows: their order, their groups, and the value of a feature against its contribution."""

import itertools

import numpy as np
import pytest

from charts.chart_examples import CLASSES, attribution, with_pairs
from golden_files import masked, titles
from pellucid.charts import draw
from pellucid.charts.attribution.dependence import colour_of, dependence_data
from pellucid.charts.attribution.stacked import arranged, column_data, shades, stacked_data
from pellucid.explanations.plot_options import AttributionOptions

ONE = "prediction"


def stacked(**more):
    return AttributionOptions(kind="stacked", **more)


def camps(n=60):
    """Rows explained in three very different ways, shuffled."""
    generator = np.random.default_rng(5)
    camp = generator.permutation(np.arange(n) % 3)
    centres = np.array([[500.0, 0, 0, 0, 0], [-500, 0, 0, 0, 0], [0, 500, 0, 0, 0]])
    values = centres[camp] + generator.normal(0, 10, (n, 5))
    return attribution(n, values=values, prediction=4500 + values.sum(axis=1)), camp


def test_rows_explained_alike_stand_together():
    found, camp = camps()
    order = arranged(found, stacked(clusters=3))
    assert sorted(order.rows.tolist()) == list(range(60))
    drawn = camp[order.rows]
    assert np.count_nonzero(drawn[1:] != drawn[:-1]) == 2
    np.testing.assert_array_equal(order.groups[1:] != order.groups[:-1], drawn[1:] != drawn[:-1])
    assert order.groups.tolist() == sorted(order.groups.tolist())


def test_neighbours_are_closer_than_as_given():
    found, _ = camps()

    def length(rows):
        return np.linalg.norm(np.diff(found.values[rows], axis=0), axis=1).sum()

    assert length(arranged(found, stacked()).rows) < 0.5 * length(np.arange(60))


def test_rows_as_given_or_by_prediction():
    found = attribution(30)
    assert arranged(found, stacked(order="given")).rows.tolist() == list(range(30))
    by_prediction = found.prediction[arranged(found, stacked(order="prediction")).rows]
    assert (np.diff(by_prediction) <= 0).all()


def test_groups_are_never_more_than_asked_for():
    for clusters in (1, 2, 5, 100):
        groups = arranged(attribution(20), stacked(clusters=clusters)).groups
        assert groups.max() < clusters
    assert set(arranged(attribution(20), stacked()).groups) == {0}
    assert arranged(attribution(1), stacked(clusters=3)).rows.tolist() == [0]


def test_areas_of_a_row_meet_at_its_prediction():
    found = attribution(12, names=[f"f{j}" for j in range(9)])
    order = arranged(found, stacked())
    rows = stacked_data(found, ONE, stacked(), order)
    assert {row["feature"] for row in rows} == {*found.top(5), "4 others"}
    for at, i in enumerate(order.rows):
        here = [row for row in rows if row["x"] == at]
        ends = {}
        for sort in ("up", "down"):
            areas = [row for row in here if row["sort"] == sort][-6:]  # the right edge of the row before is here too
            assert areas[0]["near"] == float(found.prediction[i])
            assert all(a["far"] == b["near"] for a, b in itertools.pairwise(areas))
            ends[sort] = areas[-1]["far"]
        values = found.values[i]
        assert ends["up"] == pytest.approx(float(found.prediction[i]) - values[values > 0].sum())
        assert ends["down"] == pytest.approx(float(found.prediction[i]) - values[values < 0].sum())


def test_columns_tell_their_row():
    found = attribution(12)
    order = arranged(found, stacked(clusters=2))
    columns = column_data(found, ONE, order)
    assert [column["row"] for column in columns] == [f"{i}" for i in order.rows]
    largest = np.abs(found.values[order.rows[0]]).argmax()
    assert columns[0]["said0"].startswith(found.label(largest, order.rows[0]))
    assert columns[0]["group_text"] == "1 of 2"


def test_outputs_share_the_order_of_rows():
    found = attribution(20, outputs=CLASSES[:2], size=0.1)
    order = arranged(found, stacked())
    one, other = (column_data(found, name, order) for name in CLASSES[:2])
    assert [row["row"] for row in one] == [row["row"] for row in other]
    assert [row["prediction"] for row in one] != [row["prediction"] for row in other]


def test_shades_start_with_the_colour():
    assert shades("#D55E00", 3)[0] == "#D55E00"
    assert len(set(shades("#0072B2", 6))) == 6


# -- dependence --------------------------------------------------------------------------------------


def dependence(**more):
    return AttributionOptions(kind="dependence", **more)


def test_every_row_is_a_dot():
    found = attribution(50)
    rows = dependence_data(found, ONE, dependence(feature="wind speed"))
    np.testing.assert_array_equal([row["x"] for row in rows], found.data[2])
    np.testing.assert_array_equal([row["contribution"] for row in rows], found.values[:, 2])


def test_by_default_the_feature_that_contributes_most():
    found = attribution(50)
    rows = dependence_data(found, ONE, dependence())
    j = int(found.ranking[0])
    np.testing.assert_array_equal([row["contribution"] for row in rows], found.values[:, j])
    assert f"Contribution of {found.feature_names[j]} and its value" in str(draw(found, kind="dependence").spec)


def test_missing_values_stand_apart():
    found = attribution(50)
    rows = dependence_data(found, ONE, dependence(feature="temperature"))
    missing = np.isnan(found.data[0])
    np.testing.assert_array_equal([row["missing"] for row in rows], missing)
    np.testing.assert_array_equal([row["x"] is None for row in rows], missing)
    assert "'missing'" in str(draw(found, kind="dependence", feature="temperature").spec)


def test_categories_are_strips_of_dots():
    rows = dependence_data(attribution(50), ONE, dependence(feature="season"))
    assert {row["level"] for row in rows} == {"spring", "summer", "missing"}
    assert all(-1 <= row["offset"] <= 1 for row in rows)


def test_many_levels_are_folded():
    words = np.array([f"level {i}" for i in range(50)], dtype=object)
    found = attribution(50, names=["many"], data=(words,))
    levels = {row["level"] for row in dependence_data(found, ONE, dependence())}
    assert len(levels) == 21
    assert "(other)" in levels


def test_twenty_categories_with_long_names_are_all_shown_below_a_chart_of_its_own_height():
    words = np.array([f"a rather long name of a category, {i % 20}" for i in range(60)], dtype=object)
    found = attribution(60, names=["many"], data=(words,))
    drawn = draw(found, kind="dependence").spec
    layers = [layer["encoding"] for layer in drawn["layer"]]
    axis = next(each["x"] for each in layers if each.get("x", {}).get("field") == "level")
    assert len(axis["scale"]["domain"]) == 20
    assert 0 < axis["axis"]["labelLimit"] <= 260


def test_the_colour_is_the_strongest_interaction():
    found = with_pairs(40)
    chosen = colour_of(found, dependence(feature="wind speed"))
    strength = np.abs(found.interaction_values[:, 2]).mean(axis=0)
    strength[2] = 0
    assert chosen.feature == found.feature_names[int(strength.argmax())]
    assert colour_of(found, dependence(colour=None)) is None
    assert colour_of(found, dependence(colour="day")).feature == "day"
    notes = " ".join(draw(found, kind="dependence", feature="wind speed").spec["title"]["subtitle"])
    assert f"colour: {chosen.feature} (strongest interaction)" in notes


def test_unexplained_spread_gets_no_colour(golden):
    spec = draw(attribution(300), kind="dependence").spec
    golden("charts", "contributions, dependence without a partner", map(masked, titles(spec)))


def test_a_colour_that_is_missing_is_grey():
    rows = dependence_data(attribution(50), ONE, dependence(feature="wind speed", colour="temperature"))
    assert [row["colour"] is None for row in rows] == np.isnan(attribution(50).data[0]).tolist()
