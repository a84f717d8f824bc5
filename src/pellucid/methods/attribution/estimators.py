"""Which estimator answers a game: all coalitions where they fit, else pairs of them; or what the caller asks for."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from pellucid.errors import InputError, nearest
from pellucid.games import Game
from pellucid.methods.attribution.estimate import Estimate
from pellucid.methods.attribution.rounds import Rounds
from pellucid.methods.attribution.shapley_exact import (
    MOST_PLAYERS,
    MOST_ROWS,
    coalitions_needed,
    most_players,
    shapley_exact,
)
from pellucid.methods.attribution.shapley_kernel import shapley_kernel
from pellucid.methods.attribution.shapley_lasso import shapley_lasso
from pellucid.methods.attribution.shapley_permutation import shapley_permutation
from pellucid.runner import Run

Estimator = Literal["auto", "exact", "kernel", "permutation"]
ESTIMATORS = ("auto", "exact", "kernel", "permutation")
PAIRS = 512  # asked besides one for each player, unless the caller says otherwise
DRAWS = 500  # orders and background rows
_LISTED_PLAYERS = 20  # that many have a million coalitions
_FEWEST = 16
_FEWEST_DRAWS = 4


def solve(
    game: Game,
    *,
    method: Estimator = "auto",
    budget: int | None = None,
    tolerance: float | None = None,
    interactions: bool = False,
    sparse: int | None = None,
    remedy: str = "",
    run: Run,
) -> Estimate:
    """Shapley values of a game; ``remedy`` ends the error for a budget that is too small."""
    if method not in ESTIMATORS:
        raise InputError(f"method={method!r} is not known{nearest(str(method), ESTIMATORS)}")
    if sparse is not None:
        rounds = _pairs(game, budget, tolerance, remedy)
        most = max(min(rounds.most, _all_pairs(game)), 1)
        return shapley_lasso(game, replace(rounds, most=most), run, features=sparse)
    if method == "exact":
        _refuse_too_many(game, budget, remedy)
    if method == "exact" or (method == "auto" and _fits(game, budget)):
        why = f"2^{most_players(game)} are few enough" if method == "auto" else ""
        return _said(shapley_exact(game, interactions=interactions), why)
    if method == "permutation":
        if interactions:
            raise InputError(
                "method='permutation' gives no interactions; use method='kernel' or 'exact' with interactions=True."
            )
        return shapley_permutation(game, _draws(game, budget, tolerance, remedy), run)
    return _by_pairs(game, _pairs(game, budget, tolerance, remedy), method, interactions, run)


def _by_pairs(game: Game, rounds: Rounds, method: Estimator, interactions: bool, run: Run) -> Estimate:
    """By pairs of coalitions, unless all of them fit; with a tolerance a part of them may do even then."""
    everything = _all_pairs(game)
    if rounds.most < everything:
        why = f"all 2^{most_players(game)} are too many" if method == "auto" else ""
        return _said(shapley_kernel(game, rounds, run, interactions=interactions), why)
    if rounds.tolerance is not None and everything >= 8 * rounds.fewest:
        tried = replace(rounds, most=everything // 4)
        found = shapley_kernel(game, tried, run, interactions=interactions)
        if tried.reached(found.se):
            return _said(found, "a part of them meets the tolerance" if method == "auto" else "")
    return _said(shapley_exact(game, interactions=interactions), "all of them fit into the budget")


def _said(estimate: Estimate, why: str) -> Estimate:
    return replace(estimate, settings={**estimate.settings, "why": why}) if why else estimate


# -- what fits ---------------------------------------------------------------------------------------


def _fits(game: Game, budget: int | None) -> bool:
    """Whether all coalitions can be asked: few players, or a budget that says so."""
    players = most_players(game)
    most = MOST_PLAYERS if budget is None else _LISTED_PLAYERS
    return players <= most and coalitions_needed(game) * game.price <= (
        MOST_ROWS if budget is None else budget
    )


def _refuse_too_many(game: Game, budget: int | None, remedy: str) -> None:
    players = most_players(game)
    if players > _LISTED_PLAYERS or (budget is None and players > MOST_PLAYERS):
        raise InputError(
            f"going through all coalitions takes at most {MOST_PLAYERS} players, but there are {players}; use method='kernel', or make groups of players (groups=){remedy}."
        )
    asked = coalitions_needed(game) * game.price
    most = MOST_ROWS if budget is None else budget
    if asked > most:
        raise InputError(
            f"{players} players, {game.rows:,} row{'s' if game.rows > 1 else ''} and a background of {game.price:,} row{'s' if game.price > 1 else ''} take {asked:,} model rows, more than {most:,}; use method='kernel', explain fewer rows, give a smaller background (background=), groups of features (groups=) or a larger budget (budget=){remedy}."
        )


def _all_pairs(game: Game) -> int:
    return max(2 ** (game.players - 1) - 1, 0)


def _pairs(game: Game, budget: int | None, tolerance: float | None, remedy: str) -> Rounds:
    fewest = max(game.players, _FEWEST)
    if budget is None and tolerance is None:
        return Rounds(fewest, PAIRS + game.players)
    given = MOST_ROWS if budget is None else budget
    each = 2 * game.rows * game.price
    if given // each < min(fewest, _all_pairs(game)):
        raise _too_small(budget, given, fewest * each, game, "coalitions", remedy)
    return Rounds(fewest, given // each, tolerance)


def _draws(game: Game, budget: int | None, tolerance: float | None, remedy: str) -> Rounds:
    if budget is None and tolerance is None:
        return Rounds(_FEWEST_DRAWS, DRAWS)
    given = MOST_ROWS if budget is None else budget
    price = 1 if game.donors > 1 else game.price
    each = game.rows * price * (2 * game.players - 1)
    if given // each < _FEWEST_DRAWS:
        raise _too_small(budget, given, _FEWEST_DRAWS * each, game, "orders", remedy)
    return Rounds(_FEWEST_DRAWS, given // each, tolerance)


def _too_small(
    budget: int | None, given: int, needed: int, game: Game, what: str, remedy: str
) -> InputError:
    named = f"budget={budget}" if budget is not None else f"the usual budget of {given:,} model rows"
    return InputError(
        f"{named} is too small: {game.players} players in {game.rows:,} row{'s' if game.rows > 1 else ''} take at least {needed:,} model rows for enough {what}; give a larger budget, a smaller background (background=) or fewer rows{remedy}."
    )
