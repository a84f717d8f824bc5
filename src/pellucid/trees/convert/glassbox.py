"""pellucid's own models of trees, which say themselves what trees they are."""

from __future__ import annotations

from typing import Any

from pellucid.models.adapter import unfitted
from pellucid.trees.convert.tree_model import NotTrees, TreeModel


def convert(model: Any) -> TreeModel:
    """A glass box as trees."""
    as_trees = getattr(model, "as_trees", None)
    if as_trees is None:
        raise NotTrees(f"{type(model).__name__} is not a tree model that the tree engine reads")
    if not hasattr(model, "n_features_in_"):
        raise unfitted(type(model).__name__)
    found: TreeModel = as_trees()
    return found
