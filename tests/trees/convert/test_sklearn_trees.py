"""scikit-learn's own trees: the converted scores are the library's, on values around every split too."""

import pickle
import time

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingClassifier,
)
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier, ExtraTreeRegressor

from pellucid import Explainer
from pellucid.errors import InputError
from pellucid.trees.convert.registry import convert
from pellucid.trees.convert.tree_model import Unsupported
from trees.convert.sklearn_checks import assert_predicts, data, edges_of, labels, on_the_edge

REGRESSORS = {
    "tree": DecisionTreeRegressor(random_state=0),
    "absolute error": DecisionTreeRegressor(criterion="absolute_error", max_depth=4, random_state=0),
    "best first": DecisionTreeRegressor(max_leaf_nodes=12, random_state=0),
    "pruned": DecisionTreeRegressor(ccp_alpha=1.0, random_state=0),
    "extra tree": ExtraTreeRegressor(random_state=0),
    "random forest": RandomForestRegressor(7, random_state=0),
    "extra trees": ExtraTreesRegressor(7, bootstrap=True, random_state=0),
}
CLASSIFIERS = {
    "tree": DecisionTreeClassifier(max_depth=5, random_state=0),
    "entropy": DecisionTreeClassifier(criterion="entropy", class_weight="balanced", max_depth=5, random_state=0),
    "extra tree": ExtraTreeClassifier(max_depth=5, random_state=0),
    "random forest": RandomForestClassifier(7, max_depth=5, random_state=0),
    "extra trees": ExtraTreesClassifier(7, max_depth=5, random_state=0),
}


@pytest.mark.parametrize("missing", [0.0, 0.15])
@pytest.mark.parametrize("name", REGRESSORS)
def test_regressors(name, missing):
    if name == "absolute error":
        missing = 0.0  # older versions take no missing values there
    X, y = data(missing=missing)
    model = REGRESSORS[name].fit(X, y)
    table = edges_of(model, data(seed=1, missing=missing)[0])
    read = assert_predicts(model, table, model.predict(table))
    assert (read.link, read.scale, read.fill) == ("identity", "response", 0.0)
    assert read.source.tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("missing", [0.0, 0.15])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifiers_have_a_column_for_each_class(name, n_classes, missing):
    X, y = data(missing=missing)
    model = CLASSIFIERS[name].fit(X, labels(y, n_classes))
    table = edges_of(model, data(seed=1, missing=missing)[0])
    read = assert_predicts(model, table, model.predict_proba(table))
    assert read.ensemble.n_outputs == n_classes
    assert (read.link, read.scale) == ("identity", "probability")


def test_missing_values_that_training_never_saw_go_where_most_rows_went():
    X, y = data()
    model = RandomForestRegressor(5, random_state=0).fit(X, y)
    table, _ = data(seed=1, missing=0.5)
    assert_predicts(model, table, model.predict(table))


@pytest.mark.parametrize("model", [DecisionTreeRegressor(max_depth=4), RandomForestRegressor(5, random_state=0)])
def test_several_targets(model):
    X, y = data()
    model.fit(X, np.column_stack([y, -y, X[:, 1]]))
    read = assert_predicts(model, X, model.predict(X))
    assert read.ensemble.n_outputs == 3


def test_sample_weights_are_the_cover():
    X, y = data()
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(X))
    model = DecisionTreeRegressor(max_depth=3).fit(X, y, sample_weight=weight)
    read = assert_predicts(model, X, model.predict(X))
    assert read.ensemble.nodes.cover[0] == pytest.approx(weight.sum())


def test_the_rows_of_a_tree_are_its_cover():
    X, y = data()
    read = convert(RandomForestRegressor(4, bootstrap=False, random_state=0).fit(X, y))
    assert read.ensemble.nodes.cover[read.ensemble.roots].tolist() == [len(X)] * 4


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber", "quantile"])
def test_gradient_boosting_regressor(loss):
    X, y = data()
    model = GradientBoostingRegressor(loss=loss, n_estimators=15, subsample=0.8, random_state=0).fit(X, y)
    table = edges_of(model, data(seed=1)[0])
    read = assert_predicts(model, table, model.predict(table))
    assert (read.link, read.scale) == ("identity", "response")


