"""What to do instead: one thing for each weakness and the verb that it spoils."""

from __future__ import annotations

_GROUP = "make correlated features one group (groups=, see clusters())"

_ADVICE = {
    ("off-data", "pdp"): "Use ale({feature!r}), which stays near the data.",
    ("off-data", "ice"): "Use ale({feature!r}), which stays near the data.",
    ("off-data", "permutation"): f"Use importance(method='conditional'), or {_GROUP}.",
    ("off-data", "sage"): f"Use importance(method='conditional'), or {_GROUP}.",
    ("off-data", "sobol"): f"Use importance(method='shapley-effects'), or {_GROUP}.",
    ("off-data", "interactions"): f"Look at the pair with ale, or {_GROUP}.",
    ("off-data", "decompose"): "Use decompose(method='generalized') or decompose(method='ale').",
    ("off-data", "density"): "Use density='data' or density='support'.",
    ("off-data", "shap"): f"Use shap(..., game='conditional'), or {_GROUP}.",
    ("off-data", "lime"): "Use lime(..., sampler='correlated'), which draws features with their correlations.",
    ("off-data", "kernel shap"): f"Use shap(..., game='conditional'), or {_GROUP}.",
    ("off-data", "anchor"): f"Use anchor(..., perturb='conditional'), or {_GROUP}.",
    ("off-data", "report"): (
        "Use ale for effects, importance(method='conditional') for importance and shap(..., game='conditional') for"
        f" rows, or {_GROUP}."
    ),
    ("fooled", "shap"): "Distrust these contributions; use shap(..., game='conditional'), and {compare}.",
    ("fooled", "lime"): (
        "Distrust this local model; use lime(..., sampler='correlated') or shap(..., game='conditional'), and"
        " {compare}."
    ),
    ("training-data", "importance"): "Pass held-out data: on training data overfitted features look important.",
    ("training-data", "performance"): "Pass held-out data: on training data every model looks better than it is.",
    (
        "training-data",
        "surrogate",
    ): "Pass held-out data: on training data the model's own score, and so the cost of replacing it, looks too high.",
    (
        "training-data",
        "interactions",
    ): "Pass held-out data: on training data a test finds what the model has overfitted.",
}


def advice(weakness: str, verb: str, **words: object) -> str:
    """What to do about a weakness (the code of its caveat) that spoils a verb; ``words`` fill in what it names."""
    return _ADVICE[weakness, verb].format(**words)
