"""How the distance from the target changes with each feature, where the model gives derivatives of its own."""

from __future__ import annotations

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.methods.counterfactual.search.problem import OutOfBudget, Problem

_STEP = 1e-6  # in the outputs, of their size: the target is a known function of them


def has_gradient(problem: Problem) -> bool:
    """Whether the model gives derivatives of the outputs that the target is about."""
    on_its_scale = not problem.target.explained or problem.predictor.link == "identity"
    return problem.predictor.has_gradient and on_its_scale and not np.isnan(problem.x).any()


def miss_slopes(problem: Problem, row: FloatArray) -> FloatArray:
    """The derivatives ``(features,)`` of how far the prediction of a row is from the target; the model is asked."""
    if problem.left is not None and problem.left < 2:
        raise OutOfBudget
    outputs = problem.target.outputs(problem.predictor, problem.score(row[None]))
    problem.asked.gradients += 1
    table, full = problem.data.of_codes(row[None]), not problem.target.explained
    of_model = problem.run.gradient(problem.predictor, table, full=full)[0]  # (features, outputs)
    step = _STEP * np.maximum(np.abs(outputs[0]), 1.0)
    around = outputs + np.vstack([np.diag(step), -np.diag(step)])
    ahead, behind = problem.target.miss(around).reshape(2, -1)
    return np.asarray(of_model @ ((ahead - behind) / (2 * step)))
