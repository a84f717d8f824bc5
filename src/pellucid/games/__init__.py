"""What "absent" means: cooperative games whose players are features, groups, words or superpixels."""

from pellucid.games.game import FunctionGame, Game, all_coalitions

__all__ = ["FunctionGame", "Game", "all_coalitions"]
