"""What the numbers of an estimator are: several targets, clusters, outliers, scores without probabilities."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.cluster import KMeans, MeanShift
from sklearn.ensemble import IsolationForest, RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from models.asking import as_columns, predictions
from pellucid.errors import InputError
from pellucid.models import Predictor


@pytest.fixture(scope="module")
def X(mixed):
    return mixed[["temp", "day", "open"]].fillna(0.0)


def test_multi_output_regression_keeps_every_target(X, amount):
    model = LinearRegression().fit(X, np.column_stack([amount, -amount, X["day"]]))
    predictor = Predictor(model, X)
    assert predictor.output_names == ("output 0", "output 1", "output 2")
    np.testing.assert_array_equal(predictions(predictor, X), model.predict(X))


def test_targets_that_add_up_to_one_are_not_classes(X, amount):
    share = (amount - amount.min()) / np.ptp(amount)
    model = LinearRegression().fit(X, np.column_stack([share, 1 - share]))
    predictor = Predictor(model, X.iloc[:40])
    assert predictor.task == "regression"
    assert predictor.output_names == ("output 0", "output 1")


@pytest.mark.parametrize(
    "model",
    [MultiOutputClassifier(LogisticRegression()), RandomForestClassifier(4, random_state=0)],
    ids=["wrapper", "native"],
)
def test_multi_output_classifier(X, verdict, level, model):
    model.fit(X, np.column_stack([verdict, level]))
    predictor = Predictor(model, X)
    assert predictor.output_names == ("target 0: yes", "target 1: low", "target 1: mid", "target 1: top")
    assert predictor.classes is None
    first, other = model.predict_proba(X)
    np.testing.assert_array_equal(predictions(predictor, X), np.hstack([first[:, 1:], other]))
    only = Predictor(model, X, output="target 1: mid")
    np.testing.assert_array_equal(predictions(only, X)[:, 0], other[:, 1])


def test_classifier_chain(X, amount):
    model = ClassifierChain(LogisticRegression()).fit(X, np.column_stack([amount > 3, amount > 8]))
    predictor = Predictor(model, X)
    np.testing.assert_array_equal(predictions(predictor, X), model.predict_proba(X))


@pytest.mark.parametrize(
    "model",
    [
        OneVsRestClassifier(LogisticRegression()),
        pytest.param(
            MLPClassifier((2,), max_iter=3, random_state=0),
            marks=pytest.mark.filterwarnings("ignore:Stochastic Optimizer"),  # three steps are enough here
        ),
    ],
    ids=lambda model: type(model).__name__,
)
def test_two_labels_that_may_both_hold_are_two_outputs(X, amount, model):
    model.fit(X, np.column_stack([amount > 3, amount > 8]).astype(int))
    predictor = Predictor(model, X)
    assert predictor.output_names == ("0", "1")
    np.testing.assert_array_equal(predictions(predictor, X), model.predict_proba(X))


@pytest.mark.parametrize("model", [LinearSVC(), RidgeClassifier()], ids=lambda model: type(model).__name__)
def test_classifier_without_probabilities_is_explained_by_its_score(X, verdict, level, model):
    binary = make_pipeline(StandardScaler(), model).fit(X, verdict)
    predictor = Predictor(binary, X)
    assert (predictor.task, predictor.scale, predictor.output_names) == ("classification", "score", ("yes",))
    np.testing.assert_array_equal(predictions(predictor, X), as_columns(binary.decision_function(X)))
    other = Predictor(binary, X, output="no")
    np.testing.assert_array_equal(predictions(other, X), -as_columns(binary.decision_function(X)))
    multi = make_pipeline(StandardScaler(), model).fit(X, level)
    assert Predictor(multi, X).output_names == ("low", "mid", "top")
    np.testing.assert_array_equal(predictions(Predictor(multi, X), X), multi.decision_function(X))


def test_one_against_one_scores_are_named_by_pairs(X, level):
    model = SVC(decision_function_shape="ovo").fit(X, level)
    predictor = Predictor(model, X)
    assert predictor.output_names == ("low vs mid", "low vs top", "mid vs top")
    np.testing.assert_array_equal(predictions(predictor, X), model.decision_function(X))


class LabelsOnly(ClassifierMixin, BaseEstimator):
    """A classifier with nothing but predict."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.cut_ = float(np.median(X["day"]))
        return self

    def predict(self, X):
        return self.classes_[(X["day"] > self.cut_).astype(int)]


