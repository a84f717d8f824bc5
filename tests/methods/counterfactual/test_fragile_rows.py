"""Fragile rows: the ranking is that of the rows one by one, proven for trees, and says what it does not know."""

import numpy as np
import pandas as pd
import pytest

import pellucid
from golden_files import masked
from methods.counterfactual.asking import credit_like, explainer, risk
from pellucid import Explainer
from pellucid.errors import InputError


def table():
    X = np.round(np.random.default_rng(0).uniform(size=(120, 3)), 2)
    X[:2] = [[0, 0, 0], [1, 1, 1]]  # the ranges are 1
    return pd.DataFrame(X, columns=["a", "b", "c"])


def forest():
    from sklearn.ensemble import RandomForestClassifier

    X = table()
    y = np.where(3 * X["a"] + 2 * X["b"] - X["c"] > 2, "yes", "no")
    return RandomForestClassifier(8, max_depth=4, random_state=0).fit(X, y)


@pytest.fixture(scope="module")
def read():
    return Explainer(forest(), table(), progress=False)


@pytest.fixture(scope="module")
def ranked(read):
    return read.adversarial(range(15))


@pytest.mark.parametrize("norm", ["linf", "l1", "l0"])
def test_the_ranking_is_that_of_the_rows_one_by_one(read, norm):
    ranked = read.adversarial([2, 5, 9, 30], norm=norm)
    alone = [read.adversarial(row, norm=norm) for row in (2, 5, 9, 30)]
    np.testing.assert_allclose(ranked.values, [one.scores["distance"][0] for one in alone])
    assert ranked.proven.all()
    assert all(one.proven for one in alone)
    assert ranked.ranking().tolist() == np.argsort(ranked.values, kind="stable").tolist()
    for place, one in enumerate(alone):
        np.testing.assert_array_equal(ranked.predictions[place], one.prediction)


def test_the_changed_rows_flip_and_nothing_nearer_does(read, ranked):
    model, X = forest(), table()
    order = ranked.ranking()
    flipped = ranked.rows()
    own = model.predict(X.iloc[order])
    assert (model.predict(flipped) != own).all()
    assert [ranked.answer_said[i] for i in order] == model.predict(flipped).tolist()
    assert [ranked.said[i] for i in order] == own.tolist()
    moved = np.abs(flipped.to_numpy() - X.to_numpy()[order])
    np.testing.assert_allclose(moved.max(axis=1), ranked.values[order])
    np.testing.assert_allclose(moved, ranked.moved[order], atol=1e-12)
    first = int(order[0])
    steps = np.arange(-9, 10) / 100
    around = X.to_numpy()[first] + np.stack(np.meshgrid(steps, steps, steps), axis=-1).reshape(-1, 3)
    nearer = np.abs(around - X.to_numpy()[first]).max(axis=1) < ranked.values[first] - 1e-9
    inside = ((around >= 0) & (around <= 1)).all(axis=1)
    around = np.round(around[nearer & inside], 2)
    assert len(around)
    assert (model.predict(pd.DataFrame(around, columns=["a", "b", "c"])) == own[0]).all()


def test_rows_are_positions_a_slice_a_table_or_a_sample(read, ranked):
    same = read.adversarial(slice(0, 15))
    np.testing.assert_array_equal(same.values, ranked.values)
    np.testing.assert_array_equal(read.adversarial(table().iloc[:15]).values, ranked.values)
    drawn = read.adversarial(sample=4)
    assert (len(drawn), drawn.sampled_from) == (4, 120)
    np.testing.assert_array_equal(drawn.row_labels.positions, read.adversarial(sample=4).row_labels.positions)
    assert any("drawn at random" in line for line in drawn.findings())
    whole = Explainer(forest(), table().iloc[:6], progress=False).adversarial()
    assert (len(whole), whole.sampled_from) == (6, 0)


def test_one_row_is_an_answer_of_its_own(read):
    assert isinstance(read.adversarial(3), pellucid.Counterfactuals)
    assert isinstance(read.adversarial([3]), pellucid.Counterfactuals)
    assert len(read.adversarial(3, n=2)) == 2
    with pytest.raises(InputError, match="n="):
        read.adversarial([3, 4], n=2)


def test_sentences_name_the_most_fragile_row_first(ranked, golden):
    golden("counterfactuals", "fragile rows", masked(ranked.text()))
    first = int(ranked.ranking(1)[0])
    assert ranked.headline().startswith(f"Row {ranked.row_labels.name(first)} is the most fragile")
    frame = ranked.frame()
    assert list(frame) == ["row", "distance", "proven", "now", "instead", "features", "change"]
    assert frame["row"].tolist() == ranked.ranking().tolist()
    assert frame["distance"].is_monotonic_increasing
    name, (now, instead) = next(iter(ranked.changes(first).items()))
    assert name in frame["change"][0]
    assert now != instead


def test_rows_that_do_not_flip_or_need_not_are_told_apart(golden, tmp_path):
    said = {"fixed": ["age", "score", "housing", "job", "foreign"], "ranges": {"amount": (10, 90)}}
    found = explainer().adversarial(range(12), ">= 0.6", **said, norm="l2", budget=150)
    own = risk(credit_like())[:12]
    np.testing.assert_array_equal(np.isnan(found.values), own >= 0.6)
    assert np.isinf(found.values).any()
    assert found.flipped.any()
    assert not found.proven[~np.isnan(found.values)].any()
    order = found.ranking()
    kinds = np.select([found.flipped, np.isinf(found.values)], [0, 1], 2)[order]
    assert (np.diff(kinds) >= 0).all()
    assert (found.answer_predictions[found.flipped, 0] >= 0.6).all()
    golden("counterfactuals", "fragile rows that are asked", masked(found.text()))
    again = found.save(tmp_path / "found.json")
    assert pellucid.load(again) == found
    assert found.plot().spec
    assert found.plot(kind="curve").spec


def test_all_rows_there_already_or_none_to_flip():
    at = explainer().adversarial([1, 2], ">= 0")
    assert "already" in at.headline()
    assert at.plot().spec
    assert at.plot(kind="curve").spec
    never = explainer().adversarial([1, 2], ">= 2", budget=60)
    assert np.isinf(never.values).all()
    assert never.plot().spec
    assert len(never.rows()) == 0


def test_an_interruption_keeps_the_rows_that_are_done():
    asked = 0

    def model(X):
        nonlocal asked
        asked += 1
        if asked == stop:
            raise KeyboardInterrupt
        return risk(X)

    stop = -1
    ex = explainer(model=model)
    before = asked
    whole = ex.adversarial(range(6), ">= 0.9", budget=80)
    per_call, asked, stop = asked - before, 0, 0
    stop = per_call - 2
    cut = ex.adversarial(range(6), ">= 0.9", budget=80)
    assert cut.cost.interrupted
    assert 0 < len(cut) < len(whole) == 6
    np.testing.assert_array_equal(cut.values, whole.values[: len(cut)])
    assert cut.headline().startswith("Interrupted, so far")


def test_the_chart_has_the_most_fragile_rows_first(ranked):
    from pellucid.charts.counterfactuals.fragile import curve_data, row_data

    rows = row_data(ranked, 5)
    assert [row["row"] for row in rows] == [f"row {i}" for i in ranked.ranking(5)]
    assert [row["distance"] for row in rows] == sorted(ranked.values)[:5]
    curve = curve_data(ranked)
    assert curve[0]["share"] == 0
    assert curve[-1]["share"] == 1
