"""Shapley effects."""

from __future__ import annotations

from pellucid.explanations import Importance
from pellucid.methods.importance.question import Question


def shapley_effects(question: Question) -> Importance:
    """Shapley effects."""
    raise NotImplementedError
