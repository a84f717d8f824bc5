"""Influence functions of logistic and softmax regression: Newton steps, refined where one step is not enough.

Koh and Liang 2017, "Understanding black-box predictions via influence functions"; Pregibon 1981 for the step with
leverage.

Definition. theta minimises the penalised log loss with Hessian H. Leaving out row i, whose gradient is
a_i (p_i - y_i)' with p_i the predicted probabilities, changes theta to first order by the influence function
H^-1 a_i (y_i - p_i)'. One Newton step from theta in the problem without the row takes its share of the Hessian out as
well: with S_i the (scores x scores) blocks a_i' H^-1 a_i and W_i = diag(p_i) - p_i p_i' (for two classes p (1 - p)),

    theta - theta(-i) = H^-1 a_i (I - W_i S_i)^-1 (y_i - p_i).

Where the row's own score moves by more than a twentieth, more steps follow, with the gradient of the problem without the
row, and with its Hessian where the score moves by more than a half. Rows are refined in the order of that move, within
a stated amount of work; the result says how many were left with one step.

When it misleads: (1) on its own the influence function correlates only 0.8 with refitting where rows have high leverage
(rare categories, weak penalties); that is what the further steps are for. (2) It is about the optimum: a fit that was
stopped early is another model (see the caveats). (3) One row at a time: equal rows mask each other.

Cost. Rows times coefficients squared for H, then rows times coefficients for each refined row and step.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import expit, softmax

from pellucid.arrays import FloatArray, IntArray
from pellucid.data import Data
from pellucid.methods.influence.estimation.left_out import LeftOut, Request, spread_apart
from pellucid.methods.influence.linear import Fitted, coefficient_names, inverted
from pellucid.models.linear import Link
from pellucid.models.linear_fit import LinearFit
from pellucid.models.outcome import outcome_for

_MOVED, _FAR = 0.05, 0.5  # moves of a row's own score
_STEPS, _CLOSE = 15, 1e-6
_WORK = 3e9  # multiplications for refined rows
_CELLS = 1 << 21
_TOUCHED = 5e-4  # change of a probability from which on a row's curvature is taken anew


def function(
    request: Request, fit: LinearFit, link: Link, *, work: float = _WORK, moved: float = _MOVED, far: float = _FAR
) -> LeftOut:
    """The models without each row, by Newton steps."""
    q, data = request, request.data
    A = fit.matrix(q.predictor.dressed(data.frame))
    y = outcome_for(q.predictor, data).astype(np.intp)
    Y = (y == 1).astype(np.float64)[:, None] if fit.loss == "logistic" else np.eye(fit.theta.shape[1])[y]
    problem = _Problem(A, Y, data.weights, fit.penalty, optimum(A, Y, data.weights, fit.penalty, fit.theta))
    change, own, leverage = problem.one_step()
    refined = _refine(problem, change, own, work, moved, far)
    form = Fitted(q, fit, link, problem.theta, change)
    some = data.take(data.spread(1000))
    hidden = fit.loss == "softmax"
    return LeftOut(
        how="Newton steps",
        tried=np.arange(len(data)),
        present=form.present,
        without=form,
        change=change,
        names=coefficient_names(q, fit),
        errors=None if hidden else np.sqrt(np.maximum(np.diag(problem.inverse), 0))[:, None],
        leverage=leverage / max(problem.theta.shape[1] - 1, 1),
        residual=(Y - problem.p).max(axis=1) if hidden else (Y - problem.p)[:, 0],
        apart=spread_apart(q.run.predict(q.predictor, some, full=True), form.present(some)),
        notes={"steps": fit.steps, "theta": problem.theta, **refined},
        again=_Again(problem, form),
    )


@dataclass(frozen=True, eq=False)
class _Again:
    """Models without rows to the last digit, by Newton's method over all other rows."""

    problem: _Problem
    form: Fitted

    def __call__(self, units: IntArray, rows: Data) -> tuple[FloatArray, FloatArray]:
        p, change = self.problem, np.empty((len(units), *self.problem.theta.shape))
        for b, i in enumerate(units):
            w = p.w.copy()
            w[i] = 0
            change[b] = p.theta - optimum(p.A, p.Y, w, p.penalty, p.theta - self.form.change[i], 1e-4)
        exact = replace(self.form, change=change)
        return self.form.present(rows), exact(np.arange(len(units)), rows)


