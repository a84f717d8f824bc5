"""Friedman's H by its definition: every partial dependence is a loop over the rows.

``f`` maps a row to a number, rows are lists, ``players`` lists of columns. A set names its players by position.
"""

from itertools import combinations
from math import sqrt

from .partial_dependence import weighted_mean, with_values


def partial_dependences(f, points, background, weights, columns):
    """PD at each point: the mean over the background with the columns set to those of the point."""
    return [
        weighted_mean([f(with_values(row, columns, [point[j] for j in columns])) for row in background], weights)
        for point in points
    ]


def dividends(f, points, background, weights, players, members):
    """Sum over the parts T of a set S of (-1)^(|S| - |T|) PD_T, at each point."""
    total = [0.0] * len(points)
    for size in range(len(members) + 1):
        for part in combinations(members, size):
            columns = [j for i in part for j in players[i]]
            found = partial_dependences(f, points, background, weights, columns)
            total = [a + (-1) ** (len(members) - size) * b for a, b in zip(total, found, strict=True)]
    return total


def centred(values, weights):
    middle = weighted_mean(values, weights)
    return [value - middle for value in values]


def mean_square(values, weights):
    return weighted_mean([value * value for value in values], weights)


def h_of_set(f, rows, weights, players, members):
    """H and its unnormalised form, from centred partial dependences: PD_jk - PD_j - PD_k, and so on for three."""

    def effect(part):
        columns = [j for i in part for j in players[i]]
        return centred(partial_dependences(f, rows, rows, weights, columns), weights)

    joint = effect(members)
    numerator = [0.0] * len(rows)
    for size in range(1, len(members) + 1):
        for part in combinations(members, size):
            numerator = [a + (-1) ** (len(members) - size) * b for a, b in zip(numerator, effect(part), strict=True)]
    return _both(numerator, joint, weights)


def h_of_feature(f, rows, weights, players, j):
    """H of a player against all others, and its unnormalised form: f - PD_j - PD_-j, centred."""
    others = [c for i, columns in enumerate(players) if i != j for c in columns]
    whole = centred([f(row) for row in rows], weights)
    own = centred(partial_dependences(f, rows, rows, weights, list(players[j])), weights)
    rest = centred(partial_dependences(f, rows, rows, weights, others), weights)
    numerator = [a - b - c for a, b, c in zip(whole, own, rest, strict=True)]
    return _both(numerator, whole, weights)


def _both(numerator, joint, weights):
    top, bottom = mean_square(numerator, weights), mean_square(joint, weights)
    return (sqrt(top / bottom) if bottom > 0 else 0.0), sqrt(top)
