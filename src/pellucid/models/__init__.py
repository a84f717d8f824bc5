"""How a model is asked: one doorway for every library."""

from pellucid.models.predictor import Predictor

__all__ = ["Predictor"]
