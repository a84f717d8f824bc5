"""Variance-based importance from its definition: every combination of values, plain loops."""

from itertools import combinations, product
from math import factorial

import numpy as np


def product_table(points, masses, columns, n_columns):
    """Every combination of the players' points: rows ``(m, n_columns)``, masses ``(m,)`` and the numbers of the points ``(m, players)``."""
    rows, mass, numbers = [], [], []
    for chosen in product(*[range(len(p)) for p in points]):
        row = np.empty(n_columns)
        for player, number in enumerate(chosen):
            row[list(columns[player])] = points[player][number]
        rows.append(row)
        mass.append(np.prod([masses[player][number] for player, number in enumerate(chosen)]))
        numbers.append(chosen)
    return np.array(rows), np.array(mass), np.array(numbers)


def explained_variance(values, mass, numbers, known):
    """Var E[f | the known players] of values ``(m,)``."""
    mean = float(mass @ values)
    groups = {}
    for i, number in enumerate(numbers):
        groups.setdefault(tuple(number[list(known)]), []).append(i)
    total = 0.0
    for members in groups.values():
        weight = mass[members].sum()
        if weight > 0:
            total += weight * (float(mass[members] @ values[members]) / weight - mean) ** 2
    return total


def sobol(values, mass, numbers):
    """Variance, first-order and total parts of each player."""
    players = range(numbers.shape[1])
    variance = explained_variance(values, mass, numbers, players)
    first = [explained_variance(values, mass, numbers, [i]) for i in players]
    rest = [explained_variance(values, mass, numbers, [j for j in players if j != i]) for i in players]
    return variance, np.array(first), variance - np.array(rest)


def shapley_of(worth, n):
    """Shapley values of ``worth(tuple of players)``."""
    values = np.zeros(n)
    for i in range(n):
        others = [j for j in range(n) if j != i]
        for size in range(n):
            weight = factorial(size) * factorial(n - size - 1) / factorial(n)
            for known in combinations(others, size):
                values[i] += weight * (worth((*known, i)) - worth(known))
    return values


def linear_gaussian_effects(slopes, covariance):
    """Shapley effects of slopes @ X for normal X: Var E[f | X_S] = c' covariance_SS^-1 c with c = Cov(X_S, f)."""
    slopes, covariance = np.asarray(slopes, dtype=float), np.asarray(covariance, dtype=float)
    with_f = covariance @ slopes

    def worth(known):
        if not known:
            return 0.0
        own = covariance[np.ix_(known, known)]
        return with_f[list(known)] @ np.linalg.solve(own, with_f[list(known)]) / (slopes @ with_f)

    return shapley_of(worth, len(slopes))


# -- closed forms ------------------------------------------------------------------------------------


def ishigami(X, a=7.0, b=0.1):
    """sin x1 + a sin^2 x2 + b x3^4 sin x1, on [-pi, pi]^3."""
    return np.sin(X[:, 0]) + a * np.sin(X[:, 1]) ** 2 + b * X[:, 2] ** 4 * np.sin(X[:, 0])


def ishigami_indices(a=7.0, b=0.1):
    """First-order and total indices."""
    v1, v2, v13 = (1 + b * np.pi**4 / 5) ** 2 / 2, a**2 / 8, b**2 * np.pi**8 * 8 / 225
    return np.array([v1, v2, 0]) / (v1 + v2 + v13), np.array([v1 + v13, v2, v13]) / (v1 + v2 + v13)


def g_function(X, a, shift=0.0):
    """prod (|4 x_i - 2| + a_i) / (1 + a_i), on [0, 1]^d; a shift moves the kinks round the circle."""
    return np.prod((np.abs(4 * ((X + shift) % 1.0) - 2) + a) / (1 + a), axis=1)


def g_function_indices(a):
    """First-order and total indices."""
    part = 1 / 3 / (1 + np.asarray(a)) ** 2
    variance = np.prod(1 + part) - 1
    return part / variance, part * np.prod(1 + part) / (1 + part) / variance


def even_rows(n, ranges, seed=0):
    """Rows whose columns are the midpoints of n equal parts of their range, each shuffled by itself."""
    rng = np.random.default_rng(seed)
    middles = (np.arange(n) + 0.5) / n
    return np.column_stack([rng.permutation(low + middles * (high - low)) for low, high in ranges])
