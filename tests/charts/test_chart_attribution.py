"""What the charts of contributions show: data, not pixels."""

import itertools
import json
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from charts.chart_examples import CLASSES, NASTY, attribution, attribution_cases, with_pairs
from golden_files import masked, titles
from pellucid.charts import draw
from pellucid.charts.attribution.bar import bar_data
from pellucid.charts.attribution.beeswarm import swarm, swarm_data
from pellucid.charts.attribution.decision import decision_data, step_names
from pellucid.charts.attribution.entries import change, shortened
from pellucid.charts.attribution.force import GAP, Axis, axis_of, flags, force_data, hung, named, total_words
from pellucid.charts.attribution.interactions import interaction_data
from pellucid.charts.attribution.waterfall import waterfall_data
from pellucid.errors import InputError
from pellucid.explanations.attribution_words import labels_of

ONE = "prediction"
CASES = attribution_cases()


@pytest.mark.parametrize("name", CASES)
def test_every_kind_has_a_valid_specification(name):
    spec = CASES[name]().spec  # Altair checks it against the schema
    json.dumps(spec, allow_nan=False)
    fields = re.findall(r'"field": "([^"]*)"', json.dumps({**spec, "datasets": {}}))
    assert all(re.fullmatch(r"\w+", field) for field in fields)


@pytest.mark.parametrize("kind", ["force", "stacked", "dependence", "decision", "interactions", "beeswarm"])
def test_new_kinds_are_pictures(kind, tmp_path):
    path = draw(with_pairs(12, outputs=(NASTY, "c"), size=0.1), kind=kind).save(tmp_path / "chart.svg")
    assert path.read_text("utf-8").count("<path") > 10


def subtitle(chart):
    return " ".join(chart.spec["title"]["subtitle"])


# -- waterfall ---------------------------------------------------------------------------------------


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
    assert all(row["low"] is None for row in rows)


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


def test_estimates_have_an_interval_at_the_end_of_their_bar():
    rows = waterfall_data(attribution(se=np.full((1, 5), 10.0)), 3)[1:-1]
    for row, half in zip(rows, (19.6, 19.6, 39.2), strict=True):  # the last three are as sure as the first two
        assert row["low"] == pytest.approx(row["end"] - half, abs=0.01)
        assert row["high"] == pytest.approx(row["end"] + half, abs=0.01)
        assert " ± " in row["label"]
    assert "95% intervals" in subtitle(draw(attribution(se=np.full((1, 5), 10.0))))
    assert "95% intervals" not in subtitle(draw(attribution()))


def test_a_contrast_starts_from_the_other_row(golden):
    found = attribution(4).contrast(2).row(0)
    rows = waterfall_data(found)
    assert rows[0]["step"] == "prediction of row 2"
    assert rows[0]["end"] == float(attribution(4).prediction[2])
    golden("charts", "contributions, contrast", map(masked, titles(draw(found).spec)))


def test_the_sum_of_others_stays_last():
    rows = waterfall_data(attribution(names=[f"f{j}" for j in range(40)]).sparse(2))
    assert rows[-2]["step"] == "38 others"


# -- force -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("most", [2, 5, 12])
def test_arrows_meet_at_the_prediction_and_start_from_the_base(most):
    found = attribution(names=[f"f{j}" for j in range(9)])
    arrows = force_data(found, most)
    up = [each for each in arrows if each["sort"] == "up"]
    down = [each for each in arrows if each["sort"] == "down"]
    for side in (up, down):
        assert side[0]["end"] == float(found.prediction[0])
        for before, after in itertools.pairwise(side):
            assert after["end"] == before["start"]
    assert all(each["end"] > each["start"] for each in up)
    assert all(each["end"] < each["start"] for each in down)
    ups, downs = found.values[found.values > 0].sum(), found.values[found.values < 0].sum()
    assert up[-1]["start"] == pytest.approx(float(found.prediction[0]) - ups)
    assert down[-1]["start"] == pytest.approx(float(found.prediction[0]) - downs)
    assert len(arrows) <= most + 1


