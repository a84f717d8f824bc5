"""Classes of a model that was fitted to 0 and 1, under the names people use."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

from pellucid import Explainer, InputError

NAMES = ["bad", "good"]


@pytest.fixture
def credit():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.integers(20, 70, 200), "income": rng.normal(30, 5, 200)})
    y = (X.income + rng.normal(0, 2, 200) > 30).astype(int)
    return LogisticRegression(max_iter=1000).fit(X, y), X, y


def test_outputs_sentences_and_charts_use_the_names(credit):
    model, X, y = credit
    ex = Explainer(model, X, y, class_names=NAMES)
    assert ex.predictor.output_names == ("good",)
    assert ex.predictor.classes == ("bad", "good")
    assert "good" in ex.shap(0).text()
    assert Explainer(model, X, output="bad", class_names=NAMES).predictor.explained == (0,)
    assert Explainer(model, X, output=0, class_names=NAMES).predictor.output_names == ("bad",)
    assert Explainer(model, X, class_names={1: "good"}).predictor.classes == ("0", "good")


def test_y_may_hold_the_names_or_the_labels(credit):
    model, X, y = credit
    words = y.map({0: "bad", 1: "good"})
    by_label = Explainer(model, X, y).importance().values
    assert np.array_equal(Explainer(model, X, y, class_names=NAMES).importance().values, by_label)
    assert np.array_equal(Explainer(model, X, words, class_names=NAMES).importance().values, by_label)
    ex = Explainer(model, X, words, class_names=NAMES)
    again = Explainer(model, X, y).importance(method="drop").values
    assert np.array_equal(ex.importance(method="drop").values, again)  # fitted again to 0 and 1


def test_a_refit_function_may_fit_to_the_names(credit):
    model, X, y = credit
    words = y.map({0: "bad", 1: "good"})
    ex = Explainer(model, X, words, class_names=NAMES)
    found = ex.importance(method="drop", refit=lambda X, y: LogisticRegression(max_iter=1000).fit(X, y))
    assert found.top(1) == ["income"]


def test_a_function_has_the_classes_it_is_told(credit):
    model, X, y = credit
    ex = Explainer(lambda X: model.predict_proba(X)[:, 1], X, class_names=NAMES)
    assert (ex.predictor.task, ex.predictor.scale, ex.predictor.output_names) == (
        "classification",
        "probability",
        ("good",),
    )
    words = y.map({0: "rejected", 1: "accepted"})  # in the order of the columns, not of the alphabet
    told = Explainer(lambda X: model.predict_proba(X)[:, 1], X, words, class_names=["rejected", "accepted"])
    assert told.predictor.output_names == ("accepted",)
    assert np.array_equal(told.importance().values, Explainer(model, X, y).importance().values)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["bad"], "2 different names"),
        ("bad,good", "2 different names"),
        (["good", "good"], "2 different names"),
        ({2: "good"}, "2 is not a class"),
        ([1, 0], "another class"),
    ],
)
def test_names_that_do_not_fit_are_refused(credit, names, message):
    model, X, _ = credit
    with pytest.raises(InputError, match=message):
        Explainer(model, X, class_names=names)


def test_a_regression_has_no_classes(credit):
    _, X, y = credit
    with pytest.raises(InputError, match="predicts numbers"):
        Explainer(LinearRegression().fit(X, y), X, class_names=NAMES)
