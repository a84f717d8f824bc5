"""The numbers that stand beside prototypes, each against its definition written out."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from pellucid import Explainer
from pellucid.data import Data
from pellucid.data.embedding import standardised
from pellucid.data.similarity import Points, Remembered, Similarity
from pellucid.methods.examples import mmd
from pellucid.methods.examples.estimation import describe, sensitivity
from pellucid.methods.examples.estimation.number import silhouettes
from pellucid.methods.examples.estimation.space import Space
from reference import mmd as slow


def test_silhouettes_are_those_of_the_two_nearest_prototypes():
    X, w = np.random.default_rng(0).normal(size=(30, 2)), np.random.default_rng(1).integers(0, 3, 30).astype(float)
    X[7] = X[3]  # a row equal to a prototype, and one equal to two
    chosen = [3, 9, 7, 20]
    similarity = Similarity(Points(X), "rbf", 1.0)
    found = silhouettes(np.stack([similarity.column(j) for j in chosen]), w)
    assert found[0] == 0
    for m in (2, 3, 4):
        each = []
        for x in X:
            a, b = sorted(np.sqrt(2 - 2 * slow.rbf(x, X[j], 1.0)) for j in chosen[:m])[:2]
            each.append((b - a) / b if b > 0 else 0.0)
        assert found[m - 1] == pytest.approx(np.average(each, weights=w), abs=1e-7)


def test_contrasts_are_differences_of_weighted_means_over_known_numbers():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(40, 3))
    X[rng.random((40, 3)) < 0.2] = np.nan
    data = Data.of(pd.DataFrame(X, columns=list("abc")), sample_weight=rng.integers(1, 4, 40).astype(float))
    owner, chosen, w = rng.integers(-1, 3, 40), np.array([1, 5, 9]), data.weights
    found = describe.contrasts(data, owner, chosen)
    for j in range(3):
        known = ~np.isnan(X[:, j]) & (owner >= 0)
        mean = np.average(X[known, j], weights=w[known])
        sd = np.sqrt(w[known] @ np.square(X[known, j] - mean) / w.sum())
        for k, row in enumerate(chosen):
            inside = owner == k
            lift = w[inside & known] @ (X[inside & known, j] - mean) / w[inside].sum() / sd
            same_side = known[row] and lift * (X[row, j] - mean) > 0
            assert found[k, j] == pytest.approx(lift if same_side else 0.0, abs=1e-12)


def test_points_measure_known_numbers_in_weighted_standard_deviations():
    X, w = np.array([[1.0, 5.0, 2.0], [2.0, 5.0, np.nan], [4.0, 5.0, 6.0], [9.0, 5.0, 4.0]]), np.array([1.0, 2, 3, 0])
    found = standardised(Data.of(X, sample_weight=w))
    mean = np.average(X[:, 0], weights=w)
    sd = np.sqrt(np.average(np.square(X[:, 0] - mean), weights=w))
    np.testing.assert_allclose(found[:, 0], (X[:, 0] - mean) / sd)
    assert found.shape == (4, 3)  # the constant has no column, the one with a gap has two
    np.testing.assert_allclose(found[:, 1], np.array([-3, 0, 1, -1]) / np.sqrt(3))  # about 5
    assert found[:, 2].tolist() == [0, 1, 0, 0]


@pytest.mark.parametrize("kernel", ["rbf", "laplace"])
def test_at_other_widths_mmd2_is_that_of_the_same_rows_with_another_kernel(kernel):
    X, chosen = np.random.default_rng(3).normal(size=(30, 2)), np.array([4, 11, 25])
    similarity = Similarity(Points(X), kernel, 1.2)
    kappa = similarity.means(np.ones(30))
    found = sensitivity.at_widths(
        Space(similarity, np.ones(30), kappa, float(kappa.mean())), chosen, (0.5, 2.0), mmd, np.random.default_rng(0)
    )
    for factor, (own, best, one) in zip((0.5, 2.0), found, strict=True):
        like = Similarity(Points(X), kernel, 1.2 * factor)
        gram = like.block(slice(None), slice(None))
        assert own == pytest.approx(
            gram[np.ix_(chosen, chosen)].mean() - 2 * gram[chosen].mean() + gram.mean(), abs=1e-7
        )
        assert one == pytest.approx(min(1 - 2 * gram.mean(axis=0)) + gram.mean(), abs=1e-7)
        assert best <= own


def test_columns_are_worked_out_once_and_the_same():
    similarity = Similarity(Points(np.random.default_rng(4).normal(size=(20, 2))), "rbf", 1.0)
    kept = Remembered(similarity)
    np.testing.assert_array_equal(kept.column(3), similarity.column(3))
    assert kept.column(3) is kept.column(3)
    assert len(kept) == 20


def test_columns_in_single_precision_choose_the_same_prototypes():
    X = np.random.default_rng(5).normal(size=(1500, 3))
    similarity = Similarity(Points(X), "rbf", 1.0)
    kappa, allowed = similarity.means(np.ones(1500)), np.ones(1500, bool)
    spread = float(kappa.mean())
    path = mmd.greedy(similarity, kappa, 8, spread=spread, allowed=allowed)
    single = replace(path, columns=path.columns.astype(np.float32))
    found = [
        mmd.exchanged(similarity, kappa, each, spread=spread, allowed=allowed).chosen.tolist()
        for each in (path, single)
    ]
    assert path.columns.dtype == np.float64
    assert found[0] == found[1]


def test_prototypes_are_better_landmarks_of_the_kernel_than_random_rows():
    rng = np.random.default_rng(6)
    X = np.vstack([rng.normal(m, s, size=(60, 2)) for m, s in ((0, 0.3), (3, 0.6), (6, 1.0))])
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    found = Explainer(lambda X: X[:, 0], X, progress=False).prototypes(8)
    K = Similarity(Points(X), "rbf", found.discrepancy.width).block(slice(None), slice(None))

    def left_of_mean(rows):
        """How far the Nyström approximation from some rows leaves the mean embedding of all rows."""
        gap = K - K[:, rows] @ np.linalg.solve(K[np.ix_(rows, rows)] + 1e-9 * np.eye(len(rows)), K[rows])
        return gap.mean()

    random = [left_of_mean(rng.choice(180, 8, replace=False)) for _ in range(20)]
    assert left_of_mean(found.prototypes.astype(int)) < 0.5 * np.median(random)
