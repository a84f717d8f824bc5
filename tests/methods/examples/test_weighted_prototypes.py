"""Prototypes with weights, against all sets of rows with their best weights."""

import numpy as np
import pytest

from golden_files import masked
from pellucid import Explainer
from pellucid.charts.prototypes.table import table_data
from pellucid.data.similarity import Points, Similarity
from pellucid.methods.examples import mmd, weighted
from reference import mmd as slow


def kernel(x, z, width=1.0):
    return slow.rbf(x, z, width)


def prepared(X):
    similarity = Similarity(Points(X), "rbf", 1.0)
    kappa = similarity.means(np.ones(len(X)))
    return similarity, kappa, {"spread": float(kappa.mean()), "allowed": np.ones(len(X), bool)}


def cloud(seed, n=12):
    return np.random.default_rng(seed).normal(size=(n, 2))


def explainer(X, **options):
    return Explainer(lambda X: X[:, 0], X, progress=False, **options)


def test_rows_and_weights_are_often_the_best_of_all_sets():
    over = []
    for seed in range(6):
        X = cloud(seed, 10)
        similarity, kappa, known = prepared(X)
        path = weighted.greedy(similarity, kappa, 3, **known)
        found = weighted.exchanged(similarity, kappa, path, **known)
        assert found.mmd2 == pytest.approx(slow.weighted_mmd2(X[found.chosen], X, kernel), abs=1e-6)
        assert found.mmd2 <= path.mmd2
        assert found.weights.sum() == pytest.approx(1)
        assert found.weights.min() >= 0
        over.append(found.mmd2 / slow.best_weighted(X, 3, kernel))
    assert np.median(over) < 1.02
    assert max(over) < 2.3


def test_the_greedy_search_takes_the_row_that_helps_most():
    X = cloud(7)
    similarity, kappa, known = prepared(X)
    found, chosen = weighted.greedy(similarity, kappa, 4, **known), []
    for m in range(4):
        left = [i for i in range(len(X)) if i not in chosen]
        values = [slow.weighted_mmd2(X[[*chosen, i]], X, kernel) for i in left]
        chosen.append(left[int(np.argmin(values))])
        assert found.curve[m] == pytest.approx(min(values), abs=1e-3)  # the sum of weights is 1 but for a little
    assert found.chosen.tolist() == chosen


def test_an_exchange_leaves_what_fitting_anew_would():
    X = cloud(4)
    similarity, kappa, _ = prepared(X)
    chosen = np.array([0, 5, 9])
    fit = weighted._Fit(chosen.copy(), np.stack([similarity.column(j) for j in chosen]), kappa)
    for a, j in ((1, 7), (2, 3), (1, 5)):
        gain, loss = fit.gain_without(a, np.ones(12, bool))[j], fit.loss(a)
        before = _objective(fit, kappa)
        fit.exchange(a, j, similarity.column(j))
        assert _objective(fit, kappa) == pytest.approx(before + loss - gain, abs=1e-9)
        anew = weighted._Fit(fit.chosen, fit.columns, kappa)
        for part in ("w", "inverse", "along", "r", "v"):
            np.testing.assert_allclose(getattr(fit, part), getattr(anew, part), atol=1e-7)


def _objective(fit, kappa):
    """What is minimised but for a constant, at the best weights of any sign."""
    return -fit.w @ (kappa[fit.chosen] + weighted._SUM)


def test_no_single_exchange_lowers_it():
    X = cloud(3, 14)
    similarity, kappa, known = prepared(X)
    found = weighted.exchanged(similarity, kappa, weighted.greedy(similarity, kappa, 3, **known), **known)
    for a in range(3):
        for j in np.setdiff1d(np.arange(14), found.chosen):
            other = found.chosen.copy()
            other[a] = j
            assert slow.weighted_mmd2(X[other], X, kernel) >= found.mmd2 - 1e-6


def test_mmd2_is_lower_than_with_the_best_weights_of_rows_that_count_alike():
    X = np.random.default_rng(0).normal(size=(300, 4))
    ex = explainer(X)
    alike, found = ex.prototypes(12), ex.prototypes(12, criticisms=3, method="weighted")
    assert found.mmd2 <= 0.9 * alike.discrepancy.weighted
    assert found.mmd2 == pytest.approx(found.discrepancy.weighted, abs=1e-9)
    weights = found.discrepancy.weights
    assert weights.sum() == pytest.approx(1)
    similarity = Similarity(Points((X - X.mean(axis=0)) / X.std(axis=0)), "rbf", found.discrepancy.width)
    rows = np.concatenate([found.prototypes, found.criticisms]).astype(int)
    expected = similarity.means(np.ones(300)) - similarity.block(slice(None), rows[:12]) @ weights
    np.testing.assert_allclose(found.witness, expected[rows], atol=1e-7)


def test_it_goes_with_classes_samples_and_row_weights():
    X = np.random.default_rng(1).normal(size=(90, 2))
    y = np.repeat([0, 1, 2], 30)
    ex = Explainer(lambda X: np.eye(3)[np.clip(X[:, 0] + 1, 0, 2).astype(int)], X, y, progress=False)
    found = ex.prototypes(9, method="weighted", by="class", criticisms=2)
    assert len(set(found.groups[:9])) == 3
    sampled = explainer(X).prototypes(5, method="weighted", sample=60)
    assert sampled.discrepancy.se > 0
    zero = explainer(X, sample_weight=np.where(np.arange(90) < 45, 0, 1)).prototypes(6, method="weighted")
    assert zero.prototypes.min() >= 45
    assert len(explainer(X).prototypes(method="weighted").prototypes) >= 1  # as many as the elbow says


def test_equal_rows_are_no_harm():
    X = np.repeat([[0.0, 0.0], [1.0, 1.0], [3.0, 0.0]], 8, axis=0)
    found = explainer(X).prototypes(5, method="weighted")
    assert found.mmd2 == pytest.approx(0, abs=1e-6)
    assert len(set(found.prototypes.tolist())) == 5
    every = explainer(X[:6] + np.arange(6)[:, None]).prototypes(6, method="weighted")
    np.testing.assert_allclose(every.discrepancy.weights, 1 / 6, atol=1e-3)


def test_a_prototype_without_weight_is_replaced():
    X = np.array([0.0] * 20 + [2.0] * 20 + [1.0, 5.0])[:, None]  # the one in the middle should count less than nothing
    similarity = Similarity(Points(X), "rbf", 2.0)
    kappa = similarity.means(np.ones(42))
    chosen = np.array([0, 20, 40])
    columns = np.stack([similarity.column(j) for j in chosen])
    path = mmd.Selection(chosen, columns, np.empty(0), np.inf, np.empty(3))
    start = weighted.first(path, 3, kappa, float(kappa.mean()))
    assert start.weights[2] == 0
    found = weighted._filled(similarity, kappa, start, float(kappa.mean()), ~np.isin(np.arange(42), chosen))
    assert found.chosen.tolist() == [0, 20, 41]
    assert found.mmd2 < start.mmd2


def test_sentences(golden):
    days = np.random.default_rng(2).normal(size=(80, 2)) * [1, 3]
    found = explainer(days).prototypes(3, criticisms=1, method="weighted")
    golden("prototypes", "weighted", masked(found.text()))
    assert "weight" in table_data(found, 5, 5)[2]
    assert "weight" not in table_data(explainer(days).prototypes(3), 5, 5)[2]
