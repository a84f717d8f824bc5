"""How firm answers are: under small changes of their numbers, and how few calls of the model that takes."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from methods.counterfactual.asking import credit_like, risk
from pellucid import Explainer
from pellucid.errors import InputError
from pellucid.methods.counterfactual.search.problem import make_problem
from pellucid.methods.counterfactual.search.robustness import ask_with_surroundings, robustness
from pellucid.runner import Run


@pytest.fixture(scope="module")
def numbers():
    table = credit_like()[["age", "amount", "score"]]
    y = (table["amount"] - table["age"] + 20 * table["score"] > 5).to_numpy()
    return table, RandomForestClassifier(20, random_state=0, n_jobs=1).fit(table, y)


def test_exact_calls_the_model_twice(numbers):
    table, model = numbers
    row = int(np.flatnonzero(model.predict(table) == 0)[0])
    ex = Explainer(model, table, progress=False)
    ex.counterfactuals(row, n=1)  # reads the trees
    found = ex.counterfactuals(row, n=1)
    assert found.proven
    assert found.cost.model_calls == 2
    assert found.cost.model_rows == 2 + 50


def test_surroundings_asked_with_an_answer_are_those_asked_later():
    ex = Explainer(risk, credit_like(), progress=False)
    codes = np.column_stack([ex.data.codes(j)[3:6] for j in range(6)])
    shares = []
    for together in (False, True):
        problem = make_problem(ex.predictor, ex.data, ex.data.rows(0), ">= 0.5", Run())
        for row in codes if together else ():
            ask_with_surroundings(problem, row)
        shares.append(robustness(problem, codes))
        assert problem.asked.rows == 1 + len(codes) * together
    np.testing.assert_array_equal(*shares)


def test_refits_are_the_models_of_bootstrap_samples(numbers):
    table, _ = numbers
    y = (table["amount"] - table["age"] + 20 * table["score"] > 5).to_numpy()
    model = LogisticRegression(max_iter=1000).fit(table, y)
    fitted = []

    def refit(X, y):
        fitted.append(LogisticRegression(max_iter=1000).fit(X, y))
        return fitted[-1]

    row = int(np.flatnonzero(~model.predict(table))[0])
    ex = Explainer(model, table, y, progress=False)
    found = ex.counterfactuals(row, n=2, refits=6, refit=refit)
    assert len(fitted) == 6
    held = [one.predict(found.rows()) for one in fitted]
    np.testing.assert_allclose(found.scores["refits"], np.mean(held, axis=0))
    assert found.scores["refits"][0] < 1  # on the edge of the model, some other model says no
    again = ex.counterfactuals(row, n=2, refits=6)
    np.testing.assert_array_equal(again.scores["refits"], found.scores["refits"])
    assert "6 refitted models" in again.text()
    assert "refits" not in ex.counterfactuals(row, n=1).scores


def test_refits_need_y_and_are_asked_for_by_their_number(numbers):
    table, model = numbers
    ex = Explainer(model, table, progress=False)
    with pytest.raises(InputError, match="give y to the Explainer"):
        ex.counterfactuals(0, n=1, refits=2)
    with pytest.raises(InputError, match="refits=10"):
        ex.counterfactuals(0, n=1, refit=model)
