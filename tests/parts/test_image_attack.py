"""Attacks on images along the gradient: the closed form of linear models, valid as given out, honest about what fails."""

import numpy as np
import pytest

import pellucid
from golden_files import masked
from pellucid import ImageExplainer
from pellucid.errors import InputError


def linear(seed=0, shape=(5, 6)):
    weights = np.random.default_rng(seed).normal(size=shape)

    def f(images):
        return np.asarray(images, dtype=float).reshape(len(images), -1) @ weights.ravel()

    return f, weights


def with_gradient(f, weights):
    def score(images):
        return f(images)

    score.asked = 0

    def gradient(images):
        score.asked += 1
        return np.broadcast_to(weights, images.shape)

    score.gradient = gradient
    return score


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("norm", ["linf", "l2"])
def test_linear_scores_are_reached_by_the_closed_form(norm, own):
    """The nearest image of a linear score is along its weights: need / |w|_1 by Linf, need / |w|_2 by L2."""
    f, weights = linear()
    image = np.full((5, 6), 0.5)
    start = f(image[None])[0]
    need = 0.2 * np.abs(weights).sum()
    model = with_gradient(f, weights) if own else f
    found = ImageExplainer(model).adversarial(image, target=f">= {start + need}", kind="gradient", norm=norm)
    size = need / (np.abs(weights).sum() if norm == "linf" else np.sqrt((weights**2).sum() * weights.size))
    assert found.valid
    assert size <= found.distance <= 1.02 * size
    assert found.gradients == ("model" if own else "differences")
    assert (model.asked > 0) if own else True
    assert f(found.changed[None])[0] >= start + need
    np.testing.assert_allclose(found.values, found.changed - image)
    assert found.noise == 0
    assert found.draws == 20


def test_bytes_stay_bytes_and_transparency_stays():
    f, weights = linear(1, (4, 4, 4))
    image = np.random.default_rng(2).integers(60, 190, size=(4, 4, 4)).astype(np.uint8)
    start = f(image[None])[0]
    found = ImageExplainer(with_gradient(f, weights)).adversarial(image, target=f">= {start + 300}", kind="gradient")
    assert found.changed.dtype == np.uint8
    assert (found.changed[..., 3] == image[..., 3]).all()
    needed = np.ceil(300 / np.abs(weights[..., :3]).sum())
    assert round(found.distance * 255) == needed  # no whole number of levels is smaller
    assert f(found.changed[None].astype(float))[0] >= start + 300
    assert found.plot().spec


def test_several_steps_find_less_than_one_around_a_bend():
    """Steps turn with the gradient; one step goes straight on."""

    def f(images):
        a, b = images[:, 0, 0] - 0.5, images[:, 0, 1] - 0.5
        return a * b + 0.2 * a - 0.01 * b

    image = np.full((2, 2), 0.5)
    one, many = (
        ImageExplainer(f).adversarial(image, target=">= 0.1", kind="gradient", steps=steps) for steps in (1, 20)
    )
    assert not one.valid
    assert 0.2351 < many.distance < 0.25  # a = b = r with r^2 + 0.19 r = 0.1 is the least


def test_digits_are_fooled_by_less_than_noise_does(golden, tmp_path):
    from sklearn.datasets import load_digits
    from sklearn.linear_model import LogisticRegression

    some = load_digits()
    model = LogisticRegression(max_iter=300).fit(some.data / 16, some.target)
    ex = ImageExplainer(model)
    found = ex.adversarial([image / 16 for image in some.images[:4]], kind="gradient")
    for image, one in zip(some.images, found, strict=False):
        assert one.valid
        assert one.distance < 0.3
        assert one.noise <= 0.1
        assert model.predict(one.changed.reshape(1, -1)) != model.predict(image.reshape(1, -1) / 16)
    golden("image", "gradient attack", masked(found[0].text()))
    assert pellucid.load(found[0].save(tmp_path / "one.json")) == found[0]
    frame = found[0].frame()
    assert list(frame) == ["y", "x", "value", "changed"]
    assert len(frame) == 64
    assert found[0].plot().spec


def test_what_fails_is_said(golden):
    image = np.full((4, 4), 0.5)
    stepwise = ImageExplainer(lambda images: (images.mean(axis=(1, 2)) > 0.7).astype(float))
    found = stepwise.adversarial(image, target="> 0.5", kind="gradient")
    assert (found.valid, found.flat, found.distance) == (False, True, np.inf)
    golden("image", "gradient attack that is flat", found.text())
    assert found.plot().spec
    there = stepwise.adversarial(image, target="< 0.5", kind="gradient")
    assert there.already
    bright = ImageExplainer(lambda images: images.mean(axis=(1, 2)))
    short = bright.adversarial(image, target="> 0.99", kind="gradient", budget=40)
    assert "budget-spent" in {caveat.code for caveat in short.caveats}
    never = bright.adversarial(image, target="> 2", kind="gradient", steps=2)
    assert not never.valid
    golden("image", "gradient attack in vain", never.text())
    with pytest.raises(InputError, match="gradient"):
        bright.adversarial(np.zeros((80, 80)), target="> 0.5", kind="gradient")
    with pytest.raises(InputError, match="n, max_changes"):
        bright.adversarial(image, target="> 0.6", kind="gradient", n=2)
    with pytest.raises(InputError, match="norm"):
        bright.adversarial(image, target="> 0.6", kind="gradient", norm="l7")


def test_an_image_on_the_border_is_turned_by_noise_too():
    image = np.full((6, 6), 0.5)
    ex = ImageExplainer(lambda images: np.abs(images - 0.5).sum(axis=(1, 2)) + images.sum(axis=(1, 2)) * 1e-3)
    found = ex.adversarial(image, target=">= 0.8", kind="gradient")
    assert found.valid
    assert found.noise > 0.2
    assert "anyway" in found.text()


def test_torch_modules_give_their_own_gradients():
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Flatten(), torch.nn.Linear(36, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3), torch.nn.Softmax(dim=1)
    )
    image = np.random.default_rng(0).uniform(size=(6, 6))
    ex = ImageExplainer(model, class_names=["a", "b", "c"])
    found = ex.adversarial(image, kind="gradient")
    assert found.gradients == "model"
    assert found.valid
    with torch.no_grad():
        said = [int(model(torch.tensor(each[None], dtype=torch.float32)).argmax()) for each in (image, found.changed)]
    assert said[0] != said[1]
