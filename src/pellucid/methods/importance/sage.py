"""SAGE: each feature's share in how much better the model does than its mean prediction.

Covert, Lundberg and Lee 2020.

Definition. The worth of a coalition of features is minus the loss of a model that knows no others,

    v(S) = - mean over rows i of loss(y_i, mean over the background z of f(x_i on S, z elsewhere)),

and the importances are the Shapley values of v: a feature's average gain when it becomes known after some of the
others, over all orders. They add up to the loss of the mean prediction minus the loss of the model (`joint`);
`baseline` is the loss of the model. A feature the model does not use has none; one that misleads it has less than none.
Absent features are drawn from the background without regard to what is known (the marginal distribution), as in `shap`.

Without y, or with ``loss="variance"``, the outcome is the model's own prediction: the values are then shares of its
variance and add up to one (sensitivity, as Shapley effects; with the marginal distribution they are equal to those for
independent features).

Estimator. All coalitions with all rows and donors where that fits; a model of trees that add up to the prediction is
read, for all donors at once (`loss_trees`). Else pairs of coalitions (`sage_pairs`), each with some donors per row
(`loss_rows`), and where there are very many rows with some rows. ``se`` is the error of this sampling: the exact values
of these rows and this background are within ``low`` and ``high`` in 95% of cases. Other rows would have other values;
that is not in it.

When it misleads:
1. correlated features: the model is asked about rows that do not occur, and what they tell is split between them;
2. on training data an overfitted feature looks important: use held-out data;
3. it says what the model gains, not what the world does, nor what a model without the feature would lose.

Cost. 2^players coalitions times rows times background, or the budget (2^19 model rows unless given).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.data import Data
from pellucid.diagnostics.by_measure import sage_caveats
from pellucid.errors import InputError
from pellucid.explanations import Importance
from pellucid.explanations.explanation import Header
from pellucid.games.loss import LossGame, Truth
from pellucid.games.loss_trees import TreeLossGame, additive_trees
from pellucid.games.marginal import MOST, Players, background_rows
from pellucid.losses import Loss, find_loss
from pellucid.methods.attribution.shapley_exact import shapley_exact
from pellucid.methods.importance.estimation.sage_pairs import fewest_rows, plan, sage_pairs
from pellucid.methods.importance.request import Request
from pellucid.models.outcome import outcome_for
from pellucid.stats import interval

BUDGET = 2**19  # model rows
_BUDGET_FOR_TOLERANCE = 2**24
_READ_BACKGROUND = 2000  # rows, where trees are read
_LISTED_PLAYERS = 16


def sage(request: Request) -> Importance:
    """Shapley values of the loss, for each feature or group."""
    data, run = request.data, request.run
    loss, truth = _truth(request)
    players = data.schema.players()
    game, varying = _game(request, truth, players)
    solved = _solve(game, request)
    values, se = np.zeros(len(players)), np.zeros(len(players))
    values[varying], se[varying] = solved.values, solved.se
    nobody, everybody = (-float(end[0, 0]) for end in game.ends())
    low, high = interval(values, se)
    return Importance(
        method="sage",
        measure=loss.name,
        compare="difference",
        values=values,
        se=se,
        low=low,
        high=high,
        repeats=np.empty((len(players), 0)),
        baseline=everybody,
        joint=nobody - everybody,
        header=Header.of(
            request.predictor,
            data,
            run,
            {
                "method": "sage",
                "random_state": run.seed,
                "loss": loss.name,
                "background": game.size[1],
                "budget": request.budget,
                "tolerance": request.tolerance,
                **solved.settings,
            },
            scale="loss",
            caveats=sage_caveats(
                request.predictor,
                data,
                run,
                players=players,
                values=values,
                se=se,
                loss=loss,
                y=truth.y,
                baseline=everybody,
                tolerance=request.tolerance,
            ),
        ),
        members=data.schema.members(),
    )


# -- what is asked -----------------------------------------------------------------------------------


def _truth(request: Request) -> tuple[Loss, Truth]:
    """The loss, and the outcome that predictions are compared with."""
    predictor, data = request.predictor, request.data
    if request.loss == "variance" or (request.loss is None and data.y is None):
        prediction = request.run.predict(predictor, data, full=True)
        loss = _share_of_variance(prediction, data.weights)
        return loss, Truth(prediction, _rows_of(loss), data.weights)
    y = outcome_for(predictor, data)
    loss = find_loss(request.loss, predictor.task, predictor.raw_scale)
    return loss, Truth(y, _rows_of(loss), data.weights)


def _rows_of(loss: Loss) -> Any:
    if loss.rows is None:
        raise InputError(
            f"loss={loss.name!r} is no mean over rows, as method='sage' needs; use mse, mae, log_loss, brier, error or"
            " 'variance'."
        )
    return loss.rows


def _share_of_variance(prediction: FloatArray, weights: FloatArray) -> Loss:
    """The squared distance to the model's own prediction, as a share of the variance of that; outputs count by their
    variance.
    """
    centre = np.average(prediction, axis=0, weights=weights)
    variance = float(np.average(np.square(prediction - centre).sum(axis=1), weights=weights))

    def rows(y: FloatArray, p: FloatArray) -> FloatArray:
        return np.asarray(np.square(y - p).sum(axis=1) / variance) if variance > 0 else np.zeros(len(p))

    return Loss("share of prediction variance", lambda y, p, w: float(np.average(rows(y, p), weights=w)), rows)


def _game(request: Request, truth: Truth, players: Players) -> tuple[LossGame, list[int]]:
    """The game of the players that vary, in the order of their names, and their places among all."""
    predictor, data, run = request.predictor, request.data, request.run
    trees = additive_trees(predictor, data, run)
    background = background_rows(data, request.background, run, most=MOST if trees is None else _READ_BACKGROUND)
    names = list(players)
    varying = [
        i for i in sorted(range(len(names)), key=names.__getitem__) if _varies(data, background, players[names[i]])
    ]
    chosen = {names[i]: players[names[i]] for i in varying}
    if trees is None or not chosen:
        return LossGame(predictor, background, data, chosen, truth, run), varying
    return TreeLossGame(predictor, background, data, chosen, truth, run, trees=trees), varying


def _varies(data: Data, background: Data, player: tuple[int, ...]) -> bool:
    """Whether a player has more than one value in the rows and the background; missing is a value."""
    for j in player:
        codes = np.concatenate([data.codes(j), background.codes(j)])
        if len(np.unique(codes)) > 1:
            return True
    return False


# -- the answer --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Solved:
    values: FloatArray
    se: FloatArray
    settings: dict[str, Any]


def _solve(game: LossGame, request: Request) -> _Solved:
    """All coalitions if they fit, else some."""
    p, (rows, donors), read = game.players, game.size, game.read
    usual = BUDGET if request.tolerance is None else _BUDGET_FOR_TOLERANCE
    budget = usual if request.budget is None else int(request.budget)
    engine = {"engine": "trees" if read else "model"}
    if p <= 1:
        total = float(game.ends()[1][0, 0] - game.ends()[0][0, 0])
        return _Solved(np.full(p, total), np.zeros(p), {**engine, "estimator": "exact"})
    if p <= _LISTED_PLAYERS and (2**p - 2) * game.price <= budget:
        values = shapley_exact(game).values[0, :, 0]
        return _Solved(values, np.zeros(p), {**engine, "estimator": "exact", "coalitions": 2**p})
    needed = fewest_rows(p, rows, donors, read=read)
    if budget < needed:
        if request.budget is not None:
            raise InputError(
                f"budget={request.budget} is too small: {p} features and {rows:,} rows take at least {needed:,} model"
                " rows; give a larger budget or groups of features (groups=)."
            )
        budget = needed
    made = plan(budget, p, rows, donors, read=read)
    values, se, pairs = sage_pairs(game, made, request.tolerance, request.run)
    used = {"coalitions": 2 * pairs + 2, "rows": made.effort.rows, "donors": made.effort.donors}
    return _Solved(values, se, {**engine, "estimator": "pairs", **used})
