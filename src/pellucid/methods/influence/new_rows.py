"""New rows, before a model is fitted to them: whose outcome looks wrong, and which would change the model most.

Definition. A new row's suspicion is the loss of its outcome under the given model, which has not seen it. What that is
compared with are the losses of training rows under models fitted without their fold: ``surprise`` is the share of them
that are smaller. ``influence`` is what a new row would do to the predictions of X by being among the training rows,

    mean_j |f(x_j) - f(-i)(x_j)|,

with f fitted to the training rows and all new ones, and f(-i) without the new row i; ``standing`` is the share of
training rows that do less.

Estimator. Influence by the closed form of the model (least squares, ridge, logistic and generalised linear models,
trees kept, see `influence`); of other models by really fitting with and without the most suspicious new rows alone.
What the list is worth: outcomes of training rows are changed on purpose, and the share of them is counted that is in
the first tenth by the loss under the models without their fold.

When it misleads: (1) a surprising row is rare, hard or wrong. (2) New rows from elsewhere (another year, another site)
surprise as a whole: that is drift, not wrong outcomes. (3) Rows that the model was fitted to have a small loss,
whatever their outcome is. The last two are measured.

Cost. One model row for each new row; K + 2 fits, of models that are not read one for each row that is tried.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.checks import fraction, whole
from pellucid.data import Data
from pellucid.diagnostics.new_rows import new_row_caveats
from pellucid.explanations import Header, Triage
from pellucid.methods.importance.folds import with_refits
from pellucid.methods.influence.dispatch import closed
from pellucid.methods.influence.estimation.left_out import LeftOut, Request, spread_apart
from pellucid.methods.influence.estimation.measured import SOME, differences, measured
from pellucid.methods.influence.estimation.suspects import (
    FIRST,
    POINTS,
    belief_in,
    changed_outcomes,
    dealt,
    loss_of_rows,
    outcome_names,
    own_loss,
    share_found,
)
from pellucid.models import Predictor
from pellucid.models.outcome import outcome_for
from pellucid.models.refit import Refit, Refitted, refitter
from pellucid.runner import Run

_TRIED = 20  # rows that models which are not read are fitted with
_CHECKED = 2  # rows without which an approximation is compared with fitting again


@dataclass(frozen=True, eq=False)
class _Moves:
    """What each new row does to predictions, how that is known, how many training rows do less, and how far it is from
    fitting again, as a share.
    """

    influence: FloatArray
    how: str
    standing: FloatArray = field(default_factory=lambda: np.empty(0))
    gap: float = float("nan")


def new_rows(
    predictor: Predictor,
    data: Data,
    new: Data,
    *,
    folds: int = 5,
    changed: float = 0.05,
    refit: Any = None,
    tried: int = _TRIED,
    run: Run,
) -> Triage:
    """New rows to check, the most suspicious first."""
    folds, share = whole("folds", folds, least=2), fraction("changed", changed)
    refits, loss = refitter(predictor, data, refit, seed=run.seed), loss_of_rows(predictor, data, folds)
    y, y_new = outcome_for(predictor, data), outcome_for(predictor, new)
    full, given = run.predict(predictor, new, full=True), run.predict(predictor, data, full=True)
    held, fitted = _held_out(predictor, data, refits, folds, run)
    order, flipped = changed_outcomes(predictor, data, share, run)
    curve = share_found(own_loss(loss, y[order], held), flipped)
    own, usual = own_loss(loss, y_new, full), np.sort(own_loss(loss, y, held))
    moves = _moves(predictor, data, new, own, refit, tried, run)
    result = Triage(
        values=own,
        se=np.zeros(len(new)),
        measures=("loss of the model",),
        chosen="loss of the model",
        curves=curve[None],
        found=float(curve[round(FIRST * (POINTS - 1))]),
        changed=int(flipped.sum()),
        loss=own,
        given=outcome_names(predictor, new, y_new),
        expected=outcome_names(predictor, new, full if predictor.classes is None else full.argmax(axis=1)),
        belief=belief_in(predictor, y_new, full),
        influence=moves.influence,
        surprise=np.searchsorted(usual, own, side="left") / len(usual),
        standing=moves.standing,
        header=Header.of(
            predictor,
            new,
            run,
            {
                "method": "new rows",
                "folds": folds,
                "changed": share,
                "random_state": run.seed,
                "loss": loss.name,
                "apart": spread_apart(given, fitted),
                "how": moves.how,
                "gap": moves.gap,
                "predictions": predictor.scale,  # which influence is a change of
                "seen": _seen(data, new),
            },
            scale="loss",
            row_labels=new.row_labels,
        ),
    )
    return run.finish(result, new_row_caveats(predictor, data, run, result))


def _held_out(predictor: Predictor, data: Data, refits: Refit, folds: int, run: Run) -> tuple[FloatArray, FloatArray]:
    """Predictions of models fitted without the row's fold, and of the one fitted to all rows."""
    fold, everyone = dealt(predictor, data, folds, 0, run), np.arange(len(data))
    parts = [np.flatnonzero(fold == k) for k in range(folds)]
    held, asked = np.zeros((len(data), predictor.width)), iter([*parts, everyone])
    fitted: list[FloatArray] = []

    def ask(refitted: Refitted) -> None:
        rows = next(asked)
        full = run.predict(refitted.predictor, data.take(rows), full=True)
        if len(rows) == len(everyone):
            fitted.append(full)
        else:
            held[rows] = full

    fits = [partial(refits, np.setdiff1d(everyone, rows)) for rows in parts]
    with_refits(run, [*fits, partial(refits, everyone)], len(data), ask)
    if not fitted:
        run.raise_if_interrupted()
    return held, fitted[0]


