"""Influence in networks (PyTorch): influence functions by Gauss-Newton products and conjugate gradients.

Koh and Liang 2017, "Understanding black-box predictions via influence functions"; Martens 2010 for the curvature. Basu,
Pope and Feizi 2021, "Influence functions in deep learning are fragile".

Definition. With G the Gauss-Newton matrix of the mean loss (log loss of probabilities, squared loss of numbers) at the
network's parameters, and g_i the gradient of row i's own loss,

    f(x) - f(-i)(x)  ~  - w_i grad f(x)' (G + damping)^-1 g_i,          damping = 1% of the mean eigenvalue of G.

When it misleads: nearly always. A network is not at an optimum, has many, and is found by chance: against refitting the
correlation was between 0 and 0.85 in trials. So it is shown only where the model can be fitted again (``refit``), with
what refitting the strongest rows and some random ones gave beside it, and what leaving out any row does.

Cost. For each explained output up to 200 forward and backward passes over the training rows; refits for the check.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.data import Data
from pellucid.errors import InputError
from pellucid.methods.influence.deletion import RefittedUnits, residual_of
from pellucid.methods.influence.estimation.left_out import LeftOut, Request
from pellucid.methods.influence.estimation.measured import SOME
from pellucid.models.outcome import outcome_for

DAMPING = 0.01  # of the mean eigenvalue


def network(request: Request) -> LeftOut:
    """The networks without each row, to first order, with a check by refitting."""
    from pellucid.models.torch_curvature import Curvature

    q, data = request, request.data
    probability = q.predictor.raw_scale == "probability"
    if q.refit is None:
        raise InputError(
            "method='function' of a network is shown only beside what refitting gives: give refit=, a function that"
            " returns a network fitted to X and y."
        )
    if q.units is not None or q.on == "parameters":
        raise InputError(
            "method='function' of a network leaves out single rows, on='predictions'; use method='deletion'."
        )
    if not probability and q.predictor.width > 1:
        raise InputError(
            "method='function' reads networks with one number or with probabilities; use method='deletion'."
        )
    rows = data.take(data.spread(SOME)) if q.target is None else q.target
    tables = [np.asarray(q.predictor.dressed(part.frame)) for part in (data, rows)]
    y = outcome_for(q.predictor, data)
    found = Curvature.of(
        q.predictor.model, tables[0], y, data.weights, probability=probability, damping=DAMPING, seed=q.run.seed
    )
    present = q.run.predict(q.predictor, rows, full=True)
    change = found.influence(tables[1])
    if change.shape[2] == 1 and present.shape[1] == 2:
        change = np.concatenate([-change, change], axis=2)
    return LeftOut(
        how="influence function",
        tried=np.arange(len(data)),
        present=lambda rows: q.run.predict(q.predictor, rows, full=True),
        without=_Shifted(present, change),
        residual=residual_of(q.predictor, data, q.run.predict(q.predictor, data, full=True)),
        again=RefittedUnits(q),
        grown=True,
        notes={"damping": found.damping},
    )


@dataclass(frozen=True, eq=False)
class _Shifted:
    """Predictions less what each row adds."""

    present: FloatArray
    change: FloatArray

    def __call__(self, units: IntArray, rows: Data) -> FloatArray:
        assert len(rows) == len(self.present)
        return self.present - self.change[units]
