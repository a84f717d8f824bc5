"""Shapley values of tree ensembles, exactly, from the trees themselves.

Lundberg et al. 2020 (marginal and path game); the engine is in `pellucid.trees`.

Definition. As in `shapley_exact`, for what the trees add up to: the prediction of a regressor, the probabilities of
a forest, the log-odds (scores) of boosted classifiers. Two games:

- marginal: absent features take their values from the background rows, as for any model;
- path: at a split on an absent feature both branches are followed, weighted by the training rows that went there.

The trees are trusted only after they have reproduced the model's own predictions of the explained rows.
Columns made from one feature (one-hot codes), and features of one group, act as one player.

When it misleads: as any Shapley value (see `shapley_exact`); the path game moreover credits features for the
company they keep in the trees: compare with the marginal game.

Cost. The explained rows, once; everything else is read off the trees.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.data import Data
from pellucid.errors import InputError, PellucidError
from pellucid.games.marginal import Players
from pellucid.methods.attribution.estimation.estimate import Solved
from pellucid.methods.attribution.interaction_indices import Index, square
from pellucid.models import Predictor
from pellucid.runner import Run
from pellucid.trees.convert import NotTrees, TreeModel, Unsupported
from pellucid.trees.convert.combine import rescaled
from pellucid.trees.convert.tree_model import Link
from pellucid.trees.links import magnitude, predictions
from pellucid.trees.predict import predict
from pellucid.trees.reading import read
from pellucid.words import percent

_AGREE = 1e-5  # relative; libraries add up their trees in single precision
_COMPARED = 200  # rows of the data, and as many mixtures
_MIXING = 20  # key of the random numbers


@dataclass(frozen=True)
class Refusal:
    """Why the trees do not serve, and by how much they miss the model's predictions where they do.

    ``kind``: the model is "no trees" at all, its trees are "unread" or "unlike" the model, or do not add up to
    the "scale" that is asked for.
    """

    kind: Literal["no trees", "unread", "unlike", "scale"]
    reason: str
    difference: float = 1.0
    tolerance: float = 0.0


@dataclass(frozen=True, eq=False)
class ExplainedTrees:
    """Trees that add up to the explained outputs on the explained scale."""

    trees: TreeModel
    matrix: FloatArray
    prediction: FloatArray
    scale: str
    link: Link

    def head(self, n: int) -> ExplainedTrees:
        """The first ``n`` of the explained rows."""
        return replace(self, matrix=self.matrix[:n], prediction=self.prediction[:n])


def explained_trees(predictor: Predictor, rows: Data, data: Data, run: Run) -> ExplainedTrees | Refusal:
    """The model's trees for the explained outputs, if they reproduce its predictions.

    They must do so on the explained rows, on rows of the reference data, and on rows mixed from those: what the games
    ask about is not only what is explained.
    """
    model = read(run, predictor)
    if isinstance(model, Unsupported):
        return Refusal("no trees" if isinstance(model, NotTrees) else "unread", str(model))
    full = run.predict(predictor, rows, full=True)
    matrix = model.encode(predictor.dressed(rows.frame))
    raw = predict(model.ensemble, matrix)
    others = run.remember("trees and predictions", lambda: _compared(predictor, model, data, run))
    link = _agreeing_link(model, np.vstack([raw, others[0]]), np.vstack([full, others[1]]), predictor)
    if isinstance(link, Refusal):
        return link
    scale = str(predictor.raw_scale if link == "identity" else model.scale)
    weight, shift = _outputs(predictor, raw.shape[1], full.shape[1], link, scale)
    if link == "softmax" and raw.shape[1] == 2:
        link, scale = "logistic", "log-odds"
    if predictor.link == "logit" and scale != "log-odds":
        return Refusal("scale", f"the trees of {predictor.name} add up to a {scale}, not to log-odds")
    trees = _selected(model, weight, shift)
    prediction = predictor.restrict(full) if link == "identity" else raw @ weight.T + shift
    return ExplainedTrees(trees, matrix, prediction, scale, link)


def tree_shap(
    predictor: Predictor,
    explained: ExplainedTrees,
    background: Data | None,
    *,
    players: Players,
    interactions: Index | None = None,
    run: Run,
) -> Solved:
    """Contributions of the players in each row, by the tree engine; without a background in the path game."""
    from pellucid.trees.engine import attribute, coalition_values  # on use: it loads a compiler

    trees = explained.trees
    if background is None and not np.isfinite(trees.ensemble.nodes.cover).all():
        raise InputError(
            f"game='path' needs the training rows at each node, which {predictor.name} does not hold; use"
            " game='marginal'."
        )
    present, numbers = np.unique(_player_of_column(predictor, trees, players), return_inverse=True)
    game: Any = {
        "game": "path" if background is None else "marginal",
        "background": None if background is None else trees.encode(predictor.dressed(background.frame)),
        "weights": None if background is None else background.weights,
        "players": np.asarray(numbers, dtype=np.intp),
        "run": run,
    }
    found = attribute(trees.ensemble, explained.matrix, interactions=interactions == "shapley", **game)
    matrix = found.interactions
    if interactions is not None and matrix is None:
        singles = (
            coalition_values(trees.ensemble, explained.matrix, 1, index="banzhaf", **game)[0]
            if interactions == "banzhaf"
            else found.values
        )
        matrix = square(coalition_values(trees.ensemble, explained.matrix, 2, index=interactions, **game)[0], singles)
    return Solved(
        method="tree",
        values=_spread_out(found.values, present, len(players), axes=1),
        se=np.zeros((len(found.values), len(players), found.values.shape[-1])),
        base=np.asarray(found.base),
        prediction=explained.prediction,
        interactions=(None if matrix is None else _spread_out(matrix, present, len(players), axes=2)),
        scale=explained.scale,
        background=0 if background is None else len(background),
        settings={"link": explained.link},
    )


# -- the trees ---------------------------------------------------------------------------------------


def _compared(predictor: Predictor, model: TreeModel, data: Data, run: Run) -> tuple[FloatArray, FloatArray]:
    """The sums of the trees and the model's predictions, on rows of the data and on mixtures of them."""
    some = data.take(data.spread(_COMPARED))
    parts = [_both(predictor, model, some, run)]
    if data.frame.kind != "sparse":
        with suppress(PellucidError):  # a model may refuse a mixture; it is then asked no more than real rows
            parts.append(_both(predictor, model, some.mixed(run.generator(_MIXING)), run))
    raw, full = (np.vstack(arrays) for arrays in zip(*parts, strict=True))
    return raw, full


