"""Influence functions of logistic, softmax and generalised linear regression: Newton steps, refined where one is not
enough.

Koh and Liang 2017, "Understanding black-box predictions via influence functions"; Pregibon 1981 for the step with
leverage.

Definition. theta minimises the penalised sum of the losses of the rows (log loss, or half the deviance of a generalised
linear model; see `point_loss`) with Hessian H. Leaving out row i, whose gradient is a_i g_i' with g_i the slope of its
loss by its scores (p_i - y_i for the log loss), changes theta to first order by the influence function -H^-1 a_i g_i'.
One Newton step from theta in the problem without the row takes its share of the Hessian out as well: with S_i the
(scores x scores) blocks a_i' H^-1 a_i and W_i the curvature of its loss (for two classes p (1 - p)),

    theta - theta(-i) = -H^-1 a_i (I - W_i S_i)^-1 g_i.

Where a penalty stands beside the mean loss, the problem without a row has a little less of it; that is in the step,
too. Where the row's own score moves by more than a twentieth (a hundredth for a deviance), more steps follow, with the
gradient of the problem without the row, and with its Hessian where the score moves by more than a half. Rows are
refined in the order of that move, within a stated amount of work; the result says how many were left with one step.

When it misleads: (1) on its own the influence function correlates only 0.8 with refitting where rows have high leverage
(rare categories, weak penalties); that is what the further steps are for. (2) It is about the optimum: a fit that was
stopped early is another model (see the caveats). (3) One row at a time: equal rows mask each other.

Cost. Rows times coefficients squared for H, then rows times coefficients for each refined row and step.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.data import Data
from pellucid.methods.influence.estimation.left_out import LeftOut, Request, spread_apart
from pellucid.methods.influence.estimation.point_loss import PointLoss, coded, point_loss
from pellucid.methods.influence.linear import Fitted, coefficient_names, inverted
from pellucid.models.families import clipped
from pellucid.models.linear import Link
from pellucid.models.linear_fit import LinearFit
from pellucid.models.outcome import outcome_for

_MOVED, _FAR = 0.05, 0.5  # moves of a row's own score
_MOVED_BENT = 0.01  # the first, where curvatures change with the score as much as that of a deviance
_STEPS, _CLOSE = 15, 1e-6
_WORK = 3e9  # multiplications for refined rows
_CELLS = 1 << 21
_TOUCHED = 1e-3  # change of a row's curvature, as a share of the largest, from which on it is taken anew


def function(
    request: Request, fit: LinearFit, link: Link, *, work: float = _WORK, moved: float | None = None, far: float = _FAR
) -> LeftOut:
    """The models without each row, by Newton steps."""
    q, data = request, request.data
    table = q.predictor.dressed(data.frame)
    problem = Problem.of(fit, fit.matrix(table), outcome_for(q.predictor, data), data.weights, fit.offset(table))
    change, own, leverage = problem.one_step()
    if moved is None:
        moved = _MOVED if fit.family is None else _MOVED_BENT
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
        errors=None if hidden else problem.errors(fit),
        leverage=leverage / max(problem.theta.shape[1] - 1, 1),
        residual=problem.residual(fit),
        apart=spread_apart(q.run.predict(q.predictor, some, full=True), form.present(some)),
        notes={"steps": fit.steps, "theta": problem.theta, **refined},
        again=_Again(problem, form),
    )


@dataclass(frozen=True, eq=False)
class _Again:
    """Models without rows to the last digit, by Newton's method over all other rows."""

    problem: Problem
    form: Fitted

    def __call__(self, units: IntArray, rows: Data) -> tuple[FloatArray, FloatArray]:
        p, change = self.problem, np.empty((len(units), *self.problem.theta.shape))
        for b, i in enumerate(units):
            w = p.w.copy()
            w[i] = 0
            other = replace(p, w=w, penalty=p.less, theta=p.theta - self.form.change[i])
            change[b] = p.theta - other.optimum(1e-4)
        exact = replace(self.form, change=change)
        return self.form.present(rows), exact(np.arange(len(units)), rows)


