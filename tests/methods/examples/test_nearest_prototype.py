"""The nearest-prototype model: a scikit-learn estimator whose predictions are explained by rows."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.utils.estimator_checks import parametrize_with_checks

from pellucid import InputError
from pellucid.glassbox import NearestPrototype


@parametrize_with_checks([NearestPrototype(), NearestPrototype(n=4, kernel="laplace")])
def test_it_is_an_estimator(estimator, check):
    check(estimator)


def test_a_prediction_is_the_class_of_the_row_that_explains_it():
    X, y = load_digits(return_X_y=True)
    model = NearestPrototype(n=40).fit(X[:600], y[:600])
    assert len(model.prototypes_) == 40
    assert set(model.prototype_classes_) == set(range(10))
    np.testing.assert_array_equal(model.predict(X[600:800]), y[:600][model.explain(X[600:800])])
    assert (model.predict(X[600:800]) == y[600:800]).mean() > 0.8


def test_cross_validation_takes_the_fewest_that_do():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(c, 0.3, size=(40, 2)) for c in ((0, 0), (4, 4), (0, 4), (4, 0))])
    y = np.repeat([0, 0, 1, 1], 40)  # exclusive or: two prototypes are not enough
    model = NearestPrototype(kernel="cv", width="cv").fit(X, y)
    assert model.n_prototypes_ == 4
    assert len(model.scores_) == 2 * 3 * 5
    assert model.score(X, y) == 1.0


def test_errors_name_the_argument():
    X, y = np.arange(20.0).reshape(10, 2), np.repeat([0, 1], 5)
    for options, word in (
        ({"n": 0}, "n must be"),
        ({"n": 11}, "n must be"),
        ({"kernel": "cosine"}, "kernel="),
        ({"width": -1}, "width must be"),
        ({"folds": 1}, "folds must be"),
    ):
        with pytest.raises(InputError, match=word):
            NearestPrototype(**options).fit(X, y)
