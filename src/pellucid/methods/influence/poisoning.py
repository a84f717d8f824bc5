"""Poisoning: how few changed labels of training rows turn a prediction, found greedily and confirmed by refitting.

Biggio, Nelson and Laskov 2012, "Poisoning attacks against support vector machines"; Koh and Liang 2017 for attacks by
influence.

Definition. The least number k of training rows such that the model fitted with other outcomes in these k rows predicts
the target: of classes another class, of numbers a number at least (or at most) as large. A changed outcome is any
class, or any number between the least and the largest outcome.

Estimator. The gain of a row is what changing its outcome adds to the score of the target, from derivatives of the score
by outcomes (`label_slopes`); rows are changed in the order of gain. The model is then really fitted again with the
first k of them, k being searched by bisection; derivatives are taken anew at the changed outcomes, and a better order
is kept. So the number is an *upper bound that was seen to work*. In least squares and ridge regression predictions are
linear in y and the rows' gains add up: the largest first is the best choice, and the number is the *proven minimum*.

When it misleads: (1) it is an attack by someone who knows all training rows; errors at random are far less effective
(the same number of random labels is tried, too). (2) Trees grow otherwise with any changed label, so a prediction near
the border turns by accident; compare with the random labels. (3) An upper bound that is large is no proof of safety.

Cost. One pass over the rows for gains, and at most ``budget`` refits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.checks import whole
from pellucid.data import Data
from pellucid.diagnostics.general import general_caveats
from pellucid.diagnostics.influence import other_rows
from pellucid.errors import InputError, ModelError
from pellucid.explanations import Header, Poisoning
from pellucid.methods.influence.estimation.label_slopes import Slopes, label_slopes
from pellucid.methods.influence.estimation.left_out import spread_apart
from pellucid.methods.influence.estimation.turn import Turn, find_turn
from pellucid.models import Predictor
from pellucid.models.linear_fit import LinearFit
from pellucid.models.outcome import outcome_for
from pellucid.models.refit import Refit, refitter
from pellucid.reading.additive import read_fit
from pellucid.runner import Run
from pellucid.words import number

_ROUNDS = 3
_AGREES = 1e-6  # of the distance to the target


def poisoning(
    predictor: Predictor, data: Data, row: Any, target: Any = None, *, refit: Any = None, budget: int = 20, run: Run
) -> Poisoning:
    """How few changed labels turn the prediction of one row."""
    budget = whole("budget", budget, least=4)
    refits = refitter(predictor, data, refit, seed=run.seed)
    x = data.rows(row)
    if len(x) != 1:
        raise InputError(f"row must be one row, got {len(x)}; ask about each by itself.")
    turn = find_turn(predictor, run.predict(predictor, x, full=True)[0], target)
    slopes = label_slopes(predictor, data, x, turn.toward, _fit(predictor, refit, run), run)
    work = _Work(predictor, data, x, refits, turn, slopes, run)
    found = work.search(budget - 2)
    return work.result(found, data.places(row))


def _fit(predictor: Predictor, refit: Any, run: Run) -> LinearFit | None:
    """How the model was fitted, if it is linear and fitted again as it was."""
    read = None if refit is not None else read_fit(run, predictor)
    return read[0] if isinstance(read, tuple) and read[0].loss != "deviance" else None


@dataclass(frozen=True, eq=False)
class _Choice:
    """Rows in the order of their gain, and the place of the row whose outcome each of them gets."""

    rows: IntArray
    sources: IntArray
    gains: FloatArray


@dataclass(frozen=True, eq=False)
class _Found:
    """The choice, and full predictions by how many of its rows were changed.

    ``needed`` of them turn the prediction (None: no number that was tried does), ``least`` is the proven least number
    (None: unknown).
    """

    first: _Choice
    choice: _Choice
    tried: dict[int, FloatArray]
    needed: int | None
    least: int | None
    impossible: bool


@dataclass(frozen=True, eq=False)
class _Work:
    predictor: Predictor
    data: Data
    x: Data
    refit: Refit
    turn: Turn
    slopes: Slopes
    run: Run

    def choice(self, Y: FloatArray) -> _Choice:
        """The best change of each row by the slopes at some outcomes; only rows with a gain."""
        levels, sources = self._levels()
        slopes = self.slopes.at(Y)
        own = self.slopes.Y
        gains = slopes @ levels.T - (slopes * own).sum(axis=1, keepdims=True)
        best = gains.argmax(axis=1)
        gain = gains[np.arange(len(gains)), best]
        size = float(np.abs(gain).max(initial=0.0))
        order = np.argsort(-gain, kind="stable")
        order = order[gain[order] > 1e-12 * size]
        return _Choice(order, sources[best[order]], np.maximum(gain, 0.0))

    def _levels(self) -> tuple[FloatArray, IntArray]:
        """Codes of the outcomes that a row may get, and a row that has each."""
        y = outcome_for(self.predictor, self.data)
        if self.predictor.classes is None:
            ends = np.array([int(y[:, 0].argmin()), int(y[:, 0].argmax())])
            return y[ends], ends
        known = np.unique(y.astype(np.intp))
        return self.slopes.levels[known], np.array([int(np.flatnonzero(y == k)[0]) for k in known])

    def fitted(self, rows: IntArray, sources: IntArray) -> FloatArray | None:
        """The full prediction of the model fitted with these rows' outcomes changed; None where it cannot be fitted."""
        order = np.arange(len(self.data))
        order[rows] = sources
        try:
            model = self.refit(np.flatnonzero(self.data.weights > 0), order=order).predictor
        except ModelError:
            if not len(rows):
                raise
            return None
        return np.asarray(self.run.predict(model, self.x, full=True)[0])

    def search(self, budget: int) -> _Found:
        """The least number of changed labels that is seen to turn the prediction."""
        first = best = self.choice(self.slopes.Y)
        base = self.fitted(first.rows[:0], first.sources[:0])
        assert base is not None
        tried = {0: base}
        if self.turn.reached(base):
            return _Found(first, first, tried, 0, None, False)
        start = self.turn.distance(base) if self.slopes.linked else self.turn.score(base)
        sums = start + np.cumsum(first.gains[first.rows])
        guess = 1 if self.slopes.how == "near rows" else int((sums < 0).sum()) + 1
        needed, more, left = self._bisect(first, min(guess, len(sums)), len(sums), budget)
        tried |= more
        least, impossible = (1, False) if needed == 1 else self._proof(sums, tried, needed)
        for _ in range(_ROUNDS):
            if needed in (None, 1) or left <= 0 or self.slopes.how not in ("Newton steps", "trees kept"):
                break
            Y = self.slopes.Y.copy()
            Y[best.rows[:needed]] = self.slopes.Y[best.sources[:needed]]
            other = self.choice(Y)
            most = min(needed - 1, len(other.rows))
            fewer, more, left = self._bisect(other, most, most, left)
            if fewer is None:
                break
            best, needed, tried = other, fewer, {0: base} | more
        self._on_the_way(best, tried, needed or 0, left)
        return _Found(first, best, tried, needed, least, impossible)

    def _on_the_way(self, choice: _Choice, tried: dict[int, FloatArray], needed: int, left: int) -> None:
        """Refits that are left over show how the prediction gets there."""
        quarters = [k for k in (needed // 2, needed // 4, 3 * needed // 4) if k not in tried]
        for k in quarters[: max(left, 0)]:
            full = self.fitted(choice.rows[:k], choice.sources[:k])
            if full is not None:
                tried[k] = full

    def _bisect(self, choice: _Choice, k: int, most: int, budget: int) -> tuple[int | None, dict[int, FloatArray], int]:
        """The least of the tried numbers of changes that turns the prediction, all that were tried, and refits left."""
        least, turned, tried = 0, None, {}
        while budget > 0 and most > 0:
            full = self.fitted(choice.rows[:k], choice.sources[:k])
            budget -= 1
            if full is not None:
                tried[k] = full
            if full is not None and self.turn.reached(full):
                # At first one fewer: where gains add up, that ends the search.
                k, turned = (k - 1 if turned is None else (k + least) // 2), k
            else:
                least = k
                if turned is None and (least >= most or full is None):
                    break
                k = min(max(k + 1, 3 * k // 2), most) if turned is None else (turned + k) // 2
            if turned is not None and turned - least <= 1:
                break
            k = k if turned is None else max(k, least + 1)
        return turned, tried, budget

    def _proof(self, sums: FloatArray, tried: dict[int, FloatArray], needed: int | None) -> tuple[int | None, bool]:
        """The least number that is proven, and whether no number is enough: where gains add up exactly, as the refits
        confirm.
        """
        if self.slopes.how != "closed form":
            return None, False
        start = self.turn.score(tried[0])
        close = _AGREES * max(abs(start), float(np.abs(sums).max(initial=0.0)))
        for k, full in tried.items():
            told = float(sums[k - 1]) if k else start
            if abs(told - self.turn.score(full)) > close:
                return None, False
        enough = np.flatnonzero(sums >= -close)
        return (int(enough[0]) + 1, False) if len(enough) else (None, needed is None)

    def result(self, found: _Found, places: IntArray | None) -> Poisoning:
        """With random labels tried, and all that is said of it."""
        data, predictor, turn = self.data, self.predictor, self.turn
        k = found.needed if found.needed is not None else max(found.tried)
        rows, sources = found.choice.rows[:k], found.choice.sources[:k]
        y = outcome_for(predictor, data)
        names = _names(predictor, y)
        counts = np.array(sorted(found.tried), dtype=np.intp)
        some = data.take(data.spread(200))
        again = self.refit(np.flatnonzero(data.weights > 0)).predictor
        apart = spread_apart(self.run.predict(predictor, some, full=True), self.run.predict(again, some, full=True))
        result = Poisoning(
            values=found.first.gains,
            se=np.zeros(len(data)),
            how=self.slopes.how,
            present=turn.present,
            target=turn.target,
            needed=found.needed,
            least=found.least,
            impossible=found.impossible,
            rows=rows,
            given=tuple(names[int(i)] for i in rows),
            changed=tuple(names[int(i)] for i in sources),
            counts=counts,
            refitted=np.array([turn.shown(found.tried[int(c)]) for c in counts]),
            at_random=self._at_random(len(rows)),
            header=Header.of(
                predictor,
                data,
                self.run,
                {
                    "method": "poisoning",
                    "row": self.x.row_labels.name(0) if places is not None else "given",
                    "own": places is not None and bool(np.isin(places[0], rows)),
                    "limits": None if predictor.classes is not None else (float(y.min()), float(y.max())),
                    "random_state": self.run.seed,
                    "apart": apart,
                },
                row_labels=data.row_labels,
            ),
        )
        return self.run.finish(result, (*general_caveats(predictor, data, self.run), *other_rows(result)))

    def _at_random(self, k: int) -> FloatArray:
        """What is shown after as many random rows got the outcome that speaks for the target."""
        wanted = self._random_source()
        y = outcome_for(self.predictor, self.data).reshape(len(self.data), -1)[:, 0]
        free: BoolArray = (y != y[wanted]) & (self.data.weights > 0)
        rows = self.run.generator("poisoning.random").permutation(np.flatnonzero(free))[:k]
        full = self.fitted(rows, np.full(len(rows), wanted)) if k else None
        return np.empty(0) if full is None else self.turn.shown(full)

    def _random_source(self) -> int:
        y = outcome_for(self.predictor, self.data).reshape(len(self.data), -1)[:, 0]
        if self.predictor.classes is None:
            return int(y.argmax() if self.turn.toward[0] > 0 else y.argmin())
        having = np.flatnonzero(y == self.turn.place)
        return int(having[0]) if len(having) else 0


def _names(predictor: Predictor, y: FloatArray) -> list[str]:
    if predictor.classes is None:
        return [number(float(value)) for value in y[:, 0]]
    return [str(predictor.classes[int(k)]) for k in y]
