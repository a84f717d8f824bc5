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
read, for all donors at once (`games.loss`). Else pairs of coalitions, each with some donors per row
(`loss_rows`), and where there are very many rows with some rows. ``se`` is the error of this sampling: the exact values
of these rows and this background are within ``low`` and ``high`` in 95% of cases. Other rows would have other values;
that is not in it.

Pairs of a coalition and its complement are drawn as for `shapley_kernel` (`estimation.pairs`), and the coalitions that
were not asked are predicted by the same regression (`estimation.hypercube_process`). Each pair is asked with rows and
donors of its own, so that their errors are independent and average out. With d what a pair differs by, w its weight in
a player's value, pi the share of its stratum that was asked, e what a fit without the pair misses, and s^2 the variance
from rows and donors,

    variance = sum over the asked of (w / pi)^2 ((1 - pi) e^2 + pi s^2)

The first part is that of a sample of coalitions; e has the noise in it, and the second part is what is left of that.

When it misleads:
1. correlated features: the model is evaluated at rows that do not occur, and what they tell is split between them;
2. on training data an overfitted feature looks important: use held-out data;
3. it says what the model gains, not what the world does, nor what a model without the feature would lose.

Cost. 2^players coalitions times rows times background, or the budget (2^19 model rows unless given).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.arrays import BoolArray, FloatArray
from pellucid.data import Data
from pellucid.diagnostics.by_measure import sage_caveats
from pellucid.errors import InputError
from pellucid.explanations import Header, Importance
from pellucid.games.loss import LossGame, SampleSize, TreeLossGame, Truth, additive_trees
from pellucid.games.marginal import MOST, Players, background_rows
from pellucid.losses import Loss, find_loss
from pellucid.methods.attribution.estimation.estimate import Rounds
from pellucid.methods.attribution.estimation.hypercube_kernel import pair_weights
from pellucid.methods.attribution.estimation.hypercube_process import regress, shapley_of
from pellucid.methods.attribution.estimation.pairs import PairDesign
from pellucid.methods.attribution.shapley_exact import shapley_exact
from pellucid.methods.importance.request import Request
from pellucid.models.outcome import constant_prediction, outcome_for
from pellucid.runner import Run
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
    tried = y, constant_prediction(predictor, y, data.weights)
    loss = find_loss(request.loss, predictor.task, predictor.raw_scale, tried)
    return loss, Truth(y, _rows_of(loss), data.weights)


