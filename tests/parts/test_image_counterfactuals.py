"""Counterfactuals of images: the fewest segments that change a prediction."""

import json
from itertools import combinations

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

import pellucid
from golden_files import titles
from pellucid.errors import InputError
from pellucid.explanations.store import encode
from pellucid.parts import answer_chart
from pellucid.parts.image_explainer import ImageExplainer
from pellucid.parts.options import PartAnswerOptions

GRID = {"segmenter": "grid", "segments": (2, 3), "absent": 0, "checks": False}
IMAGE = np.arange(1.0, 25.0).reshape(4, 6)


def corners(images):
    """Yes while the first pixel or the last is as in the image."""
    first, last = (images.reshape(len(images), -1)[:, k] for k in (0, -1))
    p = ((first == 1) | (last == 24)).astype(float)
    return np.stack([1 - p, p], axis=1)


def labelled(**options):
    return ImageExplainer(corners, class_names=("no", "yes"), **{**GRID, **options})


@pytest.fixture(scope="module")
def digits():
    some = load_digits()
    return some, LogisticRegression(max_iter=3000).fit(some.data, some.target)


def test_the_segments_that_have_to_go_are_found(golden):
    found = labelled().counterfactuals(IMAGE)
    assert found.changed.tolist() == [[True, False, False, False, False, True]]
    assert found.proven
    assert found.mask().tolist() == np.isin(found.segments, (0, 5)).tolist()
    assert found.images.tolist() == np.where(found.mask(), 0.0, IMAGE)[None].tolist()
    golden("image", "counterfactuals", found.text())
    golden("image", "adversarial", labelled(absent="mean").adversarial(IMAGE).text())


@pytest.mark.parametrize("salt", range(6))
def test_of_a_sum_over_segments_the_brightest_have_to_go(salt):
    rng = np.random.default_rng(salt)
    sums = rng.random(12)
    image = np.repeat(np.repeat(sums.reshape(3, 4), 2, axis=0), 2, axis=1)
    wanted = float(rng.uniform(0.3, 0.9)) * sums.sum()
    ex = ImageExplainer(
        lambda images: images.sum(axis=(1, 2)) / 4, segmenter="grid", segments=(3, 4), absent=0, checks=False
    )
    found = ex.counterfactuals(image, f"<= {wanted}", n=1)
    left = sums.sum() - np.cumsum(np.sort(sums)[::-1])
    assert int(found.changed[0].sum()) == int(np.argmax(left <= wanted)) + 1
    assert found.predictions[0, 0] <= wanted
    assert found.proven


def test_digits_against_enumeration(digits):
    """Of real digits: no pair and no single segment was missed, and all answers are other digits as given out."""
    some, model = digits
    ex = ImageExplainer(model, segmenter="grid", segments=16, absent=0.0, checks=False)
    for i in range(10):
        found = ex.counterfactuals(some.images[i])
        own = model.predict(some.data[i : i + 1])[0]
        assert (model.predict(found.images.reshape(len(found), -1)) != own).all()
        needed = int(found.changed[0].sum())
        assert found.proven
        for size in range(1, needed + 1):
            sets = list(combinations(range(16), size))
            gone = np.array([np.isin(found.segments, each) for each in sets])
            said = model.predict(np.where(gone, 0.0, some.images[i]).reshape(len(sets), -1))
            assert (said != own).any() == (size == needed)


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_answers_are_of_the_same_type(dtype):
    image = np.repeat(IMAGE[..., None], 3, axis=2).astype(dtype)
    ex = ImageExplainer(lambda images: corners(images[..., 0]), class_names=("no", "yes"), **GRID)
    found = ex.counterfactuals(image)
    assert found.images.dtype == dtype
    assert found.images.shape == (1, 4, 6, 3)


@pytest.mark.parametrize("ending", ["json", "parquet"])
def test_results_return_from_a_file(tmp_path, ending):
    found = labelled().counterfactuals(IMAGE)
    assert pellucid.load(found.save(tmp_path / f"found.{ending}")) == found


def test_same_bytes_whatever_the_batches_and_threads(digits):
    some, model = digits

    def content(**options):
        plain = encode(
            ImageExplainer(model, segmenter="grid", segments=16, absent=0.0, **options).counterfactuals(image)
        )
        del plain["header"]["cost"]
        return json.dumps(plain)

    image = some.images[3]
    assert content() == content(batch=9, n_jobs=2)


def test_another_colour_that_undoes_the_answers_is_told(digits):
    some, model = digits
    found = ImageExplainer(model, segmenter="grid", segments=16, absent=0.0).counterfactuals(some.images[3])
    assert {caveat.code for caveat in found.caveats} >= {"absence", "rashomon"}


def test_the_picture_shows_what_was_changed(golden):
    found = labelled().counterfactuals(IMAGE)
    drawn = answer_chart.outlined(found, 0, (60.0, 40.0))
    assert drawn.shape == (80, 120, 3)
    assert drawn[5, 5].tolist() == [0, 0, 0]  # painted over
    assert (213, 94, 0) in {tuple(pixel) for pixel in drawn.reshape(-1, 3).tolist()}
    golden("charts", "counterfactuals of segments", titles(answer_chart.body(found, PartAnswerOptions()).to_dict()))


def test_a_list_of_images():
    found = labelled().counterfactuals([IMAGE, IMAGE])
    assert [len(each) for each in found] == [1, 1]


# -- single pixels -------------------------------------------------------------------------------------


@pytest.mark.parametrize("salt", range(4))
def test_one_pixel_against_every_pixel_and_extreme(salt):
    """A linear score: the best pixel is the one with the largest weight times change."""
    rng = np.random.default_rng(salt)
    weights, image = rng.normal(size=(5, 6)), rng.random((5, 6))
    gains = np.maximum(weights * (1 - image), -weights * image)
    own = float((weights * image).sum())
    ex = ImageExplainer(lambda images: (images * weights).sum(axis=(1, 2)), segmenter="grid", checks=False)
    found = ex.adversarial(image, f">= {own + 0.99 * gains.max()}", kind="pixel")
    row, column = np.unravel_index(gains.argmax(), gains.shape)
    assert list(found.changes()) == [f"pixel [{row}, {column}]"]
    assert found.images[0, row, column] == float(weights[row, column] > 0)
    assert (found.images[0] != image).sum() == 1
    top = np.sort(gains.ravel())[::-1]
    two = ex.adversarial(image, f">= {own + 0.99 * (top[0] + top[1])}", kind="pixel")
    assert int(two.changed[0].sum()) == 2
    assert two.proven
    assert len(ex.adversarial(image, f">= {own + gains.sum()}", kind="pixel")) == 0


def test_one_pixel_of_colours_and_of_digits(digits, golden):
    image = np.full((4, 4, 3), 100, dtype=np.uint8)
    ex = ImageExplainer(lambda images: images[:, 1, 2, 2].astype(float), checks=False)
    found = ex.adversarial(image, "> 200", kind="pixel")
    assert found.images[0, 1, 2].tolist()[2] == 255
    assert found.changes()["pixel [1, 2]"].endswith("255)")
    golden("image", "one pixel", found.text())
    with pytest.raises(InputError, match="budget=132 at least"):
        ex.adversarial(image, "> 200", kind="pixel", budget=100)
    some, model = digits
    ex = ImageExplainer(model, checks=False)
    attacks = [ex.adversarial(some.images[i], kind="pixel") for i in range(8)]
    for i, attack in enumerate(attacks):
        own = model.predict(some.data[i : i + 1])[0]
        assert len(attack)
        assert (model.predict(attack.images.reshape(len(attack), -1)) != own).all()
