"""From a library's own model to a `TreeEnsemble`; one small file per library."""

from pellucid.trees.convert.registry import convert
from pellucid.trees.convert.tree_model import TreeModel, Unsupported

__all__ = ["TreeModel", "Unsupported", "convert"]
