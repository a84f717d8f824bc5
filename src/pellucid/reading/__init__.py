"""Who answers an intervention: the model, asked row by row, its trees, or its sum over the features, read."""

from pellucid.reading.answer import Answer, Asked, Engine
from pellucid.reading.choice import answer

__all__ = ["Answer", "Asked", "Engine", "answer"]
