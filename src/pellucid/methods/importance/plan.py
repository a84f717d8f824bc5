"""Asking as little as possible: which predictions a permutation really needs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from pellucid.arrays import FloatArray, IntArray
from pellucid.data import Data
from pellucid.methods.importance.donors import joint_codes, remapped
from pellucid.runner import Sweep


@dataclass(frozen=True, eq=False)
class Plan:
    """A sweep that answers every repeat: directly, or at a position per changed cell (repeat, row)."""

    sweep: Sweep
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


def plan_sweep(data: Data, player: tuple[int, ...], donors: IntArray) -> Plan:
    """Ask as little as possible: rows that keep their value are not asked; few values are asked once each."""
    n, pools = len(data), tuple(data.frame.native_column(j) for j in player)
    if max(data.schema.features[j].distinct for j in player) > n / 2:
        return Plan(Sweep(player, pools, remapped(donors, player)), len(donors))
    codes, examples = joint_codes(data, player)
    changed = codes[donors] != codes[None, :]
    repeat, row = np.nonzero(changed)
    n_values = len(examples)
    if n_values - 1 < changed.sum() / n:
        # Variant s sets row i to the value s places after its own, round the circle of distinct values.
        index = examples[(codes[None, :] + np.arange(1, n_values)[:, None]) % n_values]
        steps = (codes[donors[repeat, row]] - codes[row]) % n_values
        return Plan(
            Sweep(player, pools, remapped(index, player)), len(donors), (repeat, row, (steps - 1) * n + row)
        )
    if changed.mean() < 0.75:
        sweep = Sweep(player, pools, remapped(donors[repeat, row][None, :], player), rows=row)
        return Plan(sweep, len(donors), (repeat, row, np.arange(len(row))))
    return Plan(Sweep(player, pools, remapped(donors, player)), len(donors))
