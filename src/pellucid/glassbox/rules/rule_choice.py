"""How many terms, honestly: in each fold rules are grown anew without its rows, which are then predicted.

Rules that were grown on all rows have seen those that they are to be tried on, and look better than they are. Rows that
are the same are in the same fold, so that no row is predicted by its twin, and a row of weight two is the row twice.

What is compared is the mean loss of a number of terms and its neighbours, a quarter fewer to a quarter more: a path
jumps over some numbers, and which one happens to come out best of many is chance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from pellucid.arrays import AnyArray, FloatArray, IntArray
from pellucid.glassbox.base import Training
from pellucid.glassbox.rules.lasso import Path, Terms
from pellucid.glassbox.rules.rule_terms import Term, design

RELAX = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True, eq=False)
class Choice:
    """``loss`` (0, 1, ... terms; relaxations) on rows that were left out, its standard error, and what was chosen."""

    loss: FloatArray
    se: FloatArray
    terms: int
    relax: float


def same_rows(training: Training) -> IntArray:
    """The number of each row among the distinct ones."""
    y = training.y.astype(np.float64)
    cells = np.column_stack([y, np.where(np.isnan(training.codes), -np.inf, training.codes)])
    return np.unique(cells, axis=0, return_inverse=True)[1].ravel()


def folds(same: IntArray, y: AnyArray, count: int, classes: bool, seed: int) -> IntArray:
    """The fold of every row; classes are spread evenly."""
    distinct = int(same.max()) + 1
    order = np.random.default_rng(seed).permutation(distinct)
    if classes:
        label = np.empty(distinct, dtype=np.int64)
        label[same] = y
        order = order[np.argsort(label[order], kind="stable")]
    fold = np.empty(distinct, dtype=np.intp)
    fold[order] = np.arange(distinct) % count
    return fold[same]


def choose(
    training: Training, fold: IntArray, grow: Callable[[Training, int], Sequence[Term]], logistic: bool, most: int
) -> Choice:
    """The number of terms and the relaxation with the smallest loss, near it, on rows that were left out."""
    found, mass = [], []
    for k in range(int(fold.max()) + 1):
        inside, outside = part(training, fold != k), part(training, fold == k)
        terms = grow(inside, k)
        fitted = Terms(design(terms, inside.codes), inside.y.astype(np.float64), inside.weights, logistic)
        found.append(_losses(Path(fitted), design(terms, outside.codes), outside, logistic, most))
        mass.append(float(outside.weights.sum()))
    each, weight = np.array(found), np.array(mass) / sum(mass)
    loss = np.einsum("f,fkr->kr", weight, each)
    se = np.sqrt(np.einsum("f,fkr->kr", weight, (each - loss) ** 2) / max(1, len(each) - 1))
    return _chosen(loss, se)


def _chosen(loss: FloatArray, se: FloatArray) -> Choice:
    near = np.stack([loss[k - k // 4 : k + k // 4 + 1].mean(axis=0) for k in range(1, len(loss))])
    best = np.unravel_index(int(near.argmin()), near.shape)
    return Choice(loss, se, int(best[0]) + 1, RELAX[int(best[1])])


def part(training: Training, rows: AnyArray) -> Training:
    """Some of the rows."""
    return Training(training.codes[rows], training.y[rows], training.weights[rows])


def _losses(path: Path, Z: FloatArray, rows: Training, logistic: bool, most: int) -> FloatArray:
    """The mean loss on rows that were left out, by the number of terms (at most as many) and relaxation."""
    table = np.full((most + 1, len(RELAX)), np.nan)
    y, w = rows.y.astype(np.float64), rows.weights / rows.weights.sum()
    table[0] = _loss(np.full((len(y), 1), path.intercept), y, w, logistic)
    for fit in path.solutions(most):
        k = len(fit.chosen)
        if k <= most:
            b = np.stack([fit.coefficients(relax) for relax in RELAX], axis=1)
            table[k] = _loss(Z[:, fit.chosen] @ b[1:] + b[0], y, w, logistic)
    for k in range(1, most + 1):
        table[k] = np.where(np.isnan(table[k]), table[k - 1], table[k])
    return table


def _loss(score: FloatArray, y: FloatArray, w: FloatArray, logistic: bool) -> FloatArray:
    each = np.logaddexp(0.0, score) - y[:, None] * score if logistic else (y[:, None] - score) ** 2
    return np.asarray(w @ each)
