"""Linear surrogates: a sum of straight lines and of levels, of as many features as wanted.

References. Ribeiro, Singh and Guestrin 2016 for the use; Efroymson 1960 for forward selection.

Definition. g(x) = b_0 + sum_j b_j x_j over k features, a category having one number for each of its levels, which sum
to zero over the rows; fitted to the model's predictions f by weighted least squares. The features are chosen one by
one, each time the one that lowers the squared error (of all outputs) most. A missing number counts as the mean, and as
a level of its own where at least five rows lack it.

Estimator. The products of all columns with each other are summed once per fold; every step of the selection then takes
the chosen columns out of the others (Schur complement), so the rows are read once for all sizes.

When it misleads. (1) A line that goes through a curve says little about either end. (2) Of correlated features one is
chosen and speaks for the others; its number is not what the model does with it. (3) It says what the model does, not
what is true of the world. (4) Effects that depend on each other are averaged away: R2 tells how much.

Cost. One model row for each row; n q^2 for q columns, for each fold and once for all rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.data import Data
from pellucid.explanations.surrogate import LinearTerms
from pellucid.methods.surrogate.fitting.columns import level_words
from pellucid.methods.surrogate.fitting.task import Task, by_content
from pellucid.stats import weighted_mean

_RIDGE = 1e-8  # of the variance of a column, against columns that are sums of others
_FEWEST = 5  # rows of a level
_MOST = 40  # sizes on the curve


@dataclass(frozen=True, eq=False)
class Design:
    """Columns ``(rows, columns)`` in units of their spread, the feature that each belongs to, and what it is called.

    ``level`` is NaN for a number, else the code of a level (-1: missing); ``unit`` turns a coefficient into one per
    unit.
    """

    matrix: FloatArray
    feature: IntArray
    level: FloatArray
    unit: FloatArray

    @classmethod
    def of(cls, data: Data, weights: FloatArray) -> Design:
        """Numbers as they are, one column for each level."""
        columns: list[FloatArray] = []
        about: list[tuple[int, float]] = []
        for j in by_content(data)[0].tolist():
            codes = data.codes(j)
            lacks = np.isnan(codes)
            if data.schema.features[j].nominal:
                for level in np.unique(codes[~lacks]):
                    columns.append((codes == level).astype(np.float64))
                    about.append((j, float(level)))
            elif not lacks.all():
                mean = float(np.average(codes[~lacks], weights=weights[~lacks])) if weights[~lacks].any() else 0.0
                columns.append(np.where(lacks, mean, codes))
                about.append((j, np.nan))
            if lacks.sum() >= _FEWEST and not lacks.all():
                columns.append(lacks.astype(np.float64))
                about.append((j, -1.0))
        matrix = np.column_stack(columns) if columns else np.zeros((len(data), 0))
        matrix = matrix - weighted_mean(matrix, weights)
        spread = np.sqrt(weighted_mean(np.square(matrix), weights))
        varies = spread > 1e-12 * np.abs(matrix).max(axis=0, initial=0.0)
        matrix, spread = matrix[:, varies] / spread[varies], spread[varies]
        kept = [one for one, wanted in zip(about, varies, strict=True) if wanted]
        feature = np.array([j for j, _ in kept], dtype=np.intp)
        return cls(matrix, feature, np.array([level for _, level in kept]), spread)


@dataclass(frozen=True, eq=False)
class LinearFitter:
    """Sums of one, two, ... features over the rows of a task."""

    task: Task
    design: Design
    sizes: Sequence[int]

    @classmethod
    def of(cls, task: Task, size: int | None) -> LinearFitter:
        """One feature, two features, ... all of them."""
        design = Design.of(task.data, task.weights)
        p = max(len(np.unique(design.feature)), 1)
        known = np.unique(np.linspace(1, p, min(p, _MOST)).round().astype(int))
        return cls(task, design, tuple(sorted({*known.tolist(), min(size or p, p)})))

    def fit(self, rows: IntArray) -> FittedLines:
        """The selection and its coefficients at every size."""
        Z, w, f = self.design.matrix[rows], self.task.weights[rows], self.task.scaled[rows]
        mean_z, mean_f = weighted_mean(Z, w), weighted_mean(f, w)
        Z, f = Z - mean_z, f - mean_f
        G, b = Z.T @ (Z * w[:, None]) / w.sum(), Z.T @ (f * w[:, None]) / w.sum()
        G[np.diag_indices_from(G)] += _RIDGE
        order = _selected(G, b, self.design.feature, max(self.sizes))
        beta = {size: _solved(G, b, self.design.feature, order[:size]) for size in self.sizes}
        return FittedLines(self.task, self.design, mean_z, mean_f, order, beta)


def _selected(G: FloatArray, b: FloatArray, feature: IntArray, most: int) -> list[int]:
    """Features in the order in which each lowers the squared error most; given those before."""
    G, b = G.copy(), b.copy()
    left = list(np.unique(feature).tolist())
    order: list[int] = []
    while left and len(order) < most:
        gains = [_gain(G, b, np.flatnonzero(feature == j)) for j in left]
        chosen = left.pop(int(np.argmax(gains)))
        own = np.flatnonzero(feature == chosen)
        inside = np.linalg.pinv(G[np.ix_(own, own)], rcond=1e-7, hermitian=True)
        share = G[:, own] @ inside
        b = b - share @ b[own]
        G = G - share @ G[own]
        order.append(int(chosen))
    return order


def _gain(G: FloatArray, b: FloatArray, own: IntArray) -> float:
    """What adding these columns takes off the squared error."""
    inside = np.linalg.pinv(G[np.ix_(own, own)], rcond=1e-7, hermitian=True)
    return float(np.einsum("ac,ab,bc->", b[own], inside, b[own]))


def _solved(G: FloatArray, b: FloatArray, feature: IntArray, chosen: list[int]) -> FloatArray:
    own = np.flatnonzero(np.isin(feature, chosen))
    beta = np.zeros_like(b)
    beta[own] = np.linalg.solve(G[np.ix_(own, own)], b[own])
    return beta


@dataclass(frozen=True, eq=False)
class FittedLines:
    """Coefficients ``(columns, outputs)`` of every size, and the features in the order in which they were chosen."""

    task: Task
    design: Design
    mean_z: FloatArray
    mean_f: FloatArray
    order: list[int]
    beta: dict[int, FloatArray]

    @property
    def largest(self) -> int:
        """All features."""
        return max(self.beta)

    def predict(self, rows: IntArray, size: int) -> FloatArray:
        """The sum for each row."""
        return np.asarray(((self.design.matrix[rows] - self.mean_z) @ self.beta[size] + self.mean_f) * self.task.unit)


def described(fitter: LinearFitter, fitted: FittedLines, size: int) -> LinearTerms:
    """The coefficients in the units of the features, the strongest feature first.

    The strength of a feature is the standard deviation of what it adds to the prediction.
    """
    task, design, data = fitter.task, fitter.design, fitter.task.data
    beta = fitted.beta[size] * task.unit
    chosen = fitted.order[:size]
    strength = {}
    for j in chosen:
        own = design.feature == j
        added = design.matrix[:, own] @ beta[own]
        strength[j] = np.sqrt(weighted_mean(np.square(added - weighted_mean(added, task.weights)), task.weights))
    first = sorted(chosen, key=lambda j: (-float(np.square(strength[j] / task.unit).sum()), j))
    names, features, values = [], [], []
    for j in first:
        for column in np.flatnonzero(design.feature == j).tolist():
            names.append(_name(data, j, float(design.level[column])))
            features.append(data.schema.names[j])
            values.append(beta[column] / design.unit[column])
    coefficients = np.array(values).reshape(len(names), task.outputs)
    return LinearTerms(
        names=tuple(names),
        owners=tuple(features),
        coefficients=_centred(coefficients, first, design, task),
        features=tuple(data.schema.names[j] for j in first),
        strengths=np.array([strength[j] for j in first]).reshape(len(first), task.outputs),
    )


def _centred(coefficients: FloatArray, first: list[int], design: Design, task: Task) -> FloatArray:
    """The numbers of the levels of a category such that they sum to zero over the rows."""
    start = 0
    out = coefficients.copy()
    for j in first:
        own = np.flatnonzero(design.feature == j)
        if task.data.schema.features[j].nominal:
            share = _levels(task, j, design.level[own])
            out[start : start + len(own)] -= share @ out[start : start + len(own)]
        start += len(own)
    return out


def _levels(task: Task, j: int, levels: FloatArray) -> FloatArray:
    """The share of the rows at each level."""
    codes = task.data.codes(j)
    inside = [np.isnan(codes) if level < 0 else codes == level for level in levels.tolist()]
    return np.array([task.weights[one].sum() for one in inside]) / task.weights.sum()


def _name(data: Data, j: int, level: float) -> str:
    name = data.schema.names[j]
    if np.isnan(level):
        return name
    return f"{name}: {'missing' if level < 0 else level_words(data, j, (int(level),))[0]}"
