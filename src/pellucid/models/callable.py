"""Any function f(X) -> numbers: it gets the table exactly as the caller holds it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pellucid.models.adapter import Adapter, OneHot

_VERBS = ("predict_proba", "predict_log_proba", "decision_function", "predict")


def adapt(model: Any) -> Adapter:
    """A bare function, or the bound predict_proba or predict of an estimator."""
    verb = getattr(model, "__name__", type(model).__name__)
    owner = getattr(model, "__self__", None)
    if owner is not None and verb in _VERBS:
        return _bound(model, owner, verb)
    return Adapter(
        library="function",
        name="function" if verb == "<lambda>" else verb,
        predict=model,
        gradient=getattr(model, "gradient", None),
        opaque=True,
    )


def _bound(method: Any, owner: Any, verb: str) -> Adapter:
    """The estimator behind a bound method, asked through that method."""
    from pellucid.models.registry import adapt as adapt_any

    known = adapt_any(owner)
    if known.predict == method or known.name == "Booster":  # a Booster's own predict may want its own matrix
        return known
    silent = replace(known, predict=method, gradient=None)
    if verb == "predict" and known.classes is not None:
        return replace(silent, predict=OneHot(method, known.classes), scale="probability")
    if verb == "predict":
        return replace(silent, task="regression", scale="response", output_names=None)
    return replace(silent, scale="probability" if verb == "predict_proba" else "score")
