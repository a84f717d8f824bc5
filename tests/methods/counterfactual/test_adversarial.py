"""Adversarial examples: the norms are what they say, and no change that was looked at is smaller."""

import numpy as np
import pytest

from pellucid import Explainer

SIZES = {
    "l0": lambda d: (d != 0).sum() + d.mean(),
    "l1": lambda d: d.sum(),
    "l2": lambda d: np.sqrt((d**2).sum()),
    "linf": lambda d: d.max(),
    "gower": lambda d: d.mean(),
}
WEIGHTS = np.array([3.0, 2.0, -1.0])


def box():
    X = np.random.default_rng(0).uniform(size=(300, 3))
    X[:2] = [[0, 0, 0], [1, 1, 1]]  # the ranges are 1
    return X


@pytest.mark.parametrize(
    ("norm", "least"),
    # From f = 0 to f >= 0.6: all by the norm that is dual to it.
    [("l1", 0.6 / 3), ("gower", 0.6 / 9), ("l2", 0.6 / np.sqrt(14)), ("linf", 0.6 / 6), ("l0", 1 + 0.6 / 9)],
)
def test_of_a_linear_model_the_smallest_change_is_that_of_the_dual_norm(norm, least):
    ex = Explainer(lambda X: (X - 0.5) @ WEIGHTS, box(), progress=False, checks=False)
    found = ex.adversarial(np.array([0.5, 0.5, 0.5]), ">= 0.6", norm=norm)
    size = SIZES[norm](np.abs(found.rows()[0] - 0.5))
    assert found.scores["distance"][0] == pytest.approx(size)
    assert least - 1e-9 <= size <= 1.1 * least
    assert found.valid.all()


def test_a_model_that_is_read_is_proven_robust():
    from sklearn.ensemble import RandomForestClassifier

    X = np.round(box(), 2)
    forest = RandomForestClassifier(10, max_depth=4, random_state=0).fit(X, X @ WEIGHTS > 2)
    ex = Explainer(forest, X, progress=False, checks=False)
    for norm in ("linf", "l1", "l2", "l0"):
        found = ex.adversarial(5, norm=norm)
        assert found.proven
        assert forest.predict(found.rows())[0] != forest.predict(X[[5]])[0]
        d = np.abs(found.rows()[0] - X[5]) / np.ptp(X, axis=0)
        assert found.scores["distance"][0] == pytest.approx(SIZES[norm](d))
        near = X[5] + np.random.default_rng(1).uniform(-1, 1, (2000, 3)) * np.ptp(X, axis=0) * 0.2
        sizes = np.array([SIZES[norm](np.abs(row - X[5]) / np.ptp(X, axis=0)) for row in np.round(near, 2)])
        other = forest.predict(np.round(near, 2)) != forest.predict(X[[5]])[0]
        assert not (other & (sizes < found.scores["distance"][0] - 1e-9)).any()