def test_small_arrows_are_together_up_and_down_apart():
    found = attribution(names=[f"f{j}" for j in range(30)])
    arrows = force_data(found, 4)
    others = [each for each in arrows if each["full"].endswith(" others")]
    assert sorted(each["sort"] for each in others) == ["down", "up"]
    assert sum(int(each["full"].split()[0]) for each in others) == 27


def test_an_estimated_arrow_tells_its_interval():
    assert all(" ± 19.6" in each["label"] for each in force_data(attribution(se=np.full((1, 5), 10.0))))


@given(st.lists(st.tuples(st.floats(0, 600), st.floats(10, 250)), min_size=1, max_size=9))
def test_words_touch_neither_words_nor_strings(wanted):
    places, lengths = [place for place, _ in wanted], [length for _, length in wanted]
    lines = flags(places, lengths)
    for (a, one), (b, other) in itertools.permutations(enumerate(lines), 2):
        if one == other:
            first, second = (a, b) if places[a] <= places[b] else (b, a)
            assert places[second] - lengths[second] - GAP >= places[first]
        if other > one:  # the string of the other passes this line
            assert not places[a] - lengths[a] < places[b] < places[a]


def test_words_stay_inside_the_chart():
    found = attribution(names=[f"a feature with a long name {j}" for j in range(12)])
    arrows = force_data(found, 12)
    words = named(arrows)
    axis = axis_of([each["start"] for each in arrows], words, 640.0)
    for each in hung(words, axis):
        length, place = 6.1 * len(each["text"]), axis.pixel(each["at"])
        assert length <= (place if each["sort"] == "up" else 640.0 - place) + 1e-6
    assert axis.value(axis.pixel(3.0)) == pytest.approx(3.0)


def test_prediction_and_base_are_named_apart():
    for gap in (0.0, 1.0, 10.0, 90.0, -30.0):
        found = attribution(prediction=np.array([4500.0 + gap]))
        spots = total_words(found, 0, Axis((4400.0, 4600.0), 640.0))
        centres = [(each["centre"] - 4400) / 200 * 640 for each in spots]
        apart = 6.6 * sum(len(each["text"]) for each in spots) / 2
        assert abs(centres[0] - centres[1]) >= apart or spots[0]["line"] != spots[1]["line"]


# -- bars --------------------------------------------------------------------------------------------


def test_bars_are_mean_absolute_contributions(golden):
    found = attribution(40)
    rows = bar_data(found, ONE, 3)
    assert [row["feature"] for row in rows] == found.top(3)
    assert rows[0]["size"] == pytest.approx(np.abs(found.values).mean(axis=0).max())
    golden("charts", "contributions, bars of some features", titles(draw(found, kind="bar", max_display=3).spec))


def test_bars_can_be_sums(golden):
    found = attribution(40)
    means, sums = bar_data(found, ONE), bar_data(found, ONE, aggregate="sum")
    for one, other in zip(means, sums, strict=True):
        assert other["size"] == pytest.approx(40 * one["size"])
    golden("charts", "contributions, bars of sums", titles(draw(found, kind="bar", aggregate="sum").spec))


def test_the_bars_of_one_row_have_signs_and_values():
    found = attribution()
    rows = bar_data(found, ONE)
    np.testing.assert_array_equal([row["size"] for row in rows], found.values[0][found.ranking])
    assert {row["sort"] for row in rows if row["size"] < 0} == {"down"}
    assert any(row["feature"] == "temperature = missing" for row in rows)


def test_the_error_of_a_mean_is_bounded_by_the_mean_error():
    se = np.abs(np.random.default_rng(0).normal(size=(40, 5)))
    found = attribution(40, se=se)
    row = bar_data(found, ONE)[0]
    j = found.feature_names.index(row["feature"])
    assert row["high"] - row["size"] == pytest.approx(1.959964 * se[:, j].mean(), rel=1e-6)
    assert "upper bounds" in subtitle(draw(found, kind="bar"))


