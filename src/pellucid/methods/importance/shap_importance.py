"""Importance from Shapley values."""

from __future__ import annotations

from pellucid.explanations import Importance
from pellucid.methods.importance.question import Question


def shap_importance(question: Question) -> Importance:
    """Importance from Shapley values."""
    raise NotImplementedError
