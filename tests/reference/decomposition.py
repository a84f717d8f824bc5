"""Decompositions from their definitions: one average, one subset and one point at a time."""

import itertools

from reference.partial_dependence import weighted_mean, with_values


def subsets_of(features):
    """All subsets, the empty one first."""
    return [s for size in range(len(features) + 1) for s in itertools.combinations(features, size)]


def partial_dependence(f, rows, weights, subset, point):
    """E[f(x_S, X_-S)] over the rows, with x_S taken from the point (a whole row)."""
    values = [point[j] for j in subset]
    return weighted_mean([f(with_values(row, subset, values)) for row in rows], weights)


def marginal_component(f, rows, weights, subset, point):
    """f_S = sum over T in S of (-1)^(|S| - |T|) PD_T."""
    return sum(
        (-1) ** (len(subset) - len(smaller)) * partial_dependence(f, rows, weights, smaller, point)
        for smaller in subsets_of(subset)
    )


def product_rows(axes):
    """Every combination of weighted points, ``axes[j] = [(point, weight), ...]``, with the product of the weights."""
    rows, weights = [], []
    for combination in itertools.product(*axes):
        weight = 1.0
        for _, own in combination:
            weight *= own
        rows.append([point for point, _ in combination])
        weights.append(weight)
    return rows, weights


def anova_component(f, axes, subset, point):
    """f_S = E[f | x_S] less all f_T of proper subsets, recursively, under the product of the weighted points."""
    rows, weights = product_rows(axes)
    lower = sum(anova_component(f, axes, smaller, point) for smaller in subsets_of(subset) if smaller != subset)
    return partial_dependence(f, rows, weights, subset, point) - lower


def variance(values, weights):
    mean = weighted_mean(values, weights)
    return weighted_mean([(value - mean) ** 2 for value in values], weights)