# -- beeswarm ----------------------------------------------------------------------------------------


def test_a_swarm_has_a_dot_per_row_and_feature():
    found = attribution(40)
    rows = swarm_data(found, ONE)
    assert len(rows) == 40 * 5
    assert rows[0]["feature"] == found.top(1)[0]
    dots = [row for row in rows if row["feature"] == "wind speed"]
    np.testing.assert_allclose([dot["contribution"] for dot in dots], found.values[:, 2])
    assert {min(dot["rank"] for dot in dots), max(dot["rank"] for dot in dots)} == {0.0, 1.0}
    assert all(
        (row["rank"] is None) == (row["value_text"] == "missing") for row in rows if row["feature"] == "temperature"
    )
    assert max(abs(row["offset"]) for row in rows) <= 1


def test_every_feature_is_one_strip_and_categories_are_coloured_by_level():
    found = attribution(40)
    rows = swarm_data(found, ONE)
    assert list(dict.fromkeys(row["strip"] for row in rows)) == found.top(5)
    seasons = [row for row in rows if row["strip"] == "season"]
    assert {row["sort"] for row in seasons} == {"level"}
    assert {row["level"] for row in seasons} == {"spring", "summer", "missing"}
    spec = draw(found).spec
    keys = [layer["encoding"]["color"].get("legend") for layer in spec["layer"] if "color" in layer["encoding"]]
    assert "season" in [key["title"] for key in keys if key]
    assert "grey: missing" in subtitle(draw(found))


def test_a_category_without_a_colour_is_grey_and_said():
    words = np.array([f"level {i % 12}" for i in range(60)], dtype=object)
    found = attribution(60, data=(words, *attribution(60).data[1:]))
    dots = [row for row in swarm_data(found, ONE) if row["feature"] == "temperature"]
    assert len({row["level"] for row in dots if row["sort"] == "level"}) == 4
    assert {row["sort"] for row in dots} == {"level", "other categories"}
    assert "other categories" in subtitle(draw(found))


def test_a_crowd_keeps_its_width_its_ends_and_its_colours():
    generator = np.random.default_rng(0)
    values = np.concatenate([generator.normal(size=4000) * 0.1, [-5.0, 5.0]])
    places = generator.random(4002)
    chosen, offset = swarm(values, places, 10.0, 200)
    assert len(chosen) <= 200
    assert {4000, 4001} <= set(chosen.tolist())
    every, wide = swarm(values, places, 10.0, 4002)
    assert sorted(every.tolist()) == list(range(4002))
    assert np.abs(offset).max() == np.abs(wide).max() == 1
    assert np.quantile(places[chosen], [0.1, 0.5, 0.9]) == pytest.approx([0.1, 0.5, 0.9], abs=0.1)


def test_categories_have_strips_from_high_to_low():
    found = attribution(40)
    dots = [row for row in swarm_data(found, ONE, by_level=True) if row["feature"] == "season"]
    assert {dot["strip"] for dot in dots} == {"season = spring", "season = summer", "season = missing"}
    assert all(dot["strip"] == f"season = {dot['value_text']}" for dot in dots)
    strips = list(dict.fromkeys(dot["strip"] for dot in dots))
    means = [np.mean([dot["contribution"] for dot in dots if dot["strip"] == strip]) for strip in strips]
    assert means == sorted(means, reverse=True)
    assert "one strip each" in subtitle(draw(found, by_level=True))


def test_many_categories_are_folded():
    words = np.array([f"level {i % 20}" for i in range(60)], dtype=object)
    words[:30] = "common"
    found = attribution(60, data=(words, *attribution(60).data[1:]))
    dots = [row for row in swarm_data(found, ONE, by_level=True) if row["feature"] == "temperature"]
    strips = {dot["strip"] for dot in dots}
    assert len(strips) == 5
    assert {"temperature = common", "temperature = 17 others"} <= strips
    assert len(dots) == 60


