"""Editing an additive model: what changes is the term that was meant, and the cost is the one that was measured."""

import numpy as np
import pytest

import pellucid
from glassbox.tables import mixed
from pellucid.glassbox import AdditiveModel


@pytest.fixture(scope="module")
def rows():
    X, mean = mixed()
    together = 0.1 * (X["temp"] - 15) * np.where(X["season"] == "winter", 1, -1)
    return X, (mean + together + 0.3 * np.random.default_rng(1).normal(size=len(X))).to_numpy()


@pytest.fixture(scope="module")
def model(rows):
    return AdditiveModel(pairs=[("temp", "season")]).fit(*rows)


def others_are_as_before(model, changed, X, k):
    before, after = model.explain(X), changed.explain(X)
    rest = np.arange(before.values.shape[1]) != k
    assert np.array_equal(before.values[:, rest], after.values[:, rest])
    assert changed.predict(X).mean() == pytest.approx(model.predict(X).mean())
    assert np.allclose(after.values.sum(axis=1) + after.base, changed.predict(X))


def test_removing_a_term_costs_what_predictions_lose(rows, model):
    X, y = rows
    changed = model.edit("hum", remove=True, X=X, y=y)
    (edit,) = changed.edits_
    assert (edit.term, edit.change) == ("hum", "removed")
    assert edit.before == pytest.approx(np.square(y - model.predict(X)).mean())
    assert edit.after == pytest.approx(np.square(y - changed.predict(X)).mean())
    assert edit.cost == pytest.approx(edit.after - edit.before)
    assert edit.cost > 0
    others_are_as_before(model, changed, X, 1)
    assert (changed.explain("hum").values == 0.0).all()
    assert changed.explain().values[1] == 0.0
    assert not model.edits_  # the model itself stays


def test_the_cost_for_classes_is_twice_the_log_loss(rows):
    X, y = rows[0], np.where(rows[1] > 2.4, "yes", "no")
    model = AdditiveModel().fit(X, y)
    (edit,) = model.edit("temp", remove=True, X=X, y=y).edits_
    p = model.predict_proba(X)[np.arange(len(y)), (y == "yes").astype(int)]
    assert edit.before == pytest.approx(-2 * np.log(p).mean())


def test_removing_a_pair(rows, model):
    X, y = rows
    changed = model.edit(("season", "temp"), remove=True, X=X, y=y)
    others_are_as_before(model, changed, X, len(X.columns))
    assert changed.edits_[0].term == "temp x season"
    assert changed.edits_[0].cost > 0
    assert (changed.explain(X).values[:, -1] == 0.0).all()


def test_smoothing_ends_at_a_constant_and_begins_at_the_function_itself(rows, model):
    X, _ = rows
    sizes = [model.edit("temp", smooth=freedom).explain().values[0] for freedom in (1.01, 3, 50)]
    assert sizes == sorted(sizes)
    changed = model.edit("temp", smooth=3)
    others_are_as_before(model, changed, X, 0)
    assert np.abs(np.diff(changed.explain("temp").values)).sum() < np.abs(np.diff(model.explain("temp").values)).sum()
    most = model._fitted.axes[0].present
    nearly = model.edit("temp", smooth=most - 1e-2).explain("temp").values
    assert np.allclose(nearly, model.explain("temp").values, atol=1e-2)
    mass = model._fitted.masses[0]
    assert mass @ changed._fitted.tables[0][:, 0] == pytest.approx(0.0, abs=1e-12)


def test_replacing_takes_values_between_which_lines_are_straight(rows, model):
    X, _ = rows
    changed = model.edit("temp", values={0.0: -1.0, 30.0: 2.0})
    others_are_as_before(model, changed, X, 0)
    effect = changed.explain("temp")
    inside = (effect.grids[0] > 1) & (effect.grids[0] < 29)
    slopes = np.diff(effect.values[inside]) / np.diff(effect.grids[0][inside])
    assert np.median(slopes) == pytest.approx(0.1)
    assert (effect.se == 0.0).all()
    same = model.edit("temp", values=lambda t: np.interp(t, [0.0, 30.0], [-1.0, 2.0]))
    assert np.allclose(same.predict(X), changed.predict(X))


def test_replacing_one_level_keeps_the_others_apart(rows, model):
    before, after = (each.explain("season").values for each in (model, model.edit("season", values={"summer": 2.0})))
    levels = list(model.explain("season").grids[0])
    spring, winter = levels.index("spring"), levels.index("winter")
    assert after[spring] - after[winter] == pytest.approx(before[spring] - before[winter])
    assert after[levels.index("summer")] - after[spring] == pytest.approx(2.0 - before[spring])


def test_edits_add_up_and_a_shape_is_kept(rows):
    X, y = rows
    model = AdditiveModel(shapes={"temp": "increasing"}).fit(X, y)
    twice = model.edit("hum", remove=True).edit("temp", smooth=2)
    assert [edit.change for edit in twice.edits_] == ["removed", "smoothed to 2 degrees of freedom"]
    assert (np.diff(twice.explain("temp").values) >= 0).all()
    assert np.isnan(twice.edits_[0].cost)
    with pytest.raises(pellucid.InputError, match="temp"):
        model.edit("temp", values={0.0: 1.0, 30.0: 0.0})


@pytest.mark.parametrize(
    ("term", "options", "word"),
    [
        ("temp", {}, "remove"),
        ("temp", {"remove": True, "smooth": 2.0}, "one of"),
        ("temp", {"remove": 1}, "remove"),
        ("temp", {"smooth": 0.5}, "smooth"),
        ("season", {"smooth": 2.0}, "season"),
        ("temp", {"values": 3.0}, "values"),
        ("temp", {"values": {}}, "values"),
        ("temp", {"values": {0.0: np.nan}}, "values"),
        ("tmp", {"remove": True}, "tmp"),
        (("temp", "hum"), {"remove": True}, "temp x season"),
        (("temp", "season"), {"smooth": 2.0}, "pair"),
        ("season", {"values": {"autumn": 1.0}}, "autumn"),
        ("temp", {"values": {"warm": 1.0}}, "warm"),
        ("temp", {"values": {0.0: "much"}}, "values"),
        ("temp", {"remove": True, "X": 1}, "y"),
    ],
)
def test_errors_name_what_is_wrong(model, term, options, word):
    with pytest.raises(pellucid.InputError, match=word):
        model.edit(term, **options)
