"""The result of counterfactuals: sentences, tables, what blocks, and what comes back from a file."""

import numpy as np
import pytest

import pellucid
from golden_files import masked
from methods.counterfactual.asking import credit_like, explainer
from pellucid.explanations.counterfactual_words import percent_of


@pytest.fixture(scope="module")
def found():
    return explainer().counterfactuals(3, ">= 0.6", n=3, fixed="score")


def test_sentences_say_what_to_change_first(found, golden):
    golden("counterfactuals", "several answers", masked(found.text()))
    first = found.text().splitlines()[0]
    for name, (now, instead) in found.changes().items():
        assert name in first
        assert str(instead) in first or f"{instead:.4g}" in first
        assert now != instead
    golden("counterfactuals", "nothing to change", masked(explainer().counterfactuals(0, ">= 0.7").text()))


def test_a_target_out_of_reach_names_what_blocks_and_at_what_price(golden):
    ex = explainer()
    said = {"fixed": ["age", "score", "job", "foreign"], "ranges": {"amount": (85, 100)}}
    nothing = ex.counterfactuals(3, ">= 0.6", **said)
    assert len(nothing) == 0
    assert len(nothing.rows()) == 0
    assert nothing.nearest_miss > 0
    assert "ranges['amount']" in {each.constraint for each in nothing.obstacles}
    distances = [each.distance for each in nothing.obstacles]
    assert distances == sorted(distances)
    assert nothing.valid.shape == (0,)
    assert nothing.plot().spec
    golden("counterfactuals", "out of reach", masked(nothing.text()))
    nearest = ex.counterfactuals(3, ">= 0.6", **said, best_effort=True)
    assert len(nearest) == 1
    assert not nearest.valid.any()
    assert nearest.scores["target"][0] == pytest.approx(nothing.nearest_miss)
    assert 0.6 - nearest.predictions[0, 0] == pytest.approx(nearest.nearest_miss)
    assert not nearest.proven
    golden("counterfactuals", "best effort", masked(nearest.text()))


def test_what_blocks_is_part_of_the_answer_also_without_checks():
    said = {"fixed": ["age", "score", "job", "foreign"], "ranges": {"amount": (85, 100)}}
    checked, unchecked = (explainer(checks=on).counterfactuals(3, ">= 0.6", **said) for on in (True, False))
    assert unchecked.obstacles == checked.obstacles != ()
    assert unchecked.nearest_miss == checked.nearest_miss > 0
    assert unchecked.findings() == checked.findings()


def test_tables_hold_changes_only_or_whole_rows(found):
    changes, whole = found.frame(), found.frame(whole=True)
    assert len(changes) == found.changed.sum()
    assert list(changes) == ["answer", "feature", "now", "instead"]
    assert len(whole) == len(found) == len(found.rows())
    assert list(whole)[:6] == list(credit_like())
    assert {"gower", "changes", "nearest", "plausibility", "robustness", "valid"} <= set(whole)
    np.testing.assert_array_equal(whole["age"], found.rows()["age"])
    one = changes[changes["answer"] == 0]
    assert set(one["feature"]) == set(found.changes(0))


def test_a_table_of_changes_keeps_all_digits():
    found = explainer().counterfactuals(3, ">= 0.6", method="neighbours", polish=False, n=2, fixed="score")
    changes = found.frame()
    amount = changes[changes["feature"] == "amount"]
    assert amount["instead"].astype(float).tolist() == found.rows()["amount"][amount["answer"]].tolist()
    assert set(changes[changes["feature"] == "foreign"]["instead"]) <= {"yes", "no"}


def test_the_nearest_miss_changes_nothing_in_vain(golden):
    ex = explainer(model=lambda table: table["age"].to_numpy(dtype=float))
    found = ex.counterfactuals(3, ">= 200", method="random", best_effort=True)
    assert set(found.changes()) == {"age"}
    held = ex.counterfactuals(3, ">= 200", fixed=list(credit_like()))
    assert held.nearest_miss == held.own_miss > 0
    golden("counterfactuals", "every feature held fixed", held.text())
    assert not len(ex.counterfactuals(3, ">= 200", fixed=list(credit_like()), best_effort=True))


def test_the_distance_is_called_what_it_is():
    ex = explainer(checks=False)
    said = {"gower": "Gower distance", "manhattan": "Manhattan distance", "l1": "(distance"}
    for distance, name in said.items():
        assert name in ex.counterfactuals(3, ">= 0.6", distance=distance, n=1).findings()[1]
    fewest = ex.counterfactuals(3, ">= 0.6", distance="changes", n=1)
    assert "(1 change, Gower distance" in fewest.findings()[1]
    dear = ex.counterfactuals(3, ">= 0.6", costs={"age": 1.0, "amount": 0.5}, n=1)
    assert f"(cost {dear.scores['distance'][0]:.3g})" in dear.findings()[1]


def thirds(table):
    """Three classes, one of them by age alone."""
    age = table["age"].to_numpy(dtype=float) / 100
    return np.column_stack([0.5 - age / 2, np.full(len(age), 0.3), 0.2 + age / 2])


def test_answers_say_what_the_target_is_about(golden):
    ex = explainer(credit_like(), thirds, class_names=["low", "middle", "high"], checks=False)
    row = int(credit_like()["age"].argmin())
    both = ex.counterfactuals(row, {"low": "<= 0.3", "middle": ">= 0.3"}, n=1)
    assert "30% for low and 30% for middle" in both.sentence()
    one = explainer(credit_like(), thirds, class_names=["low", "middle", "high"], output="middle", checks=False)
    other = one.counterfactuals(row, None, n=1)
    golden("counterfactuals", "another class, of which one output is explained", other.sentence())


def test_scores_are_what_they_say(found):
    scores = found.scores
    np.testing.assert_array_equal(scores["changes"], found.changed.sum(axis=1))
    np.testing.assert_allclose(scores["gower"], scores["distance"])
    assert ((scores["plausibility"] >= 0) & (scores["plausibility"] <= 1)).all()
    assert ((scores["robustness"] >= 0) & (scores["robustness"] <= 1)).all()
    assert (scores["nearest"] <= scores["gower"] + 1e-12).all()  # the row itself is in the data
    np.testing.assert_allclose(found.values, found.changed.mean(axis=0))
    assert list(found.frequency.values()) == sorted(found.values, reverse=True)


def test_what_is_loaded_says_the_same(found, tmp_path):
    loaded = pellucid.load(found.save(tmp_path / "found.json"))
    assert loaded == found
    assert loaded.text() == found.text()
    np.testing.assert_array_equal(loaded.rows()["age"], found.rows()["age"])
    assert loaded.rows()["housing"].tolist() == found.rows()["housing"].tolist()


def test_rows_are_ones_own_to_change(found):
    rows = found.rows()
    rows.loc[:, "age"] = 0
    assert (found.rows()["age"] > 0).all()
    with pytest.raises(ValueError, match="read-only"):
        found.scores["gower"][0] = 1


@pytest.mark.parametrize(
    ("share", "said"), [(0.5, "50%"), (0.5004, "50.04%"), (0.4996, "49.96%"), (0.512, "51%"), (0.502, "50.2%")]
)
def test_a_share_shows_on_which_side_of_one_half_it_is(share, said):
    assert percent_of(share) == said