@dataclass(frozen=True, eq=False)
class Problem:
    """The penalised loss with coefficients theta ``(lines, scores)``, at its optimum after `of`.

    ``less`` is the penalty of the problem without one row: all of it, or where it stands beside a mean a little less.
    """

    loss: PointLoss
    A: FloatArray
    Y: FloatArray
    w: FloatArray
    offset: FloatArray | float
    penalty: FloatArray
    less: FloatArray
    theta: FloatArray

    @classmethod
    def of(
        cls, fit: LinearFit, A: FloatArray, y: FloatArray, w: FloatArray, offset: FloatArray | float = 0.0
    ) -> Problem:
        """That of a model, from its own coefficients on."""
        penalty = less = fit.penalty
        if fit.averaged:
            penalty, less = fit.penalty * w.sum(), fit.penalty * (w.sum() - w[w > 0].mean())
        start = cls(point_loss(fit), A, coded(fit, y), w, offset, penalty, less, fit.theta)
        return replace(start, theta=start.optimum())

    def sums(self, theta: FloatArray) -> FloatArray:
        """Scores of the rows."""
        return np.asarray(self.A @ theta + self.offset)

    @cached_property
    def bent(self) -> FloatArray:
        """The curvature of each row's loss."""
        return self.loss.curvature(self.sums(self.theta), self.Y)

    @cached_property
    def slopes(self) -> FloatArray:
        """The slope of each row's loss."""
        return self.loss.slopes(self.sums(self.theta), self.Y)

    @cached_property
    def hessian(self) -> FloatArray:
        """Second derivatives at theta, with the penalty of the problem without a row."""
        return hessian(self.A, self.w, self.bent, self.less)

    @cached_property
    def inverse(self) -> FloatArray:
        return inverted(self.hessian)

    def residual(self, fit: LinearFit) -> FloatArray:
        """Outcome minus prediction; of classes 1 minus the probability of the true one, below 0 for the first of 2."""
        if fit.family is None:
            return np.asarray((-self.slopes).max(axis=1) if self.Y.shape[1] > 1 else -self.slopes[:, 0])
        return np.asarray(self.Y[:, 0] - fit.family[1].inverse(self.sums(self.theta)[:, 0]))

    def errors(self, fit: LinearFit) -> FloatArray:
        """Standard errors of the coefficients of one score, with the dispersion by Pearson's residuals."""
        found = np.sqrt(np.maximum(np.diag(self.inverse), 0))[:, None]
        if fit.family is None or not fit.family[0].dispersed:
            return found
        family, link = fit.family
        mu = clipped(link.inverse(self.sums(self.theta)[:, 0]), family)
        pearson = self.w @ (np.square(self.Y[:, 0] - mu) / family.variance(mu))
        return np.asarray(found * np.sqrt(pearson / max(self.w.sum() - len(self.theta), 1e-12)))

    def optimum(self, close: float = 1e-8) -> FloatArray:
        """The exact minimum, by Newton's method from theta on, with steps halved while they harm."""
        theta, value = self.theta, self.value(self.theta)
        for _ in range(_STEPS):
            sums = self.sums(theta)
            gradient = self.A.T @ (self.w[:, None] * self.loss.slopes(sums, self.Y)) + self.penalty[:, None] * theta
            H = hessian(self.A, self.w, self.loss.curvature(sums, self.Y), self.penalty)
            step = (inverted(H) @ gradient.ravel()).reshape(theta.shape)
            factor = 1.0
            while not (after := self.value(theta - factor * step)) <= value and factor > 1e-4:
                factor /= 2
            if not after <= value:
                break
            theta, value = theta - factor * step, after
            if np.abs(self.A @ step).max() < close:
                break
        return theta

    def value(self, theta: FloatArray) -> float:
        """What is minimised."""
        each = self.loss.value(self.sums(theta), self.Y)[self.w > 0]
        return float(self.w[self.w > 0] @ each + 0.5 * (self.penalty[:, None] * np.square(theta)).sum())

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
            W = self.w[rows][:, None, None] * self.bent[rows]
            S = np.einsum("ikql,iq->ikl", blocks, A, optimize=True)
            pull = -self.w[rows][:, None] * self.slopes[rows]
            pull = np.linalg.solve(np.eye(S.shape[1]) - W @ S, pull[..., None])[..., 0]
            change[rows] = np.einsum("ikql,ik->iql", blocks, pull, optimize=True)
            if (self.less != self.penalty).any():
                lighter = (self.less - self.penalty)[:, None] * self.theta
                change[rows] += _without(self, rows, np.broadcast_to(lighter, change[rows].shape))
            own[rows] = np.abs(np.einsum("ip,ipk->ik", A, change[rows])).max(axis=1)
            leverage[rows] = np.trace(W @ S, axis1=1, axis2=2)
        return change, own, leverage

    def rest(self, theta: FloatArray, rows: IntArray) -> tuple[FloatArray, FloatArray]:
        """Gradients at thetas ``(many, lines, scores)``, each without its row, and the scores there."""
        many, lines, scores = theta.shape
        sums = (self.A @ theta.transpose(1, 0, 2).reshape(lines, -1)).reshape(len(self.A), many, scores)
        sums = sums + np.reshape(self.offset, (-1, 1, 1))
        Y = np.repeat(self.Y, many, axis=0)
        slopes = self.loss.slopes(sums.reshape(-1, scores), Y).reshape(sums.shape)
        left = self.w[:, None, None] * slopes
        left[rows, np.arange(many)] = 0.0
        gradient = (self.A.T @ left.reshape(len(self.A), -1)).reshape(lines, many, scores).transpose(1, 0, 2)
        return gradient + self.less[:, None] * theta, sums


