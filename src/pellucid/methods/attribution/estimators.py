"""Which estimator answers a game: all coalitions where they fit, else pairs of them; or what the caller asks for.

Rows in which the same players matter are answered together. A player that changes nothing in a row, because present and
absent are the same, gets exactly nothing there and takes part in no coalition.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from pellucid.checks import one_of, optional, positive, whole
from pellucid.errors import InputError
from pellucid.games import Game
from pellucid.games.game import RestrictedGame, alike
from pellucid.methods.attribution.estimation.estimate import Estimate, Rounds
from pellucid.methods.attribution.interaction_indices import Index, index_of
from pellucid.methods.attribution.shapley_exact import shapley_exact
from pellucid.methods.attribution.shapley_kernel import Proxy, shapley_kernel
from pellucid.methods.attribution.shapley_lasso import shapley_lasso
from pellucid.methods.attribution.shapley_permutation import shapley_permutation
from pellucid.runner import Run
from pellucid.words import counted

Estimator = Literal["auto", "exact", "kernel", "permutation"]
ESTIMATORS = ("auto", "exact", "kernel", "permutation")
PROXIES = ("curve", "trees")
MOST_PLAYERS = 14
MOST_ROWS = 20_000_000
PAIRS = 512  # asked besides one for each player, unless the caller says otherwise
DRAWS = 500  # orders and background rows
_LISTED_PLAYERS = 20  # that many have a million coalitions
_FEWEST = 16
_FEWEST_DRAWS = 16


@dataclass(frozen=True)
class Wish:
    """What the caller asks for; ``budget`` is in model rows, ``remedy`` ends the error for one that is too small."""

    method: Estimator
    budget: int | None
    tolerance: float | None
    index: Index | None
    order: int
    sparse: int | None
    proxy: Proxy
    remedy: str


def solve(
    game: Game,
    *,
    method: Estimator = "auto",
    budget: int | None = None,
    tolerance: float | None = None,
    interactions: bool | Index = False,
    order: int = 2,
    sparse: int | None = None,
    proxy: Proxy = "curve",
    remedy: str = "",
    run: Run,
) -> Estimate:
    """Shapley values of a game, and the ``interactions`` of an index where asked for (``order=3``: triples too)."""
    one_of("method", method, ESTIMATORS)
    one_of("proxy", proxy, PROXIES)
    budget, tolerance = optional(whole, "budget", budget), optional(positive, "tolerance", tolerance)
    index = index_of(interactions)
    if method == "permutation" and index is not None:
        instead = "'kernel' or 'exact'" if index == "shapley" else "'exact'"
        raise InputError(
            f"method='permutation' gives no interactions; use method={instead} with interactions={interactions!r}."
        )
    wish = Wish(method, budget, tolerance, index, order, sparse, proxy, remedy)
    if index not in (None, "shapley") or (index is not None and order == 3):
        _refuse_estimates(game, wish)
        wish = replace(wish, method="exact")
    elif method == "exact":
        _refuse_too_many(game, wish)
    elif method == "auto" and sparse is None and _fits(game, budget):
        wish = replace(wish, method="exact")
    parts = list(alike(game))
    if len(parts) == 1 and len(parts[0][0]) == game.rows and len(parts[0][1]) == game.players:
        found = _answer(game, wish, run)
    else:
        found = _together(game, parts, wish, run)
    why = (
        f"2^{_most_players(game)} are few enough"
        if found.method == "exact"
        else f"all 2^{_most_players(game)} are too many"
    )
    return replace(found, settings={**found.settings, "why": why}) if method == "auto" and sparse is None else found


def _together(game: Game, parts: list[tuple[np.ndarray, np.ndarray]], wish: Wish, run: Run) -> Estimate:
    """The answers for rows in which different players matter, put together."""
    shape = (game.rows, game.players, game.outputs)
    whole = Estimate.exact(
        "exact", np.zeros(shape), np.zeros((game.rows, game.players, *shape[1:])) if wish.index is not None else None
    )
    for rows, players in parts:
        share = None if wish.budget is None else wish.budget * len(rows) // game.rows
        found = _answer(RestrictedGame(game, rows, players), replace(wish, budget=share), run)
        whole.put(found, rows, players)
        if found.method != "exact":
            counts = {name: max(count, whole.settings.get(name, 0)) for name, count in found.settings.items()}
            whole = replace(whole, method=found.method, settings=counts)
    return whole


def _answer(game: Game, wish: Wish, run: Run) -> Estimate:
    """The values of a game in which all players matter."""
    if wish.method == "exact" or game.players == 1:
        return shapley_exact(game, interactions=wish.index, order=wish.order)
    if wish.method == "permutation":
        return shapley_permutation(game, _draws(game, wish), run)
    rounds = _pairs(game, wish)
    if wish.sparse is not None:
        most = min(rounds.most, _all_pairs(game))
        return shapley_lasso(game, replace(rounds, most=most), run, features=wish.sparse)
    if rounds.most < _all_pairs(game):
        return shapley_kernel(game, rounds, run, interactions=wish.index is not None, proxy=wish.proxy)
    if rounds.tolerance is not None and _all_pairs(game) >= 8 * rounds.fewest:  # a part of them may do
        tried = replace(rounds, most=_all_pairs(game) // 4)
        found = shapley_kernel(game, tried, run, interactions=wish.index is not None, proxy=wish.proxy)
        enough = tried.reached(found.se) and (found.interactions_se is None or tried.reached(found.interactions_se))
        if enough or run.interrupted:
            return found
    return shapley_exact(game, interactions=wish.index, order=wish.order)


# -- what fits ---------------------------------------------------------------------------------------


def _most_players(game: Game) -> int:
    """The largest number of players that matter in one row."""
    return int(game.active.sum(axis=1).max(initial=0))


def _needed(game: Game) -> int:
    """Model rows for all coalitions in all rows; more than anybody can ask where players are too many."""
    counts = game.active.sum(axis=1)
    return game.price * int(sum(min(2 ** int(a), 2**63) - 2 for a in counts if a > 1))


def _fits(game: Game, budget: int | None) -> bool:
    """Whether all coalitions can be asked: few players, or a budget that says so."""
    most = MOST_PLAYERS if budget is None else _LISTED_PLAYERS
    return _most_players(game) <= most and _needed(game) <= (MOST_ROWS if budget is None else budget)


def _refuse_estimates(game: Game, wish: Wish) -> None:
    """An error where an index that is never estimated would have to be."""
    if _fits(game, wish.budget):
        return
    needed, most = _needed(game), MOST_ROWS if wish.budget is None else wish.budget
    asked = f"{needed:,} model rows" if needed < 2**60 else "more model rows than can be asked"
    what = "triples are" if wish.order == 3 else f"the index {wish.index!r} is"
    model = "make groups of features (groups=), explain fewer rows, give a smaller background (background=)"
    fewer = "let fewer players take part, give" if game.price == game.rows == 1 else f"{model} or"
    instead = "order=2" if wish.order == 3 else "the index 'shapley', which can be estimated"
    raise InputError(
        f"{what} worked out from all coalitions, of at most {MOST_PLAYERS} players in {most:,} model rows, but"
        f" {_most_players(game)} players take {asked}; {fewer} a larger budget (budget=, up to {_LISTED_PLAYERS} players),"
        f" or use {instead}{wish.remedy}."
    )


def _refuse_too_many(game: Game, wish: Wish) -> None:
    players = _most_players(game)
    if players > _LISTED_PLAYERS or (wish.budget is None and players > MOST_PLAYERS):
        raise InputError(
            f"going through all coalitions takes at most {MOST_PLAYERS} players, but there are {players}; use"
            f" method='kernel', or make groups of players (groups=){wish.remedy}."
        )
    asked, most = _needed(game), MOST_ROWS if wish.budget is None else wish.budget
    if asked > most:
        raise InputError(
            f"{players} players, {counted(game.rows, 'row')} and a background of {counted(game.price, 'row')}"
            f" take {asked:,} model rows, more than {most:,}; use method='kernel', explain fewer"
            " rows, give a smaller background (background=), groups of features (groups=) or a larger budget"
            f" (budget=){wish.remedy}."
        )


def _all_pairs(game: Game) -> int:
    """Pairs of coalitions, apart from nobody and everybody."""
    return 2 ** (game.players - 1) - 1


def _pairs(game: Game, wish: Wish) -> Rounds:
    everything = _all_pairs(game)
    fewest = min(max(game.players, _FEWEST), everything)
    if wish.budget is None and wish.tolerance is None:
        return Rounds(fewest, PAIRS + game.players)
    given, each = _given(wish), 2 * game.rows * game.price
    most = given // each
    if most < fewest:
        raise _too_small(wish, given, fewest * each, game, "coalitions")
    if wish.tolerance is not None:  # a first look that can be believed
        fewest = min(4 * max(game.players, _FEWEST), everything, most)
    return Rounds(fewest, most, wish.tolerance)


def _draws(game: Game, wish: Wish) -> Rounds:
    if wish.budget is None and wish.tolerance is None:
        return Rounds(_FEWEST_DRAWS, DRAWS)
    price = 1 if game.donors > 1 else game.price
    given, each = _given(wish), game.rows * price * (2 * game.players - 1)
    if given // each < _FEWEST_DRAWS:
        raise _too_small(wish, given, _FEWEST_DRAWS * each, game, "orders")
    return Rounds(_FEWEST_DRAWS, given // each, wish.tolerance)


def _given(wish: Wish) -> int:
    return MOST_ROWS if wish.budget is None else int(wish.budget)


def _too_small(wish: Wish, given: int, needed: int, game: Game, what: str) -> InputError:
    named = f"budget={wish.budget}" if wish.budget is not None else f"the usual budget of {given:,} model rows"
    return InputError(
        f"{named} is too small: {game.players} players in {counted(game.rows, 'row')} take at least {needed:,}"
        f" model rows for enough {what}; give a larger budget, a smaller background (background=) or fewer"
        f" rows{wish.remedy}."
    )
