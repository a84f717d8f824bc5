"""Shapley values of the words of a text and of the segments of an image.

Lundberg and Lee 2017; interpretable parts of texts and images: Ribeiro, Singh and Guestrin 2016.

Definition. The players are the parts. v(S) is what the model says to the text or image with only the parts of S: the
absent words are taken out (or masked), the absent segments painted over. The contributions are the Shapley values of v;
they start from v(nobody), the prediction with everything absent, not from an average prediction, and lead to the
prediction.

Estimator. Those of any game: all coalitions where there are at most 14 parts, else pairs of coalitions with standard
errors.

When it misleads:
1. texts without some words and images with painted segments are unlike anything the model was trained on;
2. the parts are a choice: other words, phrases or segments share the prediction out differently (caveat
   "cut-dependence");
3. what stands for absence is a choice: a grey segment may itself look like something (caveat "absence");
4. all parts share the prediction, none is left out.

Cost. One model row per coalition: 2^parts - 2, or twice (512 + parts), from 100 parts on 20 for each; four to see
whether the model is steady, and at most 17 for the caveats.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypedDict, TypeVar

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.errors import InputError
from pellucid.explanations.attribution import Entries, InteractionValues
from pellucid.explanations.explanation import headed, squeeze_outputs
from pellucid.games import all_coalitions
from pellucid.methods.attribution.estimators import MOST_PLAYERS, Effort, Estimator, solve
from pellucid.methods.attribution.interaction_indices import Index
from pellucid.methods.attribution.shapley_exact import shapley_values
from pellucid.parts.attribution import PartAttribution
from pellucid.parts.checks import shap_caveats
from pellucid.parts.game import ActiveGame, Games, PartGame, empty_predictions
from pellucid.parts.model import WholeModel
from pellucid.runner import Run

_LISTED = 20
_FEWEST = 16
_MANY = 100  # parts; for more of them the usual number of coalitions is too small
_EACH = 20  # coalitions for each part, where there are many
MOST_PARTS = 2000

A = TypeVar("A", bound=PartAttribution)


class ShapOptions(TypedDict, total=False):
    """Options of `shap`, for texts and images alike."""

    method: Estimator
    budget: int | None
    tolerance: float | None
    interactions: bool | Index


def part_shap(kind: type[A], games: Games, model: WholeModel, *, effort: Effort, run: Run) -> A:
    """Contributions of the parts of a text or image, as a result of this kind."""
    game, parts = games.game(model, run), games.parts
    fields = solved(game, effort, games.larger, run)
    settings = {"method": "shap", **games.settings(), **fields.pop("settings")}
    found = kind(
        game=parts.vocabulary.whole,
        parts=parts,
        entries=Entries(parts.data),
        **headed({**fields, "feature_names": parts.names, "settings": settings}),
    )
    return _checked(found, games, game, run)


# -- solving -----------------------------------------------------------------------------------------


def solved(game: PartGame, effort: Effort, larger: str, run: Run) -> dict[str, Any]:
    """The fields of a result that come from the game."""
    active = ActiveGame(game)
    _refuse(active.players, effort, larger)
    one = active.players < 2 and effort.method in ("kernel", "permutation")  # nothing to sample
    budget = _budget(active.players, effort)
    found = solve(active, replace(effort, method="exact" if one else effort.method, budget=budget), run)
    shape, kept = (1, game.players, game.outputs), active.kept
    values, se = np.zeros(shape), np.zeros(shape)
    values[:, kept], se[:, kept] = found.values, found.se
    pairs = None
    if found.interactions is not None:
        pairs = np.zeros((1, game.players, *shape[1:]))
        pairs[:, kept[:, None], kept] = found.interactions
    nobody, everybody = game.ends()
    settings = {
        "algorithm": found.method,
        "interactions": effort.interactions,
        "random_state": run.seed,
        "classes": [str(label) for label in game.predictor.classes or ()],
        **found.settings,
    }
    return {
        "method": found.method,
        "scale": game.predictor.scale,
        "output_names": game.predictor.output_names,
        "values": squeeze_outputs(values),
        "se": squeeze_outputs(se),
        "base": np.asarray(squeeze_outputs(nobody[0])),
        "prediction": squeeze_outputs(everybody),
        "interactions": None if pairs is None else InteractionValues(squeeze_outputs(pairs), index=effort.index or ""),
        "settings": settings,
        "cost": run.cost(),
    }


def _budget(players: int, effort: Effort) -> int | None:
    """The number of coalitions; one of our own for many parts, so that standard errors can be trusted."""
    if effort.budget is not None:
        return int(effort.budget)
    usual = effort.tolerance is None and effort.method in ("auto", "kernel")
    return _EACH * players if usual and players > _MANY else None


def _refuse(players: int, effort: Effort, larger: str) -> None:
    """Too many parts, or too small a budget, with what can be done about it here."""
    if players > MOST_PARTS:
        raise InputError(
            f"there are {players:,} parts, more than the {MOST_PARTS:,} that can be played with one by one; use fewer,"
            f" larger parts ({larger})."
        )
    if effort.method == "exact":
        most = MOST_PLAYERS if effort.budget is None else min(_LISTED, int(np.log2(effort.budget + 2)))
        if players > most:
            raise InputError(
                f"method='exact' goes through all coalitions, which takes at most {most} parts, but there are"
                f" {players}; use method='kernel', or fewer, larger parts ({larger})."
            )
    elif players > 1 and effort.budget is not None and effort.method in ("auto", "kernel", "permutation"):
        every = 2.0**players - 2
        each = 2 * players - 1 if effort.method == "permutation" else 2
        fewest = _FEWEST if effort.method == "permutation" else max(players, _FEWEST)
        needed = fewest * each if effort.method == "permutation" else min(fewest * each, every)
        if effort.budget < needed:
            raise InputError(
                f"budget={effort.budget} is too small: {players} parts take at least {needed:,.0f} model rows; give a"
                f" larger budget, or fewer, larger parts ({larger})."
            )


# -- checking ----------------------------------------------------------------------------------------


def _checked(found: A, games: Games, game: PartGame, run: Run) -> A:
    """The result with its caveats and what it cost in all."""
    if not run.checks:
        return run.finish(found)
    bases, blocks = empty_predictions(games, game, run), games.blocks()
    caveats = shap_caveats(
        found, run, instability=game.predictor.instability, blocks=blocks, joint=_joint(game, blocks, run), bases=bases
    )
    return run.finish(found, caveats)


def _joint(game: PartGame, blocks: IntArray, run: Run) -> FloatArray | None:
    """Contributions ``(blocks, outputs)`` where each block of parts is one player; None if that is the same game."""
    n = int(blocks.max(initial=-1)) + 1
    if n < 2 or n == game.players:
        return None
    with run.checking():
        inner = game.worth(all_coalitions(n)[1:-1][:, blocks])
    nobody, everybody = game.ends()
    v = np.concatenate([nobody[:, None], inner, everybody[:, None]], axis=1)
    return shapley_values(v)[0]
