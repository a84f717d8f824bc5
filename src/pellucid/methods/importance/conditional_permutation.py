"""Conditional permutation importance."""

from __future__ import annotations

from pellucid.explanations import Importance
from pellucid.methods.importance.question import Question


def conditional_permutation(question: Question) -> Importance:
    """Conditional permutation importance."""
    raise NotImplementedError
