"""Local models from their definitions: loops, lstsq and every subset."""

from itertools import combinations

import numpy as np


def weighted_line(columns, y, weights, penalty=0.0):
    """Intercept and slopes of a weighted least squares line; the penalty is on squared slopes."""
    root = np.sqrt(weights)
    design = np.column_stack([np.ones(len(y)), columns]) * root[:, None]
    extra = np.sqrt(penalty) * np.eye(design.shape[1])[1:]
    right = np.concatenate([y * root, np.zeros(len(extra))])
    return np.linalg.lstsq(np.vstack([design, extra]), right, rcond=None)[0]


def missed(columns, y, weights, some):
    """Weighted squared errors of the best line in some columns."""
    theta = weighted_line(columns[:, list(some)], y, weights)
    return float(weights @ np.square(y - theta[0] - columns[:, list(some)] @ theta[1:]))


def forward(columns, y, weights, k):
    chosen = []
    for _ in range(k):
        left = [j for j in range(columns.shape[1]) if j not in chosen]
        chosen.append(min(left, key=lambda j: missed(columns, y, weights, [*chosen, j])))
    return sorted(chosen)


def backward(columns, y, weights, k):
    chosen = list(range(columns.shape[1]))
    while len(chosen) > k:
        out = min(chosen, key=lambda j: missed(columns, y, weights, [i for i in chosen if i != j]))
        chosen.remove(out)
    return chosen


def held_out_r2(columns, y, weights, folds):
    """R2 over folds, each predicted by a line that was fitted to the others."""
    lost = 0.0
    for fold in np.unique(folds):
        out = folds == fold
        theta = weighted_line(columns[~out], y[~out], weights[~out])
        lost += weights[out] @ np.square(y[out] - theta[0] - columns[out] @ theta[1:])
    mean = np.average(y, weights=weights)
    return 1 - lost / (weights @ np.square(y - mean))


def gower(row, other, ranges, nominal):
    parts = [
        float(a != b) if level else abs(a - b) / span
        for a, b, span, level in zip(row, other, ranges, nominal, strict=True)
    ]
    return sum(parts) / len(parts)


def greatest_cover(shows, importance, budget):
    """The best that any set of rows can show."""
    best = 0.0
    for rows in combinations(range(len(shows)), budget):
        seen = [any(shows[i][j] for i in rows) for j in range(len(importance))]
        best = max(best, sum(weight for weight, one in zip(importance, seen, strict=True) if one))
    return best


def likeness(repeats):
    """Mean over pairs of sum of minima (same sign) over sum of maxima."""
    found = []
    for a, b in combinations(repeats, 2):
        both = sum(min(abs(x), abs(y)) for x, y in zip(a, b, strict=True) if x * y > 0)
        whole = sum(max(abs(x), abs(y)) for x, y in zip(a, b, strict=True))
        found.append(both / whole if whole else 1.0)
    return float(np.mean(found))
