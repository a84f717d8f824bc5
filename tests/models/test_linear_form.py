"""Linear and additive models in closed form: sums reproduce the predictions, components belong to their columns."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor, make_column_transformer
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestRegressor
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import (
    ARDRegression,
    BayesianRidge,
    ElasticNet,
    GammaRegressor,
    HuberRegressor,
    Lasso,
    LinearRegression,
    LogisticRegression,
    MultiTaskLasso,
    Perceptron,
    PoissonRegressor,
    QuantileRegressor,
    RANSACRegressor,
    Ridge,
    RidgeClassifier,
    RidgeCV,
    SGDClassifier,
    SGDRegressor,
    TweedieRegressor,
)
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    SplineTransformer,
    StandardScaler,
)
from sklearn.svm import SVC, LinearSVC, LinearSVR

from pellucid.data.frames.doorway import as_frame
from pellucid.models import Predictor
from pellucid.models.linear import LinearForm, Unlike, agreeing_link, linear_form, predictions


def numbers(n=150, p=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, X @ np.arange(1.0, p + 1) + 3.0 + rng.normal(size=n) / 5


def classes(count, n=150):
    X, score = numbers(n)
    return X, np.array(["no", "yes", "maybe"])[np.digitize(score, [3.0] if count == 2 else [1.0, 5.0])]


def mixed(n=200, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.uniform(18, 80, n),
            "colour": rng.choice(["red", "green", "blue"], n),
            "grade": pd.Categorical(rng.choice(["low", "mid", "high"], n), ["low", "mid", "high"]),
            "size": rng.normal(size=n),
        }
    )
    y = np.sin(frame["age"] / 10) + (frame["colour"] == "red") * 2 + frame["size"] ** 2
    frame.loc[rng.random(n) < 0.2, "size"] = np.nan
    return frame, y.to_numpy()


def read(model, X):
    """The form, its sums and the model's full predictions, asked as a method would ask."""
    predictor = Predictor(model, X)
    form = linear_form(predictor)
    assert isinstance(form, LinearForm), form
    frame = as_frame(X)
    table = predictor.dressed(frame)
    full, _ = predictor.timed_full(predictor.align(frame).native, len(frame))
    return form, form.sums(form.encode(table)), full


def assert_reads(model, X, link):
    form, sums, full = read(model, X)
    assert agreeing_link(form, sums, full) == link
    np.testing.assert_allclose(predictions(sums, link, full.shape[1]), full, rtol=1e-7, atol=1e-9)
    n_columns = as_frame(X).native.shape[1]
    parts = form.components(form.encode(Predictor(model, X).dressed(as_frame(X))), n_columns)
    np.testing.assert_allclose(parts.sum(axis=1) + form.intercept, sums, rtol=1e-9, atol=1e-9)
    return form


def assert_components_are_of_their_column(form, table, other):
    """Another value in one column moves that column's component and no other."""
    before = form.components(form.encode(table), table.shape[1])
    for j, name in enumerate(table.columns):
        moved = table.copy()
        moved[name] = other[name].to_numpy()
        changed = np.abs(form.components(form.encode(moved), table.shape[1]) - before).max(axis=(0, 2))
        assert changed[j] > 1e-6
        assert np.delete(changed, j).max() == 0.0


REGRESSORS = [
    LinearRegression(),
    LinearRegression(fit_intercept=False),
    Ridge(),
    RidgeCV(),
    Lasso(alpha=0.1),
    ElasticNet(alpha=0.1),
    SGDRegressor(random_state=0),
    HuberRegressor(),
    BayesianRidge(),
    ARDRegression(),
    QuantileRegressor(alpha=0.01),
    LinearSVR(random_state=0, max_iter=20_000),
    PLSRegression(2),
    RANSACRegressor(random_state=0),
    TweedieRegressor(power=0),
    GridSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, cv=2),
]


@pytest.mark.parametrize("model", REGRESSORS, ids=lambda model: type(model).__name__)
def test_regressors(model):
    X, y = numbers()
    model.fit(X, y)
    form = assert_reads(model, X, "identity")
    assert form.source.tolist() == [0, 1, 2, 3]
    inner = getattr(model, "best_estimator_", getattr(model, "estimator_", model))
    np.testing.assert_array_equal(form.weights[:, 0], np.ravel(inner.coef_))


@pytest.mark.parametrize("model", [PoissonRegressor(), GammaRegressor(), TweedieRegressor(power=1.5, link="log")])
def test_log_links(model):
    X, y = numbers()
    model.fit(X, np.exp(y / 4))
    form = assert_reads(model, X, "log")
    np.testing.assert_allclose(np.exp(X @ form.weights + form.intercept)[:, 0], model.predict(X), rtol=1e-12)


@pytest.mark.parametrize("model", [LinearRegression(), MultiTaskLasso(alpha=0.01), PLSRegression(2)])
def test_several_targets(model):
    X, y = numbers()
    model.fit(X, np.stack([y, -2 * y, X[:, 0]], axis=1))
    form = assert_reads(model, X, "identity")
    assert form.weights.shape == (4, 3)
    one = form.outputs([2], 3)
    np.testing.assert_allclose(one.sums(X)[:, 0], model.predict(X)[:, 2], atol=1e-9)


