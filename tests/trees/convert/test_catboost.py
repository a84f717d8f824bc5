"""CatBoost: the trees answer as the model does, on every kind of value and kind of tree."""

from __future__ import annotations

import itertools
import math
import pickle

import numpy as np
import pytest

from pellucid.errors import InputError
from pellucid.trees.convert.catboost import convert
from pellucid.trees.convert.catboost_hash import category_hash
from pellucid.trees.convert.tree_model import Unsupported

catboost = pytest.importorskip("catboost")
pandas = pytest.importorskip("pandas")

POLICIES = ["SymmetricTree", "Depthwise", "Lossguide"]


def fitted(X, y, kind=catboost.CatBoostRegressor, **options):
    options = {"iterations": 12, "depth": 3, "learning_rate": 0.4} | options
    return kind(**options, verbose=0, allow_writing_files=False, thread_count=1, random_seed=0).fit(X, y)


def agrees(model, table):
    tree_model = convert(model)
    raw = model.predict(table, prediction_type="RawFormulaVal")
    answer = tree_model.ensemble.predict(tree_model.encode(table))
    np.testing.assert_allclose(answer, np.reshape(raw, (len(answer), -1)), rtol=1e-12, atol=1e-12)
    return tree_model


@np.errstate(over="ignore")
def hard_rows(model, X):
    """Rows on, one single-precision step around, and half a step above the borders; missing and infinite ones."""
    nodes = convert(model).ensemble.nodes
    rows = [X]
    for j in range(X.shape[1]):
        t = np.unique(nodes.threshold[(nodes.feature == j) & ~np.isnan(nodes.threshold)])
        single = t.astype(np.float32)
        around = [np.nextafter(single, np.float32(side)).astype(float) for side in (-np.inf, np.inf)]
        beyond = [np.nan, np.inf, -np.inf, 1e300, -1e300, 3.4028234e38, -3.4028234e38]
        values = np.concatenate([t, np.nextafter(t, np.inf), single.astype(float), *around, beyond])
        block = X[np.arange(len(values)) % len(X)].copy()
        block[:, j] = values
        rows.append(block)
    return np.vstack(rows)


def check_cover(tree_model, total):
    ensemble = tree_model.ensemble
    nodes = ensemble.nodes
    inner = nodes.feature >= 0
    children = nodes.cover[nodes.left[inner]] + nodes.cover[nodes.right[inner]]
    np.testing.assert_allclose(nodes.cover[inner], children)
    np.testing.assert_allclose(nodes.cover[ensemble.roots], total)
    assert (nodes.left[inner] > np.flatnonzero(inner)).all()
    assert (nodes.right[inner] > np.flatnonzero(inner)).all()


@pytest.fixture
def rng():
    return np.random.default_rng(3)


@pytest.fixture
def X(rng):
    return rng.normal(size=(300, 4)).round(1)


@pytest.fixture
def frame(rng):
    names = ["red", "green", "a rather long name of a colour", "", "blau/grün"]
    return pandas.DataFrame(
        {
            "x": rng.normal(size=400),
            "colour": rng.choice(names, 400),
            "z": rng.normal(size=400),
            "floor": rng.integers(-2, 4, 400),
            "on": rng.random(400) < 0.5,
        }
    )


@pytest.fixture
def frame_y(frame):
    return frame.x + 2 * (frame.colour == "red") - (frame.floor == 1) * frame.z + 1.5 * frame.on


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("nan_mode", ["Min", "Max", "Forbidden"])
def test_numbers_missing_values_and_infinities(rng, X, policy, nan_mode):
    y = X[:, 0] * X[:, 1] + X[:, 2]
    if nan_mode != "Forbidden":
        X[rng.random(X.shape) < 0.2] = np.nan
        y = y + np.isnan(X[:, 0])
    model = fitted(X, y, nan_mode=nan_mode, grow_policy=policy)
    rows = hard_rows(model, X)
    before = rows.copy()
    tree_model = agrees(model, rows)
    np.testing.assert_array_equal(before, rows)
    with np.errstate(over="ignore"):
        agrees(model, rows.astype(np.float32))
    agrees(model, pandas.DataFrame(rows))
    check_cover(tree_model, len(X))
    assert (tree_model.link, tree_model.scale) == ("identity", "response")


@pytest.mark.parametrize("policy", POLICIES)
def test_categories_that_are_compared_one_by_one(frame, frame_y, policy):
    options = {"cat_features": ["colour", "floor", "on"], "one_hot_max_size": 50, "iterations": 30}
    model = fitted(frame, frame_y, grow_policy=policy, **options)
    tree_model = agrees(model, frame)
    nodes = tree_model.ensemble.nodes
    assert (nodes.set_start[nodes.feature == 1] >= 0).all()
    assert (nodes.set_start >= 0).any()
    check_cover(tree_model, len(frame))
    unseen = frame.assign(colour="violet", floor=77)
    agrees(model, unseen)
    agrees(model, frame.assign(floor=frame.floor.astype(str), on=frame.on.astype(int)))
    agrees(model, frame.assign(colour=frame.colour.astype("category")))
    agrees(model, frame.assign(on=frame.on.astype(object), floor=frame.floor.astype(object)))
    before = frame.copy(deep=True)
    tree_model.encode(frame)
    pandas.testing.assert_frame_equal(before, frame)


