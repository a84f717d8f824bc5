"""Shapley values of predictions that a model makes of a sum: probabilities of boosted trees and of logistic regression,
rates of Poisson models.

Definition. As in `shapley_exact`, in the marginal game, of link(sum): a link mixes all terms of the sum, so that
contributions to the sum (log-odds) say nothing exact about contributions to the prediction. Rescaling them, as is
sometimes done, is off by as much as 0.24 in probability (benchmarks/PROBABILITIES.md).

Estimator. Nobody asks the model.

- Trees: every row is compared with every background row through the leaves that both can reach together
  (`pellucid.trees.linked_game`). Where few players differ all coalitions are gone through, else some of them, with
  standard errors; contributions then are made to add up by moving each in proportion to its variance.
- Sums with a logistic or exponential link: closed forms, for any number of features (`estimation.linked_sums`).
- Softmax of sums: all coalitions, or some of them, whose worth is a matrix product.

When it misleads: as `shapley_exact`. Near 0 and 1 probabilities saturate: a feature can move log-odds a lot and the
probability hardly at all. ``scale="log-odds"`` has the former.

Cost. A few to some twenty milliseconds a row for trees, one for sums; no model rows but those that check the reading.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from pellucid.arrays import AnyArray, BoolArray, FloatArray, IntArray
from pellucid.data import Data
from pellucid.games import Game
from pellucid.games.marginal import Players, base_error
from pellucid.methods.attribution.estimation.estimate import Estimate, Rounds, Solved
from pellucid.methods.attribution.estimation.linked_sums import logistic_effects, poisson_effects
from pellucid.methods.attribution.estimators import MOST_PLAYERS, Effort, solve
from pellucid.methods.attribution.interaction_indices import interaction_matrix
from pellucid.methods.attribution.tree_shap import player_of_column, spread_out
from pellucid.models import Predictor
from pellucid.models.linear import predictions as sum_predictions
from pellucid.reading import SumRows, TreeRows
from pellucid.runner import Run
from pellucid.trees.convert.tree_model import Link, TreeModel
from pellucid.trees.linked_game import Draws, Leaves, LinkedGame
from pellucid.trees.predict import predict
from pellucid.trees.predict import predictions as tree_predictions

_UNITS = 200  # coalitions, each with its complement, that a row is worth at least; two for each background row
_FINER = 256  # times as many where a tolerance asks for them
_AT_ONCE = 1 << 24  # worths in the memory
_Made = tuple[LinkedGame, IntArray, FloatArray, FloatArray | None]


# -- trees -------------------------------------------------------------------------------------------


def can_link(
    predictor: Predictor, explained: TreeRows, background: Data, *, players: Players, effort: Effort, run: Run
) -> bool:
    """Whether trees behind a link are answered here: interactions only where all coalitions can be gone through."""
    if not explained.linkable or (effort.index is not None and len(players) > MOST_PLAYERS):
        return False
    return _game(predictor, explained, background, players, run) is not None


@dataclass(eq=False)
class _Drawn:
    """Estimates from coalitions drawn so far, and their variances, for rows that are not exact."""

    values: FloatArray
    variance: FloatArray
    made: IntArray = field(init=False)

    def __post_init__(self) -> None:
        self.made = np.zeros(len(self.values), dtype=np.intp)

    def add(self, rows: IntArray, draws: int, values: FloatArray, variance: FloatArray) -> None:
        """Averages over more draws."""
        share = (draws / (self.made[rows] + draws))[:, None, None]
        self.values[rows] += share * (values - self.values[rows])
        self.variance[rows] = (1 - share) ** 2 * self.variance[rows] + share**2 * variance
        self.made[rows] += draws


def linked_tree_shap(
    predictor: Predictor, explained: TreeRows, background: Data, *, players: Players, effort: Effort, run: Run
) -> Solved:
    """Contributions of the players to what the trees' link makes of their sum."""
    made = _game(predictor, explained, background, players, run)
    assert made is not None
    game, present, base, error = made
    trees, keep = explained.behind_link(predictor.explained)
    matrix = explained.matrix
    prediction = _predictions(trees, explained.link, matrix)
    values, variance, settings = _values(game, matrix, effort, run)
    pairs = None if effort.index is None else _interactions(game, matrix, effort, run)
    _add_up(values, variance, prediction - base)
    estimate = Estimate(
        "tree",
        spread_out(values[..., keep], present, len(players), axes=1),
        spread_out(np.sqrt(variance[..., keep]), present, len(players), axes=1),
        None if pairs is None else spread_out(pairs[..., keep], present, len(players), axes=2),
        settings={"linked": explained.link, **settings},
    )
    return Solved(
        estimate,
        base[keep],
        prediction[:, keep],
        scale=str(predictor.scale),
        background=len(background),
        base_se=None if error is None else error[keep],
    )


