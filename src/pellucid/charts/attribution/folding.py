"""Which features and rows are drawn, and what becomes of the others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.explanations import Attribution
from pellucid.explanations.attribution_views import sum_error
from pellucid.explanations.attribution_words import labels_of, sequence

UP, DOWN = "up", "down"


@dataclass(frozen=True)
class Step:
    """One contribution to one row, or the sum of several: its label, value and half of its 95% interval."""

    label: str
    value: float
    half: float


def steps(one: Attribution, row: int, max_display: int) -> list[Step]:
    """The contributions to a row, largest first or step by step; those beyond ``max_display`` are the last one
    together.
    """
    values, labels = one.values[row], labels_of(one, row)
    half = half_widths(one)[row]
    kept, rest = fold(sequence(one, row), max_display)
    found = [Step(labels[j], float(values[j]), float(half[j])) for j in kept]
    if len(rest):
        found.append(Step(f"{len(rest)} others", float(values[rest].sum()), _half_of_sum(one, row, rest)))
    return found


def _half_of_sum(one: Attribution, row: int, members: IntArray) -> float:
    """Half of the 95% interval of a sum of contributions, as wide as it can be."""
    low, high = one.interval()
    return float(np.nan_to_num(sum_error((high - low)[row] / 2, members, one.additivity)))


def fold(order: IntArray, most: int) -> tuple[IntArray, IntArray]:
    """The first ``most`` positions and none, or one less and the rest, which take one place together."""
    return (order, order[:0]) if len(order) <= most else (order[: most - 1], order[most - 1 :])


def half_widths(one: Attribution) -> FloatArray:
    """Half of each contribution's 95% interval; zero where it is exact or its error unknown."""
    low, high = one.interval()
    return np.nan_to_num((high - low) / 2)


def evenly(n: int, most: int) -> IntArray:
    """At most ``most`` of ``n`` positions, evenly spaced, the first and the last among them."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).round().astype(np.intp))
