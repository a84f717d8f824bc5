"""The engine's games in plain numpy: for jobs that are over before a compiler has woken up, or without one."""

from pellucid.trees.plain.choice import worth_compiling
from pellucid.trees.plain.levels import coalitions
from pellucid.trees.plain.marginal import marginal_base, marginal_values
from pellucid.trees.plain.path import path_base, path_values

__all__ = ["coalitions", "marginal_base", "marginal_values", "path_base", "path_values", "worth_compiling"]
