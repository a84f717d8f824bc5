"""Asking as little as possible: which predictions a permutation really needs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.data import Data, Feature
from pellucid.methods.importance.donors import joint_codes
from pellucid.runner import Intervention, exchange_intervention


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