def _moves(predictor: Predictor, data: Data, new: Data, own: FloatArray, refit: Any, tried: int, run: Run) -> _Moves:
    """What each new row would do to predictions of X by being among the training rows."""
    joined, n = data.joined(new), len(data)
    again = refitter(predictor, joined, refit, seed=run.seed)
    counting = np.flatnonzero(joined.weights > 0)
    apart = Run(seed=run.seed, checks=False, limits=run.limits)  # another model is read, and not remembered
    target = data.take(data.spread(SOME))
    request = Request(again.anew(counting), joined, target, "predictions", refit, None, 0, apart)
    left = closed(request)
    if left is None:
        return _by_refits(again, target, n, own, tried, run)
    strength = measured(request, left).strength
    influence = strength[n:]
    standing = np.searchsorted(np.sort(strength[:n]), influence, side="left") / n
    return _Moves(influence, left.how, standing, _gap(request, left, strength, n) if run.checks else float("nan"))


def _gap(request: Request, left: LeftOut, strength: FloatArray, n: int) -> float:
    """How far an approximation is from really fitting without the new rows that do most, as a share of the latter."""
    if left.again is None or request.target is None:
        return float("nan")
    units = n + np.argsort(-strength[n:], kind="stable")[:_CHECKED]
    present, without = left.again(units, request.target)
    real = np.abs(differences(request, present, without, request.target)).reshape(len(units), -1).mean(axis=1)
    return float(np.abs(strength[units] - real).sum() / max(real.sum(), 1e-300))


def _by_refits(again: Refit, target: Data, n: int, own: FloatArray, tried: int, run: Run) -> _Moves:
    """By fitting with each of the most suspicious new rows alone; NaN for the others."""
    before = np.arange(n)
    first: IntArray = np.argsort(-own, kind="stable")[:tried]
    found: list[FloatArray] = []

    def ask(refitted: Refitted) -> None:
        found.append(run.predict(refitted.predictor, target))

    with_refits(run, [partial(again, before), *(partial(again, np.append(before, n + i)) for i in first)], n, ask)
    influence = np.full(len(own), np.nan)
    if found:
        changes = [float(np.abs(each - found[0]).mean()) for each in found[1:]]
        influence[first[: len(changes)]] = changes
    return _Moves(influence, "refits")


def _seen(data: Data, new: Data) -> float:
    """The share of new rows that are rows of X, outcome included."""
    known = set(_rows(data))
    return float(np.mean([row in known for row in _rows(new)]))


def _rows(data: Data) -> list[tuple[bytes, str]]:
    """What makes rows equal: their cells and their outcome."""
    codes = np.stack([data.codes(j) for j in range(len(data.schema.features))], axis=1) + 0.0  # -0 is 0
    return [(row.tobytes(), str(np.ravel(y).tolist())) for row, y in zip(codes, np.asarray(data.y), strict=True)]
