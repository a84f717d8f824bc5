"""Influence in least squares and ridge regression: leave-one-out in closed form, Cook's distance and DFBETA.

Cook 1977, "Detection of influential observation in linear regression"; Belsley, Kuh and Welsch 1980.

Definition. With a_i the row (1, columns), H = sum_i w_i a_i a_i' + diag(penalty), residual e_i = y_i - a_i' theta and
leverage h_i = w_i a_i' H^-1 a_i, the model fitted without row i is exactly

    theta(-i) = theta - H^-1 a_i w_i e_i / (1 - h_i),            DFBETA_i = theta - theta(-i),

without the rows G together theta(-G) = theta - H^-1 A_G' (I - W_G A_G H^-1 A_G')^-1 W_G e_G. Cook's distance is

    D_i = sum_j w_j (yhat_j - yhat_j(-i))^2 / (d MSE),    d = trace of the hat matrix, MSE = sum w e^2 / (n - d),

in which d is the number of coefficients without a penalty. Through a pipeline it is the influence by way of the last
step: means and categories that earlier steps have learned stay.

When it misleads: (1) rows mask each other: of two equal outliers each looks harmless, as the other stays; leave them
out together. (2) Where the model is wrong (curved, heavy tails), influence measures the wrong model. (3) Large leverage
is no fault of a row.

Cost. One decomposition of H: rows times columns squared; no model rows but to compare.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.data import Data
from pellucid.methods.influence.estimation.left_out import LeftOut, Request, spread_apart
from pellucid.models.linear import Link, predictions
from pellucid.models.linear_fit import LinearFit
from pellucid.models.outcome import outcome_for

_ALONE = 1e-7  # of 1 - leverage: a row that some coefficient rests on alone


def linear(request: Request, fit: LinearFit, link: Link) -> LeftOut:
    """The models without each unit, exactly."""
    q, data = request, request.data
    A = fit.matrix(q.predictor.dressed(data.frame))
    y, w = outcome_for(q.predictor, data), data.weights
    centre = _centre(A, w, fit)
    design = _Design(A - centre, y, w, fit.penalty, fit.intercept and fit.penalty[0] == 0)
    residual = y - design.A @ design.theta
    h = w * (design.Q * design.A).sum(axis=1)
    change = (
        np.stack([design.change(q.rows_of(u), residual) for u in range(q.n_units)])
        if q.units
        else _one_by_one(design, residual, h)
    )
    form = Fitted(q, fit, link, _uncentred(design.theta[None], centre, fit)[0], _uncentred(change, centre, fit))
    freedom = float(h.sum())
    variance = np.square(residual * np.sqrt(w)[:, None]).sum(axis=0) / max(w.sum() - freedom, 1e-12)
    inverse = np.diag(_uncentred(_uncentred(design.inverse[None], centre, fit)[0].T[None], centre, fit)[0])
    own = q.run.predict(q.predictor, data.take(data.spread(1000)), full=True)
    return LeftOut(
        how="closed form",
        tried=np.arange(q.n_units),
        present=form.present,
        without=form,
        change=form.change,
        names=coefficient_names(q, fit),
        errors=np.sqrt(np.maximum(inverse, 0)[:, None] * variance),
        leverage=h,
        residual=residual.mean(axis=1) if residual.shape[1] > 1 else residual[:, 0],
        cook=_cook(design, change, freedom, variance),
        apart=spread_apart(own, form.present(data.take(data.spread(1000)))),
        notes={"steps": fit.steps, "theta": form.theta},
    )


@dataclass(frozen=True, eq=False)
class _Design:
    """Least squares of y on A with weights and a penalty."""

    A: FloatArray
    y: FloatArray
    w: FloatArray
    penalty: FloatArray
    centred: bool

    @cached_property
    def inverse(self) -> FloatArray:
        return inverted((self.A * self.w[:, None]).T @ self.A + np.diag(self.penalty))

    @cached_property
    def theta(self) -> FloatArray:
        theta = self.inverse @ (self.A.T @ (self.w[:, None] * self.y))
        # Once more on what is left: the normal equations lose half of the digits.
        rest = self.A.T @ (self.w[:, None] * (self.y - self.A @ theta)) - self.penalty[:, None] * theta
        return np.asarray(theta + self.inverse @ rest)

    @cached_property
    def Q(self) -> FloatArray:
        return np.asarray(self.A @ self.inverse)

    def change(self, rows: IntArray, residual: FloatArray) -> FloatArray:
        """theta with minus without some rows together."""
        rows = rows[self.w[rows] > 0]
        if not len(rows):
            return np.zeros_like(self.theta)
        w = self.w[rows]
        inner = np.eye(len(rows)) - w[:, None] * (self.Q[rows] @ self.A[rows].T)
        if np.linalg.cond(inner) > 1 / _ALONE:
            return self._anew(rows)
        return np.asarray(self.Q[rows].T @ np.linalg.solve(inner, w[:, None] * residual[rows]))

    def _anew(self, rows: IntArray) -> FloatArray:
        """The same by solving again: without these rows some coefficient is free."""
        w = self.w.copy()
        w[rows] = 0
        mean, level = np.zeros(self.A.shape[1]), np.zeros(self.y.shape[1])
        if self.centred:  # a column that is constant now has no slope
            mean, level = (np.average(part, axis=0, weights=w) for part in (self.A, self.y))
        root = np.sqrt(w)[:, None]
        A = np.vstack([(self.A - mean) * root, np.diag(np.sqrt(self.penalty))])
        y = np.vstack([(self.y - level) * root, np.zeros((len(self.penalty), self.y.shape[1]))])
        theta = np.linalg.lstsq(A, y, rcond=1e-12)[0]
        if self.centred:
            theta[0] = level - mean[1:] @ theta[1:]
        return np.asarray(self.theta - theta)


def _one_by_one(design: _Design, residual: FloatArray, h: FloatArray) -> FloatArray:
    """DFBETA of every row, ``(rows, lines, outputs)``."""
    w = design.w
    alone = 1 - h < _ALONE
    scaled = (w / np.where(alone, 1.0, 1 - h))[:, None] * residual
    change = np.einsum("ip,ik->ipk", design.Q, scaled)
    for i in np.flatnonzero(alone & (w > 0)):
        change[i] = design._anew(np.array([i]))
    return np.asarray(change)


def _cook(design: _Design, change: FloatArray, freedom: float, variance: FloatArray) -> FloatArray:
    """Cook's distance from the changes of theta; of several outputs the mean."""
    gram = (design.A * design.w[:, None]).T @ design.A
    squares = np.einsum("ipk,pq,iqk->ik", change, gram, change, optimize=True)
    return np.asarray((squares / np.maximum(freedom * variance, 1e-300)).mean(axis=1))


