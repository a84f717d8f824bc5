"""Triage: which training rows to check first for wrong labels, and how well the list would find them.

Brodley and Friedl 1999, "Identifying mislabeled training data"; Northcutt, Jiang and Chuang 2021 (confident learning).

Definition. A row's out-of-fold loss is the loss of its own outcome under a model that was fitted without its fold (all
rows are dealt into K folds, classes evenly, three times over). Rows are listed by the mean of four losses, the largest
first: the three of the dealings, and that of the model fitted to all rows. How well such a list works is measured on
the data themselves: in a random share of the rows the outcome is changed (to another class; of a number, to that of
another row), everything is fitted again, and the share of changed rows in the first tenth of the list is counted. Where
the out-of-fold losses or that of the model alone find clearly more (an overfitted model's own loss is worth nothing),
the list is by them.

When it misleads: (1) a large loss is a hard row as often as a wrong one; the list says what to look at, never what to
drop. Dropping rows is a change of the model that has to be measured on rows that were kept aside. (2) Wrong labels that
follow a pattern (one annotator, one site) are learned by every fold; changed labels are at random and easier to find.
(3) Real errors are rarer or more frequent than the share that was changed.

Beside the list stands what each row adds to the loss (`influence`), where that needs no refits.

Cost. 6 K + 2 fits of the model.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.checks import fraction, whole
from pellucid.data import Data
from pellucid.diagnostics.general import general_caveats
from pellucid.diagnostics.influence import other_rows
from pellucid.explanations import Header, Triage
from pellucid.losses import Loss
from pellucid.methods.importance.folds import with_refits
from pellucid.methods.influence.dispatch import closed
from pellucid.methods.influence.estimation.left_out import Request, spread_apart
from pellucid.methods.influence.estimation.measured import measured
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

_DEALINGS = 3
_BETTER = 0.03  # of the changed rows


def triage(
    predictor: Predictor, data: Data, *, folds: int = 5, changed: float = 0.05, refit: Any = None, run: Run
) -> Triage:
    """Rows to check, the most suspicious first."""
    folds, share = whole("folds", folds, least=2), fraction("changed", changed)
    refits, loss = refitter(predictor, data, refit, seed=run.seed), loss_of_rows(predictor, data, folds)
    work = _Work(predictor, data, refits, [dealt(predictor, data, folds, k, run) for k in range(_DEALINGS)], loss, run)
    given = run.predict(predictor, data, full=True)
    suspicion, expected, fitted = work.suspicion(None)
    order, flipped = changed_outcomes(predictor, data, share, run)
    trial, _, _ = work.suspicion(order)
    curves = np.stack([share_found(part, flipped) for part in trial])
    tenth = curves[:, round(FIRST * (POINTS - 1))]
    best = int(np.argmax(tenth - _BETTER * (np.array(MEASURES) != "both")))
    y = outcome_for(predictor, data)
    own = own_loss(loss, y, expected)
    result = Triage(
        values=suspicion[best],
        se=np.zeros(len(data)),
        measures=MEASURES,
        chosen=MEASURES[best],
        curves=curves,
        found=float(tenth[best]),
        changed=int(flipped.sum()),
        loss=own,
        given=outcome_names(predictor, data, y),
        expected=outcome_names(predictor, data, expected if predictor.classes is None else expected.argmax(axis=1)),
        belief=belief_in(predictor, y, expected),
        influence=_influence(predictor, data, run),
        header=Header.of(
            predictor,
            data,
            run,
            {
                "method": "triage",
                "folds": folds,
                "changed": share,
                "random_state": run.seed,
                "loss": loss.name,
                "apart": spread_apart(given, fitted),
            },
            scale="loss",
            row_labels=data.row_labels,
        ),
    )
    return run.finish(result, (*general_caveats(predictor, data, run), *other_rows(result)) if run.checks else ())


MEASURES = ("out-of-fold loss", "loss of the model", "both")


@dataclass(frozen=True, eq=False)
class _Work:
    """Fits to all rows and to all but a fold, to the outcomes as they are or to changed ones."""

    predictor: Predictor
    data: Data
    refit: Refit
    dealings: list[IntArray]
    loss: Loss
    run: Run

    def suspicion(self, order: IntArray | None) -> tuple[FloatArray, FloatArray, FloatArray]:
        """How suspicious each row is by each measure ``(measures, rows)``, and the predictions of models without the
        row's fold and of the one fitted to all rows.

        ``order`` says whose outcome each row gets.
        """
        n, run = len(self.data), self.run
        everyone = np.arange(n)
        parts = [np.flatnonzero(fold == k) for fold in self.dealings for k in range(int(fold.max()) + 1)]
        dealing = [d for d, fold in enumerate(self.dealings) for _ in range(int(fold.max()) + 1)]
        held = iter([*zip(dealing, parts, strict=True), (-1, everyone)])
        outside = np.zeros((len(self.dealings), n, self.predictor.width))
        inside: list[FloatArray] = []

        def ask(refitted: Refitted) -> None:
            d, rows = next(held)
            full = run.predict(refitted.predictor, self.data.take(rows), full=True)
            if d < 0:
                inside.append(full)
            else:
                outside[d, rows] = full

        fits = [partial(self.refit, np.setdiff1d(everyone, rows), order=order) for rows in parts]
        with_refits(run, [*fits, partial(self.refit, everyone, order=order)], n, ask)
        if not inside:
            run.raise_if_interrupted()
        y = outcome_for(self.predictor, self.data)
        y = y if order is None else y[order]
        each = np.stack([own_loss(self.loss, y, full) for full in (*outside, inside[0])])
        return np.stack([each[:-1].mean(axis=0), each[-1], each.mean(axis=0)]), outside.mean(axis=0), inside[0]


def _influence(predictor: Predictor, data: Data, run: Run) -> FloatArray:
    """What each row adds to the loss of the model by being there, where that is known without fitting again."""
    request = Request(predictor, data, None, "loss", None, None, 0, run)
    left = closed(request)
    return np.empty(0) if left is None else measured(request, left).values
