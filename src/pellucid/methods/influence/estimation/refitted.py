"""How far an approximation is from refitting, measured on the top few, and how much leaving out any row matters."""

from __future__ import annotations

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.explanations.influence import Checked
from pellucid.methods.influence.estimation.left_out import LeftOut, Request
from pellucid.methods.influence.estimation.measured import SOME, Measured, differences

_TOP, _RANDOM = 3, 3
_TOP_COSTLY, _RANDOM_COSTLY = 2, 1  # where each refit takes seconds


def check(request: Request, left: LeftOut, found: Measured) -> Checked:
    """The strongest units, and some random ones, left out by really fitting again."""
    if left.how == "refits":
        random = found.strength[left.at_random]
        return Checked.nothing() if len(random) < 5 else Checked.of_jolt(float(np.median(random)), len(random))
    if left.again is None or request.on == "parameters":
        return Checked.nothing()
    return request.run.unless_interrupted(lambda: _checked(request, left, found), Checked.nothing())


def _checked(request: Request, left: LeftOut, found: Measured) -> Checked:
    q = request
    strong, any_row = (_TOP_COSTLY, _RANDOM_COSTLY) if left.costly else (_TOP, _RANDOM)
    top = np.argsort(-found.strength, kind="stable")[:strong]
    others = np.setdiff1d(np.arange(q.n_units), top)
    random = q.run.generator("influence.jolt").permutation(others)[: any_row if left.grown else 0]
    units = np.append(top, random)
    rows = q.data.take(q.data.spread(SOME)) if q.target is None else q.target
    present, without = left.again(units, rows)
    again = differences(q, present, without, rows)
    shown = found.values[units]
    strength = [np.abs(part).reshape(len(units), -1) for part in (shown, again)]
    by = (lambda part: part.mean(axis=1)) if q.on == "predictions" and q.target is not None else _total
    gap = float(np.abs(shown - again)[: len(top)].sum() / max(np.abs(again[: len(top)]).sum(), 1e-300))
    return Checked(
        units=units.astype(np.int64),
        shown=by(strength[0]),
        refitted=by(strength[1]),
        gap=gap,
        correlation=_correlation(shown, again),
        jolt=float(np.median(by(strength[1])[len(top) :])) if len(random) else float("nan"),
        jolt_rows=len(random),
    )


def _total(part: FloatArray) -> FloatArray:
    return np.asarray(part.sum(axis=1))


def _correlation(a: FloatArray, b: FloatArray) -> float:
    """Of what was shown with what refitting gives; NaN where either does not vary."""
    a, b = a.ravel(), b.ravel()
    if len(a) < 3 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return float("nan")
    return float(np.corrcoef(a, b)[0, 1])
