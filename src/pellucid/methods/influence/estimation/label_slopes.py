"""How one prediction hangs on the outcome of each training row: derivatives of its score by outcomes.

The score is s = toward' f(x): the predicted number, or the score of one class less that of another. With Y the outcomes
``(rows, columns)`` (indicators of classes; one column where the model has one score), `Slopes` gives ds / dY:

    least squares:   w_i a_x' H^-1 a_i                  exact for any change, as predictions are linear in y
    log loss:        the same, H the Hessian at the fit  one Newton step: the Hessian does not depend on y
    averaged trees:  the mean over trees of [same leaf] mass_i / mass of the leaf       splits kept
    boosted trees:   one backward pass (`BoostedRows.label_slopes`)                     splits kept, to first order
    anything else:   1 - Gower's distance of x and the row: near rows first, no derivative

`at` takes the outcomes at which slopes are wanted, so that they can be taken anew after some are changed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from pellucid.arrays import FloatArray
from pellucid.data import Data
from pellucid.data.distance import RowDistance
from pellucid.methods.influence.estimation.point_loss import LogLoss
from pellucid.methods.influence.function import Problem, hessian
from pellucid.methods.influence.linear import inverted
from pellucid.models import Predictor
from pellucid.models.linear_fit import LinearFit
from pellucid.models.outcome import outcome_for
from pellucid.reading.trees import Refusal, read_trees
from pellucid.runner import Run
from pellucid.trees.convert.training import Averaging, Boosting, training
from pellucid.trees.convert.tree_model import Unsupported
from pellucid.trees.ensemble import TreeEnsemble
from pellucid.trees.leaf_fit import BoostedRows, best_constant, places
from pellucid.trees.leaf_means import leaf_mass


@dataclass(frozen=True, eq=False)
class Slopes:
    """``Y`` are the outcomes as the model has them, ``levels`` ``(labels, columns)`` the code of each class; ``at``
    gives slopes ``(rows, columns)`` at other outcomes. ``how`` names the way, "closed form" is exact; ``linked``: the
    score is one of log-odds.
    """

    how: str
    Y: FloatArray
    levels: FloatArray
    at: Callable[[FloatArray], FloatArray]
    linked: bool = False


def label_slopes(
    predictor: Predictor, data: Data, x: Data, toward: FloatArray, fit: LinearFit | None, run: Run
) -> Slopes:
    """Slopes of the score ``toward' f(x)`` (one entry per column of a full prediction), by the best way there is."""
    if fit is not None:
        return _linear(predictor, data, x, toward, fit)
    found = _trees(predictor, data, x, toward, run)
    return _near(predictor, data, x, toward) if found is None else found


def _coded(predictor: Predictor, data: Data, columns: int) -> tuple[FloatArray, FloatArray]:
    """Outcomes and classes in so many columns."""
    y = outcome_for(predictor, data)
    if predictor.classes is None:
        return y, np.empty((0, 1))
    levels = np.arange(2.0)[:, None] if columns == 1 else np.eye(columns)
    return levels[y.astype(np.intp)], levels


def _of_scores(toward: FloatArray, scores: int) -> FloatArray:
    """The same direction where two classes have one score."""
    return toward[-1:] if scores == 1 else toward


def _linear(predictor: Predictor, data: Data, x: Data, toward: FloatArray, fit: LinearFit) -> Slopes:
    A, own = (fit.matrix(predictor.dressed(part.frame)) for part in (data, x))
    w, scores = data.weights, fit.theta.shape[1]
    Y, levels = _coded(predictor, data, scores)
    direction = np.outer(own[0], _of_scores(toward, scores))
    if fit.loss == "squared":
        centre = np.average(A, axis=0, weights=w) if fit.intercept and fit.penalty[0] == 0 else np.zeros(A.shape[1])
        centre[0] = 0.0 if fit.intercept else centre[0]
        inverse = inverted(((A - centre) * w[:, None]).T @ (A - centre) + np.diag(fit.penalty))
        exact = w[:, None] * ((A - centre) @ (inverse @ (direction - np.outer(centre, direction[0]))))
        return Slopes("closed form", Y, levels, lambda _: exact)

    start = Problem(LogLoss(), A, Y, w, 0.0, fit.penalty, fit.penalty, fit.theta)

    def at(labels: FloatArray) -> FloatArray:
        there = replace(start, Y=labels)
        there = replace(there, theta=there.optimum())
        H = hessian(A, w, there.bent, fit.penalty)
        return np.asarray(w[:, None] * (A @ (inverted(H) @ direction.ravel()).reshape(direction.shape)))

    return Slopes("Newton steps", Y, levels, at, linked=True)


def _trees(predictor: Predictor, data: Data, x: Data, toward: FloatArray, run: Run) -> Slopes | None:
    read = read_trees(run, predictor, data)
    if isinstance(read, Refusal):
        return None
    try:
        how = training(predictor.model, int((data.weights > 0).sum()))
    except Unsupported:
        return None
    ensemble = read.model.ensemble
    X, own = (read.model.encode(predictor.dressed(part.frame)) for part in (data, x))
    Y, levels = _coded(predictor, data, ensemble.n_outputs)
    if Y.shape[1] != ensemble.n_outputs:
        return None
    direction = _of_scores(toward, ensemble.n_outputs)
    if isinstance(how, Averaging):
        return _averaged(ensemble, how, X, own, data.weights, direction, Y, levels)
    if ensemble.width > 1 or len(ensemble.roots) % ensemble.n_outputs:
        return None
    return _boosted(ensemble, how, X, own, data.weights, direction, Y, levels)


def _averaged(
    ensemble: TreeEnsemble,
    how: Averaging,
    X: FloatArray,
    x: FloatArray,
    w: FloatArray,
    toward: FloatArray,
    Y: FloatArray,
    levels: FloatArray,
) -> Slopes | None:
    drawn = np.ones((len(ensemble.roots), len(X))) if how.drawn is None else how.drawn
    if drawn.shape != (len(ensemble.roots), len(X)):
        return None
    share = np.outer(leaf_mass(ensemble.leaves(X), drawn * w, ensemble.leaves(x)[0]), toward)
    return Slopes("trees kept", Y, levels, lambda _: share)


def _boosted(
    ensemble: TreeEnsemble,
    how: Boosting,
    X: FloatArray,
    x: FloatArray,
    w: FloatArray,
    toward: FloatArray,
    Y: FloatArray,
    levels: FloatArray,
) -> Slopes:
    own = places(ensemble, x)[0]

    def at(labels: FloatArray) -> FloatArray:
        rows = BoostedRows.of(how, ensemble, X, np.ascontiguousarray(labels))
        base = best_constant(labels, w, how) if how.start else ensemble.base
        return rows.label_slopes(rows.fit(w, base), w, own, toward)

    return Slopes("trees kept", Y, levels, at, linked=how.loss != "squared")


def _near(predictor: Predictor, data: Data, x: Data, toward: FloatArray) -> Slopes:
    Y, levels = _coded(predictor, data, len(toward))
    learnt = RowDistance.learn(data, "gower")
    own, others = (np.column_stack([part.codes(j) for j in range(len(data.schema.features))]) for part in (x, data))
    near = np.where(data.weights > 0, 1 - learnt.between(own, others)[0], 0.0)
    slopes = np.outer(near, toward if Y.shape[1] == len(toward) else toward[-1:])
    return Slopes("near rows", Y, levels, lambda _: slopes)
