"""Shapley values of predictions: the question, and which way answers it exactly.

Trees are read by the tree engine (`tree_shap`); any other model is asked for every coalition
(`shapley_exact`). Both give the same numbers where both are possible.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from pellucid.arrays import AnyArray, FloatArray
from pellucid.data import Data
from pellucid.diagnostics.attribution_checks import attribution_caveats, unread_trees
from pellucid.errors import InputError, nearest
from pellucid.explanations import Attribution, Caveat
from pellucid.explanations.attribution import shown_value
from pellucid.explanations.explanation import squeeze_outputs
from pellucid.methods.attribution.background import MOST, background_rows
from pellucid.methods.attribution.shapley_exact import Players, shapley_exact
from pellucid.methods.attribution.solved import Solved
from pellucid.methods.attribution.tree_shap import ExplainedTrees, Refusal, explained_trees, tree_shap
from pellucid.models import Predictor
from pellucid.runner import Run

Method = Literal["auto", "exact", "kernel", "permutation", "tree", "linear"]
Game = Literal["marginal", "path", "conditional"]
Scale = Literal["auto", "probability", "log-odds"]

# What there is, and what is promised: an argument of the second kind says what to use instead.
_READY = {"method": ("auto", "exact", "tree"), "game": ("marginal", "path"), "scale": ("auto", "probability", "log-odds")}  # fmt: skip
_LATER = {"method": ("kernel", "permutation", "linear"), "game": ("conditional",)}
_COMPARED = 20  # rows on which the path game is compared with the marginal game


def shap(
    predictor: Predictor,
    data: Data,
    rows: Any,
    *,
    background: Any = None,
    method: Method = "auto",
    game: Game = "marginal",
    budget: int | None = None,
    tolerance: float | None = None,
    interactions: bool = False,
    scale: Scale = "auto",
    run: Run,
) -> Attribution:
    """Contributions of the features (or groups) to the predictions of some rows."""
    _check_choices(method=method, game=game, scale=scale)
    _check_amounts(budget=budget, tolerance=tolerance)
    explained, players = data.rows(rows), data.schema.players()
    asked = _on_scale(predictor, scale)
    trees = _trees(asked, explained, data, method, game, scale, run)
    if isinstance(trees, ExplainedTrees):
        absent = None if game == "path" else background_rows(data, background, run)
        solved = tree_shap(asked, trees, absent, players=players, interactions=interactions, run=run)
    else:
        absent = background_rows(data, background, run, most=MOST)
        remedy = _remedy(asked, trees)
        solved = shapley_exact(
            asked, absent, explained, players=players, interactions=interactions, budget=budget, remedy=remedy, run=run
        )  # fmt: skip
    asks = {"game": game, "scale": scale, "interactions": interactions, "random_state": run.seed}
    result = _wrapped(asked, data, explained, players, solved, game, asks, run)
    return _checked(asked, data, background, players, result, trees, run)


# -- choosing ----------------------------------------------------------------------------------------


def _check_choices(**given: str) -> None:
    for name, value in given.items():
        if value in _LATER.get(name, ()):
            there = " or ".join(repr(choice) for choice in _READY[name])
            raise InputError(f"{name}={value!r} is not available yet; use {there}.")
        if value not in _READY[name]:
            raise InputError(f"{name}={value!r} is not known{nearest(str(value), _READY[name])}")


def _check_amounts(**given: float | None) -> None:
    for name, value in given.items():
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not value > 0:
            raise InputError(f"{name}={value!r} is no amount; give a positive number or None.")


def _on_scale(predictor: Predictor, scale: Scale) -> Predictor:
    """The predictor that gives what is to be explained."""
    own = predictor.raw_scale
    if scale == "auto" or (scale == own and predictor.link == "identity"):
        return predictor
    if scale == "probability" and own != "probability":
        raise InputError(
            f"scale='probability' needs probabilities, but {predictor.name} returns a {own}; use scale='auto'."
        )
    try:
        return predictor.linked("identity" if scale in ("probability", own) else "logit")
    except InputError:
        raise InputError(
            f"scale='log-odds' needs probabilities, but {predictor.name} returns a {own}; use scale='auto'."
        ) from None


def _trees(
    predictor: Predictor, rows: Data, data: Data, method: Method, game: Game, scale: Scale, run: Run
) -> ExplainedTrees | Refusal:
    """The model's trees, or why they do not answer; an error where nothing else can."""
    if method == "exact" and game == "path":
        raise InputError("method='exact' answers the marginal game; use method='tree' with game='path'.")
    if method == "exact":
        return Refusal("no trees", "method='exact' was asked for")
    found = explained_trees(predictor, rows, data, run)
    if isinstance(found, ExplainedTrees) and scale == "probability" and found.scale != "probability":
        found = Refusal(
            "scale", f"the trees of {predictor.name} add up to {found.scale}, not to probabilities"
        )
    if isinstance(found, Refusal) and (method == "tree" or game == "path"):
        asking = "method='tree'" if method == "tree" else "game='path'"
        instead = _other_scale(predictor) if found.kind == "scale" else "method='auto' and game='marginal'"
        raise InputError(f"{asking} needs trees, but {found.reason}; use {instead}.")
    return found


