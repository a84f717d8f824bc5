"""Which method measures importance."""

from __future__ import annotations

from typing import Any, Literal

from pellucid.errors import InputError, nearest
from pellucid.explanations import Importance
from pellucid.methods.importance.anova_importance import anova_importance
from pellucid.methods.importance.conditional_permutation import conditional_permutation
from pellucid.methods.importance.drop import drop
from pellucid.methods.importance.pdp_importance import pdp_importance
from pellucid.methods.importance.permutation import permutation_importance
from pellucid.methods.importance.question import Question
from pellucid.methods.importance.sage import sage
from pellucid.methods.importance.shap_importance import shap_importance
from pellucid.methods.importance.shapley_effects import shapley_effects
from pellucid.methods.importance.sobol import sobol

Method = Literal[
    "permutation",
    "conditional",
    "shap",
    "pdp",
    "anova",
    "drop",
    "sobol",
    "shapley-effects",
    "sage",
]


def _permutation(question: Question) -> Importance:
    q = question
    return permutation_importance(
        q.predictor, q.data, loss=q.loss, compare=q.compare, repeats=q.repeats, scheme=q.scheme, holdout=q.holdout, run=q.run
    )  # fmt: skip


def _pdp(question: Question) -> Importance:
    return pdp_importance(question.predictor, question.data, grid=question.grid, run=question.run)


_METHODS = {
    "permutation": _permutation,
    "conditional": conditional_permutation,
    "shap": shap_importance,
    "pdp": _pdp,
    "anova": anova_importance,
    "drop": drop,
    "sobol": sobol,
    "shapley-effects": shapley_effects,
    "sage": sage,
}


def importance(method: Any, question: Question) -> Importance:
    """How much the model relies on each feature or group."""
    if method not in _METHODS:
        raise InputError(f"method={method!r} is not known{nearest(str(method), _METHODS)}")
    return _METHODS[method](question)