def test_more_categories_than_bits_in_a_word(rng):
    X = np.empty((4000, 2), dtype=object)
    X[:, 0] = [f"town {k}" for k in rng.integers(0, 150, 4000)]
    X[:, 1] = rng.normal(size=4000)
    y = np.array([int(town[5:]) % 7 for town in X[:, 0]]) + X[:, 1].astype(float)
    model = fitted(X, y, cat_features=[0], one_hot_max_size=200, iterations=150, depth=2)
    tree_model = agrees(model, X)
    assert tree_model.ensemble.nodes.set_words.max() >= 2
    X[::2, 0] = "nowhere"
    agrees(model, X)


def test_hashes_of_texts_of_every_length(rng):
    """The model file holds the hashes of its categories; two of them at a time name themselves by the split."""
    for length in (*range(34), 63, 64, 65, 127, 128, 129, 200):
        texts = [chr(65 + k) * length if length else "" for k in range(2)]
        X = np.array([[text] for text in texts] * 4, dtype=object)
        y = np.tile([0.0, 1.0], 4)
        if not length:
            X[1::2] = "other"
        model = fitted(X, y, cat_features=[0], iterations=1, depth=1, one_hot_max_size=9)
        agrees(model, X)
    assert category_hash(b"a") == -805065478
    assert category_hash(b"1") == 1121341681


def test_a_missing_category_is_refused(frame, frame_y):
    model = fitted(frame, frame_y, cat_features=["colour", "floor", "on"], one_hot_max_size=50)
    tree_model = convert(model)
    for value in (None, np.nan, 1.5):
        broken = frame.assign(colour=pandas.Series([value] * len(frame), dtype=object))
        with pytest.raises(InputError, match="'colour'"):
            tree_model.encode(broken)


def test_numbers_that_come_as_objects_are_read_as_catboost_reads_them(X):
    model = fitted(X, X[:, 0])
    rows = X.astype(object)
    rows[:4, 0] = ["1.25", None, "", True]
    agrees(model, rows)
    whole = pandas.DataFrame(X.round().astype(int)).astype("Int64")
    whole.iloc[0, 0] = pandas.NA
    tree_model = convert(model)
    assert np.isnan(tree_model.encode(whole)[0, 0])
    np.testing.assert_array_equal(tree_model.encode(whole)[1:], X.round()[1:])


def test_sparse_rows(X):
    sparse = pytest.importorskip("scipy.sparse")
    rows = np.where(np.abs(X) < 0.7, 0, X)
    model = fitted(rows, rows[:, 0])
    agrees(model, sparse.csr_matrix(rows))


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(
    ("loss", "link", "scale"),
    [
        ("Logloss", "logistic", "log-odds"),
        ("CrossEntropy", "logistic", "log-odds"),
        ("MultiClass", "softmax", "score"),
        ("MultiClassOneVsAll", "one-vs-rest", "log-odds"),
    ],
)
def test_classification(X, policy, loss, link, scale):
    two = loss in ("Logloss", "CrossEntropy")
    y = (X[:, 0] > X[:, 1]).astype(int) if two else np.digitize(X[:, 0] + X[:, 1], [-0.5, 0.5])
    model = fitted(X, y, catboost.CatBoostClassifier, loss_function=loss, grow_policy=policy)
    tree_model = agrees(model, X)
    assert (tree_model.link, tree_model.scale) == (link, scale)
    raw = tree_model.ensemble.predict(tree_model.encode(X))
    expected = model.predict(X, prediction_type="Probability")
    if link == "softmax":
        e = np.exp(raw)
        np.testing.assert_allclose(e / e.sum(axis=1, keepdims=True), expected)
    elif link == "logistic":
        np.testing.assert_allclose(1 / (1 + np.exp(-raw[:, 0])), expected[:, 1])
    else:
        np.testing.assert_allclose(1 / (1 + np.exp(-raw)), expected)


@pytest.mark.parametrize(
    ("loss", "link"),
    [("Poisson", "exp"), ("Tweedie:variance_power=1.5", "exp"), ("MAE", "identity"), ("Huber:delta=1", "identity")],
)
def test_regression_losses(X, loss, link, tmp_path):
    model = fitted(X, np.abs(X[:, 0]) + 1, loss_function=loss)
    model.save_model(str(tmp_path / "model.cbm"))
    for each in (model, catboost.CatBoostRegressor().load_model(str(tmp_path / "model.cbm"))):
        tree_model = agrees(each, X)
        assert tree_model.link == link
        raw = tree_model.ensemble.predict(X)[:, 0]
        if each is model:
            np.testing.assert_allclose(np.exp(raw) if link == "exp" else raw, each.predict(X))


