"""Shapley values of segments: closed forms, a slow twin, and what every result can do."""

import json
import re
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import pellucid
from golden_files import masked
from pellucid.errors import InputError
from pellucid.explanations.store import encode
from pellucid.parts.image_explainer import ImageExplainer

GRID = {"segmenter": "grid", "segments": (2, 3)}
IMAGES = st.one_of(
    arrays(np.uint8, (4, 6)),
    arrays(np.uint8, (4, 6, 3)),
    arrays(np.float32, (4, 6, 4), elements=st.floats(0, 1, width=32)),
    arrays(np.float64, (4, 6, 1), elements=st.floats(-3, 3)),
)


def brightness(images):
    return images.reshape(len(images), -1).astype(float).mean(axis=1)


def curved(images):
    """Parts that act together."""
    means = images.reshape(*images.shape[:3], -1).astype(float).mean(axis=3)
    return np.sin(means[:, :2].sum(axis=(1, 2))) * means[:, 2:].sum(axis=(1, 2)) + means.max(axis=(1, 2))


def content(found):
    plain = encode(found)
    del plain["header"]["cost"]
    return json.dumps(plain)


def slow_shapley(f, image, labels, absent):
    """The mean gain over all orders in which the segments can come in, pixel by pixel."""
    n = labels.max() + 1

    def worth(there):
        shown = np.array(absent)
        for row in range(labels.shape[0]):
            for column in range(labels.shape[1]):
                if labels[row, column] in there:
                    shown[row, column] = image[row, column]
        return float(f(shown[None])[0])

    phi = np.zeros(n)
    orders = list(permutations(range(n)))
    for order in orders:
        for place, k in enumerate(order):
            phi[k] += worth(set(order[: place + 1])) - worth(set(order[:place]))
    return phi / len(orders)


def test_values_are_the_mean_gains_over_all_orders():
    image = np.random.default_rng(1).random((4, 4, 3))
    labels = np.array([[0, 0, 1, 1], [0, 2, 2, 1], [3, 2, 2, 1], [3, 3, 3, 3]])
    found = ImageExplainer(curved, segmenter=labels, absent="grey").shap(image)
    expected = slow_shapley(curved, image, labels, np.full(image.shape, 0.5))
    np.testing.assert_allclose(found.values[0], expected, atol=1e-12)


@settings(max_examples=40, deadline=None)
@given(image=IMAGES, absent=st.sampled_from(["grey", "mean", "neighbours", "blur", 0]))
def test_contributions_lead_from_the_base_to_the_prediction(image, absent):
    found = ImageExplainer(curved, absent=absent, checks=False, **GRID).shap(image)
    assert found.prediction[0] == pytest.approx(curved(image[None])[0])
    assert abs(float(found.residual[0])) < 1e-9 * (1 + np.abs(found.values).sum())


def test_a_linear_model_of_pixels_gives_weight_times_change():
    rng = np.random.default_rng(0)
    image, weights = rng.random((6, 6)), rng.normal(size=(6, 6))
    found = ImageExplainer(lambda images: (images * weights).sum(axis=(1, 2)), segmenter="grid", segments=9, absent=0.2)
    result = found.shap(image)
    expected = [((image - 0.2) * weights)[result.segments == k].sum() for k in range(9)]
    np.testing.assert_allclose(result.values[0], expected, atol=1e-12)
    assert float(result.base) == pytest.approx(0.2 * weights.sum())


@pytest.mark.parametrize("method", ["exact", "kernel", "permutation"])
def test_all_estimators_agree_on_a_model_that_adds_up(method):
    image = np.arange(36.0).reshape(6, 6)
    found = ImageExplainer(brightness, segmenter="grid", segments=12, absent=0).shap(image, method=method)
    expected = [image[found.segments == k].sum() / 36 for k in range(len(found.players))]
    np.testing.assert_allclose(found.values[0], expected, atol=1e-4)


def test_segments_that_look_like_their_absence_get_exactly_nothing():
    image = np.zeros((4, 4))
    image[:, 2:] = 5.0
    found = ImageExplainer(brightness, segmenter="grid", segments=(2, 2), absent=0).shap(image)
    assert found.values[0].tolist() == [0.0, 1.25, 0.0, 1.25]
    assert found.cost.model_rows == 2 + 2  # the ends, and one more for each that differs


