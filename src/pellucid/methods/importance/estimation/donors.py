"""Which row gives its value to which: permutations, swaps of halves, and the distinct values of a group."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.data import Data, Feature
from pellucid.runner import Intervention, Run, exchange_intervention


def donor_rows(run: Run, data: Data, scheme: str, repeats: int) -> IntArray:
    """For every repeat and row the row whose value it gets, ``(repeats, rows)``.

    The same donors serve all features, so that features are compared on the same mixing and the order of
    the columns does not matter. With unequal weights donors are drawn in proportion to them.
    """
    draw = _swap_halves if scheme == "halves" else _permutation
    return np.stack([draw(run.generator("permutation.donors", r), data) for r in range(repeats)])


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
    """Split the rows in two halves at random and swap; of an odd number three pass their values on in a circle.

    Without weights every row gets the value of each other row with the same chance, and never its own.
    """
    n = len(data)
    order = _permutation(generator, data)
    places = generator.permutation(n) if data.weighted else order
    pairs = (n - 3 * (n % 2)) // 2
    first, second, circle = np.split(np.arange(n), [pairs, 2 * pairs])
    donors = np.empty(n, dtype=np.intp)
    donors[places[first]], donors[places[second]] = order[second], order[first]
    donors[places[circle]] = order[np.roll(circle, 1)]
    return donors


def joint_codes(data: Data, player: tuple[int, ...]) -> tuple[IntArray, IntArray]:
    """Number of the distinct (joint) value each row holds, and for each value a row that holds it."""
    combined = np.zeros(len(data), dtype=np.intp)
    for j in player:
        _, inverse = np.unique(data.codes(j), return_inverse=True)
        _, combined = np.unique(combined * (int(inverse.max()) + 1) + inverse, return_inverse=True)
    _, examples = np.unique(combined, return_index=True)
    return combined.astype(np.intp), examples.astype(np.intp)


# -- which predictions a permutation really needs --------------------------------------------------


@dataclass(frozen=True, eq=False)
class Plan:
    """An intervention that answers every repeat: directly, or at a position per changed cell (repeat, row)."""

    intervention: Intervention
    n_repeats: int
    changed: tuple[IntArray, IntArray, IntArray] | None = None

    def repeats(self, answers: FloatArray, unchanged: FloatArray) -> Iterator[FloatArray]:
        """Predictions of each repeat; cells that kept their value keep their prediction."""
        if self.changed is None:
            yield from answers
            return
        repeat, row, position = self.changed
        flat = answers.reshape(-1, answers.shape[-1])
        bounds = np.searchsorted(repeat, np.arange(self.n_repeats + 1))
        for start, stop in pairwise(bounds):
            prediction = unchanged.copy()
            prediction[row[start:stop]] = flat[position[start:stop]]
            yield prediction


def direct_plan(data: Data, player: tuple[int, ...], donors: IntArray) -> Plan:
    """Every row of every repeat; only a constant is left out, which nobody can exchange."""
    if all(_constant(data.schema.features[j]) for j in player):
        nothing = np.empty(0, dtype=np.intp)
        intervention = exchange_intervention(data, player, nothing[None], rows=nothing)
        return Plan(intervention, len(donors), (nothing, nothing, nothing))
    return Plan(exchange_intervention(data, player, donors), len(donors))


def _constant(feature: Feature) -> bool:
    return feature.empty or (feature.low == feature.high and not feature.missing)


def plan_of(data: Data, player: tuple[int, ...], donors: IntArray) -> Plan:
    """Ask as little as possible: rows that keep their value are not asked; few values are asked once each."""
    n = len(data)
    if max(data.schema.features[j].distinct for j in player) > n / 2:
        return Plan(exchange_intervention(data, player, donors), len(donors))
    codes, examples = joint_codes(data, player)
    changed = codes[donors] != codes[None, :]
    repeat, row = np.nonzero(changed)
    n_values = len(examples)
    if n_values - 1 < changed.sum() / n:
        # Variant s sets row i to the value s places after its own, round the circle of distinct values.
        index = examples[(codes[None, :] + np.arange(1, n_values)[:, None]) % n_values]
        steps = (codes[donors[repeat, row]] - codes[row]) % n_values
        return Plan(exchange_intervention(data, player, index), len(donors), (repeat, row, (steps - 1) * n + row))
    if changed.mean() < 0.75:
        intervention = exchange_intervention(data, player, donors[repeat, row][None, :], rows=row)
        return Plan(intervention, len(donors), (repeat, row, np.arange(len(row))))
    return Plan(exchange_intervention(data, player, donors), len(donors))
