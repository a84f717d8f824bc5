"""Trees read by the engine give what going through all coalitions gives."""

import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor, IsolationForest, RandomForestRegressor

import pellucid
from methods.attribution.scenes import MODELS, SMALL, coded, one_hot, outcome, scene, table
from pellucid import Explainer
from pellucid.explanations.attribution_words import labels_of
from pellucid.methods.attribution.interaction_indices import interaction_matrix
from pellucid.methods.attribution.shapley_exact import shapley_values
from pellucid.trees.convert import convert, sklearn
from reference.trees import path_game

ROWS = [0, 7, 11]


def by_coalitions(model, frame, rows, weights=None):
    """``v[row, coalition]`` of what the trees add up to, asking the converted trees for every mixed table."""
    read = convert(model)
    p, weights = frame.shape[1], np.ones(len(frame)) if weights is None else weights
    v = np.zeros((len(rows), 2**p, read.ensemble.n_outputs))
    for r, row in enumerate(rows):
        for mask in range(2**p):
            mixed = frame.copy()
            for j, name in enumerate(frame.columns):
                if mask >> j & 1:
                    mixed[name] = frame[name].iloc[[row] * len(frame)].array
            v[r, mask] = weights @ read.ensemble.predict(read.encode(mixed)) / weights.sum()
    return v


@pytest.mark.parametrize("name", MODELS)
def test_equals_going_through_all_coalitions(name):
    model, frame, y = scene(name)
    ex = Explainer(model, frame, y, progress=False, checks=False)
    found = ex.shap(ROWS, interactions=True)
    assert found.method == "tree"
    v = by_coalitions(model, frame, ROWS)
    v = v[..., 1:] if name == "forest of classes" else v
    np.testing.assert_allclose(found.stacked(), shapley_values(v), rtol=0, atol=1e-9)
    np.testing.assert_allclose(np.atleast_1d(found.base), v[0, 0], atol=1e-9)
    np.testing.assert_allclose(found.stacked("interaction_values"), interaction_matrix(v), atol=1e-9)
    np.testing.assert_allclose(found.stacked("prediction"), v[:, -1], rtol=1e-6)
    assert found.additivity.relative < 1e-6
    assert not found.se.any()


@pytest.mark.parametrize("name", ["forest", "forest of three classes", "hist", "lightgbm", "one-hot pipeline"])
def test_equals_asking_the_model_itself(name):
    """Where the trees add up to the prediction, the two methods are told apart by nothing but their cost."""
    model, frame, y = scene(name)
    ex = Explainer(model, frame, y, progress=False)
    fast, slow = ex.shap(ROWS, interactions=True), ex.shap(ROWS, method="exact", interactions=True)
    assert (fast.method, slow.method) == ("tree", "exact")
    for field in ("values", "base", "prediction", "interaction_values"):
        np.testing.assert_allclose(getattr(fast, field), getattr(slow, field), rtol=1e-9, atol=1e-9)
    assert fast.cost.model_rows == len(ROWS)
    assert slow.cost.model_rows > 25 * len(ROWS) * len(frame)


@pytest.mark.parametrize(
    "name", ["forest", "hist of classes", "xgboost", "lightgbm of three classes", "one-hot pipeline"]
)
def test_path_game_equals_its_definition(name):
    model, frame, y = scene(name)
    found = Explainer(model, frame, y, progress=False).shap(ROWS, game="path", interactions=True)
    read = convert(model)
    matrix = read.encode(frame.iloc[ROWS])
    v = np.stack([path_game(read.ensemble, row, read.source) for row in matrix])
    np.testing.assert_allclose(found.stacked(), shapley_values(v), atol=1e-9)
    np.testing.assert_allclose(found.stacked("interaction_values"), interaction_matrix(v), atol=1e-9)
    assert (found.game, found.reference.rows) == ("path", 0)
    assert "path game" in found.text()


def test_a_group_is_one_player():
    model, frame, y = scene("one-hot pipeline")
    groups = {"weather": ["temp", "hum"], "time": ["season", "day"]}
    ex = Explainer(model, frame, y, groups=groups, progress=False)
    fast, slow = ex.shap(ROWS), ex.shap(ROWS, method="exact")
    assert fast.method == "tree"
    assert fast.feature_names == ("weather", "time", "work")
    assert fast.entries.members == (("temp", "hum"), ("season", "day"), ("work",))
    np.testing.assert_allclose(fast.values, slow.values, atol=1e-9)
    assert labels_of(fast, 0)[0].startswith("weather: temp = 31.3, ")


def test_features_the_model_does_not_use_contribute_exactly_nothing():
    frame = table().assign(name=[f"row {i}" for i in range(60)])[["name", "day", "temp", "hum"]]
    model = RandomForestRegressor(**SMALL).fit(frame[["temp", "day"]], frame["temp"])
    found = Explainer(model, frame, progress=False).shap(ROWS)
    assert found.method == "tree"
    assert not found.values[:, [0, 3]].any()
    alone = Explainer(model, frame[["temp", "day"]], progress=False).shap(ROWS)
    np.testing.assert_array_equal(found.values[:, [2, 1]], alone.values)


