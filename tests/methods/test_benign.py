"""Independent features, enough rows, held-out rows and a model without interactions: no verb has anything to say."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression

from pellucid import Explainer

ROWS = 1000
VERBS = {
    "pdp of a normal feature": lambda ex: ex.pdp("a"),
    "pdp of a uniform feature": lambda ex: ex.pdp("b"),
    "pdp of a count": lambda ex: ex.pdp("d"),
    "pdp of two features": lambda ex: ex.pdp(("a", "b"), grid=20),
    "pdp of two normal features": lambda ex: ex.pdp(("a", "c"), grid=20),
    "ice": lambda ex: ex.ice("a", rows=range(40)),
    "ale": lambda ex: ex.ale("a"),
    "ale of a count": lambda ex: ex.ale("d"),
    "ale of two features": lambda ex: ex.ale(("a", "c")),
    "mplot": lambda ex: ex.mplot("a"),
    "importance": lambda ex: ex.importance(),
    "importance, conditional": lambda ex: ex.importance(method="conditional", repeats=2),
    "importance, shap": lambda ex: ex.importance(method="shap"),
    "importance, pdp": lambda ex: ex.importance(method="pdp"),
    "interactions": lambda ex: ex.interactions(),
    "decompose": lambda ex: ex.decompose(),
    "decompose, ale": lambda ex: ex.decompose(method="ale"),
    "decompose, generalized": lambda ex: ex.decompose(method="generalized"),
    "shap of a row": lambda ex: ex.shap(0),
    "shap of many rows": lambda ex: ex.shap(range(30)),
    "breakdown": lambda ex: ex.breakdown(0),
    "lime": lambda ex: ex.lime(0),
    "anchor": lambda ex: ex.anchor(0),
    "counterfactuals": lambda ex: ex.counterfactuals(0, somewhat_more(ex), n=1),
    "adversarial": lambda ex: ex.adversarial(0, somewhat_more(ex)),
    "clusters": lambda ex: ex.clusters(),
    "associations": lambda ex: ex.associations(),
    "audit": lambda ex: ex.audit(),
    "performance": lambda ex: ex.performance(),
}


def somewhat_more(ex):
    """A target for the first row: half a standard deviation of the noise more, of a class 10 percentage points."""
    now = float(np.asarray(ex.predict(0)).ravel()[-1])
    return f">= {now + (0.1 if ex.predictor.classes else 0.5)}"


def benign(seed, classes):
    rng = np.random.default_rng(seed)
    n = 2 * ROWS
    X = pd.DataFrame(
        {
            "a": rng.normal(size=n),
            "b": rng.uniform(-2, 2, n),
            "c": rng.normal(size=n),
            "d": rng.integers(0, 8, n).astype(float),
        }
    )
    y = X["a"] + 0.7 * X["b"] - 0.5 * X["c"] + 0.2 * X["d"] + rng.normal(size=n)
    return X, (y > y.median()).astype(int) if classes else y


@pytest.fixture(scope="module", params=["linear", "stumps", "logistic", "function"])
def explainer(request):
    X, y = benign(0, request.param == "logistic")
    model = {
        "linear": LinearRegression(),
        "stumps": GradientBoostingRegressor(n_estimators=100, max_depth=1, random_state=0),
        "logistic": LogisticRegression(),
        "function": LinearRegression(),
    }[request.param].fit(X[:ROWS], y[:ROWS])
    asked = model.predict if request.param == "function" else model
    return Explainer(asked, X[ROWS:], y[ROWS:])


@pytest.mark.parametrize("verb", VERBS)
def test_no_verb_has_a_caveat(explainer, verb, request):
    if verb == "breakdown" and explainer.predictor.classes is not None:
        pytest.skip("log-odds add up, probabilities do not: there the order in which features enter does matter")
    if verb == "importance, conditional" and request.node.callspec.params["explainer"] != "linear":
        pytest.skip("what takes long is to learn the features, which are the same for every model")
    found = VERBS[verb](explainer)
    assert [(caveat.code, caveat.value) for caveat in found.caveats] == []


def test_the_same_verbs_speak_where_features_are_correlated():
    X, y = benign(0, False)
    X["c"] = X["a"] + 0.05 * X["c"]
    ex = Explainer(LinearRegression().fit(X[:ROWS], y[:ROWS]), X[ROWS:], y[ROWS:])
    silent = [
        verb
        for verb in ("pdp of a normal feature", "importance", "shap of many rows", "clusters", "associations", "audit")
        if not VERBS[verb](ex).caveats
    ]
    assert silent == []
