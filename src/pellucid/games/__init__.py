"""What "absent" means: cooperative games whose players are features, groups, words or superpixels."""

from pellucid.games.coalitions import all_coalitions
from pellucid.games.function import FunctionGame
from pellucid.games.game import Game

__all__ = ["FunctionGame", "Game", "all_coalitions"]