@pytest.mark.parametrize("name", ["hist of classes", "boosted", "xgboost of classes", "one-hot pipeline of classes"])
def test_the_first_of_two_classes_is_the_mirror_image(name):
    model, frame, y = scene(name)
    second = Explainer(model, frame, y, progress=False).shap(ROWS)
    both = Explainer(model, frame, y, output=list(model.classes_), progress=False).shap(ROWS)
    assert both.values.shape == (3, 5, 2)
    np.testing.assert_allclose(both.values[..., 1], second.values)
    np.testing.assert_allclose(both.values[..., 0], -second.values)
    np.testing.assert_allclose(both.base, [1 - float(second.base), float(second.base)])
    assert both.additivity.relative < 1e-9
    odds = Explainer(model, frame, y, output=list(model.classes_), link="logit", progress=False).shap(ROWS)
    np.testing.assert_allclose(odds.values[..., 0], -odds.values[..., 1])
    np.testing.assert_allclose(odds.base[0], -odds.base[1])


def test_every_class_can_be_asked_alone():
    model, frame, y = scene("hist of three classes")
    every = Explainer(model, frame, y, progress=False).shap(ROWS)
    for name in every.output_names:
        one = Explainer(model, frame, y, output=name, progress=False).shap(ROWS)
        np.testing.assert_allclose(one.values, every.for_output(name).values, rtol=1e-12)
        np.testing.assert_allclose(one.base, every.for_output(name).base)
    two = Explainer(model, frame, y, output=["mid", "high"], progress=False).shap(ROWS)
    assert two.output_names == ("mid", "high")
    np.testing.assert_allclose(two.values, every.values[..., [2, 0]])


def test_decision_function_and_probabilities_share_their_trees():
    model, frame, _y = scene("boosted")
    scores = Explainer(model.decision_function, frame, progress=False).shap(ROWS)
    logodds = Explainer(model, frame, progress=False).shap(ROWS, scale="log-odds")
    assert (scores.method, scores.scale, logodds.scale) == ("tree", "score", "log-odds")
    np.testing.assert_allclose(scores.values, logodds.values)


def test_a_model_from_a_file(tmp_path):
    model, frame, _y = scene("xgboost of classes")
    path = tmp_path / "model.json"
    model.save_model(path)
    found = Explainer(str(path), frame, progress=False).shap(ROWS)
    np.testing.assert_allclose(found.values, Explainer(model, frame, progress=False).shap(ROWS).values)
    assert found.method == "tree"


def test_trees_that_miss_the_model_are_refused(monkeypatch):
    """Nothing is explained by trees that do not give the model's own predictions (A4: no silently wrong numbers)."""
    model, frame, _y = scene("forest")

    right = sklearn.convert

    def wrong(given):
        read = right(given)
        return type(read)(**{**vars(read), "ensemble": read.ensemble.scaled(1.1)})

    monkeypatch.setitem(sys.modules, "pellucid.trees.convert.sklearn", SimpleNamespace(convert=wrong))
    ex = Explainer(model, frame, progress=False)
    with pytest.raises(pellucid.InputError, match=r"up to \d.*method='auto'"):
        ex.shap(ROWS, method="tree")
    found = ex.shap(ROWS)
    assert found.method == "exact"
    assert next(caveat.code for caveat in found.caveats) == "not-trees"
    monkeypatch.undo()
    expected = Explainer(model, frame, progress=False).shap(ROWS)
    np.testing.assert_allclose(found.values, expected.values, atol=1e-9)


def test_a_background_of_any_size_costs_no_model_rows():
    model, frame, _y = scene("hist")
    many = pd.concat([frame] * 20, ignore_index=True)
    once, often = (Explainer(model, X, progress=False, checks=False).shap(frame.iloc[ROWS]) for X in (frame, many))
    np.testing.assert_allclose(once.values, often.values, atol=1e-9)
    assert often.reference.rows == 1200
    assert often.cost.model_rows == len(ROWS)


def test_forests_of_outliers_are_asked_instead():
    X = coded(table())
    found = Explainer(IsolationForest(n_estimators=10, random_state=0).fit(X), X, background=10, progress=False).shap(0)
    assert found.method == "exact"
    assert "not-trees" in {caveat.code for caveat in found.caveats}


def test_columns_in_another_order_and_more_of_them():
    model, frame, _y = scene("hist")
    expected = Explainer(model, frame, progress=False).shap(ROWS)
    shuffled = frame[["day", "season", "hum", "temp", "work"]].assign(extra=1.0)
    found = Explainer(model, shuffled, progress=False).shap(ROWS)
    order = [found.feature_names.index(name) for name in expected.feature_names]
    np.testing.assert_allclose(found.values[:, order], expected.values, atol=1e-12)
    assert not found.values[:, found.feature_names.index("extra")].any()


def test_deep_one_hot_trees_and_groups_together():
    frame = table()
    model = one_hot(RandomForestRegressor(5, random_state=1)).fit(frame, outcome(frame))
    ex = Explainer(model, frame, groups={"rest": ["hum", "season", "work"]}, progress=False)
    np.testing.assert_allclose(ex.shap(ROWS).values, ex.shap(ROWS, method="exact").values, atol=1e-9)


def test_user_pain_a1_native_categories_and_a8_missing_values():
    """Categorical splits and missing values are read, in both games and in interactions (A1, A8)."""
    model, frame, _y = scene("hist")
    assert frame.isna().any().any()
    assert isinstance(model, HistGradientBoostingRegressor)
    row = {"temp": 3.0, "hum": None, "season": None, "work": True, "day": 4}
    ex = Explainer(model, frame, progress=False)
    found, slow = ex.shap(row, interactions=True), ex.shap(row, interactions=True, method="exact")
    np.testing.assert_allclose(found.values, slow.values, atol=1e-9)
    np.testing.assert_allclose(found.interaction_values, slow.interaction_values, atol=1e-9)
    assert "hum = missing" in found.text()
