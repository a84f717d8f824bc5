"""The engine's games in plain numpy: where there is no compiler."""

from pellucid.trees.plain.choice import can_compile
from pellucid.trees.plain.levels import coalitions
from pellucid.trees.plain.marginal import marginal_base, marginal_values
from pellucid.trees.plain.path import path_base, path_values

__all__ = ["can_compile", "coalitions", "marginal_base", "marginal_values", "path_base", "path_values"]
