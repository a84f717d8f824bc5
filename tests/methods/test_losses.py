"""Losses equal scikit-learn's metrics, row weights included."""

import numpy as np
import pytest
from sklearn import metrics

from pellucid import InputError
from pellucid.losses import find_loss, weighted_auc
from versions import needs

N = 60


@pytest.fixture(params=["equal", "random"])
def mass(request):
    return np.ones(N) if request.param == "equal" else np.random.default_rng(2).uniform(0.1, 3.0, N)


def probabilities(classes, seed=0):
    raw = np.random.default_rng(seed).exponential(size=(N, classes))
    return raw / raw.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(
    ("name", "theirs"),
    [
        ("mse", metrics.mean_squared_error),
        ("mae", metrics.mean_absolute_error),
        ("rmse", metrics.root_mean_squared_error),
        ("1-r2", lambda y, p, sample_weight: 1 - metrics.r2_score(y, p, sample_weight=sample_weight)),
    ],
)
def test_regression_losses(name, theirs, mass):
    rng = np.random.default_rng(1)
    y, p = rng.normal(size=(2, N, 1))
    loss = find_loss(name, "regression")
    assert loss(y, p, mass) == pytest.approx(theirs(y, p, sample_weight=mass), rel=1e-12)
    if loss.rows is not None:
        assert np.average(loss.rows(y, p), weights=mass) == pytest.approx(loss(y, p, mass), rel=1e-12)


@pytest.mark.parametrize("name", ["mse", "mae"])
def test_regression_losses_of_several_outputs_are_averaged(name, mass):
    y, p = np.random.default_rng(1).normal(size=(2, N, 3))
    theirs = {"mse": metrics.mean_squared_error, "mae": metrics.mean_absolute_error}[name]
    assert find_loss(name, "regression")(y, p, mass) == pytest.approx(theirs(y, p, sample_weight=mass), rel=1e-12)


@needs("scikit-learn", "1.7")
@pytest.mark.parametrize("classes", [2, 4])
def test_log_loss_brier_and_error(classes, mass):
    p = probabilities(classes)
    y = np.random.default_rng(3).integers(0, classes, N).astype(float)
    labels = np.arange(classes)
    expected = {
        "log_loss": metrics.log_loss(y, p, labels=labels, sample_weight=mass),
        "brier": metrics.brier_score_loss(
            y, p if classes > 2 else p[:, 1], labels=labels, pos_label=1 if classes == 2 else None, sample_weight=mass
        ),
        "error": 1 - metrics.accuracy_score(y, p.argmax(axis=1), sample_weight=mass),
    }
    for name, value in expected.items():
        assert find_loss(name, "classification")(y, p, mass) == pytest.approx(value, rel=1e-12), name


def test_auc_with_ties_and_weights(mass):
    rng = np.random.default_rng(4)
    y = rng.integers(0, 2, N)
    score = rng.integers(0, 6, N) / 5.0
    assert weighted_auc(y == 1, score, mass) == pytest.approx(
        metrics.roc_auc_score(y, score, sample_weight=mass), rel=1e-12
    )
    p = np.column_stack([1 - score, score])
    loss = find_loss("auc", "classification")
    assert loss(y.astype(float), p, mass) == pytest.approx(1 - metrics.roc_auc_score(y, score, sample_weight=mass))


def test_auc_of_several_classes_is_one_against_the_rest(mass):
    p = probabilities(3)
    y = np.random.default_rng(5).integers(0, 3, N)
    theirs = metrics.roc_auc_score(y, p, multi_class="ovr", average="macro", sample_weight=mass)
    assert find_loss("1-auc", "classification")(y.astype(float), p, mass) == pytest.approx(1 - theirs, rel=1e-12)


def test_auc_is_the_share_of_pairs_in_order():
    positive, score = np.array([True, True, False, False]), np.array([0.9, 0.4, 0.4, 0.1])
    # Pairs: (0.9, 0.4) and (0.9, 0.1) in order, (0.4, 0.4) half, (0.4, 0.1) in order.
    assert weighted_auc(positive, score, np.ones(4)) == 3.5 / 4
    with pytest.raises(InputError, match="both classes"):
        weighted_auc(np.ones(4, dtype=bool), score, np.ones(4))


def test_log_loss_of_a_certain_error_is_finite():
    value = find_loss("log_loss", "classification")(np.array([1.0]), np.array([[1.0, 0.0]]), np.ones(1))
    assert value == pytest.approx(-np.log(1e-15))


def test_own_losses_get_weights_only_if_they_ask():
    y, p = np.random.default_rng(6).normal(size=(2, N, 1))
    mass = np.arange(1.0, N + 1)

    def largest(y, p):
        return np.abs(y - p).max()

    def weighted(y, p, sample_weight):
        return metrics.mean_absolute_error(y, p, sample_weight=sample_weight)

    assert find_loss(largest, "regression")(y, p, np.ones(N)) == np.abs(y - p).max()
    assert find_loss(weighted, "regression")(y, p, mass) == pytest.approx(np.average(np.abs(y - p)[:, 0], weights=mass))
    with pytest.raises(InputError, match="ignores sample_weight"):
        find_loss(largest, "regression")(y, p, mass)


@pytest.mark.parametrize(
    ("loss", "task", "message"),
    [
        ("auc", "regression", "is a classification loss"),
        ("mse", "classification", "is a regression loss"),
        ("msee", "regression", "not known"),
        (3, "regression", "is an int"),
    ],
)
def test_wrong_losses_are_refused(loss, task, message):
    with pytest.raises(InputError, match=message):
        find_loss(loss, task)


def test_default_losses():
    assert find_loss(None, "regression").name == "mse"
    assert find_loss(None, "classification").name == "log_loss"
