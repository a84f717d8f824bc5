"""The picture of a text: every character once, in boxes that do not overlap, with the colours of the legend."""

import json
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from golden_files import masked, titles
from parts.test_tokens import TEXTS
from pellucid.charts.chart import Chart
from pellucid.errors import InputError
from pellucid.parts.chart_style import RANGE, painted
from pellucid.parts.options import TextOptions
from pellucid.parts.text_chart import body, box_data
from pellucid.parts.text_explainer import TextExplainer
from pellucid.parts.text_layout import OUTSIDE, right_to_left, set_lines, text_width
from pellucid.parts.tokens import words


def letters(texts):
    return [text.count("a") - text.count("o") * 0.5 for text in texts]


def three(texts):
    return np.array([[len(text), text.count("a"), -text.count("o")] for text in texts], dtype=float)


def chart(found, **options):
    return Chart(body(found, TextOptions(**options)))


@settings(max_examples=100, deadline=None)
@example(text="\x1b\U0001f000\u200d\U0001f000", width=2.0)
@given(text=TEXTS, width=st.floats(2, 40))
def test_lines_hold_every_character_once_and_fit(text, width):
    fragments = set_lines(text, words(text), width)
    assert sorted("".join(each.text for each in fragments)) == sorted("".join(text.split()))
    for each in fragments:
        # Characters without a width take no place beside a cluster that is wider than the line.
        alone = sum(other.line == each.line and other.width > 0 for other in fragments) <= 1
        assert each.left > -1e-9 or alone
        assert each.left + each.width < width + 1e-9 or alone
    for line in {each.line for each in fragments}:
        row = sorted((each for each in fragments if each.line == line), key=lambda each: (each.left, each.width))
        for one, other in pairwise(row):
            assert one.left + one.width <= other.left + 1e-9


def test_lines_break_where_the_text_does():
    fragments = set_lines("a b\nc\n\n\nd", [(0, 1), (2, 3), (4, 5), (8, 9)], 30)
    assert [each.line for each in fragments] == [0, 0, 1, 3]


def test_a_word_longer_than_a_line_is_broken_and_outside_text_is_kept():
    fragments = set_lines("x" * 50 + ", y", [(0, 50), (52, 53)], 5)
    assert max(each.width for each in fragments) <= 5
    assert [each.text for each in fragments if each.word == OUTSIDE] == [","]
    assert "".join(each.text for each in fragments if each.word == 0) == "x" * 50


def test_right_to_left_texts_begin_at_the_right():
    assert right_to_left("123 שלום")
    assert right_to_left("hello שלום") is False
    assert right_to_left("123") is None
    text = "שלום עולם hello big world"
    places = {each.text: each.left for each in set_lines(text, words(text), 40)}
    assert places["שלום"] > places["עולם"] > places["world"] > places["big"] > places["hello"]


def test_wide_characters_are_wide():
    assert text_width("好") == text_width("한") == 1.0
    assert text_width("e\u0301") == text_width("e")
    assert text_width("i") < text_width("a") < text_width("W")


# -- the chart ---------------------------------------------------------------------------------------


def test_boxes_carry_the_contributions():
    found = TextExplainer(letters, checks=False).shap("banana boat, no!")
    fragments = set_lines(found.source, found.spans.tolist(), 40)
    boxes = box_data(found, "prediction", fragments)
    assert [box["value"] for box in boxes] == found.values[0].tolist()
    assert [box["word"] for box in boxes] == ['"banana"', '"boat,"', '"no!"']
    assert boxes[0]["label"] == "+3"


def test_estimates_have_their_error_in_the_tooltip():
    text = " ".join(f"a{k}o" for k in range(20))
    found = TextExplainer(lambda texts: [np.sin(len(text)) for text in texts], checks=False).shap(text)
    fragments = set_lines(found.source, found.spans.tolist(), 40)
    assert all(" ± " in box["label"] for box in box_data(found, "prediction", fragments))