def test_a_group_is_one_strip():
    found = attribution(30).group({"both": ["season", "wind speed"]})
    assert {row["strip"] for row in swarm_data(found, ONE, by_level=True) if row["feature"] == "both"} == {"both"}


@pytest.mark.parametrize("kind", ["beeswarm", "stacked", "dependence", "decision"])
def test_many_rows_are_thinned_and_the_note_says_so(kind):
    chart = draw(attribution(5000), kind=kind)
    assert re.search(r"([\d,]+ of|all) 5,000 rows", subtitle(chart))
    assert sum(len(rows) for rows in chart.spec["datasets"].values()) < 10_000


# -- decision and interactions -----------------------------------------------------------------------


def test_decision_lines_go_from_the_base_to_the_prediction():
    found = attribution(7, names=[f"f{j}" for j in range(9)])
    rows = decision_data(found, ONE, 4)
    names = step_names(found, 4)
    assert names == ["average prediction", "6 others", *found.top(3)[::-1], "prediction"]
    for i in range(7):
        line = [row for row in rows if row["line"] == f"{i}"]
        assert [row["step"] for row in line] == names
        assert line[0]["at"] == float(found.base)
        assert line[-1]["at"] == pytest.approx(float(found.prediction[i]))
        assert line[-2]["at"] == pytest.approx(line[-1]["at"])
        top = found.feature_names.index(found.top(1)[0])
        assert line[-2]["at"] - line[-3]["at"] == pytest.approx(found.values[i, top])


def test_the_matrix_holds_mean_absolute_interaction_values():
    found = with_pairs(20)
    cells = {(row["feature"], row["other"]): row["value"] for row in interaction_data(found, ONE)}
    expected = np.abs(found.interaction_values).mean(axis=0)
    for (one, other), value in cells.items():
        assert value == expected[found.feature_names.index(one), found.feature_names.index(other)]
    assert len(cells) == 25
    assert len(interaction_data(found, ONE, 3)) == 9


def test_a_matrix_needs_interaction_values():
    with pytest.raises(InputError, match=r"interactions=True"):
        draw(attribution(3), kind="interactions")


# -- words and options -------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["waterfall", "force", "beeswarm", "bar", "stacked", "dependence", "decision"])
def test_base_scale_and_game_are_on_the_chart(kind, golden):
    spec = draw(attribution(2, outputs=CLASSES[:2], size=0.1), kind=kind).spec
    said = " ".join(titles(spec))
    golden("charts", f"contributions to two classes, {kind}", map(masked, titles(spec)))
    for word in ("probability of setosa", "10%, 20%", "marginal game"):
        assert word in said


@pytest.mark.parametrize("kind", ["waterfall", "force", "bar", "decision"])
def test_one_row_says_prediction_average_and_difference(kind, golden):
    found = attribution(prediction=np.array([4400.0]))
    spec = draw(found, kind=kind).spec
    golden("charts", f"contributions in one row, {kind}", titles(spec))
    for number in ("4,400", "4,500", "-100"):
        assert number in " ".join(titles(spec))
    several = draw(attribution(outputs=CLASSES[:2], size=0.1), kind=kind).spec
    golden("charts", f"contributions in one row to two classes, {kind}", map(masked, titles(several)))


def test_what_is_hidden_is_said(golden):
    golden("charts", "contributions, sparse", map(masked, titles(draw(attribution(5).sparse(2)).spec)))


def test_amounts():
    assert change(0.123, "probability") == "+12.3 pp"
    assert change(-0.123, "probability", 0.02) == "-12.3 ± 2 pp"
    assert change(1.2, "response", 0.3) == "+1.2 ± 0.3"
    assert change(0.0, "response") == "0"


