"""How much of an explanation would come back if it were asked for again.

Reference. Visani, Bagli, Chesani, Poluzzi and Capuzzo 2020, "Statistical stability indices for LIME".

Definition. Over all pairs of repeats of an explanation:

- `selection`: the mean share of chosen columns that two repeats have in common (their variables stability index);
- `common`: the mean share of their summed absolute coefficients that is on columns both chose: a column that comes and
  goes with a small weight counts little;
- `agreement`: the mean of sum_j min(|a_j|, |b_j|) [same sign] / sum_j max(|a_j|, |b_j|), with a and b the two repeats'
  coefficients of standardised columns: 1 if all are equal, 0 if none has the same sign (in place of their index of
  overlapping intervals, which is near 1 whenever intervals are honest).

Repeats are bootstraps of blocks of samples, so that they cost no model rows.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray

REPEATS = 20


def repeat_counts(blocks: int, generator: np.random.Generator) -> FloatArray:
    """How often each block is in each repeat, ``(repeats, blocks)``."""
    return generator.multinomial(blocks, np.full(blocks, 1.0 / blocks), size=REPEATS).astype(np.float64)


def selection(chosen: BoolArray) -> FloatArray:
    """The mean share of columns in common, of repeats ``(..., repeats, p)``; one where nothing is chosen at all."""
    inside = chosen.astype(np.float64)
    sizes = inside.sum(axis=-1)
    first, second = _pairs(chosen.shape[-2])
    both = (inside @ np.swapaxes(inside, -1, -2))[..., first, second]
    return _mean(both, np.maximum(sizes[..., first], sizes[..., second]))


def common(weights: FloatArray) -> FloatArray:
    """The mean share of weight on columns that both repeats chose, ``(..., repeats, p)``; one where there is no
    weight.
    """
    sizes = np.abs(weights)
    on_theirs = sizes @ np.swapaxes((sizes > 0).astype(np.float64), -1, -2)
    total = sizes.sum(axis=-1)
    first, second = _pairs(weights.shape[-2])
    both = on_theirs[..., first, second] + on_theirs[..., second, first]
    return _mean(both, total[..., first] + total[..., second])


def agreement(weights: FloatArray) -> FloatArray:
    """The mean likeness of repeated coefficients ``(..., repeats, p)``; one where all are zero."""
    first, second = _pairs(weights.shape[-2])
    a, b = weights[..., first, :], weights[..., second, :]
    smaller = np.minimum(np.abs(a), np.abs(b))
    total = np.abs(weights).sum(axis=-1)
    whole = total[..., first] + total[..., second] - smaller.sum(axis=-1)
    return _mean((smaller * (a * b > 0)).sum(axis=-1), whole)


@cache
def _pairs(repeats: int) -> tuple[IntArray, IntArray]:
    """Every pair of repeats once."""
    return np.triu_indices(repeats, 1)


def _mean(part: FloatArray, whole: FloatArray) -> FloatArray:
    """The mean ratio over pairs of repeats, one where there is nothing to have in common."""
    return np.asarray(np.where(whole > 0, part / np.where(whole > 0, whole, 1.0), 1.0).mean(axis=-1))
