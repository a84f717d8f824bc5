"""How strongly two features are associated, whatever their kinds: one number from 0 to 1.

Two numeric features: the absolute Pearson correlation. A numeric and a categorical one: the
correlation ratio sqrt(SSB / SST), the square root of the variance explained by the categories. Two
categorical ones: Cramer's V. Missing values form a category of their own, and are left out for numbers.

`rank_association` replaces numbers by their ranks (Spearman 1904; the correlation ratio then is that of Kruskal and
Wallis), so that any monotone relation counts in full, and takes off what chance alone would give: of n rows in k
categories (k - 1) / (n - 1) of the variance (Kelley 1935), and for Cramer's V as in Bergsma 2013. Without that a
column with almost as many categories as rows would be associated with everything.
"""

from __future__ import annotations

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.data.sampling.margin import Margin, count_rows, nominal_features
from pellucid.data.table import Data


def association_matrix(data: Data, rows: int = 20_000) -> FloatArray:
    """Association of every pair of features, from at most ``rows`` evenly spaced rows that count."""
    columns, weights = _columns(data, rows)
    nominal = [feature.kind in ("categorical", "boolean") for feature in data.schema.features]
    matrix = np.eye(len(columns))
    numeric = [j for j, is_nominal in enumerate(nominal) if not is_nominal]
    if numeric:
        matrix[np.ix_(numeric, numeric)] = np.abs(correlations(np.stack([columns[j] for j in numeric]), weights))
    groups = {j: group_numbers(columns[j]) for j, is_nominal in enumerate(nominal) if is_nominal}
    for j, own in groups.items():
        for k in range(len(columns)):
            if k not in groups:
                matrix[j, k] = matrix[k, j] = correlation_ratio(columns[k], own, weights)
            elif k < j:
                matrix[j, k] = matrix[k, j] = cramers_v(own, groups[k], weights)
    return matrix


def _columns(data: Data, rows: int) -> tuple[list[FloatArray], FloatArray]:
    """The codes of the rows looked at, and their weights."""
    chosen = data.spread(rows)
    chosen = chosen[data.weights[chosen] > 0]
    return [data.codes(j)[chosen] for j in range(len(data.schema.features))], data.weights[chosen]


def rank_association(data: Data, rows: int = 20_000) -> FloatArray:
    """Association of every pair of features by ranks, less what chance gives, ``(features, features)``; signed where
    both are numbers.
    """
    columns, weights = _columns(data, rows)
    n = count_rows(weights)
    nominal = nominal_features(data)
    ranked = [c if is_nominal else mid_ranks(c, weights) for c, is_nominal in zip(columns, nominal, strict=True)]
    matrix = np.eye(len(columns))
    numeric = np.flatnonzero(~nominal)
    if numeric.size:
        matrix[np.ix_(numeric, numeric)] = correlations(np.stack([ranked[j] for j in numeric]), weights)
    groups = {int(j): group_numbers(columns[j]) for j in np.flatnonzero(nominal)}
    for j, own in groups.items():
        for k in range(len(columns)):
            if k not in groups:
                share = correlation_ratio(ranked[k], own, weights) ** 2
                matrix[j, k] = matrix[k, j] = np.sqrt(_less_chance(share, len(np.unique(own)), n))
            elif k < j:
                matrix[j, k] = matrix[k, j] = corrected_v(own, groups[k], weights, n)
    return matrix


def mid_ranks(codes: FloatArray, weights: FloatArray) -> FloatArray:
    """The share of rows below each value and half of those that share it; NaN where missing."""
    margin = Margin.of(codes, weights)
    low, high = margin.intervals(codes)
    return np.where(np.isnan(codes), np.nan, (low + high) / 2)


def slice_association(ranks: FloatArray, other: FloatArray, weights: FloatArray, slices: int = 10) -> float:
    """Correlation ratio of one feature's ranks over slices of another's, less what chance gives: sees curves that
    turn.
    """
    groups = np.where(np.isnan(other), slices, np.minimum(other * slices, slices - 1)).astype(np.intp)
    share = correlation_ratio(ranks, groups, weights) ** 2
    return float(np.sqrt(_less_chance(share, len(np.unique(groups)), count_rows(weights))))


