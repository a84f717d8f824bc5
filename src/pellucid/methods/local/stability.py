"""How much of an explanation would come back if it were asked for again.

Reference. Visani, Bagli, Chesani, Poluzzi and Capuzzo 2020, "Statistical stability indices for LIME".

Definition. Over all pairs of repeats of an explanation:

- `selection`: the mean share of chosen columns that two repeats have in common (their variables stability index);
- `common`: the mean share of their summed absolute coefficients that is on columns both chose: a column that comes and goes
  with a small weight counts little;
- `agreement`: the mean of sum_j min(|a_j|, |b_j|) [same sign] / sum_j max(|a_j|, |b_j|), with a and b the two repeats'
  coefficients of standardised columns: 1 if all are equal, 0 if none has the same sign (in place of their index of
  overlapping intervals, which is near 1 whenever intervals are honest).

Repeats are bootstraps of blocks of samples, so that they cost no model rows.
"""

from __future__ import annotations

import numpy as np

from pellucid.arrays import BoolArray, FloatArray

REPEATS = 20


def repeat_counts(blocks: int, generator: np.random.Generator) -> FloatArray:
    """How often each block is in each repeat, ``(repeats, blocks)``."""
    return generator.multinomial(blocks, np.full(blocks, 1.0 / blocks), size=REPEATS).astype(np.float64)


def selection(chosen: BoolArray) -> float:
    """The mean share of columns in common, of repeats ``(repeats, p)``; one where nothing is chosen at all."""
    first, second = np.triu_indices(len(chosen), 1)
    sizes = chosen.sum(axis=1)
    inside = chosen.astype(np.float64)
    both = (inside @ inside.T)[first, second]
    largest = np.maximum(sizes[first], sizes[second])
    return float(np.where(largest > 0, both / np.maximum(largest, 1), 1.0).mean())


def common(chosen: BoolArray, weights: FloatArray) -> float:
    """The mean share of weight on columns that both repeats chose, ``(repeats, p)`` each; one where there is no weight."""
    first, second = np.triu_indices(len(chosen), 1)
    size = np.abs(weights[first]) + np.abs(weights[second])
    both, whole = (size * (chosen[first] & chosen[second])).sum(axis=1), size.sum(axis=1)
    return float(np.where(whole > 0, both / np.where(whole > 0, whole, 1.0), 1.0).mean())


def agreement(weights: FloatArray) -> float:
    """The mean likeness of repeated coefficients ``(repeats, p)``; one where all are zero."""
    first, second = np.triu_indices(len(weights), 1)
    a, b = weights[first], weights[second]
    size_a, size_b = np.abs(a), np.abs(b)
    common = np.where(a * b > 0, np.minimum(size_a, size_b), 0.0).sum(axis=1)
    whole = np.maximum(size_a, size_b).sum(axis=1)
    return float(np.where(whole > 0, common / np.where(whole > 0, whole, 1.0), 1.0).mean())
