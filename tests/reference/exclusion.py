"""Functional ANOVA of a function on a grid of independent values, all by averaging over the whole grid."""

from itertools import combinations, product


def components(f, columns):
    """The ANOVA components {set of features: {point: value}} where every value of a column is equally likely."""
    p = len(columns)
    points = list(product(*columns))
    found = {}
    for size in range(p + 1):
        for u in combinations(range(p), size):
            found[u] = {}
            for point in points:
                same = [other for other in points if all(other[j] == point[j] for j in u)]
                mean = sum(f(other) for other in same) / len(same)
                found[u][point] = mean - sum(found[v][point] for v in found if set(v) < set(u))
    return found


def variances(f, columns):
    """The variance of every component."""
    parts = components(f, columns)
    return {u: sum(value**2 for value in part.values()) / len(part) for u, part in parts.items() if u}


def cost(parts, u):
    """The share of the variance that is in the components which contain u."""
    total = sum(parts.values())
    return sum(value for v, value in parts.items() if set(u) <= set(v)) / total if total > 0 else 0.0


def loss_without(parts, dropped):
    """The share of the variance lost without the components that contain one of the dropped sets."""
    total = sum(parts.values())
    lost = sum(value for v, value in parts.items() if any(set(u) <= set(v) for u in dropped))
    return lost / total if total > 0 else 0.0
