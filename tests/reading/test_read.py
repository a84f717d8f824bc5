"""One function says what explains some rows: the trees of a model, its sum over the features, or the model, asked."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neural_network import MLPRegressor

from pellucid import Explainer
from pellucid.errors import InputError
from pellucid.reading import Asked, ExplainedTrees, SumRows, TreeRows, read

X = np.random.default_rng(0).normal(size=(60, 3))
Y = X[:, 0] - 2 * X[:, 1]


def found(ex, background=None, rows=range(3), **options):
    """What is read of an Explainer's model for a few rows; the background is all rows."""
    run, data = ex._run("reading"), ex.data
    return read(run, ex.predictor, data, data.rows(rows), background or (lambda _: data), **options)


def never(_):
    raise AssertionError("not needed")


def test_trees_serve_and_nothing_else_is_looked_at():
    ex = Explainer(RandomForestRegressor(5, random_state=0).fit(X, Y), X)
    trees = found(ex, never, rows=range(30))
    assert isinstance(trees, TreeRows)
    assert not isinstance(trees, ExplainedTrees)
    assert trees.matrix.shape == (30, 3)
    explained = found(ex, never, rows=range(30), predicted=True)
    assert isinstance(explained, ExplainedTrees)
    np.testing.assert_allclose(explained.prediction[:, 0], ex.predictor.model.predict(X[:30]), rtol=1e-12)


def test_a_sum_serves():
    model = Ridge().fit(X, Y)
    terms = found(Explainer(model, X))
    assert isinstance(terms, SumRows)
    np.testing.assert_allclose(terms.prediction[:, 0], model.predict(X[:3]), rtol=1e-12)
    np.testing.assert_array_equal(terms.slopes[:, 0], model.coef_)


def test_a_model_that_is_asked_says_why():
    asked = found(Explainer(MLPRegressor(hidden_layer_sizes=(3,), tol=1.0, random_state=0).fit(X, Y), X))
    assert isinstance(asked, Asked)
    assert asked.trees.kind == "no trees"
    assert "MLPRegressor is not a linear model" in asked.sums.reason


def test_a_sum_before_its_link_serves_those_who_know_links():
    ex = Explainer(LogisticRegression().fit(X, Y > 0), X)
    assert "its logit link" in found(ex).sums.reason
    terms = found(ex, linked=True)
    assert isinstance(terms, SumRows)
    assert (terms.link, terms.keep) == ("logit", (0,))
    np.testing.assert_allclose(terms.prediction[:, 0], ex.predictor.model.decision_function(X[:3]), rtol=1e-12)
    odds = found(Explainer(LogisticRegression().fit(X, Y > 0), X, link="logit"))
    assert odds.link == "identity"


def test_what_may_not_serve_does_not():
    forest = Explainer(RandomForestRegressor(5, random_state=0).fit(X, Y), X)
    asked = found(forest, trees=False)
    assert asked.trees.reason == "they were not asked for"
    assert "RandomForestRegressor" in asked.sums.reason
    assert isinstance(found(Explainer(Ridge().fit(X, Y), X), never, sums=False), Asked)


def test_a_model_that_is_no_sum_is_looked_at_once():
    ex = Explainer(lambda X: X[:, 0], X)
    reasons = [found(ex).sums for _ in range(3)]
    assert reasons[0].reason
    assert reasons[0] is reasons[1] is reasons[2]


def test_a_sparse_answer_is_none_of_the_path_game():
    """The marginal game was played under its name."""
    ex = Explainer(RandomForestRegressor(5, random_state=0).fit(X, Y), X)
    with pytest.raises(InputError, match=r"sparse=2 is answered by method='kernel' .* not by game='path'"):
        ex.shap(0, game="path", sparse=2)
    assert ex.shap(0, sparse=2).game == "marginal"
