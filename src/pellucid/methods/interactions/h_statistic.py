"""Friedman's H."""

from __future__ import annotations

from pellucid.explanations.interactions import Interactions
from pellucid.methods.interactions.question import Question


def h_statistic(question: Question) -> Interactions:
    """The share of a joint effect that is interaction."""
    raise NotImplementedError
