"""Which assumptions of a linear model do not hold on its training rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.diagnostics import linear_models as told
from pellucid.explanations import Caveat
from pellucid.glassbox.linear import assumptions
from pellucid.glassbox.linear.assumptions import Residuals
from pellucid.glassbox.linear.irls import Fitted
from pellucid.models.families import Family, Link, domain

if TYPE_CHECKING:
    from pellucid.glassbox.base import Training
    from pellucid.glassbox.linear.terms import LinearTerms

_FEWEST_VALUES = 5  # of a number: fewer cannot tell a bend


def caveats_of(
    model: LinearTerms,
    training: Training,
    A: FloatArray,
    fitted: Fitted,
    family: Family,
    link: Link,
    offset: FloatArray | None = None,
) -> tuple[Caveat, ...]:
    """Everything known against a model of one sum and without a penalty."""
    rows = Residuals.of(A, fitted, training.weights, dispersed=family.dispersed)
    found = [*told.separated(fitted.separated), *_of_columns(model, A, fitted)]
    if rows is None or fitted.separated or rows.squares <= 1e-20 * float(np.abs(fitted.eta).max() ** 2 * len(A)):
        return tuple(found)  # a perfect fit, or none
    every = -(-len(A) // len(rows.w))
    if model._link_choice:
        eta, y = fitted.eta[::every], training.y[::every].astype(np.float64)
        fixed = np.zeros(len(eta)) if offset is None else offset[::every]
        best, share = assumptions.better_link(rows, y, fixed, eta, family, link)
        better = list(told.better_link(link.name, best, share))
        if better:
            return (*found, *better)  # what bends, and how errors scatter, is told of the wrong link
    bent, rows = assumptions.bends(rows, _numbers(model, A[::every], fitted))
    found += told.curved(bent)
    return (*found, *_of_errors(model, rows, fitted, gaussian=family.name == "gaussian" and link.name == "identity"))


def _numbers(model: LinearTerms, A: FloatArray, fitted: Fitted) -> dict[str, FloatArray]:
    """The columns of numbers that could bend."""
    found = {}
    for j, (feature, columns) in enumerate(zip(model._schema.features, model._columns, strict=True)):
        k = model._slices[j].start
        if (
            columns.levels is None
            and columns.names
            and feature.kind != "boolean"
            and not fitted.solution.aliased[1 + k]
        ) and len(np.unique(A[:, k])) >= _FEWEST_VALUES:
            found[feature.name] = A[:, k]
    return found


def _of_errors(model: LinearTerms, rows: Residuals, fitted: Fitted, *, gaussian: bool) -> Iterator[Caveat]:
    """What standard errors take for granted."""
    if model.robust:
        return
    names = [name for name, lost in zip(model.column_names_, fitted.solution.aliased[1:], strict=True) if not lost]
    if model._variance_known:
        dispersion = rows.squares / rows.freedom
        yield from told.overdispersed(dispersion, remedy="Use robust='HC1', or give an exposure= or more features.")
        if dispersion > told.OVERDISPERSED:
            return
    elif not rows.dispersed:
        return  # the variance of a class follows from its probability
    k, ratio = assumptions.uneven_variance(rows, len(names))
    uneven = list(told.uneven_variance(names[k] if names else "", ratio))
    yield from uneven
    if gaussian and names and not uneven:
        k, rest = assumptions.few_rows_decide(rows, len(names))
        yield from told.few_rows_decide(names[k], rest)


def _of_columns(model: LinearTerms, A: FloatArray, fitted: Fitted) -> Iterator[Caveat]:
    """Columns that follow from others, or nearly."""
    lost = fitted.solution.aliased[1:]
    names = [name for name, out in zip(model.column_names_, lost, strict=True) if out]
    yield from told.aliased(names, len(lost))
    C, W = fitted.solution.inverse[1:, 1:], fitted.working
    paired = {j for pair in model._pairs for j in pair}
    worst: tuple[float, int] = (1.0, -1)
    for j in range(len(model._columns)):
        own = model._slices[j]
        if j in paired or lost[own].any() or own.start == own.stop:
            continue
        away = A[:, own] - W @ A[:, own] / W.sum()
        factor = assumptions.inflation(C, (away * W[:, None]).T @ away, own)
        worst = max(worst, (factor, j))
    factor, j = worst
    if j >= 0 and len(model._columns) > 1:
        yield from told.inflated(model._names[j], _partner(model, C, j), factor)


def _partner(model: LinearTerms, C: FloatArray, j: int) -> str:
    """The feature whose coefficients go most against those of a feature."""
    size = np.sqrt(np.where(np.diag(C) > 0, np.diag(C), 1.0))
    with np.errstate(invalid="ignore"):
        together = np.abs(np.nan_to_num(C / np.outer(size, size)))
    best = {
        k: float(together[model._slices[j], model._slices[k]].max(initial=0.0))
        for k in range(len(model._columns))
        if k != j
    }
    return model._names[max(best, key=lambda k: best[k])]


def outside(model: LinearTerms, training: Training, family: Family, link: Link) -> tuple[Caveat, ...]:
    """Sums within reach that are the link of no mean."""
    low, high = domain(link, family)
    if not np.isfinite([low, high]).any():
        return ()
    parts = [model._part(k, training.codes)[:, 0] for k in range(len(model._slices))]
    lowest, highest = np.array([part.min() for part in parts]), np.array([part.max() for part in parts])
    least, most = assumptions.widened(lowest, highest, float(model._intercept[0]))
    beyond = max(low - least, 0.0) + max(most - high, 0.0)
    what = "probability" if family.range[1] == 1.0 else "positive mean"
    return tuple(told.outside_link(link.name, beyond / (most - least) if beyond > 0 else 0.0, what))
