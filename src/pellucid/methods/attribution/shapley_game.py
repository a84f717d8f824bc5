"""Shapley values of any cooperative game, given as a function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pellucid.arrays import BoolArray
from pellucid.checks import distinct_names, one_of, reporting, seed, whole
from pellucid.errors import InputError
from pellucid.explanations import Attribution, Entries, Header, Reference, squeeze_outputs
from pellucid.games import FunctionGame
from pellucid.methods.attribution.estimators import Effort, Estimator, solve
from pellucid.methods.attribution.interaction_indices import INDICES, Index
from pellucid.methods.attribution.shapley_kernel import Proxy
from pellucid.runner import Run
from pellucid.runner.progress import Progress


def shapley(
    value: Callable[[BoolArray], Any],
    n: int,
    *,
    method: Estimator = "auto",
    order: int = 1,
    index: Index = "shapley",
    budget: int | None = None,
    tolerance: float | None = None,
    proxy: Proxy = "curve",
    names: Sequence[str] | None = None,
    random_state: int = 0,
    progress: Progress = None,
) -> Attribution:
    """Shapley values of a cooperative game of ``n`` players: each one's fair share of what all achieve together.

    ``value(coalitions)`` maps a boolean matrix (m, n), one coalition per row, to m worths (or to m rows of several
    outputs). A player's value is the mean, over all orders of the players, of what the worth gains when the player
    enters.

    ``order=2`` adds `interaction_values` of an ``index``: half of each pair's index off the diagonal; rows sum to the
    players' values. ``"shapley"`` is the Shapley interaction index (Grabisch and Roubens 1999; the matrix of Lundberg
    et al. 2018), ``"taylor"`` the Shapley-Taylor index (Sundararajan et al. 2020: the diagonal is what a player adds
    alone), ``"faithful"`` the faithful Shapley index (Tsai et al. 2023: the polynomial of that order that is nearest to
    the game), and ``"banzhaf"`` the Banzhaf index, in which all coalitions count the same: its ``values`` are Banzhaf
    values, which need not add up to what all achieve together. ``order=3`` adds ``interactions.triples``. Of
    ``"taylor"`` and
    ``"faithful"`` pairs and players are then others: the row of a player and a third of its triples sum to its value.
    Only the Shapley interaction index of pairs is estimated; all else takes every coalition.

    ``method="auto"`` evaluates all coalitions where there are at most 14 players (or as many as ``budget``, a number of
    coalitions, covers), and else estimates from pairs of coalitions (``"kernel"``), with standard errors;
    ``"permutation"`` follows random orders. ``proxy="trees"`` lets boosted trees learn the game from the coalitions
    that were evaluated, which pays for games of thresholds and rules. ``tolerance`` is the half width of the 95%
    intervals at which sampling ends.

    Examples
    --------
    Two workers who earn 10 and 20 alone and 50 together:

    >>> import numpy as np, pellucid
    >>> def earn(coalitions):
    ...     a, b = coalitions.T
    ...     return 10 * a + 20 * b + 20 * (a & b)
    >>> pellucid.shapley(earn, 2, names=["a", "b"]).values
    array([[20., 30.]])
    >>> pellucid.shapley(earn, 2, names=["a", "b"], order=2, index="taylor").interaction_values[0]
    array([[10., 10.],
           [10., 20.]])
    """
    if not callable(value):
        raise InputError(
            f"value is {type(value).__name__}, which cannot be called; give a function of coalitions (m, n) that"
            " returns m worths."
        )
    one_of("index", index, INDICES)
    n, order, random_state = whole("n", n), whole("order", order, most=3), seed(random_state)
    players = (
        tuple(f"player {i}" for i in range(n)) if names is None else distinct_names("names", names, n, of="player")
    )
    run = Run(progress=reporting(progress), what="Shapley values", seed=random_state)
    game = FunctionGame(value, n, run=run)
    asked = index if order > 1 or index == "banzhaf" else None
    found = solve(game, Effort(method, budget, tolerance, asked or False, order, proxy=proxy), run)
    nobody, everybody = game.ends()
    if index == "banzhaf" and found.interactions is not None:  # rows sum to the Banzhaf values
        found = replace(found, values=found.interactions.sum(axis=2))
    return Attribution(
        method=found.method,
        game="given",
        header=Header(
            scale="response",
            feature_names=players,
            output_names=("worth",) if game.outputs == 1 else tuple(f"worth {k}" for k in range(game.outputs)),
            cost=run.cost(),
            settings={
                "method": "shapley",
                "order": order,
                "index": index,
                "random_state": random_state,
                **found.settings,
            },
        ),
        values=squeeze_outputs(found.values),
        se=squeeze_outputs(found.se),
        base=squeeze_outputs(nobody[0]),
        prediction=squeeze_outputs(everybody),
        interactions=found.pairs(index) if order > 1 else None,
        reference=Reference(name="the empty coalition"),
        entries=Entries((np.array([""], dtype=object),) * n, ((),) * n),  # players have names, but no values
    )
