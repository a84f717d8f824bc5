"""Anchors by enumeration: every rule, its exact precision and coverage. Plain loops; categories only."""

from itertools import combinations, product


def precision(predict, rows, weights, x, rule):
    """P(same prediction) when a random row gets, for each feature of the rule, the value of x.

    Features are categories, so the rule ``{j: x[j]}`` has one value only and the draw of a donor does not matter.
    """
    total = hit = 0.0
    for row, weight in zip(rows, weights, strict=True):
        changed = tuple(x[j] if j in rule else row[j] for j in range(len(x)))
        total += weight
        hit += weight * (predict(changed) == predict(x))
    return hit / total


def interval_precision(predict, rows, weights, x, cells):
    """The same with intervals: a value outside its cell is replaced by that of a random row inside, feature by feature."""
    total = sum(weights)
    answer = 0.0
    for row, weight in zip(rows, weights, strict=True):
        choices = []
        for j in range(len(x)):
            low, high = cells.get(j, (float("-inf"), float("inf")))
            if low < row[j] <= high:
                choices.append([(row[j], 1.0)])
                continue
            inside = [(other[j], w) for other, w in zip(rows, weights, strict=True) if low < other[j] <= high]
            mass = sum(w for _, w in inside)
            choices.append([(value, w / mass) for value, w in inside])
        for drawn in product(*choices):
            chance = 1.0
            for _, share in drawn:
                chance *= share
            if predict(tuple(value for value, _ in drawn)) == predict(x):
                answer += weight / total * chance
    return answer


def coverage(rows, weights, x, rule):
    """Share of the rows, by weight, that agree with x in the features of the rule."""
    met = sum(weight for row, weight in zip(rows, weights, strict=True) if all(row[j] == x[j] for j in rule))
    return met / sum(weights)


def best_coverage(predict, rows, weights, x, tau):
    """The greatest coverage of any rule with a precision of at least tau; None if there is none."""
    found = None
    for size in range(len(x) + 1):
        for rule in combinations(range(len(x)), size):
            if precision(predict, rows, weights, x, set(rule)) >= tau:
                share = coverage(rows, weights, x, rule)
                found = share if found is None or share > found else found
    return found


def bisected(p, level, end):
    """The q farthest from p, towards ``end``, with a divergence of at most ``level``: the interval is halved until it is empty."""
    near, far = p, end
    if binomial_divergence(p, end) <= level:
        return end
    while near < (near + far) / 2 < far or far < (near + far) / 2 < near:
        middle = (near + far) / 2
        near, far = (middle, far) if binomial_divergence(p, middle) <= level else (near, middle)
    return far


def binomial_divergence(p, q):
    """Kullback-Leibler divergence of two coins, term by term."""
    from math import inf, log

    out = 0.0
    for a, b in ((p, q), (1 - p, 1 - q)):
        if a > 0:
            out += inf if b == 0 else a * (log(a) - log(b))
    return out
