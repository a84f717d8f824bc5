"""SAGE."""

from __future__ import annotations

from pellucid.explanations import Importance
from pellucid.methods.importance.question import Question


def sage(question: Question) -> Importance:
    """SAGE."""
    raise NotImplementedError
