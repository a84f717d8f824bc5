"""Influence through leaf values of trees: every split is kept, leaf values are fitted again without a row.

Sharchilev, Ustinovskiy, Serdyukov and de Rijke 2018, "Finding influential training samples for gradient boosted
decision trees" (LeafRefit and LeafInfluence).

Definition. With the splits of all trees kept, f(-i) has the leaf values that fitting without row i gives: of single
trees and forests the means of the rows left in each leaf; of boosted trees the Newton values - rate G / (H + l2) of one
iteration after the other, each at the scores that the earlier ones now give. Influence is f - f(-i).

Estimator. Of averaged trees exact. Of boosted trees one backward pass for each explained score gives all rows at once
(`pellucid.trees.leaf_fit`), exact but for the square of the change of scores; the ten strongest rows are then refitted
leaf by leaf, exactly.

When it misleads: (1) really leaving out a row moves splits, which changes predictions several times as much, for any
row alike; the result puts that beside it (the jolt, and refits of the strongest rows), and below it no single row is to
blame. (2) The leaf values of the model itself are reproduced first; a model whose leaves are fitted otherwise (L1
penalties, sampled rows, early stopping on held-out rows, monotone constraints) is refused.

Cost. Rows times trees for each explained score; for checks six refits, or three where rows times trees are many.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.data import Data
from pellucid.errors import InputError
from pellucid.methods.influence.deletion import RefittedUnits, residual_of
from pellucid.methods.influence.estimation.left_out import LeftOut, Request
from pellucid.methods.influence.estimation.measured import SOME, differences
from pellucid.models.clone import is_estimator
from pellucid.models.outcome import outcome_for
from pellucid.reading.trees import Refusal, Trees, read_trees
from pellucid.trees.convert.training import Averaging, Boosting, training
from pellucid.trees.convert.tree_model import Unsupported
from pellucid.trees.leaf_fit import BoostedRows, best_constant, places
from pellucid.trees.leaf_means import leaf_means, without_each
from pellucid.trees.predict import predict, predictions

_DOUBLE, _SINGLE = 1e-7, 1e-4  # of the largest leaf value: libraries that add up in double and in single precision
_EXACT = 10


def leaves(request: Request) -> LeftOut:
    """The models without each row, splits kept; an error where the model's own leaf values are not reproduced."""
    if request.units is not None:
        raise InputError("together= leaves sets of rows out by refitting; use method='deletion'.")
    if request.on == "parameters":
        raise InputError("on='parameters' needs a model with coefficients; use on='predictions'.")
    found = _kept(request)
    if isinstance(found, str):
        raise InputError(f"method='leaves' does not serve here: {found}; use method='deletion'.")
    return found


def leaves_or_none(request: Request) -> LeftOut | None:
    """The same, or None where it does not serve."""
    found = _kept(request)
    return None if isinstance(found, str) else found


def _kept(request: Request) -> LeftOut | str:
    q, data = request, request.data
    read = read_trees(q.run, q.predictor, data)
    if isinstance(read, Refusal):
        return read.reason
    try:
        how = training(q.predictor.model, int((data.weights > 0).sum()))
    except Unsupported as reason:
        return str(reason)
    rows = data.take(data.spread(SOME)) if q.target is None else q.target
    matrices = [read.model.encode(q.predictor.dressed(part.frame)) for part in (data, rows)]
    kept = _averaged(q, read, how, *matrices) if isinstance(how, Averaging) else _boosted(q, read, how, *matrices)
    if isinstance(kept, str):
        return kept
    models = _Kept(q, read, predict(read.model.ensemble, matrices[1]), kept)
    if isinstance(how, Boosting):
        _strongest_exactly(q, models, rows)
    return LeftOut(
        how="trees kept",
        tried=np.arange(len(data)),
        present=models.present,
        without=models,
        residual=residual_of(q.predictor, data, q.run.predict(q.predictor, data, full=True)),
        again=RefittedUnits(q, given=_seeded(q)) if q.refit is not None or is_estimator(q.predictor.model) else None,
        grown=True,
        costly=len(data) * len(read.model.ensemble.roots) > q.run.limits.refitted,
        notes={"leaf_error": kept.error},
    )


@dataclass(frozen=True, eq=False)
class _Changes:
    """Changes of scores ``(rows, others, scores)`` without each row, how well leaf values were reproduced, and the same
    for one row exactly.
    """

    scores: FloatArray
    error: float
    exactly: Callable[[int], FloatArray] | None = None


def _seeded(request: Request) -> bool:
    """Whether fitting to all rows again gives the model itself, whose leaf values were reproduced from them."""
    return request.refit is None and getattr(request.predictor.model, "random_state", None) is not None


def _averaged(request: Request, read: Trees, how: Averaging, X: FloatArray, at: FloatArray) -> _Changes | str:
    ensemble, data, predictor = read.model.ensemble, request.data, request.predictor
    y = outcome_for(predictor, data)
    Y = y if predictor.classes is None else np.eye(ensemble.n_outputs)[y.astype(np.intp)]
    drawn = np.ones((len(ensemble.roots), len(data))) if how.drawn is None else how.drawn
    if drawn.shape != (len(ensemble.roots), len(data)) or Y.shape[1] != ensemble.n_outputs:
        return "rows without weight, or several models in one, are not followed through forests"
    mass, leaf = drawn * data.weights, ensemble.leaves(X)
    ends = ensemble.nodes.feature < 0
    means = leaf_means(ensemble, leaf, Y, mass) / len(ensemble.roots)
    error = _error(means[ends], ensemble.nodes.value[ends] + 0.0)
    if error > _DOUBLE:
        return _not_reproduced(request, error)
    return _Changes(without_each(ensemble, leaf, Y, mass, ensemble.leaves(at)), error)


