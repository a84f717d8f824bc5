"""An Explainer that has answered before gives the bytes of one that has not: what it keeps changes nothing."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pellucid import Explainer

P = 7
CONTAINERS = {"numpy": lambda X: X, "pandas": lambda X: pd.DataFrame(X).add_prefix("x"), "polars": pl.DataFrame}


def curved(table):
    cells = np.asarray(table, dtype=float)
    return np.tanh(cells @ np.linspace(-1, 1, P)) + cells[:, 0] * cells[:, 3]


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).normal(size=(60, P))


@pytest.mark.parametrize("container", CONTAINERS)
def test_rows_and_questions_in_turn(X, container):
    table, background = CONTAINERS[container](X), CONTAINERS[container](X[:9])

    def explainer():
        return Explainer(curved, table, background=background, progress=False)

    def ask(who, rows, budget):
        return who.shap(rows, method="kernel", budget=budget * 9 * len(rows))

    used = explainer()
    for rows, budget in (([1, 2, 3], 60), ([4], 90), ([5, 6, 7, 8, 9], 60), ([1, 2, 3], 60)):
        used.pdp(0)  # another question about another table in between
        again, fresh = ask(used, rows, budget), ask(explainer(), rows, budget)
        assert again.values.tobytes() == fresh.values.tobytes()
        assert again.se.tobytes() == fresh.se.tobytes()


def test_another_background_is_not_taken_for_the_first(X):
    explainer = Explainer(curved, X, background=X[:9], progress=False)
    before = explainer.shap([1]).values
    explainer.background = X[20:31]
    after = explainer.shap([1]).values
    assert not np.array_equal(before, after)
    fresh = Explainer(curved, X, background=X[20:31], progress=False).shap([1]).values
    np.testing.assert_array_equal(after, fresh)


def pipeline(X):
    return make_pipeline(StandardScaler(), LogisticRegression()).fit(X, X[:, 0] + X[:, 1] > 0)


@pytest.mark.parametrize("container", CONTAINERS)
def test_a_row_of_a_logistic_model_alone_and_among_others(X, container):
    table = CONTAINERS[container](X)
    used = Explainer(pipeline(X), table, background=CONTAINERS[container](X[:9]), progress=False)
    whole = used.shap(list(range(40)))
    for rows in ([0], [5, 6], [39]):
        part = used.shap(rows)
        assert part.values.tobytes() == whole.values[rows].tobytes()
        assert part.prediction.tobytes() == whole.prediction[rows].tobytes()


def test_what_is_kept_of_the_background_is_that_of_the_steps_as_they_are_now(X):
    model = pipeline(X)
    used = Explainer(model, X, background=X[:9], progress=False, checks=False)
    before = used.shap([1]).values
    model[0].scale_ = model[0].scale_ / 2  # other columns inside, the same predictions
    model[1].coef_ = model[1].coef_ / 2
    after = used.shap([1])
    assert after.method == "linear"
    np.testing.assert_allclose(after.values, before, atol=1e-12)
