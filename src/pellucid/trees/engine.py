"""The tree engine's answers: exact Shapley values and interactions of an ensemble, for either game."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from pellucid.arrays import AnyArray, FloatArray, IntArray
from pellucid.errors import InputError
from pellucid.trees import plain
from pellucid.trees.ensemble import TreeEnsemble
from pellucid.trees.quadrature import Index
from pellucid.trees.rows import Alone, Watch, dense

Game = Literal["path", "marginal"]
_MOST_BYTES = 2 * 2**30  # of a matrix of interactions; working on it takes about twice that


@dataclass(frozen=True, eq=False)
class Attributed:
    """Shapley values and what they start from.

    values
        ``(rows, players, outputs)``
    base
        ``(outputs,)``: the value of the game without players.
    interactions
        ``(rows, players, players, outputs)`` or None: off the diagonal half the Shapley interaction index; rows
        add up to the Shapley values.
    """

    values: FloatArray
    base: FloatArray
    interactions: FloatArray | None


def attribute(
    ensemble: TreeEnsemble,
    X: AnyArray,
    *,
    game: Game,
    background: AnyArray | None = None,
    weights: FloatArray | None = None,
    players: IntArray | None = None,
    interactions: bool = False,
    fill: float = 0.0,
    run: Watch | None = None,
) -> Attributed:
    """Exact Shapley values of the rows of X.

    ``players`` gives the player of each column (by default every column is one). ``fill`` is what a cell stands
    for that a sparse matrix does not store.
    """
    players = np.arange(ensemble.n_features) if players is None else np.asarray(players, dtype=np.int64)
    compiled = _compiled(ensemble, X, game, background, 2 if interactions else 1)
    if interactions:
        _check_room(X.shape[0], int(players.max(initial=-1)) + 1, ensemble.n_outputs)
    ask = _Game(ensemble, game, background, weights, players, fill, run or Alone(), compiled)
    try:
        values = ask.indices(X, "shapley", 1)
        pairs = _square(ask.indices(X, "shapley", 2), values) if interactions else None
        return Attributed(values, ask.base(), pairs)
    finally:
        ask.watch.close()


def coalition_values(
    ensemble: TreeEnsemble,
    X: AnyArray,
    order: int,
    *,
    index: Index = "shapley",
    game: Game,
    background: AnyArray | None = None,
    weights: FloatArray | None = None,
    players: IntArray | None = None,
    fill: float = 0.0,
    run: Watch | None = None,
) -> tuple[FloatArray, IntArray]:
    """An index of all coalitions of one, two or three players: ``(rows, coalitions, outputs)``, and their members.

    "shapley" is the Shapley value or the Shapley interaction index, "banzhaf" the Banzhaf value or interaction
    index; "shapley-taylor" and "faithful-shapley" are the indices of order 2, of players (order 1) and pairs.
    """
    players = np.arange(ensemble.n_features) if players is None else np.asarray(players, dtype=np.int64)
    compiled = _compiled(ensemble, X, game, background, order)
    ask = _Game(ensemble, game, background, weights, players, fill, run or Alone(), compiled)
    try:
        return ask.indices(X, index, order), plain.coalitions(int(players.max()) + 1, order)
    finally:
        ask.watch.close()


@dataclass(frozen=True, eq=False)
class _Game:
    ensemble: TreeEnsemble
    game: Game
    background: AnyArray | None
    weights: FloatArray | None
    players: IntArray
    fill: float
    watch: Watch
    compiled: bool

    def __post_init__(self) -> None:
        if self.game == "path" and np.isnan(self.ensemble.nodes.cover).any():
            raise InputError(
                "game='path' weighs branches by the training rows that took them, which this model does not keep; use"
                " game='marginal'."
            )
        if self.game == "marginal" and (self.background is None or self.background.shape[0] == 0):
            raise InputError("game='marginal' needs background rows; give at least one.")

    def base(self) -> FloatArray:
        """The value of the game without players."""
        if self.game == "path" or self.background is None:
            if not self.compiled:
                return plain.path_base(self.ensemble)
            from pellucid.trees.path_game import path_base

            return path_base(self.ensemble)
        if not self.compiled:
            return plain.marginal_base(self.ensemble, self.background, self.weights, fill=self.fill)
        from pellucid.trees.marginal_game import marginal_base

        return marginal_base(self.ensemble, self.background, self.weights, fill=self.fill)

    def indices(self, X: AnyArray, index: Index, order: int) -> FloatArray:
        """``(rows, players or pairs, outputs)``."""
        if not self.compiled:
            return self._plain(self.ensemble, X, index, order)
        from pellucid.trees.marginal_game import fits, marginal_values
        from pellucid.trees.path_game import path_values

        if self.game == "path" or self.background is None:
            return path_values(
                self.ensemble, X, self.players, index=index, order=order, fill=self.fill, watch=self.watch
            )
        few = fits(self.ensemble, self.players, X.shape[0], self.background.shape[0], order)
        flat = self.ensemble if few.all() else _some(self.ensemble, few)
        values = marginal_values(
            flat,
            X,
            self.background,
            self.weights,
            self.players,
            index=index,
            order=order,
            fill=self.fill,
            watch=self.watch,
        )
        if not few.all():
            values += self._deep(_some(self.ensemble, ~few), X, index, order)
        return values

    def _plain(self, ensemble: TreeEnsemble, X: AnyArray, index: Index, order: int) -> FloatArray:
        if self.game == "path" or self.background is None:
            return plain.path_values(
                ensemble, X, self.players, index=index, order=order, fill=self.fill, watch=self.watch
            )
        return plain.marginal_values(
            ensemble,
            X,
            self.background,
            self.weights,
            self.players,
            index=index,
            order=order,
            fill=self.fill,
            watch=self.watch,
        )

    def _deep(self, ensemble: TreeEnsemble, X: AnyArray, index: Index, order: int) -> FloatArray:
        from pellucid.trees.marginal_deep import deep_marginal_interactions, deep_marginal_values

        if order > 2:
            return self._plain(ensemble, X, index, order)
        background = dense(self.background, slice(0, None), self.fill)
        X = dense(X, slice(0, None), self.fill)
        if order == 1:
            return deep_marginal_values(
                ensemble, X, background, self.weights, self.players, index=index, watch=self.watch
            )
        square = deep_marginal_interactions(
            ensemble, X, background, self.weights, self.players, index=index, watch=self.watch
        )
        low, high = plain.coalitions(square.shape[1], 2).T
        return square[:, low, high]


def _compiled(ensemble: TreeEnsemble, X: AnyArray, game: Game, background: AnyArray | None, order: int) -> bool:
    against = 0 if game == "path" or background is None else background.shape[0]
    return plain.worth_compiling(ensemble, X.shape[0], against, order)


def _check_room(rows: int, players: int, outputs: int) -> None:
    """Refuses a matrix of interactions that would fill the memory."""
    size = 8 * rows * players**2 * outputs
    if size > _MOST_BYTES:
        raise InputError(
            f"the interactions of {players} features in {rows} rows take {size / 2**30:.0f} GB; explain fewer rows at"
            " once, or put features into groups (groups=)."
        )


def _some(ensemble: TreeEnsemble, trees: AnyArray) -> TreeEnsemble:
    return replace(ensemble, roots=ensemble.roots[trees], output=ensemble.output[trees])


def _symmetric(pairs: FloatArray, count: int) -> FloatArray:
    """One column per pair as a matrix of players with an empty diagonal."""
    low, high = plain.coalitions(count, 2).T
    square = np.zeros((len(pairs), count, count, pairs.shape[2]))
    square[:, low, high] = square[:, high, low] = pairs
    return square


def _square(pairs: FloatArray, values: FloatArray) -> FloatArray:
    """Half the index off the diagonal; on it what is left of the player's own value."""
    square = _symmetric(pairs / 2, values.shape[1])
    own = np.arange(values.shape[1])
    square[:, own, own] = values - square.sum(axis=2)
    return square
