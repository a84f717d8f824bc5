"""The tree of features: where its lines run."""

import numpy as np
import pytest

import pellucid
from pellucid import Explainer
from pellucid.charts.associations.clusters import branch_data, joint_data, leaf_data, shown_features


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 300))
    X = np.column_stack([a, b, a + 0.1 * rng.normal(size=300), b + 0.6 * rng.normal(size=300), rng.normal(size=300)])
    return Explainer(lambda X: X[:, 0], X).clusters()


def test_every_join_has_three_lines_that_meet(found):
    shown = shown_features(found, 60)
    assert sorted(shown) == list(range(5))
    rows = branch_data(found, shown)
    assert len(rows) == 3 * 4
    for step, (a, b, distance, _) in enumerate(found.merges):
        one, other, across = rows[3 * step : 3 * step + 3]
        assert one["x2"] == other["x2"] == across["x"] == across["x2"] == pytest.approx(1 - distance)
        assert {across["y"], across["y2"]} == {one["y"], other["y"]}
        for line, child in ((one, int(a)), (other, int(b))):
            below = rows[3 * (child - 5) + 2] if child >= 5 else None
            middle = shown.index(child) + 0.5 if below is None else (below["y"] + below["y2"]) / 2
            assert (line["y"], line["x"]) == (middle, 1.0 if below is None else below["x"])
        assert one["joined"] == (1 - distance >= 0.5)


def test_members_of_a_cluster_stand_side_by_side(found):
    shown = shown_features(found, 60)
    assert abs(shown.index(0) - shown.index(2)) == 1
    assert abs(shown.index(1) - shown.index(3)) == 1


def test_representatives_are_marked(found):
    shown = shown_features(found, 60)
    leaves = leaf_data(found, shown, [found.feature_names[j] for j in shown])
    assert {leaf["feature"] for leaf in leaves if leaf["stands"]} == set(found.subset)
    assert [leaf["y"] for leaf in leaves] == [0.5, 1.5, 2.5, 3.5, 4.5]


def test_too_many_features_leave_the_largest_clusters(found):
    shown = shown_features(found, 2)
    assert sorted(shown) == [0, 1]
    assert len(branch_data(found, shown)) == 3  # one join: the first two of the larger clusters
    spec = found.plot(max_display=2, title="T", width=300, height=90).spec
    assert "3 more features not shown" in " ".join(spec["title"]["subtitle"])
    with pytest.raises(pellucid.InputError, match=r"max_display must .* got True"):
        found.plot(max_display=True)


def test_the_importance_of_a_cluster_stands_in_the_middle_of_its_features():
    a, b = np.random.default_rng(0).normal(size=(2, 300))
    ex = Explainer(lambda X: X[:, 0] + X[:, 2], np.column_stack([a, b, a]))
    found = ex.clusters(importance=True)
    shown = shown_features(found, 60)
    rows = {row["cluster_text"]: row for row in joint_data(found, shown)}
    assert set(rows) == {"x0, x2", "x1"}
    assert rows["x0, x2"]["middle"] == np.mean([shown.index(0), shown.index(2)]) + 0.5
    assert rows["x1"]["middle"] == shown.index(1) + 0.5
    assert rows["x0, x2"]["value"] == found.importance.values[0]
    assert joint_data(ex.clusters(), shown) == []
    assert "importance as a whole" in str(found.plot().spec)
    assert "importance as a whole" not in str(ex.clusters().plot().spec)
