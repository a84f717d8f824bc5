"""Real images and real models: handwritten digits, and a photograph."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.datasets import load_digits, load_sample_image
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pellucid.parts.image_explainer import ImageExplainer


@pytest.fixture(scope="module")
def digits():
    found = load_digits()
    return found.data, found.images, found.target


def test_scores_of_a_linear_classifier_of_digits_are_weights_times_pixels(digits):
    """The decision function is linear in the pixels, so every estimator must find weight times (pixel - absent)."""
    X, images, y = digits
    model = LogisticRegression(max_iter=3000).fit(X / 16, y == 3)
    found = ImageExplainer(
        lambda some: model.decision_function(some.reshape(len(some), -1)), segmenter="grid", segments=16, absent=0
    ).shap(images[3] / 16)
    products = (model.coef_[0] * X[3] / 16).reshape(8, 8)
    expected = [products[found.segments == k].sum() for k in range(16)]
    np.testing.assert_allclose(found.values[0], expected, atol=1e-4)
    assert float(found.base) == pytest.approx(model.intercept_[0])


def test_all_classes_of_a_network_of_digits(digits):
    X, images, y = digits
    network = make_pipeline(StandardScaler(), MLPClassifier((16,), max_iter=300, random_state=0, tol=1e-3)).fit(X, y)
    found = ImageExplainer(network, segmenter="grid", segments=16, absent=0.0).shap(images[0])
    assert found.output_names == tuple("0123456789")
    assert found.values.shape == (1, 16, 10)
    np.testing.assert_allclose(found.prediction[0], network.predict_proba(X[:1])[0])
    np.testing.assert_allclose(found.base, network.predict_proba(np.zeros((1, 64)))[0])
    assert np.abs(found.residual).max() < 1e-9
    # Probabilities add up to one, so what the classes gain from a segment adds up to nothing.
    assert np.abs(found.values.sum(axis=2)).max() < 1e-6
    assert found.for_output("0").values.sum() > 0.5


def test_pixels_as_players(digits):
    X, images, y = digits
    model = LogisticRegression(max_iter=3000).fit(X, y)
    ex = ImageExplainer(model, output=0, segmenter="grid", segments=64, absent=0.0, checks=False)
    found = ex.shap(images[0])
    assert len(found.players) == 64
    assert found.values.sum() == pytest.approx(found.prediction[0] - float(found.base))
    assert (found.values[0][images[0].ravel() == 0] == 0).all()  # what is black already cannot be missing


def patches(images, size=8):
    """Mean colour and roughness of square patches, which is what the model of the photograph sees."""
    n, rows, columns = len(images), images.shape[1] // size, images.shape[2] // size
    cut = images[:, : rows * size, : columns * size].astype(np.float32) / 255
    cut = cut.reshape(n, rows, size, columns, size, 3)
    return np.concatenate([cut.mean(axis=(2, 4)), cut.std(axis=(2, 4))], axis=-1)


@pytest.mark.parametrize("segmenter", ["grid", "slic", "quickshift", "felzenszwalb"])
def test_a_photograph_of_a_flower(segmenter):
    """A classifier of patches, taught that the middle is flower and the left edge is not; f is the share of flower."""
    if segmenter != "grid":
        pytest.importorskip("skimage", reason="scikit-image, the extra pellucid[images], is not installed")
    photograph = load_sample_image("flower.jpg")[::4, ::4]  # 107 x 160
    seen = patches(photograph[None])[0]
    flower, leaves = seen[3:9, 7:13].reshape(-1, 6), seen[:, :4].reshape(-1, 6)
    known = np.concatenate([flower, leaves]), np.repeat([1, 0], [len(flower), len(leaves)])
    model = LogisticRegression(C=10).fit(*known)

    def share(images):
        return expit(patches(images) @ model.coef_[0] + model.intercept_[0]).mean(axis=(1, 2))

    found = ImageExplainer(share, segmenter=segmenter, segments=8, absent="neighbours", checks=False).shap(photograph)
    assert found.image.dtype == np.uint8
    assert abs(float(found.residual[0])) < 1e-9
    everywhere, middle = (found.map() / np.bincount(found.segments.ravel())[found.segments], np.s_[32:72, 64:96])
    assert everywhere[middle].mean() > everywhere[:, :30].mean()


def test_segmenters_agree_on_where_the_flower_is():
    """The segments are a choice; what holds for several choices can be believed."""
    pytest.importorskip("skimage", reason="scikit-image, the extra pellucid[images], is not installed")
    photograph = load_sample_image("flower.jpg")[::4, ::4]

    def redness(images):
        return (images[..., 0].astype(float) - images[..., 2]).mean(axis=(1, 2))

    maps = []
    for segmenter in ("slic", "felzenszwalb", "grid"):
        found = ImageExplainer(redness, segmenter=segmenter, segments=9, checks=False).shap(photograph)
        maps.append((found.map() / np.bincount(found.segments.ravel())[found.segments]).ravel())
    agreement = np.corrcoef(maps)
    assert agreement.min() > 0.5