CLASSIFIERS = [
    (LogisticRegression(), "logit", "softmax"),
    (LinearDiscriminantAnalysis(), "logit", "softmax"),
    (RidgeClassifier(), "identity", "identity"),
    (LinearSVC(random_state=0), "identity", "identity"),
    (Perceptron(random_state=0), "identity", "identity"),
    (SGDClassifier(random_state=0), "identity", "identity"),
    (FrozenEstimator(LogisticRegression()), "logit", "softmax"),
]  # fmt: skip


@pytest.mark.parametrize(("model", "of_two", "of_three"), CLASSIFIERS, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("count", [2, 3])
def test_classifiers(model, of_two, of_three, count):
    X, y = classes(count)
    if isinstance(model, FrozenEstimator):
        model = FrozenEstimator(model.estimator.fit(X, y))
    model.fit(X, y)
    form = assert_reads(model, X, of_two if count == 2 else of_three)
    assert form.weights.shape[1] == (1 if count == 2 else 3)


def test_probabilities_follow_from_the_sums():
    X, y = classes(3)
    model = LogisticRegression().fit(X, y)
    form, sums, _ = read(model, X)
    np.testing.assert_allclose(softmax(sums, axis=1), model.predict_proba(X), atol=1e-12)
    X, y = classes(2)
    model = LogisticRegression().fit(X, y)
    form, sums, full = read(model, X)
    np.testing.assert_allclose(expit(sums[:, 0]), full[:, 1], atol=1e-12)
    first = form.outputs([0], 2)
    np.testing.assert_allclose(expit(first.sums(X)[:, 0]), full[:, 0], atol=1e-12)
    both = form.outputs([0, 1], 2)
    np.testing.assert_allclose(both.sums(X), np.hstack([-sums, sums]), rtol=1e-12)


def test_the_decision_function_of_a_classifier_is_the_sum_itself():
    X, y = classes(2)
    model = LogisticRegression().fit(X, y)
    form, sums, full = read(model.decision_function, X)
    assert form.link == "logit"
    assert agreeing_link(form, sums, full) == "identity"
    linear = SVC(kernel="linear").fit(X, y)
    assert_reads(linear, X, "identity")
    assert_reads(FixedThresholdClassifier(LogisticRegression(), threshold=0.3).fit(X, y), X, "logit")


# -- pipelines ---------------------------------------------------------------------------------------


def additive(final):
    """A generalised additive model: splines, one-hot codes, levels and imputed numbers."""
    columns = ColumnTransformer(
        [
            ("splines", SplineTransformer(n_knots=5), ["age"]),
            ("words", OneHotEncoder(drop="first"), ["colour"]),
            ("numbers", make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), ["size"]),
        ],
        remainder=OrdinalEncoder(categories=[["low", "mid", "high"]]),
    )
    return make_pipeline(columns, final)


@pytest.mark.parametrize("final", [Ridge(), GammaRegressor()], ids=["ridge", "gamma"])
def test_a_pipeline_is_additive_in_its_input_columns(final):
    frame, y = mixed()
    model = additive(final).fit(frame, y + 2)
    form = assert_reads(model, frame, "log" if isinstance(final, GammaRegressor) else "identity")
    assert form.source.tolist() == [0] * 7 + [1, 1, 3, 3, 2]
    other = frame.iloc[::-1].reset_index(drop=True)
    assert_components_are_of_their_column(form, frame, other)


STEPS = [
    StandardScaler(),
    MinMaxScaler(),
    "passthrough",
    SelectKBest(f_regression, k=2),
    SplineTransformer(include_bias=False, n_knots=4),
    KBinsDiscretizer(4, encode="onehot", strategy="uniform"),
    FunctionTransformer(np.arctan),
    PolynomialFeatures(1),
    make_column_transformer((PolynomialFeatures(3), [2]), remainder="passthrough"),
    FeatureUnion([("same", "passthrough"), ("bins", KBinsDiscretizer(3, encode="ordinal", strategy="uniform"))]),
]  # fmt: skip


@pytest.mark.parametrize("step", STEPS, ids=lambda step: type(step).__name__)
def test_steps_that_work_column_by_column(step):
    X, y = numbers()
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = make_pipeline(step, Ridge()).fit(frame, y)
    form = assert_reads(model, frame, "identity")
    used = sorted(set(form.source))
    if len(used) == 4:
        assert_components_are_of_their_column(form, frame, frame.iloc[::-1].reset_index(drop=True))
    else:
        assert used == np.flatnonzero(model[0].get_support()).tolist()


MIXING = [
    (PCA(2), "PCA"),
    (PolynomialFeatures(2), "PolynomialFeatures"),
    (Normalizer(), "Normalizer"),
    (FunctionTransformer(np.fliplr), "fliplr"),
    (make_pipeline(StandardScaler(), PCA(2)), "PCA"),
]


