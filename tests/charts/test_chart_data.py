"""Chart data: the numbers that are drawn, not the pixels."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import pellucid
from charts.chart_examples import (
    CLASSES,
    NASTY,
    ale,
    associations,
    at_missing,
    effect,
    importance,
    individual,
    levels,
    surface,
    three,
)
from pellucid.charts import draw
from pellucid.charts.associations import associations_data, feature_order
from pellucid.charts.colouring import OTHER, categories, row_colours
from pellucid.charts.effect.curve import band_data, curve_data, curve_limits, isolated, line_data, missing_data
from pellucid.charts.effect.distribution import histogram_data, rug_data, spread_data
from pellucid.charts.effect.individual import individual_data, lines_shown
from pellucid.charts.effect.isometric import edge_data, tile_data
from pellucid.charts.effect.levels import level_data, level_labels, level_shares
from pellucid.charts.effect.overlay import centred, overlay_data
from pellucid.charts.effect.side_by_side import common_limits
from pellucid.charts.effect.slices import slices
from pellucid.charts.effect.surface import cell_data, cell_values, contour_data, point_data, value_range
from pellucid.charts.importance import importance_data, repeat_data
from pellucid.charts.layout import feature_axis, limits_of, value_labels
from pellucid.charts.marks import output_colour
from pellucid.charts.text import wrapped
from pellucid.explanations import Colouring
from pellucid.explanations.explanation import changed
from pellucid.explanations.plot_options import EffectOptions, PanelOptions
from pellucid.stats import Z95

OPTIONS = EffectOptions()


def test_curve_has_a_row_per_point_with_its_interval():
    rows = curve_data(effect([0.0, 1.0, 2.0], [10.0, 20.0, 30.0], se=[1.0, 2.0, 3.0]))
    assert [row["x"] for row in rows] == [0.0, 1.0, 2.0]
    assert [row["value"] for row in rows] == [10.0, 20.0, 30.0]
    assert rows[1]["low"] == pytest.approx(20 - Z95 * 2)
    assert rows[1]["high"] == pytest.approx(20 + Z95 * 2)
    assert rows[1]["interval_text"] == "16.1 to 23.9"


def test_curve_of_an_unsorted_grid_runs_from_left_to_right():
    rows = curve_data(effect([2.0, 0.0, 1.0], [30.0, 10.0, 20.0], counts=np.array([3.0, 1.0, 2.0])))
    assert [(row["x"], row["value"], row["rows_text"]) for row in rows] == [
        (0.0, 10.0, "1 row"), (1.0, 20.0, "2 rows"), (2.0, 30.0, "3 rows"),
    ]  # fmt: skip


def test_every_output_has_its_curve():
    rows = curve_data(effect(outputs=CLASSES))
    assert [row["output"] for row in rows[::50]] == list(CLASSES)


def test_ale_values_stand_at_the_edges_and_support_in_the_bins():
    result = ale([0.0, 1.0, 5.0, 9.0], curve=[-1.0, 0.0, 2.0, 3.0], counts=np.array([100.0, 1.0, 100.0]), rug=[0.5])
    rows = curve_data(result)
    assert [row["x"] for row in rows] == [0.0, 1.0, 5.0, 9.0]
    assert [row["few"] for row in rows] == [False, True, False, False]
    assert [row["rows_text"] for row in rows] == ["100 rows", "101 rows", "101 rows", "100 rows"]


def test_line_is_cut_at_gaps_and_where_support_changes():
    values = [1.0, 2.0, np.nan, 4.0, 5.0, 6.0, np.nan, 8.0]
    rows = curve_data(effect(np.arange(8.0), values, counts=np.array([9, 9, 9, 9, 9, 0, 0, 9.0]), rug=[1.0]))
    pieces = line_data(rows)
    runs = {run: [row["x"] for row in pieces if row["run"] == run] for run in {row["run"] for row in pieces}}
    assert sorted(runs.values()) == [[0.0, 1.0], [3.0, 4.0, 5.0]]
    assert [row["x"] for row in isolated(rows)] == [7.0]
    sparse = curve_data(effect(np.arange(5.0), np.arange(5.0), counts=np.array([90, 90, 0, 0, 90.0]), rug=[1.0]))
    assert [(row["x"], row["few"]) for row in line_data(sparse)] == [
        (0.0, False), (1.0, False), (2.0, False), (2.0, True), (3.0, True), (3.0, False), (4.0, False),
    ]  # fmt: skip


def test_band_stops_where_the_error_is_unknown():
    rows = curve_data(effect(np.arange(4.0), np.arange(4.0), se=[1.0, np.nan, 1.0, 1.0], rug=[1.0]))
    assert [(row["x"], row["run"]) for row in band_data(rows)] == [(0.0, 0), (2.0, 1), (3.0, 1)]
    assert rows[1]["interval_text"] == "unknown"


def test_dates_are_milliseconds_and_read_as_dates():
    days = np.array(["2011-01-01", "2011-01-02"], dtype="datetime64[D]")
    rows = curve_data(effect(days, [1.0, 2.0], kind="date", rug=days))
    assert rows[1]["x"] - rows[0]["x"] == 86_400_000
    assert rows[0]["x_text"] == "2011-01-01"


def test_missing_is_told_per_output():
    result = effect(outputs=("a", "b"), missing=at_missing([1.0, 2.0], [0.1, np.nan], 0.25))
    first, second = missing_data(result)
    assert first["label"] == "missing (25%)"
    assert (first["value"], first["low"]) == (1.0, pytest.approx(1 - 0.1 * Z95))
    assert second["low"] is None
    assert missing_data(effect()) == []


def test_probabilities_are_percentages_and_changes_have_signs():
    chance = curve_data(effect([0.0, 1.0], [0.25, 0.5], scale="probability", rug=[0.5]))
    change = curve_data(ale([0.0, 1.0], curve=[-0.05, 0.00001], scale="probability", rug=[0.5]))
    assert chance[0]["value_text"] == "25%"
    assert [row["value_text"] for row in change] == ["-5 percentage points", "+0.001 percentage points"]


def test_limits_hold_the_band_a_near_missing_and_zero():
    low, high = curve_limits(effect([0.0, 1.0], [10.0, 20.0], se=[0.0, 1.0], rug=[0.5], missing=at_missing(24.0, 0.0)))
    assert low < 10
    assert high > 24
    assert curve_limits(ale([0.0, 1.0], curve=[5.0, 6.0], rug=[0.5]))[0] < 0


def test_a_value_at_missing_far_from_the_curve_stands_at_the_edge_with_its_number():
    found = effect([0.0, 1.0], [10.0, 20.0], se=[0.0, 0.0], rug=[0.5], missing=at_missing(400.0, 0.0))
    low, high = curve_limits(found)
    assert 5 < low < 10
    assert 20 < high < 25
    spec = json.dumps(draw(found).spec)
    assert "triangle-up" in spec
    assert "triangle-down" not in spec
    assert '"label": "400"' in spec
    assert "triangle" not in json.dumps(draw(changed(found, missing=at_missing(19.0, 0.0))).spec)


def test_probabilities_and_their_bands_stay_between_0_and_1():
    chance = effect([0.0, 1.0, 2.0], [0.01, 0.5, 0.99], se=[0.1, 0.1, 0.1], scale="probability", rug=[0.5])
    assert curve_limits(chance) == (0.0, 1.0)
    rows = curve_data(chance)
    assert (rows[0]["low"], rows[2]["high"]) == (0.0, 1.0)
    assert rows[2]["interval_text"].endswith("to 100%")
    assert curve_limits(changed(chance, scale="response"))[1] > 1


def test_axes_of_probabilities_are_in_percent_and_of_their_changes_in_points():
    chance = effect([0.0, 1.0], [0.2, 0.5], scale="probability", rug=[0.5])
    shift = ale([0.0, 1.0], curve=[-0.05, 0.05], scale="probability", rug=[0.5])
    assert value_labels((0, 1), "probability", change=False)["format"] == "%"
    assert '"format": "%"' in json.dumps(draw(chance, distribution=None).spec)
    assert "' pp'" in json.dumps(draw(shift, distribution=None).spec)
    assert "%" not in json.dumps(draw(changed(shift, scale="log-odds"), distribution=None).spec["layer"][1]["encoding"])


@pytest.mark.parametrize("values", [[0.3, 0.3], [0.0], [1e-7], [-5.0, -5.0], [], [np.nan]])
def test_limits_never_have_zero_width(values):
    low, high = limits_of(values)
    assert low < high
    assert all(low < value < high for value in values if np.isfinite(value))


def test_histogram_shares_add_up_to_one():
    rows = histogram_data(effect(), (-8.0, 35.0))
    assert sum(row["share"] for row in rows) == pytest.approx(1)
    assert rows[0]["from"] == -8.0
    assert len(rug_data(effect(rug=[1.0, 1.0, 2.0, 99.0]), (-8.0, 35.0))) == 2


def test_histogram_of_few_integers_has_a_bar_for_each():
    result = effect([0, 1, 2, 3], [1.0, 2, 3, 4], kind="integer", rug=[0, 1, 1, 3])
    rows = histogram_data(result, (-0.5, 3.5))
    assert [(row["from"], row["to"], row["share"]) for row in rows] == [
        (-0.5, 0.5, 0.25),
        (0.5, 1.5, 0.5),
        (2.5, 3.5, 0.25),
    ]


def test_levels_keep_their_order_and_put_missing_last():
    result = levels(["b", "a"], [1.0, 2.0], counts=np.array([3.0, 1.0]), missing=at_missing(9.0, 1.0, 0.2))
    assert level_labels(result) == ["b", "a", "missing (20%)"]
    assert [row["value"] for row in level_data(result)] == [1.0, 2.0, 9.0]
    np.testing.assert_allclose(level_shares(result), [0.6, 0.2, 0.2])
    assert level_data(result)[0]["rows_text"] == "3 rows"


def test_levels_that_look_alike_stay_apart():
    names = np.array([1, "1", "a\nb", "a b", "", None, 2.0], dtype=object)
    labels = level_labels(levels(names, np.arange(7.0)))
    assert len(set(labels)) == 7
    assert labels[4:] == ["(empty)", "missing", "2"]


def test_individual_curves_are_thinned_evenly():
    result = individual(300)
    shown = lines_shown(result, 4)
    assert shown.tolist() == [0, 100, 199, 299]
    rows = individual_data(result, "prediction", EffectOptions(max_lines=4))
    assert len(rows) == 4 * 40
    assert {row["row"] for row in rows} == {"row 0", "row 100", "row 199", "row 299"}
    assert rows[0]["value"] == result.values[0, 0]
    assert rows[0]["colour"] == pytest.approx(result.colouring.values[0])


def test_colouring_can_be_switched_off_and_tolerates_unknown_values():
    unknown = Colouring("humidity", np.array([1.0, np.nan, 3.0]), 0.5)
    colours = row_colours(individual(3, colouring=unknown), OPTIONS)
    assert [row.get("colour") for row in colours] == [1.0, None, 3.0]
    assert row_colours(individual(3), EffectOptions(colour=None)) == [{}, {}, {}]


def test_rare_categories_share_a_colour():
    names = np.array(["common"] * 50 + [f"level {i}" for i in range(50)], dtype=object)
    kept = categories(Colouring("city", names, 0.5))
    assert len(kept) == 8
    assert kept[-1] == OTHER
    assert "common" in kept


def test_spread_of_slopes_follows_the_grid():
    result = individual(50, derivative=True)
    rows = spread_data(result, result.output_names)
    np.testing.assert_allclose([row["value"] for row in rows], result.spread)


def test_pdp_cells_carry_the_value_of_their_point():
    result = surface(np.array([0.0, 1.0, 3.0]), np.array([0.0, 10.0]))
    rows = cell_data(result, "prediction")
    assert len(rows) == 6
    assert [(row["x_from"], row["x_to"]) for row in rows[::2]] == [(0.0, 0.5), (0.5, 2.0), (2.0, 3.0)]
    np.testing.assert_allclose([row["value"] for row in rows], result.values.ravel())


def test_ale_cells_carry_the_mean_of_their_corners_and_their_rows():
    edges = np.arange(20.0)
    result = surface(edges, edges, method="ale", counts=np.full((19, 19), 4.0))
    rows = cell_data(result, "prediction")
    assert len(rows) == 19 * 19
    assert rows[0]["value"] == pytest.approx(result.values[:2, :2].mean())
    assert (rows[0]["x_text"], rows[0]["rows_text"], rows[0]["empty"]) == ("0 to 1", "4 rows", False)


def test_a_few_wide_bins_are_drawn_by_interpolation():
    """The mean over the corners of one cell is zero where effects are opposite: nothing would be seen of them."""
    result = surface(
        np.array([0.0, 4.0, 3.0]),
        np.array([0.0, 10.0]),
        method="ale",
        function=lambda a, b: (a - 2) * (b - 5),
        counts=np.array([[4.0], [0.0]]),
    )
    rows = cell_data(result, "prediction")
    full = [row for row in rows if not row["empty"]]
    assert {row["rows_text"] for row in full} == {"4 rows"}
    assert {(row["x_text"], row["y_text"]) for row in full} == {("0 to 3", "0 to 10")}
    corners = result.values[[0, 2]]  # at 0 and 3
    for row in full:
        x, y = (row["x_from"] + row["x_to"]) / 6, (row["y_from"] + row["y_to"]) / 20
        assert row["value"] == pytest.approx(np.array([1 - x, x]) @ corners @ np.array([1 - y, y]))
    assert np.ptp([row["value"] for row in full]) > 0.8 * np.ptp(corners)
    assert min(row["x_from"] for row in rows) == 0
    assert max(row["x_to"] for row in rows) == 4


def test_unsorted_surface_is_drawn_in_order_with_its_counts():
    sorted_one = surface(np.array([0.0, 1.0]), np.array([0.0, 1.0]), function=lambda a, b: a + 2 * b)
    turned = surface(
        np.array([1.0, 0.0]), np.array([0.0, 1.0]), function=lambda a, b: a + 2 * b, counts=sorted_one.counts[::-1]
    )
    assert cell_data(turned, "prediction") == cell_data(sorted_one, "prediction")


def test_levels_of_a_surface_are_cells_of_their_own():
    seasons = np.array(["spring", "summer"], dtype=object)
    rows = cell_data(
        surface(seasons, np.array([0.0, 1.0, 2.0]), method="ale", kinds=("categorical", "numeric")), "prediction"
    )
    n = len(rows) // 2
    assert [row["x_level"] for row in rows] == ["spring"] * n + ["summer"] * n
    assert {row["y_text"] for row in rows} == {"0 to 1", "1 to 2"}
    assert len(point_data(surface(seasons, kinds=("categorical", "numeric")))) == 300


def test_contours_of_a_plane_are_straight_and_levels_round():
    rows = contour_data(surface(function=lambda a, b: a), "prediction")
    at = {row["level_text"]: {round(r["x"], 6) for r in rows if r["level_text"] == row["level_text"]} for row in rows}
    assert set(at) == {"200", "400", "600", "800"}
    assert at["400"] == {round(-8 + 0.4 * 43, 6)}
    assert contour_data(surface(function=lambda a, b: 0 * a), "prediction") == []


def test_slices_are_bins_of_the_third_feature_with_their_rows():
    whole = three()
    parts = slices(whole)
    drawn = [0, 2, 3, 5, 6, 8]  # six of nine bins, the first and the last among them
    assert [name.split(" (")[0] for name, _ in parts] == [f"wind: {k} to {k + 1}" for k in drawn]
    for k, (name, part) in zip(drawn, parts, strict=True):
        np.testing.assert_array_equal(part.average, (whole.values[..., k] + whole.values[..., k + 1]) / 2)
        np.testing.assert_array_equal(part.counts, whole.counts[..., k])
        assert name.endswith(f"({whole.counts[..., k].sum():.0f} rows)")
        inside = (whole.rug[2] > k) & (whole.rug[2] <= k + 1)
        np.testing.assert_array_equal(part.rug[0], whole.rug[0][inside])


def test_slices_of_many_levels_are_those_with_most_rows():
    whole = three([f"level {k}" for k in range(8)], kind="categorical")
    rows = whole.counts.sum(axis=(0, 1))
    shown = [int(name.split()[2]) for name, _ in slices(whole)]
    assert shown == sorted(shown)
    assert rows[shown].min() >= np.delete(rows, shown).max()


def test_slices_share_one_colour_scale_that_leaves_empty_cells_out():
    counts = np.ones((5, 4, 9))
    counts[-1, -1, -1] = counts[0, 0, -1] = counts[0, -1, 0] = counts[-1, 0, 0] = 0.0  # the largest values
    whole = three(counts=counts)
    values = [row["value"] for _, part in slices(whole) for row in cell_data(part, "prediction") if not row["empty"]]
    low, high = value_range(whole)
    assert low <= min(values)
    assert max(values) <= high < cell_values(whole).max()


def test_tiles_are_drawn_from_the_back_and_stand_as_high_as_their_values():
    flat, hill = surface(function=lambda a, b: 0 * a), surface(function=lambda a, b: a * b)
    tiles, raised = tile_data(flat, "prediction"), tile_data(hill, "prediction")
    assert len(tiles) == 4 * 24 * 24
    # Nearer tiles are lower on the page where the surface is flat, and come later.
    heights = [np.mean([row["v"] for row in tiles[i : i + 4]]) for i in range(0, len(tiles), 4)]
    assert all(a >= b - 1e-9 for a, b in itertools.pairwise(heights))
    # The back corner is the lowest value, the front corner the highest.
    assert (raised[0]["h"], raised[0]["v"]) == pytest.approx((0.0, 0.0))
    assert (raised[-2]["h"], raised[-2]["v"]) == pytest.approx((0.0, 0.75 - 2 * 0.42))
    assert raised[-2]["order"] == 2
    assert {row["value"] for row in raised[:4]} == {raised[0]["value"]}


def test_unknown_values_leave_holes_and_axes_name_their_ends():
    holed = surface(function=lambda a, b: np.where(a > 0.5, np.nan, b))
    assert 0 < len(tile_data(holed, "prediction")) < 4 * 24 * 24
    words = {row["label"] for row in edge_data(surface())}
    assert {"temperature", "humidity", "-8", "35", "20", "100"} <= words


def test_importance_is_sorted_with_intervals():
    result = importance(("a", "b", "c"), values=np.array([1.0, 3.0, np.nan]))
    rows = importance_data(result)
    assert [row["feature"] for row in rows] == ["b", "a", "c"]
    assert rows[2]["value"] is None
    assert [row["feature"] for row in importance_data(result, 1)] == ["b"]
    assert len(repeat_data(result, "train", ["a", "b"])) == 20


def test_importance_of_several_outputs_has_rows_for_each():
    rows = importance_data(importance(outputs=CLASSES[:3]))
    assert [row["output"] for row in rows[::6]] == list(CLASSES[:3])
    assert {row["neutral"] for row in importance_data(importance(compare="ratio"))} == {1.0}


def test_importance_over_folds_shows_every_fold():
    result = importance(("a", "b"))
    plain, folded = (changed(result, settings=settings).plot().spec for settings in ({}, {"folds": 10}))
    assert "single folds" in " ".join(folded["title"]["subtitle"])
    assert "single folds" not in " ".join(plain["title"]["subtitle"])
    drawn = {frozenset(row) for rows in folded["datasets"].values() for row in rows if len(rows) == 20}
    assert any("value" in keys for keys in drawn)
    assert all(len(rows) < 20 for rows in plain["datasets"].values())


def test_association_clusters_put_friends_side_by_side():
    association = np.array([[1, 0.1, 0.9, 0.1], [0.1, 1, 0.1, 0.9], [0.9, 0.1, 1, 0.1], [0.1, 0.9, 0.1, 1]])
    order = feature_order(association, "cluster").tolist()
    assert {frozenset(order[:2]), frozenset(order[2:])} == {frozenset({0, 2}), frozenset({1, 3})}
    assert feature_order(association, "given").tolist() == [0, 1, 2, 3]
    assert len(associations_data(associations(5))) == 25


def test_overlay_centres_every_curve_at_its_mean_over_the_data():
    rug = np.array([0.0, 1.0, 1.0, 2.0])
    grid = [0.0, 1.0, 2.0]
    shifted = [effect(grid, np.array([1.0, 2.0, 5.0]) + shift, rug=rug) for shift in (0.0, 100.0)]
    np.testing.assert_allclose(centred(shifted[0])[:, 0], np.array([1.0, 2.0, 5.0]) - 2.5)
    first, second = (overlay_data([one], ["curve"]) for one in shifted)
    np.testing.assert_allclose([row["value"] for row in first], [row["value"] for row in second])


def test_panel_limits_hold_all_effects():
    low, high = common_limits(
        [effect([0.0, 1.0], [1.0, 2.0], rug=[0.5]), effect([0.0, 1.0], [8.0, 9.0], rug=[0.5])], PanelOptions()
    )
    assert low < 1
    assert high > 9


def test_chart_data_are_plain_json():
    nasty = levels(np.array([NASTY, True, 3], dtype=object), [1.0, np.nan, np.inf])
    rows = [level_data(nasty), curve_data(effect()), cell_data(surface(), "prediction")]
    assert json.loads(json.dumps(rows, allow_nan=False))


def colours_by_class(result) -> dict[str, str]:
    """The colour of each class in the picture itself, read from its legend or its curve."""
    channel = output_colour(result, OPTIONS).to_dict()
    if "value" in channel:
        return {result.output_names[0]: channel["value"]}
    return {
        name: colour
        for name, colour in zip(channel["scale"]["domain"], channel["scale"]["range"], strict=True)
        if name in result.output_names
    }


def test_a_class_has_one_colour_in_every_chart():
    all_of_them = colours_by_class(effect(outputs=CLASSES[:3], scale="probability", classes=CLASSES[:3]))
    assert len(set(all_of_them.values())) == 3
    for chosen in (CLASSES[:1], CLASSES[1:2], CLASSES[1:3], (CLASSES[2], CLASSES[0])):
        some = colours_by_class(effect(outputs=chosen, scale="probability", classes=CLASSES[:3]))
        assert some == {name: all_of_them[name] for name in chosen}
    second = colours_by_class(effect(outputs=("yes",), scale="probability", classes=("no", "yes")))
    both = colours_by_class(effect(outputs=("no", "yes"), scale="probability", classes=("no", "yes")))
    assert second == {"yes": both["yes"]}
    assert both["no"] != both["yes"]


def test_the_classes_of_a_model_are_known_when_one_is_explained():
    X = np.random.default_rng(0).normal(size=(60, 2))
    model = LogisticRegression().fit(X, np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-0.5, 0.5])])
    every, one = (pellucid.Explainer(model, X, output=output, checks=False).pdp(0, grid=3) for output in (None, "b"))
    assert colours_by_class(one) == {"b": colours_by_class(every)["b"]}


def test_axes_of_years_have_whole_years_without_separators():
    axis = feature_axis("yr", "integer", (2010.5, 2012.5), 300)["axis"].to_dict()
    assert (axis["values"], axis["format"]) == ([2011, 2012], "d")
    assert "values" not in feature_axis("age", "integer", (17, 90), 300)["axis"].to_dict()
    assert feature_axis("size", "integer", (2000, 9000), 300)["axis"].to_dict().get("format") != "d"


def test_titles_are_not_broken_within_numbers_with_units_and_names():
    text = "The probability peaks at marital_status = Never-married (+7.78 pp) and is lowest at age <= 17 (-12 pp)."
    for pixels in range(100, 700, 7):
        lines = wrapped(text, pixels, 13)
        assert " ".join(lines) == text
        assert not any(line.startswith("pp") or line.endswith((" =", " <=", "-")) for line in lines)
