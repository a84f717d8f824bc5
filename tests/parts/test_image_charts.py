"""The picture of an image: the right pixels, the colours of the legend, borders, tooltips and numbers."""

import base64
import io
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from golden_files import titles
from pellucid.charts.chart import Chart
from pellucid.charts.png import data_uri, png
from pellucid.errors import InputError
from pellucid.explanations.attribution_words import labels_of
from pellucid.parts.image_chart import body, borders, enlarged, number_data, overlay, strip_data
from pellucid.parts.image_explainer import ImageExplainer
from pellucid.parts.options import ImageOptions

IMAGE = np.zeros((4, 6), dtype=np.uint8)
IMAGE[:2, 4:] = 255


def brightness(images):
    return images.reshape(len(images), -1).astype(float).mean(axis=1)


def found(f=brightness, image=IMAGE, **options):
    return ImageExplainer(f, segmenter="grid", segments=(2, 3), checks=False, **options).shap(image)


def chart(result, **options):
    return Chart(body(result, ImageOptions(**options)))


@settings(max_examples=50, deadline=None)
@given(pixels=st.sampled_from([1, 3, 4]).flatmap(lambda c: arrays(np.uint8, (3, 5, c))))
def test_pngs_are_read_back_by_others(pixels):
    pillow = pytest.importorskip("PIL.Image", reason="pillow, which reads PNG files, is not installed")
    with pillow.open(io.BytesIO(png(pixels))) as opened:
        back = np.asarray(opened)
    np.testing.assert_array_equal(back.reshape(pixels.shape), pixels)


def test_small_images_get_large_pixels_and_large_ones_are_thinned():
    small = enlarged(np.arange(6, dtype=np.uint8).reshape(2, 3, 1), (30, 20))
    assert small.shape == (40, 60, 1)
    np.testing.assert_array_equal(small[:20, :20], np.zeros((20, 20, 1)))
    assert small[-1, -1, 0] == 5
    assert enlarged(np.zeros((4000, 3000, 3), dtype=np.uint8), (30, 40)).shape == (80, 60, 3)


def test_overlays_have_the_colours_of_the_contributions():
    result = found(absent=0)
    picture = overlay(result, "prediction", (120, 80))
    assert picture.shape == (160, 240, 3)
    assert picture[5, 235].tolist() == [238, 133, 51]  # the brightest segment has the full orange
    dark = picture[100, 100]
    assert dark[0] == dark[1] == dark[2]  # nothing contributed: grey, no tint
    assert (picture[79, 10:60] == 90).all()  # the border between the rows


def test_borders_run_between_segments():
    labels = np.array([[0, 0, 1], [0, 2, 1]])
    assert borders(labels).tolist() == [[False, True, False], [True, True, False]]


def test_tooltips_cover_the_image_and_name_the_segments():
    result = found(absent=0)
    strips = strip_data(result, "prediction", (120.0, 80.0))
    area = sum((strip["x2"] - strip["x"]) * (strip["y2"] - strip["y"]) for strip in strips)
    assert area == pytest.approx(120 * 80)
    assert {strip["segment"] for strip in strips} == set(labels_of(result, 0))
    top_right = [strip for strip in strips if strip["segment"] == "segment 3 (top right)"]
    assert {strip["label"] for strip in top_right} == {"+42.5"}


def test_numbers_stand_on_the_segments_that_matter():
    assert number_data(found(absent=0), "prediction", 5, (120.0, 80.0)) == [{"x": 100.0, "y": 20.0, "number": "3"}]
    assert number_data(found(absent=0), "prediction", 0, (120.0, 80.0)) == []


# -- the chart ---------------------------------------------------------------------------------------


def many(images):
    bright = brightness(images) / 255
    return np.column_stack([bright / 2, (1 - bright) / 2, np.full(len(images), 0.5)])


def test_the_image_stands_beside_one_panel_for_every_output(golden):
    spec = chart(found(many)).spec
    assert [view["title"]["text"][0][:9] for view in spec["concat"]] == [
        "the image",
        "0: 25.1% ",
        "1: 24.9% ",
        "2: 50% → ",
    ]
    golden("charts", "contributions of segments", titles(spec))
    few = chart(found(many), panels=1).spec
    assert len(few["concat"]) == 2
    golden("charts", "contributions of segments, one of three outputs", titles(few))


@pytest.mark.parametrize("shape", [(8, 8), (8, 8, 1), (8, 8, 2), (8, 8, 3), (8, 8, 4), (1, 1), (2, 50, 3)])
@pytest.mark.parametrize("dtype", [np.uint8, np.float64, bool])
def test_every_kind_of_image_has_a_picture(shape, dtype, tmp_path):
    image = (np.random.default_rng(0).random(shape) * 2).astype(dtype)
    picture = chart(ImageExplainer(brightness, segmenter="grid", segments=4).shap(image))
    json.dumps(picture.spec, allow_nan=False)
    assert picture.save(tmp_path / "image.png").stat().st_size > 1000


def test_pictures_are_inside_the_page(tmp_path):
    picture = chart(found(absent=0))
    page = picture.save(tmp_path / "image.html").read_text("utf-8")
    assert page.count("data:image/png;base64,") == 2
    assert 'src="http' not in page
    assert "data:image/png;base64," in picture.save(tmp_path / "image.svg").read_text("utf-8")


def test_an_address_holds_the_picture():
    pixels = np.full((2, 2, 3), 7, dtype=np.uint8)
    assert base64.b64decode(data_uri(pixels).partition(",")[2]) == png(pixels)


def test_sizes_follow_the_image():
    views = chart(found(), width=120).spec["concat"]
    assert (views[1]["width"], views[1]["height"]) == (120, 80)
    views = chart(found(), height=120).spec["concat"]
    assert (views[1]["width"], views[1]["height"]) == (180, 120)


@pytest.mark.parametrize("kind", ["waterfall", "force", "bar"])
def test_the_other_charts_of_contributions_work_too(kind):
    assert "segment 3 (top right)" in json.dumps(chart(found(absent=0), kind=kind).spec)


@pytest.mark.parametrize("options", [{"panels": 0}, {"numbers": -1}, {"kind": "overlai"}])
def test_options_are_checked(options):
    with pytest.raises(InputError, match=next(iter(options))):
        ImageOptions(**options)


def test_segments_inside_a_sum_are_grey_without_number_and_nan_on_the_map():
    image = np.arange(24, dtype=np.uint8).reshape(4, 6) * 10
    whole = found(image=image, absent=0)
    few = whole.sparse(2)
    folded = (few.entry_of == few.entries.others)[few.segments]
    assert folded.sum() == 16
    np.testing.assert_array_equal(np.isnan(few.map()), folded)
    np.testing.assert_array_equal(few.map()[~folded], whole.map()[~folded])
    picture = overlay(few, "prediction", (120, 80))
    corner = picture[5, 5].astype(int)
    assert corner[0] == corner[1] == corner[2] < 210
    assert len(number_data(few, "prediction", 6, (120, 80))) == 2
    assert "grey: 4 others together +" in " ".join(chart(few).spec["title"]["subtitle"])
