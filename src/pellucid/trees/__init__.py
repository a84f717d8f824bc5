"""The tree engine: every ensemble of trees in one form, and exact explanations of it."""

from pellucid.trees.ensemble import Nodes, TreeEnsemble

__all__ = ["Nodes", "TreeEnsemble"]
