"""Segments of an image, and the image in which they are absent."""

import re
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.ndimage import label

from pellucid.errors import InputError, MissingExtra
from pellucid.parts.segments import SEGMENTERS, absent_image, check_image, segment, value_range

RNG = np.random.default_rng(0)
FLOWER = (RNG.random((24, 36, 3)) * 60 + np.linspace(0, 190, 36)[None, :, None]).astype(np.uint8)


def need(segmenter):
    if segmenter != "grid":
        pytest.importorskip("skimage", reason="scikit-image, the extra pellucid[images], is not installed")


@settings(max_examples=100, deadline=None)
@given(height=st.integers(1, 20), width=st.integers(1, 20), segments=st.integers(1, 50))
def test_a_grid_is_made_of_rectangles_without_gaps(height, width, segments):
    labels = segment(np.zeros((height, width)), "grid", segments)
    n = labels.max() + 1
    assert sorted(np.unique(labels)) == list(range(n))
    for k in range(n):
        rows, columns = np.nonzero(labels == k)
        assert len(rows) == (np.ptp(rows) + 1) * (np.ptp(columns) + 1)


def test_grids_have_the_rows_and_columns_asked_for():
    labels = segment(np.zeros((6, 9)), "grid", (2, 3))
    assert labels[0].tolist() == [0] * 3 + [1] * 3 + [2] * 3
    assert labels[:, 0].tolist() == [0] * 3 + [3] * 3
    assert segment(np.zeros((8, 8)), "grid", 64).ravel().tolist() == list(range(64))


@pytest.mark.parametrize("segmenter", SEGMENTERS)
@pytest.mark.parametrize("shape", [(24, 36), (24, 36, 1), (24, 36, 3), (24, 36, 4)])
@pytest.mark.parametrize("dtype", [np.uint8, np.float64])
def test_segments_are_few_numbered_and_cover_the_image(segmenter, shape, dtype):
    need(segmenter)
    image = np.resize(FLOWER, shape).astype(dtype)
    before = image.copy()
    labels = segment(image, segmenter, 12)
    assert labels.shape == (24, 36)
    assert sorted(np.unique(labels)) == list(range(labels.max() + 1))
    assert labels.max() < 12 or segmenter == "grid"
    np.testing.assert_array_equal(image, before)
    np.testing.assert_array_equal(labels, segment(image, segmenter, 12))


@pytest.mark.parametrize("segmenter", ["slic", "quickshift", "felzenszwalb"])
def test_superpixels_find_a_square_and_are_connected(segmenter):
    need(segmenter)
    image = np.zeros((40, 40, 3), dtype=np.uint8)
    image[10:30, 10:30] = (250, 20, 20)
    labels = segment(image, segmenter, 10)
    for k in range(labels.max() + 1):
        inside = (labels == k)[12:28, 12:28].any()
        border = np.concatenate([(labels == k)[:8].ravel(), (labels == k)[32:].ravel()]).any()
        assert not (inside and border)
        assert label(labels == k, np.ones((3, 3)))[1] == 1  # corners touch


def test_a_uniform_image_is_no_trouble():
    for segmenter in SEGMENTERS:
        need(segmenter)
        labels = segment(np.full((10, 12), 7, dtype=np.uint8), segmenter, 4)
        assert labels.min() == 0


def test_labels_of_the_callers_own_are_numbered_anew():
    given_labels = np.array([[7, 7, -2], [7, 9, 9]])
    assert segment(np.zeros((2, 3)), given_labels, 50).tolist() == [[1, 1, 0], [1, 2, 2]]
    assert segment(np.zeros((2, 3)), lambda image: given_labels, 50).max() == 2


def test_without_the_library_the_error_has_the_install_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "skimage", None)
    monkeypatch.setitem(sys.modules, "skimage.segmentation", None)
    with pytest.raises(MissingExtra, match=r'segmenter=\'grid\' .*\'skimage\.segmentation\'.*"pellucid\[images\]"'):
        segment(FLOWER, "slic", 5)
    assert segment(FLOWER, "grid", 4).max() == 3


# -- absence -----------------------------------------------------------------------------------------

HALVES = np.repeat([[0, 0, 1, 1]], 4, axis=0)


