"""Which way answers a request about Shapley values, and why.

Trees are read by the tree engine and linear models by their terms, both exactly; any other model is asked: for every
coalition where that is possible, else for some of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np

from pellucid.checks import one_of
from pellucid.data import Data
from pellucid.errors import InputError
from pellucid.games import Game
from pellucid.games.conditional import ConditionalGame, joint_distribution
from pellucid.games.marginal import MOST, MarginalGame, Players, background_rows
from pellucid.methods.attribution.estimation.estimate import Solved
from pellucid.methods.attribution.estimators import Effort, solve
from pellucid.methods.attribution.linear_shap import linear_shap
from pellucid.methods.attribution.linked_shap import can_link, linked_linear_shap, linked_tree_shap
from pellucid.methods.attribution.tree_shap import tree_shap
from pellucid.models import Predictor
from pellucid.reading import Asked, SumRows, TreeRows, read
from pellucid.reading.trees import Refusal
from pellucid.runner import Run

COPIED = 2**22  # bytes of rows to explain that are copied: a result is safe from what becomes of these later

Method = Literal["auto", "exact", "kernel", "permutation", "tree", "linear"]
GameName = Literal["marginal", "path", "conditional"]
Scale = Literal["auto", "probability", "log-odds"]
Conditional = Literal["auto", "copula", "neighbours"]

_CHOICES = {
    "method": ("auto", "exact", "kernel", "permutation", "tree", "linear"),
    "game": ("marginal", "path", "conditional"),
    "scale": ("auto", "probability", "log-odds"),
    "conditional": ("auto", "copula", "neighbours"),
}
_REFERENCE = 2000  # rows from which the conditional game learns how features are correlated


@dataclass(frozen=True, eq=False)
class Request:
    """What is asked, checked."""

    predictor: Predictor
    data: Data
    rows: Data
    players: Players
    background: Any
    method: Method
    game: GameName
    effort: Effort
    scale: Scale
    conditional: Conditional
    run: Run

    @classmethod
    def of(cls, predictor: Predictor, data: Data, rows: Any, **asked: Any) -> Request:
        """The request, with the predictor on the explained scale; an error that names the argument."""
        for name, known in _CHOICES.items():
            one_of(name, asked[name], known)
        method, game = asked["method"], asked["game"]
        if game == "path" and method not in ("auto", "tree"):
            raise InputError(
                f"method={method!r} cannot be used with the path game; use method='tree' with game='path'."
            )
        if game == "conditional" and method == "tree":
            raise InputError(
                "method='tree' cannot be used with the conditional game; use method='auto', or game='path',"
                " its relative"
                " for trees."
            )
        limits = {name: asked.pop(name) for name in ("budget", "tolerance", "interactions", "sparse", "proxy")}
        effort = Effort(method="auto" if method in ("tree", "linear") else method, **limits)
        _check_sparse(effort, method, game)
        explained, players = data.rows(rows, copied=COPIED), data.schema.players()
        return cls(_on_scale(predictor, asked["scale"]), data, explained, players, effort=effort, **asked)


def answer(request: Request) -> tuple[Solved, TreeRows | SumRows | Asked]:
    """The contributions, and what they were read from."""
    found = _read(request)
    if isinstance(found, Asked):
        return _asked(request, found.trees), found
    predictor, players, effort, run = request.predictor, request.players, request.effort, request.run
    if isinstance(found, TreeRows):
        why = "the model is made of trees"
        if _linked(request, found):
            absent = _background(request, few=True)
            solved = linked_tree_shap(predictor, found, absent, players=players, effort=effort, run=run)
        else:
            rows = None if request.game == "path" else _background(request)
            solved = tree_shap(predictor, found, rows, players=players, interactions=effort.index, run=run)
    else:
        why, conditional = "the model is a sum of one term per feature", request.game == "conditional"
        if found.link == "identity":
            solved = linear_shap(found, effort, players=players, conditional=conditional, run=run)
        else:
            solved = linked_linear_shap(found, effort, _background(request, few=True), players=players, run=run)
    if request.method == "auto":
        told = replace(solved.estimate, settings={**solved.estimate.settings, "why": why})
        solved = replace(solved, estimate=told)
    return solved, found


def _linked(request: Request, found: TreeRows) -> bool:
    """Whether what is explained is not what the trees add up to, but what their link makes of it.

    The path game is that of the sums; so are interactions, unless other words are given: a link lets all features
    interact.
    """
    of_sums = request.game == "path" or (request.effort.index is not None and request.scale == "auto")
    return not of_sums and found.scale != request.predictor.scale


def _background(request: Request, few: bool = False) -> Data:
    """All rows of the background, or a few where every one of them is gone through."""
    return background_rows(request.data, request.background, request.run, most=MOST if few else None)


# -- checks ------------------------------------------------------------------------------------------


def _check_sparse(effort: Effort, method: str, game: str) -> None:
    wrong = {
        f"interactions={effort.interactions!r}": effort.index is not None,
        f"method={method!r}": method not in ("auto", "kernel"),
        "game='path'": game == "path",
    }
    what = next((what for what, is_wrong in wrong.items() if is_wrong), None)
    if effort.sparse is not None and what is not None:
        raise InputError(f"sparse={effort.sparse} is answered by method='kernel' without interactions, not by {what}.")


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


# -- reading, asking ---------------------------------------------------------------------------------


def _read(request: Request) -> TreeRows | SumRows | Asked:
    """What the contributions are read from, of what may answer the request; an error where nothing else can."""
    predictor, method, game = request.predictor, request.method, request.game
    every = request.effort.sparse is None
    drawn = game == "conditional" and method == "auto" and (request.conditional != "auto" or _curved(request))
    found = read(
        request.run,
        predictor,
        request.data,
        request.rows,
        partial(_background, request),
        trees=every and method in ("auto", "tree") and game != "conditional",
        sums=every and method in ("auto", "linear") and game != "path" and not drawn,
        linked=game == "marginal",
    )
    if isinstance(found, TreeRows) and not _serves(request, found):
        reason = f"the trees of {predictor.name} add up to {found.scale}, not to {predictor.scale}"
        found = Asked(Refusal("scale", reason))
    if isinstance(found, Asked) and (method == "tree" or game == "path"):
        asking = "method='tree'" if method == "tree" else "game='path'"
        instead = _other_scale(predictor) if found.trees.kind == "scale" else "method='auto' and game='marginal'"
        raise InputError(f"{asking} needs trees, but {found.trees.reason}; use {instead}.")
    if isinstance(found, Asked) and method == "linear":
        scale = " (scale='log-odds' explains the log-odds of a logistic regression)" if request.scale == "auto" else ""
        raise InputError(
            f"method='linear' needs a sum of one term per feature, but {found.sums.reason}; use method='auto'{scale}."
        )
    return found


def _curved(request: Request) -> bool:
    """Whether columns follow each other along curves, which the closed form of the conditional game does not know."""
    reference = background_rows(request.data, request.background, request.run, most=_REFERENCE)
    return joint_distribution(reference, request.run) is not None


def _serves(request: Request, found: TreeRows) -> bool:
    """Whether the trees explain what is asked for."""
    if request.game == "path":
        return request.scale != "probability" or found.scale == "probability"
    if not _linked(request, found):
        return True
    absent = _background(request, few=True)
    return can_link(request.predictor, found, absent, players=request.players, effort=request.effort, run=request.run)


def _other_scale(predictor: Predictor) -> str:
    """The scale on which the trees add up, as an argument."""
    return "scale='probability'" if predictor.link == "logit" else "scale='log-odds'"


def _remedy(predictor: Predictor, refusal: Refusal) -> str:
    """What else could be done, or why the trees were not read, for the error of an enumeration that is too long."""
    if refusal.kind == "scale":
        return f", or {_other_scale(predictor)}, which its trees answer at once"
    return f" (its trees do not serve: {refusal.reason})" if refusal.kind in ("unread", "unlike") else ""


def _asked(request: Request, refusal: Refusal) -> Solved:
    """The contributions by asking the model."""
    predictor, run = request.predictor, request.run
    request = replace(request, rows=request.rows.held())
    # In the order of their names, so that the random numbers do not depend on the order of the columns.
    names = list(request.players)
    by_name = sorted(range(len(names)), key=names.__getitem__)
    players = {names[i]: request.players[names[i]] for i in by_name}
    game, background = _game(replace(request, players=players))
    effort = replace(request.effort, remedy=_remedy(predictor, refusal))
    found = solve(game, effort, run).ordered(np.argsort(by_name))
    return Solved(
        replace(found, settings={**found.settings, **game.settings()}),
        base=game.ends()[0][0],
        # Asked once more: what is missing then shows a model that is not steady.
        prediction=run.predict(predictor, request.rows),
        scale=predictor.scale,
        background=background,
        base_se=game.base_se if isinstance(game, MarginalGame) else None,
    )


def _game(request: Request) -> tuple[Game, int]:
    """What is asked of the model, and the number of rows that stand for "absent"."""
    predictor, data, run = request.predictor, request.data, request.run
    if request.game == "conditional":
        reference = background_rows(data, request.background, run, most=_REFERENCE)
        return ConditionalGame(predictor, reference, request.rows, request.players, run, how=request.conditional), len(
            reference
        )
    absent = background_rows(data, request.background, run, most=MOST)
    return MarginalGame(predictor, absent, request.rows, request.players, run), len(absent)