def _refine(
    problem: Problem, change: FloatArray, own: FloatArray, work: float, moved: float, far: float
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


def _without(problem: Problem, rows: IntArray, gradient: FloatArray) -> FloatArray:
    """The Hessian at theta without each row, inverted, times a gradient ``(rows, lines, scores)``."""
    _, lines, scores = gradient.shape
    step = (gradient.reshape(len(rows), -1) @ problem.inverse).reshape(-1, lines, scores)
    blocks, w = problem.blocks(rows), problem.w[rows][:, None, None]
    S = np.einsum("ikql,iq->ikl", blocks, problem.A[rows])
    W = w * problem.bent[rows]
    at = np.einsum("ip,ipk->ik", problem.A[rows], step)[..., None]
    pull = np.linalg.solve(np.eye(scores) - W @ S, W @ at)[..., 0]
    return np.asarray(step + np.einsum("ikql,ik->iql", blocks, pull))


def _newton(problem: Problem, rows: IntArray, change: FloatArray) -> FloatArray:
    """Newton's method without each row, from one step on; only rows whose curvature has changed enter the Hessian."""
    change = change.copy()
    live = np.arange(len(rows))
    bent, largest = problem.bent, float(np.abs(problem.bent).max(initial=0.0))
    for _ in range(_STEPS):
        gradient, sums = problem.rest(problem.theta - change[live], rows[live])
        step = np.empty_like(gradient)
        for b in range(len(live)):
            w = problem.w.copy()
            w[rows[live[b]]] = 0
            anew = problem.loss.curvature(sums[:, b], problem.Y)
            moved = np.abs(anew - bent).max(axis=(1, 2)) > _TOUCHED * largest
            touched = np.flatnonzero(moved | (w != problem.w))
            more = w[touched, None, None] * anew[touched] - problem.w[touched, None, None] * bent[touched]
            H = problem.hessian + _gram(problem.A[touched], more)
            step[b] = np.linalg.solve(_definite(H), gradient[b].ravel()).reshape(step[b].shape)
        change[live] += step
        size = np.abs(step).max(axis=(1, 2)) / np.maximum(np.abs(change[live]).max(axis=(1, 2)), 1e-300)
        live = live[size > _CLOSE]
        if not len(live):
            break
    return change


def hessian(A: FloatArray, w: FloatArray, bent: FloatArray, penalty: FloatArray) -> FloatArray:
    """Of the penalised loss, ``(lines * scores, lines * scores)``, from the curvature of each row's.

    Scores of all classes may be shifted together where no penalty forbids it; that direction, which no prediction
    depends on, is held.
    """
    scores = bent.shape[1]
    H = _gram(A, w[:, None, None] * bent) + np.kron(np.diag(penalty), np.eye(scores))
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
