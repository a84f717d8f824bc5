"""Estimators around estimators: exact where they add up, refused by name where they do not."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, PoissonRegressor, RidgeCV
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV, RandomizedSearchCV
from sklearn.multioutput import MultiOutputRegressor
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from pellucid.trees.convert.registry import convert
from pellucid.trees.convert.tree_model import Unsupported
from trees.convert.sklearn_checks import assert_predicts, assert_source, data, labels

FOREST = RandomForestRegressor(4, max_depth=4, random_state=0)
BOOST = GradientBoostingRegressor(n_estimators=5, random_state=0)
HIST = HistGradientBoostingRegressor(max_iter=5)
VOTERS = [("forest", FOREST), ("boost", BOOST), ("hist", HIST)]
CLASS_FOREST = RandomForestClassifier(4, max_depth=4, random_state=0)


@pytest.mark.parametrize("weights", [None, [1, 5, 2]])
def test_voting_regressor(weights):
    X, y = data()
    model = VotingRegressor(VOTERS, weights=weights).fit(X, y)
    read = assert_predicts(model, X, model.predict(X))
    assert (read.link, read.scale) == ("identity", "response")
    assert read.source.tolist() == [0, 1, 2, 3, 4]  # all members share the matrix


def test_voters_that_were_dropped_have_no_weight():
    X, y = data()
    model = VotingRegressor([*VOTERS, ("gone", "drop")], weights=[1, 2, 3, 4]).fit(X, y)
    assert_predicts(model, X, model.predict(X))


def test_voters_that_code_their_columns_have_their_own_matrix():
    X, y = data()
    X[:, 4] = np.arange(len(X)) % 5
    coded = HistGradientBoostingRegressor(categorical_features=[4], max_iter=20)
    scaled = make_pipeline(StandardScaler(), FOREST)
    model = VotingRegressor([("coded", coded), ("forest", FOREST), ("scaled", scaled)], weights=[3, 1, 2])
    model.fit(X, y + X[:, 4] % 2)
    table, _ = data(seed=1)
    table[:, 4] = np.arange(len(table)) % 8  # three that training never saw
    read = assert_predicts(model, table, model.predict(table))
    assert read.source.tolist() == [0, 1, 2, 3, 4, 4, 0, 1, 2, 3, 0, 1, 2, 3, 4]
    assert assert_source(read, table, table[::-1]) == set(range(15))


def test_voters_from_other_libraries():
    lightgbm, xgboost = pytest.importorskip("lightgbm"), pytest.importorskip("xgboost")
    X, y = data(missing=0.1)
    members = [
        ("forest", FOREST),
        ("xgboost", xgboost.XGBRegressor(n_estimators=5)),
        ("lightgbm", lightgbm.LGBMRegressor(n_estimators=5, verbose=-1)),
    ]
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = VotingRegressor(members, weights=[1, 2, 3]).fit(frame, y)
    read = assert_predicts(model, frame, model.predict(frame), atol=1e-5)  # XGBoost adds in single precision
    assert set(read.source) == {0, 1, 2, 3, 4}


@pytest.mark.parametrize("n_classes", [2, 3])
def test_voting_classifier(n_classes):
    X, y = data()
    members = [("forest", CLASS_FOREST), ("tree", DecisionTreeClassifier(max_depth=3))]
    model = VotingClassifier(members, voting="soft", weights=[2, 1]).fit(X, labels(y, n_classes))
    read = assert_predicts(model, X, model.predict_proba(X))
    assert (read.link, read.scale) == ("identity", "probability")
    assert read.ensemble.n_outputs == n_classes


def test_votes_and_log_odds_are_refused():
    X, y = data()
    hard = VotingClassifier([("forest", CLASS_FOREST)], voting="hard").fit(X, y > 0)
    with pytest.raises(Unsupported, match="VotingClassifier with voting='hard'"):
        convert(hard)
    boosted = VotingClassifier([("boost", GradientBoostingClassifier(n_estimators=3))], voting="soft")
    with pytest.raises(Unsupported, match=r"VotingClassifier around GradientBoostingClassifier.*log-odds"):
        convert(boosted.fit(X, y > 0))
    linear = VotingRegressor([("forest", FOREST), ("linear", LinearRegression())]).fit(X, y)
    with pytest.raises(Unsupported, match="LinearRegression"):
        convert(linear)
    counts = VotingRegressor([("count", HistGradientBoostingRegressor(loss="poisson", max_iter=3))])
    with pytest.raises(Unsupported, match=r"HistGradientBoostingRegressor.*link 'exp'"):
        convert(counts.fit(X, np.abs(y)))


@pytest.mark.parametrize("options", [{}, {"max_features": 3}, {"max_features": 4, "bootstrap_features": True}])
@pytest.mark.parametrize("member", [DecisionTreeRegressor(max_depth=5), HIST, make_pipeline(StandardScaler(), FOREST)])
def test_bagging_regressor(member, options):
    X, y = data()
    model = BaggingRegressor(member, n_estimators=4, random_state=0, **options).fit(X, y)
    table, _ = data(seed=1)
    assert_predicts(model, table, model.predict(table))
    frame = pd.DataFrame(X, columns=list("abcde"))
    assert_predicts(model.fit(frame, y), frame, model.predict(frame))


def test_bagging_with_coded_columns():
    X, y = data()
    X[:, 0] = np.arange(len(X)) % 5
    coded = HistGradientBoostingRegressor(categorical_features=[0], max_iter=5)
    model = BaggingRegressor(coded, n_estimators=3, max_features=3, random_state=1).fit(np.round(X), y)
    # Column 0 of each member's subset is its categorical one.
    table = np.round(X[::-1])
    read = assert_predicts(model, table, model.predict(table))
    expected = [columns[[0, 1, 2]] for columns in model.estimators_features_]
    assert read.source.tolist() == np.concatenate(expected).tolist()


def test_bagging_several_targets():
    X, y = data()
    model = BaggingRegressor(DecisionTreeRegressor(max_depth=4), n_estimators=3, max_features=4, random_state=0)
    model.fit(X, np.column_stack([y, -y]))
    assert_predicts(model, X, model.predict(X))


class Unweighted(DecisionTreeClassifier):
    """Takes no weights: bagging then draws rows, and a member may miss a class."""

    def fit(self, X, y):
        return super().fit(X, y)


@pytest.mark.parametrize("member", [DecisionTreeClassifier(max_depth=5), Unweighted(max_depth=5)])
def test_bagging_classifier(member):
    X, y = data()
    rare = labels(y, 3)
    rare[2:][rare[2:] == "b"] = "a"
    rare[:2] = "b"
    model = BaggingClassifier(member, n_estimators=20, max_features=3, random_state=0).fit(X, rare)
    if isinstance(member, Unweighted):
        assert min(len(each.classes_) for each in model.estimators_) == 2
    read = assert_predicts(model, X, model.predict_proba(X))
    assert read.ensemble.n_outputs == 3


def test_bagged_boosting_is_refused():
    X, y = data()
    model = BaggingClassifier(HistGradientBoostingClassifier(max_iter=3), n_estimators=2).fit(X, y > 0)
    with pytest.raises(Unsupported, match="BaggingClassifier around HistGradientBoostingClassifier"):
        convert(model)


@pytest.mark.parametrize("final", [None, RidgeCV(), LinearRegression(fit_intercept=False)])
def test_stacking_regressor(final):
    X, y = data()
    model = StackingRegressor(VOTERS, final_estimator=final, cv=3).fit(X, y)
    assert_predicts(model, X, model.predict(X))


def test_stacks_that_are_not_linear_are_refused():
    X, y = data()
    with pytest.raises(Unsupported, match="passthrough=True"):
        convert(StackingRegressor(VOTERS, passthrough=True, cv=3).fit(X, y))
    with pytest.raises(Unsupported, match="final_estimator KNeighborsRegressor"):
        convert(StackingRegressor(VOTERS, final_estimator=KNeighborsRegressor(), cv=3).fit(X, y))
    # It has coef_ and intercept_, but predicts their exponential.
    y = 1.0 + (y > 0)
    with pytest.raises(Unsupported, match="final_estimator PoissonRegressor"):
        convert(StackingRegressor(VOTERS, final_estimator=PoissonRegressor(), cv=3).fit(X, y))


def calibrated_log_odds(model, X):
    p = model.predict_proba(X)[:, 1]
    return np.log(p) - np.log1p(-p)


@pytest.mark.parametrize(
    "inner", [CLASS_FOREST, GradientBoostingClassifier(n_estimators=5), HistGradientBoostingClassifier(max_iter=5)]
)
def test_calibrated_classifier(inner):
    X, y = data()
    model = CalibratedClassifierCV(inner, ensemble=False, cv=3).fit(X, labels(y, 2))
    read = assert_predicts(model, X, calibrated_log_odds(model, X))
    assert (read.link, read.scale) == ("logistic", "log-odds")
    prefit = CalibratedClassifierCV(FrozenEstimator(inner.fit(X, labels(y, 2))), ensemble=False).fit(X, labels(y, 2))
    assert_predicts(prefit, X, calibrated_log_odds(prefit, X))


@pytest.mark.parametrize("inner", [CLASS_FOREST, GradientBoostingClassifier(n_estimators=5)])
def test_calibrated_classifier_of_several_classes(inner):
    X, y = data()
    model = CalibratedClassifierCV(inner, ensemble=False, cv=3).fit(X, labels(y, 3))
    read = convert(model)
    p = 1 / (1 + np.exp(-read.ensemble.predict(read.encode(X))))
    np.testing.assert_allclose(p / p.sum(axis=1, keepdims=True), model.predict_proba(X), rtol=1e-9)
    assert (read.link, read.scale) == ("other", "log-odds")


def test_calibrations_that_do_not_add_up_are_refused():
    X, y = data()
    with pytest.raises(Unsupported, match="CalibratedClassifierCV with 3 calibrators"):
        convert(CalibratedClassifierCV(CLASS_FOREST, cv=3).fit(X, y > 0))
    with pytest.raises(Unsupported, match="CalibratedClassifierCV with method='isotonic'"):
        convert(CalibratedClassifierCV(CLASS_FOREST, method="isotonic", ensemble=False, cv=3).fit(X, y > 0))
    with pytest.raises(Unsupported, match="GaussianNB"):
        convert(CalibratedClassifierCV(GaussianNB(), ensemble=False, cv=3).fit(X, y > 0))
    once_more = CalibratedClassifierCV(CLASS_FOREST, ensemble=False, cv=3)
    with pytest.raises(Unsupported, match="CalibratedClassifierCV around CalibratedClassifierCV"):
        convert(CalibratedClassifierCV(once_more, ensemble=False, cv=3).fit(X, y > 0))


def test_the_exponential_loss_is_calibrated_on_its_decision_function():
    X, y = data()
    inner = GradientBoostingClassifier(loss="exponential", n_estimators=5)
    model = CalibratedClassifierCV(inner, ensemble=False, cv=3).fit(X, y > 0)
    assert_predicts(model, X, calibrated_log_odds(model, X))


@pytest.mark.parametrize("kind", [GridSearchCV, RandomizedSearchCV])
def test_searches_are_their_best_estimator(kind):
    X, y = data()
    options = {"n_iter": 2, "random_state": 0} if kind is RandomizedSearchCV else {}
    model = kind(FOREST, {"max_depth": [2, 4]}, cv=2, **options).fit(X, y)
    assert_predicts(model, X, model.predict(X))
    with pytest.raises(Unsupported, match=f"{kind.__name__} with refit=False"):
        convert(kind(FOREST, {"max_depth": [2, 4]}, cv=2, refit=False, **options).fit(X, y))


def test_wrappers_that_only_hold():
    X, y = data()
    frozen = FrozenEstimator(RandomForestRegressor(3).fit(X, y))
    assert_predicts(frozen, X, frozen.predict(X))
    threshold = FixedThresholdClassifier(RandomForestClassifier(3), threshold=0.3).fit(X, y > 0)
    assert_predicts(threshold, X, threshold.predict_proba(X))


@pytest.mark.parametrize("member", [FOREST, HIST, GradientBoostingRegressor(n_estimators=3)])
def test_multi_output_regressor(member):
    X, y = data()
    model = MultiOutputRegressor(member).fit(X, np.column_stack([y, X[:, 2], -y]))
    read = assert_predicts(model, X, model.predict(X))
    assert read.ensemble.n_outputs == 3
    chosen = read.ensemble.select(np.array([2, 0])).predict(read.encode(X))
    np.testing.assert_allclose(chosen, model.predict(X)[:, [2, 0]], rtol=1e-9)


def test_transformed_target():
    X, y = data()
    y = np.exp(y / 50)
    same = TransformedTargetRegressor(FOREST).fit(X, y)
    assert assert_predicts(same, X, same.predict(X)).scale == "response"
    logarithm = TransformedTargetRegressor(FOREST, func=np.log, inverse_func=np.exp).fit(X, y)
    read = assert_predicts(logarithm, X, np.log(logarithm.predict(X)))
    assert (read.link, read.scale) == ("exp", "score")
    root = TransformedTargetRegressor(FOREST, func=np.sqrt, inverse_func=np.square).fit(X, y)
    assert convert(root).link == "other"
    with pytest.raises(Unsupported, match="transformer=MinMaxScaler"):
        convert(TransformedTargetRegressor(FOREST, transformer=MinMaxScaler()).fit(X, y))


def test_wrappers_in_wrappers():
    X, y = data()
    bagged = BaggingRegressor(DecisionTreeRegressor(max_depth=4), n_estimators=3, max_features=3)
    inner = VotingRegressor([("forest", FOREST), ("bagged", bagged)], weights=[1, 2])
    model = make_pipeline(StandardScaler(), StackingRegressor([("voting", inner), ("hist", HIST)], cv=2)).fit(X, y)
    assert_predicts(model, X, model.predict(X))


def test_sparse_tables():
    X, y = data()
    X[np.abs(X) < 1] = 0
    model = VotingRegressor([("forest", FOREST), ("boost", BOOST)]).fit(sparse.csr_array(X), y)
    assert_predicts(model, sparse.csr_array(X), model.predict(sparse.csr_array(X)))


def test_frames_of_sparse_columns():
    X, y = data()
    X[np.abs(X) < 1] = 0
    frame = pd.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(X), columns=list("abcde"))
    model = VotingRegressor([("forest", FOREST), ("boost", BOOST)]).fit(frame, y)
    assert_predicts(model, frame, model.predict(frame))


def test_a_member_may_read_cells_that_are_not_stored_as_missing():
    xgboost = pytest.importorskip("xgboost")
    X, y = data()
    X[np.abs(X) < 1] = 0
    table = sparse.csr_array(X)
    members = [("forest", FOREST), ("xgboost", xgboost.XGBRegressor(n_estimators=5))]
    model = VotingRegressor(members).fit(table, y)
    assert_predicts(model, table, model.predict(table), atol=1e-5)  # XGBoost adds in single precision


class Foreign(ClassifierMixin, BaseEstimator):
    """A classifier that scikit-learn did not write."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return np.full((len(X), len(self.classes_)), 1 / len(self.classes_))


def test_unknown_members_are_refused_by_name():
    X, y = data()
    with pytest.raises(Unsupported, match="Foreign"):
        convert(VotingClassifier([("foreign", Foreign())], voting="soft").fit(X, y > 0))