def test_interactions_are_those_of_the_segments():
    def both(images):
        return images[:, 0, 0] * images[:, 0, 1]

    found = ImageExplainer(both, segmenter="grid", segments=(1, 2), absent=0).shap(np.ones((1, 2)), interactions=True)
    np.testing.assert_allclose(found.interaction_values[0], [[0, 0.5], [0.5, 0]])


# -- what goes in ------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.float32, np.float64])
@pytest.mark.parametrize("shape", [(4, 6), (4, 6, 1), (4, 6, 3), (4, 6, 4)])
def test_the_model_gets_images_as_they_were_given(dtype, shape):
    image = (np.random.default_rng(0).random(shape) * 9).astype(dtype)
    before, seen = image.copy(), []

    def f(images):
        seen.append((images.dtype, images.shape[1:]))
        answer = brightness(images)
        images[:] = 0  # what a model does to its input stays with the model
        return answer

    found = ImageExplainer(f, **GRID).shap(image)
    assert set(seen) == {(np.dtype(dtype), shape)}
    np.testing.assert_array_equal(image, before)
    np.testing.assert_array_equal(found.image, before)
    assert found.prediction[0] == brightness(before[None])[0]
    image[:] = 1  # nor does the result change with the caller's array
    np.testing.assert_array_equal(found.image, before)


@pytest.mark.parametrize("method", ["auto", "kernel", "permutation"])
def test_one_segment_has_it_all(method):
    found = ImageExplainer(brightness, segmenter="grid", segments=1, absent=0).shap(np.full((3, 3), 2.0), method=method)
    assert found.values.tolist() == [[2.0]]


def test_lists_of_images_give_lists_of_results():
    ex = ImageExplainer(brightness, **GRID)
    images = np.random.default_rng(0).random((2, 4, 6))
    assert [content(one) for one in ex.shap(list(images))] == [content(ex.shap(one)) for one in images]


def test_estimators_of_flat_pixels_are_asked_with_flat_pixels():
    class Flat:
        n_features_in_ = 24

        def predict(self, X):
            assert X.shape[1:] == (24,)
            return X.sum(axis=1)

    image = np.random.default_rng(0).random((4, 6))
    found = ImageExplainer(Flat(), **GRID).shap(image)
    assert found.prediction[0] == pytest.approx(image.sum())
    same = ImageExplainer(lambda X: X.sum(axis=1), flatten=True, **GRID).shap(image)
    np.testing.assert_allclose(same.values, found.values)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: ImageExplainer(brightness, **GRID).shap(np.zeros((2, 4, 6, 3))), "list(images)"),
        (lambda: ImageExplainer(brightness, **GRID).shap(np.full((4, 4), np.nan)), "row 0, column 0"),
        (lambda: ImageExplainer(brightness, segments=0), "segments must be"),
        (lambda: ImageExplainer(brightness, batch=0), "batch must be"),
        (lambda: ImageExplainer(brightness, segmenter="grid").shap(np.eye(20), method="exact"), "segments="),
        (lambda: ImageExplainer(brightness, segmenter="grid").shap(np.eye(20), budget=5), "budget=5 is too small"),
        (lambda: ImageExplainer(brightness, segmenter="grid").shap(np.eye(20), tolerance=0), "tolerance must be"),
    ],
)
def test_errors_name_the_argument_and_the_remedy(make, words):
    with pytest.raises(InputError, match=re.escape(words)):
        make()


# -- repeatable --------------------------------------------------------------------------------------


def test_same_seed_same_bytes_whatever_the_batches_and_threads():
    image = np.random.default_rng(0).random((8, 8, 3))
    options = {"segmenter": "grid", "segments": 20}
    results = [
        content(ImageExplainer(curved, batch=batch, n_jobs=n_jobs, **options).shap(image, budget=300))
        for batch, n_jobs in ((None, None), (7, None), (50, 2))
    ]
    assert results[0] == results[1] == results[2]
    assert content(ImageExplainer(curved, random_state=1, **options).shap(image, budget=300)) != results[0]