def test_absent_segments_have_the_colour_asked_for():
    image = np.zeros((4, 4, 3), dtype=np.uint8)
    image[:, 2:] = (90, 60, 30)
    assert (absent_image(image, HALVES, "grey") == 128).all()
    np.testing.assert_array_equal(absent_image(image, HALVES, "mean"), image)
    swapped = absent_image(image, HALVES, "neighbours")
    assert swapped[0, 0].tolist() == [90, 60, 30]
    assert swapped[0, 3].tolist() == [0, 0, 0]
    assert absent_image(image, HALVES, (1, 2, 3))[3, 3].tolist() == [1, 2, 3]
    assert (absent_image(image, HALVES, 0) == 0).all()
    other = RNG.integers(0, 255, image.shape, dtype=np.uint8)
    np.testing.assert_array_equal(absent_image(image, HALVES, other), other)


def test_neighbours_are_a_ring_of_three_pixels():
    image = np.arange(81, dtype=float).reshape(9, 9) + 2
    labels = np.zeros((9, 9), dtype=int)
    labels[4, 4] = 1
    rows, columns = np.indices((9, 9))
    ring = (np.abs(rows - 4) + np.abs(columns - 4) <= 3) & (labels == 0)
    assert absent_image(image, labels, "neighbours")[4, 4] == pytest.approx(image[ring].mean())
    assert (absent_image(image, labels, "neighbours")[labels == 0] == image[4, 4]).all()


def test_a_blur_keeps_the_mean_and_loses_the_detail():
    image = np.tile([0.0, 1.0], (32, 16))
    blurred = absent_image(image, np.zeros((32, 32), dtype=int), "blur")
    assert blurred.mean() == pytest.approx(0.5, abs=0.02)
    assert np.ptp(blurred[4:-4, 4:-4]) < 0.02


def test_one_segment_has_no_neighbours_and_turns_grey():
    image = np.full((3, 3), 10, dtype=np.uint8)
    assert (absent_image(image, np.zeros((3, 3), dtype=int), "neighbours") == 128).all()


@pytest.mark.parametrize("absent", ["grey", "mean", "neighbours", "blur", 3])
@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.float32, np.float64, bool])
@pytest.mark.parametrize("channels", [None, 1, 2, 3, 4])
def test_type_and_transparency_stay(absent, dtype, channels):
    shape = (4, 4) if channels is None else (4, 4, channels)
    image = (RNG.random(shape) * 9).astype(dtype)
    before = image.copy()
    filled = absent_image(image, HALVES, absent)
    assert filled.dtype == image.dtype
    assert filled.shape == image.shape
    if channels in (2, 4):
        np.testing.assert_array_equal(filled[..., -1], image[..., -1])
    np.testing.assert_array_equal(image, before)


@pytest.mark.parametrize(
    ("image", "limits"),
    [
        (np.array([[3]], dtype=np.uint8), (0, 255)),
        (np.array([[0.2, 0.9]]), (0, 1)),
        (np.array([[0.0, 16.0]]), (0, 16)),
        (np.array([[-2.0, 0.5]]), (-2, 0.5)),
    ],
)
def test_black_and_white_follow_the_type_of_the_image(image, limits):
    assert value_range(image) == limits


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: check_image(np.zeros((3, 32, 32))), "np.moveaxis"),
        (lambda: check_image(np.zeros(5)), "shape (5,)"),
        (lambda: check_image(np.zeros((0, 4))), "shape (0, 4)"),
        (lambda: check_image(np.array([["a"]])), "not numbers"),
        (lambda: check_image(np.array([[1.0, np.nan]])), "row 0, column 1"),
        (lambda: segment(FLOWER, "silc", 5), "did you mean 'slic'"),
        (lambda: segment(FLOWER, "slic", (2, 3)), "only segmenter='grid'"),
        (lambda: segment(FLOWER, np.zeros((3, 3), dtype=int), 5), "shape (3, 3)"),
        (lambda: segment(FLOWER, np.zeros((24, 36)), 5), "float64"),
        (lambda: absent_image(FLOWER, np.zeros((24, 36), dtype=int), "gray"), "did you mean 'grey'"),
        (lambda: absent_image(FLOWER, np.zeros((24, 36), dtype=int), (1, 2)), "colour of 3 numbers"),
        (lambda: absent_image(FLOWER, np.zeros((24, 36), dtype=int), np.nan), "no colour"),
    ],
)
def test_errors_name_the_argument_and_the_remedy(make, words):
    with pytest.raises(InputError, match=re.escape(words)):
        make()