@pytest.mark.parametrize(("step", "name"), MIXING, ids=[name for _, name in MIXING])
def test_steps_that_mix_columns_are_refused_by_name(step, name):
    X, y = numbers()
    form = linear_form(Predictor(make_pipeline(step, Ridge()).fit(X, y), X))
    assert isinstance(form, Unlike)
    assert name in form.reason
    assert "column by column" in form.reason


def test_columns_in_another_order_and_more_of_them():
    frame, y = mixed()
    model = additive(Ridge()).fit(frame, y)
    turned = frame[frame.columns[::-1]].assign(unused=1.0)
    form, sums, full = read(model, turned)
    assert agreeing_link(form, sums, full) == "identity"
    columns = Predictor(model, turned).columns
    assert [turned.columns[columns[k]] for k in form.source] == ["age"] * 7 + ["colour"] * 2 + ["size"] * 2 + ["grade"]


def test_sparse_tables_and_single_precision():
    X, y = numbers()
    X[np.abs(X) < 0.5] = 0
    table = sparse.csr_matrix(X)
    assert_reads(Ridge().fit(table, y), table, "identity")
    single = X.astype(np.float32)
    form, sums, full = read(Ridge().fit(single, y), single)
    assert agreeing_link(form, sums, full) == "identity"


def test_a_form_travels_to_other_processes():
    frame, y = mixed()
    model = additive(Ridge()).fit(frame, y)
    form, sums, _ = read(model, frame)
    again = pickle.loads(pickle.dumps(form))
    np.testing.assert_array_equal(again.sums(again.encode(frame)), sums)


# -- transformed targets -----------------------------------------------------------------------------


@pytest.mark.parametrize("targets", [1, 2])
def test_a_linear_inverse_of_the_target_is_followed(targets):
    X, y = numbers()
    y = y if targets == 1 else np.stack([y, X[:, 0] - y], axis=1)
    model = TransformedTargetRegressor(Ridge(), transformer=StandardScaler()).fit(X, y)
    assert_reads(model, X, "identity")
    halved = TransformedTargetRegressor(Ridge(), func=np.negative, inverse_func=np.negative).fit(X, y)
    assert_reads(halved, X, "identity")


def test_the_exponential_is_a_link_and_other_inverses_are_refused():
    X, y = numbers()
    y = np.exp(y / 3)
    assert_reads(TransformedTargetRegressor(Ridge(), func=np.log, inverse_func=np.exp).fit(X, y), X, "log")
    for model in (
        TransformedTargetRegressor(Ridge(), func=np.log1p, inverse_func=np.expm1),
        TransformedTargetRegressor(Ridge(), func=np.sqrt, inverse_func=np.square),
    ):
        refused = linear_form(Predictor(model.fit(X, y), X))
        assert isinstance(refused, Unlike)
        assert "inverse" in refused.reason
    twice = TransformedTargetRegressor(GammaRegressor(), transformer=StandardScaler(with_mean=False)).fit(X, y)
    refused = linear_form(Predictor(twice, X))
    assert isinstance(refused, Unlike)
    assert "two links" in refused.reason


# -- what is not linear ------------------------------------------------------------------------------


class Clipped(LinearRegression):
    """A subclass that predicts in its own way."""

    def predict(self, X):
        return np.maximum(super().predict(X), 0.0)


class Foreign(RegressorMixin, BaseEstimator):
    coef_, intercept_ = np.ones(4), 0.0

    def predict(self, X):
        return X @ self.coef_


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (RandomForestRegressor(3, random_state=0), "no coef_"),
        (Clipped(), "a predict of its own"),
        (make_pipeline(StandardScaler(), Clipped()), "a predict of its own"),
    ],
    ids=["forest", "clipped", "pipeline"],
)
def test_other_models_are_refused(model, reason):
    X, y = numbers()
    refused = linear_form(Predictor(model.fit(X, y), X))
    assert isinstance(refused, Unlike)
    assert reason in refused.reason


def test_functions_and_foreign_estimators_are_refused():
    X, _ = numbers()
    for model in (lambda table: table[:, 0], Foreign()):
        assert isinstance(linear_form(Predictor(model, X)), Unlike)


def test_labels_of_a_classifier_are_not_its_sums():
    X, y = classes(2)
    form, sums, full = read(LogisticRegression().fit(X, y).predict, X)
    refused = agreeing_link(form, sums, full)
    assert isinstance(refused, Unlike)
    assert refused.difference > 0.1


def test_probabilities_that_are_scaled_to_one_are_not_a_softmax():
    X, y = classes(3)
    form, sums, full = read(SGDClassifier(loss="log_loss", random_state=0).fit(X, y), X)
    assert isinstance(agreeing_link(form, sums, full), Unlike)


def test_a_wrong_coefficient_is_found_out():
    X, y = numbers()
    model = Ridge().fit(X, y)
    form, sums, full = read(model, X)
    sums[7] += 1e-3 * np.abs(full).max()
    refused = agreeing_link(form, sums, full)
    assert isinstance(refused, Unlike)
    assert refused.difference == pytest.approx(1e-3, rel=1e-6)
    assert "misses its own predictions" in refused.reason
    missing_one = agreeing_link(form, np.hstack([sums, sums, sums]), full)
    assert isinstance(missing_one, Unlike)
    assert missing_one.difference == np.inf