def _boosted(request: Request, read: Trees, how: Boosting, X: FloatArray, at: FloatArray) -> _Changes | str:
    ensemble, data, predictor = read.model.ensemble, request.data, request.predictor
    if ensemble.width > 1 or len(ensemble.roots) % ensemble.n_outputs:
        return "trees with one leaf value per class are not refitted leaf by leaf"
    y, w = outcome_for(predictor, data), data.weights
    Y = y if how.loss == "squared" else (y[:, None] == np.arange(ensemble.n_outputs)).astype(np.float64)
    Y = (y == 1).astype(np.float64)[:, None] if how.loss == "logistic" else Y
    if Y.shape[1] != ensemble.n_outputs:
        return "trees for several outcomes are not refitted leaf by leaf"
    rows = BoostedRows.of(how, ensemble, X, np.ascontiguousarray(Y.reshape(len(Y), -1)))
    best = best_constant(rows.Y, w, how)
    base = best if how.within else ensemble.base
    near = 1e-5 * max(1.0, float(np.abs(best).max()))
    follows = how.start and (how.within or float(np.abs(best - ensemble.base).max()) < near)
    fit = rows.fit(w, base, rounded=True)
    own = rows.own_values(base)
    ends = [ensemble.nodes.feature[r : r + s] < 0 for r, s in zip(ensemble.roots, rows.sizes, strict=True)]
    joined = [np.concatenate([v[e] for v, e in zip(part, ends, strict=True)]) for part in (fit.values, own)]
    error = _error(*joined)
    if error > (_SINGLE if predictor.library == "xgboost" else _DOUBLE):
        return _not_reproduced(request, error)
    fit = rows.fit(w, base) if how.single else fit
    moved = _moved(rows, w, how) if follows else np.zeros_like(rows.Y)
    there = places(ensemble, at)

    def exactly(i: int) -> FloatArray:
        without = w.copy()
        without[i] = 0
        again = rows.fit(without, base + moved[i])
        return rows.scores_of(again, there) - rows.scores_of(fit, there)

    return _Changes(rows.adjoint(fit, w, moved, there), error, exactly)


def _moved(rows: BoostedRows, w: FloatArray, how: Boosting) -> FloatArray:
    """The change of the best constant without each row."""
    total, sums = w.sum(), w @ rows.Y
    mean = (sums - w[:, None] * rows.Y) / np.maximum(total - w, 1e-300)[:, None]
    if how.loss == "squared":
        moved = mean - sums / total
    else:
        mean = np.clip(mean, 1e-12, 1 - 1e-12)
        if how.loss == "logistic":
            moved = np.log(mean / (1 - mean))
        else:
            moved = np.log(mean) if how.within else np.log(mean) - np.log(mean).mean(axis=1, keepdims=True)
        moved = moved - best_constant(rows.Y, w, how)
    return np.asarray(np.where((w > 0)[:, None], moved, 0.0))


def _error(made: FloatArray, own: FloatArray) -> float:
    """The largest difference of leaf values, as a share of the largest of them."""
    size = float(np.abs(own).max(initial=0.0))
    return float(np.abs(made - own).max(initial=0.0)) / size if size > 0 else float(np.abs(made).max(initial=0.0))


def _not_reproduced(request: Request, error: float) -> str:
    return (
        f"fitting the leaf values of {request.predictor.name} to X and y gives others than its own (by {error:.2g} of"
        " the largest): they are not its training rows, or it drew rows, stopped on held-out ones or was constrained"
    )


@dataclass(frozen=True, eq=False)
class _Kept:
    """Predictions from scores and their changes; the rows are those of the request."""

    request: Request
    read: Trees
    raw: FloatArray
    changes: _Changes

    def present(self, rows: Data) -> FloatArray:
        """With all rows."""
        assert len(rows) == len(self.raw)
        return self._linked(self.raw)

    def __call__(self, units: IntArray, rows: Data) -> FloatArray:
        assert len(rows) == len(self.raw)
        raw = self.raw + self.changes.scores[units]
        return self._linked(raw.reshape(-1, raw.shape[2])).reshape(len(units), len(self.raw), -1)

    def _linked(self, raw: FloatArray) -> FloatArray:
        full = predictions(raw, self.read.link, self.request.predictor.width, self.read.model.scale)
        assert full is not None
        return full


def _strongest_exactly(request: Request, models: _Kept, rows: Data) -> None:
    """The ten strongest rows by the backward pass, refitted leaf by leaf, in place."""
    units, present = np.arange(len(request.data)), models.present(rows)
    block = max(1, (1 << 22) // max(present.size, 1))
    parts = [
        np.abs(differences(request, present, models(units[s : s + block], rows), rows))
        for s in range(0, len(units), block)
    ]
    strength = np.concatenate([part.reshape(len(part), -1).sum(axis=1) for part in parts])
    exactly = models.changes.exactly
    assert exactly is not None
    for i in np.argsort(-strength, kind="stable")[:_EXACT]:
        models.changes.scores[i] = exactly(int(i))