def _other_scale(predictor: Predictor) -> str:
    """The scale on which the trees add up, as an argument."""
    return "scale='probability'" if predictor.link == "logit" else "scale='auto'"


def _remedy(predictor: Predictor, refusal: Refusal) -> str:
    """What else could be done, or why the trees were not read, for the error of an enumeration that is too long."""
    if refusal.kind == "scale":
        return f", or {_other_scale(predictor)}, which its trees answer at once"
    return f" (its trees do not serve: {refusal.reason})" if refusal.kind in ("unread", "unlike") else ""


# -- wrapping ----------------------------------------------------------------------------------------


def _wrapped(
    predictor: Predictor,
    data: Data,
    rows: Data,
    players: Players,
    solved: Solved,
    game: Game,
    asks: Mapping[str, Any],
    run: Run,
) -> Attribution:
    part = solved.interactions
    return Attribution(
        method=solved.method, game=game, background=solved.background, scale=solved.scale,
        values=squeeze_outputs(solved.values), se=squeeze_outputs(np.zeros(solved.values.shape)),
        base=squeeze_outputs(solved.base), prediction=squeeze_outputs(solved.prediction),
        interaction_values=None if part is None else squeeze_outputs(part),
        data=tuple(_cells(rows, members) for members in players.values()),
        members=tuple(tuple(data.schema.names[j] for j in members) for members in players.values()),
        feature_names=tuple(players), output_names=predictor.output_names, cost=run.cost(), library=data.caller,
        settings={"method": "shap", "algorithm": solved.method, **asks, "background": solved.background, **solved.settings},
    )  # fmt: skip


def _cells(rows: Data, members: tuple[int, ...]) -> AnyArray:
    """The values of a feature in the explained rows; those of a group in words."""
    columns = [rows.schema.features[j].decode(rows.codes(j)) for j in members]
    if len(columns) == 1:
        return columns[0]
    names = [rows.schema.names[j] for j in members]
    said = [
        ", ".join(f"{name} = {shown_value(column[i])}" for name, column in zip(names, columns, strict=True))
        for i in range(len(rows))
    ]
    return np.array(said, dtype=object)


def _checked(
    predictor: Predictor,
    data: Data,
    background: Any,
    players: Players,
    result: Attribution,
    trees: ExplainedTrees | Refusal,
    run: Run,
) -> Attribution:
    """The result with its caveats and what it cost in all."""

    unread: Caveat | None = None
    if isinstance(trees, Refusal) and trees.kind in ("unread", "unlike"):
        unread = unread_trees(trees.reason, trees.difference, trees.tolerance)

    def marginal() -> FloatArray | None:
        if result.game != "path" or isinstance(trees, Refusal):
            return None
        absent = background_rows(data, background, run, most=MOST)
        return tree_shap(predictor, trees.head(_COMPARED), absent, players=players, run=run).values

    caveats = attribution_caveats(
        predictor, data, run, result, players=players, unread=unread, marginal=marginal
    )
    return replace(result, caveats=caveats, cost=run.cost())
