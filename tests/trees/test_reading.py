"""Reading a model's trees once: only the columns they compare, sparse tables in portions."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from sklearn.tree import DecisionTreeRegressor

import pellucid
from limits import limited
from pellucid.reading import trees as reading
from pellucid.trees.convert import convert


def wide(n=300, columns=4_000):
    """Counts as of words: few cells are filled, few columns matter."""
    rng = np.random.default_rng(0)
    X = sparse.random_array((n, columns), density=0.01, rng=rng, format="csr") * 5.0
    y = X[:, [7]].toarray()[:, 0] - 2 * X[:, [900]].toarray()[:, 0] + rng.normal(size=n) * 0.01
    return sparse.csr_matrix(X), y


def test_only_the_columns_that_are_compared_are_kept():
    X, y = wide()
    whole = convert(DecisionTreeRegressor(max_depth=3, random_state=0).fit(X, y))
    narrow = reading.narrowed(whole)
    assert narrow.ensemble.n_features < 10 < whole.ensemble.n_features
    np.testing.assert_array_equal(narrow.ensemble.predict(narrow.encode(X)), whole.ensemble.predict(whole.encode(X)))
    np.testing.assert_array_equal(narrow.source, np.unique(whole.ensemble.nodes.feature)[1:])


def test_a_model_without_splits_is_left_alone():
    model = convert(DecisionTreeRegressor().fit(np.zeros((4, 3)), np.zeros(4)))
    assert reading.narrowed(model) is model


def test_a_sparse_table_is_never_filled_in_as_a_whole():
    X, y = wide(n=2_000)
    model = DecisionTreeRegressor(max_depth=4, random_state=0).fit(X, y)
    pellucid.Explainer(model, X[:50], progress=False, checks=False).shap([0])  # loads the compiler, once
    explainer = limited(pellucid.Explainer(model, X, progress=False, checks=False), portion_bytes=2**22)
    tracemalloc.start()
    found = explainer.shap(list(range(20)))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < X.shape[0] * X.shape[1] * 8 / 4  # a quarter of what the filled table would take
    np.testing.assert_allclose(found.base + found.values.sum(axis=1), model.predict(X[:20]), atol=1e-9)


def test_trees_and_model_agree_on_sparse_rows():
    X, y = wide()
    model = DecisionTreeRegressor(max_depth=4, random_state=0).fit(X, y)
    sparse_rows = pellucid.Explainer(model, X, progress=False, checks=False).shap([0, 1, 2, 3, 4])
    dense_rows = pellucid.Explainer(model, X.toarray(), progress=False, checks=False).shap([0, 1, 2, 3, 4])
    np.testing.assert_allclose(sparse_rows.values, dense_rows.values, atol=1e-12)


def test_the_reason_is_remembered():
    explainer = pellucid.Explainer(lambda X: X[:, 0], np.zeros((30, 2)), progress=False)
    with pytest.raises(pellucid.InputError, match="not a tree model"):
        explainer.shap(0, method="tree")