def inverted(H: FloatArray) -> FloatArray:
    """The inverse by scaled columns; the pseudo-inverse where columns are collinear."""
    size = np.sqrt(np.diag(H))
    size = np.where(size > 0, size, 1.0)
    scaled = H / size[:, None] / size
    if np.linalg.cond(scaled) < 1e13:
        return np.asarray(np.linalg.inv(scaled) / size[:, None] / size)
    return np.asarray(np.linalg.pinv(H, rcond=1e-12, hermitian=True))


def _centre(A: FloatArray, w: FloatArray, fit: LinearFit) -> FloatArray:
    """What is taken off the columns: their means, where an intercept takes it up without a penalty."""
    if not fit.intercept or fit.penalty[0] > 0:
        return np.zeros(A.shape[1])
    return np.append(0.0, np.average(A[:, 1:], axis=0, weights=w))


def _uncentred(theta: FloatArray, centre: FloatArray, fit: LinearFit) -> FloatArray:
    """Coefficients ``(..., lines, outputs)`` of the columns as they are."""
    if not fit.intercept:
        return theta
    theta = theta.copy()
    theta[..., 0, :] -= np.einsum("p,...pk->...k", centre, theta)
    return theta


def coefficient_names(request: Request, fit: LinearFit) -> tuple[str, ...]:
    """Of each line of theta: the intercept, the column, or the column and which of its codes."""
    if fit.names:
        return ("intercept", *fit.names) if fit.intercept else fit.names
    names, source = request.data.schema.names, np.asarray(request.predictor.columns)[fit.form.source]
    own = [names[j] for j in source]
    several = [f"{name}[{own[:k].count(name)}]" if own.count(name) > 1 else name for k, name in enumerate(own)]
    return ("intercept", *several) if fit.intercept else tuple(several)


@dataclass(frozen=True, eq=False)
class Fitted:
    """Predictions of models with coefficients ``theta`` and ``theta - change``."""

    request: Request
    fit: LinearFit
    link: Link
    theta: FloatArray
    change: FloatArray

    def present(self, rows: Data) -> FloatArray:
        """With all rows."""
        A, offset = self._matrix(rows)
        return self._linked(A @ self.theta + offset)

    def __call__(self, units: IntArray, rows: Data) -> FloatArray:
        A, offset = self._matrix(rows)
        theta = self.theta - self.change[units]
        sums = np.einsum("rp,upk->urk", A, theta, optimize=True) + offset
        return self._linked(sums.reshape(-1, sums.shape[2])).reshape(*sums.shape[:2], -1)

    def _matrix(self, rows: Data) -> tuple[FloatArray, FloatArray | float]:
        table = self.request.predictor.dressed(rows.frame)
        return self.fit.matrix(table), self.fit.offset(table)

    def _linked(self, sums: FloatArray) -> FloatArray:
        full = predictions(sums, self.link, self.request.predictor.width)
        assert full is not None
        return full
