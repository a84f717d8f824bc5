"""Which row gives its value to which: permutations, swaps of halves, and the distinct values of a group."""

from __future__ import annotations

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.data import Data
from pellucid.runner import Run


def donor_rows(run: Run, data: Data, scheme: str, repeats: int) -> IntArray:
    """For every repeat and row the row whose value it gets, ``(repeats, rows)``.

    The same donors serve all features, so that features are compared on the same mixing and the order of
    the columns does not matter. With unequal weights donors are drawn in proportion to them.
    """
    draw = _swap_halves if scheme == "halves" else _permutation
    return np.stack([draw(run.generator(1, r), data) for r in range(repeats)])


def _permutation(generator: np.random.Generator, data: Data) -> IntArray:
    if data.weighted:
        return generator.permutation(_systematic(generator, data.weights))
    return generator.permutation(len(data))


def _systematic(generator: np.random.Generator, weights: FloatArray) -> IntArray:
    """n rows drawn in proportion to their weights, as evenly as possible."""
    n = len(weights)
    marks = (np.arange(n) + generator.random()) / n
    return np.searchsorted(np.cumsum(weights) / weights.sum(), marks, side="left").clip(0, n - 1)


def _swap_halves(generator: np.random.Generator, data: Data) -> IntArray:
    """Split the rows in two halves at random and swap; an odd row out keeps its value."""
    order = _permutation(generator, data) if data.weighted else generator.permutation(len(data))
    half = len(data) // 2
    donors = np.arange(len(data))
    places = generator.permutation(len(data)) if data.weighted else order
    donors[places[:half]] = order[half : 2 * half]
    donors[places[half : 2 * half]] = order[:half]
    return donors


def joint_codes(data: Data, player: tuple[int, ...]) -> tuple[IntArray, IntArray]:
    """Number of the distinct (joint) value each row holds, and for each value a row that holds it."""
    combined = np.zeros(len(data), dtype=np.intp)
    for j in player:
        _, inverse = np.unique(data.codes(j), return_inverse=True)
        _, combined = np.unique(combined * (int(inverse.max()) + 1) + inverse, return_inverse=True)
    _, examples = np.unique(combined, return_index=True)
    return combined.astype(np.intp), examples.astype(np.intp)
