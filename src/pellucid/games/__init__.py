"""What "absent" means: cooperative games whose players are features, groups, words or superpixels."""

from pellucid.games.function import FunctionGame
from pellucid.games.game import Game, all_coalitions

__all__ = ["FunctionGame", "Game", "all_coalitions"]