def _rows_of(loss: Loss) -> Any:
    if loss.rows is None:
        raise InputError(
            f"loss={loss.name!r} is no mean over rows, as method='sage' needs; use mse, mae, log_loss, brier, error,"
            " 'variance' or a function that gives one number per row."
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


_DONORS, _FEWEST_DONORS = 16, 4  # for each row, measured: the loss of a mean is curved
_FEWEST_ROWS = 20
_MOST_PAIRS = 512  # a regression costs their cube; more model rows go into donors
_STEPS = 32


@dataclass(frozen=True)
class Plan:
    """How many pairs to ask, and with what effort; ``fewest`` pairs are enough for an answer."""

    pairs: int
    effort: SampleSize
    fewest: int


def few_pairs(players: int) -> int:
    """Pairs that an answer needs at least."""
    return min(max(2 * players, 16), 2 ** (players - 1) - 1)


def fewest_rows(players: int, rows: int, donors: int, *, read: bool) -> int:
    """Model rows for the smallest answer."""
    m = min(rows, _FEWEST_ROWS)
    return 2 * few_pairs(players) * (m + donors if read else m * min(donors, _FEWEST_DONORS))


def plan(budget: int, players: int, rows: int, donors: int, *, read: bool) -> Plan:
    """What to ask for a budget of model rows: all rows first, then some donors, then pairs, then more donors.

    Trees that are ``read`` use all donors, at the price of a row each.
    """
    few = few_pairs(players)
    everything = min(2 ** (players - 1) - 1, max(_MOST_PAIRS, few))
    each = rows + donors if read else rows * min(donors, _DONORS)
    pairs = min(max(budget // 2 // each, few), everything)
    each = budget // 2 // pairs
    if read:
        return Plan(pairs, SampleSize(max(min(rows, each - donors), 1), donors), few)
    k = min(max(each // rows, _FEWEST_DONORS), donors)
    return Plan(pairs, SampleSize(min(rows, each // k), k), few)


class PairSample:
    """The pairs that were asked so far; more can be added."""

    def __init__(self, game: LossGame, effort: SampleSize, run: Run) -> None:
        self._game, self._effort, self._run = game, effort, run
        self.design = PairDesign(game.players, run.generator("sage.pairs"))
        nobody, everybody = (float(end[0, 0]) for end in game.ends())
        self.n = 0
        self._halves = [np.ones((1, game.players), dtype=np.bool_)]
        self._worth = [np.array([[everybody], [nobody]])]
        self._noise = [np.zeros(1)]

    def ask(self, n: int) -> None:
        """Ask until there are n pairs, in steps, each of which leaves a sample that can be used."""
        step = max(1, n // _STEPS)
        while self.n < n:
            until = min(self.n + step, n)
            halves = self.design.between(self.n, until)
            generators = [self._run.generator("sage.draws", t) for t in range(self.n, until)]
            worth, noise = self._game.pairs(halves, self._effort, generators)
            self._halves.append(halves)
            self._worth.append(worth)
            self._noise.append(noise)
            self.n = until

    def values(self) -> tuple[FloatArray, FloatArray]:
        """Shapley values, which add up, and their standard errors."""
        halves, worth, noise = (np.concatenate(self._halves), np.hstack(self._worth), np.concatenate(self._noise))
        differences = worth[0] - worth[1]
        if self.n == self.design.total:
            weights = pair_weights(halves)
            return weights.T @ differences, np.sqrt(np.square(weights).T @ noise)
        values, variance = self._fitted(halves, differences, noise)
        values += (differences[0] - values.sum()) / len(values)  # rounding
        return values, np.sqrt(variance)

    def _fitted(self, halves: BoolArray, differences: FloatArray, noise: FloatArray) -> tuple[FloatArray, FloatArray]:
        fit = regress(halves, differences[:, None] / 2, "odd")
        weights, share = standing_for(self.design, self.n, halves[1:])
        missed = np.square(2 * fit.errors[1:, 0])
        left = self.n / max(self.n - halves.shape[1], 1)
        variance = np.square(weights).T @ (left * (1 - share) * missed + share * noise[1:])
        return shapley_of(fit, halves)[:, 0], variance


def standing_for(design: PairDesign, n: int, halves: BoolArray) -> tuple[FloatArray, FloatArray]:
    """The weights ``w / pi`` of pairs that stand for their strata, and the shares pi of these that are among the first
    n.
    """
    asked, share = design.asked(n, halves)
    equal = 2 * halves.sum(axis=1) == halves.shape[1]  # such a pair is two coalitions of its size
    weights = pair_weights(halves, of_stratum=True) * (np.where(equal, 0.5, 1.0) / asked)[:, None]
    return weights, share


def sage_pairs(game: LossGame, made: Plan, tolerance: float | None, run: Run) -> tuple[FloatArray, FloatArray, int]:
    """Values, standard errors, and the number of pairs, as far as the plan or the tolerance goes."""
    sample = PairSample(game, made.effort, run)
    rounds = Rounds(min(made.fewest, made.pairs), made.pairs, tolerance)
    with run.until_interrupted(lambda: sample.n >= made.fewest):
        for n in rounds.looks if tolerance is not None else (made.pairs,):
            sample.ask(n)
            if tolerance is not None and rounds.reached(sample.values()[1]):
                break
    return *sample.values(), sample.n
