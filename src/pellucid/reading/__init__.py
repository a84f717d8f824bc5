"""A model is read where it can be, and asked where it cannot: `read` and `answer` say which, for every method alike."""

from pellucid.reading.additive import SumRows
from pellucid.reading.answer import Answer, Engine, ModelAnswer
from pellucid.reading.choice import Asked, answer, read
from pellucid.reading.trees import ExplainedTrees, TreeRows

__all__ = ["Answer", "Asked", "Engine", "ExplainedTrees", "ModelAnswer", "SumRows", "TreeRows", "answer", "read"]
