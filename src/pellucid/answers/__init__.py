"""Who answers a sweep: the model, asked row by row, its trees, or its sum over the features, read."""

from pellucid.answers.answer import Answer, Asked, Engine
from pellucid.answers.choice import answer

__all__ = ["Answer", "Asked", "Engine", "answer"]