def test_batches_fit_into_memory():
    sizes = []

    def f(images):
        sizes.append(images.nbytes)
        return brightness(images)

    ImageExplainer(f, segmenter="grid", segments=6, absent=1.0).shap(np.zeros((400, 400)))
    assert max(sizes) <= 16 * 2**20
    assert max(sizes) > 8 * 2**20


# -- what comes out ----------------------------------------------------------------------------------


def test_words_name_the_starting_point_and_the_place(golden):
    image = np.zeros((6, 6), dtype=np.uint8)
    image[:2, 4:] = 255
    found = ImageExplainer(brightness, segmenter="grid", segments=(3, 3), absent="grey").shap(image)
    golden("image", "contributions", found.text())
    golden("image", "contributions, short", found.text("short"))
    assert "segment 3 (top right)" in found.text()
    assert "+14.1" in found.text()
    assert "average" not in found.text() + found.text("short")


@pytest.mark.parametrize("absent", ["grey", "mean", "neighbours", "blur", 0, np.zeros((4, 6))])
def test_every_absence_has_words(absent, golden):
    found = ImageExplainer(brightness, absent=absent, **GRID).shap(np.random.default_rng(0).random((4, 6)))
    name = absent if isinstance(absent, str) else "a number" if isinstance(absent, int) else "another image"
    golden("image", f"contributions, absent segments: {name}", masked(found.text()))


def test_tables_and_maps_say_where_the_segments_are():
    image = np.arange(24.0).reshape(4, 6)
    found = ImageExplainer(brightness, absent=0, **GRID).shap(image)
    table = found.frame()
    assert table.columns.tolist() == ["segment", "pixels", "y", "x", "contribution", "se"]
    assert table["pixels"].tolist() == [4] * 6
    assert table[["y", "x"]].to_numpy().tolist() == [[y, x] for y in (1, 3) for x in (1, 3, 5)]
    map_ = found.map()
    assert map_.shape == (4, 6)
    assert map_[0, 0] == found.values[0, 0]
    assert map_[3, 5] == found.values[0, 5]
    halves = found.group({"top": ["segment 1", "segment 2", "segment 3"]})
    assert (halves.map()[:2] == halves.values[0, 0]).all()
    assert halves.values[0, 0] == pytest.approx(image[:2].sum() / 24)


@pytest.mark.parametrize("ending", ["json", "parquet"])
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_results_return_from_a_file(tmp_path, ending, dtype):
    image = (np.random.default_rng(0).random((4, 6, 3)) * 9).astype(dtype)
    found = ImageExplainer(curved, **GRID).shap(image)
    back = pellucid.load(found.save(tmp_path / f"found.{ending}"))
    assert back == found
    np.testing.assert_array_equal(back.image, image)
    assert back.image.dtype == dtype


# -- caveats -----------------------------------------------------------------------------------------


def codes(found):
    return [caveat.code for caveat in found.caveats]


def test_a_starting_point_that_depends_on_the_colour_of_absence_is_reported():
    image = np.full((4, 6), 150, dtype=np.uint8)
    (caveat,) = ImageExplainer(brightness, absent="grey", **GRID).shap(image).caveats
    assert caveat.code == "absence"
    assert caveat.value == pytest.approx(128 / 22)
    assert caveat.value == pytest.approx(128 / 22)

    def contrast(images):  # the same for every image of one colour
        return np.ptp(images.reshape(len(images), -1).astype(float), axis=1)

    striped = np.tile(np.array([0, 200], dtype=np.uint8), (4, 3))
    assert "absence" not in codes(ImageExplainer(contrast, **GRID).shap(striped))


def test_segments_that_only_act_together_are_reported():
    def all_three(images):
        return images[:, 0, 0] * images[:, 0, 1] * images[:, 2, 2]

    ex = ImageExplainer(all_three, segmenter="grid", segments=9, absent=0)
    assert "cut-dependence" in codes(ex.shap(np.ones((3, 3))))
    linear = ImageExplainer(brightness, segmenter="grid", segments=9, absent=0)
    assert "cut-dependence" not in codes(linear.shap(np.ones((3, 3))))


def test_checks_can_be_switched_off():
    found = ImageExplainer(curved, checks=False, **GRID).shap(np.ones((4, 6)))
    assert found.caveats == ()
    assert found.cost.check_rows == 0