@pytest.mark.parametrize(
    ("loss", "n_classes", "link", "scale"),
    [
        ("log_loss", 2, "logistic", "log-odds"),
        ("log_loss", 3, "softmax", "score"),
        ("exponential", 2, "other", "score"),
    ],
)
def test_gradient_boosting_classifier(loss, n_classes, link, scale):
    X, y = data()
    model = GradientBoostingClassifier(loss=loss, n_estimators=15, random_state=0).fit(X, labels(y, n_classes))
    table = edges_of(model, data(seed=1)[0])
    read = assert_predicts(model, table, model.decision_function(table))
    assert (read.link, read.scale) == (link, scale)
    assert read.ensemble.n_outputs == (1 if n_classes == 2 else n_classes)


def test_the_links_make_probabilities():
    X, y = data()
    for n_classes in (2, 3):
        model = GradientBoostingClassifier(n_estimators=5).fit(X, labels(y, n_classes))
        read = convert(model)
        raw = read.ensemble.predict(read.encode(X))
        raw = np.hstack([np.zeros_like(raw), raw]) if n_classes == 2 else raw
        found = np.exp(raw) / np.exp(raw).sum(axis=1, keepdims=True)
        np.testing.assert_allclose(found, model.predict_proba(X), rtol=1e-9)


@pytest.mark.parametrize("init", ["zero", DummyRegressor(strategy="quantile", quantile=0.9)])
def test_gradient_boosting_starts_from_a_constant(init):
    X, y = data()
    model = GradientBoostingRegressor(init=init, n_estimators=5).fit(X, y)
    assert_predicts(model, X, model.predict(X))
    for n_classes in (2, 3):
        start = init if init == "zero" else DummyClassifier(strategy="most_frequent")
        classifier = GradientBoostingClassifier(init=start, n_estimators=5).fit(X, labels(y, n_classes))
        assert_predicts(classifier, X, classifier.decision_function(X))


def test_gradient_boosting_from_another_model_is_refused():
    X, y = data()
    model = GradientBoostingRegressor(init=LinearRegression(), n_estimators=3).fit(X, y)
    with pytest.raises(Unsupported, match="GradientBoostingRegressor with init=LinearRegression"):
        convert(model)
    by_chance = GradientBoostingClassifier(init=DummyClassifier(strategy="stratified"), n_estimators=3)
    with pytest.raises(Unsupported, match="stratified"):
        convert(by_chance.fit(X, y > 0))


@pytest.mark.parametrize("max_features", [1.0, 2])
def test_isolation_forest(max_features):
    X, _ = data()
    X[0, 0] = np.nan
    model = IsolationForest(n_estimators=20, max_features=max_features, max_samples=64, random_state=0).fit(X)
    subsets = [range(5)] * 20 if max_features == 1.0 else model.estimators_features_
    feature = [
        np.where(tree.tree_.feature < 0, -1, np.asarray(columns)[tree.tree_.feature])
        for tree, columns in zip(model.estimators_, subsets, strict=True)
    ]
    threshold = [tree.tree_.threshold for tree in model.estimators_]
    table = on_the_edge(data(seed=1, missing=0.1)[0], np.concatenate(feature), np.concatenate(threshold))
    table[::17, 0], table[::19, 1] = np.inf, -np.inf
    c = 2 * (np.log(63) + np.euler_gamma) - 2 * 63 / 64
    lengths = -c * np.log2(-model.score_samples(table))
    read = assert_predicts(model, table, lengths)
    assert (read.link, read.scale) == ("other", "score")


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csc_array])
def test_a_sparse_table_is_zero_where_it_stores_nothing(kind):
    X, y = data()
    X[np.abs(X) < 1] = 0
    model = RandomForestRegressor(5, random_state=0).fit(kind(X), y)
    assert_predicts(model, kind(X), model.predict(kind(X)))


@pytest.mark.parametrize("make", [RandomForestRegressor, GradientBoostingRegressor])
def test_a_frame_of_sparse_columns(make):
    X, y = data()
    X[np.abs(X) < 1] = 0
    frame = pd.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(X), columns=list("abcde"))
    model = make(n_estimators=5, random_state=0).fit(frame, y)
    assert_predicts(model, frame, model.predict(frame))
    explainer = Explainer(model, frame)
    full = Explainer(model, pd.DataFrame(X, columns=frame.columns))
    np.testing.assert_array_equal(explainer.shap([0, 3]).values, full.shap([0, 3]).values)


