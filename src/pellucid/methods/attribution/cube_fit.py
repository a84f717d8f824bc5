"""What a regression on the cube gives."""

from __future__ import annotations

from dataclasses import dataclass

from pellucid.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class Regression:
    """The fitted games ``g(s) = <trend, s> + sum over the pairs t of weights[t] k(s, t)``; the first pair is everybody
    and nobody.

    ``errors`` say by how much each pair is missed when it is left out. Games are in columns. The trend of an even game
    is its constant. What the fit leaves uncertain is that of the process, times ``scale`` (games): with the kernel of
    the pairs L L' (``factor``) and the free functions F, ``free`` is L^-1 F and ``left`` (F' K^-1 F)^-1. ``bends`` and
    ``noise`` are those of the kernel (`cube_kernel`).
    """

    trend: FloatArray
    weights: FloatArray
    errors: FloatArray
    bends: FloatArray
    noise: float
    scale: FloatArray
    factor: FloatArray
    free: FloatArray
    left: FloatArray
