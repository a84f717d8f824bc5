"""Accumulated local effects with the conventions of the R package ALEPlot (Apley and Zhu 2020)."""

import itertools
from fractions import Fraction

from .partial_dependence import with_value, with_values


def quantile_edges(values, bins, weights):
    """The least value, then for k = 1..bins the least value with at least k/bins of the weight at or below it.

    Ties merged. This is the inverse of the empirical distribution, R's quantile type 1.
    """
    pairs = sorted((x, Fraction(w)) for x, w in zip(values, weights, strict=True) if w > 0)
    total = sum(w for _, w in pairs)
    edges = {pairs[0][0]}
    for k in range(1, bins + 1):
        below = Fraction(0)
        for x, w in pairs:
            below += w
            if below >= Fraction(k, bins) * total:
                edges.add(x)
                break
    return sorted(edges)


def bin_of(x, edges):
    """0 for [e0, e1], 1 for (e1, e2], ...; None outside."""
    if not edges[0] <= x <= edges[-1]:
        return None
    for k in range(len(edges) - 1):
        if x <= edges[k + 1]:
            return k
    return 0


def _mean(values_and_weights):
    total = sum(w for _, w in values_and_weights)
    return sum(v * w for v, w in values_and_weights) / total if total > 0 else None


def _running_sum(steps):
    curve = [0.0]
    for step in steps:
        curve.append(curve[-1] + step)
    return curve


def ale_numeric(f, rows, j, edges, weights):
    """Effect at the edges; the mean over rows of the effect at the midpoint of their bin is zero."""
    in_bin = [[] for _ in edges[1:]]
    for row, w in zip(rows, weights, strict=True):
        k = bin_of(row[j], edges)
        if k is not None:
            change = f(with_value(row, j, edges[k + 1])) - f(with_value(row, j, edges[k]))
            in_bin[k].append((change, w))
    curve = _running_sum(bridged([_mean(changes) for changes in in_bin], edges))
    mass = [sum(w for _, w in changes) for changes in in_bin]
    shift = sum(m * (a + b) / 2 for m, a, b in zip(mass, curve, curve[1:], strict=False)) / sum(mass)
    return [v - shift for v in curve]


def bridged(changes, edges):
    """Bins without rows: the slope in a straight line between the middles of the nearest bins that have some, or that
    of the only one.
    """
    middles = [(a + b) / 2 for a, b in itertools.pairwise(edges)]
    widths = [b - a for a, b in itertools.pairwise(edges)]
    slopes = [
        (m, change / width) for m, change, width in zip(middles, changes, widths, strict=True) if change is not None
    ]
    out = []
    for m, change, width in zip(middles, changes, widths, strict=True):
        below, above = [s for s in slopes if s[0] < m][-1:], [s for s in slopes if s[0] > m][:1]
        if change is not None:
            out.append(change)
        elif below and above:
            (a, low), (b, high) = below[0], above[0]
            out.append((low + (high - low) * (m - a) / (b - a)) * width)
        else:
            out.append((below or above)[0][1] * width)
    return out


def ale_categorical(f, rows, j, levels, weights):
    """Effect of each level, in the given order; its mean over rows is zero.

    The step from one level to the next is averaged over the rows of both: those of the lower go up by
    one, those of the upper come from one below.
    """
    step = [[] for _ in levels[1:]]
    for row, w in zip(rows, weights, strict=True):
        k = levels.index(row[j])
        if k + 1 < len(levels):
            step[k].append((f(with_value(row, j, levels[k + 1])) - f(row), w))
        if k > 0:
            step[k - 1].append((f(row) - f(with_value(row, j, levels[k - 1])), w))
    curve = _running_sum([_mean(changes) or 0.0 for changes in step])
    mass = [sum(w for row, w in zip(rows, weights, strict=True) if row[j] == level) for level in levels]
    shift = sum(m * v for m, v in zip(mass, curve, strict=True)) / sum(mass)
    return [v - shift for v in curve]


# -- pairs -------------------------------------------------------------------------------------------


def _double_difference(f, row, features, low, high):
    upper = f(with_values(row, features, high)) - f(with_values(row, features, (low[0], high[1])))
    lower = f(with_values(row, features, (high[0], low[1]))) - f(with_values(row, features, low))
    return upper - lower


def fill_from_nearest(means, first, second):
    """Empty cells take the value of the nearest cell that has one; of several, the first row by row.

    ``first`` and ``second`` are the places of the cells along each axis in units of the axis' range.
    """
    known = [(a, b) for a in range(len(first)) for b in range(len(second)) if means[a][b] is not None]

    def nearest(a, b):
        gap = {(p, q): (first[a] - first[p]) ** 2 + (second[b] - second[q]) ** 2 for p, q in known}
        least = min(gap.values())
        return next(cell for cell in known if gap[cell] <= least * (1 + 1e-9))

    filled = [list(line) for line in means]
    for a in range(len(first)):
        for b in range(len(second)):
            if means[a][b] is None:
                p, q = nearest(a, b)
                filled[a][b] = means[p][q]
    return filled


