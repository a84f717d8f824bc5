"""Greenwell's interaction strength by plain loops."""

from .partial_dependence import weighted_mean, with_values


def spread(numbers, nominal):
    """The standard deviation, or a quarter of the range."""
    if len(numbers) < 2:
        return 0.0
    if nominal:
        return (max(numbers) - min(numbers)) / 4
    mean = sum(numbers) / len(numbers)
    return (sum((x - mean) ** 2 for x in numbers) / (len(numbers) - 1)) ** 0.5


def strength(f, rows, weights, pair, points, nominal):
    """The mean over both directions of the spread, over one feature's values, of the other's importance."""
    j, k = pair

    def effect(a, b):
        return weighted_mean([f(with_values(row, (j, k), [a, b])) for row in rows], weights)

    table = [[effect(a, b) for b in points[1]] for a in points[0]]
    of_j = [spread([line[b] for line in table], nominal[0]) for b in range(len(points[1]))]
    of_k = [spread(line, nominal[1]) for line in table]
    return (spread(of_j, False) + spread(of_k, False)) / 2