@dataclass(frozen=True, eq=False)
class _Problem:
    """Penalised log loss at its optimum theta ``(lines, scores)``."""

    A: FloatArray
    Y: FloatArray
    w: FloatArray
    penalty: FloatArray
    theta: FloatArray

    @cached_property
    def p(self) -> FloatArray:
        return probabilities(self.A @ self.theta)

    @cached_property
    def inverse(self) -> FloatArray:
        return inverted(hessian(self.A, self.w, self.p, self.penalty))

    def blocks(self, rows: IntArray) -> FloatArray:
        """``a_i' H^-1`` by score, ``(rows, scores, lines, scores)``."""
        lines, scores = self.theta.shape
        return np.asarray(
            np.einsum("ip,kpql->ikql", self.A[rows], _by_score(self.inverse, lines, scores), optimize=True)
        )

    def one_step(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """theta with minus without each row, the move of the row's own scores, and leverages."""
        n = len(self.A)
        change, own, leverage = np.empty((n, *self.theta.shape)), np.empty(n), np.empty(n)
        size = max(1, _CELLS // (self.theta.size * self.theta.shape[1]))
        for rows in (np.arange(s, min(s + size, n)) for s in range(0, n, size)):
            blocks, A = self.blocks(rows), self.A[rows]
            W = self.w[rows][:, None, None] * curvature(self.p[rows])
            S = np.einsum("ikql,iq->ikl", blocks, A, optimize=True)
            pull = self.w[rows][:, None] * (self.Y - self.p)[rows]
            pull = np.linalg.solve(np.eye(S.shape[1]) - W @ S, pull[..., None])[..., 0]
            change[rows] = np.einsum("ikql,ik->iql", blocks, pull, optimize=True)
            own[rows] = np.abs(np.einsum("ip,ipk->ik", A, change[rows])).max(axis=1)
            leverage[rows] = np.trace(W @ S, axis1=1, axis2=2)
        return change, own, leverage

    def rest(self, theta: FloatArray, rows: IntArray) -> tuple[FloatArray, FloatArray]:
        """Gradients at thetas ``(many, lines, scores)``, each without its row, and the probabilities there."""
        many, lines, scores = theta.shape
        sums = self.A @ theta.transpose(1, 0, 2).reshape(lines, -1)
        p = probabilities(sums.reshape(-1, scores)).reshape(len(self.A), many, scores)
        left = self.w[:, None, None] * (p - self.Y[:, None])
        left[rows, np.arange(many)] = 0.0
        gradient = (self.A.T @ left.reshape(len(self.A), -1)).reshape(lines, many, scores).transpose(1, 0, 2)
        return gradient + self.penalty[:, None] * theta, p


def _refine(
    problem: _Problem, change: FloatArray, own: FloatArray, work: float, moved: float, far: float
) -> dict[str, int]:
    """Further Newton steps for the rows that move most, in place; how many had them and how many should have."""
    n, lines = problem.A.shape
    scores = problem.theta.shape[1]
    wanted = np.argsort(-own, kind="stable")
    wanted = wanted[own[wanted] > moved]
    distant = wanted[own[wanted] > far]
    each = 8 * n * lines * scores * scores
    near = wanted[len(distant) :]
    distant = distant[: int(work // (2 * each)) + 1]
    near = near[: max(int((work - len(distant) * each) // (each / 2)), 0)]
    block = max(1, _CELLS // (n * scores))
    for some in (distant[s : s + block] for s in range(0, len(distant), block)):
        change[some] = _newton(problem, some, change[some])
    for some in (near[s : s + block] for s in range(0, len(near), block)):
        for _ in range(2):
            gradient, _ = problem.rest(problem.theta - change[some], some)
            change[some] += _without(problem, some, gradient)
    return {"refined": len(distant) + len(near), "one_step": len(wanted) - len(distant) - len(near)}


def _without(problem: _Problem, rows: IntArray, gradient: FloatArray) -> FloatArray:
    """The Hessian at theta without each row, inverted, times a gradient ``(rows, lines, scores)``."""
    _, lines, scores = gradient.shape
    step = (gradient.reshape(len(rows), -1) @ problem.inverse).reshape(-1, lines, scores)
    blocks, w = problem.blocks(rows), problem.w[rows][:, None, None]
    S = np.einsum("ikql,iq->ikl", blocks, problem.A[rows])
    W = w * curvature(problem.p[rows])
    at = np.einsum("ip,ipk->ik", problem.A[rows], step)[..., None]
    pull = np.linalg.solve(np.eye(scores) - W @ S, W @ at)[..., 0]
    return np.asarray(step + np.einsum("ikql,ik->iql", blocks, pull))


def _newton(problem: _Problem, rows: IntArray, change: FloatArray) -> FloatArray:
    """Newton's method without each row, from one step on; only rows whose curvature has changed enter the Hessian."""
    change = change.copy()
    live = np.arange(len(rows))
    base = hessian(problem.A, problem.w, problem.p, problem.penalty)
    for _ in range(_STEPS):
        gradient, p = problem.rest(problem.theta - change[live], rows[live])
        step = np.empty_like(gradient)
        for b in range(len(live)):
            w = problem.w.copy()
            w[rows[live[b]]] = 0
            touched = np.flatnonzero((np.abs(p[:, b] - problem.p).max(axis=1) > _TOUCHED) | (w != problem.w))
            bent = w[touched, None, None] * curvature(p[touched, b])
            bent -= problem.w[touched, None, None] * curvature(problem.p[touched])
            H = base + _gram(problem.A[touched], bent)
            step[b] = np.linalg.solve(_definite(H), gradient[b].ravel()).reshape(step[b].shape)
        change[live] += step
        size = np.abs(step).max(axis=(1, 2)) / np.maximum(np.abs(change[live]).max(axis=(1, 2)), 1e-300)
        live = live[size > _CLOSE]
        if not len(live):
            break
    return change


def optimum(
    A: FloatArray, Y: FloatArray, w: FloatArray, penalty: FloatArray, theta: FloatArray, close: float = 1e-8
) -> FloatArray:
    """The exact minimum, by Newton's method from the model's own coefficients, with steps halved while they harm."""
    value = _objective(A, Y, w, penalty, theta)
    for _ in range(_STEPS):
        p = probabilities(A @ theta)
        gradient = A.T @ (w[:, None] * (p - Y)) + penalty[:, None] * theta
        step = (inverted(hessian(A, w, p, penalty)) @ gradient.ravel()).reshape(theta.shape)
        factor = 1.0
        while (after := _objective(A, Y, w, penalty, theta - factor * step)) > value and factor > 1e-4:
            factor /= 2
        if not after <= value:
            break
        theta, value = theta - factor * step, after
        if np.abs(A @ step).max() < close:
            break
    return theta


def _objective(A: FloatArray, Y: FloatArray, w: FloatArray, penalty: FloatArray, theta: FloatArray) -> float:
    sums = A @ theta
    if theta.shape[1] == 1:
        loss = np.logaddexp(0, sums[:, 0]) - Y[:, 0] * sums[:, 0]
    else:
        loss = np.logaddexp.reduce(sums, axis=1) - (Y * sums).sum(axis=1)
    return float(w @ loss + 0.5 * (penalty[:, None] * np.square(theta)).sum())


def probabilities(sums: FloatArray) -> FloatArray:
    """Of the second class from one score, or of every class from one score each."""
    return np.asarray(expit(sums) if sums.shape[1] == 1 else softmax(sums, axis=1))


def curvature(p: FloatArray) -> FloatArray:
    """Second derivatives of the log loss by scores, ``(rows, scores, scores)``."""
    if p.shape[1] == 1:
        return (p * (1 - p))[..., None]
    return np.asarray(np.einsum("ik,kl->ikl", p, np.eye(p.shape[1])) - p[:, :, None] * p[:, None])


def hessian(A: FloatArray, w: FloatArray, p: FloatArray, penalty: FloatArray) -> FloatArray:
    """Of the penalised loss, ``(lines * scores, lines * scores)``.

    Scores of all classes may be shifted together where no penalty forbids it; that direction, which no prediction
    depends on, is held.
    """
    scores = p.shape[1]
    H = _gram(A, w[:, None, None] * curvature(p)) + np.kron(np.diag(penalty), np.eye(scores))
    if scores > 1:
        free = np.diag(np.where(penalty == 0, (w @ np.square(A)) / scores, 0.0))
        H += np.kron(free, np.ones((scores, scores)))
    return H


def _gram(A: FloatArray, W: FloatArray) -> FloatArray:
    """``sum_i a_i a_i' x W_i``, lines outside and scores inside."""
    lines, scores = A.shape[1], W.shape[1]
    H = np.empty((lines, scores, lines, scores))
    for k in range(scores):
        for m in range(k, scores):
            H[:, k, :, m] = H[:, m, :, k] = (A * W[:, k, m, None]).T @ A
    return H.reshape(lines * scores, -1)


def _by_score(H: FloatArray, lines: int, scores: int) -> FloatArray:
    """``[k, p, q, l]``: the entry of line p of score k and line q of score l."""
    return H.reshape(lines, scores, lines, scores).transpose(1, 0, 2, 3)


def _definite(H: FloatArray) -> FloatArray:
    """With a trace on the diagonal, so that a column that has lost its only row can be solved for."""
    return H + 1e-12 * np.trace(H) / len(H) * np.eye(len(H))