def _game(predictor: Predictor, explained: TreeRows, background: Data, players: Players, run: Run) -> _Made | None:
    """The game, made once for all rows of an Explainer, the players that the trees know, and what nobody is worth,
    with its error; None where a way through the trees asks for too many players.
    """

    def make() -> _Made | None:
        trees, _ = explained.behind_link(predictor.explained)
        present, numbers = np.unique(player_of_column(predictor, trees, players), return_inverse=True)
        absent = trees.encode(predictor.dressed(background.frame))
        leaves = Leaves.of(trees.ensemble, numbers)
        if leaves is None:
            return None
        game = LinkedGame(trees.ensemble, leaves, explained.link, absent, background.weights, numbers)
        alone = _predictions(trees, explained.link, absent)
        base = background.weights @ alone / background.weights.sum()
        return game, present, base, base_error(background, alone, run)

    key = f"linked trees of {tuple(players.items())} for {predictor.explained}"
    return run.keep(key, background, make)


def _predictions(trees: TreeModel, link: Link, matrix: AnyArray) -> FloatArray:
    made = tree_predictions(predict(trees.ensemble, matrix), link, trees.ensemble.n_outputs, trees.scale)
    assert made is not None
    return made


def _values(
    game: LinkedGame, matrix: AnyArray, effort: Effort, run: Run
) -> tuple[FloatArray, FloatArray, dict[str, int]]:
    """Contributions and their variances; how many coalitions were drawn for each row, if any."""
    shape = (matrix.shape[0], game.count, game.outputs)
    values, variance = np.zeros(shape), np.zeros(shape)
    few = game.few(matrix)
    if few.any():
        values[few] = game.exact(matrix[few], run)
    if few.all():
        return values, variance, {}
    rest = np.flatnonzero(~few)
    draws = max(2, -(-_UNITS // len(game.share)))
    rounds = Rounds(draws, draws if effort.tolerance is None else _FINER * draws, effort.tolerance)
    drawn = _Drawn(values[rest], variance[rest])

    def ask(n: int, rows: IntArray) -> None:
        first = int(drawn.made[rows[0]])
        generator = run.generator("shap.linked-coalitions", first)
        coalitions = Draws.of(len(game.share), n - first, game.count, generator)
        drawn.add(rows, n - first, *game.drawn(matrix[rest[rows]], coalitions, run))

    made = rounds.run(len(rest), ask, lambda _, rows: np.sqrt(drawn.variance[rows]), run)
    values[rest], variance[rest] = drawn.values, drawn.variance
    return values, variance, {"coalitions": int(2 * made.max() * len(game.share))}


def _add_up(values: FloatArray, variance: FloatArray, total: FloatArray) -> None:
    """Moves estimates, each in proportion to its variance, so that they add up."""
    spread = variance.sum(axis=1, keepdims=True)
    share = np.divide(variance, spread, out=np.zeros_like(variance), where=spread > 0)
    values += share * (total - values.sum(axis=1))[:, None]


def _interactions(game: LinkedGame, matrix: AnyArray, effort: Effort, run: Run) -> FloatArray:
    assert effort.index is not None
    step = max(1, _AT_ONCE // (game.outputs << game.count))
    parts = [
        interaction_matrix(game.worths(matrix[start : start + step], run), effort.index)
        for start in range(0, matrix.shape[0], step)
    ]
    return np.concatenate(parts) if parts else np.zeros((0, game.count, game.count, game.outputs))


# -- sums --------------------------------------------------------------------------------------------


def linked_linear_shap(terms: SumRows, effort: Effort, background: Data, *, players: Players, run: Run) -> Solved:
    """Contributions of the players to what the link of a sum makes of it."""
    game = _SumGame(terms, _members(terms, players))
    nobody, prediction = game.ends()
    base = nobody[0]
    if effort.index is None and terms.link in ("logit", "log"):
        effects = logistic_effects if terms.link == "logit" else poisson_effects
        values = np.stack(
            [
                np.stack([effects(game.start[:, k], steps[..., k], terms.share) for k in range(game.outputs)], axis=1)
                for steps in map(game.steps, range(game.rows))
            ]
        )
        estimate = Estimate(
            "linear", values, np.zeros(values.shape), settings={"linked": terms.link, "inner": "closed form"}
        )
    else:
        found = solve(game, effort, run)
        estimate = replace(found, method="linear", settings={"linked": terms.link, "inner": found.method})
    keep = list(terms.keep)
    alone = sum_predictions(game.start, terms.link, game.outputs)
    assert alone is not None, "a link that agrees has the width of the sums"
    return Solved(
        estimate.for_outputs(keep),
        base[keep],
        prediction[:, keep],
        scale=terms.scale,
        background=len(terms.background),
        base_se=base_error(background, alone[:, keep], run),
    )


def _members(terms: SumRows, players: Players) -> BoolArray:
    """``(players, encoded columns)``: which columns belong to which player."""
    owner = {column: k for k, columns in enumerate(players.values()) for column in columns}
    of_column = np.array([owner.get(column, -1) for column in terms.source.tolist()])
    return np.asarray(of_column == np.arange(len(players))[:, None])


class _SumGame(Game):
    """The marginal game of a link of a sum: a coalition's worth is a matrix product away."""

    def __init__(self, terms: SumRows, member: BoolArray) -> None:
        self._terms = terms
        self.rows, self.players, self.outputs = len(terms.explained), len(member), terms.slopes.shape[1]
        self.start = terms.background @ terms.slopes + terms.intercept
        self._present, self._absent = (
            _parts(part, terms.slopes, member) for part in (terms.explained, terms.background)
        )

    def steps(self, row: int) -> FloatArray:
        """By how much each player changes the sum of each background row, ``(background, players, outputs)``."""
        return np.asarray(self._present[row] - self._absent)

    def worth(self, coalitions: BoolArray, rows: IntArray | None = None) -> FloatArray:
        chosen = np.arange(self.rows) if rows is None else rows
        found = np.empty((len(chosen), len(coalitions), self.outputs))
        step = max(1, _AT_ONCE // (len(self.start) * self.outputs))
        for r, row in enumerate(chosen):
            steps = self.steps(int(row))
            for start in range(0, len(coalitions), step):
                some = coalitions[start : start + step].astype(np.float64)
                sums = self.start + np.einsum("ci,bik->cbk", some, steps, optimize=True)
                made = sum_predictions(sums.reshape(-1, self.outputs), self._terms.link, self.outputs)
                assert made is not None
                found[r, start : start + step] = np.einsum("b,cbk->ck", self._terms.share, made.reshape(sums.shape))
        return found


def _parts(columns: FloatArray, slopes: FloatArray, member: BoolArray) -> FloatArray:
    """What each player brings to the sums of some rows, ``(rows, players, outputs)``."""
    if (member.sum(axis=1) == 1).all():  # nothing to add up
        alone = member.argmax(axis=1)
        return np.asarray(columns[:, alone, None] * slopes[alone])
    return np.stack([columns[:, own] @ slopes[own] for own in member], axis=1)
