"""Shapley values of tree ensembles, exactly, from the trees themselves.

Lundberg et al. 2020 (marginal and path game); the engine is in `pellucid.trees`.

Definition. As in `shapley_exact`, for what the trees add up to: the prediction of a regressor, the probabilities of
a forest, the log-odds (scores) of boosted classifiers (their probabilities: `linked_shap`). Two games:

- marginal: absent features take their values from the background rows, as for any model;
- path: at a split on an absent feature both branches are followed, weighted by the training rows that went there.

The trees are trusted only after they have reproduced the model's own predictions of the explained rows.
Columns made from one feature (one-hot codes), and features of one group, act as one player.

When it misleads: as any Shapley value (see `shapley_exact`); the path game moreover credits features for the
company they keep in the trees: compare with the marginal game.

Cost. The explained rows, once; everything else is read off the trees.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.data import Data
from pellucid.errors import InputError
from pellucid.games.marginal import Players
from pellucid.methods.attribution.estimation.estimate import Estimate, Solved
from pellucid.methods.attribution.interaction_indices import Index
from pellucid.models import Predictor
from pellucid.reading.trees import OutputTrees, TreeRows
from pellucid.runner import Run
from pellucid.trees.convert import TreeModel
from pellucid.trees.rows import Places

if TYPE_CHECKING:
    from pellucid.trees.engine import TreeGame

_KEPT_BYTES = 256 * 2**20  # of all games of an Explainer


def tree_shap(
    predictor: Predictor,
    explained: TreeRows,
    background: Data | None,
    *,
    players: Players,
    interactions: Index | None = None,
    run: Run,
) -> Solved:
    """Contributions of the players in each row, by the tree engine; without a background in the path game."""
    game, present = _game(predictor, explained.outputs, background, players, run)
    rows: Any = explained.rows  # as good as a matrix to whoever takes portions of it
    if interactions is None:
        places = Places.of(rows.shape[0], len(players), game.ensemble.n_outputs, present)
        found, pairs = game.attribute(rows, run=run, into=places), None
        values, sums = found.values, places.sums()
    else:
        found = game.attribute(explained.matrix, interactions=interactions, run=run)
        assert found.interactions is not None
        values, sums = spread_out(found.values, present, len(players), axes=1), found.values.sum(axis=1)
        pairs = spread_out(found.interactions, present, len(players), axes=2)
    return Solved(
        Estimate(
            "tree",
            values,
            np.broadcast_to(0.0, values.shape),
            pairs,
            settings={
                "link": explained.link,
                **({"scores": explained.outputs.weight.shape[1]} if explained.link == "softmax" else {}),
            },
        ),
        base=np.asarray(found.base),
        prediction=np.add(sums, found.base, out=sums),
        scale=explained.scale,
        background=0 if background is None else len(background),
    )


def both_games(
    predictor: Predictor, outputs: OutputTrees, rows: Data, background: Data, *, players: Players, run: Run
) -> tuple[FloatArray, FloatArray]:
    """Contributions to a few rows in the path game and in the marginal game, ``(rows, players, outputs)`` each."""
    trees = outputs.trees
    matrix = trees.encode(predictor.dressed(rows.frame))
    path, present = _game(predictor, outputs, None, players, run)
    marginal, _ = _made(predictor, trees, background, players, tables=False)
    found = (game.attribute(matrix, run=run).values for game in (path, marginal))
    first, second = (spread_out(values, present, len(players), axes=1) for values in found)
    return first, second


def _game(
    predictor: Predictor, outputs: OutputTrees, background: Data | None, players: Players, run: Run
) -> tuple[TreeGame, IntArray]:
    """The game of the trees, made once for all rows of an Explainer, and the players that the trees know."""
    from pellucid.trees.engine import KEPT_BYTES  # on use: it loads a compiler

    kept: dict[Any, tuple[Any, TreeGame, IntArray]] = run.remember("tree games", dict)
    key = (id(outputs), id(background), tuple(players.items()))
    found = kept.get(key)
    if found is None:
        # What it is about is held too: its number may not be given again.
        found = ((outputs, background), *_made(predictor, outputs.trees, background, players))
        while kept and sum(game.nbytes for _, game, _ in list(kept.values())) > _KEPT_BYTES - KEPT_BYTES:
            kept.pop(next(iter(list(kept))), None)  # several threads may explain at once
        kept[key] = found
    return found[1], found[2]


def _made(
    predictor: Predictor, trees: TreeModel, background: Data | None, players: Players, *, tables: bool = True
) -> tuple[TreeGame, IntArray]:
    from pellucid.trees.engine import TreeGame  # on use: it loads a compiler

    if background is None and not np.isfinite(trees.ensemble.nodes.cover).all():
        raise InputError(
            f"game='path' needs the training rows at each node, which {predictor.name} does not hold; use"
            " game='marginal'."
        )
    present, numbers = np.unique(player_of_column(predictor, trees, players), return_inverse=True)
    absent = None if background is None else trees.encode(predictor.dressed(background.frame))
    weights = None if background is None else background.weights
    name: Any = "path" if background is None else "marginal"
    return TreeGame(trees.ensemble, name, absent, weights, numbers, tables=tables), present


# -- the players -------------------------------------------------------------------------------------


def player_of_column(predictor: Predictor, trees: TreeModel, players: Players) -> IntArray:
    """For each column that the trees compare, the player that its feature belongs to."""
    owner = np.zeros(1 + max(j for members in players.values() for j in members), dtype=np.intp)
    for number_of, members in enumerate(players.values()):
        owner[list(members)] = number_of
    return np.asarray(owner[np.asarray(predictor.columns, dtype=np.intp)[trees.source]], dtype=np.intp)


def spread_out(part: FloatArray, present: IntArray, n_players: int, *, axes: int) -> FloatArray:
    """The players that the trees know among all players; the others contribute exactly nothing."""
    if len(present) == n_players:
        return part
    full = np.zeros((part.shape[0], *(n_players,) * axes, part.shape[-1]))
    places: tuple[Any, ...] = np.ix_(*(present,) * axes)
    full[(slice(None), *places)] = part
    return full
