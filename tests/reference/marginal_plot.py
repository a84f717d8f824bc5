"""The marginal plot: the mean prediction of the rows that share a value, or a bin."""

from .accumulated_local import bin_of
from .partial_dependence import weighted_mean


def mplot_at_values(f, rows, j, weights):
    """(value, mean prediction) for every distinct value, in order."""
    out = []
    for value in sorted({row[j] for row in rows}):
        same = [(f(row), w) for row, w in zip(rows, weights, strict=True) if row[j] == value]
        out.append((value, weighted_mean(*zip(*same, strict=True))))
    return out


def mplot_in_bins(f, rows, j, edges, weights):
    """(mean value, mean prediction) for every bin between edges."""
    out = []
    for k in range(len(edges) - 1):
        inside = [(row, w) for row, w in zip(rows, weights, strict=True) if bin_of(row[j], edges) == k]
        masses = [w for _, w in inside]
        place = weighted_mean([row[j] for row, _ in inside], masses)
        out.append((place, weighted_mean([f(row) for row, _ in inside], masses)))
    return out
