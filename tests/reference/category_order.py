"""Distances between the categories of a feature, and classical multidimensional scaling."""

import numpy as np


def _share(rows, weights, chosen):
    """Weight of the rows that are chosen, as a share of all."""
    return sum(w for row, w in zip(rows, weights, strict=True) if chosen(row)) / sum(weights)


def kolmogorov_smirnov(k, rows, other, weights, other_weights):
    """Largest difference of the two cumulative shares of numeric feature k."""
    values = {row[k] for row in rows} | {row[k] for row in other}
    gaps = []
    for value in values:
        below = _share(rows, weights, lambda row, v=value: row[k] <= v)
        gaps.append(abs(below - _share(other, other_weights, lambda row, v=value: row[k] <= v)))
    return max(gaps)


def total_variation(k, rows, other, weights, other_weights):
    """Half the sum of absolute differences of the shares of categorical feature k."""
    values = {row[k] for row in rows} | {row[k] for row in other}
    gaps = []
    for value in values:
        here = _share(rows, weights, lambda row, v=value: row[k] == v)
        gaps.append(abs(here - _share(other, other_weights, lambda row, v=value: row[k] == v)))
    return sum(gaps) / 2


def level_distances(rows, j, levels, nominal, weights):
    """For every pair of levels of feature j the distances summed over the other features."""
    by_level = [[(row, w) for row, w in zip(rows, weights, strict=True) if row[j] == level] for level in levels]

    def distance(a, b):
        (rows_a, weights_a), (rows_b, weights_b) = (zip(*by_level[a], strict=True), zip(*by_level[b], strict=True))
        measures = [total_variation if is_nominal else kolmogorov_smirnov for is_nominal in nominal]
        return sum(measures[k](k, rows_a, rows_b, weights_a, weights_b) for k in range(len(nominal)) if k != j)

    return [[distance(a, b) for b in range(len(levels))] for a in range(len(levels))]


def classical_scaling_line(distances):
    """First coordinate: eigenvector of the largest eigenvalue of B = -1/2 (d_ab^2 - row - column + grand mean)."""
    n = len(distances)
    squares = [[d * d for d in line] for line in distances]
    rows = [sum(line) / n for line in squares]
    grand = sum(rows) / n
    b = [[-0.5 * (squares[p][q] - rows[p] - rows[q] + grand) for q in range(n)] for p in range(n)]
    eigenvalues, vectors = np.linalg.eigh(np.array(b))
    return [float(v) * max(float(eigenvalues[-1]), 0.0) ** 0.5 for v in vectors[:, -1]]
