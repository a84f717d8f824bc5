"""Importance from the functional analysis of variance."""

from __future__ import annotations

from pellucid.explanations import Importance
from pellucid.methods.importance.question import Question


def anova_importance(question: Question) -> Importance:
    """Importance from the functional analysis of variance."""
    raise NotImplementedError