def test_a_frame_of_which_some_columns_are_sparse():
    """What a sparse column does not store is its own fill value, missing or not."""
    X, y = data()
    X[::2, 1], X[::3, 2] = 7, np.nan
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = RandomForestRegressor(5, random_state=0).fit(frame, y)
    some = frame.astype({"b": pd.SparseDtype(float, 7), "c": pd.SparseDtype(float, np.nan)})
    assert_predicts(model, some, model.predict(frame))


def test_frames_and_single_precision():
    X, y = data()
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = DecisionTreeRegressor(max_depth=5).fit(frame, y)
    assert_predicts(model, frame, model.predict(frame))
    nullable = frame.astype("Float64")
    nullable.iloc[::7, 0] = pd.NA
    assert_predicts(model, nullable, model.predict(nullable))
    single = X.astype(np.float32)
    model = DecisionTreeRegressor(max_depth=5).fit(single, y)
    assert_predicts(model, single, model.predict(single))


@pytest.mark.parametrize("n_rows", [0, 1])
def test_few_rows(n_rows):
    X, y = data()
    read = convert(DecisionTreeRegressor(max_depth=2).fit(X, y))
    assert read.ensemble.predict(read.encode(X[:n_rows])).shape == (n_rows, 1)


def test_a_tree_that_is_one_leaf():
    X, _ = data()
    model = RandomForestRegressor(3).fit(X, np.full(len(X), 2.5))
    read = convert(model)
    np.testing.assert_allclose(read.ensemble.predict(read.encode(X)), 2.5)


def test_several_classified_targets_are_refused():
    X, y = data()
    targets = np.column_stack([y > 0, y > 1])
    for model in (DecisionTreeClassifier(max_depth=3), RandomForestClassifier(3)):
        with pytest.raises(Unsupported, match=f"{type(model).__name__} with 2 targets"):
            convert(model.fit(X, targets))


@pytest.mark.parametrize(
    "model",
    [AdaBoostRegressor(n_estimators=3), AdaBoostClassifier(n_estimators=3), LogisticRegression(), LinearRegression()],
)
def test_what_is_not_a_sum_of_trees_is_refused(model):
    X, y = data()
    with pytest.raises(Unsupported, match=type(model).__name__):
        convert(model.fit(X, y > 0))


def test_unfitted_models_say_so():
    with pytest.raises(InputError, match="RandomForestRegressor is not fitted"):
        convert(RandomForestRegressor())


class Renamed(RandomForestRegressor):
    """A subclass that predicts like its parent."""


class Median(RandomForestRegressor):
    """A subclass that does not."""

    def predict(self, X):
        return np.median([tree.predict(X) for tree in self.estimators_], axis=0)


def test_subclasses_are_read_only_if_they_predict_like_their_parent():
    X, y = data()
    model = Renamed(3, random_state=0).fit(X, y)
    assert_predicts(model, X, model.predict(X))
    with pytest.raises(Unsupported, match="Median has a predict"):
        convert(Median(3).fit(X, y))


def test_a_converted_model_travels_to_other_processes():
    X, y = data()
    read = convert(RandomForestRegressor(3, random_state=0).fit(X, y))
    again = pickle.loads(pickle.dumps(read))
    np.testing.assert_array_equal(again.ensemble.predict(again.encode(X)), read.ensemble.predict(read.encode(X)))


def test_a_stacked_classifier_is_refused_by_name():
    X, y = data()
    stack = StackingClassifier([("rf", RandomForestClassifier(3))], cv=3)
    with pytest.raises(Unsupported, match="StackingClassifier"):
        convert(stack.fit(X, y > 0))


def test_five_hundred_trees_are_read_at_once():
    X, y = data(500)
    model = RandomForestRegressor(500, min_samples_leaf=3, random_state=0).fit(X, y)
    convert(model)
    start = time.perf_counter()
    convert(model)
    assert time.perf_counter() - start < 2.0  # about 0.05 s; a loop over nodes takes far more
