"""The marginal game of a model that is read, against every background row: what break-down builds upon.

Trees: v(S) is the partial dependence on the columns of S at the explained row, one walk of the background. Sums of one
term per feature: v(S) is the base plus the contributions of S. Both are the worths of `MarginalGame`, up to rounding,
at a cost that hardly depends on the background, so that no sample of it is taken: base and background are those of
`tree_shap` and `linear_shap`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.data import Data
from pellucid.games import Game
from pellucid.games.marginal import MOST, MarginalGame, Players, background_rows
from pellucid.methods.attribution.tree_shap import player_of_column
from pellucid.models import Predictor
from pellucid.reading import SumRows, TreeRows, read
from pellucid.runner import Run
from pellucid.trees.marginal_game import marginal_base
from pellucid.trees.plain.choice import can_compile
from pellucid.trees.predict import predict
from pellucid.trees.rows import dense


def marginal_game(
    predictor: Predictor, data: Data, rows: Data, players: Players, background: Any, run: Run
) -> MarginalGame | TreeWorths | SumWorths:
    """The game of some rows: read where the model can be, against all rows of the background; else asked, against a
    sample of them.
    """

    def absent(few: bool) -> Data:
        return background_rows(data, background, run, most=MOST if few else None)

    found = read(run, predictor, data, rows, absent)
    if isinstance(found, TreeRows) and found.scale == predictor.scale and can_compile():
        return TreeWorths(predictor, found, absent(False), players, run)
    if isinstance(found, SumRows):
        return SumWorths(found, players)
    return MarginalGame(predictor, absent(True), rows, players, run)


class TreeWorths(Game):
    """Partial dependence of the trees at the explained rows."""

    base_se: FloatArray | None = None

    def __init__(self, predictor: Predictor, found: TreeRows, background: Data, players: Players, run: Run) -> None:
        self._ensemble, self._run = found.trees.ensemble, run
        self._explained = dense(found.matrix, slice(0, found.matrix.shape[0]), 0.0)
        self._absent, self._weights = found.trees.encode(predictor.dressed(background.frame)), background.weights
        self._owner = player_of_column(predictor, found.trees, players)
        self.rows, self.players = len(self._explained), len(players)
        self.outputs, self.donors = self._ensemble.n_outputs, len(background)

    def ends(self) -> tuple[FloatArray, FloatArray]:
        nobody = marginal_base(self._ensemble, self._absent, self._weights)
        everybody = predict(self._ensemble, self._explained)
        return np.broadcast_to(nobody, everybody.shape), everybody

    @property
    def active(self) -> BoolArray:
        """Players that the trees do not know change nothing."""
        return np.broadcast_to(np.isin(np.arange(self.players), self._owner), (self.rows, self.players))

    def worth(self, coalitions: BoolArray, rows: IntArray | None = None) -> FloatArray:
        from pellucid.trees.partial_dependence import partial_dependence  # on use: it loads a compiler

        points = self._explained if rows is None else self._explained[rows]
        found = np.empty((len(points), len(coalitions), self.outputs))
        nobody, _ = self.ends()
        for c, known in enumerate(coalitions):
            columns = np.flatnonzero(known[self._owner])
            found[:, c] = (
                partial_dependence(
                    self._ensemble, columns, points[:, columns], self._absent, self._weights, watch=self._run
                )
                if len(columns)
                else nobody[: len(points)]
            )
        return found


class SumWorths(Game):
    """The base and the contributions of those who are known."""

    base_se: FloatArray | None = None

    def __init__(self, terms: SumRows, players: Players) -> None:
        member = np.array([np.isin(terms.source, columns) for columns in players.values()])
        middle = terms.share @ terms.background
        self._base = terms.intercept + middle @ terms.slopes
        self._parts = np.einsum("ie,re,ek->rik", member, terms.explained - middle, terms.slopes, optimize=True)
        self.rows, self.players, self.outputs = self._parts.shape
        self.donors = len(terms.background)

    def worth(self, coalitions: BoolArray, rows: IntArray | None = None) -> FloatArray:
        parts = self._parts if rows is None else self._parts[rows]
        return np.asarray(self._base + np.einsum("ci,rik->rck", coalitions, parts, optimize=True))