def _places(edges):
    """Midpoints of bins in units of the range of the edges."""
    span = edges[-1] - edges[0]
    return [(a + b) / 2 / span for a, b in itertools.pairwise(edges)]


def _accumulate(delta):
    """Sums over all steps below and to the left, with a first row and column of zeros."""
    n, m = len(delta), len(delta[0])
    return [[sum(delta[p][q] for p in range(a) for q in range(b)) for b in range(m + 1)] for a in range(n + 1)]


def ale_pair(f, rows, features, edges, weights):
    """Second-order effect of two numeric features at all pairs of edges."""
    (j, k), (e, g) = features, edges
    n, m = len(e) - 1, len(g) - 1
    cells = [[[] for _ in range(m)] for _ in range(n)]
    for row, w in zip(rows, weights, strict=True):
        a, b = bin_of(row[j], e), bin_of(row[k], g)
        if a is not None and b is not None:
            cells[a][b].append((_double_difference(f, row, features, (e[a], g[b]), (e[a + 1], g[b + 1])), w))
    mass = [[sum(w for _, w in cell) for cell in line] for line in cells]
    means = [[_mean(cell) for cell in line] for line in cells]
    surface = _accumulate(fill_from_nearest(means, _places(e), _places(g)))
    main = [[0.0] * (n + 1), [0.0] * (m + 1)]
    for a in range(n):
        changes = [
            (surface[a + 1][b] - surface[a][b] + surface[a + 1][b + 1] - surface[a][b + 1]) / 2 for b in range(m)
        ]
        main[0][a + 1] = main[0][a] + (_mean(list(zip(changes, mass[a], strict=True))) or 0.0)
    for b in range(m):
        changes = [
            (surface[a][b + 1] - surface[a][b] + surface[a + 1][b + 1] - surface[a + 1][b]) / 2 for a in range(n)
        ]
        main[1][b + 1] = main[1][b] + (_mean([(changes[a], mass[a][b]) for a in range(n)]) or 0.0)
    surface = [[surface[a][b] - main[0][a] - main[1][b] for b in range(m + 1)] for a in range(n + 1)]
    corners = [
        ((surface[a][b] + surface[a + 1][b] + surface[a][b + 1] + surface[a + 1][b + 1]) / 4, mass[a][b])
        for a in range(n)
        for b in range(m)
    ]
    shift = _mean(corners)
    return [[v - shift for v in line] for line in surface]


def ale_categorical_numeric(f, rows, features, levels, edges, weights):
    """Second-order effect of a categorical (first) and a numeric feature: levels by edges."""
    j, k = features
    n, m = len(levels), len(edges) - 1
    steps = [[[] for _ in range(m)] for _ in range(n - 1)]
    mass = [[0.0] * m for _ in range(n)]
    for row, w in zip(rows, weights, strict=True):
        a, b = levels.index(row[j]), bin_of(row[k], edges)
        if b is None:
            continue
        mass[a][b] += w
        for low in (a - 1, a):
            if 0 <= low < n - 1:
                lower, upper = (levels[low], edges[b]), (levels[low + 1], edges[b + 1])
                steps[low][b].append((_double_difference(f, row, features, lower, upper), w))
    means = [[_mean(cell) for cell in line] for line in steps]
    filled = fill_from_nearest(means, [a / (n - 1) for a in range(n - 1)], _places(edges))
    surface = _accumulate(filled)
    main = [[0.0] * n, [0.0] * (m + 1)]
    for b in range(m):
        changes = [(surface[a][b + 1] - surface[a][b], mass[a][b]) for a in range(n)]
        main[1][b + 1] = main[1][b] + (_mean(changes) or 0.0)
    for a in range(n - 1):
        both = [(mass[a][b] + mass[a + 1][b]) / 2 for b in range(m)]
        changes = [
            (surface[a + 1][b] - surface[a][b] + surface[a + 1][b + 1] - surface[a][b + 1]) / 2 for b in range(m)
        ]
        main[0][a + 1] = main[0][a] + (_mean(list(zip(changes, both, strict=True))) or 0.0)
    surface = [[surface[a][b] - main[0][a] - main[1][b] for b in range(m + 1)] for a in range(n)]
    shift = _mean([((surface[a][b] + surface[a][b + 1]) / 2, mass[a][b]) for a in range(n) for b in range(m)])
    return [[v - shift for v in line] for line in surface]
