"""Drop-column importance."""

from __future__ import annotations

from pellucid.explanations import Importance
from pellucid.methods.importance.question import Question


def drop(question: Question) -> Importance:
    """Drop-column importance."""
    raise NotImplementedError
