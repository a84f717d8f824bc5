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


def selection(chosen: BoolArray) -> FloatArray:
    """The mean share of columns in common, of repeats ``(..., repeats, p)``; one where nothing is chosen at all."""
    inside = chosen.astype(np.float64)
    sizes = inside.sum(axis=-1)
    return _mean(inside @ np.swapaxes(inside, -1, -2), np.maximum(sizes[..., :, None], sizes[..., None, :]))


def common(weights: FloatArray) -> FloatArray:
    """The mean share of weight on columns that both repeats chose, ``(..., repeats, p)``; one where there is no weight."""
    sizes = np.abs(weights)
    on_theirs = sizes @ np.swapaxes((sizes > 0).astype(np.float64), -1, -2)
    total = sizes.sum(axis=-1)
    return _mean(on_theirs + np.swapaxes(on_theirs, -1, -2), total[..., :, None] + total[..., None, :])


def agreement(weights: FloatArray) -> FloatArray:
    """The mean likeness of repeated coefficients ``(..., repeats, p)``; one where all are zero."""
    sizes, sign = np.abs(weights), np.sign(weights)
    smaller = np.minimum(sizes[..., :, None, :], sizes[..., None, :, :])
    alike = sign[..., :, None, :] * sign[..., None, :, :] > 0
    total = sizes.sum(axis=-1)
    whole = total[..., :, None] + total[..., None, :] - smaller.sum(axis=-1)
    return _mean((smaller * alike).sum(axis=-1), whole)


def _mean(part: FloatArray, whole: FloatArray) -> FloatArray:
    """The mean ratio over pairs of repeats, one where there is nothing to have in common."""
    first, second = np.triu_indices(whole.shape[-1], 1)
    some, of = part[..., first, second], whole[..., first, second]
    return np.asarray(np.where(of > 0, some / np.where(of > 0, of, 1.0), 1.0).mean(axis=-1))