def test_labels_only_become_certainties(X, verdict):
    model = LabelsOnly().fit(X, verdict)
    predictor = Predictor(model, X)
    assert (predictor.output_names, predictor.scale) == (("yes",), "probability")
    np.testing.assert_array_equal(predictions(predictor, X)[:, 0], model.predict(X) == "yes")


@pytest.mark.parametrize("wrap", [False, True], ids=["bare", "pipeline"])
def test_kmeans_distances(X, wrap):
    kmeans = KMeans(3, n_init=1, random_state=0)
    model = (make_pipeline(StandardScaler(), kmeans) if wrap else kmeans).fit(X)
    predictor = Predictor(model, X)
    assert (predictor.task, predictor.scale) == ("scores", "distance")
    assert predictor.output_names[2] == "distance to cluster 2"
    np.testing.assert_array_equal(predictions(predictor, X), model.transform(X))


def test_clusterer_without_distances_gives_memberships(X):
    model = MeanShift(bandwidth=9.0).fit(X)
    predictor = Predictor(model, X)
    member = predictions(predictor, X)
    np.testing.assert_array_equal(member.argmax(axis=1), model.predict(X))
    assert (member.sum(axis=1) == 1).all()
    assert predictor.output_names[0] == "cluster 0"


def test_gaussian_mixture_memberships_in_a_search(X):
    model = GridSearchCV(GaussianMixture(random_state=0), {"n_components": [2, 3]}, cv=2).fit(X)
    predictor = Predictor(model.best_estimator_, X)
    assert predictor.output_names[:2] == ("component 0", "component 1")
    assert (predictor.task, predictor.classes) == ("scores", None)
    np.testing.assert_array_equal(predictions(predictor, X), model.best_estimator_.predict_proba(X))


def test_isolation_forest_score(X):
    model = IsolationForest(n_estimators=5, random_state=0).fit(X)
    predictor = Predictor(model, X)
    assert (predictor.task, predictor.scale) == ("scores", "score")
    np.testing.assert_array_equal(predictions(predictor, X), as_columns(model.decision_function(X)))


@pytest.mark.parametrize(
    "model",
    [LogisticRegression(), make_pipeline(StandardScaler(), KMeans()), GridSearchCV(LinearSVC(), {"C": [1.0]})],
    ids=["estimator", "pipeline", "search"],
)
def test_unfitted_model(X, model):
    with pytest.raises(InputError, match=r"call fit"):
        Predictor(model, X)


class Homemade(BaseEstimator):
    """Follows none of scikit-learn's conventions about fitted attributes."""

    def fit(self, X, y):
        self.mean = float(np.mean(y))
        return self

    def predict(self, X):
        return np.full(len(X), self.mean)


def test_an_estimator_of_ones_own_needs_no_trailing_underscores(X, amount):
    model = Homemade().fit(X, amount)
    np.testing.assert_array_equal(predictions(Predictor(model, X), X), as_columns(model.predict(X)))


def test_wrong_columns_are_named(X, amount):
    model = LinearRegression().fit(X, amount)
    with pytest.raises(InputError, match=r"'open'.*'opne'"):
        Predictor(model, X.rename(columns={"open": "opne"}))
    with pytest.raises(InputError, match=r"3 features .*2 columns"):
        Predictor(model, X.to_numpy()[:, :2])
    with pytest.raises(InputError, match=r"2 features .*3 columns"):
        Predictor(LinearRegression().fit(X.to_numpy()[:, :2], amount), X)