def _less_chance(share: float, groups: int, n: float) -> float:
    """A share of variance explained by groups, less what as many groups of random rows explain; a complete one stays
    1.
    """
    chance = (groups - 1) / (n - 1) if n > 1 else 1.0
    return max(0.0, (share - chance) / (1 - chance)) if chance < 1 else 0.0


def corrected_v(rows: IntArray, columns: IntArray, weights: FloatArray, n: float) -> float:
    """Cramer's V of two categorical features, less what chance gives (Bergsma 2013)."""
    r, c = len(np.unique(rows)) - 1, len(np.unique(columns)) - 1
    if min(r, c) < 1 or n <= 1:
        return 0.0
    phi2 = cramers_v(rows, columns, weights) ** 2 * min(r, c)
    least = min(r - r * r / (n - 1), c - c * c / (n - 1))
    return float(np.sqrt(min(max(0.0, phi2 - r * c / (n - 1)) / least, 1.0))) if least > 0 else 0.0


def group_numbers(labels: FloatArray) -> IntArray:
    """The group of each row, counted from zero; missing labels are a group of their own."""
    return np.unique(labels, return_inverse=True)[1]


def correlations(columns: FloatArray, weights: FloatArray) -> FloatArray:
    """Weighted Pearson correlations of the lines of numbers; each pair uses the rows where both are present."""
    present = ~np.isnan(columns)
    filled = np.where(present, _centred(columns, weights), 0.0)
    there = present.astype(np.float64)
    mass = (there * weights) @ there.T
    sums = (filled * weights) @ there.T
    squares = (np.square(filled) * weights) @ there.T
    products = (filled * weights) @ filled.T
    with np.errstate(invalid="ignore", divide="ignore"):
        covariance = products - sums * sums.T / mass
        variance = squares - np.square(sums) / mass
        # What is left of a column that is constant where the other is present is rounding, not variance.
        variance[variance <= 1e-12 * squares] = 0.0
        matrix = covariance / np.sqrt(variance * variance.T)
    matrix = np.clip(np.where(np.isfinite(matrix), matrix, 0.0), -1.0, 1.0)
    np.fill_diagonal(matrix, 1.0)
    return matrix


def _centred(columns: FloatArray, weights: FloatArray) -> FloatArray:
    """Rows of numbers less their weighted mean; exactly zero for a constant, NaN where missing."""
    present = ~np.isnan(columns)
    first = np.take_along_axis(columns, present.argmax(axis=-1)[..., None], axis=-1)
    shifted = columns - first
    mass = (present * weights).sum(axis=-1, keepdims=True)
    total = (np.where(present, shifted, 0.0) * weights).sum(axis=-1, keepdims=True)
    return np.asarray(shifted - total / np.where(mass > 0, mass, 1.0))


def correlation_ratio(numbers: FloatArray, groups: IntArray, weights: FloatArray) -> float:
    """sqrt(SSB / SST) of a numeric feature over the groups of a categorical one."""
    present = ~np.isnan(numbers)
    numbers, groups, weights = numbers[present], groups[present], weights[present]
    if not weights.sum() > 0:
        return 0.0
    centred = _centred(numbers, weights)
    total = float(weights @ np.square(centred))
    if total == 0.0 or groups.min() == groups.max():
        return 0.0
    mass = np.bincount(groups, weights=weights)
    sums = np.bincount(groups, weights=weights * centred)
    between = float((np.square(sums[mass > 0]) / mass[mass > 0]).sum())
    return float(np.sqrt(min(between / total, 1.0)))


def cramers_v(rows: IntArray, columns: IntArray, weights: FloatArray) -> float:
    """Cramer's V of the groups of two categorical features."""
    shape = (int(rows.max()) + 1, int(columns.max()) + 1)
    if min(shape) < 2:
        return 0.0
    table = np.bincount(rows * shape[1] + columns, weights=weights, minlength=shape[0] * shape[1]).reshape(shape)
    total = table.sum()
    expected = table.sum(1, keepdims=True) * table.sum(0, keepdims=True) / total
    seen = expected > 0
    chi2 = float((np.square(table - expected)[seen] / expected[seen]).sum())
    return float(np.sqrt(min(chi2 / (total * (min(shape) - 1)), 1.0)))
