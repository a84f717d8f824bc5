"""A model is read as a sum only where it is one everywhere, and not just in the rows that were compared."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.svm import SVC

from limits import limited
from pellucid import Explainer
from pellucid.errors import ModelError
from pellucid.models.columnwise import Mixing, sources
from pellucid.models.linear import linear_form
from pellucid.reading.additive import Additive, believed
from pellucid.runner import Run


def reading(*given, **options):
    """An Explainer that reads sums for small jobs as well."""
    return limited(Explainer(*given, **options), worth_sums=-np.inf)


def table(n=80, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, 10 * X[:, 0] + X[:, 1]


def far_apart(centres):
    """Classes that every model tells apart with certainty, but not between them."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(centre, 1, (40, 2)) for centre in centres])
    return X, np.repeat(np.arange(len(centres)), 40)


def assert_asked(model, X, y=None, **options):
    """The model answers, and the numbers are its own."""
    found = reading(model, X, y).pdp(0, **options)
    assert found.settings["engine"] == "model"


TWO, THREE = [(-50, -50), (50, 50)], [(-50, -50), (50, 50), (60, -60)]


@pytest.mark.parametrize(
    ("model", "centres"),
    [
        (SGDClassifier(loss="modified_huber", random_state=0), TWO),
        (SGDClassifier(loss="log_loss", random_state=0), THREE),
    ],
    ids=["another function of the sum", "scaled to one"],
)
def test_certain_probabilities_do_not_tell_what_they_are_a_function_of(model, centres):
    X, y = far_apart(centres)
    assert_asked(model.fit(X, y), X, y)


def test_labels_are_not_certain_probabilities():
    X, y = far_apart(TWO)
    model = LogisticRegression(C=1e6).fit(X, y)
    assert np.allclose(model.predict(X), model.predict_proba(X)[:, 1], atol=1e-9)
    assert_asked(model.predict, X)
    assert reading(model, X).pdp(0).settings["engine"] == "sums"
    assert reading(SVC(kernel="linear").fit(X, y), X).pdp(0).settings["engine"] == "sums"


@pytest.mark.parametrize("end", [0, 1])
def test_a_target_that_is_cut_off_between_the_rows(end):
    """The first feature is large only where the second is small: no row reaches the limit, but mixtures do."""
    rng = np.random.default_rng(0)
    first = rng.uniform(-50, 50, 80)
    X = np.column_stack([first, -first])
    cut = (lambda v: np.maximum(v, -60.0), lambda v: np.minimum(v, 60.0))[end]
    model = TransformedTargetRegressor(LinearRegression(), func=lambda v: v, inverse_func=cut, check_inverse=False)
    model.fit(X, first)
    model.regressor_.coef_ = np.array([1.0, 0.5])
    assert_asked(model, X)
    found = reading(model, X).ice(0).values
    assert (found.min() == -60.0, found.max() == 60.0) == (end == 0, end == 1)


class CutInside(Ridge):
    """Its predict is scikit-learn's, but what that goes through is not."""

    def _decision_function(self, X):
        return np.minimum(super()._decision_function(X), 1e6)


class FittedDifferently(Ridge):
    """Only the fit is its own."""

    def fit(self, X, y):
        return super().fit(X, 2 * y)


def test_what_a_prediction_goes_through_must_be_scikit_learns():
    X, y = table()
    assert_asked(CutInside().fit(X, y), X)
    patched = Ridge().fit(X, y)
    inner = patched._decision_function
    patched._decision_function = lambda X: np.minimum(inner(X), 1e6)
    assert_asked(patched, X)
    assert reading(FittedDifferently().fit(X, y), X).pdp(0).settings["engine"] == "sums"


def test_steps_with_ways_of_their_own_are_refused():
    scaler = StandardScaler().fit(table()[0])
    assert sources(scaler) is None
    scaler.transform = lambda X: X[:, ::-1]
    with pytest.raises(Mixing, match="StandardScaler"):
        sources(scaler)
    assert sources(FunctionTransformer(np.exp)) is None
    with pytest.raises(Mixing, match="exp"):
        sources(FunctionTransformer(np.exp, kw_args={"where": np.array([True, False])}))


def test_steps_that_are_fitted_again_are_noticed():
    """The coefficients alone do not say it."""
    X, y = table()
    model = make_pipeline(StandardScaler(), Ridge()).fit(X, y)
    explainer = reading(model, X, y)
    assert explainer.pdp(0).settings["engine"] == "sums"
    before = explainer._known["sums"]["read"]
    model[0].fit(3 * X + 1)
    again = explainer.pdp(0)
    assert again.settings["engine"] == "model"
    after = explainer._known["sums"]["read"]
    explainer.pdp(1)
    assert before is not after is explainer._known["sums"]["read"]
    np.testing.assert_allclose(again.values, reading(model, X, y).pdp(0).values, rtol=1e-9)


def test_a_large_constant_hides_no_difference():
    X, y = table()
    for offset in (0.0, 1e6):
        predictor = Explainer(LinearRegression().fit(X, y + offset), X).predictor
        form = linear_form(predictor)
        for factor in (1.0, 1.001):
            given = replace(form, weights=form.weights * np.array([[1.0], [factor]]))
            found = believed(Run(), predictor, given)
            assert (isinstance(found, Additive) and found.exact) == (factor == 1.0)


def test_single_precision_is_no_difference():
    X, y = table()
    X, y = X.astype(np.float32), y.astype(np.float32)
    assert reading(Ridge().fit(X, y), X).pdp(0).settings["engine"] == "sums"


@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
def test_sums_that_overflow_are_refused_as_the_models_own():
    """Each term is a number, and so is the sum in each row."""
    X, y = table()
    X[:, 1] = -X[:, 0]
    model = LinearRegression().fit(X, y)
    model.coef_ = np.full(2, 1.5e308 / np.abs(X).max())
    with pytest.raises(ModelError, match="inf"):
        reading(model, X, checks=False).ice(0)


@pytest.mark.parametrize("scheme", ["shuffle", "halves", "pairs"])
def test_a_feature_that_is_the_same_in_all_rows(scheme):
    """It is exchanged in no row at all."""
    X, y = table()
    X = pd.DataFrame(X, columns=["a", "b"]).assign(same=1.0, word=np.where(X[:, 0] > 0, "x", "z"))
    steps = make_column_transformer((StandardScaler(), ["a", "b", "same"]), (OneHotEncoder(), ["word"]))
    explainer = reading(make_pipeline(steps, Ridge()).fit(X, y), X, y)
    found = explainer.importance(scheme=scheme)
    assert found.cost.model_rows == 0
    assert found.values[2] == 0.0
    asked = limited(explainer, worth_sums=np.inf)
    np.testing.assert_allclose(found.values, asked.importance(scheme=scheme).values, atol=1e-9)


def test_more_terms_than_fit_into_memory_are_asked_for():
    X, y = table()
    explainer = limited(
        reading(Ridge().fit(X, y), X, y), sums_held=80 * 3
    )  # one feature, the sum up to it, and the rest
    assert explainer.pdp(0).settings["engine"] == "sums"
    assert explainer.pdp([0, 1], grid=4).settings["engine"] == "model"
    assert explainer.importance().cost.model_rows > 0
