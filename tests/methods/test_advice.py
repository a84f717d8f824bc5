"""The advice of a caveat fits the verb that it stands under, and what it names exists."""

import numpy as np
import pytest

from pellucid import Explainer

DO = {
    "pdp": (lambda ex: ex.pdp(0), "Use ale('x0')"),
    "ice": (lambda ex: ex.ice(0), "Use ale('x0')"),
    "importance": (lambda ex: ex.importance(), "importance(method='conditional')"),
    "sage": (lambda ex: ex.importance(method="sage"), "importance(method='conditional')"),
    "sobol": (lambda ex: ex.importance(method="sobol"), "importance(method='shapley-effects')"),
    "interactions": (lambda ex: ex.interactions(), "ale"),
    "decompose": (lambda ex: ex.decompose(method="marginal"), "decompose(method='generalized')"),
    "shap": (lambda ex: ex.shap(0), "shap(..., game='conditional')"),
    "lime": (lambda ex: ex.lime(0), "lime(..., sampler='correlated')"),
    "anchor": (lambda ex: ex.anchor(0), "anchor(..., perturb='conditional')"),
}


@pytest.fixture(scope="module")
def explainer():
    x = np.random.default_rng(0).normal(size=300)
    X = np.column_stack([x, x + 0.05 * np.random.default_rng(1).normal(size=300)])
    return Explainer(lambda Z: Z[:, 0] + Z[:, 1], X, X.sum(axis=1) + np.random.default_rng(2).normal(size=300))


@pytest.mark.parametrize("verb", DO)
def test_correlated_features_get_the_advice_of_their_verb(explainer, verb):
    call, advice = DO[verb]
    found = [caveat.advice for caveat in call(explainer).caveats if caveat.code == "off-data"]
    assert found
    assert all(advice in each for each in found)


@pytest.mark.parametrize(
    "call",
    [
        lambda ex: ex.ale("x0"),
        lambda ex: ex.importance(method="conditional"),
        lambda ex: ex.importance(method="shapley-effects"),
        lambda ex: ex.decompose(method="generalized"),
        lambda ex: ex.shap(0, game="conditional"),
        lambda ex: ex.lime(0, sampler="correlated"),
        lambda ex: ex.anchor(0, perturb="conditional"),
    ],
)
def test_who_follows_the_advice_is_not_given_it_again(explainer, call):
    assert "off-data" not in {caveat.code for caveat in call(explainer).caveats}