def test_the_legend_reaches_as_far_as_the_contributions_on_both_sides(golden):
    spec = chart(TextExplainer(letters, checks=False).shap("banana boat, no!")).spec
    scale = spec["layer"][0]["encoding"]["color"]["scale"]
    assert scale["domain"] == [-3, -1.5, 0, 1.5, 3]
    assert scale["range"] == list(RANGE)
    np.testing.assert_array_equal(painted(np.array([-3.0, 0.0, 3.0]), 3.0), [[74, 151, 201], [255] * 3, [238, 133, 51]])
    golden("charts", "contributions of words", titles(spec))


@pytest.mark.parametrize("text", ["", " ", "one", "a\n\nb", "שלום עולם", "私は東京で👍🏽 ok", "<b>&\"'\\"])
def test_every_text_has_a_valid_picture(text, tmp_path):
    found = TextExplainer(letters, checks=False).shap(text)
    json.dumps(chart(found).spec, allow_nan=False)
    assert chart(found).save(tmp_path / "text.svg").stat().st_size > 500
    assert chart(found).save(tmp_path / "text.png").read_bytes()[:4] == b"\x89PNG"


def test_pages_need_no_network(tmp_path):
    page = chart(TextExplainer(letters, checks=False).shap("banana")).save(tmp_path / "text.html").read_text("utf-8")
    assert "banana" in page
    assert 'src="http' not in page


def test_several_outputs_have_a_panel_each_and_many_say_what_is_left_out(golden):
    found = TextExplainer(three, checks=False).shap("banana boat")
    assert len(chart(found).spec["vconcat"]) == 3
    few = chart(found, panels=2).spec
    assert len(few["vconcat"]) == 2
    golden("charts", "contributions of words, two of three outputs", titles(few))


def test_long_texts_say_what_is_not_drawn(golden):
    found = TextExplainer(letters, checks=False).shap("banana boat " * 500)
    golden("charts", "contributions of words, a long text", map(masked, titles(chart(found, max_lines=5).spec)))


def test_grouped_words_share_a_colour():
    found = TextExplainer(letters, checks=False).shap("banana boat, no!").group({"fruit": ["banana", "no!"]})
    boxes = box_data(found, "prediction", set_lines(found.source, found.spans.tolist(), 40))
    assert boxes[0]["value"] == boxes[2]["value"] == found.values[0, 0]


@pytest.mark.parametrize("kind", ["waterfall", "force", "bar"])
def test_the_other_charts_of_contributions_work_too(kind):
    spec = json.dumps(chart(TextExplainer(letters, checks=False).shap("banana boat"), kind=kind).spec)
    assert "banana" in spec


@pytest.mark.parametrize("options", [{"panels": 0}, {"max_lines": 1.5}, {"kind": "highlite"}])
def test_options_are_checked(options):
    with pytest.raises(InputError, match=next(iter(options))):
        TextOptions(**options)


def test_words_inside_a_sum_have_no_colour():
    found = TextExplainer(letters, checks=False).shap("banana boat, no! papa").sparse(1)
    boxes = box_data(found, "prediction", set_lines(found.source, found.spans.tolist(), 40))
    assert [box["value"] for box in boxes] == [3.0, None, None, None]
    assert [box["label"] for box in boxes[1:]] == ["+2"] * 3
    assert "one of 3 others" in boxes[1]["word"]
    spec = chart(found).spec
    assert "grey: 3 others together +2" in " ".join(spec["title"]["subtitle"])
    coloured = spec["datasets"][spec["layer"][0]["data"]["name"]]
    assert [row["value"] for row in coloured] == [3.0]


def test_a_group_says_that_its_words_share_a_colour():
    found = TextExplainer(letters, checks=False).shap("banana no!").group({"all": ["banana", "no!"]})
    boxes = box_data(found, "prediction", set_lines(found.source, found.spans.tolist(), 40))
    assert all("in one colour" in box["word"] for box in boxes)


@pytest.mark.parametrize("kind", ["waterfall", "force", "bar", "beeswarm", "stacked", "dependence", "decision"])
def test_an_empty_text_has_nothing_to_draw(kind):
    found = TextExplainer(letters, checks=False).shap("")
    with pytest.raises(InputError, match="nothing to draw"):
        chart(found, kind=kind)