def _both(predictor: Predictor, model: TreeModel, rows: Data, run: Run) -> tuple[FloatArray, FloatArray]:
    with run.checking():
        full = run.predict(predictor, rows, full=True)
    return predict(model.ensemble, model.encode(predictor.dressed(rows.frame))), full


def _agreeing_link(model: TreeModel, raw: FloatArray, full: FloatArray, predictor: Predictor) -> Link | Refusal:
    """How the trees' sums become the predictions: as the model says, or as they are (a decision function)."""
    width = full.shape[1]
    candidates: list[Link] = [model.link]
    if model.link not in ("identity", "other"):
        candidates.append("identity")
    size = magnitude(model, full, probability=predictor.raw_scale == "probability")
    differences = [_difference(predictions(raw, link, width, model.scale), full, size) for link in candidates]
    best = int(np.argmin(differences))
    if differences[best] <= _AGREE:
        return candidates[best]
    if not np.isfinite(differences[best]):
        how = "in a way that is not read" if model.link == "other" else f"of {raw.shape[1]} into {width}"
        return Refusal("unread", f"{predictor.name} turns the sums of its trees into predictions {how}")
    return Refusal(
        "unlike",
        f"the trees read from {predictor.name} miss its own predictions by up to {percent(differences[best])} of their"
        " size",
        differences[best],
        _AGREE,
    )


def _difference(predicted: FloatArray | None, full: FloatArray, size: FloatArray) -> float:
    """The largest difference, as a share of the size of its output."""
    if predicted is None or predicted.shape != full.shape:
        return np.inf
    worst = np.abs(predicted - full).max(axis=0, initial=0.0)
    return float((worst / np.where(size > 0, size, 1.0)).max())


def _outputs(predictor: Predictor, sums: int, width: int, link: Link, scale: str) -> tuple[FloatArray, FloatArray]:
    """``weight`` and ``shift`` such that ``sums @ weight.T + shift`` are the explained outputs.

    The first of two classes is the mirror image of the second: 1 - p of a probability, -s of a score. Two
    softmax scores are worth their difference, the log-odds.
    """
    keep = list(predictor.explained)
    shift = np.zeros(len(keep))
    if link == "softmax" and sums == 2:
        return np.array([[1.0, -1.0], [-1.0, 1.0]])[keep], shift
    if sums == width:
        return np.eye(sums)[keep], shift
    first = np.array(keep) == 0
    if scale == "probability":
        shift[first] = 1.0
    return np.where(first, -1.0, 1.0)[:, None], shift


def _selected(model: TreeModel, weight: FloatArray, shift: FloatArray) -> TreeModel:
    """The trees of the explained outputs."""
    picks = weight.argmax(axis=1)
    if np.array_equal(weight, np.eye(weight.shape[1])[picks]) and not shift.any():
        return replace(model, ensemble=model.ensemble.select(picks))
    return rescaled(model, weight, shift)


# -- the players -------------------------------------------------------------------------------------


def _player_of_column(predictor: Predictor, trees: TreeModel, players: Players) -> IntArray:
    """For each column that the trees compare, the player that its feature belongs to."""
    owner = np.zeros(1 + max(j for members in players.values() for j in members), dtype=np.intp)
    for number_of, members in enumerate(players.values()):
        owner[list(members)] = number_of
    return np.asarray(owner[np.asarray(predictor.columns, dtype=np.intp)[trees.source]], dtype=np.intp)


def _spread_out(part: FloatArray, present: IntArray, n_players: int, *, axes: int) -> FloatArray:
    """The players that the trees know among all players; the others contribute exactly nothing."""
    full = np.zeros((part.shape[0], *(n_players,) * axes, part.shape[-1]))
    places: tuple[Any, ...] = np.ix_(*(present,) * axes)
    full[(slice(None), *places)] = part
    return full
