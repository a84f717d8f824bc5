"""EX-10: a support vector machine fitted to noise finds important features in its training data only."""

from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.svm import SVR

from pellucid import Explainer
from reference.r_random import RRandom

N, P = 200, 50
NAMES = [f"X{j + 1}" for j in range(P)]


@dataclass(frozen=True)
class Garbage:
    """set.seed(1); X, y, then a second sample, all standard normal; R's svm scales inputs and outcome."""

    X: np.ndarray
    y: np.ndarray
    test_X: np.ndarray
    test_y: np.ndarray

    def scaled(self, X):
        return (X - self.X.mean(axis=0)) / self.X.std(axis=0, ddof=1)

    def fit(self):
        target = (self.y - self.y.mean()) / self.y.std(ddof=1)
        return SVR(C=1.0, gamma=1 / P, epsilon=0.1).fit(self.scaled(self.X), target)


@pytest.fixture(scope="module")
def garbage():
    r = RRandom(1)
    X, y = r.rnorm(N * P).reshape(P, N).T, r.rnorm(N)
    return Garbage(X, y, r.rnorm(N * P).reshape(P, N).T, r.rnorm(N))


@pytest.fixture(scope="module")
def machine(garbage):
    """The machine's own formula, several times faster than its predict: four million rows are asked."""
    fitted = garbage.fit()
    # exp(-|x - s|^2 / P) = exp(-|x|^2 / P) exp(2 x.s / P) exp(-|s|^2 / P)
    vectors = 2 / P * fitted.support_vectors_.T
    weights = fitted.dual_coef_[0] * np.exp(-np.square(fitted.support_vectors_).sum(axis=1) / P)

    def predict(X):
        scaled, out = garbage.scaled(X), np.empty(len(X))
        for start in range(0, len(X), 1024):
            products = scaled[start : start + 1024] @ vectors
            out[start : start + 1024] = np.exp(products, out=products) @ weights
        out = out * np.exp(-np.square(scaled).sum(axis=1) / P) + fitted.intercept_[0]
        return out * garbage.y.std(ddof=1) + garbage.y.mean()

    own = fitted.predict(garbage.scaled(garbage.test_X)) * garbage.y.std(ddof=1) + garbage.y.mean()
    np.testing.assert_allclose(predict(garbage.test_X), own, atol=1e-12)
    return predict


def test_ex_10_errors_of_the_machine(garbage, machine):
    def mae(y, p):
        return np.abs(y - p).mean()

    assert mae(garbage.y, machine(garbage.X)) == pytest.approx(0.2929, abs=5e-5)
    assert mae(garbage.test_y, machine(garbage.test_X)) == pytest.approx(0.8227, abs=5e-5)
    assert mae(garbage.test_y, garbage.y.mean()) == pytest.approx(0.7798, abs=5e-5)


def test_ex_10_importance_on_training_data(garbage, machine):
    explainer = Explainer(machine, garbage.X, garbage.y, feature_names=NAMES)
    held_out = (garbage.test_X, garbage.test_y)
    result = explainer.importance(scheme="pairs", loss="mae", compare="ratio", holdout=held_out)
    assert result.baseline == pytest.approx(0.2929, abs=5e-5)
    assert result.top(3) == ["X42", "X44", "X20"]
    np.testing.assert_allclose(result.values[result.ranking[:3]], [1.154, 1.144, 1.102], atol=5e-4)
    assert np.median(result.values) == pytest.approx(1.070, abs=5e-4)
    flag = next(caveat for caveat in result.caveats if caveat.code == "overfitted")
    assert flag.value == pytest.approx(0.8227 / 0.2929, abs=1e-3)


def test_ex_10_importance_on_test_data(garbage, machine):
    explainer = Explainer(machine, garbage.test_X, garbage.test_y, feature_names=NAMES)
    result = explainer.importance(scheme="pairs", loss="mae", compare="ratio")
    assert result.values[NAMES.index("X42")] == pytest.approx(0.9988, abs=5e-5)
    assert result.values.min() == pytest.approx(0.992, abs=5e-4)
    assert result.values.max() == pytest.approx(1.007, abs=5e-4)
    assert "poor-model" in {caveat.code for caveat in result.caveats}
