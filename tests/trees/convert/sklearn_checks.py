"""What every converted scikit-learn model has to pass."""

import numpy as np
import pandas as pd

from pellucid.trees.convert.registry import convert
from pellucid.trees.convert.tree_model import TreeModel

N_FEATURES = 5


def data(n=300, *, seed=0, missing=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, N_FEATURES)) * [1, 10, 0.1, 1000, 1]
    y = X[:, 0] * X[:, 1] + 30 * X[:, 2] + np.where(X[:, 3] > 200, 5, 0) + rng.normal(size=n)
    X[rng.random(X.shape) < missing] = np.nan
    return X, y


def labels(y, n_classes=3):
    """String classes of about equal size."""
    return np.array(["a", "b", "c", "d"])[np.searchsorted(np.quantile(y, np.arange(1, n_classes) / n_classes), y)]


def on_the_edge(X, feature, threshold, limit=400):
    """Rows with a value exactly on a split, one single and one double to each side, and on a tie between singles."""
    inner = np.flatnonzero(feature >= 0)[:limit]
    rows = []
    for j, t in zip(feature[inner], threshold[inner], strict=True):
        if not np.isfinite(t):
            continue
        single = np.float32(t)
        above, below = np.nextafter(single, np.float32(np.inf)), np.nextafter(single, np.float32(-np.inf))
        ties = [(float(single) + float(above)) / 2, (float(single) + float(below)) / 2]
        near = [t, float(single), float(above), float(below), np.nextafter(t, np.inf), np.nextafter(t, -np.inf)]
        near += ties + [np.nextafter(tie, side) for tie in ties for side in (np.inf, -np.inf)]
        block = np.repeat(X[len(rows) % len(X)][None], len(near), axis=0)
        block[:, j] = near
        rows.append(block)
    return np.vstack([X, *rows])


def edges_of(model, X):
    """The same, with the splits of scikit-learn's own trees."""
    trees = [t.tree_ for t in np.ravel(getattr(model, "estimators_", model))]
    feature = np.concatenate([t.feature for t in trees])
    return on_the_edge(X, feature, np.concatenate([t.threshold for t in trees]))


def assert_predicts(model, table, expected, *, atol=1e-9) -> TreeModel:
    """The trees' scores are the library's, and the table is as it was."""
    before = table.copy()
    read = convert(model)
    matrix = read.encode(table)
    assert matrix.dtype == np.float64
    assert matrix.shape == (table.shape[0], read.ensemble.n_features)
    assert read.source.shape == (read.ensemble.n_features,)
    found = read.ensemble.predict(matrix)
    expected = np.asarray(expected)
    expected = expected.reshape(len(found), -1)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=atol, atol=atol)
    assert_same_table(table, before)
    assert_cover_adds_up(read)
    return read


def assert_same_table(table, before):
    if isinstance(table, pd.DataFrame):
        pd.testing.assert_frame_equal(table, before)
    elif hasattr(table, "toarray"):
        np.testing.assert_array_equal(table.toarray(), before.toarray())
    else:
        np.testing.assert_array_equal(table, before)


def assert_cover_adds_up(read):
    nodes = read.ensemble.nodes
    inner = nodes.feature >= 0
    assert inner.any()
    children = nodes.cover[nodes.left[inner]] + nodes.cover[nodes.right[inner]]
    np.testing.assert_allclose(children, nodes.cover[inner], rtol=1e-9)
    assert np.all(nodes.left[inner] > np.flatnonzero(inner))
    assert np.all(nodes.right[inner] > np.flatnonzero(inner))
    assert np.all(nodes.value[inner] == 0)


def assert_source(read, table, other):
    """A matrix column changes only with the input column it is said to come from.

    other: a table of the same kind, with other values in every column.
    """
    before = read.encode(table)
    moved = set()
    for j in range(table.shape[1]):
        changed = table.copy()
        if isinstance(table, pd.DataFrame):
            changed[table.columns[j]] = other[table.columns[j]].to_numpy()
        else:
            changed[:, j] = other[:, j]
        after = read.encode(changed)
        differs = ~((before == after) | (np.isnan(before) & np.isnan(after)))
        columns = np.flatnonzero(differs.any(axis=0))
        assert set(read.source[columns]) <= {j}
        moved |= set(columns.tolist())
    return moved
