"""The shapes of the results do not depend on the way: one output, several classes, several targets."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from pellucid import Explainer

P = 7
X = np.random.default_rng(0).normal(size=(60, P))
MODELS = {
    "regression": (lambda: KNeighborsRegressor().fit(X, X[:, 0]), ()),
    "binary": (lambda: KNeighborsClassifier().fit(X, X[:, 0] > 0), ()),
    "three classes": (lambda: KNeighborsClassifier().fit(X, np.digitize(X[:, 0], [-0.5, 0.5])), (3,)),
    "two targets": (lambda: KNeighborsRegressor().fit(X, X[:, :2]), (2,)),
    "two linear targets": (lambda: LinearRegression().fit(X, X[:, :2]), (2,)),
}
WAYS = {
    "auto": {},
    "exact": {"method": "exact"},
    "kernel": {"method": "kernel", "budget": 3 * 10 * 2 * 20},
    "trees as stand-ins": {"method": "kernel", "budget": 3 * 10 * 2 * 40, "proxy": "trees"},
    "permutation": {"method": "permutation", "budget": 3 * 13 * 20},
    "sparse": {"sparse": 2},
    "conditional": {"game": "conditional"},
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("way", WAYS)
def test_rows_features_and_outputs_last(name, way):
    build, outputs = MODELS[name]
    ex = Explainer(build(), X, background=10, progress=False, checks=False)
    found = ex.shap([0, 1, 2], **WAYS[way])
    assert found.values.shape == found.se.shape == (3, P, *outputs)
    assert found.base.shape == outputs
    assert found.prediction.shape == (3, *outputs)
    np.testing.assert_allclose(found.residual, 0, atol=1e-8)
    if "sparse" not in way and "permutation" not in way and "stand-ins" not in way:
        pairs = ex.shap([0, 1, 2], interactions=True, **WAYS[way]).interaction_values
        assert pairs.shape == (3, P, P, *outputs)
        np.testing.assert_allclose(pairs, np.swapaxes(pairs, 1, 2), atol=1e-10)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("order", [None, "all", [f"x{j}" for j in reversed(range(P))]])
def test_steps_have_the_same_shapes(name, order):
    build, outputs = MODELS[name]
    found = Explainer(build(), X, background=10, progress=False, checks=False).breakdown([0, 1], order=order)
    assert found.values.shape == (2, P, *outputs)
    np.testing.assert_allclose(found.residual, 0, atol=1e-8)
