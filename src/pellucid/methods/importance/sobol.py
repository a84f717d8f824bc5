"""Sobol indices of first order and total."""

from __future__ import annotations

from pellucid.explanations import Importance
from pellucid.methods.importance.question import Question


def sobol(question: Question) -> Importance:
    """Sobol indices of first order and total."""
    raise NotImplementedError