@given(st.text(max_size=200), st.integers(6, 60))
def test_labels_are_bounded(label, most):
    short = shortened(label, most)
    assert len(short) <= most
    assert short == " ".join(label.split()) or "\u2026" in short


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "pie"}, "kind='pie' is not known"),
        ({"kind": "bar", "aggregate": "median"}, "aggregate='median' is not known"),
        ({"aggregate": "sum"}, "aggregate= is an option of kind='bar'"),
        ({"kind": "bar", "feature": "season"}, "feature= is an option of kind='dependence'"),
        ({"kind": "stacked", "order": "clusters"}, "did you mean 'cluster'"),
        ({"kind": "stacked", "order": "given", "clusters": 3}, "use order='cluster', not 'given'"),
        ({"kind": "stacked", "clusters": 0}, "clusters must be"),
        ({"kind": "dependence", "feature": "temprature"}, "did you mean 'temperature'"),
        ({"kind": "dependence", "colour": "saeson"}, "did you mean 'season'"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(InputError, match=message):
        draw(attribution(5), **options)


# -- numbers stay whole ------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [200, 520, 640])
@pytest.mark.parametrize("against", [False, True])
def test_long_names_are_cut_but_numbers_never(against, width):
    names = [f"measurement number {j} of the second series of the long experiment" for j in range(6)]
    found = attribution(2, names=names, se=np.full((2, 6), 12.5))
    one = found.contrast(1).row(0) if against else found.row(0)
    values = [label.split(" = ")[1] for label in labels_of(one, 0)]
    assert any("(not " in value for value in values) == against
    steps = waterfall_data(one, 10)[1:-1]
    assert all(any(step["step"].endswith(f" = {value}") for value in values) for step in steps)
    arrows = force_data(one)
    words = named(arrows)
    for word in hung(words, axis_of([each["start"] for each in arrows], words, width)):
        assert any(word["text"].endswith(f" = {value} ({word['label']})") for value in values)


def test_a_cut_is_never_inside_a_number():
    label = "weather: temp = 31.25, hum = 64.75, wind = 12.125, press = 1013.25, clouds = 87.5, rain = 0.125"
    numbers = set(re.findall(r"[\d.]+", label))
    for most in range(20, 90):
        assert set(re.findall(r"[\d.]+", shortened(label, most))) <= numbers


def test_the_error_of_the_others_is_at_most_that_of_the_rest():
    found = attribution(se=np.array([[1.0, 2.0, 30.0, 40.0, 50.0]]), values=np.array([[50.0, 40, 3, 2, 1]]))
    loose = waterfall_data(found, 3)[-2]  # does not add up to its prediction
    exact = waterfall_data(replace(found, prediction=found.base + found.values.sum(axis=1)), 3)[-2]
    assert loose["high"] - loose["end"] == pytest.approx(1.96 * 120, rel=1e-4)
    assert exact["high"] - exact["end"] == pytest.approx(1.96 * 3, rel=1e-4)


def test_rare_categories_with_large_contributions_keep_their_strip():
    words = np.array([f"often {i % 8}" for i in range(80)], dtype=object)
    words[40] = "rare"
    values = np.full((80, 5), 0.1)
    values[40, 0] = 100.0
    found = attribution(80, values=values)
    found = replace(found, entries=replace(found.entries, data=(words, *found.data[1:])))
    assert "temperature = rare" in {row["strip"] for row in swarm_data(found, ONE, by_level=True)}


def test_interactions_of_one_row_have_their_sign():
    one = with_pairs(1)
    cells = {(row["feature"], row["other"]): row["value"] for row in interaction_data(one, ONE)}
    for (a, b), value in cells.items():
        assert value == one.interaction_values[0, one.feature_names.index(a), one.feature_names.index(b)]
    assert min(cells.values()) < 0
    spec = str(draw(one, kind="interactions").spec)
    assert "mean absolute" not in spec
    assert "blueorange" in spec
    assert "mean absolute" in str(draw(with_pairs(5), kind="interactions").spec).replace("', '", " ")


def test_the_note_of_a_force_plot_is_true(golden):
    golden("charts", "contributions, force", map(masked, titles(draw(attribution(), kind="force").spec)))
