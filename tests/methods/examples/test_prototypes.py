"""Prototypes, criticisms and medoids against slow twins, identities and what they promise."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression

import pellucid
from golden_files import masked
from pellucid import Explainer, InputError
from pellucid.data import Data
from pellucid.data.distance import RowDistance
from pellucid.data.embedding import standardised
from pellucid.data.similarity import Cells, Points, Similarity
from pellucid.diagnostics.prototypes import Measured, prototype_caveats
from pellucid.methods.examples.criticisms import criticise
from pellucid.methods.examples.estimation.describe import best_weights
from pellucid.methods.examples.estimation.number import elbow
from pellucid.methods.examples.medoids import medoids
from pellucid.methods.examples.mmd import exchanged, given, greedy
from pellucid.runner import Run
from reference import mmd as slow


def cloud(seed, n=14, d=2):
    return np.random.default_rng(seed).normal(size=(n, d))


def prepared(X, width=1.0, weights=None):
    similarity, w = Similarity(Points(X), "rbf", width), np.ones(len(X)) if weights is None else weights
    kappa = similarity.means(w)
    return similarity, kappa, float(np.average(kappa, weights=w))


def kernel(x, z, width=1.0):
    return slow.rbf(x, z, width)


@settings(max_examples=15, deadline=None)
@drawn(st.integers(0, 10_000), st.integers(1, 4))
def test_the_greedy_search_and_its_criticisms_are_those_of_the_definition(seed, m):
    X = cloud(seed)
    weights = np.random.default_rng(seed).integers(1, 4, len(X)).astype(float)
    similarity, kappa, spread = prepared(X, weights=weights)
    found = greedy(similarity, kappa, m, spread=spread, allowed=np.ones(len(X), bool))
    assert found.chosen.tolist() == slow.greedy(X, m, kernel, weights)
    assert found.mmd2 == pytest.approx(slow.mmd2(X[found.chosen], X, kernel, weights), abs=1e-9)
    similarity, kappa, spread = prepared(X)
    own = given(similarity, kappa, found.chosen, spread=spread)
    free = ~np.isin(np.arange(len(X)), found.chosen)
    expected = slow.criticisms(X, found.chosen.tolist(), 3, kernel)
    assert criticise(similarity, own.witness(kappa), 3, free).tolist() == expected


def test_exchanges_never_raise_mmd2_and_often_find_the_best():
    gaps = []
    for seed in range(12):
        X = cloud(seed, n=12)
        similarity, kappa, spread = prepared(X)
        first = greedy(similarity, kappa, 3, spread=spread, allowed=np.ones(12, bool))
        better = exchanged(similarity, kappa, first, spread=spread, allowed=np.ones(12, bool))
        assert better.mmd2 <= first.mmd2 + 1e-12
        assert better.mmd2 == pytest.approx(slow.mmd2(X[better.chosen], X, kernel), abs=1e-7)
        gaps.append(better.mmd2 - slow.best(X, 3, kernel))
    assert sum(gap < 1e-9 for gap in gaps) >= 5
    assert max(gaps) < 0.03


def test_a_set_is_at_no_distance_from_itself_and_the_witness_integrates_to_the_difference():
    X = cloud(3, n=30)
    similarity, kappa, spread = prepared(X)
    everything = given(similarity, kappa, np.arange(30), spread=spread)
    assert everything.mmd2 == pytest.approx(0.0, abs=1e-9)
    np.testing.assert_allclose(everything.witness(kappa), 0.0, atol=1e-6)
    some = given(similarity, kappa, np.array([1, 5, 9]), spread=spread)
    w = some.witness(kappa)
    # Over the rows minus over the prototypes, the witness has the mean MMD2.
    assert w.mean() - w[[1, 5, 9]].mean() == pytest.approx(some.mmd2, abs=1e-7)


@pytest.mark.parametrize("name", ["rbf", "laplace", "gower"])
def test_blocks_and_single_precision_are_the_whole_matrix(name):
    table = pd.DataFrame({"a": cloud(0, 5000, 1)[:, 0], "b": list("xyz") * 1666 + ["x", None]})
    data, weights = Data.of(table), np.random.default_rng(0).uniform(size=5000)
    rows = Cells(data) if name == "gower" else Points(standardised(data))
    similarity = Similarity(rows, name, 0.7)
    every = np.arange(5000)
    whole = np.concatenate([similarity.block(part, every).astype(float) @ weights for part in np.split(every, 10)])
    np.testing.assert_allclose(similarity.means(weights), whole / weights.sum(), rtol=2e-5)
    double = Similarity(_first(rows, data, name), name, 0.7)
    np.testing.assert_allclose(double.column(3), similarity.column(3)[:900], atol=2e-3 if name == "laplace" else 1e-5)


def _first(rows, data, name):
    some = data.take(np.arange(900))
    if name == "gower":
        return Cells(some)
    return Points(standardised(data)[:900])


def test_gower_is_that_of_the_distances():
    table = pd.DataFrame({"a": [1.0, 2.0, None, 5.0], "b": ["x", "y", None, "x"], "c": [True, False, True, True]})
    data = Data.of(table)
    codes = np.column_stack([data.codes(j) for j in range(3)])
    np.testing.assert_allclose(
        Cells(data).apart(slice(None), slice(None)), RowDistance.learn(data, "gower").between(codes, codes), atol=1e-12
    )


def test_as_points_categories_are_one_standard_deviation_apart():
    table = pd.DataFrame({"a": [1.0, 3.0, 1.0, 3.0], "b": ["x", "y", "y", "x"]})
    rows = Points(standardised(Data.of(table)))
    np.testing.assert_allclose(rows.apart([0], slice(None))[0], [0, 4 + 1, 1, 4], atol=1e-12)


def test_sampled_columns_come_with_their_error():
    X = cloud(1, 3000, 3)
    ex = Explainer(lambda X: X[:, 0], X, progress=False)
    exact = ex.prototypes(10, sample=None)
    ratios = []
    for seed in range(8):
        again = Explainer(lambda X: X[:, 0], X, progress=False, random_state=seed, checks=False)
        found = again.prototypes(exact.prototypes.tolist(), method="given", sample=300, width=exact.discrepancy.width)
        assert found.discrepancy.se > 0
        ratios.append((found.mmd2 - exact.mmd2) / found.discrepancy.se)
    assert np.abs(ratios).max() < 4
    assert 0.3 < np.std(ratios) < 3
    assert [c.code for c in ex.prototypes(5, sample=300).caveats].count("rows-sampled") == 1
    assert exact.discrepancy.se == 0


def test_weights_are_repeated_rows():
    X = cloud(5, n=40)
    weights = np.where(np.arange(40) % 3 == 0, 3, 1)
    one = Explainer(lambda X: X[:, 0], X, sample_weight=weights, progress=False)
    two = Explainer(lambda X: X[:, 0], np.repeat(X, weights, axis=0), progress=False)
    rows = np.arange(0, 40, 9)
    first = np.concatenate([[0], np.cumsum(weights)])[rows]
    given_one = one.prototypes(rows.tolist(), method="given", width=1.0)
    given_two = two.prototypes(first.tolist(), method="given", width=1.0)
    assert given_one.mmd2 == pytest.approx(given_two.mmd2, abs=1e-9)
    np.testing.assert_allclose(given_one.values, given_two.values)
    zero = np.where(np.arange(40) < 20, 0, 1)
    assert Explainer(lambda X: X[:, 0], X, sample_weight=zero, progress=False).prototypes(4).prototypes.min() >= 20


def test_best_weights_fit_better_than_equal_ones_and_are_shares():
    X = cloud(8, n=60)
    found = Explainer(lambda X: X[:, 0], X, progress=False).prototypes(4)
    weights = found.discrepancy.weights
    assert weights.min() >= 0
    assert weights.sum() == pytest.approx(1)
    assert found.discrepancy.weighted <= found.mmd2
    gram = np.array([[1.0, 0.0], [0.0, 1.0]])
    np.testing.assert_allclose(best_weights(gram, np.array([0.6, 0.2])), [0.7, 0.3], atol=1e-3)


def test_medoids_are_nearly_the_best():
    for seed in range(8):
        X = cloud(seed, n=13)
        chosen, mean = medoids(Points(X), np.array([0, 1, 2]), np.ones(13), np.ones(13, bool))
        assert mean * 13 == pytest.approx(slow.medoid_loss(X, chosen), abs=1e-6)
        assert mean * 13 <= 1.06 * slow.best_medoids(X, 3)
    found = Explainer(lambda X: X[:, 0], cloud(1, 80), progress=False).prototypes(1, method="medoids")
    assert len(found.prototypes) == 1


def test_by_class_has_prototypes_of_every_class_that_stand_for_it_alone():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(c, 0.5, size=(n, 2)) for c, n in ((0, 120), (2, 60), (4, 20))])
    y = np.repeat(["a", "b", "c"], (120, 60, 20))
    ex = Explainer(LogisticRegression().fit(X, y), X, y, progress=False)
    found = ex.prototypes(8, by="class", criticisms=3)
    counts = {name: found.groups[:8].count(name) for name in "abc"}
    assert sum(counts.values()) == 8
    assert counts["a"] > counts["b"] >= counts["c"]
    shares = pd.Series(found.values).groupby(list(found.groups[:8])).sum()
    np.testing.assert_allclose(shares[["a", "b"]], [0.6, 0.3], atol=1e-9)
    assert set(found.outcomes[:8]) <= {"a", "b", "c"}
    assert set(ex.prototypes(6, by="prediction").groups) <= {"a", "b", "c"}


def test_numbers_are_divided_into_thirds_of_the_predictions():
    ex = Explainer(lambda X: X[:, 0], cloud(0, 90), progress=False)
    found = ex.prototypes(3, by="prediction")
    assert sorted(found.groups) == ["high prediction", "low prediction", "middling prediction"]
    np.testing.assert_allclose(found.values, 1 / 3, atol=0.02)


def test_features_are_an_embedding_of_ones_own_or_contributions():
    X = np.column_stack([np.repeat([0.0, 1.0], 40), np.random.default_rng(0).normal(size=(80, 15))])
    ex = Explainer(lambda X: 3 * X[:, 0], X, progress=False)
    for features in (lambda X: X[:, :1], "contributions"):
        found = ex.prototypes(2, features=features)
        assert sorted(found.predictions[:, 0]) == [0, 3]
        np.testing.assert_allclose(found.values, 0.5)
    with pytest.raises(InputError, match="features returned"):
        ex.prototypes(2, features=lambda X: X[:3])
    with pytest.raises(InputError, match="features must return numbers"):
        ex.prototypes(2, features=lambda X: np.array([["a"]] * len(X)))


def test_elbow():
    assert elbow(np.array([1.0, 0.1, 0.05, 0.04, 0.03])) == 2
    assert elbow(np.array([0.5])) == 1
    assert elbow(np.array([0.5, 0.5, 0.5])) == 1


def test_errors_name_the_argument():
    ex = Explainer(lambda X: X[:, 0], cloud(0, 20), progress=False)
    for options, word in (
        ({"n": 21}, "n must be"),
        ({"n": 0}, "n must be"),
        ({"n": 3, "criticisms": 18}, "criticisms must be"),
        ({"n": 3, "method": "given"}, "n must be"),
        ({"n": [3, 3], "method": "given"}, "twice"),
        ({"n": 2, "by": "class"}, "by='class'"),
        ({"n": 2, "features": "pixels"}, "features='pixels'"),
        ({"n": 2, "features": "raw", "kernel": "gower"}, "features="),
    ):
        with pytest.raises(InputError, match=word):
            ex.prototypes(**options)


# -- caveats ---------------------------------------------------------------------------------------------


def codes(found):
    return {caveat.code for caveat in found.caveats}


OWN = {"kernel-width", "criticisms-change", "irrelevant-features", "few-prototypes", "poor-prototypes", "rows-sampled"}


def test_benign_data_carry_no_caveat():
    spoken = 0
    for seed in range(10):
        X = np.random.default_rng(seed).normal(size=(200, 3))
        spoken += bool(codes(Explainer(lambda X: X.sum(axis=1), X, progress=False).prototypes(6, criticisms=4)) & OWN)
    assert spoken <= 1


def test_a_kernel_that_is_too_narrow_or_too_wide_is_told():
    ex = Explainer(lambda X: X[:, 0], cloud(0, 300, 3), progress=False)
    for width in (0.05, 40.0):
        assert "kernel-width" in codes(ex.prototypes(6, width=width))


def told(**measured):
    """The codes of what is said of these measurements."""
    ex = Explainer(lambda X: X[:, 0], cloud(0, 30), progress=False)
    return {
        c.code for c in prototype_caveats(ex.predictor, ex.data, Run(), Measured(m=4, mmd2=0.01, one=0.3, **measured))
    }


def test_prototypes_that_change_with_the_width_are_told():
    assert "kernel-width" in told(at_half=(0.3, 0.1, 0.9))
    assert "kernel-width" in told(at_half=(0.1, 0.1, 0.9), at_double=(0.2, 0.01, 0.3))
    assert "kernel-width" not in told(at_half=(0.12, 0.1, 0.9), at_double=(0.01, 0.005, 0.3))
    found = Explainer(lambda X: X[:, 0], cloud(0, 60), progress=False).prototypes(4)
    assert found.discrepancy.half > found.mmd2 > found.discrepancy.double


def test_irrelevant_features_too_few_and_hand_picked_prototypes_are_told():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.repeat([0.0, 1.0], 150), rng.normal(size=(300, 40))])
    ex = Explainer(LinearRegression().fit(X, X[:, 0]), X, progress=False)
    assert "irrelevant-features" in codes(ex.prototypes(4))
    assert "irrelevant-features" not in codes(ex.prototypes(4, features="contributions"))
    clusters = np.vstack([rng.normal(c, 0.2, size=(50, 2)) for c in ((0, 0), (5, 0), (0, 5), (5, 5))])
    ex = Explainer(lambda X: X.sum(axis=1), clusters, progress=False)
    assert "few-prototypes" in codes(ex.prototypes(2))
    assert "few-prototypes" not in codes(ex.prototypes(4))
    assert "poor-prototypes" in codes(ex.prototypes([0, 1, 2, 3], method="given"))
    assert "poor-prototypes" not in codes(ex.prototypes([0, 50, 100, 150], method="given"))


def test_criticisms_that_change_with_the_number_are_told():
    assert "criticisms-change" in told(kept=0.0)
    assert "criticisms-change" not in told(kept=0.5)
    clusters = np.vstack([np.random.default_rng(0).normal(c, 0.2, size=(50, 2)) for c in (0, 5)])
    assert Explainer(lambda X: X[:, 0], clusters, progress=False).prototypes(4, criticisms=2).discrepancy.kept > 0.5


# -- words and files -------------------------------------------------------------------------------------


def rentals():
    rng = np.random.default_rng(1)
    n = 120
    season = rng.choice(["winter", "summer"], n)
    temp = np.where(season == "summer", 25.0, 2.0) + rng.normal(0, 3, n)
    table = pd.DataFrame({"temp": temp.round(1), "season": season, "wind": rng.uniform(0, 30, n).round(0)})
    return table, 50 + 20 * temp + rng.normal(0, 40, n)


def predict(table):
    return 50 + 20 * np.asarray(table["temp"], dtype=float)


def test_sentences(golden):
    X, y = rentals()
    ex = Explainer(predict, X, y, progress=False)
    golden("prototypes", "prototypes and criticisms", masked(ex.prototypes(4, criticisms=3).text()))
    golden("prototypes", "number chosen", masked(ex.prototypes().text()))
    golden("prototypes", "given", masked(ex.prototypes([0, 1], method="given").text()))
    golden("prototypes", "by prediction", masked(ex.prototypes(3, by="prediction", criticisms="auto").text()))
    golden("prototypes", "neighbours", masked(ex.neighbors(3, n=3).text()))


def test_a_typical_row_is_told_by_what_is_typical_of_its_rows():
    X, y = rentals()
    found = Explainer(predict, X, y, progress=False).prototypes(2)
    by_season = {str(found.cells[1][i]): found.contrast[i] for i in range(2)}
    assert by_season["summer"][0] > 0.5
    assert by_season["winter"][0] < -0.5
    assert abs(by_season["summer"][2]) < 0.5


def test_frame_and_file(tmp_path):
    X, y = rentals()
    X = X.rename(columns={"wind": "share"})
    found = Explainer(predict, X, y, progress=False, row_labels=[f"day{i}" for i in range(len(X))]).prototypes(
        3, criticisms=2
    )
    table = found.frame()
    assert list(table["role"]) == ["prototype"] * 3 + ["criticism"] * 2
    assert {"share", "share_", "row", "witness", "predicted prediction", "outcome", "error"} <= set(table.columns)
    assert table["row"][0].startswith("day")
    np.testing.assert_allclose(table["error"], np.abs(predict(found.rows()) - found.outcomes), atol=1e-9)
    assert pellucid.load(found.save(tmp_path / "p.json")) == found
    assert np.isfinite(found.usual_error)


def test_leaves_are_a_kernel_of_their_own():
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = (X[:, 0] > 0).astype(int)
    forest = RandomForestClassifier(20, random_state=0).fit(X, y)
    found = pellucid.Explainer(forest, X, y, progress=False).prototypes(4, criticisms=2, features="leaves", by="class")
    leaf = forest.apply(X)
    kernel = (leaf[:, None] == leaf[None]).mean(axis=2) * (y[:, None] == y[None])
    chosen = found.row_labels.positions[found.places()]
    truth = kernel[np.ix_(chosen, chosen)].mean() - 2 * kernel[chosen].mean() + kernel.mean()
    assert found.mmd2 == pytest.approx(truth, abs=1e-10)
    assert np.isnan(found.discrepancy.width)
    assert set(found.groups) == {"0", "1"}
    with pytest.raises(pellucid.InputError, match="of its own"):
        pellucid.Explainer(forest, X, y).prototypes(3, features="leaves", width=1.0)
    with pytest.raises(pellucid.InputError, match="model of trees"):
        pellucid.Explainer(lambda X: X[:, 0], X).prototypes(3, features="leaves")


@pytest.mark.parametrize("m", [1, 2, 5])
def test_no_single_swap_of_medoids_lowers_the_sum(m):
    X, w = cloud(3, 30), np.random.default_rng(1).uniform(0.5, 2, 30)
    apart = np.linalg.norm(X[:, None] - X[None], axis=2)
    chosen, mean = medoids(Points(X), np.arange(m), w, np.ones(30, dtype=bool))
    loss = w @ apart[:, chosen].min(axis=1)
    assert mean == pytest.approx(loss / w.sum())
    swaps = [[c, *np.delete(chosen, k)] for k in range(m) for c in range(30)]
    assert min(w @ apart[:, swapped].min(axis=1) for swapped in swaps) >= loss * (1 - 1e-8)
