"""Partial dependence and individual conditional expectation, one row and one grid point at a time."""

import itertools


def with_value(row, j, value):
    """A copy of the row with one feature set."""
    changed = list(row)
    changed[j] = value
    return changed


def with_values(row, features, values):
    for j, value in zip(features, values, strict=True):
        row = with_value(row, j, value)
    return row


def weighted_mean(values, weights):
    return sum(w * v for v, w in zip(values, weights, strict=True)) / sum(weights)


def ice(f, rows, j, grid):
    """f(x_S = g, x_C of row i), a list of grid values for each row."""
    return [[f(with_value(row, j, g)) for g in grid] for row in rows]


def pdp(f, rows, j, grid, weights):
    """(1/n) sum_i f(x_S = g, x_C of row i)."""
    return [weighted_mean([f(with_value(row, j, g)) for row in rows], weights) for g in grid]


def pdp_pair(f, rows, features, grids, weights):
    return [
        [weighted_mean([f(with_values(row, features, (a, b))) for row in rows], weights) for b in grids[1]]
        for a in grids[0]
    ]


def pure_pair(f, rows, features, grids, weights):
    """PD_12 - PD_1 - PD_2 + f0."""
    both = pdp_pair(f, rows, features, grids, weights)
    first = pdp(f, rows, features[0], grids[0], weights)
    second = pdp(f, rows, features[1], grids[1], weights)
    mean = weighted_mean([f(row) for row in rows], weights)
    return [[both[a][b] - first[a] - second[b] + mean for b in range(len(second))] for a in range(len(first))]


def centred_ice(f, rows, j, grid, anchor):
    """Every curve minus its own value at the anchor."""
    return [[f(with_value(row, j, g)) - f(with_value(row, j, anchor)) for g in grid] for row in rows]


def derivative_ice(f, rows, j, grid):
    """Slopes of every curve: of the only segment at the ends; inside, of both, the shorter counting more.

    This is the slope of the parabola through three neighbouring points.
    """
    out = []
    for curve in ice(f, rows, j, grid):
        width = [b - a for a, b in itertools.pairwise(grid)]
        slope = [(b - a) / h for a, b, h in zip(curve, curve[1:], width, strict=False)]
        inner = [
            (width[k + 1] * slope[k] + width[k] * slope[k + 1]) / (width[k] + width[k + 1])
            for k in range(len(slope) - 1)
        ]
        out.append([slope[0], *inner, slope[-1]])
    return out


def pdp_importance(f, rows, j, points, weights, nominal):
    """Standard deviation (divisor K - 1) of the partial dependence, or a quarter of its range for levels."""
    curve = pdp(f, rows, j, points, weights)
    if len(curve) < 2:
        return 0.0
    if nominal:
        return (max(curve) - min(curve)) / 4
    mean = sum(curve) / len(curve)
    return (sum((v - mean) ** 2 for v in curve) / (len(curve) - 1)) ** 0.5
