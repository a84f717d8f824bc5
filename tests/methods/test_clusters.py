"""Clusters of features: against scipy and a slow twin, with representatives, groups and principal components."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from scipy.stats import spearmanr

import pellucid
from golden_files import masked
from pellucid import Explainer
from pellucid.methods.associations import average_linkage, cut
from strategies import QUICK


def first(X):
    return np.asarray(X)[:, 0].astype(float)


def scene(n=400):
    rng = np.random.default_rng(0)
    a, w = rng.normal(size=(2, n))
    return pd.DataFrame(
        {"temp": a, "felt": np.exp(a) + 0.01 * rng.normal(size=n), "cold": -a + 0.9 * rng.normal(size=n), "wind": w,
         "gust": w + 0.4 * rng.normal(size=n), "day": rng.integers(0, 30, n), "season": np.where(a > 0, "s", "w")}
    )  # fmt: skip


def slow_clusters(association, threshold):
    """Join the two clusters with the greatest mean association until it is below the threshold."""
    clusters = [[j] for j in range(len(association))]
    while len(clusters) > 1:
        pairs = [(np.mean([association[i, j] for i in a for j in b]), k, m) for k, a in enumerate(clusters) for m, b in enumerate(clusters[:k])]  # fmt: skip
        best, k, m = max(pairs)
        if best < threshold:
            break
        clusters[m] += clusters.pop(k)
    return sorted(sorted(cluster) for cluster in clusters)


@given(st.integers(0, 10_000), st.integers(1, 9), st.floats(0.05, 0.95))
@QUICK
def test_against_a_slow_twin_and_scipy(seed, p, threshold):
    half = np.random.default_rng(seed).random((p, p))
    association = (half + half.T) / 2
    np.fill_diagonal(association, 1.0)
    labels = cut(average_linkage(association), p, threshold)
    found = sorted(np.flatnonzero(labels == c).tolist() for c in range(labels.max() + 1))
    assert found == slow_clusters(association, threshold)
    if p > 1:
        tree = linkage(squareform(1 - association, checks=False), "average")
        other = fcluster(tree, 1 - threshold, "distance")
        assert len(set(zip(labels.tolist(), other.tolist(), strict=True))) == len(set(other.tolist())) == len(found)


def test_clusters_groups_and_a_subset():
    found = Explainer(first, scene()).clusters()
    assert found.members == [["temp", "felt", "cold", "season"], ["wind", "gust"], ["day"]]
    assert found.groups == {"temp + 3 more": ["temp", "felt", "cold", "season"], "wind + gust": ["wind", "gust"]}
    assert found.subset[0] in ("temp", "felt")
    assert found.subset[2] == "day"
    assert found.labels.tolist() == [0, 0, 0, 1, 1, 2, 0]
    np.testing.assert_allclose(found.values, found.values.T)
    assert found.cost.model_rows == 0


def test_groups_go_into_an_explainer():
    table = scene()
    found = Explainer(first, table).clusters(threshold=0.7)
    grouped = Explainer(first, table, table["temp"], groups=found.groups, checks=False).importance(scheme="pairs")
    assert set(found.groups) < set(grouped.feature_names)
    single = Explainer(first, table, table["temp"], checks=False).importance(scheme="pairs")
    assert grouped.values[0] == pytest.approx(single.values[0])


def test_the_threshold_goes_from_one_cluster_to_none(golden):
    ex = Explainer(first, scene())
    counts = [len(ex.clusters(threshold=t).representatives) for t in (0.01, 0.3, 0.6, 0.9, 1.0)]
    assert counts == sorted(counts)
    assert counts[-1] == 7
    assert ex.clusters(threshold=1.0).groups == {}
    golden("clusters", "no clusters", masked(ex.clusters(threshold=1.0).text()))


def test_copies_are_one_component_and_the_medoid_is_in_the_middle():
    rng = np.random.default_rng(1)
    x = rng.normal(size=500)
    X = np.column_stack([x + rng.normal(size=500) * 0.6, x, x + rng.normal(size=500) * 0.6])
    found = Explainer(first, X).clusters(threshold=0.5)
    assert found.subset == ["x1"]
    share = np.square(found.values[1]).mean()
    assert found.kept[0] == pytest.approx(share)
    copies = Explainer(first, np.column_stack([x, 2 * x, -x])).clusters()
    assert (copies.kept[0], copies.component[0], copies.components[0]) == (pytest.approx(1), pytest.approx(1), 1)


def test_principal_components_of_two_features_have_a_closed_form():
    # The correlation matrix [[1, r], [r, 1]] of the ranks has the eigenvalues 1 + r and 1 - r.
    rng = np.random.default_rng(2)
    x = rng.normal(size=300)
    X = np.column_stack([x, -x + 0.7 * rng.normal(size=300)])
    found, r = Explainer(first, X).clusters(), abs(spearmanr(X).statistic)  # components are those of ranks
    assert found.component[0] == pytest.approx((1 + r) / 2)
    assert found.components[0] == (1 if (1 + r) / 2 >= 0.9 else 2)


def test_of_two_the_one_with_fewer_missing_values_stands():
    x = np.random.default_rng(3).normal(size=200)
    gaps = np.where(np.arange(200) % 4 == 0, np.nan, x)
    assert Explainer(lambda X: np.zeros(len(X)), np.column_stack([gaps, x])).clusters().subset == ["x1"]


def test_the_most_important_of_each_cluster():
    table = scene()
    ex = Explainer(lambda X: X["felt"].to_numpy() + X["gust"].to_numpy(), table, checks=False)
    found = ex.clusters()
    assert found.most_important(ex.importance())[:2] == ["felt", "gust"]
    grouped = Explainer(first, table, groups=found.groups, checks=False).importance()
    with pytest.raises(pellucid.InputError, match="no value for 'temp'"):
        found.most_important(grouped)


def test_one_feature_one_row_and_constants():
    one = Explainer(first, np.random.default_rng(0).normal(size=(20, 1))).clusters()
    assert (one.members, one.groups, one.merges.shape) == ([["x0"]], {}, (0, 4))
    assert one.plot().spec["$schema"]
    row = Explainer(first, np.ones((1, 3))).clusters()
    assert row.groups == {}
    assert row.plot().spec["$schema"]


@pytest.mark.parametrize("threshold", [0, -0.1, 1.1, "0.5", True, None, np.nan])
def test_a_threshold_that_is_none_is_refused(threshold):
    with pytest.raises(pellucid.InputError, match=r"threshold must .*above 0"):
        Explainer(first, np.ones((5, 2))).clusters(threshold=threshold)


# -- caveats -----------------------------------------------------------------------------------------


def codes(result):
    return {caveat.code: caveat for caveat in result.caveats}


def test_what_is_said_against_clusters():
    found = Explainer(first, scene()).clusters()
    assert codes(found)["clustered-features"].value == pytest.approx(float(found.values[0, 1]))
    assert "groups=clusters.groups" in codes(found)["clustered-features"].advice
    free = np.random.default_rng(1).normal(size=(300, 3))
    assert Explainer(first, free).clusters().caveats == ()
    assert Explainer(first, scene(), checks=False).clusters().caveats == ()


def test_representatives_that_are_still_correlated():
    # x3 is correlated with x0 (0.65) but less with what x0 stands for (0.52 each).
    rng = np.random.default_rng(5)
    x = rng.normal(size=4000)
    X = np.column_stack([x + s * rng.normal(size=4000) for s in (0, 0.75, 0.75, 1.17)])
    found = Explainer(first, X).clusters(threshold=0.6)
    assert found.subset == ["x0", "x3"]
    assert codes(found)["subset-together"].value == pytest.approx(found.values[0, 3])
    assert "subset-together" not in codes(Explainer(first, X).clusters(threshold=0.7))


def test_few_rows():
    X = np.random.default_rng(6).normal(size=(12, 3))
    assert codes(Explainer(first, X).clusters(threshold=0.4))["few-rows-for-clusters"].value == pytest.approx(
        1.959964 / np.sqrt(11)
    )
    assert "few-rows-for-clusters" not in codes(Explainer(first, X).clusters(threshold=0.6))


def test_two_rows_are_said_to_prove_nothing(golden):
    X = np.array([[0.0, 1.0], [1.0, 0.0]])
    (few,) = [c for c in Explainer(first, X).clusters().caveats if c.code == "few-rows-for-clusters"]
    golden("caveats", "few-rows-for-clusters: two rows", str(few))
    assert few.value == 1.0


# -- clusters as wholes ------------------------------------------------------------------------------


def test_the_importance_of_clusters_is_that_of_their_groups():
    X = scene()
    y = X["temp"] + X["felt"] + X["wind"]
    model = lambda X: X["temp"] + X["felt"] + X["wind"]  # noqa: E731
    found = Explainer(model, X, y).clusters(importance=True)
    grouped = Explainer(model, X, y, groups=found.groups).importance()
    assert found.importance.feature_names == grouped.feature_names
    np.testing.assert_array_equal(found.importance.values, grouped.values)
    assert [list(members) for members in found.importance.members] == found.members
    assert Explainer(model, X, y).clusters().importance is None


def test_a_cluster_has_what_its_members_hide_from_each_other():
    """Copies: f = (x1 + x2) / 2. Alone each has 2 var / 4, together 2 var(x)."""
    x = np.random.default_rng(0).normal(size=2000)
    X = np.column_stack([x, x, np.random.default_rng(1).normal(size=2000)])
    ex = Explainer(lambda X: (X[:, 0] + X[:, 1]) / 2, X, x)
    joint = ex.clusters(importance=True).importance
    assert joint.feature_names == ("x0 + x1", "x2")
    assert joint.values[0] == pytest.approx(2 * x.var(), rel=0.1)
    assert joint.values[0] == pytest.approx(4 * ex.importance().values[0], rel=0.1)
    assert joint.values[1] == 0


def test_groups_of_the_caller_do_not_change_the_clusters_or_their_importance():
    X = scene()
    model = lambda X: X["temp"] + X["wind"]  # noqa: E731
    plain = Explainer(model, X).clusters(importance=True)
    grouped = Explainer(model, X, groups={"both": ["temp", "wind"]}).clusters(importance=True)
    assert grouped.members == plain.members
    np.testing.assert_array_equal(grouped.importance.values, plain.importance.values)


def test_the_importance_of_clusters_is_told_tabled_and_stored(tmp_path, golden):
    X = scene()
    found = Explainer(lambda X: X["temp"] + 2 * X["wind"], X).clusters(importance=True)
    golden("clusters", "with their importance", masked(found.text()))
    frame = found.frame().set_index("feature")
    assert frame.loc["wind", "cluster_importance"] == frame.loc["gust", "cluster_importance"] > frame.loc["temp", "cluster_importance"] > frame.loc["day", "cluster_importance"] == 0  # fmt: skip
    assert pellucid.load(found.save(tmp_path / "clusters.json")) == found
    assert found.cost.model_rows > 0
    with pytest.raises(pellucid.InputError, match=r"importance must .*'yes'"):
        Explainer(first, X[["temp"]]).clusters(importance="yes")
