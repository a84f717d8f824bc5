"""Clusters as a result: names of groups, words and the table."""

import numpy as np

import pellucid
from pellucid.explanations import Clusters
from pellucid.explanations.explanation import headed
from pellucid.runner import Cost


def clusters(names, labels, **more):
    n = len(names)
    labels = np.array(labels)
    fields = {
        "values": np.eye(n), "se": np.full((n, n), np.nan), "feature_names": tuple(names), "output_names": ("prediction",),
        "scale": "association", "cost": Cost(0, 0.0, 0, 0.0), "settings": {"method": "clusters"}, "threshold": 0.5,
        "merges": np.array([[0, 1, 0.1, 2], *([n + i, 2 + i, 0.9, 3 + i] for i in range(n - 2))])[: n - 1],
        "labels": labels, "representatives": np.unique(labels, return_index=True)[1],
        "kept": np.ones(labels.max() + 1), "component": np.ones(labels.max() + 1),
        "components": np.ones(labels.max() + 1, dtype=np.intp),
    }  # fmt: skip
    return Clusters(**headed({**fields, **more}))


def test_names_of_groups_are_new():
    found = clusters(["a", "b", "a + b", "c"], [0, 0, 1, 2])
    assert found.groups == {"a + b\u2032": ["a", "b"]}
    five = clusters(list("abcde"), [0] * 5)
    assert list(five.groups) == ["a + 4 more"]
    twice = clusters(["a", "x", "y", "z", "a", "u"], [0, 0, 0, 0, 1, 1])
    assert len(twice.groups) == 2


def test_words_name_the_largest_cluster_first(golden):
    found = clusters(list("abcde"), [0, 0, 1, 1, 1], components=np.array([1, 2]), kept=np.array([0.9, 0.8]))
    golden("clusters", "two clusters", found.text())
    assert found.text().splitlines()[1].startswith("c, d and e ")


def test_many_clusters_are_counted(golden):
    found = clusters([f"x{i}" for i in range(14)], [i // 2 for i in range(14)])
    golden("clusters", "many clusters", found.text())


def test_the_table_has_a_row_per_feature_cluster_by_cluster():
    frame = clusters(list("abc"), [0, 1, 0]).frame()
    assert frame["feature"].tolist() == ["a", "c", "b"]
    assert frame["cluster"].tolist() == [1, 1, 2]
    assert frame["representative"].tolist() == ["a", "a", "b"]


def test_it_comes_back_from_a_file(tmp_path):
    found = clusters(list("abc"), [0, 1, 0])
    loaded = pellucid.load(found.save(tmp_path / "clusters.json"))
    assert loaded == found
    assert loaded.groups == found.groups
