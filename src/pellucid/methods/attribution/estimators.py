"""Which estimator answers a game: all coalitions where they fit, else pairs of them; or what the caller asks for.

Rows in which the same players matter are answered together. A player that changes nothing in a row, because present and
absent are the same, gets exactly nothing there and takes part in no coalition.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from pellucid.checks import one_of, optional, positive, settle, whole
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
class Effort:
    """How a game is solved: by which estimator, for how much, and what is worked out besides the Shapley values.

    ``budget`` is in model rows; ``order=3`` adds triples to ``interactions``; ``remedy`` ends the error for a game that
    is too large.
    """

    method: Estimator = "auto"
    budget: int | None = None
    tolerance: float | None = None
    interactions: bool | Index = False
    order: int = 2
    sparse: int | None = None
    proxy: Proxy = "curve"
    remedy: str = ""

    def __post_init__(self) -> None:
        one_of("method", self.method, ESTIMATORS)
        one_of("proxy", self.proxy, PROXIES)
        settle(
            self,
            budget=optional(whole, "budget", self.budget),
            tolerance=optional(positive, "tolerance", self.tolerance),
            sparse=optional(whole, "sparse", self.sparse),
        )
        if self.index is not None and self.method == "permutation":
            instead = "'kernel' or 'exact'" if self.index == "shapley" else "'exact'"
            raise InputError(
                f"method='permutation' gives no interactions; use method={instead} with"
                f" interactions={self.interactions!r}."
            )

    @property
    def index(self) -> Index | None:
        """The interaction index that is asked for."""
        return index_of(self.interactions)


def solve(game: Game, effort: Effort, run: Run) -> Estimate:
    """Shapley values of a game, and interactions where asked for."""
    auto = effort.method == "auto" and effort.sparse is None
    if effort.index not in (None, "shapley") or (effort.index is not None and effort.order == 3):
        _refuse_estimates(game, effort)
        effort = replace(effort, method="exact")
    elif effort.method == "exact":
        _refuse_too_many(game, effort)
    elif auto and _fits(game, effort.budget):
        effort = replace(effort, method="exact")
    parts = list(alike(game))
    if len(parts) == 1 and len(parts[0][0]) == game.rows and len(parts[0][1]) == game.players:
        found = _answer(game, effort, run)
    else:
        found = _together(game, parts, effort, run)
    why = f"2^{_most_players(game)} of them" if found.method == "exact" else f"out of 2^{_most_players(game)}"
    return replace(found, settings={**found.settings, "why": why}) if auto else found


def _together(game: Game, parts: list[tuple[np.ndarray, np.ndarray]], effort: Effort, run: Run) -> Estimate:
    """The answers for rows in which different players matter, put together."""
    shape = (game.rows, game.players, game.outputs)
    whole = Estimate.exact(
        "exact", np.zeros(shape), np.zeros((game.rows, game.players, *shape[1:])) if effort.index is not None else None
    )
    for rows, players in parts:
        share = None if effort.budget is None else max(effort.budget * len(rows) // game.rows, 1)
        found = _answer(RestrictedGame(game, rows, players), replace(effort, budget=share), run)
        whole.put(found, rows, players)
        if found.method != "exact":
            counts = {name: max(count, whole.settings.get(name, 0)) for name, count in found.settings.items()}
            whole = replace(whole, method=found.method, settings=counts)
    return whole


def _answer(game: Game, effort: Effort, run: Run) -> Estimate:
    """The values of a game in which all players matter."""
    if effort.method == "exact" or game.players == 1:
        return shapley_exact(game, interactions=effort.index, order=effort.order)
    if effort.method == "permutation":
        return shapley_permutation(game, _draws(game, effort), run)
    rounds = _pairs(game, effort)
    if effort.sparse is not None:
        most = min(rounds.most, _all_pairs(game))
        return shapley_lasso(game, replace(rounds, most=most), run, features=effort.sparse)
    if rounds.most < _all_pairs(game):
        return shapley_kernel(game, rounds, run, interactions=effort.index is not None, proxy=effort.proxy)
    if rounds.tolerance is not None and _all_pairs(game) >= 8 * rounds.fewest:  # a part of them may do
        tried = replace(rounds, most=_all_pairs(game) // 4)
        found = shapley_kernel(game, tried, run, interactions=effort.index is not None, proxy=effort.proxy)
        enough = tried.reached(found.se) and (found.interactions_se is None or tried.reached(found.interactions_se))
        if enough or run.interrupted:
            return found
    return shapley_exact(game, interactions=effort.index, order=effort.order)


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


def _refuse_estimates(game: Game, effort: Effort) -> None:
    """An error where an index that is never estimated would have to be."""
    if _fits(game, effort.budget):
        return
    needed, most = _needed(game), MOST_ROWS if effort.budget is None else effort.budget
    asked = f"{needed:,} model rows" if needed < 2**60 else "more model rows than can be computed"
    what = "triples are" if effort.order == 3 else f"the index {effort.index!r} is"
    model = "make groups of features (groups=), explain fewer rows, give a smaller background (background=)"
    fewer = "let fewer players take part, give" if game.price == game.rows == 1 else f"{model} or"
    instead = "order=2" if effort.order == 3 else "the index 'shapley', which can be estimated"
    raise InputError(
        f"{what} worked out from all coalitions, of at most {MOST_PLAYERS} players in {most:,} model rows, but"
        f" {_most_players(game)} players take {asked}; {fewer} a larger budget (budget=, up to {_LISTED_PLAYERS}"
        f" players), or use {instead}{effort.remedy}."
    )


def _refuse_too_many(game: Game, effort: Effort) -> None:
    players = _most_players(game)
    if players > _LISTED_PLAYERS or (effort.budget is None and players > MOST_PLAYERS):
        raise InputError(
            f"going through all coalitions takes at most {MOST_PLAYERS} players, but there are {players}; use"
            f" method='kernel', or make groups of players (groups=){effort.remedy}."
        )
    asked, most = _needed(game), MOST_ROWS if effort.budget is None else effort.budget
    if asked > most:
        raise InputError(
            f"{players} players, {counted(game.rows, 'row')} and a background of {counted(game.price, 'row')}"
            f" take {asked:,} model rows, more than {most:,}; use method='kernel', explain fewer"
            " rows, give a smaller background (background=), groups of features (groups=) or a larger budget"
            f" (budget=){effort.remedy}."
        )


def _all_pairs(game: Game) -> int:
    """Pairs of coalitions, apart from nobody and everybody."""
    return 2 ** (game.players - 1) - 1


def _pairs(game: Game, effort: Effort) -> Rounds:
    everything = _all_pairs(game)
    fewest = min(max(game.players, _FEWEST), everything)
    if effort.budget is None and effort.tolerance is None:
        return Rounds(fewest, PAIRS + game.players)
    given, each = _given(effort), 2 * game.rows * game.price
    most = given // each
    if most < fewest:
        raise _too_small(effort, given, fewest * each, game, "coalitions")
    if effort.tolerance is not None:  # a first look that can be believed
        fewest = min(4 * max(game.players, _FEWEST), everything, most)
    return Rounds(fewest, most, effort.tolerance)


def _draws(game: Game, effort: Effort) -> Rounds:
    if effort.budget is None and effort.tolerance is None:
        return Rounds(_FEWEST_DRAWS, DRAWS)
    price = 1 if game.donors > 1 else game.price
    given, each = _given(effort), game.rows * price * (2 * game.players - 1)
    if given // each < _FEWEST_DRAWS:
        raise _too_small(effort, given, _FEWEST_DRAWS * each, game, "orders")
    return Rounds(_FEWEST_DRAWS, given // each, effort.tolerance)


def _given(effort: Effort) -> int:
    return MOST_ROWS if effort.budget is None else int(effort.budget)


def _too_small(effort: Effort, given: int, needed: int, game: Game, what: str) -> InputError:
    named = f"budget={effort.budget}" if effort.budget is not None else f"the usual budget of {given:,} model rows"
    return InputError(
        f"{named} is too small: {game.players} players in {counted(game.rows, 'row')} take at least {needed:,}"
        f" model rows for enough {what}; give a larger budget, a smaller background (background=) or fewer"
        f" rows{effort.remedy}."
    )
