"""Local models of segments."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

import pellucid
from pellucid.errors import InputError
from pellucid.explanations.store import encode
from pellucid.parts import variants_chart
from pellucid.parts.image_explainer import ImageExplainer
from pellucid.parts.options import LocalImageOptions

GRID = {"segmenter": "grid", "segments": (2, 3)}


def brightness(images):
    return images.reshape(len(images), -1).astype(float).mean(axis=1)


@pytest.fixture(scope="module")
def digits():
    some = load_digits()
    return some, LogisticRegression(max_iter=3000).fit(some.data, some.target)


@settings(max_examples=20, deadline=None)
@given(
    st.one_of(
        arrays(np.uint8, (4, 6)), arrays(np.uint8, (4, 6, 3)), arrays(np.float64, (4, 6, 1), elements=st.floats(-3, 3))
    )
)
def test_brightness_is_shared_out_by_pixels(image):
    """Of a model that adds up over pixels, a segment's weight is what its pixels add."""
    ex = ImageExplainer(brightness, absent=0, checks=False, **GRID)
    found = ex.lime(image, features=6)
    plain = image.reshape(4, 6, -1).astype(float)
    sums = [plain[found.segments == k].sum() / plain.size for k in range(6)]
    np.testing.assert_allclose(found.values[0], sums, atol=1e-7 * max(1.0, np.abs(plain).max()))
    np.testing.assert_allclose(found.local_prediction, found.prediction, atol=1e-6)


def test_distances_of_pixels_are_root_mean_square_changes():
    rng = np.random.default_rng(0)
    image = rng.random((4, 6))
    found = ImageExplainer(brightness, absent=0, **GRID).lime(image, kernel="exponential", distance="pixels", width=0.5)
    for there, weight in zip(found.there, found.counts, strict=True):
        shown = np.where(there[found.segments], image, 0.0)
        far = np.sqrt(np.square(shown - image).sum() / np.square(image).sum())
        assert weight == pytest.approx(np.exp(-((far / 0.5) ** 2)))


def test_segments_that_are_absent_anyway_have_no_weight():
    image = np.zeros((4, 6))
    image[:, 4:] = 1.0
    found = ImageExplainer(brightness, absent=0, **GRID).lime(image)
    np.testing.assert_allclose(found.values[0], [0, 0, 1 / 6, 0, 0, 1 / 6], atol=1e-9)
    assert len(found.there) == 4


def test_a_real_classifier_of_digits(digits):
    some, model = digits
    ex = ImageExplainer(model, output=3, segmenter="grid", segments=16, absent=0.0)
    found = ex.lime(some.images[3])
    assert (found.values != 0).sum() <= 6
    shap = ex.shap(some.images[3])
    assert found.top(1)[0] in shap.top(3)
    assert found.map().shape == (8, 8)
    every = ImageExplainer(model, segmenter="grid", segments=16, absent=0.0).lime(some.images[3])
    assert every.values.shape == (1, 16, 10)
    np.testing.assert_allclose(every.for_output("3").values, found.values)


def test_grey_that_looks_like_something_is_reported(digits):
    some, model = digits
    ex = ImageExplainer(model, output=4, segmenter="grid", segments=16, absent="grey")
    assert "absence" in {caveat.code for caveat in ex.lime(some.images[4]).caveats}
    plain = ImageExplainer(brightness, absent=0, **GRID)
    assert "absence" in {caveat.code for caveat in plain.lime(np.full((4, 6), 0.3)).caveats}


def test_a_model_to_which_nothing_is_about_the_same_in_every_colour_is_not_reported():
    def contrast(images):
        flat = images.reshape(len(images), -1)
        return flat.std(axis=1) + 0.01 * flat.mean(axis=1)

    found = ImageExplainer(contrast, absent=0, **GRID).lime(np.arange(24.0).reshape(4, 6))
    assert "absence" not in {caveat.code for caveat in found.caveats}


def test_same_seed_same_bytes(digits):
    some, model = digits
    weights, start = model.coef_[3], model.intercept_[3]

    def bright(images):
        """A sum per image, in an order that does not depend on how many images there are (products of matrices do)."""
        return np.array([float((image * weights).sum()) + start for image in images.reshape(len(images), -1)])

    def content(**options):
        ex = ImageExplainer(bright, segmenter="grid", segments=16, absent=0.0, **options)
        plain = encode(ex.lime(some.images[3]))
        del plain["header"]["cost"]
        return json.dumps(plain)

    assert content() == content(batch=9, n_jobs=2)
    assert content() != content(random_state=1)


@pytest.mark.parametrize("ending", ["json", "parquet"])
def test_results_return_from_a_file(tmp_path, ending):
    found = ImageExplainer(brightness, absent=0, **GRID).lime(np.arange(24.0).reshape(4, 6))
    assert pellucid.load(found.save(tmp_path / f"found.{ending}")) == found


def test_lists_of_images_and_stacks():
    ex = ImageExplainer(brightness, absent=0, **GRID)
    image = np.arange(24.0).reshape(4, 6)
    assert len(ex.lime([image, image + 1])) == 2
    with pytest.raises(InputError, match=r"ex.lime\(list\(images\)\)"):
        ex.lime(np.zeros((2, 4, 6, 3)))


@pytest.mark.parametrize("kind", ["auto", "variants", "effects", "widths", "waterfall", "bar"])
def test_every_picture_is_drawn(kind, digits):
    some, model = digits
    found = ImageExplainer(model, output=3, segmenter="grid", segments=16, absent=0.0).lime(some.images[3])
    assert variants_chart.body(found, LocalImageOptions(kind=kind)).to_dict()


def test_the_words_speak_of_images():
    found = ImageExplainer(brightness, absent=0, **GRID).lime(np.arange(24.0).reshape(4, 6))
    said = str(found)
    assert "with every segment absent" in said
    assert "segment 6 (bottom right) contributed" in said
    assert "row" not in said
