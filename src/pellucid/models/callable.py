"""Any function f(X) -> numbers: it gets the table exactly as the caller holds it."""

from __future__ import annotations

from typing import Any

from pellucid.models.adapter import Adapter


def adapt(model: Any) -> Adapter:
    """A bare function, or the bound predict_proba or predict of a known estimator."""
    owner, verb = getattr(model, "__self__", None), getattr(model, "__name__", "")
    if owner is not None and verb in ("predict_proba", "predict", "decision_function"):
        from dataclasses import replace

        from pellucid.models.registry import adapt as adapt_any

        known = adapt_any(owner)
        if verb == "predict_proba" and known.scale == "probability":
            return known
        return replace(
            known,
            predict=model,
            task="regression" if verb == "predict" else known.task,
            scale="response" if verb == "predict" else "score",
            classes=None if verb == "predict" else known.classes,
            output_names=None,
            gradient=None,
        )
    return Adapter(
        library="function",
        name=verb if verb and verb != "<lambda>" else "function",
        predict=model,
        gradient=getattr(model, "gradient", None),
    )
