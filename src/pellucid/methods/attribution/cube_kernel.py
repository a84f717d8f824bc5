"""The kernels of `cube_regression`: how far two corners of the cube are expected to be worth the same.

With ``bends`` a_i >= 0, one for each player, and corners s and t of -1 and 1,

    odd:    ( sinh(sum of a_i s_i t_i) - its linear part )   / the same at s = t
    even:   ( cosh(sum of a_i s_i t_i) - its constant part ) / the same at s = t

Because exp(a s t) = cosh(a) (1 + s t tanh(a)), the first is a sum over the odd sets of three players and more, each
with the weight ``product of cosh(a) over all players * product of tanh(a_i) over the set``: a player that bends little
takes part in few interactions, and large sets weigh less the smaller the bends are.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from pellucid.arrays import FloatArray

Parity = Literal["odd", "even"]
_NOTHING = 1e-12
_BLOCK = 128  # corners


def kernel(corners: FloatArray, bends: FloatArray, parity: Parity) -> FloatArray:
    """The kernel ``(n, n)`` of all pairs of corners ``(n, players)``."""
    lowest, most = scales(bends, parity)
    n = len(corners)
    bent, left_out = corners * bends, corners * (lowest / most) if parity == "odd" else lowest / most
    curved, room = np.empty((n, n)), np.empty((min(n, _BLOCK), n))
    for start in range(0, n, _BLOCK):  # what is worked on stays in the caches
        rows = slice(start, start + _BLOCK)
        grown = np.matmul(bent[rows], corners.T, out=curved[rows])
        np.exp(grown, out=grown)
        shrunk = np.reciprocal(grown, out=room[: len(grown)])
        if parity == "odd":
            grown -= shrunk
            grown *= 0.5 / most
            grown -= np.matmul(left_out[rows], corners.T, out=shrunk)
        else:
            grown += shrunk
            grown *= 0.5 / most
            grown -= left_out
    return curved


def scales(bends: FloatArray, parity: Parity) -> tuple[FloatArray, float]:
    """The weights of what is left out, the linear part (players) or the constant, and what remains where corners are
    the same.

    Where nothing remains, as of the odd part of two players, the kernel is nothing.
    """
    together = float(np.prod(np.cosh(bends)))
    lowest = np.asarray(together * np.tanh(bends) if parity == "odd" else together, dtype=np.float64)
    whole = np.sinh(bends.sum()) if parity == "odd" else np.cosh(bends.sum())
    remains = float(whole - lowest.sum())
    return lowest, remains if remains > _NOTHING * whole else float(whole)
