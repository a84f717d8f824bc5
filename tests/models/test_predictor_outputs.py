"""The outputs and their scale are what the user asked for."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from models.asking import predictions, second
from pellucid.errors import InputError
from pellucid.models import Predictor
from pellucid.models.predictor import LOGIT_FLOOR


@pytest.fixture(scope="module")
def X(mixed):
    return mixed[["temp", "day", "open"]].fillna(0.0)


@pytest.fixture(scope="module")
def three(X, level):
    return LogisticRegression(max_iter=500).fit(X, level)


@pytest.fixture(scope="module")
def two(X, verdict):
    return LogisticRegression(max_iter=500).fit(X, verdict)


def test_output_picks_classes_in_the_order_asked(X, three):
    own = three.predict_proba(X)
    one = Predictor(three, X, output="mid")
    assert one.output_names == ("mid",)
    np.testing.assert_array_equal(predictions(one, X), own[:, [1]])
    several = Predictor(three, X, output=["top", "low"])
    assert several.output_names == ("top", "low")
    np.testing.assert_array_equal(predictions(several, X), own[:, [2, 0]])
    assert Predictor(three, X, output={"top", "low", "mid"}).output_names == ("low", "mid", "top")


def test_output_of_a_binary_classifier(X, two):
    own = two.predict_proba(X)
    np.testing.assert_array_equal(predictions(Predictor(two, X, output="no"), X), own[:, [0]])
    both = Predictor(two, X, output=("no", "yes"))
    np.testing.assert_array_equal(predictions(both, X), own)


@pytest.mark.parametrize("labels", [[0, 1], [0.0, 1.0], [False, True], [1, 2]])
def test_output_is_found_by_value_or_by_name(X, verdict, labels):
    y = np.array(labels)[(verdict == "yes").astype(int)]
    model = LogisticRegression(max_iter=500).fit(X, y)
    for output in (labels[0], str(labels[0]), y.dtype.type(labels[0])):
        predictor = Predictor(model, X, output=output)
        np.testing.assert_array_equal(predictions(predictor, X)[:, 0], model.predict_proba(X)[:, 0])


def test_unknown_outputs_are_answered_with_known_ones(X, three):
    with pytest.raises(InputError, match=r"output='Midd' .*'mid'"):
        Predictor(three, X, output="Midd")
    with pytest.raises(InputError, match=r"output=3 .*'low', 'mid', 'top'"):
        Predictor(three, X, output=3)
    with pytest.raises(InputError, match="output= is empty"):
        Predictor(three, X, output=[])
    with pytest.raises(InputError, match="names an output twice"):
        Predictor(three, X, output=["mid", "mid"])


def test_a_full_prediction_has_every_class(X, two):
    predictor = Predictor(two, X, output="no", link="logit")
    full, _ = predictor.timed_full(X, len(X))
    np.testing.assert_array_equal(full, two.predict_proba(X))
    np.testing.assert_array_equal(predictor.restrict(full), predictor(X, len(X)))
    assert (predictor.width, predictor.raw_scale, predictor.scale) == (2, "probability", "log-odds")


def test_logit_link_gives_log_odds(X, two, three):
    predictor = Predictor(two, X, link="logit")
    np.testing.assert_allclose(predictions(predictor, X)[:, 0], two.decision_function(X), rtol=0, atol=1e-6)
    p = three.predict_proba(X)
    got = predictions(Predictor(three, X, link="logit"), X)
    np.testing.assert_allclose(got, np.log(p / (1 - p)), rtol=1e-9)


def test_logit_of_certainty_is_finite(X, verdict):
    model = DecisionTreeClassifier(random_state=0).fit(X, verdict)
    limit = np.log((1 - LOGIT_FLOOR) / LOGIT_FLOOR)
    certain = second(model.predict_proba(X)) * 2 - 1
    got = predictions(Predictor(model, X, link="logit"), X)[:, 0]
    assert set(np.unique(certain)) >= {-1.0, 1.0}
    np.testing.assert_allclose(got[np.abs(certain) == 1], (limit * certain)[np.abs(certain) == 1], rtol=1e-9)


def test_logit_needs_probabilities(X, amount, verdict, two):
    for model in (
        LinearRegression().fit(X, (amount - amount.min()) / np.ptp(amount)),  # numbers in [0, 1], but measured
        make_pipeline(StandardScaler(), LinearSVC()).fit(X, verdict),
        lambda t: t["temp"] * 100,
    ):
        with pytest.raises(InputError, match=r"link='logit' needs probabilities, .* use link='identity'"):
            Predictor(model, X, link="logit")
    f = Predictor(lambda t: second(two.predict_proba(t)), X, link="logit")
    assert f.scale == "log-odds"
    with pytest.raises(InputError, match="link='probit' is not known; known are 'identity', 'logit'"):
        Predictor(two, X, link="probit")


def test_logit_of_a_function_that_leaves_the_unit_interval(X):
    predictor = Predictor(lambda t: t["day"] / 6, X, link="logit")
    with pytest.raises(InputError, match=r"probabilities between 0 and 1.* to 2"):
        predictor(X.assign(day=12), len(X))


def test_gradients_are_refused_where_there_are_none(X, two):
    with pytest.raises(InputError, match="LogisticRegression gives no gradients"):
        Predictor(two, X).gradient(X, len(X))
