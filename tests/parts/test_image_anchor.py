"""Anchors of images: the segments that fix a prediction."""

import json

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

import pellucid
from golden_files import masked, titles
from pellucid.errors import InputError
from pellucid.explanations.store import encode
from pellucid.parts import rule_chart
from pellucid.parts.image_explainer import ImageExplainer
from pellucid.parts.options import PartRuleOptions

GRID = {"segmenter": "grid", "segments": (2, 3), "absent": 0}
IMAGE = np.arange(1.0, 25.0).reshape(4, 6)


def corner(images):
    """One where the first pixel and the last are as in the image."""
    first, last = (images.reshape(len(images), -1)[:, k] for k in (0, -1))
    p = ((first == 1) & (last == 24)).astype(float)
    return np.stack([1 - p, p], axis=1)


@pytest.fixture(scope="module")
def digits():
    some = load_digits()
    return some, LogisticRegression(max_iter=3000).fit(some.data, some.target)


def test_the_segments_that_are_needed_are_found(golden):
    rule = ImageExplainer(corner, class_names=("no", "yes"), **GRID).anchor(IMAGE)
    assert set(rule.kept) == {0, 5}
    assert rule.precision == 1.0
    assert rule.coverage == 0.25
    golden("image", "rule", masked(rule.text()))
    np.testing.assert_array_equal(rule.mask, np.isin(rule.segments, (0, 5)))
    assert "segment 1 (top left)" in rule.sentence
    assert "segment 6 (bottom right)" in rule.sentence


def test_other_images_stand_in_whole():
    seen = []

    def f(images):
        seen.extend(np.array(images))
        return corner(images)

    others = [IMAGE + 100, IMAGE + 200]
    ex = ImageExplainer(f, class_names=("no", "yes"), **GRID)
    rule = ex.anchor(IMAGE, corpus=others, perturb="corpus")
    assert set(rule.kept) == {0, 5}
    added = [set(np.unique(image - IMAGE)) for image in seen if image.any()]
    assert all(some <= {0.0, 100.0} or some <= {0.0, 200.0} for some in added)
    assert {100.0, 200.0} <= set().union(*added)


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_the_model_gets_images_of_the_same_type(dtype):
    kinds = set()

    def f(images):
        kinds.add((images.dtype.str, images.shape[1:]))
        return corner(images[..., 0])

    image = np.repeat(IMAGE[..., None], 3, axis=2).astype(dtype)
    ex = ImageExplainer(f, class_names=("no", "yes"), **GRID)
    ex.anchor(image)
    ex.anchor(image, corpus=[image + dtype(1)], perturb="corpus")
    assert kinds == {(np.dtype(dtype).str, (4, 6, 3))}


def test_a_real_classifier_of_digits(digits):
    some, model = digits
    ex = ImageExplainer(model, segmenter="grid", segments=16, absent=0.0)
    rule = ex.anchor(some.images[3])
    assert rule.prediction == 3
    assert rule.reached
    rng = np.random.default_rng(0)
    there = rng.random((4000, 16)) < 0.5
    there[:, list(rule.kept)] = True
    shown = np.where(there[:, rule.segments], some.images[3], 0.0).reshape(4000, -1)
    assert (model.predict(shown) == 3).mean() >= 0.9
    assert "absence" in {caveat.code for caveat in rule.caveats}  # white is no background here


def test_same_seed_same_bytes(digits):
    some, model = digits

    def content(**options):
        ex = ImageExplainer(model, segmenter="grid", segments=16, absent=0.0, **options)
        plain = encode(ex.anchor(some.images[3]))
        del plain["header"]["cost"]
        return json.dumps(plain)

    assert content() == content(batch=9, n_jobs=2)


@pytest.mark.parametrize("ending", ["json", "parquet"])
def test_results_return_from_a_file(tmp_path, ending):
    rule = ImageExplainer(corner, class_names=("no", "yes"), **GRID).anchor(IMAGE)
    assert pellucid.load(rule.save(tmp_path / f"rule.{ending}")) == rule


def test_segments_apply_to_no_other_image():
    rule = ImageExplainer(corner, class_names=("no", "yes"), **GRID).anchor(IMAGE)
    with pytest.raises(InputError, match="segments of one image"):
        rule.applies(IMAGE)


def test_images_of_the_corpus_must_be_alike():
    ex = ImageExplainer(corner, class_names=("no", "yes"), **GRID)
    with pytest.raises(InputError, match="image 1 of the corpus"):
        ex.anchor(IMAGE, corpus=[IMAGE, IMAGE[:2]], perturb="corpus")
    with pytest.raises(InputError, match="needs a corpus="):
        ex.anchor(IMAGE, perturb="corpus")


def test_the_picture_keeps_the_pixels_of_the_rule(golden):
    image = np.repeat((10 * IMAGE)[..., None], 3, axis=2).astype(np.uint8)
    rule = ImageExplainer(lambda x: corner(x[..., 0] / 10.0), class_names=("no", "yes"), **GRID).anchor(image)
    drawn = rule_chart.kept_pixels(rule, (60.0, 40.0))
    assert drawn.shape == (80, 120, 3)
    assert tuple(drawn[0, 0]) == tuple(image[0, 0])
    assert (drawn[75, 5] > 190).all()
    golden("charts", "rule of segments", titles(rule_chart.body(rule, PartRuleOptions()).to_dict()))
