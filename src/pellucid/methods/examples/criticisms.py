"""Criticisms: rows that a set of prototypes represents badly.

Reference. Kim, Khanna and Koyejo 2016, "Examples are not enough, learn to criticize!".

Definition. The witness function of prototypes z is

    witness(x) = kappa(x) - (1/m) sum_i k(x, z_i),    kappa(x) = sum_j w_j k(x, x_j)  (over all n rows):

above 0 where the prototypes under-represent the data, below 0 where they over-represent them. Criticisms are the rows
C that maximise sum over C of |witness(c)| + log det K_CC, whose second part keeps them apart.

Estimator. Greedily: the log det grows by the log of what is left of k(x, x) after projection on the criticisms so far
(the pivot of a Cholesky factor), one column of the kernel for each. Any set of prototypes will do.

When it misleads. (1) Criticisms depend on the number of prototypes: with more of them others are odd. (2) After the
first one the log det, which is about variety, mostly outweighs the witness. (3) A criticism may be a rare good row or
an error in the data; the witness does not say which.

Cost. No model row; one column of the kernel for each criticism.
"""

from __future__ import annotations

import numpy as np

from pellucid.arrays import BoolArray, FloatArray, IntArray
from pellucid.data.similarity import Columns

_FLOOR = 1e-12
_TIE = 1e-12


def criticise(similarity: Columns, witness: FloatArray, count: int, free: BoolArray) -> IntArray:
    """``count`` of the free rows that are represented worst, far from each other."""
    chosen = np.empty(count, dtype=np.intp)
    odd, left = np.where(free, np.exp(np.abs(witness)), 0.0), np.ones(len(witness))
    factor = np.zeros((count, len(witness)))
    for t in range(count):
        gain = odd * np.maximum(left, _FLOOR)  # exp of what the sum grows by
        j = int(np.argmax(gain >= gain.max() * (1.0 - _TIE)))
        chosen[t], odd[j] = j, 0.0
        rest = similarity.column(j) - factor[:t].T @ factor[:t, j]
        factor[t] = rest / np.sqrt(max(left[j], _FLOOR))
        left = np.maximum(left - np.square(factor[t]), 0.0)
    return chosen
