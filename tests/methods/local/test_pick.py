"""Rows that show what the model uses."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pellucid
from golden_files import masked
from methods.local.asking import explain
from pellucid import Explainer, ImageExplainer, TextExplainer
from pellucid.charts.chart import Chart
from pellucid.charts.local import pick as chart
from pellucid.explanations.plot_options import PickOptions
from pellucid.methods.local.pick import greedy, lime_pick, pick_rows
from reference.lime import greatest_cover


def picked(f, X, budget, *, checks=False, **options):
    ex = Explainer(f, X, checks=checks, progress=False)
    return lime_pick(ex.predictor, ex.data, budget, run=ex._run("pick"), **options)


def switch(X):
    """x1 decides for half of the rows, x2 for the others."""
    return np.where(X[:, 0] > 0, 3 * X[:, 1], 3 * X[:, 2])


@given(st.integers(0, 300), st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_greedy_reaches_63_percent_of_the_best(seed, budget):
    rng = np.random.default_rng(seed)
    shows, importance = rng.random((7, 6)) < 0.35, rng.random(6)
    rows, gains, covered = greedy(shows, importance, budget)
    best = greatest_cover(shows, importance, budget)
    seen = shows[rows].any(axis=0) @ importance
    assert seen >= (1 - 1 / np.e) * best - 1e-12
    assert len(set(rows.tolist())) == budget
    assert gains.sum() == pytest.approx(seen)
    assert covered[-1] == pytest.approx(seen / importance.sum())
    assert (np.diff(covered) >= 0).all()


def test_the_greedy_order_by_hand():
    shows = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 0]], dtype=bool)
    rows, gains, covered = greedy(shows, np.array([3.0, 1.0, 2.0]), 3)
    assert rows.tolist() == [0, 1, 2]  # 4, then 2; then all is shown, and row 2 is left
    assert gains.tolist() == [4.0, 2.0, 0.0]
    assert covered.tolist() == pytest.approx([4 / 6, 1, 1])


def test_when_all_is_shown_showing_starts_anew():
    shows = np.array([[1, 1, 1], [1, 1, 0], [1, 0, 0], [0, 0, 1]], dtype=bool)
    rows, _, covered = greedy(shows, np.array([3.0, 2.0, 1.0]), 4)
    assert rows.tolist() == [0, 1, 3, 2]  # after 0 all is shown; 1 shows most; then 3 shows what 1 does not
    assert covered.tolist() == [1.0] * 4


def test_importance_is_the_root_of_the_sum_of_absolute_effects():
    X = np.random.default_rng(0).normal(size=(100, 3))
    found = explain(switch, X, range(20), features=1, width=1.0)
    result = pick_rows(found, 2)
    np.testing.assert_allclose(result.values, np.sqrt(np.abs(found.values).sum(axis=0)))
    assert result.settings["least"] == 0.0


def test_two_rows_show_both_sides_of_a_switch():
    X = np.random.default_rng(0).normal(size=(300, 3))
    X[:, 0] += np.where(X[:, 0] > 0, 1.5, -1.5)  # near the switch x0 itself would count
    result = picked(switch, X, 2, sample=30, features=1, width=0.7, sampler="around")
    assert set(result.top(2)) == {"x1", "x2"}
    assert [one.selected[0][0] for one in result.explanations] != [result.explanations[0].selected[0][0]] * 2
    assert result.covered[-1] > 0.7
    sides = X[result.positions, 0] > 0
    assert sides.tolist() in ([True, False], [False, True])
    assert f"row {result.positions[0]}" in result.text()
    for one, place in zip(result.explanations, result.positions, strict=True):
        assert one.prediction[0] == pytest.approx(switch(X[place : place + 1])[0])


def test_dense_explanations_need_a_share_to_show_a_feature():
    X = np.random.default_rng(1).normal(size=(200, 4))
    shap = Explainer(lambda X: X @ [3.0, 2.0, 1.0, 0.05], X, checks=False).shap(range(40))
    result = pick_rows(shap, 3)
    assert result.settings["least"] == 0.1
    assert not result.shows[:, 3].any()
    assert result.covered[-1] < 1
    assert pick_rows(shap, 1, least=0.0).covered[-1] == 1.0
    assert pick_rows(shap, 1, least=0.0).shows.all()


def test_more_rows_than_needed_start_anew(golden):
    X = np.random.default_rng(0).normal(size=(50, 2))
    result = picked(lambda X: X[:, 0], X, 4, sample=10)
    assert len(result) == 4
    assert result.covered.tolist() == [1.0] * 4
    golden("local", "picked rows, more than needed", masked(result.text()))
    assert len(picked(lambda X: X[:, 0], X[:3], 9, sample=10)) == 3


def test_given_rows_keep_their_places():
    X = np.random.default_rng(0).normal(size=(80, 3))
    result = picked(switch, X, 2, rows=[5, 7, 9], features=1, width=1.0)
    assert result.looked_at == 3
    assert set(result.positions) <= {0, 1, 2}
    np.testing.assert_array_equal(result.rows, result.positions)


def test_saving_and_the_table(tmp_path):
    X = np.random.default_rng(0).normal(size=(80, 3))
    result = picked(switch, X, 2, sample=10, features=2, samples=400)
    loaded = pellucid.load(result.save(tmp_path / "pick.json"))
    assert loaded == result
    assert loaded.explanations[0] == result.explanations[0]
    table = result.frame()
    assert len(table) == 2 * 3
    assert table["shown"].sum() == result.shows.sum()


def test_what_the_picture_shows():
    X = np.random.default_rng(0).normal(size=(80, 3))
    result = picked(switch, X, 3, sample=10, features=2, samples=400)
    features = chart.shown_features(result, 2)
    assert [result.feature_names[j] for j in features] == result.top(2)
    cells = chart.cell_data(result, features, result.top(2), ["a", "b", "c"])
    assert len(cells) == 6
    assert sum(cell["share"] is not None for cell in cells) == result.shows[:, features].sum()
    assert Chart(chart.body(result, PickOptions())).spec["$schema"]


@pytest.mark.parametrize("bad", [0, True, 1.5])
def test_refusals(bad):
    X = np.zeros((5, 3))
    with pytest.raises(pellucid.InputError, match="budget must"):
        picked(switch, X, bad)
    with pytest.raises(pellucid.InputError, match="sample must be"):
        picked(switch, X, 1, sample=bad)
    with pytest.raises(pellucid.InputError, match="least must be a number"):
        pick_rows(Explainer(lambda X: X[:, 0], X, checks=False).shap(0), 1, least=2)


# -- lists of explanations ---------------------------------------------------------------------------------


def pushy(texts):
    """What some words add."""
    worth = {"buy": 3.0, "now": 2.0, "cheap": 1.0}
    return np.array([sum(worth.get(word.strip("!,").lower(), 0.0) for word in text.split()) for text in texts])


def test_texts_are_picked_by_the_words_they_show():
    """A word is the same in every case and with marks; the same word twice in a text counts twice."""
    texts = ["now Buy!", "buy buy, it", "a cheap one", "so it is"]
    found = TextExplainer(pushy, checks=False).lime(texts)
    result = pick_rows(found, 3)
    importance = dict(zip(result.feature_names, result.values, strict=True))
    assert importance["buy"] == pytest.approx(np.sqrt(3 + 6))
    assert importance["now"] == pytest.approx(np.sqrt(2))
    assert importance["cheap"] == pytest.approx(1)
    assert importance["so"] == 0
    assert result.rows.tolist() == [0, 2, 1]  # buy and now, then cheap, then what shows most again
    assert result.covered.tolist() == pytest.approx([(3 + np.sqrt(2)) / (4 + np.sqrt(2)), 1, 1])
    assert result.explanations[0].source == texts[0]
    assert len(result.explanations[0].variants) == 4
    assert result.frame()["effect"].sum() == pytest.approx(5 + 6 + 1)
    assert Chart(chart.body(result, PickOptions())).spec["$schema"]
    long = pick_rows(TextExplainer(pushy, checks=False).lime(["buy " + "x" * 200, "now"]), 2)
    assert (
        max(len(cell["feature"]) for cell in chart.cell_data(long, [0, 1], chart.names_of(long, [0, 1]), ["a", "b"]))
        < 60
    )
    dense = pick_rows(TextExplainer(pushy, checks=False).shap(["buy now", "cheap now"]), 1, least=None)
    assert dense.settings["least"] == 0.1


def test_rows_explained_one_by_one_are_picked_like_rows_explained_together():
    X = np.random.default_rng(0).normal(size=(40, 3))
    ex = Explainer(switch, X, checks=False)
    together = ex.lime(range(10), features=1, width=1.0)
    one_by_one, whole = pick_rows([together.row(i) for i in range(10)], 4), pick_rows(together, 4)
    np.testing.assert_array_equal(one_by_one.rows, whole.rows)
    np.testing.assert_allclose(one_by_one.values, whole.values)
    halves = pick_rows([ex.lime(range(4), features=1, width=1.0), ex.lime(range(4, 10), features=1, width=1.0)], 4)
    np.testing.assert_array_equal(halves.rows, whole.rows)
    np.testing.assert_allclose([one.prediction[0] for one in halves.explanations], switch(X[whole.rows]))


def test_images_are_picked_if_they_have_the_same_segments():
    images = np.zeros((3, 4, 4))
    images[0, :2], images[1, 2:], images[2, :2, :2] = 1.0, 1.0, 1.0
    ex = ImageExplainer(
        lambda Z: Z.reshape(len(Z), -1).sum(axis=1), segmenter="grid", segments=4, absent=0.0, checks=False
    )
    found = [ex.lime(image) for image in images]
    result = pick_rows(found, 2)
    assert result.rows.tolist() == [0, 1]
    assert result.covered[-1] == pytest.approx(1.0)
    other = ImageExplainer(lambda Z: Z.reshape(len(Z), -1).sum(axis=1), segmenter="grid", segments=2, checks=False)
    with pytest.raises(pellucid.InputError, match="different segments"):
        pick_rows([found[0], other.lime(images[1])], 1)


def test_lists_that_cannot_be_picked_from():
    X = np.random.default_rng(0).normal(size=(40, 3))
    one, two = (
        Explainer(switch, X, checks=False),
        Explainer(lambda Z: np.column_stack([Z[:, 0], Z[:, 1]]), X, checks=False),
    )
    with pytest.raises(pellucid.InputError, match="nothing to pick from"):
        pick_rows([], 1)
    with pytest.raises(pellucid.InputError, match="nothing to pick from"):
        pick_rows(["a text"], 1)
    with pytest.raises(pellucid.InputError, match="different outputs or scales"):
        pick_rows([one.lime(0), two.lime(0)], 1)
