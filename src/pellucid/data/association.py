"""How strongly two features are associated, whatever their kinds: one number from 0 to 1.

Two numbers: the largest of the absolute correlation (Pearson), that of the ranks (Spearman 1904), and, so that
parabolas, cycles and circles count too, the correlation ratio of one's ranks, or of their distances from the middle,
over slices of the other. A number and a
category: the correlation ratio sqrt(SSB / SST) of the number or of its ranks (Kruskal and Wallis), the square root of
the variance explained by the categories. Two categories: Cramer's V. Missing values form a category of their own, and
are left out for numbers.

Ratios and V are less what chance alone would give: of n rows in k categories (k - 1) / (n - 1) of the variance (Kelley
1935), and for Cramer's V as in Bergsma 2013. Without that a column with almost as many categories as rows would be
associated with everything. What is left is still not nothing where rows are few: with ``chance`` an association counts
only where its measure, under independence, would be as large with at most that probability in any of the pairs
(Student's t, and chi-squared for ratios and V, times the number of pairs and measures).

`rank_association` is the same by ranks alone and signed, for what is only monotone.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.data.sampling.margin import Margin, count_rows, nominal_features
from pellucid.data.table import Data

_SLICES, _ROWS_A_SLICE = 10, 10
SLICED = 200  # features; in a wider table only what is monotone is looked for


def association_matrix(data: Data, rows: int = 20_000, *, chance: float | None = None) -> FloatArray:
    """Association of every pair of features, from at most ``rows`` evenly spaced rows that count."""
    columns, weights = _columns(data, rows)
    n, nominal = count_rows(weights), nominal_features(data)
    tests = max(len(columns) * (len(columns) - 1) / 2, 1.0)
    allowed = np.inf if chance is None else chance / tests
    matrix = np.eye(len(columns))
    ranked = [c if is_nominal else mid_ranks(c, weights) for c, is_nominal in zip(columns, nominal, strict=True)]
    numeric = np.flatnonzero(~nominal)
    if numeric.size:
        own, ranks = (np.stack([part[j] for j in numeric]) for part in (columns, ranked))
        matrix[np.ix_(numeric, numeric)] = _between_numbers(own, ranks, weights, n, allowed)
    groups = {int(j): group_numbers(columns[j]) for j in np.flatnonzero(nominal)}
    for j, labels in groups.items():
        for k in range(len(columns)):
            if k not in groups:
                matrix[j, k] = matrix[k, j] = _with_groups((columns[k], ranked[k]), labels, weights, n, allowed)
            elif k < j:
                found, free = corrected_v(labels, groups[k], weights, n), np.ptp(labels) * np.ptp(groups[k])
                phi2 = cramers_v(labels, groups[k], weights) ** 2 * min(np.ptp(labels), np.ptp(groups[k]))
                seen = float(_by_chance(np.array(n * phi2), int(free))) <= allowed
                matrix[j, k] = matrix[k, j] = found if seen else 0.0
    return matrix


def association_rows(data: Data, of: Sequence[int], rows: int = 20_000, *, chance: float | None = None) -> FloatArray:
    """Some lines of the matrix, ``(of, features)``, equal to rounding: of numbers in a table so wide that only what is
    monotone is looked for (`only_lines`), where the matrix takes the features squared and these lines do not.
    """
    columns, weights = _columns(data, rows)
    n, nominal = count_rows(weights), nominal_features(data)
    allowed = np.inf if chance is None else chance / max(len(columns) * (len(columns) - 1) / 2, 1.0)
    numeric = np.flatnonzero(~nominal)
    own = np.stack([columns[j] for j in numeric])
    both = (own, np.stack([mid_ranks(column, weights) for column in own]))
    lines, found = np.searchsorted(numeric, of), np.zeros((len(of), len(columns)))
    for part in both:
        r = np.abs(correlations(part, weights, lines))
        found[:, numeric] = np.maximum(found[:, numeric], np.where(r >= _beyond_chance(n, allowed / 2), r, 0.0))
    for k in np.flatnonzero(nominal):
        labels = group_numbers(columns[k])
        for line, j in enumerate(lines):
            found[line, k] = _with_groups((both[0][j], both[1][j]), labels, weights, n, allowed)
    found[np.arange(len(of)), list(of)] = 1.0
    return found


def only_lines(data: Data, of: Sequence[int]) -> bool:
    """Whether `association_rows` has these lines."""
    nominal = nominal_features(data)
    return int((~nominal).sum()) > SLICED and not nominal[list(of)].any()


def _with_groups(
    lines: tuple[FloatArray, FloatArray], labels: IntArray, weights: FloatArray, n: float, allowed: float
) -> float:
    """Of a number and its ranks with groups: the larger of the two ratios, each beyond chance."""
    shares = np.array([correlation_ratio(line, labels, weights) ** 2 for line in lines])
    count = len(np.unique(labels))
    shares[_by_chance((n - 1) * shares, count - 1) > allowed / 2] = 0.0
    return float(np.sqrt(max(_less_chance(float(share), count, n) for share in shares)))


def _between_numbers(
    columns: FloatArray, ranks: FloatArray, weights: FloatArray, n: float, allowed: float
) -> FloatArray:
    """Of lines of numbers and their ranks: the largest of four measures, each beyond chance."""
    measures = 4 if len(columns) <= SLICED else 2
    found = np.zeros((len(columns),) * 2)
    for part in (columns, ranks):
        r = np.abs(correlations(part, weights))
        found = np.maximum(found, np.where(r >= _beyond_chance(n, allowed / measures), r, 0.0))
    if measures > 2:
        count = int(np.clip(n // _ROWS_A_SLICE, 2, _SLICES))
        chance = (count - 1) / max(n - 1, count)
        for part in (ranks, np.abs(ranks - 0.5)):
            shares = _over_slices(part, ranks, weights, count)
            shares[_by_chance((n - 1) * shares, count - 1) > allowed / measures / 2] = 0.0
            ratio = np.sqrt(np.maximum(shares - chance, 0.0) / (1 - chance))
            found = np.maximum(found, np.maximum(ratio, ratio.T))
    np.fill_diagonal(found, 1.0)
    return found


def _beyond_chance(n: float, likely: float) -> float:
    """The absolute correlation of n rows that under independence is reached with this probability (Student's t)."""
    from scipy.special import stdtrit  # on use: slow to import

    if likely >= 1 or n <= 2:
        return 0.0 if likely >= 1 else float("inf")
    statistic = -float(stdtrit(n - 2, likely / 2))
    return statistic / float(np.sqrt(n - 2 + statistic**2))


def _over_slices(lines: FloatArray, ranks: FloatArray, weights: FloatArray, count: int) -> FloatArray:
    """The share of the variance of each line ``[j, k]`` that lies between slices of the k-th ranks, over the rows where
    both are present.
    """
    present = ~np.isnan(ranks)
    found = np.zeros((len(ranks),) * 2)
    for k, here in enumerate(present):
        some: slice | BoolArray = slice(None) if here.all() else here
        place = np.minimum(ranks[k, some] * count, count - 1).astype(np.intp)
        if not len(place):
            continue
        order = np.argsort(place, kind="stable")
        starts = np.flatnonzero(np.diff(place[order], prepend=-1))
        there = present[:, some][:, order]
        mass = there * weights[some][order]
        values = np.where(there, lines[:, some][:, order], 0.0)
        away = np.where(
            there, values - ((values * mass).sum(axis=1) / np.maximum(mass.sum(axis=1), 1e-300))[:, None], 0.0
        )
        total = (np.square(away) * mass).sum(axis=1)
        sums, masses = (np.add.reduceat(part, starts, axis=1) for part in (away * mass, mass))
        between = (np.square(sums) / np.where(masses > 0, masses, 1.0)).sum(axis=1)
        varies = total > 1e-12 * mass.sum(axis=1)
        found[:, k] = np.where(varies, np.clip(between / np.where(varies, total, 1.0), 0.0, 1.0), 0.0)
    return found


def _by_chance(statistic: FloatArray, free: int) -> FloatArray:
    """The probability of a chi-squared of so many degrees as large as this."""
    from scipy.special import chdtrc  # on use: slow to import

    return np.asarray(chdtrc(max(free, 1), np.maximum(statistic, 0.0)))


def has_trend(data: Data, j: int, k: int, least: float, rows: int = 1000) -> bool:
    """Whether two features are correlated in the plain sense, or levels play a part: no curve that turns."""
    if nominal_features(data)[[j, k]].any():
        return True
    columns, weights = _columns(data, rows)
    pair = np.stack([columns[j], columns[k]])
    ranks = np.stack([mid_ranks(column, weights) for column in pair])
    return max(abs(float(correlations(part, weights)[0, 1])) for part in (pair, ranks)) >= least


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


def correlations(columns: FloatArray, weights: FloatArray, some: IntArray | None = None) -> FloatArray:
    """Weighted Pearson correlations of the lines of numbers (of ``some`` of them with all); each pair uses the rows
    where both are present.
    """
    present = ~np.isnan(columns)
    filled = np.where(present, _centred(columns, weights), 0.0)
    # The moments of each column over the rows where the other is present; where all are, a column of them says it.
    there = present.astype(np.float64) if not present.all() else np.ones((1, len(weights)))
    own, here = (filled, there) if some is None else (filled[some], there if len(there) == 1 else there[some])
    products, mass = (own * weights) @ filled.T, (here * weights) @ there.T
    sums, variance = _moments(own, there, weights, mass)
    others = (sums, variance) if some is None else _moments(filled, here, weights, mass.T)
    with np.errstate(invalid="ignore", divide="ignore"):
        covariance = products - sums * others[0].T / mass
        matrix = covariance / np.sqrt(variance * others[1].T)
    matrix = np.clip(np.where(np.isfinite(matrix), matrix, 0.0), -1.0, 1.0)
    matrix[np.arange(len(own)), np.arange(len(own)) if some is None else some] = 1.0
    return matrix


def _moments(
    filled: FloatArray, there: FloatArray, weights: FloatArray, mass: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Sums and variances (times the mass) of lines of numbers over the rows where others are present."""
    sums = (filled * weights) @ there.T
    squares = (np.square(filled) * weights) @ there.T
    with np.errstate(invalid="ignore", divide="ignore"):
        variance = squares - np.square(sums) / mass
        # What is left of a column that is constant where the other is present is rounding, not variance.
        variance[variance <= 1e-12 * squares] = 0.0
    return sums, variance


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