def test_several_targets(X):
    model = fitted(X, X[:, :2] + 5, loss_function="MultiRMSE")
    tree_model = agrees(model, X)
    assert tree_model.ensemble.n_outputs == 2
    assert (tree_model.link, tree_model.scale) == ("identity", "response")
    labels = fitted(X, (X[:, :3] > 0).astype(int), catboost.CatBoostClassifier, loss_function="MultiLogloss")
    assert agrees(labels, X).link == "one-vs-rest"


def test_scale_bias_and_weights(rng, X):
    weights = rng.integers(0, 4, len(X)).astype(float)
    options = {"iterations": 5, "depth": 4, "verbose": 0, "allow_writing_files": False}
    model = catboost.CatBoostRegressor(**options).fit(X, X[:, 0] + 100, sample_weight=weights)
    tree_model = agrees(model, X)
    check_cover(tree_model, weights.sum())
    assert (tree_model.ensemble.nodes.cover == 0).any()  # symmetric trees have empty leaves
    model.set_scale_and_bias(2.5, -3.0)
    agrees(model, X)


def test_only_the_trees_that_predict_uses(X):
    y = X[:, 0] * X[:, 1]
    options = {"iterations": 60, "depth": 5, "learning_rate": 0.9, "verbose": 0, "allow_writing_files": False}
    model = catboost.CatBoostRegressor(**options).fit(X[:200], y[:200], eval_set=(X[200:], y[200:]))
    assert model.tree_count_ < 60
    tree_model = agrees(model, X)
    assert len(tree_model.ensemble.roots) == model.tree_count_


def test_a_tree_without_splits(X):
    model = fitted(X, X[:, 0], grow_policy="Lossguide", min_data_in_leaf=1000)
    tree_model = agrees(model, X)
    assert len(tree_model.ensemble.nodes.feature) == len(tree_model.ensemble.roots)


def test_a_sum_of_models_has_an_unknown_link(X):
    one, two = fitted(X, X[:, 0]), fitted(X, X[:, 1])
    tree_model = agrees(catboost.sum_models([one, two], weights=[0.5, 2.0]), X)
    assert (tree_model.link, tree_model.scale) == ("other", "score")


def test_the_levels_of_a_symmetric_tree_are_in_the_order_that_the_path_game_of_catboost_walks(X):
    X = X[:, :3].copy()
    X[:, 1] += X[:, 0]
    model = fitted(X, X[:, 0] * X[:, 1] + X[:, 2], iterations=4)
    ensemble = convert(model).ensemble
    nodes = ensemble.nodes

    def value(node, row, known):
        if nodes.feature[node] < 0:
            return nodes.value[node, 0]
        left, right = nodes.left[node], nodes.right[node]
        if nodes.feature[node] in known:
            goes_left = row[nodes.feature[node]] <= nodes.threshold[node]
            return value(left if goes_left else right, row, known)
        cover = nodes.cover[[left, right]]
        if not cover.sum():
            return 0.0
        return (cover[0] * value(left, row, known) + cover[1] * value(right, row, known)) / cover.sum()

    expected = model.get_feature_importance(catboost.Pool(X[:5]), type="ShapValues")
    for row, shap in zip(X[:5], expected, strict=True):
        games = {
            known: sum(value(root, row, known) for root in ensemble.roots)
            for size in range(4)
            for known in itertools.combinations(range(3), size)
        }
        for j in range(3):
            phi = sum(
                math.factorial(len(S)) * math.factorial(2 - len(S)) / 6 * (games[tuple(sorted({*S, j}))] - v)
                for S, v in games.items()
                if j not in S
            )
            assert phi == pytest.approx(shap[j], abs=1e-9)


def test_constructs_that_are_refused_by_name(rng, frame, frame_y):
    words = pandas.DataFrame({"x": frame.x, "words": rng.choice(["a b", "b c d", "e f"], 400)})
    model = fitted(words, (words.words == "a b").astype(int), catboost.CatBoostClassifier, text_features=["words"])
    with pytest.raises(Unsupported, match="CatBoost text feature 'words'"):
        convert(model)
    X = rng.normal(size=(300, 2)).round(1)
    X[0, 0], X[1, 0], X[2, 1] = np.inf, -np.inf, np.nan
    model = fitted(X, np.nan_to_num(X[:, 0], posinf=3, neginf=-3), iterations=20, nan_mode="Min")
    if -np.inf in np.concatenate(list(model.get_borders().values())):
        with pytest.raises(Unsupported, match="cannot be written as JSON"):
            convert(model)


def test_the_encoder_travels_to_other_processes(frame, frame_y):
    model = fitted(frame, frame_y, cat_features=["colour", "floor", "on"], one_hot_max_size=50)
    encode = convert(model).encode
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(encode))(frame), encode(frame))
